#include "counters/plan.h"

bool gp_plan_is_measured(const struct gp_plan *plan)
{
    return plan->source == GP_SOURCE_MEASURED || plan->source == GP_SOURCE_LEARNABLE;
}

bool gp_plan_is_recalled(const struct gp_plan *plan)
{
    return plan->source == GP_SOURCE_RECALLED || plan->source == GP_SOURCE_UNLEARNED;
}

/* ---- which pass ------------------------------------------------------------------------------ */

/* The way of the first instrumented pass. A fingerprint may spare other launches a pass as well. */
static enum gp_way prefer(struct gp_plan *plan, const struct gp_means_to_count *m,
                          const struct gp_plan_questions *q)
{
    bool sass = !m->session || (m->fingerprints && q->fingerprint_pays(q->data));
    plan->preferred = sass ? GP_WAY_SASS : GP_WAY_RANGE;
    return plan->preferred;
}

/* Where the session stands in instrumented code, and the launch has to be measured in any case. */
static bool begins_instrumented(struct gp_plan *plan, const struct gp_means_to_count *m,
                                const struct gp_plan_questions *q)
{
    if (!m->stands_in_instrumented || (m->fingerprints && !q->expects_new(q->data)) ||
        q->takes_too_long(q->data))
        return false;
    prefer(plan, m, q);
    plan->front = true;
    return true;
}

static bool ends_instrumented(const struct gp_plan *plan, const struct gp_means_to_count *m,
                              const struct gp_plan_questions *q)
{
    if (gp_plan_is_measured(plan)) /* its fingerprint is taken so that others can be like it */
        return plan->preferred == GP_WAY_SASS && m->session;
    if (plan->front && m->session)
        return false; /* it was refused */
    return m->instrumented && (m->session || m->sass_counts) && !q->takes_too_long(q->data);
}

/* ---- held launches --------------------------------------------------------------------------- */

unsigned gp_plan_sweep_to_measure(unsigned hardware_passes)
{
    return GP_SWEEP_TO_COUNT + (hardware_passes ? hardware_passes : 1);
}

/* Its fingerprint, where it is to be taken; else all that follows is known without it. */
static bool is_to_be_identified(struct gp_plan *plan, const struct gp_means_to_count *m,
                                const struct gp_plan_questions *q)
{
    if (!m->instrumented)
        return false;
    plan->assumed = m->fingerprints && q->assume(q->data);
    if (plan->assumed)
        return false;
    plan->left_out = q->takes_too_long(q->data);
    return !plan->left_out && prefer(plan, m, q) == GP_WAY_SASS;
}

static bool is_counted_now(struct gp_plan *plan, const struct gp_means_to_count *m, unsigned *pass)
{
    plan->given = !plan->broken && !plan->together && plan->hardware < m->hardware_passes &&
                  plan->hardware + GP_SWEEP_TO_COUNT <= m->sweep;
    *pass = plan->hardware;
    plan->hardware += plan->given;
    return plan->given;
}

/* Nothing that the hardware counts could spare it its instrumented pass. */
static bool is_new(const struct gp_plan *plan)
{
    return plan->source == GP_SOURCE_NEW || (plan->source == GP_SOURCE_NONE && !plan->assumed);
}

/* A launch that was found to be new is measured. Others may have taken all the time since. */
static bool is_to_be_measured(const struct gp_plan *plan, const struct gp_means_to_count *m,
                              const struct gp_plan_questions *q)
{
    return m->instrumented && m->session && !plan->left_out && !gp_plan_is_recalled(plan) &&
           (plan->source == GP_SOURCE_NEW || !q->takes_too_long(q->data));
}

static bool next_of_held(struct gp_plan *plan, const struct gp_means_to_count *m,
                         const struct gp_plan_questions *q, bool made, unsigned *pass)
{
    *pass = GP_PLAN_INSTRUMENTED;
    plan->broken = plan->broken || (plan->given && !made);
    plan->given = false;
    plan->parted = plan->parted && m->sweep != GP_SWEEP_TO_IDENTIFY;
    if (plan->stage == GP_STAGE_DONE || m->sweep == 0 || plan->parted)
        return false;
    if (plan->stage == GP_STAGE_FRONT) {
        plan->stage = GP_STAGE_HARDWARE;
        if (is_to_be_identified(plan, m, q))
            return true;
    }
    if (plan->to_identify) {
        plan->to_identify = plan->assumed = false;
        return true;
    }
    if (is_counted_now(plan, m, pass))
        return true;
    const unsigned measure = gp_plan_sweep_to_measure(m->hardware_passes);
    if (m->sweep < measure || (m->sweep == measure && !is_new(plan)))
        return false;
    *pass = GP_PLAN_INSTRUMENTED;
    plan->stage = GP_STAGE_DONE;
    return is_to_be_measured(plan, m, q);
}

