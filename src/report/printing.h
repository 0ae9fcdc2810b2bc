/* The output of the run beside the report: nvprof's tables, a line for each launch
 * (GPUPROF_PRINT). Owns the lines until the process ends. Not locked: the caller lets one thread in
 * at a time. */
#ifndef GPUPROF_REPORT_PRINTING_H
#define GPUPROF_REPORT_PRINTING_H

#include "report/summary.h"

#include <stdbool.h>

/* Reads GPUPROF_PRINT, and says its faults. The metrics must outlive the process. */
void gp_printing_start(const struct gp_metrics *metrics);

void gp_printing_device(const struct gp_device *device);
/* A launch that is printed later: times count from the first one. */
void gp_printing_note(const struct gp_record *launch);
void gp_printing_launch(const struct gp_record *launch);

/* Prints all that GPUPROF_PRINT names but the report; true where the report is to be printed as
 * well. `copies`: GP_COPY_KINDS of them, or NULL. */
bool gp_printing_end(const struct gp_summary *summary, const struct gp_copies *copies);

#endif
