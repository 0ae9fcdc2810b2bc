#include "base/log.h"
#include "code/lanes.h"
#include "counters/run_code.h"
#include "counters/slots.h"

#include <math.h>
#include <string.h>

bool gp_collection_has_ranges(const struct gp_collection *c)
{
    return c->session && !c->no_session.cause;
}

/* Counters of our own from that one to before another. */
static bool wants_own(const struct gp_collection *c, enum gp_own_counter from,
                      enum gp_own_counter end)
{
    for (size_t i = 0; i < c->list.own_count; i++)
        if (c->list.own[i] >= from && c->list.own[i] < end)
            return true;
    return false;
}

static void note_kind(const struct gp_collection *c, struct gp_slot *t, const struct gp_run *run)
{
    if (!c->recall)
        return;
    t->retries = run->cost->retries;
    gp_launch_kind_of(&t->kind, run->kernel, gp_run_shape_and_code(run, gp_collection_cc(c)),
                      run->work, run->parameters, run->parameters_size);
}

static struct gp_means_to_count means_of(const struct gp_collection *c, const struct gp_run *run)
{
    bool session = gp_collection_has_ranges(c);
    unsigned hardware = session ? gp_range_session_hardware_passes(c->session) : 0;
    return (struct gp_means_to_count){
        .hardware_passes = hardware,
        .session = session,
        .stands_in_instrumented =
            session && c->list.instrumented > 0 && gp_range_session_stands_in(c->session, hardware),
        .sass_counts = c->sass && !c->tells,
        .fingerprints = c->sass && c->tells && !run->only_pass && !run->always,
        .instrumented = c->list.instrumented > 0,
        .held = run->held && session,
        .sweep = c->sweep,
    };
}

/* Only comparing the run counts how often its instructions ran, and our own counters are computed
 * from that; those of matrices not where there are none. */
static bool needs_comparison(const struct gp_collection *c, unsigned slot, const struct gp_run *run)
{
    if (!c->own)
        return false;
    return wants_own(c, GP_OWN_LOADED, GP_OWN_COUNT) ||
           (wants_own(c, 0, GP_OWN_LOADED) && !run->cost->no_matrices &&
            !gp_own_has_no_matrices(c->own, run, gp_collection_cc(c)) &&
            !gp_slot_multiplied_no_matrices(c, slot));
}

void gp_slot_note_no_matrices(struct gp_collection *c, unsigned slot, const struct gp_run *run)
{
    if (!c->own || !gp_own_has_no_matrices(c->own, run, gp_collection_cc(c)))
        return;
    for (size_t i = 0; i < c->list.own_count; i++)
        if (c->list.own[i] < GP_OWN_LOADED)
            c->values[slot * c->list.width + c->list.own_columns[i]] = 0;
}

/* The plan's questions on a launch. */
struct asked {
    struct gp_collection *collection;
    unsigned slot;
    const struct gp_run *run;
};

static bool expects_new(void *data)
{
    const struct asked *a = data;
    return gp_recall_expects_new(a->collection->recall, &a->collection->slots[a->slot].kind);
}

static bool fingerprint_pays(void *data)
{
    const struct asked *a = data;
    struct gp_slot *t = &a->collection->slots[a->slot];
    return (gp_recall_compares(a->collection->recall, &t->kind) &&
            (gp_sass_session_counts_instructions(a->collection->sass) ||
             gp_is_worth_telling(&a->collection->cost, a->run))) ||
           needs_comparison(a->collection, a->slot, a->run);
}

/* The launch takes the fingerprint of others of its kind, without being identified. */
static bool assume(void *data)
{
    const struct asked *a = data;
    struct gp_collection *c = a->collection;
    struct gp_slot *t = &c->slots[a->slot];
    if (!c->sass || !c->tells || c->list.check_count < GP_ALL_CHECKS || a->run->always ||
        !a->run->parameters || t->parted)
        return false;
    t->identified = gp_recall_assume(c->recall, &t->kind,
                                     gp_launches_to_one_telling(&c->cost, a->run), &t->fingerprint);
    return t->identified;
}

