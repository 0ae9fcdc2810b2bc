#include "launch/held.h"

#include "gate/captures.h"
#include "launch/drain.h"
#include "launch/ended.h"
#include "launch/kept_launch.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static atomic_uint held_launches; /* in all contexts */

bool gp_any_held(void)
{
    return atomic_load_explicit(&held_launches, memory_order_relaxed) > 0;
}

void gp_held_free(struct gp_held *h)
{
    free(h->call);
    free(h->parameters);
    free(h);
}

struct gp_held *gp_held_keep(const struct gp_measurement *m)
{
    struct gp_held *h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    h->call = gp_launch_keep(m->call, m->run.parameters, m->run.parameters_size);
    h->parameters = malloc(m->run.parameters_size + 1);
    if (!h->call || !h->parameters) {
        gp_held_free(h);
        return NULL;
    }
    if (m->run.parameters_size)
        memcpy(h->parameters, m->run.parameters, m->run.parameters_size);
    h->measurement = *m;
    h->measurement.call = h->call;
    h->measurement.run.parameters = h->parameters;
    h->measurement.run.empty_caches_data = &h->measurement;
    return h;
}

void gp_held_enter(struct gp_held *h, struct gp_held_copy *copy)
{
    h->copy = h->measurement.copy = copy;
    DL_APPEND(h->measurement.context->held, h);
    /* Passes are to come, if there was none: before its module goes. */
    h->measurement.kernel->collected = true;
    atomic_fetch_add(&held_launches, 1);
}

static void free_with_copy(struct gp_context *c, struct gp_held *h)
{
    gp_snapshot_release(h->measurement.snapshot, h->copy);
    if (gp_ended_forget(h->clock)) /* else nobody uses it any more */
        gp_clock_give_back(&c->clocks, h->clock);
    gp_held_free(h);
    atomic_fetch_sub(&held_launches, 1);
}

static bool is_written(const struct gp_held *h, bool idle)
{
    if (!h->clock)
        return true;
    /* To ask an event would end a capture. */
    return !atomic_load(&h->under_way) &&
           (idle || (gp_captures() == 0 && gp_clock_has_stopped(h->clock)));
}

void gp_held_release(struct gp_context *c, struct gp_held *h)
{
    DL_DELETE(c->held, h);
    if (is_written(h, false))
        free_with_copy(c, h);
    else
        DL_APPEND(c->unwritten, h);
}

void gp_held_release_written(struct gp_context *c, bool idle)
{
    struct gp_held *h, *next;
    DL_FOREACH_SAFE(c->unwritten, h, next)
    {
        if (!is_written(h, idle))
            continue;
        DL_DELETE(c->unwritten, h);
        free_with_copy(c, h);
    }
}

static bool any_to_be_written(const struct gp_held *list, CUdeviceptr address, uint64_t bytes)
{
    const struct gp_held *h = list;
    while (h && (is_written(h, false) || !gp_held_copy_reaches(h->copy, address, bytes)))
        h = h->next;
    return h != NULL;
}

bool gp_held_to_be_written(const struct gp_context *c, CUdeviceptr address, uint64_t bytes)
{
    return any_to_be_written(c->held, address, bytes) ||
           any_to_be_written(c->unwritten, address, bytes);
}
