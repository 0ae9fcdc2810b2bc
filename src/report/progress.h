/* A line on the terminal that says how far a long run is. Owns the line. Not locked: the caller
 * lets one thread in at a time. */
#ifndef GPUPROF_REPORT_PROGRESS_H
#define GPUPROF_REPORT_PROGRESS_H

#include "profile/record.h"

/* Nothing is ever written where messages go to a file or a pipe, or the terminal is a dumb one. */
void gp_progress_start(void);

/* A launch is over, and read or not. At most two lines a second are written, the first when the
 * run has lasted two seconds. */
void gp_progress_launch(const struct gp_record *launch, int is_read);

/* Takes the line away. */
void gp_progress_end(void);

#endif