/* One of the kind was counted before. */
static bool is_kind_counted(const struct asked *a)
{
    const struct gp_recall *recall = a->collection->recall;
    return recall ? gp_recall_has_counted(recall, &a->collection->slots[a->slot].kind)
                  : a->run->cost->measured;
}

/* A launch of each kernel is measured, however long it takes; and, up to twice the time, one of
 * each kind. A kernel may have hundreds of these: one for each size of the rest of a matrix, say.
 */
static bool takes_too_long(void *data)
{
    static struct gp_say_limit once;
    const struct asked *a = data;
    const struct gp_instrumenting_cost *cost = &a->collection->cost;
    struct gp_slot *t = &a->collection->slots[a->slot];
    if (!(is_kind_counted(a) && gp_is_too_long(cost, a->run, 1)) &&
        !(a->run->cost->measured && gp_is_too_long(cost, a->run, 2)))
        return false;
    gp_say_limited(&once, 1,
                   "instrumented code has taken %.3g s; launches that take long in it are counted "
                   "without it from here on, but for the first of each kernel; "
                   "GPUPROF_TIMEOUT=SECONDS gives it ten times as many",
                   (cost->long_ms >= a->run->most_long_ms ? cost->long_ms : cost->not_short_ms) /
                       1e3);
    t->left_out =
        GP_REASON_TEXT(INSTRUMENTED_ENOUGH, "counted in other launches: instrumented code takes "
                                            "long, and has taken all its time (GPUPROF_TIMEOUT)");
    return true;
}

bool gp_slot_leaves_out(struct gp_collection *c, unsigned slot, const struct gp_run *run)
{
    struct asked asked = {c, slot, run};
    note_kind(c, &c->slots[slot], run);
    return takes_too_long(&asked);
}

void gp_slot_note_counted(struct gp_collection *c, unsigned slot, const struct gp_run *run)
{
    run->cost->measured = true;
    if (c->recall)
        gp_recall_note_counted(c->recall, &c->slots[slot].kind);
}

/* Of a kernel that is not asked for an answer until it comes. */
static bool tells_all(const struct gp_collection *c, const struct gp_run *run)
{
    struct gp_reason why;
    size_t size;
    const int cc = gp_collection_cc(c);
    if (run->cost->lanes == GP_LANES_UNKNOWN) {
        const void *code = gp_run_code_is_whole(run, cc)
                               ? run->find_code(run->find_code_data, run->kernel, &size, &why)
                               : NULL;
        run->cost->lanes =
            code && gp_code_tells_lanes(code, size, cc) ? GP_LANES_FOLLOW : GP_LANES_HIDDEN;
    }
    return run->cost->lanes == GP_LANES_FOLLOW && !run->cost->retries &&
           gp_sass_session_tells_lanes(c->sass);
}

static struct gp_plan_questions questions_on(struct asked *asked)
{
    return (struct gp_plan_questions){expects_new, fingerprint_pays, assume, takes_too_long, asked};
}

bool gp_slot_next_pass(struct gp_collection *c, unsigned slot, const struct gp_run *run, bool made,
                       unsigned *pass)
{
    struct asked asked = {c, slot, run};
    const struct gp_means_to_count means = means_of(c, run);
    const struct gp_plan_questions questions = questions_on(&asked);
    struct gp_slot *t = &c->slots[slot];
    if (t->bundle && means.held)
        return gp_bundle_next_pass(c, slot, pass);
    if (t->held && run->held && !means.held)
        return false; /* the session was lost: judged without the hardware */
    t->held = means.held;
    t->layout = run->layout;
    t->cost = run->cost;
    if (!t->identified)
        note_kind(c, t, run);
    if (c->recall)
        t->fingerprint_ms = gp_expected_fingerprint_ms(&c->cost, run);
    if (means.held && means.fingerprints)
        t->tells_all = tells_all(c, run);
    return gp_plan_next(&t->plan, &means, &questions, made, pass);
}

enum gp_way gp_slot_way_of(struct gp_collection *c, unsigned slot, const struct gp_run *run)
{
    struct asked asked = {c, slot, run};
    const struct gp_means_to_count means = means_of(c, run);
    const struct gp_plan_questions questions = questions_on(&asked);
    note_kind(c, &c->slots[slot], run);
    return gp_plan_way(&c->slots[slot].plan, &means, &questions);
}

