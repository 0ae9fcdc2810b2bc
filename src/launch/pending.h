/* Launches that have run and whose counters are still to be read. Reading is slow, so it is done
 * for many at once. Owns the list; the collection's slots are given back by it. Used with the gate
 * closed. */
#ifndef GPUPROF_LAUNCH_PENDING_H
#define GPUPROF_LAUNCH_PENDING_H

#include "counters/collector.h"

struct gp_pending; /* those of one collection; NULL is an empty list */

/* Takes a launch without its counters; its strings may go afterwards, but for reasons.
 * not_run: why a pass was not made. duration_ns: of the kernel alone, 0
 * where it was not timed, GP_DURATION_ELSEWHERE where other launches of it are. */
#define GP_DURATION_ELSEWHERE (-1.0)
struct gp_pending *gp_pending_add(struct gp_pending **list, unsigned slot,
                                  const struct gp_record *launch, struct gp_reason not_run,
                                  double duration_ns);

/* More is known of it: the same arguments, but for its slot. */
void gp_pending_renew(struct gp_pending *launch, const struct gp_record *record,
                      struct gp_reason not_run, double duration_ns);

/* The launch, which is not recorded yet, was replayed later, so that its kernel ran so often in
 * all; or it could not be, and the reason becomes that of every missing value. None: it was. */
void gp_pending_amend(struct gp_pending *launch, unsigned runs, double added_ms,
                      uint64_t restored_bytes, struct gp_reason broken_off);

/* It is measured later as a whole: until it is amended, there is nothing of it to be read. */
void gp_pending_defer(struct gp_pending *launch);
/* The kernel alone took so long. */
void gp_pending_time(struct gp_pending *launch, double duration_ns);

/* True when it is time to read: no more slots, or a launch has waited for a second. */
bool gp_pending_is_due(const struct gp_pending *list, const struct gp_collector *collector,
                       const struct gp_collection *collection);

/* Records those that were read already, as the session went from one pass to the next, and writes
 * down the known part of the others, in case the process ends before they are read. */
void gp_pending_note(struct gp_pending **list, const struct gp_collector *collector,
                     struct gp_collection *collection);

/* Writes down one whose own run has ended, before its passes; `again`: gp_pending_note does so as
 * well. */
void gp_pending_note_own_run(struct gp_pending *launch, bool again,
                             const struct gp_collector *collector,
                             struct gp_collection *collection);

/* Reads and records all. With the context gone the hardware's counters are lost. */
void gp_pending_settle(struct gp_pending **list, const struct gp_collector *collector,
                       struct gp_collection *collection, bool context_alive);

#endif
