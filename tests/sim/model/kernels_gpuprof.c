/*
 * gpuprof's own device code, in C: what its embedded fatbin does on a real GPU. One block per chunk
 * there; here the grid's size does not matter, all chunks are done in order.
 */
#include <stdlib.h>
#include <string.h>

#include "model/kernel.h"

struct chunk {
    uint64_t live, saved;
    uint64_t bytes;
};

static uint64_t param64(const struct gpusim_grid *grid, unsigned i)
{
    uint64_t value;

    memcpy(&value, grid->params + gpusim_param_offset(grid->kernel, i), sizeof(value));
    return value;
}

static uint32_t param32(const struct gpusim_grid *grid, unsigned i)
{
    uint32_t value;

    memcpy(&value, grid->params + gpusim_param_offset(grid->kernel, i), sizeof(value));
    return value;
}

enum task { COPY, COMPARE, RESTORE };

static enum gpusim_outcome each_chunk(struct gpusim_grid *grid, enum task task)
{
    uint32_t n = param32(grid, 1);
    const struct chunk *chunks = gpusim_grid_memory(grid, param64(grid, 0), n * sizeof(*chunks));
    uint32_t *changed = NULL;

    if (n == 0)
        return GPUSIM_RAN;
    if (task != COPY)
        changed = gpusim_grid_memory(grid, param64(grid, 2), n * sizeof(*changed));
    if (!chunks || (task != COPY && !changed))
        return GPUSIM_ILLEGAL_ADDRESS;
    for (uint32_t i = 0; i < n; i++) {
        struct chunk c = chunks[i];
        void *live = gpusim_grid_memory(grid, c.live, c.bytes);
        void *saved = gpusim_grid_memory(grid, c.saved, c.bytes);
        if (c.bytes == 0)
            continue;
        if (!live || !saved)
            return GPUSIM_ILLEGAL_ADDRESS;
        if (task == COPY)
            memcpy(saved, live, c.bytes);
        else if (task == COMPARE)
            changed[i] = memcmp(live, saved, c.bytes) != 0;
        else if (changed[i])
            memcpy(live, saved, c.bytes);
    }
    return GPUSIM_RAN;
}

static enum gpusim_outcome copy(struct gpusim_grid *grid)
{
    return each_chunk(grid, COPY);
}

static enum gpusim_outcome compare(struct gpusim_grid *grid)
{
    return each_chunk(grid, COMPARE);
}

static enum gpusim_outcome restore(struct gpusim_grid *grid)
{
    if (grid->broken_restore)
        return GPUSIM_RAN; /* switched on to prove that tests notice */
    return each_chunk(grid, RESTORE);
}

/* Reading changes nothing but the caches; the driver tells the model which range went through. */
static enum gpusim_outcome read_all(struct gpusim_grid *grid)
{
    uint64_t bytes = param64(grid, 1);

    if (bytes && !gpusim_grid_memory(grid, param64(grid, 0), bytes))
        return GPUSIM_ILLEGAL_ADDRESS;
    if (!gpusim_grid_memory(grid, param64(grid, 2), sizeof(uint32_t)))
        return GPUSIM_ILLEGAL_ADDRESS;
    grid->swept_address = param64(grid, 0);
    grid->swept_bytes = bytes;
    return GPUSIM_RAN;
}

#define DEFINE_WHOLE(name_, function, ...)                   \
    extern const struct gpusim_kernel gpusim_kernel_##name_; \
    const struct gpusim_kernel gpusim_kernel_##name_ = {     \
        .name = #name_,                                      \
        .whole = function,                                   \
        .params = sizeof((uint8_t[]){__VA_ARGS__}),          \
        .param_size = {__VA_ARGS__},                         \
    }

DEFINE_WHOLE(gp_copy_chunks, copy, 8, 4);
DEFINE_WHOLE(gp_compare_chunks, compare, 8, 4, 8);
DEFINE_WHOLE(gp_restore_chunks, restore, 8, 4, 8);
DEFINE_WHOLE(gp_read_all, read_all, 8, 8, 8);
