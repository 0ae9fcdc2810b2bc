#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/faults.h"
#include "driver/memory.h"
#include "driver/module.h"
#include "driver/times.h"
#include "driver/work.h"
#include "model/clock.h"
#include "model/recorder.h"

#define L2_WAYS 16

/* The time of a kernel. */
#define SHORTEST_MS 2e-3
#define MS_A_THREAD 1e-7
/* More in instrumented code, by a fault. */
#define LONG_CODE_MS 600
/* A run that is stuck, by a fault, takes longer than any is waited for. */
#define STUCK_MS 45000
/* The time of the call that launches a kernel, where it is not in line behind other work: as in a
 * pass. */
#define CALL_MS 2e-2

static bool is_watched(CUcontext context, bool instrumented)
{
    for (const struct gpusim_watcher *w = context->watchers; w; w = w->next)
        if (!w->idle && (w->instruments || !instrumented))
            return true;
    return false;
}

CUresult gpusim_launch_check(CUcontext context, const struct gpusim_launch *launch)
{
    const struct gpusim_chip *chip = gpusim_chip();
    const struct gpusim_dim *g = &launch->grid, *b = &launch->block;
    CUfunction f = launch->function;
    uint64_t threads = (uint64_t)b->x * b->y * b->z;
    unsigned shared_limit = chip->shared_per_block;
    unsigned per_warp = (f->registers * GPUSIM_WARP + chip->register_unit - 1) /
                        chip->register_unit * chip->register_unit;

    if (!f->code)
        return CUDA_ERROR_NO_BINARY_FOR_GPU; /* a kernel that nobody wrote for the simulator */
    if (g->x == 0 || g->y == 0 || g->z == 0 || g->x > 2147483647u || g->y > 65535 || g->z > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads == 0 || threads > 1024 || b->x > 1024 || b->y > 1024 || b->z > 64)
        return CUDA_ERROR_INVALID_VALUE;
    if (f->max_dynamic_shared && f->max_dynamic_shared + f->shared > shared_limit)
        shared_limit = (unsigned)f->max_dynamic_shared + f->shared;
    if ((uint64_t)launch->dynamic_shared + f->shared > shared_limit)
        return CUDA_ERROR_INVALID_VALUE;
    if ((threads + GPUSIM_WARP - 1) / GPUSIM_WARP * per_warp > 65536)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (!f->code->whole && ((gpusim_fault("refused") && is_watched(context, false)) ||
                            (gpusim_fault("refusedcode") && is_watched(context, true))))
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    return CUDA_SUCCESS;
}

