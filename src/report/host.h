/* The work of the program's host while the GPU rested, as far as its calls of the driver tell. */
#ifndef GPUPROF_REPORT_HOST_H
#define GPUPROF_REPORT_HOST_H

#include "base/text.h"
#include "report/rows.h"

/* The share of the time that the processes ran in which no kernel and no graph ran, 0 to 1; NAN
 * where it is not known. */
double gp_host_idle_share(const struct gp_rows *rows);

/* The time from a launch to the next in the mean, where the host launches kernel after kernel and
 * the GPU rests most of the time; 0 where that is not so, or not known. */
double gp_host_launch_interval(const struct gp_rows *rows);

/* How long all calls took, those that were timed standing for the others; NAN where too few were.
 */
double gp_host_seconds(const struct gp_host *host, enum gp_host_kind kind);

/* The most that they took, those that were disturbed among them: gpuprof may have waited before for
 * kernels, of which all took so long. NAN where it answered most calls itself. */
double gp_host_most_seconds(const struct gp_host_calls *calls, double gpu_seconds);

/* The share of the run that these kinds of calls took, or at most took, and at most
 * gp_host_idle_share; NAN where it is not known. */
double gp_host_share(const struct gp_rows *rows, enum gp_host_kind first, enum gp_host_kind last);

/* Appends the calls that matter, those with most time first; nothing where the GPU is busy, or the
 * calls are few. `run_seconds`: of all processes together, `gpu_seconds`: of all kernels. */
void gp_host_text(const struct gp_host *host, double run_seconds, double gpu_seconds,
                  double idle_share, struct gp_text *out);

#endif
