#include "model/grid.h"

#include <stdlib.h>
#include <string.h>

#include "model/coroutine.h"
#include "model/recorder.h"

size_t gpusim_param_offset(const struct gpusim_kernel *kernel, unsigned i)
{
    size_t at = 0;

    for (unsigned p = 0; p <= i; p++) {
        size_t size = kernel->param_size[p];
        at = (at + size - 1) / size * size;
        if (p < i)
            at += size;
    }
    return at;
}

static const struct gpusim_stretch *find(struct gpusim_grid *grid, uint64_t address)
{
    struct gpusim_stretch found;

    for (unsigned i = 0; i < GPUSIM_RECENT; i++)
        if (address >= grid->recent[i].start && address < grid->recent[i].end)
            return &grid->recent[i];
    if (!grid->space.find(grid->space.self, address, &found))
        return NULL;
    grid->recent_next = (grid->recent_next + 1) % GPUSIM_RECENT;
    grid->recent[grid->recent_next] = found;
    return &grid->recent[grid->recent_next];
}

void *gpusim_grid_memory(struct gpusim_grid *grid, uint64_t address, uint64_t bytes)
{
    const struct gpusim_stretch *s = find(grid, address);

    if (!s || bytes > s->end - address)
        return NULL;
    return (void *)(s->host + (uintptr_t)(address - s->start));
}

_Noreturn void gpusim_grid_fault(struct gpusim_thread *t, enum gpusim_outcome outcome)
{
    struct gpusim_grid *grid = t->grid;

    grid->outcome = outcome;
    if (t->coroutine) {
        /* The stacks must be left in order: end this thread, the block's loop sees the outcome. */
        t->coroutine->done = true;
        gpusim_coroutine_yield(t->coroutine);
        abort();
    }
    longjmp(grid->fault, 1);
}

void gpusim_barrier(struct gpusim_thread *t)
{
    if (t->coroutine)
        gpusim_coroutine_yield(t->coroutine);
}

static void run_thread(void *argument)
{
    struct gpusim_thread *t = argument;

    t->grid->kernel->run(t);
}

static void begin_thread(struct gpusim_grid *grid, struct gpusim_dim block, unsigned index)
{
    struct gpusim_thread *t = &grid->threads[index];

    t->bid = block;
    t->bdim = grid->block;
    t->tid.x = index % grid->block.x;
    t->tid.y = index / grid->block.x % grid->block.y;
    t->tid.z = index / (grid->block.x * grid->block.y);
    t->grid = grid;
    t->iteration = 0;
    t->lane = grid->recorder ? gpusim_recorder_lane(grid->recorder, index) : NULL;
}

/* Without barriers a thread is a call; a warp's record is read as soon as its lanes are done. */
static void run_block_straight(struct gpusim_grid *grid, unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        grid->kernel->run(&grid->threads[i]);
        if (grid->recorder && (i % GPUSIM_WARP == GPUSIM_WARP - 1 || i + 1 == threads))
            gpusim_recorder_warp(grid->recorder, i / GPUSIM_WARP);
    }
}

static void run_block_with_barriers(struct gpusim_grid *grid, unsigned threads,
                                    struct gpusim_coroutine *coroutines)
{
    bool waiting = true;

    for (unsigned i = 0; i < threads; i++) {
        grid->threads[i].coroutine = &coroutines[i];
        gpusim_coroutine_start(&coroutines[i], run_thread, &grid->threads[i]);
    }
    /* Each round brings every living thread to its next barrier. */
    while (waiting && grid->outcome == GPUSIM_RAN) {
        waiting = false;
        for (unsigned i = 0; i < threads && grid->outcome == GPUSIM_RAN; i++) {
            if (!coroutines[i].done) {
                gpusim_coroutine_resume(&coroutines[i]);
                waiting = waiting || !coroutines[i].done;
            }
        }
        if (grid->recorder && grid->outcome == GPUSIM_RAN)
            for (unsigned w = 0; w * GPUSIM_WARP < threads; w++)
                gpusim_recorder_warp(grid->recorder, w);
    }
}

static void run_blocks(struct gpusim_grid *grid, struct gpusim_coroutine *coroutines)
{
    unsigned threads = grid->block.x * grid->block.y * grid->block.z;
    struct gpusim_dim b;

    for (b.z = 0; b.z < grid->grid.z; b.z++)
        for (b.y = 0; b.y < grid->grid.y; b.y++)
            for (b.x = 0; b.x < grid->grid.x && grid->outcome == GPUSIM_RAN; b.x++) {
                for (unsigned i = 0; i < threads; i++)
                    begin_thread(grid, b, i);
                if (grid->recorder)
                    gpusim_recorder_block_begin(grid->recorder, threads);
                if (coroutines)
                    run_block_with_barriers(grid, threads, coroutines);
                else
                    run_block_straight(grid, threads);
                if (grid->recorder)
                    gpusim_recorder_block_end(grid->recorder);
            }
}

/* Apart from the caller, so that no variable of it is held across the jump. */
static __attribute__((noinline)) void run_guarded(struct gpusim_grid *grid,
                                                  struct gpusim_coroutine *coroutines)
{
    if (setjmp(grid->fault) == 0)
        run_blocks(grid, coroutines);
}

enum gpusim_outcome gpusim_grid_run(struct gpusim_grid *grid)
{
    unsigned threads = grid->block.x * grid->block.y * grid->block.z;
    struct gpusim_coroutine *coroutines = NULL;

    for (unsigned i = 0; i < grid->kernel->params; i++)
        grid->param_at[i] = (uint16_t)gpusim_param_offset(grid->kernel, i);
    memset(grid->recent, 0, sizeof(grid->recent));
    grid->outcome = GPUSIM_RAN;
    if (grid->kernel->whole)
        return grid->kernel->whole(grid);

    grid->threads = calloc(threads, sizeof(*grid->threads));
    grid->shared = calloc(1, grid->shared_bytes + 16);
    if (grid->kernel->barriers)
        coroutines = gpusim_coroutines_new(threads);
    if (!grid->threads || !grid->shared || (grid->kernel->barriers && !coroutines))
        grid->outcome = GPUSIM_NO_HOST_MEMORY;
    else
        run_guarded(grid, coroutines);
    if (coroutines)
        gpusim_coroutines_free(coroutines, threads);
    free(grid->shared);
    free(grid->threads);
    grid->shared = NULL;
    grid->threads = NULL;
    return grid->outcome;
}
