/* The time of a launch that is not waited for, and of our own work in front of it: events before
 * that, before the launch and behind it, which are asked later. Where the hardware has few queues
 * no times are taken. Owns the events of a context that
 * no launch has at present. Used with the gate locked and the context current. */
#include "launch/inside.h"

#include <stdlib.h>
#include <utlist.h>

static void destroy(struct gp_clock *clock)
{
    if (clock->before)
        gp_cuda.cuEventDestroy_v2(clock->before);
    if (clock->start)
        gp_cuda.cuEventDestroy_v2(clock->start);
    if (clock->end)
        gp_cuda.cuEventDestroy_v2(clock->end);
}

/* Where streams share a queue of the hardware, a launch might have to pass an event that takes the
 * time, and could not. */
static struct gp_clock *make(void)
{
    unsigned flags = user_settings.few_queues ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT;
    struct gp_clock *clock = calloc(1, sizeof(*clock));
    if (!clock)
        return NULL;
    if (gp_event_make(&clock->before, flags) && gp_event_make(&clock->start, flags) &&
        gp_event_make(&clock->end, flags))
        return clock;
    destroy(clock);
    free(clock);
    return NULL;
}

struct gp_clock *clock_take(struct gp_clock **list)
{
    struct gp_clock *clock = *list;
    if (!clock)
        return make();
    LL_DELETE(*list, clock);
    clock->begun = clock->started = clock->stopped = clock->ended = clock->charged = false;
    return clock;
}

void clock_give_back(struct gp_clock **list, struct gp_clock *clock)
{
    if (clock)
        LL_PREPEND(*list, clock);
}

static bool record(CUevent event, const struct gp_launch *call)
{
    return gp_event_record(event, call->stream, call->per_thread_stream) == CUDA_SUCCESS;
}

void clock_begin(struct gp_clock *clock, const struct gp_launch *call)
{
    clock->begun = record(clock->before, call);
}

void clock_start(struct gp_clock *clock, const struct gp_launch *call)
{
    clock->started = record(clock->start, call);
}

void clock_stop(struct gp_clock *clock, const struct gp_launch *call)
{
    clock->stopped = clock->started && record(clock->end, call);
}

static float between(CUevent a, CUevent b)
{
    float ms;
    return gp_cuda.cuEventElapsedTime(&ms, a, b) == CUDA_SUCCESS ? ms : 0;
}

bool clock_has_stopped(struct gp_clock *clock)
{
    clock->ended =
        clock->ended || (clock->stopped && gp_cuda.cuEventQuery(clock->end) == CUDA_SUCCESS);
    return clock->ended;
}

bool clock_has_started(const struct gp_clock *clock)
{
    return clock->started && gp_cuda.cuEventQuery(clock->start) == CUDA_SUCCESS;
}

float clock_read(const struct gp_clock *clock)
{
    return clock->stopped ? between(clock->start, clock->end) : 0;
}

float clock_charge(struct gp_clock *clock)
{
    bool is_known = clock->begun && clock->started && !clock->charged;
    clock->charged = true;
    return is_known ? between(clock->before, clock->start) : 0;
}

void clocks_free(struct gp_clock **list, bool context_alive)
{
    struct gp_clock *clock, *next;
    LL_FOREACH_SAFE(*list, clock, next)
    {
        if (context_alive)
            destroy(clock);
        free(clock);
    }
    *list = NULL;
}
