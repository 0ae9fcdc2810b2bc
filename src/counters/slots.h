/* The launches of a collection of the Range Profiler until they are read: each has a slot, with its
 * plan, its kind and fingerprint, and its values. slot_values.c fills these in and reads them,
 * slot_likeness.c finds launches that are alike, bundles.c counts some of these together,
 * session_upkeep.c opens the session that counts them. Only for counters/range.c. */
#ifndef GPUPROF_COUNTERS_SLOTS_H
#define GPUPROF_COUNTERS_SLOTS_H

#include "counters/batch.h"
#include "counters/collector.h"
#include "counters/counter_list.h"
#include "counters/instrumenting_cost.h"
#include "counters/plan.h"
#include "counters/range_session.h"
#include "counters/sass_session.h"

/* Launches whose counters wait to be read: so many are lost where their context dies. Each costs
 * the first start of a session some 1.2 ms, and each pass of instrumented code 0.1 ms; with few of
 * them the session is stopped and started often, which takes 45 ms. */
#define GP_MOST_SLOTS 64
#define GP_MOST_BUNDLES (GP_MOST_SLOTS / GP_MOST_TOGETHER)

struct gp_slot {
    struct gp_plan plan;
    unsigned hardware_passes; /* made */
    bool only_pass;           /* there will be no other, so it is to be read by itself */
    bool in_session;          /* by the session that is open now, and not read yet */
    bool range_read;          /* the Range Profiler's counts are there */
    bool by_sass;             /* the SASS metrics have counted something of it */
    bool held;                /* its passes are made in sweeps */
    bool retries;             /* gp_pass_cost */
    unsigned like; /* held: 1 + the slot of the launch whose instrumented counters it takes */
    struct gp_pass_cost *cost; /* held: of its kernel */
    uint64_t layout;           /* gp_run */
    double fingerprint_ms;     /* its fingerprint takes, as far as is known */
    bool identified;           /* its fingerprint was found, or assumed */
    bool tells_all;  /* a fingerprint tells how often each instruction ran, and with which lanes */
    unsigned bundle; /* 1 + that of the launches with which it is counted; 0: none */
    bool blank_asked, blank_counted; /* in its range: its copy was put there, and no more */
    bool parted; /* its bundle had another sum than it should: it is counted by itself */
    struct gp_launch_kind kind;        /* known beforehand */
    struct gp_fingerprint fingerprint; /* found, or assumed */
    double started_ms;                 /* the instrumented pass */
    double promised_ms;                /* of the time for such passes, for the one to come */
    struct gp_reason left_out;         /* why there is no instrumented pass; none: there is one */
    struct gp_reason hardware_lost;    /* why the hardware's counts cannot be read */
};

/* Launches in one range, which comes behind those of the slots. The first one makes its pass. */
struct gp_bundle {
    unsigned first, members;
    bool asked;         /* for its pass */
    bool counted, read; /* it ended well; the sum is there */
    double sum[GP_ALL_CHECKS];
};

struct gp_collection {
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

    struct gp_slot slots[GP_MOST_SLOTS];
    unsigned slots_given;
    unsigned sweep; /* over those that are held; 0: none yet */
    struct gp_bundle bundles[GP_MOST_BUNDLES];
    unsigned bundle_count;
    struct gp_blank *blanks; /* by layout */
    unsigned contradictions; /* launches of bundles with a wrong sum that were alike all the same */
    struct gp_instrumenting_cost cost;

    double *values;           /* slots x width */
    double *row;              /* scratch: used + our own + all check counters */
    double *hardware_row;     /* scratch: the hardware's */
    struct gp_reason *absent; /* the same */
};

/* ---- the session (session_upkeep.c) ---------------------------------------------------------- */

/* False with the reason in *why. Nothing is started yet. */
bool gp_collection_open_session(struct gp_collection *c, struct gp_reason *why);

/* It could not be had, or has failed. Counters that are busy become free some time; permissions do
 * not. */
void gp_collection_lose_session(struct gp_collection *c, struct gp_reason why);

/* True where there is one: one that was lost is opened anew when it is time. */
bool gp_collection_has_session(struct gp_collection *c);

/* Has the SASS metrics compare launches where there is a session, and else count. */
void gp_collection_open_sass(struct gp_collection *c);
/* A launch was to be counted by these, in vain for that reason; they are given up where they count
 * nothing. */
void gp_collection_note_sass(struct gp_collection *c, bool counted, struct gp_reason why);
/* Whether they count without the right to read counters is not known yet. */
bool gp_collection_is_on_trial(const struct gp_collection *c);

/* ---- values (slot_values.c) ------------------------------------------------------------------ */

/* The instrumented counters of a slot, our own, and the hardware's that are check counters, in one
 * row.
 */
void gp_slot_make_row(const struct gp_collection *c, unsigned slot, double *row);

/* True when the first `count` check counters equal those of the launch whose instrumented counters
 * were taken for it; numbers of instructions that depend on time, when they are near. */
bool gp_slot_agrees(const struct gp_collection *c, unsigned slot, const double *row, size_t count);

