/* The cells that the first screen and the table of a report share: a row's share of the time, its
 * launches, their mean time, its occupancy. */
#ifndef GPUPROF_REPORT_ROW_CELLS_H
#define GPUPROF_REPORT_ROW_CELLS_H

#include "base/text.h"
#include "report/rows.h"

/* Whether the time of the timed launches stands for others. */
bool gp_cell_is_estimated(const struct gp_rows *r, const struct gp_row *row);

/* "20", "3 of 20000" where not all were measured. */
#define GP_CELL_LAUNCHES_SIZE 48
void gp_cell_launches(const struct gp_row *row, char out[GP_CELL_LAUNCHES_SIZE]);

/* The width of the column of launches for the first `count` rows. */
int gp_cell_launches_width(const struct gp_rows *r, size_t count);

/* The share of the time ("~" where not all launches are timed), the launches ("3 of 20000" where
 * not all were measured) in `width` columns, and the mean time: 17 columns and `width`. */
void gp_cells_time(const struct gp_rows *r, const struct gp_row *row, int width,
                   struct gp_text *out);

/* Achieved and theoretical occupancy, "0.88/1.00", in `width` columns. */
void gp_cell_occupancy(const struct gp_rows *r, const struct gp_row *row, int width,
                       struct gp_text *out);

#endif
