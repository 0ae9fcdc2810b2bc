/* The columns of counts beside the source of a kernel: those in which something was counted, of one
 * launch in the mean, and the samples, with the reason that most of them have. */
#ifndef GPUPROF_CLI_SOURCE_COLUMNS_H
#define GPUPROF_CLI_SOURCE_COLUMNS_H

#include "report/by_line.h"
#include "report/stalls.h"

#include <stdbool.h>

struct cli_source_columns {
    const struct gp_lines *lines;
    unsigned shown;   /* bit mask of columns */
    uint64_t samples; /* of the kernel; 0: there is no column for them */
    bool has_code;    /* some columns are of instructions in the code */
};

/* `by_instruction`: for lines of machine code, which are not counted in the code. */
struct cli_source_columns cli_source_columns_choose(const struct gp_lines *lines,
                                                    const struct gp_stalls *stalls,
                                                    bool by_instruction);

/* Appends the heads, without the end of the line. */
void cli_source_columns_heads(const struct cli_source_columns *c, struct gp_text *out);

/* Appends the cells of a line's own counts; of no counts where it is NULL. */
void cli_source_columns_line(const struct cli_source_columns *c, const struct gp_line_counts *line,
                             struct gp_text *out);

/* Appends the cells of these counts, of all launches; of none where they are NULL. */
void cli_source_columns_counts(const struct cli_source_columns *c,
                               const uint64_t counts[GP_COUNT_KINDS], struct gp_text *out);

#endif
