#include "driver/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/faults.h"
#include "driver/memory.h"
#include "model/nap.h"

/* The time of a copy or a fill, however long it is. */
#define TRANSFER_MS 2e-3
/* An operation takes that long beside where a fault says so. */
#define SLOW_MS 20

/* The bytes from the first row's start to the last row's end. */
static uint64_t span(const struct gpusim_copy *c, uint64_t pitch, uint64_t slice)
{
    if (c->width == 0 || c->height == 0 || c->depth == 0)
        return 0;
    return (c->depth - 1) * slice + (c->height - 1) * pitch + c->width;
}

/* The host's address of device memory, and how many of the bytes lie side by side there: mappings
 * that are neighbours for the GPU are copied at once, too. */
static char *piece(uint64_t address, bool device, uint64_t *bytes)
{
    struct gpusim_range range;

    if (gpusim_memory_find(address, &range) && *bytes > range.end - address &&
        range.kind != GPUSIM_REGISTERED_MEMORY)
        *bytes = range.end - address;
    return gpusim_memory_host(address, *bytes, device);
}

static bool is_there(uint64_t address, uint64_t bytes, bool device)
{
    uint64_t one;

    for (uint64_t at = 0; at < bytes; at += one) {
        one = bytes - at;
        if (!piece(address + at, device, &one))
            return false;
    }
    return true;
}

static void copy_row(const struct gpusim_copy *c, uint64_t target, uint64_t source)
{
    uint64_t one;

    for (uint64_t at = 0; at < c->width; at += one) {
        char *from, *to;
        one = c->width - at;
        from = piece(source + at, c->source_device, &one);
        to = piece(target + at, c->target_device, &one);
        memmove(to, from, one);
    }
}

