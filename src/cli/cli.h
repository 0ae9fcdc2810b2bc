/* The command `gpuprof`. Owns the table of commands. */
#ifndef GPUPROF_CLI_CLI_H
#define GPUPROF_CLI_CLI_H

#include "base/text.h"
#include "metrics/metrics.h"

#include <stddef.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/* An option of a command: its name, its letter (0: none), the name of its argument (NULL: it takes
 * none), its purpose. Parsing, help, the manual pages and the shells' completion come from the same
 * rows. The rest may be left out. */
struct cli_option {
    const char *name;
    char letter;
    const char *argument;
    const char *help;
    const char *group;  /* heading in the help; rows of a group stand together */
    const char *also;   /* other names, blanks between them */
    const char *nvprof; /* nvprof's option that it stands for, where there is one */
    const char *ncu;    /* ncu's */
    bool joins;         /* given again, it adds to its value, with a comma */
    const char *once;   /* why it cannot be given again; NULL: the last value counts */
};

struct cli_command {
    const char *name;
    const char *arguments; /* as usage shows them */
    const char *help;      /* one line */
    int (*run)(const struct cli_command *command, int argc, char **argv);
    const struct cli_option *options;
    size_t option_count;
};

extern const struct cli_command cli_run, cli_report, cli_source, cli_metrics, cli_help;
extern const struct cli_command cli_check, cli_baseline, cli_thresholds, cli_compare, cli_history;
extern const struct cli_command cli_snapshot, cli_watch;

/* All commands, NULL behind the last. */
extern const struct cli_command *const cli_commands[];

/* Sets values[i] to the argument of options[i] ("" where it takes none, NULL where it was not
 * given). Returns the index of the first word that is no option, or -1 with *status, the answer of
 * the command, after a message or the help of --help. */
int cli_parse(const struct cli_command *command, int argc, char **argv, const char **values,
              int *status);

/* The name of the command that was perhaps meant; NULL: none is near. */
const char *cli_nearest_command(const char *word);

/* Answers as cli_print does. */
int cli_print_help(const struct cli_command *command);

/* The definitions, after messages on those that are wrong. NULL, after a message, without
 * memory. */
struct gp_metrics *cli_open_metrics(void);

/* Every metric as Markdown. */
void cli_add_reference(const struct gp_metrics *m, struct gp_text *out);

/* Writes to standard output and frees. Returns CLI_OK, or CLI_FAILED when that failed. */
int cli_print(struct gp_text *out);
/* Writes text that comes from elsewhere as a terminal may have it, then frees it. Returns as
 * cli_print does. */
int cli_print_escaped(struct gp_text *out);

#endif
