#include "report/row_cells.h"

#include "report/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool gp_cell_is_estimated(const struct gp_rows *r, const struct gp_row *row)
{
    const struct gp_stat *duration = gp_rows_stat(r, row, "duration");
    return duration && duration->count > 0 && duration->count < row->launches;
}

void gp_cell_launches(const struct gp_row *row, char out[GP_CELL_LAUNCHES_SIZE])
{
    const size_t size = GP_CELL_LAUNCHES_SIZE;
    if (row->measured < row->launches)
        snprintf(out, size, "%" PRIu64 " of %" PRIu64, row->measured, row->launches);
    else
        snprintf(out, size, "%" PRIu64, row->launches);
}

int gp_cell_launches_width(const struct gp_rows *r, size_t count)
{
    size_t widest = 8;
    for (size_t i = 0; i < count; i++) {
        char launches[GP_CELL_LAUNCHES_SIZE];
        gp_cell_launches(&r->rows[i], launches);
        if (strlen(launches) > widest)
            widest = strlen(launches);
    }
    return 2 + (int)widest;
}

void gp_cells_time(const struct gp_rows *r, const struct gp_row *row, int width,
                   struct gp_text *out)
{
    char share[16] = "-", launches[GP_CELL_LAUNCHES_SIZE], average[32] = "-";
    double seconds;
    const struct gp_stat *duration = gp_rows_stat(r, row, "duration");
    if (duration && duration->count > 0 && r->seconds > 0)
        snprintf(share, sizeof(share), "%s%.1f%%", gp_cell_is_estimated(r, row) ? "~" : "",
                 100 * row->seconds / r->seconds);
    if (gp_rows_average_time(row, &seconds))
        gp_unit_format(seconds, "s", average, sizeof(average));
    gp_cell_launches(row, launches);
    gp_text_addf(out, "%7s%*s%10s", share, width, launches, average);
}

void gp_cell_occupancy(const struct gp_rows *r, const struct gp_row *row, int width,
                       struct gp_text *out)
{
    double achieved;
    char a[16] = "-", t[16] = "-", both[40];
    if (gp_rows_mean(r, row, "achieved_occupancy", &achieved))
        snprintf(a, sizeof(a), "%.2f", achieved);
    if (row->occupancy_known)
        snprintf(t, sizeof(t), "%.2f", row->occupancy.ratio);
    snprintf(both, sizeof(both), "%s/%s", a, t);
    gp_text_addf(out, "%*s", width, both);
}
