#include "counters/inside.h"

#include <math.h>
#include <string.h>

#define NOT_COUNTED_OF_LIKE \
    GP_REASON_TEXT(UNLIKE, "the counter was not counted of the launch that was alike either")

double *values_of_member(const struct gp_range_collection *c, const struct gp_member *m)
{
    return &c->values[m->number * c->list.width];
}

struct gp_reason *absent_of_member(const struct gp_range_collection *c, const struct gp_member *m)
{
    return &c->absent[m->number * c->list.width];
}

void values_clear(struct gp_range_collection *c, const struct gp_member *m)
{
    for (size_t i = 0; i < c->list.width; i++) {
        values_of_member(c, m)[i] = NAN;
        absent_of_member(c, m)[i] = GP_NO_REASON;
    }
}

/* The check counters, which are of the hardware, come last in a row of values_make_row. */
const double *checks_in_row(const struct gp_range_collection *c, const double *row)
{
    return row + c->list.instrumented + c->list.own_count;
}

void values_make_row(const struct gp_range_collection *c, const struct gp_member *m, double *row)
{
    const double *values = values_of_member(c, m);
    for (size_t i = 0; i < c->list.instrumented; i++)
        *row++ = values[c->list.columns[c->list.hardware_used + i]];
    for (size_t i = 0; i < c->list.own_count; i++)
        *row++ = values[c->list.own_columns[i]];
    for (size_t w = 0; w < c->list.check_count; w++)
        *row++ = values[c->list.checks[w]];
}

void values_learn_hardware(struct gp_range_collection *c, const struct gp_member *m)
{
    const double *values = values_of_member(c, m);
    if (!values_are_whole(c, m) || m->hardware_lost.cause)
        return;
    for (size_t i = 0; i < c->list.hardware_used; i++)
        c->hardware_row[i] = values[c->list.columns[i]];
    recall_note_hardware(c->recall, &m->fingerprint, &m->kind, c->hardware_row);
}

bool values_take_hardware(struct gp_range_collection *c, struct gp_member *m)
{
    const struct gp_fingerprint which = fingerprint_with_work(&m->fingerprint, &m->kind);
    const double *values = recall_hardware(c->recall, &which);
    for (size_t i = 0; values && i < c->list.hardware_used; i++)
        values_of_member(c, m)[c->list.columns[i]] = values[i];
    if (!values)
        return false;
    m->passes = range_session_hardware_passes(c->session);
    m->hardware_lost = GP_NO_REASON;
    return true;
}

/* Time, or its numbers, have changed more of its counts than they may: no other launch takes them,
 * as long as others agree with the ones before it. */
static bool is_outlier(struct gp_range_collection *c, const struct gp_member *m)
{
    const double *before = recall_find(c->recall, &m->fingerprint);
    return before && !m->by_work && member_depends_on_time(m) &&
           !values_agree(c, m, before, c->list.check_count) &&
           recall_is_outlier(c->recall, &m->fingerprint);
}

/* A launch whose check counters are not all known could be found like no other. */
static void learn_launch(struct gp_range_collection *c, const struct gp_member *m)
{
    double *row = c->row;
    values_make_row(c, m, row);
    for (size_t w = 0; w < c->list.check_count; w++)
        if (isnan(checks_in_row(c, row)[w]))
            return;
    if (is_outlier(c, m))
        return;
    /* Time changes some counts of a launch that asks, and each run those of asynchronous copies. */
    recall_learn(c->recall, &m->fingerprint, row, !member_depends_on_time(m) && !m->copies);
    values_learn_hardware(c, m);
    if (m->run.when != GP_RUN_LATER) /* else that was when its fingerprint was found */
        recall_found(c->recall, &m->kind, &m->fingerprint, true);
}

bool values_agree(const struct gp_range_collection *c, const struct gp_member *m, const double *row,
                  size_t count)
{
    const double *values = values_of_member(c, m);
    bool agree = row != NULL;
    for (size_t w = 0; agree && w < count; w++) {
        double value = values[c->list.checks[w]], wanted = checks_in_row(c, row)[w];
        agree = fabs(value - wanted) <= check_tolerance(m, w, wanted);
    }
    return agree;
}

/* The launch's own instrumented counters were not measured, and others are not to be taken for
 * them. */
static void unrecall(struct gp_range_collection *c, const struct gp_member *m, struct gp_reason why)
{
    double *values = values_of_member(c, m);
    struct gp_reason *absent = absent_of_member(c, m);
    for (size_t i = 0; i < c->list.instrumented + c->list.own_count; i++) {
        size_t column = i < c->list.instrumented ? c->list.columns[c->list.hardware_used + i]
                                                 : c->list.own_columns[i - c->list.instrumented];
        values[column] = NAN;
        absent[column] = why;
    }
}

