/* The profile of this process. Its file is opened for the first launch: a process without one
 * leaves none. Owns the writer. Not locked: launch/results.c lets one thread in at a time. */
#ifndef GPUPROF_LAUNCH_RECORDING_H
#define GPUPROF_LAUNCH_RECORDING_H

#include "metrics/metrics.h"
#include "profile/record.h"
#include "report/summary.h"

#include <stdbool.h>

struct gp_writer;

/* Finds out where it is to be written (GPUPROF_OUTPUT), a relative name from here. The summary has
 * the devices that come before the first launch. Mistakes are reported. */
void recording_prepare(const struct gp_summary *summary);

/* The writer, for the lines of the process's end; NULL where nobody will read them: the user asked
 * for no profile, or it cannot be written. The file is opened for it if it was not, where the
 * process has `launched` a kernel. */
struct gp_writer *recording_at_end(bool launched);
/* Writes the last line. */
void recording_end(const struct gp_end *end);
/* The name, if the user asked for it and it stays; else NULL. */
const char *recording_name(void);

void recording_device(const struct gp_device *device);
/* The two below: `noted`: an early line of the launch stands there already. */
void recording_launch(const struct gp_record *launch, bool noted);
/* duration_ns as in launch/measurement.h. */
void recording_early(const struct gp_record *launch, double duration_ns, bool noted);
void recording_ended(uint64_t index, double duration_ns);
/* The process has made so many launches: said where some have no line, and again where it changes.
 */
void recording_so_far(uint64_t launches);
void recording_give_up(const char *why);

#endif
