/* The text of a source file that a profile names, found where the compiler read it or in a folder
 * of the user's. Owns it. */
#ifndef GPUPROF_CLI_SOURCE_FILES_H
#define GPUPROF_CLI_SOURCE_FILES_H

#include "base/text.h"
#include "report/source_file.h"

struct cli_source_text {
    struct gp_source_file source;
    char path[4096]; /* where it was searched last */
};

/* Fills `text`, which is all zero or was freed. `folder` is searched as well, NULL: none. */
void cli_source_text_read(struct cli_source_text *text, const char *directory, const char *file,
                          const char *folder);
void cli_source_text_free(struct cli_source_text *text);

/* Appends a line as a terminal may have it; nothing where it is not there. Tabs stay. */
void cli_source_text_add(const struct cli_source_text *text, unsigned number, struct gp_text *out);

#endif
