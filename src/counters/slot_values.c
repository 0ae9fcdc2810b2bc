#include "counters/slots.h"

#include <math.h>
#include <string.h>

/* Those of the hardware come last in a row of gp_slot_make_row. */
const double *gp_checks_in_row(const struct gp_collection *c, const double *row)
{
    return row + c->list.instrumented + c->list.own_count;
}

void gp_slot_make_row(const struct gp_collection *c, unsigned slot, double *row)
{
    const double *values = &c->values[slot * c->list.width];
    for (size_t i = 0; i < c->list.instrumented; i++)
        *row++ = values[c->list.columns[c->list.hardware_used + i]];
    for (size_t i = 0; i < c->list.own_count; i++)
        *row++ = values[c->list.own_columns[i]];
    for (size_t w = 0; w < c->list.check_count; w++)
        *row++ = values[c->list.checks[w]];
}

void gp_slot_learn_hardware(struct gp_collection *c, unsigned slot)
{
    const double *values = &c->values[slot * c->list.width];
    if (!gp_slot_is_whole(c, &c->slots[slot]) || c->slots[slot].hardware_lost.cause)
        return;
    for (size_t i = 0; i < c->list.hardware_used; i++)
        c->hardware_row[i] = values[c->list.columns[i]];
    gp_recall_note_hardware(c->recall, &c->slots[slot].fingerprint, &c->slots[slot].kind,
                            c->hardware_row);
}

bool gp_slot_take_hardware(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    const struct gp_fingerprint which = gp_fingerprint_with_work(&t->fingerprint, &t->kind);
    const double *values = gp_recall_hardware(c->recall, &which);
    for (size_t i = 0; values && i < c->list.hardware_used; i++)
        c->values[slot * c->list.width + c->list.columns[i]] = values[i];
    if (!values)
        return false;
    t->hardware_passes = gp_range_session_hardware_passes(c->session);
    t->hardware_lost = GP_NO_REASON;
    return true;
}

static void learn_launch(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    double *row = c->row;
    gp_slot_make_row(c, slot, row);
    gp_plan_learned(&t->plan);
    for (size_t w = 0; w < c->list.check_count; w++)
        if (isnan(gp_checks_in_row(c, row)[w]))
            return; /* no launch could agree with it */
    gp_recall_learn(c->recall, &t->fingerprint, row);
    gp_slot_learn_hardware(c, slot);
    if (!t->held) /* else that was when its fingerprint was found */
        gp_recall_found(c->recall, &t->kind, &t->fingerprint, true);
}

/* Equal launches of cuBLAS's and cuDNN's kernels differed by 0.4 % at most (GH100). */
#define MOST_RETRIES 0.01

/* The first check counters are numbers of instructions. */
double gp_check_tolerance(bool retries, size_t check, double wanted)
{
    return retries && check < GP_LEAST_CHECKS ? MOST_RETRIES * wanted : 0;
}

bool gp_slot_agrees(const struct gp_collection *c, unsigned slot, const double *row, size_t count)
{
    const double *values = c->values + slot * c->list.width;
    bool agree = row != NULL;
    for (size_t w = 0; agree && w < count; w++) {
        double value = values[c->list.checks[w]], wanted = gp_checks_in_row(c, row)[w];
        agree = fabs(value - wanted) <= gp_check_tolerance(c->slots[slot].retries, w, wanted);
    }
    return agree;
}

/* The launch's own instrumented counters were not measured, and others are not to be taken for
 * them. */
static void unrecall(struct gp_collection *c, unsigned slot, struct gp_reason why)
{
    double *values = &c->values[slot * c->list.width];
    struct gp_reason *absent = &c->absent[slot * c->list.width];
    for (size_t i = 0; i < c->list.instrumented + c->list.own_count; i++) {
        size_t column = i < c->list.instrumented ? c->list.columns[c->list.hardware_used + i]
                                                 : c->list.own_columns[i - c->list.instrumented];
        values[column] = NAN;
        absent[column] = why;
    }
}

