/* Likeness: whether a launch is as others that were measured. Before it runs again its kind tells,
 * in a run its fingerprint, and behind the hardware's counts these. */
#include "base/log.h"
#include "code/lanes.h"
#include "counters/inside.h"

#include <math.h>
#include <string.h>

/* Counters of our own from that one to before another are wanted. */
static bool wants_own(const struct gp_range_collection *c, enum gp_own_counter from,
                      enum gp_own_counter end)
{
    for (size_t i = 0; i < c->list.own_count; i++)
        if (c->list.own[i] >= from && c->list.own[i] < end)
            return true;
    return false;
}

static void note_kind(const struct gp_range_collection *c, struct gp_member *m)
{
    const struct gp_run *run = &m->run;
    if (!c->recall || m->identity)
        return;
    m->questions =
        run->cost->questions_shape == run->shape ? run->cost->questions : run->cost->questions != 0;
    m->swaps = run->cost->swaps;
    m->copies = run->cost->copies;
    launch_kind_of(&m->kind, run->kernel, run_shape_and_code(run, range_collection_cc(c)),
                   run->work, run->parameters, run->parameters_size);
}

bool likeness_is_familiar(struct gp_range_collection *c, struct gp_member *m)
{
    if (m->state < GP_LAUNCH_RAN || !c->recall)
        return false;
    note_kind(c, m);
    return recall_is_familiar(c->recall, &m->kind);
}

static bool can_take_fingerprint(const struct gp_range_collection *c, const struct gp_member *m)
{
    return c->sass && c->tells && !m->run.always;
}

bool likeness_begins_with_code(struct gp_range_collection *c, struct gp_member *m)
{
    if (!c->base.facts.session || !c->list.instrumented ||
        !range_session_stands_in(c->session, c->base.facts.hardware_passes))
        return false;
    note_kind(c, m);
    return !can_take_fingerprint(c, m) || recall_expects_new(c->recall, &m->kind);
}

/* ---- before it runs again -------------------------------------------------------------------- */

/* Only comparing the run counts how often its instructions ran, and our own counters are computed
 * from that; those of matrices not where there are none. */
static bool needs_comparison(const struct gp_range_collection *c, const struct gp_member *m)
{
    const struct gp_run *run = &m->run;
    if (!c->own)
        return false;
    return wants_own(c, GP_OWN_LOADED, GP_OWN_COUNT) ||
           (wants_own(c, 0, GP_OWN_LOADED) && !run->cost->no_matrices &&
            !own_has_no_matrices(c->own, run, range_collection_cc(c)) &&
            !values_show_no_matrices(c, m));
}

void likeness_note_no_matrices(struct gp_range_collection *c, const struct gp_member *m)
{
    if (!c->own || !own_has_no_matrices(c->own, &m->run, range_collection_cc(c)))
        return;
    for (size_t i = 0; i < c->list.own_count; i++)
        if (c->list.own[i] < GP_OWN_LOADED)
            values_of_member(c, m)[c->list.own_columns[i]] = 0;
}

static bool pays(struct gp_range_collection *c, const struct gp_member *m)
{
    return (recall_compares(c->recall, &m->kind) &&
            (sass_session_counts_instructions(c->sass) || fingerprint_pays(&c->cost, &m->run))) ||
           needs_comparison(c, m);
}

/* The launch takes the fingerprint of others of its kind, without being identified. */
static bool assume(struct gp_range_collection *c, struct gp_member *m)
{
    return m->run.when == GP_RUN_LATER && m->round == 0 && can_take_fingerprint(c, m) &&
           c->list.check_count == GP_ALL_CHECKS && m->run.parameters &&
           recall_assume(c->recall, &m->kind, launches_to_one_telling(&c->cost, &m->run),
                         &m->fingerprint);
}

/* One of the kind was counted before. */
static bool is_kind_counted(const struct gp_range_collection *c, const struct gp_member *m)
{
    return c->recall ? recall_has_counted(c->recall, &m->kind) : m->run.cost->measured;
}

/* Where its instrumented pass is wanted at all, a launch of each kernel is measured, however long
 * it takes; and, up to twice the time, one of each kind. A kernel may have hundreds of these: one
 * for each size of the rest of a matrix, say.
 */
