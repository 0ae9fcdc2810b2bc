/* Options and commands of other profilers that gpuprof has none for, and their replacements. Owns
 * the tables. */
#ifndef GPUPROF_CLI_FOREIGN_H
#define GPUPROF_CLI_FOREIGN_H

#include <stddef.h>

struct cli_foreign {
    const char *option;  /* "--import-profile" or "-i"; "--cpu-profiling-*": all that begin so */
    const char *tool;    /* "nvprof", "ncu" */
    const char *instead; /* a sentence without a capital and a full stop */
};

extern const struct cli_foreign cli_foreign_options[];
extern const size_t cli_foreign_count;

/* `word` as the user wrote it, perhaps with =VALUE; NULL where it is no such option. */
const struct cli_foreign *cli_foreign_find(const char *word);

/* A command of other profilers: a word that is not taken for a program without `gpuprof run`. */
struct cli_foreign_word {
    const char *words;   /* with blanks between them */
    const char *tools;   /* "perf", "perf and nsys" */
    const char *instead; /* as above, or a question */
};

/* NULL where the word is no such command. */
const struct cli_foreign_word *cli_foreign_find_word(const char *word);

#endif