/* The check counters of a launch have to equal those of the launch whose instrumented counters were
 * taken for it; else these are not its own. */
static void compare_checks(struct gp_range_collection *c, struct gp_member *m)
{
    const double *row = recall_find(c->recall, &m->fingerprint);
    if (!row)
        return; /* forgotten: there is nothing to compare with */
    bool all = values_agree(c, m, row, c->list.check_count);
    recall_found(c->recall, &m->kind, &m->fingerprint, all);
    if (values_agree(c, m, row, GP_LEAST_CHECKS))
        return;
    recall_bar(c->recall, &m->fingerprint);
    unrecall(c, m, GP_REASON(UNLIKE));
}

bool values_are_whole(const struct gp_range_collection *c, const struct gp_member *m)
{
    return m->run.when == GP_RUN_ONCE ? m->passes > 0
                                      : m->passes == range_session_hardware_passes(c->session);
}

static void lose_values(const struct gp_range_collection *c, struct gp_member *m)
{
    if (!m->hardware_lost.cause)
        m->hardware_lost = gp_reason_or(
            c->no_session, GP_REASON_TEXT(CUPTI_FAILED, "CUPTI dropped the launch's counts"));
    if (launch_is_measured(m->state))
        gp_launch_move(&m->state, GP_LAUNCH_LOSE);
}

/* Counts of an earlier session stay. */
static void take_values(struct gp_range_collection *c, struct gp_member *m)
{
    if (!m->in_session)
        return;
    m->in_session = false;
    const double *values = c->session ? range_session_values(c->session, m->range - 1) : NULL;
    if (!values) {
        lose_values(c, m);
        return;
    }
    bool whole = values_are_whole(c, m), measured = launch_is_measured(m->state);
    size_t first = whole ? 0 : c->list.hardware_used;
    size_t end = measured ? c->list.used : c->list.hardware_used;
    for (size_t i = first; i < end; i++)
        if (!isnan(values[i]))
            values_of_member(c, m)[c->list.columns[i]] = values[i];
    if (m->run.when == GP_RUN_LATER && whole && values_show_no_matrices(c, m))
        m->run.cost->no_matrices = true;
    /* A launch that waits was confirmed before it was recalled. */
    if (m->run.when != GP_RUN_LATER && m->state == GP_LAUNCH_RECALLED && whole)
        compare_checks(c, m);
    /* Passes of the hardware may be to come. */
    if (m->state != GP_LAUNCH_LEARNABLE || (!whole && m->passes == m->asked))
        return;
    if (whole)
        learn_launch(c, m);
    gp_launch_move(&m->state, GP_LAUNCH_LEARN);
}

void values_take(struct gp_range_collection *c)
{
    const struct gp_batch *b = &c->base.batch;
    for (unsigned i = 0; i < b->count; i++)
        take_values(c, b->members[i]);
}

int range_collection_cc(const struct gp_range_collection *c)
{
    return 10 * c->device.cc_major + c->device.cc_minor;
}

bool values_are_measured(const struct gp_range_collection *c, const struct gp_member *m)
{
    bool any = false;
    for (size_t i = c->list.hardware_used; !any && i < c->list.used; i++)
        any = !isnan(values_of_member(c, m)[c->list.columns[i]]);
    return any && launch_is_measured(m->state);
}

void values_take_row(struct gp_range_collection *c, const struct gp_member *m, const double *row)
{
    double *values = values_of_member(c, m);
    struct gp_reason *absent = absent_of_member(c, m);
    for (size_t i = 0; i < c->list.instrumented; i++)
        values[c->list.columns[c->list.hardware_used + i]] = row[i];
    for (size_t i = 0; i < c->list.own_count; i++) {
        const size_t at = c->list.own_columns[i];
        if (isnan(values[at])) /* else they were counted of the launch itself */
            values[at] = row[c->list.instrumented + i];
        if (isnan(values[at]) && !absent[at].cause)
            absent[at] = NOT_COUNTED_OF_LIKE;
    }
}

static bool is_own(const struct gp_range_collection *c, size_t column)
{
    for (size_t i = 0; i < c->list.own_count; i++)
        if (c->list.own_columns[i] == column)
            return true;
    return false;
}

/* The SASS metrics have counted something of the launch. */
static bool is_counted_by_sass(const struct gp_member *m)
{
    return m->identity == GP_FOUND_IDENTITY || m->state == GP_LAUNCH_COUNTED;
}