bool gp_plan_is_open(const struct gp_plan *plan, const struct gp_means_to_count *m)
{
    if (plan->stage == GP_STAGE_DONE)
        return false;
    return m->instrumented || (plan->hardware < m->hardware_passes && !plan->broken);
}

void gp_plan_identify(struct gp_plan *plan)
{
    plan->to_identify = true;
}

void gp_plan_share(struct gp_plan *plan)
{
    plan->together = true;
}

void gp_plan_confirmed(struct gp_plan *plan)
{
    plan->source = GP_SOURCE_RECALLED;
    plan->stage = GP_STAGE_DONE;
}

void gp_plan_part(struct gp_plan *plan)
{
    const struct gp_plan before = *plan;
    *plan = (struct gp_plan){.parted = true};
    if (before.assumed)
        return;
    plan->stage = GP_STAGE_HARDWARE;
    plan->source = before.source;
}

void gp_plan_reopen(struct gp_plan *plan)
{
    plan->source = GP_SOURCE_NEW;
    plan->stage = GP_STAGE_HARDWARE;
}

/* ---- others ---------------------------------------------------------------------------------- */

bool gp_plan_next(struct gp_plan *plan, const struct gp_means_to_count *m,
                  const struct gp_plan_questions *q, bool made, unsigned *pass)
{
    if (m->held)
        return next_of_held(plan, m, q, made, pass);
    *pass = GP_PLAN_INSTRUMENTED;
    switch (plan->stage) {
    case GP_STAGE_FRONT:
        plan->stage = GP_STAGE_HARDWARE;
        if (begins_instrumented(plan, m, q))
            return true;
        made = true; /* nothing was tried yet */
        /* fall through */
    case GP_STAGE_HARDWARE:
        /* A pass at the front that was not made keeps none of these from being made. */
        if ((made || plan->hardware == 0) && plan->hardware < m->hardware_passes) {
            *pass = plan->hardware++;
            return true;
        }
        plan->stage = GP_STAGE_BACK;
        /* fall through */
    case GP_STAGE_BACK:
        plan->stage = GP_STAGE_AGAIN;
        if (ends_instrumented(plan, m, q))
            return true;
        plan->stage = GP_STAGE_DONE;
        return false;
    case GP_STAGE_AGAIN:
        plan->stage = GP_STAGE_DONE;
        plan->no_fingerprint = !made && plan->source == GP_SOURCE_NONE;
        return (plan->source == GP_SOURCE_NEW || plan->no_fingerprint) && m->session;
    case GP_STAGE_DONE:
        break;
    }
    return false;
}

enum gp_way gp_plan_way(struct gp_plan *plan, const struct gp_means_to_count *m,
                        const struct gp_plan_questions *q)
{
    if (m->held) {
        plan->way = plan->stage == GP_STAGE_DONE ? GP_WAY_RANGE : GP_WAY_SASS;
        return plan->way;
    }
    bool to_measure = plan->front || plan->no_fingerprint || plan->source == GP_SOURCE_NEW ||
                      plan->source == GP_SOURCE_LEARNABLE || prefer(plan, m, q) == GP_WAY_RANGE;
    plan->way = m->session && to_measure && !gp_plan_is_measured(plan) ? GP_WAY_RANGE : GP_WAY_SASS;
    return plan->way;
}

/* ---- the result of a pass -------------------------------------------------------------------- */

void gp_plan_measured(struct gp_plan *plan)
{
    plan->source = plan->source == GP_SOURCE_NEW ? GP_SOURCE_LEARNABLE : GP_SOURCE_MEASURED;
}

void gp_plan_counted(struct gp_plan *plan)
{
    plan->source = GP_SOURCE_COUNTED;
}

void gp_plan_found(struct gp_plan *plan, enum gp_finding finding)
{
    if (gp_plan_is_measured(plan))
        plan->source = GP_SOURCE_LEARNABLE;
    else if (finding == GP_FOUND_NONE)
        plan->source = GP_SOURCE_NEW;
    else
        plan->source = finding == GP_FOUND_LEARNED ? GP_SOURCE_RECALLED : GP_SOURCE_UNLEARNED;
}

void gp_plan_learned(struct gp_plan *plan)
{
    plan->source = GP_SOURCE_MEASURED;
}
