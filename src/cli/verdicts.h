/* Where a verdict goes: standard output and files, each in a format. Owns the list of them. */
#ifndef GPUPROF_CLI_VERDICTS_H
#define GPUPROF_CLI_VERDICTS_H

#include "check/format.h"

struct cli_output {
    const struct gp_format *format;
    char *file; /* NULL: standard output, or error */
};

#define CLI_MOST_OUTPUTS 16

struct cli_outputs {
    struct cli_output list[CLI_MOST_OUTPUTS];
    size_t count;
    bool to_standard_error; /* the part without a file */
};

/* "NAME" or "NAME=FILE", several with commas between them. False, having said why, where that makes
 * no sense or the file cannot be written. */
bool cli_add_output(struct cli_outputs *outputs, const char *text);

/* False, having said so, where a format would overwrite one of the files that are read. */
bool cli_check_outputs(const struct cli_outputs *outputs, const char *const *inputs, int count);

void cli_free_outputs(struct cli_outputs *outputs);

/* Writes the verdict in each format; where none was asked for, as text. False,
 * having said why, where one could not be written. */
bool cli_write_verdict(const struct cli_outputs *outputs, struct gp_verdict *v, const char *title,
                       const char *held);

#endif
