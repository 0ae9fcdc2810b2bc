/* The records of launches whose counters are still to be read. Reading is slow, so it is done for a
 * batch at once. Used with the gate locked. */
#ifndef GPUPROF_LAUNCH_RECORDS_H
#define GPUPROF_LAUNCH_RECORDS_H

#include "launch/measurement.h"

/* Makes the launch's record, or makes it anew; it waits to be read. `goes_on`: passes are still to
 * be made. */
void record_make(struct gp_measurement *m, bool goes_on);

/* The launch, which is not recorded yet, was replayed later and took so long for it; or it could
 * not be, and the reason becomes that of every missing value (none: it was). */
void record_amend(struct gp_measurement *m, double added_ms, struct gp_reason broken_off);
/* The kernel's time is known, or another one. */
void record_time(struct gp_measurement *m);

/* Writes down a launch whose own run has ended, before its passes; `again`: records_note does so
 * as well. */
void record_note_own_run(struct gp_measurement *m, bool again);

/* True when it is time to read the context's launches: there is no room for more, or one has waited
 * for a second. */
bool records_are_due(const struct gp_context *c);
/* True where a launch waits to be read. */
bool records_wait(const struct gp_context *c);

/* Records launches that were read already, as the session went from one pass to the next, and
 * writes down the known part of the others, in case the process ends before they are read. */
void records_note(struct gp_context *c);

/* Reads and records all, and empties the batch. With the context gone the hardware's counters are
 * lost. */
void records_settle(struct gp_context *c, bool context_alive);

#endif