/* The instrumented counters of a launch with the fingerprint of this one, measured and recorded
 * early but not learned, as its hardware's counters were not read yet; NULL where there is none. */
static const double *find_match(struct gp_collection *c, unsigned slot, double *row)
{
    const struct gp_slot *t = &c->slots[slot];
    for (unsigned i = 0; i < slot; i++) {
        const struct gp_slot *match = &c->slots[i];
        if (match->plan.source != GP_SOURCE_LEARNABLE || !match->range_read ||
            !gp_slot_is_whole(c, match) ||
            memcmp(&match->fingerprint, &t->fingerprint, sizeof(t->fingerprint)) != 0 ||
            gp_recall_is_barred(c->recall, &t->fingerprint))
            continue;
        gp_slot_make_row(c, i, row);
        return row;
    }
    return NULL;
}

/* A held launch with that fingerprint was measured, or will be. */
static bool has_held(const struct gp_collection *c, const struct gp_fingerprint *f)
{
    for (unsigned i = 0; i < c->slots_given; i++) {
        const struct gp_slot *t = &c->slots[i];
        bool measured = t->plan.source == GP_SOURCE_NEW || t->plan.source == GP_SOURCE_LEARNABLE;
        if (t->held && t->identified && measured && memcmp(&t->fingerprint, f, sizeof(*f)) == 0)
            return true;
    }
    return false;
}

/* The hardware has to confirm it, later. */
static enum gp_finding find_for_held(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    t->identified = true;
    if (gp_recall_values(c->recall, &t->fingerprint))
        return GP_FOUND_LEARNED;
    if (gp_recall_find(c->recall, &t->fingerprint) || /* it is to be measured again */
        gp_recall_is_barred(c->recall, &t->fingerprint) || !has_held(c, &t->fingerprint))
        return GP_FOUND_NONE;
    return GP_FOUND_UNLEARNED;
}

void gp_slot_recall(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    if (t->held) {
        const enum gp_finding found = find_for_held(c, slot);
        gp_recall_compared(c->recall, &t->kind, found == GP_FOUND_NONE);
        /* Unless the hardware says no. */
        gp_recall_found(c->recall, &t->kind, &t->fingerprint, true);
        gp_plan_found(&t->plan, found);
        return;
    }
    enum gp_finding finding = GP_FOUND_NONE;
    /* Of a launch that is known there may be no values all the same: it is to be measured again. */
    bool is_known = gp_recall_find(c->recall, &t->fingerprint) != NULL;
    const double *row = gp_recall_values(c->recall, &t->fingerprint);
    if (row) {
        finding = GP_FOUND_LEARNED;
    } else if (!is_known && !gp_plan_is_measured(&t->plan)) {
        row = find_match(c, slot, c->row);
        finding = row ? GP_FOUND_UNLEARNED : GP_FOUND_NONE;
    }
    gp_recall_compared(c->recall, &t->kind, !row);
    gp_plan_found(&t->plan, finding);
    if (gp_plan_is_recalled(&t->plan))
        gp_slot_take_row(c, slot, row);
}

bool gp_slot_is_open(const struct gp_collection *c, const struct gp_slot *t)
{
    const struct gp_run run = {.held = t->held};
    const struct gp_means_to_count means = means_of(c, &run);
    return means.held && gp_plan_is_open(&t->plan, &means);
}

static enum gp_recalled recalled_of(const struct gp_slot *t)
{
    if (!gp_plan_is_recalled(&t->plan) || t->like || gp_slot_is_undecided(t))
        return GP_RECALLED_NONE;
    return t->plan.together && !t->hardware_lost.cause ? GP_RECALLED_ALL : GP_RECALLED_INSTRUMENTED;
}

struct gp_slot_state gp_slot_state_of(const struct gp_collection *c, unsigned slot)
{
    const struct gp_slot *t = &c->slots[slot];
    bool open = gp_slot_is_open(c, t);
    return (struct gp_slot_state){.read = !t->in_session && !open && !t->like,
                                  .open = open,
                                  .familiar = open && c->recall &&
                                              gp_recall_is_familiar(c->recall, &t->kind),
                                  .bundle = t->bundle,
                                  .recalled = recalled_of(t)};
}
