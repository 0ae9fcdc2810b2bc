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

struct bundle_copies {
    struct gp_held_copy *of[GP_MOST_TOGETHER];
    size_t count;
};

static struct bundle_copies copies_of(const struct gp_measurement *first)
{
    struct bundle_copies copies = {.count = 0};
    for (const struct gp_measurement *m = held_first(first->context); m; m = held_next(m))
        if (m->member.bundle == first->member.bundle && copies.count < GP_MOST_TOGETHER)
            copies.of[copies.count++] = m->copy;
    return copies;
}

/* In the range nothing is copied but the memory that a launch starts from. */
static bool keep_all(struct gp_measurement *first)
{
    const struct bundle_copies copies = copies_of(first);
    struct gp_reason why;
    const bool kept = gp_snapshot_keep(first->snapshot, copies.of, copies.count, false, &why);
    if (!kept)
        first->broken_off = why;
    return kept;
}

/* Without a pass: the counts follow from the work. */
static bool is_blank_known(struct gp_measurement *first, const struct gp_step *step)
{
    const struct bundle_copies copies = copies_of(first);
    struct gp_put_work work;
    struct gp_reason why;
    return step->kind == GP_STEP_BLANK && step->of_bundle &&
           gp_snapshot_put_work(first->snapshot, copies.of, copies.count, &work, &why) &&
           gp_collection_tells_blank(first->context->collection, step, &work);
}

/* The bundle's range, which comes next, finds memory as this one did. */
static bool put_blank(struct gp_measurement *first, const struct gp_step *step)
{
    const struct bundle_copies copies = copies_of(first);
    struct gp_reason why;
    if (!step->of_bundle)
        return put_in_place(first, false);
    const bool put = gp_snapshot_put_blank(first->snapshot, copies.of, copies.count, &why);
    if (!put)
        first->broken_off = why;
    return put;
}

bool count_together(struct gp_measurement *first, const struct gp_step *step)
{
    struct gp_context *c = first->context;
    struct gp_reason why;
    if (!keep_all(first))
        return false;
    if (is_blank_known(first, step))
        return true;
    if (!begin_pass(first, step))
        return false;
    const bool made = step->kind == GP_STEP_BLANK ? put_blank(first, step) : launch_all(c, step);
    /* While an abandoned kernel runs it cannot be ended. */
    if (!context_goes_on(c))
        return false;
    bool ended = c->collection->collector->end(c->collection, step, !made, &why);
    if (!ended)
        first->broken_off = why;
    return made && ended;
}