/* Why our own counter is absent. */
static struct gp_reason missing_own(const struct gp_range_collection *c, const struct gp_member *m)
{
    if (m->left_out.cause)
        return m->left_out;
    return c->sass ? GP_REASON_TEXT(NOT_COMPUTED, "how often each instruction ran was not counted")
                   : c->no_sass;
}

static struct gp_reason missing_instrumented(const struct gp_range_collection *c,
                                             const struct gp_member *m, struct gp_reason not_run)
{
    if (m->left_out.cause)
        return m->left_out;
    if (m->state == GP_LAUNCH_NEW)
        return gp_reason_or(c->no_session, GP_REASON(NO_PASS));
    if (m->state == GP_LAUNCH_UNMEASURED && m->hardware_lost.cause)
        return m->hardware_lost;
    if (m->state == GP_LAUNCH_UNMEASURED && m->identity)
        return gp_reason_or(c->no_session, GP_REASON(NO_PASS));
    if (m->state == GP_LAUNCH_LIKE_MEMBER)
        return GP_REASON_TEXT(UNLIKE, "the launch that this one is like could not be measured");
    if (launch_is_undecided(m->state) && m->run.when == GP_RUN_LATER)
        return gp_reason_or(c->no_session, not_run);
    bool counted = launch_is_measured(m->state) || m->state == GP_LAUNCH_RECALLED ||
                   m->state == GP_LAUNCH_COUNTED;
    return counted ? GP_REASON(NOTHING_COUNTED) : not_run;
}

static struct gp_reason missing_hardware(const struct gp_range_collection *c,
                                         const struct gp_member *m, struct gp_reason not_run)
{
    if (m->hardware_lost.cause)
        return m->hardware_lost;
    unsigned passes = c->session ? range_session_hardware_passes(c->session) : 0;
    if (m->passes && m->passes == passes && (passes == 1 || m->run.when != GP_RUN_ONCE))
        return GP_REASON(NOTHING_COUNTED);
    return c->no_session.cause && !m->passes ? c->no_session : not_run;
}

/* Why a counter that is no number is absent. */
static struct gp_reason missing(const struct gp_range_collection *c, const struct gp_member *m,
                                size_t column, struct gp_reason not_run)
{
    bool instrumented = c->list.is_instrumented[column];
    if (m->in_session && (!instrumented || launch_is_measured(m->state)))
        return GP_REASON(NOT_READ);
    if (is_own(c, column) && !is_counted_by_sass(m))
        return missing_own(c, m);
    return instrumented ? missing_instrumented(c, m, not_run) : missing_hardware(c, m, not_run);
}

/* The tensor cores' operations by the hardware, where the kernel's code says nothing: idle tensor
 * cores in a launch multiplied no matrices. FP64 does not count on chips that do it elsewhere. */
#define TENSOR_CYCLES "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"

static bool tensor_cores_rested(const struct gp_range_collection *c, const struct gp_member *m)
{
    for (size_t i = 0; i < c->list.count; i++)
        if (strcmp(c->counters[i].name, TENSOR_CYCLES) == 0)
            return !c->list.unavailable[i].cause && values_of_member(c, m)[i] == 0;
    return false;
}

static bool tensor_cores_do_fp64(const struct gp_range_collection *c)
{
    const int cc = range_collection_cc(c);
    return cc == 80 || cc == 90 || cc == 100;
}

bool values_show_no_matrices(const struct gp_range_collection *c, const struct gp_member *m)
{
    return tensor_cores_do_fp64(c) && tensor_cores_rested(c, m);
}

static void note_rest(struct gp_range_collection *c, const struct gp_member *m)
{
    const bool fp64_too = tensor_cores_do_fp64(c);
    if (!c->list.own_count || !tensor_cores_rested(c, m))
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

const struct gp_counter *values_read(struct gp_range_collection *c, const struct gp_member *m,
                                     struct gp_reason not_run, size_t *count)
{
    const double *values = values_of_member(c, m);
    const struct gp_reason *absent = absent_of_member(c, m);
    for (size_t i = 0; i < c->list.count; i++) {
        c->counters[i].value = values[i];
        c->counters[i].absent = c->list.unavailable[i].cause ? c->list.unavailable[i]
                                : absent[i].cause            ? absent[i]
                                : isfinite(values[i])        ? GP_NO_REASON
                                                             : missing(c, m, i, not_run);
    }
    note_rest(c, m);
    *count = c->list.count;
    return c->counters;
}
