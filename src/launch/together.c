#include "launch/together.h"

#include "counters/batch.h"
#include "launch/held.h"

#include <utlist.h>

static unsigned bundle_of(const struct gp_measurement *m)
{
    return m->context->collector->state(m->context->collection, m->slot).bundle;
}

/* False where the launch was refused, did not end, or failed. */
static bool launch(struct gp_measurement *m, unsigned pass)
{
    CUresult result = gp_put_in_place(m, false) ? m->call->run(m->call) : CUDA_ERROR_NOT_SUPPORTED;
    if (result != CUDA_SUCCESS)
        return false;
    CUresult outcome = gp_wait_in_pass(m, pass);
    if (outcome != CUDA_SUCCESS && outcome != CUDA_ERROR_NOT_READY)
        gp_context_died(m, outcome);
    m->runs += outcome == CUDA_SUCCESS;
    return outcome == CUDA_SUCCESS;
}

/* The time of all is the first one's, whose pass it is. */
static bool launch_all(struct gp_context *c, unsigned bundle, unsigned pass)
{
    struct gp_held *h;
    DL_FOREACH(c->held, h)
    {
        struct gp_measurement *m = &h->measurement;
        if (bundle_of(m) != bundle)
            continue;
        bool ended = launch(m, pass);
        gp_pending_amend(h->record, m->runs, 0, m->restored_bytes, m->broken_off);
        if (!ended)
            return false;
    }
    return true;
}

/* In the range nothing is copied but the memory that a launch starts from. */
static bool keep_all(struct gp_measurement *first, unsigned bundle)
{
    struct gp_held_copy *copies[GP_MOST_TOGETHER];
    const struct gp_held *h;
    size_t count = 0;
    DL_FOREACH(first->context->held, h)
    {
        if (bundle_of(&h->measurement) == bundle && count < GP_MOST_TOGETHER)
            copies[count++] = h->copy;
    }
    struct gp_reason why;
    bool kept = gp_snapshot_keep(first->snapshot, copies, count, false, &why);
    if (!kept)
        first->broken_off = why;
    return kept;
}

bool gp_count_together(struct gp_measurement *first, unsigned pass)
{
    struct gp_context *c = first->context;
    struct gp_reason why;
    if (!keep_all(first, bundle_of(first)) || !gp_begin_pass(first, pass))
        return false;
    bool made = pass == GP_BLANK_PASS ? gp_put_in_place(first, false)
                                      : launch_all(c, bundle_of(first), pass);
    /* While an abandoned kernel runs it cannot be ended. */
    if (!gp_context_goes_on(c))
        return false;
    first->run.refused = !made;
    bool ended = c->collector->end(c->collection, first->slot, pass, &first->run, &why);
    first->run.refused = false;
    if (!ended)
        first->broken_off = why;
    return made && ended;
}