static bool takes_too_long(const struct gp_range_collection *c, struct gp_member *m)
{
    static struct gp_say_limit said;
    const struct gp_instrumenting_cost *cost = &c->cost;
    if (m->run.no_code.cause) {
        m->left_out = m->run.no_code;
        return true;
    }
    if (!(is_kind_counted(c, m) && cost_is_too_long(cost, &m->run, 1)) &&
        !(m->run.cost->measured && cost_is_too_long(cost, &m->run, 2)))
        return false;
    gp_say_limited(&said, 1,
                   "instrumented code has taken %.3g s; launches that take long in it are counted "
                   "without it from here on, but for the first of each kernel; "
                   "GPUPROF_TIMEOUT=SECONDS gives it ten times as many",
                   (cost->long_ms >= m->run.most_long_ms ? cost->long_ms : cost->not_short_ms) /
                       1e3);
    m->left_out =
        GP_REASON_TEXT(INSTRUMENTED_ENOUGH, "counted in other launches: instrumented code takes "
                                            "long, and has taken all its time (GPUPROF_TIMEOUT)");
    return true;
}

bool likeness_leaves_out(struct gp_range_collection *c, struct gp_member *m)
{
    note_kind(c, m);
    return takes_too_long(c, m);
}

/* The first event of a launch that is to be counted in instrumented code. */
static enum gp_launch_event first_event(struct gp_range_collection *c, struct gp_member *m)
{
    if (assume(c, m))
        return GP_LAUNCH_ASSUME;
    if (takes_too_long(c, m))
        return GP_LAUNCH_LEAVE_OUT;
    return !c->base.facts.session || (can_take_fingerprint(c, m) && pays(c, m)) ? GP_LAUNCH_IDENTIFY
                                                                                : GP_LAUNCH_SKIP;
}

void likeness_consider(struct gp_range_collection *c, struct gp_member *m)
{
    const bool counts = c->base.facts.session || (c->sass && !c->tells);
    note_kind(c, m);
    const enum gp_launch_event event =
        c->list.instrumented > 0 && counts ? first_event(c, m) : GP_LAUNCH_LEAVE_OUT;
    m->code_ms = expected_fingerprint_ms(&c->cost, &m->run);
    if (event == GP_LAUNCH_ASSUME)
        m->identity = GP_ASSUMED_IDENTITY;
    gp_launch_move(&m->state, event);
}

void likeness_note_counted(struct gp_range_collection *c, struct gp_member *m)
{
    m->run.cost->measured = true;
    if (c->recall)
        recall_note_counted(c->recall, &m->kind);
}

/* ---- its fingerprint ------------------------------------------------------------------------- */