/* The check counters of a launch have to equal those of the launch whose instrumented counters were
 * taken for it; else these are not its own. */
static void compare_checks(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    const double *row = gp_recall_find(c->recall, &t->fingerprint);
    if (!row && t->plan.source == GP_SOURCE_RECALLED)
        return; /* forgotten: there is nothing to compare with */
    bool all = gp_slot_agrees(c, slot, row, c->list.check_count);
    gp_recall_found(c->recall, &t->kind, &t->fingerprint, all);
    if (gp_slot_agrees(c, slot, row, GP_LEAST_CHECKS))
        return;
    if (row)
        gp_recall_bar(c->recall, &t->fingerprint);
    unrecall(c, slot, GP_REASON(UNLIKE));
}

bool gp_slot_is_whole(const struct gp_collection *c, const struct gp_slot *t)
{
    return t->only_pass ? t->hardware_passes > 0
                        : t->hardware_passes == gp_range_session_hardware_passes(c->session);
}

static void take_values(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    if (!t->in_session)
        return;
    t->in_session = false;
    const double *values = c->session ? gp_range_session_values(c->session, slot) : NULL;
    if (!values) {
        if (!t->hardware_lost.cause)
            t->hardware_lost = gp_reason_or(
                c->no_session, GP_REASON_TEXT(CUPTI_FAILED, "CUPTI dropped the launch's counts"));
        return;
    }
    bool whole = gp_slot_is_whole(c, t);
    size_t first = whole ? 0 : c->list.hardware_used;
    bool measured = c->list.instrumented > 0 && gp_plan_is_measured(&t->plan);
    size_t end = measured ? c->list.used : c->list.hardware_used;
    for (size_t i = first; i < end; i++)
        if (!isnan(values[i])) /* counts of an earlier session stay */
            c->values[slot * c->list.width + c->list.columns[i]] = values[i];
    t->range_read = t->range_read || measured;
    if (!t->held && gp_plan_is_recalled(&t->plan) && whole)
        compare_checks(c, slot);
    if (t->plan.source == GP_SOURCE_LEARNABLE && t->range_read && whole)
        learn_launch(c, slot);
}

void gp_collection_take_values(struct gp_collection *c)
{
    for (unsigned t = 0; t < c->slots_given; t++)
        take_values(c, t);
    gp_bundles_take_sums(c);
    if (c->session)
        gp_range_session_forget_values(c->session);
}

int gp_collection_cc(const struct gp_collection *c)
{
    return 10 * c->device.cc_major + c->device.cc_minor;
}

void gp_slot_take_row(struct gp_collection *c, unsigned slot, const double *row)
{
    for (size_t i = 0; i < c->list.instrumented; i++)
        c->values[slot * c->list.width + c->list.columns[c->list.hardware_used + i]] = row[i];
    for (size_t i = 0; i < c->list.own_count; i++) {
        const size_t at = slot * c->list.width + c->list.own_columns[i];
        if (isnan(c->values[at])) /* else they were counted of the launch itself */
            c->values[at] = row[c->list.instrumented + i];
        if (isnan(c->values[at]) && !c->absent[at].cause)
            c->absent[at] = GP_REASON_TEXT(
                UNLIKE, "the counter was not counted of the launch that was alike either");
    }
}

static bool is_own(const struct gp_collection *c, size_t column)
{
    for (size_t i = 0; i < c->list.own_count; i++)
        if (c->list.own_columns[i] == column)
            return true;
    return false;
}

