/* A collection of the Range Profiler from within. range.c makes its passes, session_upkeep.c opens
 * the session that counts them; values.c fills in and reads the values of launches, bundles.c has
 * the sums of those that are counted together, likeness.c finds launches that are alike. Only for
 * these. */
#ifndef GPUPROF_COUNTERS_RANGE_COLLECTION_H
#define GPUPROF_COUNTERS_RANGE_COLLECTION_H

#include "counters/collector.h"
#include "counters/counter_list.h"
#include "counters/instrumenting_cost.h"
#include "counters/range_session.h"
#include "counters/sass_session.h"

struct gp_range_collection {
    struct gp_collection base; /* first: range_collection_of */
    CUcontext context;
    struct gp_device device;

    struct gp_counter_list list;
    struct gp_counter *counters; /* the answer of read: as many as were named, in that order */

    struct gp_range_session *session;
    struct gp_reason no_session;  /* why there is none */
    double retry_at, retry_after; /* seconds */

    struct gp_sass_session *sass;
    unsigned counted, uncounted; /* launches by that; in a row in vain */
    struct gp_reason no_sass;
    bool tells;                         /* it compares launches; else it counts */
    struct gp_reason *sass_unavailable; /* by name, where it counts: why it does not */
    struct gp_recall *recall;           /* of instrumented counters, where it tells */
    struct gp_own *own;                 /* our own counters; NULL where none is wanted */

    double sums[GP_MOST_BUNDLES][GP_ALL_CHECKS]; /* of the bundles that were read */
    struct gp_blank *blanks;                     /* by layout */
    unsigned contradictions; /* launches of bundles with a wrong sum that were alike all the same */
    struct gp_instrumenting_cost cost;

    double *values;           /* members x width */
    struct gp_reason *absent; /* the same */
    double *row;              /* scratch: used + our own + all check counters */
    double *hardware_row;     /* scratch: the hardware's */
};

static inline struct gp_range_collection *range_collection_of(struct gp_collection *c)
{
    return (struct gp_range_collection *)c;
}

int range_collection_cc(const struct gp_range_collection *c);

/* ---- the session (session_upkeep.c) ---------------------------------------------------------- */

/* False with the reason in *why. Nothing is started yet. */
bool range_collection_open_session(struct gp_range_collection *c, struct gp_reason *why);

/* The session could not be had, or has failed. Counters that are busy become free some time;
 * permissions do not. */
void range_collection_lose_session(struct gp_range_collection *c, struct gp_reason why);

/* True where there is a session: one that was lost is opened anew when it is time. */
bool range_collection_have_session(struct gp_range_collection *c);

/* Copies the session's counts of launches, blanks and bundles: the session need keep none. */
void range_collection_take(struct gp_range_collection *c);

/* Has the SASS metrics compare launches where there is a session, and else count. */
void range_collection_open_sass(struct gp_range_collection *c);
/* A launch was to be counted by the SASS metrics, in vain for that reason; they are given up where
 * they count nothing. */
void range_collection_note_sass(struct gp_range_collection *c, bool counted, struct gp_reason why);
/* Whether they count without the right to read counters is not known yet. */
bool range_collection_are_on_trial(const struct gp_range_collection *c);

/* ---- values (values.c) ----------------------------------------------------------------------- */

/* Nothing of the launch is counted yet. */
void values_clear(struct gp_range_collection *c, const struct gp_member *m);

/* The values of a launch, `width` of them, and why those that are NAN are absent. */
double *values_of_member(const struct gp_range_collection *c, const struct gp_member *m);
struct gp_reason *absent_of_member(const struct gp_range_collection *c, const struct gp_member *m);

/* The instrumented counters of a launch, our own, and the hardware's that are check counters, in
 * one row. */
void values_make_row(const struct gp_range_collection *c, const struct gp_member *m, double *row);
/* The check counters in such a row. */
const double *checks_in_row(const struct gp_range_collection *c, const double *row);

/* True when the first `count` check counters equal those of the row of a launch whose instrumented
 * counters were taken for it; numbers of instructions that depend on time, when they are near. */