static bool are_same(const struct gp_fingerprint *a, const struct gp_fingerprint *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* A launch of the batch with that fingerprint was measured, or will be. */
static bool has_member(const struct gp_range_collection *c, const struct gp_member *m)
{
    const struct gp_batch *b = &c->base.batch;
    for (unsigned i = 0; i < b->count; i++) {
        const struct gp_member *o = b->members[i];
        if (o != m && o->run.when == GP_RUN_LATER && o->identity &&
            (o->state == GP_LAUNCH_NEW || o->state == GP_LAUNCH_LEARNABLE) &&
            are_same(&o->fingerprint, &m->fingerprint))
            return true;
    }
    return false;
}

/* The hardware has to confirm it, later. */
static bool is_found_in_batch(struct gp_range_collection *c, const struct gp_member *m)
{
    const struct gp_fingerprint *f = &m->fingerprint;
    if (recall_values(c->recall, f))
        return true;
    return !recall_find(c->recall, f) && /* else it is to be measured again */
           !recall_is_barred(c->recall, f) && has_member(c, m);
}

/* The instrumented counters of a launch of the batch with that fingerprint, which are there before
 * the hardware's: no other launch learns of it until these are read. */
static const double *find_measured(struct gp_range_collection *c, const struct gp_member *m)
{
    const struct gp_batch *b = &c->base.batch;
    if (recall_find(c->recall, &m->fingerprint) || /* it is to be measured again */
        recall_is_barred(c->recall, &m->fingerprint))
        return NULL;
    for (unsigned i = 0; i < b->count; i++) {
        const struct gp_member *o = b->members[i];
        if (o == m || o->state != GP_LAUNCH_LEARNABLE || !values_are_measured(c, o) ||
            !values_are_whole(c, o) || !are_same(&o->fingerprint, &m->fingerprint))
            continue;
        values_make_row(c, o, c->row);
        return c->row;
    }
    return NULL;
}

/* Launches that ask until others have come run some instructions as often as time has it: those
 * with the same work are taken for each other, if the hardware's counters agree. */
static bool takes_work_for_identity(struct gp_range_collection *c, struct gp_member *m)
{
    m->own = m->fingerprint;
    m->by_work = m->questions && c->base.facts.session && c->list.check_count == GP_ALL_CHECKS &&
                 !recall_find(c->recall, &m->fingerprint) &&
                 recall_same_work(c->recall, &m->kind, &m->fingerprint);
    return m->by_work;
}

/* The work was not the same: its numbers in memory are others. */
static void takes_own_identity(struct gp_range_collection *c, struct gp_member *m)
{
    m->fingerprint = m->own;
    m->by_work = false;
    recall_compared(c->recall, &m->kind, true);
    recall_found(c->recall, &m->kind, &m->fingerprint, false);
}

/* The launch is like none: it is to be measured. */
static void lose(struct gp_range_collection *c, struct gp_member *m)
{
    m->like = NULL;
    if (m->by_work)
        takes_own_identity(c, m);
    gp_launch_move(&m->state, GP_LAUNCH_LOSE);
}

/* It was assumed to be alike, and its bundle had a wrong sum. */
static void note_wrong_assumption(struct gp_range_collection *c, const struct gp_member *m)
{
    if (m->denied && !member_depends_on_time(m) && !are_same(&m->fingerprint, &m->taken_for))
        recall_assumed_wrongly(c->recall, &m->kind);
}

void likeness_find(struct gp_range_collection *c, struct gp_member *m)
{
    m->identity = GP_FOUND_IDENTITY;
    note_wrong_assumption(c, m);
    if (m->run.when == GP_RUN_LATER) {
        const bool found = takes_work_for_identity(c, m) || is_found_in_batch(c, m);
        if (!m->by_work) /* else the hardware says whether it is new */
            recall_compared(c->recall, &m->kind, !found);
        /* Unless the hardware says no. */
        recall_found(c->recall, &m->kind, &m->fingerprint, true);
        if (m->by_work)
            recall_differed_by_chance(c->recall, &m->kind);
        gp_launch_move(&m->state, found ? GP_LAUNCH_FIND : GP_LAUNCH_FIND_NONE);
        return;
    }
    const double *row = recall_values(c->recall, &m->fingerprint);
    if (!row)
        row = find_measured(c, m);
    recall_compared(c->recall, &m->kind, !row);
    gp_launch_move(&m->state, row ? GP_LAUNCH_RECALL : GP_LAUNCH_FIND_NONE);
    if (row)
        values_take_row(c, m, row);
}

/* ---- how the hardware counts launches -------------------------------------------------------- */

/* The fingerprint tells how often each instruction ran, and with which lanes. A kernel is asked
 * when it comes first. */
static bool is_fingerprint_complete(const struct gp_range_collection *c, struct gp_member *m)
{
    const struct gp_run *run = &m->run;
    struct gp_reason why;
    size_t size;
    const int cc = range_collection_cc(c);
    if (!can_take_fingerprint(c, m))
        return false;
    if (run->cost->lanes == GP_LANES_UNKNOWN) {
        const void *code = run_code_is_whole(run, cc)
                               ? run->find_code(run->find_code_data, run->kernel, &size, &why)
                               : NULL;
        run->cost->lanes =
            code && gp_code_tells_lanes(code, size, cc) ? GP_LANES_FOLLOW : GP_LANES_HIDDEN;
    }
    return run->cost->lanes == GP_LANES_FOLLOW && !run->cost->questions && !m->swaps &&
           sass_session_tells_lanes(c->sass);
}

static struct gp_share_facts facts_of(struct gp_range_collection *c, struct gp_member *m)
{
    struct gp_share_facts f = {.counted = m->round == c->base.batch.round &&
                                          member_is_open(m, &c->base.facts)};
    if (!f.counted || !c->recall)
        return f;
    f.blank_known = bundles_know_blank(c, m->run.layout);
    f.complete = is_fingerprint_complete(c, m);
    f.fingerprint_ms = expected_fingerprint_ms(&c->cost, &m->run);
    f.fingerprint = fingerprint_with_work(&m->fingerprint, &m->kind);
    if (m->identity && m->round == 0 && m->state != GP_LAUNCH_NEW)
        f.measured = recall_hardware_count(c->recall, &f.fingerprint);
    return f;
}

static void identify_assumed(struct gp_batch *b, const struct gp_share_facts *facts)
{
    for (unsigned i = 0; i < b->count; i++) {
        struct gp_member *m = b->members[i];
        if (!facts[i].counted || m->state != GP_LAUNCH_ASSUMED)
            continue;
        m->identity = GP_NO_IDENTITY; /* if that fails it is like none */
        gp_launch_move(&m->state, GP_LAUNCH_IDENTIFY);
    }
}

/* Enough is known of launches with its fingerprint. */
static void take_all(struct gp_range_collection *c, struct gp_member *m)
{
    const double *row = recall_find(c->recall, &m->fingerprint);
    if (!row || !values_take_hardware(c, m)) {
        m->share = GP_ALONE;
        return;
    }
    values_take_row(c, m, row);
    gp_launch_move(&m->state, GP_LAUNCH_CONFIRM);
}

void likeness_share(struct gp_range_collection *c, bool only_identities)
{
    struct gp_batch *b = &c->base.batch;
    struct gp_share_facts *facts = c->share_facts;
    /* Launches that cannot wait have taken some. */
    if (!only_identities && range_collection_ranges(c) < GP_MOST_RANGES / 2 && c->ranges) {
        range_collection_settle(c, true);
        range_collection_reuse_ranges(c);
    }
    for (unsigned i = 0; i < b->count; i++)
        facts[i] = facts_of(c, b->members[i]);
    batch_share(b, facts, c->recall && bundles_are_reliable(c), range_collection_ranges(c));
    if (only_identities) {
        if (batch_is_to_be_identified(b, facts))
            identify_assumed(b, facts);
        return;
    }
    for (unsigned i = 0; i < b->count; i++) {
        struct gp_member *m = b->members[i];
        if (!facts[i].counted)
            continue;
        if (m->share == GP_NOT_AT_ALL)
            take_all(c, m);
        if (m->share == GP_NOT_NOW)
            batch_put_off(b, m);
        m->blank = bundles_know_blank(c, m->run.layout) ? GP_BLANK_ASKED : GP_BLANK_OPEN;
    }
}

/* ---- the hardware's word --------------------------------------------------------------------- */

/* The check counters of the launch that one is like, in a row of values_make_row: of one that
 * was measured, or of a member that is still to be, then that is *other. NULL where there is none,
 * or its kernel is barred. */
static const double *find_like(struct gp_range_collection *c, const struct gp_member *m,
                               const struct gp_member **other)
{
    const struct gp_batch *b = &c->base.batch;
    const double *row = recall_find(c->recall, &m->fingerprint);
    *other = NULL;
    if (recall_is_barred(c->recall, &m->fingerprint))
        return NULL;
    for (unsigned i = 0; !row && i < b->count; i++) {
        const struct gp_member *o = b->members[i];
        if (o == m || o->run.when != GP_RUN_LATER || !o->identity || o->state != GP_LAUNCH_NEW ||
            o->hardware_lost.cause || !values_are_whole(c, o) ||
            !are_same(&o->fingerprint, &m->fingerprint))
            continue;
        values_make_row(c, o, c->row);
        *other = o;
        row = c->row;
    }
    return row;
}

/* The hardware says that the launch is like that one. `other`: as in find_like. */
static void confirm(struct gp_range_collection *c, struct gp_member *m, const double *row,
                    const struct gp_member *other)
{
    m->like = other;
    recall_agreed(c->recall, &m->fingerprint);
    if (m->by_work)
        recall_compared(c->recall, &m->kind, false);
    if (!other)
        values_take_row(c, m, row);
    gp_launch_move(&m->state, other ? GP_LAUNCH_CONFIRM_MEMBER : GP_LAUNCH_CONFIRM);
}

/* The launch is counted by itself, in another round; one that was assumed to be like others is
 * identified before. */
static void deny(const struct gp_range_collection *c, struct gp_member *m)
{
    if (m->state == GP_LAUNCH_ASSUMED)
        m->identity = GP_NO_IDENTITY;
    m->like = NULL;
    gp_launch_move(&m->state, GP_LAUNCH_DENY);
    batch_put_off(&c->base.batch, m);
}

/* A launch of a bundle with a wrong sum is counted by itself: that sum is to be wondered at where
 * all of them are as those that they were taken for. */
static void judge_denied(struct gp_range_collection *c, struct gp_member *m, bool alike)
{
    struct gp_denied_bundle *d = &c->denied[m->denied % GP_MOST_BUNDLES];
    const bool was_denied = m->denied && m->denied == d->number;
    m->denied = 0;
    if (!was_denied)
        return;
    d->others = d->others || !alike || !are_same(&m->fingerprint, &m->taken_for);
    if (--d->left > 0 || d->others)
        return;
    bundles_contradicted(c, d->members);
    if (d->by_law)
        blank_law_break(&c->blank_law);
}

/* A launch that was identified, or assumed, and counted by itself. */
static void judge_alone(struct gp_range_collection *c, struct gp_member *m)
{
    const struct gp_member *other;
    const double *row = find_like(c, m, &other);
    const bool whole = values_are_whole(c, m) && !m->hardware_lost.cause;
    bool all = row && whole && values_agree(c, m, row, c->list.check_count);
    judge_denied(c, m, all);
    if (m->state == GP_LAUNCH_ASSUMED) {
        recall_assumed(c->recall, &m->kind, all);
        if (!all) {
            deny(c, m);
            return;
        }
    } else if (m->by_work) {
        row = all ? row : NULL;
    } else if (row && whole && !values_agree(c, m, row, GP_LEAST_CHECKS)) {
        if (!member_depends_on_time(m)) /* else this launch alone is measured */
            recall_bar(c->recall, &m->fingerprint);
        row = NULL;
    } else if (row && !all) {
        recall_found(c->recall, &m->kind, &m->fingerprint, false);
    }
    if (!row) {
        lose(c, m);
        return;
    }
    confirm(c, m, row, other);
    if (!other)
        values_learn_hardware(c, m);
}

/* The sum of launches that are known by their work may differ by as much as so many of them may:
 * chance makes up for chance, and one with other work shows. */
#define MOST_OF_WORK 4

static bool is_by_work(const struct gp_batch *b, const struct gp_bundle *bundle)
{
    return member_is_by_work(b->members[bundle->first]);
}

/* The part of all that its launches may differ by. */
static double part_of_tolerance(const struct gp_batch *b, const struct gp_bundle *bundle)
{
    return is_by_work(b, bundle) && bundle->members > MOST_OF_WORK
               ? (double)MOST_OF_WORK / bundle->members
               : 1;
}

/* The sum of a bundle has to be that of launches like its members. */
static bool is_sum_right(struct gp_range_collection *c, unsigned number)
{
    const struct gp_batch *b = &c->base.batch;
    const struct gp_member *other;
    double left[GP_ALL_CHECKS], may_differ[GP_ALL_CHECKS] = {0};
    bool right = bundles_sum(c, number, left);
    for (unsigned i = 0; right && i < b->count; i++) {
        const struct gp_member *m = b->members[i];
        if (m->bundle != number)
            continue;
        const double *row = find_like(c, m, &other);
        right = row && bundles_take_off(c, m, checks_in_row(c, row), left, may_differ);
    }
    const double part = part_of_tolerance(b, &b->bundles[number - 1]);
    for (size_t w = 0; right && w < GP_ALL_CHECKS; w++)
        right = fabs(left[w]) <= part * may_differ[w];
    return right;
}

static void confirm_shared(struct gp_range_collection *c, struct gp_member *m)
{
    const struct gp_member *other;
    const double *row = find_like(c, m, &other);
    if (!other && !values_take_hardware(c, m)) {
        deny(c, m);
        return;
    }
    if (m->state == GP_LAUNCH_ASSUMED)
        recall_assumed(c->recall, &m->kind, true);
    confirm(c, m, row, other);
}

/* Its number among those with a wrong sum, if that is to be wondered at where its launches are
 * alike all the same; else 0. */
static unsigned note_denied(struct gp_range_collection *c, const struct gp_bundle *bundle)
{
    const unsigned members = bundle->members;
    if (is_by_work(&c->base.batch, bundle))
        return 0; /* that may be chance */
    const unsigned number = ++c->bundles_denied;
    c->denied[number % GP_MOST_BUNDLES] = (struct gp_denied_bundle){
        .number = number, .members = members, .left = members, .by_law = bundle->by_law};
    return number;
}

static void judge_bundles(struct gp_range_collection *c)
{
    struct gp_batch *b = &c->base.batch;
    for (unsigned number = 1; number <= b->bundle_count; number++) {
        const struct gp_bundle *bundle = &b->bundles[number - 1];
        const bool right = is_sum_right(c, number);
        const unsigned denied = right ? 0 : note_denied(c, bundle);
        if (right)
            bundles_confirmed(c, bundle->members);
        for (unsigned i = 0; i < b->count; i++) {
            struct gp_member *m = b->members[i];
            if (m->bundle != number)
                continue;
            m->bundle = 0;
            m->denied = denied;
            m->taken_for = m->fingerprint;
            if (right)
                confirm_shared(c, m);
            else
                deny(c, m);
        }
    }
    b->bundle_count = 0;
}

/* The hardware cannot confirm anything any more: a fingerprint that was found has to do. */
static void judge_without_hardware(struct gp_range_collection *c)
{
    struct gp_batch *b = &c->base.batch;
    for (unsigned i = 0; i < b->count; i++) {
        struct gp_member *m = b->members[i];
        if (!launch_awaits_hardware(m->state))
            continue;
        const double *row = m->state == GP_LAUNCH_ALIKE && !m->by_work
                                ? recall_find(c->recall, &m->fingerprint)
                                : NULL;
        m->bundle = 0;
        m->hardware_lost = c->no_session;
        if (row)
            confirm(c, m, row, NULL);
        else
            lose(c, m);
    }
    b->bundle_count = 0;
}

void likeness_judge(struct gp_range_collection *c)
{
    const struct gp_batch *b = &c->base.batch;
    if (!c->base.facts.session) {
        judge_without_hardware(c);
        return;
    }
    for (unsigned i = 0; i < b->count; i++) {
        struct gp_member *m = b->members[i];
        if (!m->bundle && m->round == b->round && m->run.when == GP_RUN_LATER &&
            launch_awaits_hardware(m->state))
            judge_alone(c, m);
    }
    judge_bundles(c);
}

/* ---- launches that were measured ------------------------------------------------------------- */

static void take_from(struct gp_range_collection *c, struct gp_member *m)
{
    const struct gp_member *other = m->like;
    const bool whole = other->state == GP_LAUNCH_MEASURED && values_are_whole(c, other);
    const bool shares = m->share == GP_TOGETHER;
    if (whole)
        values_make_row(c, other, c->row);
    if (whole && (!shares || values_take_hardware(c, m))) {
        confirm(c, m, c->row, NULL);
        if (!shares)
            values_learn_hardware(c, m);
    } else if (shares) {
        deny(c, m);
    } else {
        lose(c, m);
    }
}

/* Launches that were counted by themselves come first: the others take the hardware's counters of
 * them. */
void likeness_take(struct gp_range_collection *c)
{
    const struct gp_batch *b = &c->base.batch;
    for (int shared = 0; shared < 2; shared++) {
        for (unsigned i = 0; i < b->count; i++) {
            struct gp_member *m = b->members[i];
            if (m->state == GP_LAUNCH_LIKE_MEMBER && (m->share == GP_TOGETHER) == (shared != 0))
                take_from(c, m);
        }
    }
}
