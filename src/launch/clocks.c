#include "launch/clocks.h"

#include <stdlib.h>
#include <utlist.h>

static void destroy(struct gp_clock *clock)
{
    if (clock->start)
        gp_cuda.cuEventDestroy_v2(clock->start);
    if (clock->end)
        gp_cuda.cuEventDestroy_v2(clock->end);
}

static struct gp_clock *make(void)
{
    struct gp_clock *clock = calloc(1, sizeof(*clock));
    if (!clock)
        return NULL;
    if (gp_event_make(&clock->start, CU_EVENT_DEFAULT) &&
        gp_event_make(&clock->end, CU_EVENT_DEFAULT))
        return clock;
    destroy(clock);
    free(clock);
    return NULL;
}

struct gp_clock *gp_clock_take(struct gp_clock **list)
{
    struct gp_clock *clock = *list;
    if (!clock)
        return make();
    LL_DELETE(*list, clock);
    clock->started = clock->stopped = false;
    return clock;
}

void gp_clock_give_back(struct gp_clock **list, struct gp_clock *clock)
{
    if (clock)
        LL_PREPEND(*list, clock);
}

void gp_clock_start(struct gp_clock *clock, const struct gp_launch *call)
{
    clock->started =
        gp_event_record(clock->start, call->stream, call->per_thread_stream) == CUDA_SUCCESS;
}

void gp_clock_stop(struct gp_clock *clock, const struct gp_launch *call)
{
    clock->stopped = clock->started && gp_event_record(clock->end, call->stream,
                                                       call->per_thread_stream) == CUDA_SUCCESS;
}

bool gp_clock_has_stopped(const struct gp_clock *clock)
{
    return clock->stopped && gp_cuda.cuEventQuery(clock->end) != CUDA_ERROR_NOT_READY;
}

float gp_clock_read(const struct gp_clock *clock)
{
    float ms;
    if (!clock->stopped ||
        gp_cuda.cuEventElapsedTime(&ms, clock->start, clock->end) != CUDA_SUCCESS)
        return 0;
    return ms;
}

void gp_clocks_free(struct gp_clock **list, bool context_alive)
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