static CUresult check_copy(const struct gpusim_copy *c)
{
    uint64_t from = span(c, c->source_pitch, c->source_slice);
    uint64_t to = span(c, c->target_pitch, c->target_slice);

    if (from == 0)
        return CUDA_SUCCESS;
    if (!c->source || !c->target || !is_there(c->source, from, c->source_device) ||
        !is_there(c->target, to, c->target_device))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static uint64_t fill_span(const struct gpusim_fill *f)
{
    if (f->width == 0 || f->height == 0)
        return 0;
    return (f->height - 1) * f->pitch + f->width * f->size;
}

static CUresult check_fill(const struct gpusim_fill *f)
{
    if (fill_span(f) == 0)
        return CUDA_SUCCESS;
    if (f->target % f->size != 0 || (f->height > 1 && f->pitch % f->size != 0) ||
        !gpusim_memory_host(f->target, fill_span(f), true))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult check_value(const struct gpusim_value *v)
{
    if (v->address % v->size != 0 || !gpusim_memory_host(v->address, v->size, true))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult gpusim_work_check(CUcontext context, const struct gpusim_work *work)
{
    switch (work->kind) {
    case GPUSIM_LAUNCH:
        return gpusim_launch_check(context, &work->launch);
    case GPUSIM_COPY:
        return check_copy(&work->copy);
    case GPUSIM_FILL:
        return check_fill(&work->fill);
    case GPUSIM_WRITE_VALUE:
    case GPUSIM_WAIT_VALUE:
        return check_value(&work->value);
    default:
        return CUDA_SUCCESS;
    }
}

/* The L2 cache sees copies and fills too, once a launch is recorded. */
static void sweep(CUcontext context, uint64_t address, uint64_t bytes, bool write)
{
    struct gpusim_device *device = context->device;
    struct gpusim_range range;

    if (!gpusim_memory_find(address, &range) ||
        (range.kind != GPUSIM_DEVICE_MEMORY && range.kind != GPUSIM_VARIABLE_MEMORY))
        return;
    pthread_mutex_lock(&device->l2_lock);
    if (device->l2)
        gpusim_cache_sweep(device->l2, address, bytes, write);
    pthread_mutex_unlock(&device->l2_lock);
}

static CUresult run_copy(CUcontext context, const struct gpusim_copy *c)
{
    uint64_t from = span(c, c->source_pitch, c->source_slice);
    uint64_t to = span(c, c->target_pitch, c->target_slice);

    if (from == 0)
        return CUDA_SUCCESS;
    /* Looked up again: the memory may have been freed since the call was made. */
    if (!gpusim_memory_is_there(c->source) || !gpusim_memory_is_there(c->target))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (!is_there(c->source, from, c->source_device) || !is_there(c->target, to, c->target_device))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (uint64_t z = 0; z < c->depth; z++)
        for (uint64_t y = 0; y < c->height; y++)
            copy_row(c, c->target + z * c->target_slice + y * c->target_pitch,
                     c->source + z * c->source_slice + y * c->source_pitch);
    sweep(context, c->source, from, false);
    sweep(context, c->target, to, true);
    if (c->source_device && c->target_device)
        gpusim_launch_copied(context, c->width * c->height * c->depth);
    return CUDA_SUCCESS;
}

static CUresult run_fill(CUcontext context, const struct gpusim_fill *f)
{
    char *target;

    if (fill_span(f) == 0)
        return CUDA_SUCCESS;
    if (!gpusim_memory_is_there(f->target))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    target = gpusim_memory_host(f->target, fill_span(f), true);
    if (!target)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (uint64_t y = 0; y < f->height; y++, target += f->pitch) {
        if (f->size == 1)
            memset(target, (int)(f->value & 0xff), f->width);
        else
            for (uint64_t x = 0; x < f->width; x++)
                memcpy(target + x * f->size, &f->value, f->size); /* both sides little-endian */
    }
    sweep(context, f->target, fill_span(f), true);
    return CUDA_SUCCESS;
}

static uint64_t read_value(const void *memory, unsigned size)
{
    if (size == 4)
        return __atomic_load_n((const uint32_t *)memory, __ATOMIC_ACQUIRE);
    return __atomic_load_n((const uint64_t *)memory, __ATOMIC_ACQUIRE);
}

static bool value_arrived(const struct gpusim_value *v, uint64_t now)
{
    switch (v->flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return v->size == 4 ? (int32_t)(uint32_t)(now - v->value) >= 0
                            : (int64_t)(now - v->value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == v->value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & v->value) != 0;
    default:
        return ~(now | v->value) != 0;
    }
}

static CUresult run_value(const struct gpusim_value *v, bool write)
{
    void *memory = gpusim_memory_host(v->address, v->size, true);

    if (!memory)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (write && v->size == 4) {
        __atomic_store_n((uint32_t *)memory, (uint32_t)v->value, __ATOMIC_RELEASE);
    } else if (write) {
        __atomic_store_n((uint64_t *)memory, v->value, __ATOMIC_RELEASE);
    } else {
        while (!value_arrived(v, read_value(memory, v->size)))
            gpusim_nap();
    }
    return CUDA_SUCCESS;
}

/* ---- graphs ---- */

#define MOST_AT_ONCE 64

static __thread bool in_graph;

bool gpusim_work_in_graph(void)
{
    return in_graph;
}

struct graph_run {
    CUcontext context;
    struct gpusim_work *work;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done[MOST_AT_ONCE];
    CUresult result; /* of the first step that failed */
    double work_ms;  /* of the longest step */
};

struct step_run {
    struct graph_run *graph;
    size_t index;
};

static void *run_step(void *argument)
{
    const struct step_run *me = argument;
    struct graph_run *g = me->graph;
    struct gpusim_step *step = &g->work->graph.steps[me->index];
    CUresult result;

    in_graph = true; /* the thread is this step's */
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < step->after_count; i++)
        while (!g->done[step->after[i]])
            pthread_cond_wait(&g->changed, &g->lock);
    result = g->result;
    pthread_mutex_unlock(&g->lock);
    if (result == CUDA_SUCCESS)
        result = gpusim_work_run(g->context, &step->work);
    pthread_mutex_lock(&g->lock);
    if (g->result == CUDA_SUCCESS)
        g->result = result;
    g->work_ms = fmax(g->work_ms, gpusim_work_ms);
    g->done[me->index] = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

/* Steps that do not depend on each other run side by side, each in a thread of its own. */
static CUresult run_side_by_side(CUcontext context, struct gpusim_work *work)
{
    struct graph_run g = {.context = context, .work = work};
    struct step_run steps[MOST_AT_ONCE];
    pthread_t threads[MOST_AT_ONCE];
    size_t started = 0;

    (void)pthread_mutex_init(&g.lock, NULL);
    (void)pthread_cond_init(&g.changed, NULL);
    for (; started < work->graph.count; started++) {
        steps[started] = (struct step_run){&g, started};
        if (pthread_create(&threads[started], NULL, run_step, &steps[started]) != 0)
            break;
    }
    for (size_t i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_cond_destroy(&g.changed);
    (void)pthread_mutex_destroy(&g.lock);
    gpusim_work_ms += g.work_ms;
    return started < work->graph.count ? CUDA_ERROR_OUT_OF_MEMORY : g.result;
}

static bool is_line(const struct gpusim_work *work)
{
    for (size_t i = 1; i < work->graph.count; i++) {
        const struct gpusim_step *step = &work->graph.steps[i];
        bool follows = false;
        for (size_t a = 0; a < step->after_count; a++)
            follows = follows || step->after[a] == i - 1;
        if (!follows)
            return false;
    }
    return true;
}

static CUresult run_graph(CUcontext context, struct gpusim_work *work)
{
    CUresult result = CUDA_SUCCESS;

    if (work->graph.count <= MOST_AT_ONCE && !is_line(work))
        return run_side_by_side(context, work);
    in_graph = true;
    for (size_t i = 0; i < work->graph.count && result == CUDA_SUCCESS; i++)
        result = gpusim_work_run(context, &work->graph.steps[i].work);
    in_graph = false;
    return result;
}

/* A graph takes as long as its steps. */
static void sleep_where_slow(const struct gpusim_work *work)
{
    const char *fault = work->kind == GPUSIM_MARK ? "slowmarks" : "slow";

    if (work->kind != GPUSIM_GRAPH_LAUNCH && gpusim_fault(fault))
        gpusim_sleep_ms(SLOW_MS);
}

CUresult gpusim_work_run(CUcontext context, struct gpusim_work *work)
{
    sleep_where_slow(work);
    switch (work->kind) {
    case GPUSIM_MARK:
        return CUDA_SUCCESS;
    case GPUSIM_LAUNCH:
        return gpusim_launch_run(context, &work->launch);
    case GPUSIM_COPY:
        gpusim_work_ms += TRANSFER_MS;
        return run_copy(context, &work->copy);
    case GPUSIM_FILL:
        gpusim_work_ms += TRANSFER_MS;
        return run_fill(context, &work->fill);
    case GPUSIM_HOST_CALL:
        if (work->host.function)
            work->host.function(work->host.data);
        else
            work->host.callback(work->host.stream, CUDA_SUCCESS, work->host.data);
        return CUDA_SUCCESS;
    case GPUSIM_FREE:
        return gpusim_memory_release(work->address,
                                     1u << GPUSIM_DEVICE_MEMORY | 1u << GPUSIM_PINNED_MEMORY);
    case GPUSIM_APPEAR:
    case GPUSIM_DISAPPEAR:
        gpusim_memory_set_there(work->address, work->kind == GPUSIM_APPEAR);
        return CUDA_SUCCESS;
    case GPUSIM_WRITE_VALUE:
        return run_value(&work->value, true);
    case GPUSIM_WAIT_VALUE:
        return run_value(&work->value, false);
    case GPUSIM_GRAPH_LAUNCH:
        return run_graph(context, work);
    }
    return CUDA_ERROR_UNKNOWN;
}

void gpusim_work_clear(struct gpusim_work *work)
{
    if (work->kind == GPUSIM_GRAPH_LAUNCH) {
        for (size_t i = 0; i < work->graph.count; i++)
            free(work->graph.steps[i].after);
        free(work->graph.steps);
    }
    work->kind = GPUSIM_MARK;
}
