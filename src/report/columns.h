/* A line for each launch with columns that the user chooses: fields of its record, and metrics.
 * Owns the columns. */
#ifndef GPUPROF_REPORT_COLUMNS_H
#define GPUPROF_REPORT_COLUMNS_H

#include "metrics/metrics.h"
#include "report/name_slots.h"
#include "report/view.h"

struct gp_columns;

/* "index,kernel,grid,gld_efficiency": names of metrics, of the fields of a launch
 * (docs/profile-format.md), or `name` (the kernel's, as the view has it). NULL with the reason in
 * `why`. */
struct gp_columns *gp_columns_new(const char *list, const struct gp_metrics *m,
                                  const struct gp_view *view, char *why, size_t why_size);
/* Columns of names are then written later, by `names`, which must outlive these; not in CSV. */
void gp_columns_defer_names(struct gp_columns *columns, struct gp_name_slots *names);
void gp_columns_free(struct gp_columns *columns);

void gp_columns_device(struct gp_columns *columns, const struct gp_device *device);
void gp_columns_heading(const struct gp_columns *columns, struct gp_text *out);
void gp_columns_launch(struct gp_columns *columns, const struct gp_record *launch,
                       struct gp_text *out);

#endif