static CUresult result_of(enum gpusim_outcome outcome)
{
    switch (outcome) {
    case GPUSIM_RAN:
        return CUDA_SUCCESS;
    case GPUSIM_ILLEGAL_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case GPUSIM_MISALIGNED_ADDRESS:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case GPUSIM_TRAPPED:
        return CUDA_ERROR_LAUNCH_FAILED;
    case GPUSIM_NO_HOST_MEMORY:
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_ERROR_UNKNOWN;
}

/* Somebody watches: run under the recorder, with the device's L2 to itself. */
static CUresult run_watched(CUcontext context, struct gpusim_grid *grid)
{
    struct gpusim_device *device = context->device;
    struct gpusim_result *result = NULL;
    enum gpusim_outcome outcome = GPUSIM_NO_HOST_MEMORY;

    if (!grid->kernel->whole && gpusim_fault("longcode") && is_watched(context, true))
        gpusim_sleep_ms(LONG_CODE_MS);
    pthread_mutex_lock(&device->l2_lock);
    if (!device->l2)
        device->l2 = gpusim_cache_new(gpusim_chip()->l2_bytes, L2_WAYS);
    if (device->l2)
        grid->recorder = gpusim_recorder_new(gpusim_chip(), grid, device->l2);
    if (grid->recorder) {
        outcome = gpusim_grid_run(grid);
        result = gpusim_recorder_result(grid->recorder);
    }
    gpusim_recorder_free(grid->recorder);
    pthread_mutex_unlock(&device->l2_lock);

    if (outcome == GPUSIM_RAN && result) {
        pthread_mutex_lock(&gpusim_lock);
        for (struct gpusim_watcher *w = context->watchers; w; w = w->next)
            w->launched(w->self, result);
        pthread_mutex_unlock(&gpusim_lock);
    }
    gpusim_result_free(result);
    return result_of(outcome);
}

/* The counts of the driver's kernel on an H100, for 8 MB and 64 MB; gpuprof's has as many here. */
void gpusim_launch_copied(CUcontext context, uint64_t bytes)
{
    struct gpusim_result *result;

    pthread_mutex_lock(&gpusim_lock);
    result = is_watched(context, false) ? calloc(1, sizeof(*result)) : NULL;
    if (result) {
        result->kernel = "copy";
        result->sms = gpusim_chip()->sms;
        result->total.inst = 26 * ((bytes + 511) / 512);
        result->total.thread_inst = result->total.thread_inst_on = 32 * result->total.inst;
        result->total.global_ld_sectors = result->total.global_st_sectors = (bytes + 31) / 32;
        result->sm[0] = result->total;
        for (struct gpusim_watcher *w = context->watchers; w; w = w->next)
            if (!w->idle && !w->instruments)
                w->launched(w->self, result);
    }
    pthread_mutex_unlock(&gpusim_lock);
    free(result);
}

static void list_own_kernel(CUcontext context)
{
    pthread_mutex_lock(&gpusim_lock);
    for (struct gpusim_watcher *w = context->watchers; w; w = w->next)
        if (w->lists)
            w->launched(w->self, NULL);
    pthread_mutex_unlock(&gpusim_lock);
}

static CUresult run_unwatched(CUcontext context, struct gpusim_grid *grid)
{
    struct gpusim_device *device = context->device;
    CUresult result = result_of(gpusim_grid_run(grid));

    if (grid->moved_bytes)
        gpusim_launch_copied(context, grid->moved_bytes);
    if (grid->swept_bytes) {
        pthread_mutex_lock(&device->l2_lock);
        if (device->l2)
            gpusim_cache_sweep(device->l2, grid->swept_address, grid->swept_bytes, false);
        pthread_mutex_unlock(&device->l2_lock);
    }
    return result;
}

/* Milliseconds: the same for launches of one size, watched or not, but for GPUSIM_TIMES. */
static double time_of(const struct gpusim_grid *grid)
{
    const struct gpusim_dim *g = &grid->grid, *b = &grid->block;
    double threads = (double)g->x * g->y * g->z * b->x * b->y * b->z;

    if (grid->kernel->whole)
        return SHORTEST_MS;
    return gpusim_times_vary(SHORTEST_MS + threads * MS_A_THREAD) + gpusim_fault_launch_ms();
}

/* Code is loaded when it is asked for, or at the first launch, which takes that much longer. */
static void load_lazily(CUfunction f)
{
    bool was_loaded;

    pthread_mutex_lock(&gpusim_lock);
    was_loaded = f->loaded || f->code->whole;
    f->loaded = true;
    pthread_mutex_unlock(&gpusim_lock);
    if (!was_loaded && gpusim_fault("lazyload"))
        gpusim_sleep_ms(30);
}

CUresult gpusim_launch_run(CUcontext context, const struct gpusim_launch *launch)
{
    CUfunction f = launch->function;
    struct gpusim_grid *grid = calloc(1, sizeof(*grid));
    bool watched;
    CUresult result;

    if (!grid)
        return CUDA_ERROR_OUT_OF_MEMORY;
    load_lazily(f);
    grid->kernel = f->code;
    grid->grid = launch->grid;
    grid->block = launch->block;
    grid->cooperative = launch->cooperative;
    grid->registers = f->registers;
    grid->shared_bytes = f->shared + launch->dynamic_shared;
    memcpy(grid->params, launch->params, sizeof(grid->params));
    grid->space = gpusim_memory_space;
    grid->symbol = gpusim_module_symbol;
    grid->module = f->module;
    grid->broken_restore = gpusim_fault("badrestore");
    grid->in_graph = gpusim_work_in_graph();
    grid->wrong_index = gpusim_fault_is("wronganswer", "index");
    grid->wrong_count = gpusim_fault_is("wronganswer", "count");

    pthread_mutex_lock(&gpusim_lock);
    watched = is_watched(context, false) && !f->code->whole;
    if (watched)
        f->watched = context->watches + 1;
    pthread_mutex_unlock(&gpusim_lock);
    result = watched ? run_watched(context, grid) : run_unwatched(context, grid);
    if (f->code->whole)
        list_own_kernel(context);
    else if (gpusim_fault_run_is_stuck())
        gpusim_sleep_ms(STUCK_MS);
    else if (gpusim_fault_run_traps())
        result = CUDA_ERROR_LAUNCH_FAILED;
    gpusim_work_ms += time_of(grid) + (watched ? CALL_MS : 0);
    free(grid);
    return result;
}
