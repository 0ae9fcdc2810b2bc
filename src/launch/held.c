/* The wait of a launch for its batch: it keeps its parameters and a copy of the memory it reached,
 * so that it can be replayed later (launch/drain.c). Used with the gate locked. */
#include "launch/inside.h"

#include "counters/states.h"
#include "gate/captures.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static atomic_uint held_launches; /* in all contexts, those that were given up among them */

bool gp_any_held(void)
{
    return atomic_load_explicit(&held_launches, memory_order_relaxed) > 0;
}

bool held_keep(struct gp_measurement *m)
{
    struct gp_run *run = &m->member.run;
    m->kept = launch_keep(m->call, run->parameters, run->parameters_size);
    m->parameters = malloc(run->parameters_size + 1);
    if (!m->kept || !m->parameters) {
        free(m->kept);
        free(m->parameters);
        m->kept = NULL;
        m->parameters = NULL;
        return false;
    }
    if (run->parameters_size)
        memcpy(m->parameters, run->parameters, run->parameters_size);
    m->call = m->kept;
    run->parameters = m->parameters;
    return true;
}

void held_enter(struct gp_measurement *m, struct gp_held_copy *copy)
{
    m->copy = copy;
    /* Passes are to come, if there was none: before its module goes. */
    m->kernel->collected = true;
    atomic_fetch_add(&held_launches, 1);
    limit_promise(1);
}

static struct gp_measurement *first_that_waits(struct gp_measurement *m)
{
    while (m && !measurement_waits(m))
        m = m->next;
    return m;
}

struct gp_measurement *held_first(const struct gp_context *c)
{
    return first_that_waits(c->launches);
}

struct gp_measurement *held_next(const struct gp_measurement *m)
{
    return first_that_waits(m->next);
}

static void free_copy(struct gp_measurement *m)
{
    gp_snapshot_release(m->snapshot, m->copy);
    m->copy = NULL;
    if (m->clock && ended_forget(m->clock)) /* else nobody uses it any more */
        clock_give_back(&m->context->clocks, m->clock);
    m->clock = NULL;
    atomic_fetch_sub(&held_launches, 1);
    limit_promise(-1);
}

/* To ask an event would end a capture. */
static bool is_written(const struct gp_measurement *m, bool idle)
{
    if (!m->clock)
        return true;
    return !atomic_load(&m->under_way) &&
           (idle || (gp_captures() == 0 && clock_has_stopped(m->clock)));
}

void held_release(struct gp_measurement *m)
{
    if (is_written(m, false))
        free_copy(m);
    else
        gp_launch_move(&m->member.state, GP_LAUNCH_ABANDON);
}

void held_leave(struct gp_measurement *m)
{
    if (m->copy)
        DL_APPEND(m->context->unwritten, m);
    else
        measurement_free(m);
}

void held_release_written(struct gp_context *c, bool idle)
{
    struct gp_measurement *m, *next;
    DL_FOREACH(c->launches, m)
    {
        if (m->copy && !measurement_waits(m) && is_written(m, idle))
            free_copy(m);
    }
    DL_FOREACH_SAFE(c->unwritten, m, next)
    {
        if (!is_written(m, idle))
            continue;
        DL_DELETE(c->unwritten, m);
        free_copy(m);
        measurement_free(m);
    }
}

bool held_any_unwritten(const struct gp_context *c)
{
    const struct gp_measurement *m = c->launches;
    while (m && (!m->copy || measurement_waits(m)))
        m = m->next;
    return m || c->unwritten;
}

static bool any_to_be_written(const struct gp_measurement *list, CUdeviceptr address,
                              uint64_t bytes)
{
    const struct gp_measurement *m = list;
    while (m &&
           (!m->copy || is_written(m, false) || !gp_held_copy_reaches(m->copy, address, bytes)))
        m = m->next;
    return m != NULL;
}

bool held_to_be_written(const struct gp_context *c, CUdeviceptr address, uint64_t bytes)
{
    return any_to_be_written(c->launches, address, bytes) ||
           any_to_be_written(c->unwritten, address, bytes);
}