bool values_agree(const struct gp_range_collection *c, const struct gp_member *m, const double *row,
                  size_t count);

/* False for a launch that broke off between passes: its hardware's counters mean nothing. */
bool values_are_whole(const struct gp_range_collection *c, const struct gp_member *m);

/* True where the launch's own instrumented counters were read. */
bool values_are_measured(const struct gp_range_collection *c, const struct gp_member *m);

/* Copies the session's counts of all launches, and marks these as read. */
void values_take(struct gp_range_collection *c);

/* The launch has the instrumented counters of that row, but for our own that it has itself. */
void values_take_row(struct gp_range_collection *c, const struct gp_member *m, const double *row);

/* Others may take the hardware's counters of the launch, which was counted by itself; its
 * fingerprint is known. */
void values_learn_hardware(struct gp_range_collection *c, const struct gp_member *m);
/* The launch takes those of others: false where there are none. */
bool values_take_hardware(struct gp_range_collection *c, struct gp_member *m);

/* True where the hardware's counters of the launch are there, and its tensor cores did nothing. */
bool values_show_no_matrices(const struct gp_range_collection *c, const struct gp_member *m);

const struct gp_counter *values_read(struct gp_range_collection *c, const struct gp_member *m,
                                     struct gp_reason not_run, size_t *count);

/* ---- bundles (bundles.c) --------------------------------------------------------------------- */

void bundles_free(struct gp_range_collection *c);

/* True where sums can be relied on: the hardware's counters take one pass, among them all check
 * counters, and there are ranges for bundles. */
bool bundles_are_reliable(const struct gp_range_collection *c);

/* The launch was in a bundle with a wrong sum, and is alike all the same. */
void bundle_contradicted(struct gp_range_collection *c);

/* True where the blank of that layout was counted before. */
bool bundles_know_blank(const struct gp_range_collection *c, uint64_t layout);

/* The range in which the step is counted. */
unsigned bundles_range(const struct gp_step *step);

/* Copies the session's counts of blanks and bundles. */
void bundles_take(struct gp_range_collection *c);

/* Takes the launch, with its check counters, and its blank off a sum, and adds the difference that
 * time may make. False where the blank is not known. */
bool bundles_take_off(const struct gp_range_collection *c, const struct gp_member *m,
                      const double *checks, double *sum, double *may_differ);

/* ---- likeness (likeness.c) ------------------------------------------------------------------- */

/* True where launches of its kind have all been alike so far. */
bool likeness_is_familiar(struct gp_range_collection *c, struct gp_member *m);
/* True where the session stands in the pass of instrumented code, and a launch that cannot wait is
 * expected to be new. */
bool likeness_begins_with_code(struct gp_range_collection *c, struct gp_member *m);

/* Finds out as much of a launch as is known without a run of it. */
void likeness_consider(struct gp_range_collection *c, struct gp_member *m);

/* The launch of a kernel that is not compared may be known to multiply no matrices all the same. */
void likeness_note_no_matrices(struct gp_range_collection *c, const struct gp_member *m);

/* True where the launch's instrumented pass takes too long, and is left out. */
bool likeness_leaves_out(struct gp_range_collection *c, struct gp_member *m);

/* The launch was counted in instrumented code. */
void likeness_note_counted(struct gp_range_collection *c, struct gp_member *m);

/* The launch's fingerprint was taken: searches it among those of launches that were measured. */
void likeness_find(struct gp_range_collection *c, struct gp_member *m);

/* Decides how the hardware counts the launches of the batch; only which fingerprints are to be
 * taken although they were assumed (`only_identities`). */
void likeness_share(struct gp_range_collection *c, bool only_identities);

/* The hardware's counters are there, or lost: whether launches are like others shows. */
void likeness_judge(struct gp_range_collection *c);

/* Launches that are like another of the batch take its counters, now that it has been measured;
 * where it was not, they are measured themselves. */
void likeness_take(struct gp_range_collection *c);

#endif
