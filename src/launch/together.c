/* Held launches that are counted together (counters/batch.h). Used in a drain. */
#include "launch/inside.h"

/* False where the launch was refused, did not end, or failed. */
static bool launch(struct gp_measurement *m, const struct gp_step *step)
{
    CUresult result = put_in_place(m, false) ? m->call->run(m->call) : CUDA_ERROR_NOT_SUPPORTED;
    if (result != CUDA_SUCCESS)
        return false;
    CUresult outcome = wait_in_pass(m, step);
    if (outcome != CUDA_SUCCESS && outcome != CUDA_ERROR_NOT_READY)
        context_died(m, outcome);
    m->runs += outcome == CUDA_SUCCESS;
    return outcome == CUDA_SUCCESS;
}

static struct gp_measurement *first_of(struct gp_measurement *m, const struct gp_step *step)
{
    while (m && m->member.bundle != step->member->bundle)
        m = held_next(m);
    return m;
}

/* The time of all is the first one's, whose pass it is. */
static bool launch_all(struct gp_context *c, const struct gp_step *step)
{
    for (struct gp_measurement *m = first_of(held_first(c), step); m;
         m = first_of(held_next(m), step)) {
        bool ended = launch(m, step);
        record_amend(m, 0, m->broken_off);
        if (!ended)
            return false;
    }
    return true;
}

static bool put_all(struct gp_measurement *first, const struct gp_step *step)
{
    bool put = true;
    for (struct gp_measurement *m = first_of(held_first(first->context), step); m && put;
         m = first_of(held_next(m), step))
        put = put_in_place(m, false);
    return put;
}

/* Only copies that are not in place are put there. So those that lie there when the range begins
 * are those that it leaves, and the bundle's range, which comes behind it, finds the same. */
static bool is_ready(struct gp_measurement *first, const struct gp_step *step)
{
    return step->kind != GP_STEP_BLANK || !step->of_bundle || put_all(first, step);
}

/* In the range nothing is copied but the memory that a launch starts from. */
static bool keep_all(struct gp_measurement *first)
{
    struct gp_held_copy *copies[GP_MOST_TOGETHER];
    size_t count = 0;
    const struct gp_context *c = first->context;
    for (const struct gp_measurement *m = held_first(c); m; m = held_next(m))
        if (m->member.bundle == first->member.bundle && count < GP_MOST_TOGETHER)
            copies[count++] = m->copy;
    struct gp_reason why;
    bool kept = gp_snapshot_keep(first->snapshot, copies, count, false, &why);
    if (!kept)
        first->broken_off = why;
    return kept;
}

bool count_together(struct gp_measurement *first, const struct gp_step *step)
{
    struct gp_context *c = first->context;
    struct gp_reason why;
    if (!keep_all(first) || !is_ready(first, step) || !begin_pass(first, step))
        return false;
    bool made = step->kind != GP_STEP_BLANK ? launch_all(c, step)
                : step->of_bundle           ? put_all(first, step)
                                            : put_in_place(first, false);
    /* While an abandoned kernel runs it cannot be ended. */
    if (!context_goes_on(c))
        return false;
    bool ended = c->collection->collector->end(c->collection, step, !made, &why);
    if (!ended)
        first->broken_off = why;
    return made && ended;
}
