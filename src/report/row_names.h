/* The names of a table's rows, different from one another and of one width. Owns them. */
#ifndef GPUPROF_REPORT_ROW_NAMES_H
#define GPUPROF_REPORT_ROW_NAMES_H

#include "report/layout.h"
#include "report/names.h"
#include "report/rows.h"

#include <stdbool.h>

/* Room for a name of a row; longer ones are cut. */
#define GP_ROW_NAME_SIZE 256

struct gp_row_names {
    const struct gp_rows *rows;
    char **names;
    size_t count, width;
};

/* It lives as long as the row. */
struct gp_kernel_spelling gp_row_spelling(const struct gp_row *row);

/* Names for the first rows, at most `most` of them, `width` columns wide with block and GPU.
 * Returns true, or false when out of memory; free in both cases. */
bool gp_row_names_make(struct gp_row_names *n, const struct gp_rows *rows, size_t most,
                       size_t width);
void gp_row_names_free(struct gp_row_names *n);

/* "kernel<.., half> [128]". */
void gp_row_names_format(const struct gp_row_names *n, const struct gp_row *row,
                         char out[GP_ROW_NAME_SIZE]);

/* "kernel<.., half>", "kernel<.., half> GPU 1": without its block. */
void gp_row_names_format_kernel(const struct gp_row_names *n, const struct gp_row *row,
                                char out[GP_ROW_NAME_SIZE]);

/* A line for the rows behind the first `count`, one for launches that no row stands for. */
void gp_rows_add_rest(const struct gp_rows *r, size_t count, struct gp_text *out);

#endif