/* Why a counter that is no number is absent. */
static struct gp_reason missing(const struct gp_collection *c, const struct gp_slot *t,
                                size_t column, struct gp_reason not_run)
{
    const struct gp_reason nothing = GP_REASON(NOTHING_COUNTED);
    const struct gp_reason ended = GP_REASON(NOT_READ);
    enum gp_source source = t->plan.source;
    bool unread =
        !c->list.is_instrumented[column] || (gp_plan_is_measured(&t->plan) && !t->range_read);
    if (t->in_session && unread)
        return ended;
    if (is_own(c, column) && !t->by_sass && t->left_out.cause)
        return t->left_out;
    if (is_own(c, column) && !t->by_sass)
        return c->sass
                   ? GP_REASON_TEXT(NOT_COMPUTED, "how often each instruction ran was not counted")
                   : c->no_sass;
    if (c->list.is_instrumented[column]) {
        if (t->left_out.cause)
            return t->left_out;
        if (source == GP_SOURCE_NEW)
            return gp_reason_or(c->no_session, GP_REASON(NO_PASS));
        if (gp_plan_is_measured(&t->plan) && !t->range_read && t->hardware_lost.cause)
            return t->hardware_lost;
        if (t->like)
            return GP_REASON_TEXT(UNLIKE, "the launch that this one is like could not be measured");
        if (gp_slot_is_undecided(t))
            return gp_reason_or(c->no_session, not_run);
        return source == GP_SOURCE_NONE ? not_run : nothing;
    }
    if (t->hardware_lost.cause)
        return t->hardware_lost;
    unsigned passes = c->session ? gp_range_session_hardware_passes(c->session) : 0;
    if (t->hardware_passes && t->hardware_passes == passes && (passes == 1 || !t->only_pass))
        return nothing;
    return c->no_session.cause && !t->hardware_passes ? c->no_session : not_run;
}

/* The tensor cores' operations by the hardware, where the kernel's code says nothing: idle tensor
 * cores in a launch multiplied no matrices. Not of FP64 on chips that do it elsewhere. */
#define TENSOR_CYCLES "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"

static bool tensor_cores_rested(const struct gp_collection *c, unsigned slot)
{
    for (size_t i = 0; i < c->list.count; i++)
        if (strcmp(c->counters[i].name, TENSOR_CYCLES) == 0)
            return !c->list.unavailable[i].cause && c->values[slot * c->list.width + i] == 0;
    return false;
}

static bool tensor_cores_do_fp64(const struct gp_collection *c)
{
    const int cc = gp_collection_cc(c);
    return cc == 80 || cc == 90 || cc == 100;
}

bool gp_slot_multiplied_no_matrices(const struct gp_collection *c, unsigned slot)
{
    return tensor_cores_do_fp64(c) && tensor_cores_rested(c, slot);
}

static void note_rest(struct gp_collection *c, unsigned slot)
{
    const bool fp64_too = tensor_cores_do_fp64(c);
    if (!c->list.own_count || !tensor_cores_rested(c, slot))
        return;
    for (size_t i = 0; i < c->list.own_count; i++) {
        struct gp_counter *counter = &c->counters[c->list.own_columns[i]];
        const enum gp_own_counter own = c->list.own[i];
        if (!counter->absent.cause || own >= GP_OWN_LOADED || (own == GP_OWN_FP64 && !fp64_too))
            continue;
        counter->absent = GP_NO_REASON;
        counter->value = 0;
    }
}

const struct gp_counter *gp_slot_read(struct gp_collection *c, unsigned slot,
                                      struct gp_reason not_run, size_t *count)
{
    const struct gp_slot *t = &c->slots[slot];
    for (size_t i = 0; i < c->list.count; i++) {
        double value = c->values[slot * c->list.width + i];
        struct gp_reason absent = c->absent[slot * c->list.width + i];
        c->counters[i].value = value;
        c->counters[i].absent = c->list.unavailable[i].cause ? c->list.unavailable[i]
                                : absent.cause               ? absent
                                : isfinite(value)            ? GP_NO_REASON
                                                             : missing(c, t, i, not_run);
    }
    note_rest(c, slot);
    *count = c->list.count;
    return c->counters;
}
