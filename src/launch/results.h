/* The results of the launches: the profile (launch/recording.h), and the report when the process
 * ends. Owns the summary. */
#ifndef GPUPROF_LAUNCH_RESULTS_H
#define GPUPROF_LAUNCH_RESULTS_H

#include "metrics/metrics.h"
#include "profile/record.h"

#include <stdbool.h>

/* Opens the file for messages that GPUPROF_LOG names; and the metrics, false when out of memory;
 * and, when settings are known that are recorded, the profile. Mistakes are reported. */
void results_open_log(void);
bool results_open(void);
void results_open_profile(void);

const struct gp_metrics *results_metrics(void);

/* Takes the facts of a device, the record of a launch (`noted`: by results_note). The gate is
 * closed or the caller is alone. */
void results_device(const struct gp_device *device);
void results_launch(const struct gp_record *launch, bool noted);
/* Writes the known part of a launch that will be recorded later, in case the process ends before;
 * `noted`: once more. duration_ns: its time, 0 or less where that is not known. */
void results_note(const struct gp_record *launch, double duration_ns, bool noted);
/* Writes the times of launches that were noted without, and how many launches there are so far.
 * From any thread. */
struct gp_ended_launch {
    uint64_t index;
    double duration_ns;
};
void results_ended(const struct gp_ended_launch *list, size_t count, uint64_t launches);

/* No launch is measured from here on: the profile and the rules get the reason. */
void results_give_up(const char *why);

/* The process ends: prints the report, unless it has launched nothing, or nothing was measured as
 * measuring was given up; and finishes the profile. Waits for other threads no longer than two
 * seconds. */
void results_end(bool gave_up, uint64_t launches);
/* True where the process has launched nothing, so that no word was said at its end. */
bool results_are_silent(void);

#endif