/* So much a check counter, by its number, may differ from that of a launch that was measured. */
double gp_check_tolerance(bool retries, size_t check, double wanted);
/* The check counters in a row of gp_slot_make_row. */
const double *gp_checks_in_row(const struct gp_collection *c, const double *row);

/* Of a launch that broke off between passes the hardware's counters mean nothing. */
bool gp_slot_is_whole(const struct gp_collection *c, const struct gp_slot *t);

/* Copies the session's counts of all slots, and marks these as read: the session need keep none. */
void gp_collection_take_values(struct gp_collection *c);

int gp_collection_cc(const struct gp_collection *c);

void gp_slot_take_row(struct gp_collection *c, unsigned slot, const double *row);

/* Others may take the hardware's counters of the launch, which was counted by itself; its
 * fingerprint is known. */
void gp_slot_learn_hardware(struct gp_collection *c, unsigned slot);
/* It takes those of others: false where there are none. */
bool gp_slot_take_hardware(struct gp_collection *c, unsigned slot);

const struct gp_counter *gp_slot_read(struct gp_collection *c, unsigned slot,
                                      struct gp_reason not_run, size_t *count);

/* ---- likeness (slot_likeness.c) -------------------------------------------------------------- */

bool gp_collection_has_ranges(const struct gp_collection *c);

/* Of a launch that is not compared it may be known all the same that it multiplies no matrices.
 */
void gp_slot_note_no_matrices(struct gp_collection *c, unsigned slot, const struct gp_run *run);

/* True where the hardware's counters of the launch are there, and its tensor cores did nothing. */
bool gp_slot_multiplied_no_matrices(const struct gp_collection *c, unsigned slot);

bool gp_slot_next_pass(struct gp_collection *c, unsigned slot, const struct gp_run *run, bool made,
                       unsigned *pass);

/* The way of the launch's instrumented pass that begins now. */
enum gp_way gp_slot_way_of(struct gp_collection *c, unsigned slot, const struct gp_run *run);

/* Its pass in instrumented code takes too long, and is left out. */
bool gp_slot_leaves_out(struct gp_collection *c, unsigned slot, const struct gp_run *run);

/* It was counted in instrumented code. */
void gp_slot_note_counted(struct gp_collection *c, unsigned slot, const struct gp_run *run);

/* Searches the launch's fingerprint among those of launches that were measured. */
void gp_slot_recall(struct gp_collection *c, unsigned slot);

/* The check counters of the launch that one is like, in a row of gp_slot_make_row: of one that was
 * measured, or of a held one that is still to be, then its slot is in *other. NULL where there is
 * none. */
const double *gp_slot_find_like(struct gp_collection *c, unsigned slot, unsigned *other);
/* The hardware says that it is like that one. `other`: as there. */
void gp_slot_confirm(struct gp_collection *c, unsigned slot, const double *row, unsigned other);

/* It is counted by itself, in another round; and identified before, where it was assumed to be like
 * others. */
void gp_slot_part(struct gp_slot *t);

/* Decides which launches are counted by themselves, which together and which not at all. Some may
 * be identified all the same (`may_identify`). */
void gp_slots_decide(struct gp_collection *c, bool may_identify);
/* The hardware's counters of held launches are there: whether they are like others shows. */
void gp_slots_judge(struct gp_collection *c);

bool gp_slot_is_open(const struct gp_collection *c, const struct gp_slot *t);

/* A held launch of which it is not decided yet where its counters are from: nothing has confirmed
 * that it is like others. */
static inline bool gp_slot_is_undecided(const struct gp_slot *t)
{
    return t->held && t->plan.stage != GP_STAGE_DONE;
}

struct gp_slot_state gp_slot_state_of(const struct gp_collection *c, unsigned slot);

/* Those that are like a held launch have its instrumented counters, now that it has been measured;
 * where it was not, they are measured themselves. */
void gp_slots_take_from_held(struct gp_collection *c);

/* ---- bundles (bundles.c) -----------------------------------------------------------------------
 */

/* True where launches may be counted together. */
bool gp_bundles_are_reliable(const struct gp_collection *c);
/* Adds a launch to the bundle of that number, from 1; those of a bundle are added in their order.
 */
void gp_bundles_add(struct gp_collection *c, unsigned slot, unsigned bundle);
/* The next pass of the bundle of which the launch is the first; false where there is none. */
bool gp_bundle_next_pass(struct gp_collection *c, unsigned slot, unsigned *pass);
/* The range of a pass of it. */
unsigned gp_bundle_range(const struct gp_collection *c, unsigned slot, unsigned pass);
/* The pass has ended well. */
void gp_bundle_counted(struct gp_collection *c, unsigned slot, unsigned pass);
/* Takes the sums of bundles from the session, which can be read now. */
void gp_bundles_take_sums(struct gp_collection *c);
/* The launches of bundles with the right sum are like those that were measured; the others are
 * counted by themselves. */
void gp_bundles_judge(struct gp_collection *c);
/* One of these was found to be like them after all. */
void gp_bundle_contradicted(struct gp_collection *c);
void gp_bundles_free(struct gp_collection *c);

#endif
