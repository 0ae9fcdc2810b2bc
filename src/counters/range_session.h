/* A session of CUPTI's Range Profiler that stays armed: ranges are pushed and popped in it, one
 * launch each, and kernels outside of them run at their own speed. Starting and stopping costs
 * milliseconds, a range one; the counts come out only when the session is stopped, so that is done
 * for many ranges at once.
 *
 * The counters take one or several passes. In each a range is pushed again under its number; going
 * on to another pass stops the session and starts it again, and past the last one the counts can be
 * read. A range may be in the last pass of one round and in the first ones of the next. */
#ifndef GPUPROF_COUNTERS_RANGE_SESSION_H
#define GPUPROF_COUNTERS_RANGE_SESSION_H

#include "counters/range_config.h"

struct gp_range_session;

/* A session for ranges numbered from 0, `ranges` of them or, where CUPTI's image would take more
 * than `most` bytes, fewer. The configuration becomes the session's, also when that fails: NULL
 * with the reason in *why. Nothing is started yet. */
struct gp_range_session *range_session_open(CUcontext context, struct gp_range_config *config,
                                            unsigned ranges, size_t most, struct gp_reason *why);
void range_session_close(struct gp_range_session *s, bool context_alive);

unsigned range_session_ranges(const struct gp_range_session *s);

unsigned range_session_hardware_passes(const struct gp_range_session *s);

/* True when the session need not be stopped or started to stand in that pass. */
bool range_session_stands_in(const struct gp_range_session *s, unsigned pass);

/* True when to advance to that pass begins a new round. The counts of the round before have to be
 * read first: settle, and take the values. */
bool range_session_is_past(const struct gp_range_session *s, unsigned pass);

/* Takes the GPU's counters now, not at the first push. */
bool range_session_start(struct gp_range_session *s, struct gp_reason *why);

/* Makes the session stand in a pass, by stops and starts. False with the reason, as for a push. */
bool range_session_advance(struct gp_range_session *s, unsigned pass, struct gp_reason *why);

/* Around one launch, in the pass in which the session stands. The pop waits for the kernel. False
 * with the reason: the session is then of no more use, except that values of earlier batches can be
 * read. */
bool range_session_push(struct gp_range_session *s, unsigned range, struct gp_reason *why);
bool range_session_pop(struct gp_range_session *s, struct gp_reason *why);

/* Stops the session behind its last pass of the hardware, so that their counts can be read; the
 * next start makes the pass of instrumented code, as a part of the same round. */
bool range_session_settle_hardware(struct gp_range_session *s, struct gp_reason *why);

/* Stops the session, so that all that was counted can be read. The next push starts it again. */
bool range_session_settle(struct gp_range_session *s, struct gp_reason *why);

/* The counts of a range, in the order of the configuration's names, NAN where a counter's pass was
 * not made; NULL where the range was not settled. Valid until forgotten. */
const double *range_session_values(const struct gp_range_session *s, unsigned range);
void range_session_forget_values(struct gp_range_session *s);

/* All ranges have been read: their numbers are given out again. Settled. */
void range_session_reuse_ranges(struct gp_range_session *s);

#endif
