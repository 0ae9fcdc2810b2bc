/* A line on the terminal that says how far a long run is. Owns the line. Not locked: the caller
 * lets one thread in at a time. */
#ifndef GPUPROF_REPORT_PROGRESS_H
#define GPUPROF_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct gp_progress {
    uint64_t launches, kernels;
    double measured; /* the share of the GPU time of launches that were measured; NAN: not known */
    double added;    /* seconds by which the program became longer */
    const char *limit; /* of these, in words ("3 %"); NULL: there is none */
};

/* Nothing is ever written where messages go to a file or a pipe, the terminal is a dumb one, or the
 * user wants no line (GPUPROF_PROGRESS=off). */
void gp_progress_start(void);

/* Whether there may be a line. */
bool gp_progress_is_wanted(void);

/* Whether it is time for one: the first when the run has lasted five seconds (at once with
 * GPUPROF_PROGRESS=on), then one in each second. */
bool gp_progress_is_due(void);
void gp_progress_write(const struct gp_progress *progress);

/* Takes the line away. */
void gp_progress_end(void);

#endif
