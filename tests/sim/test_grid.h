/*
 * For unit tests of the model: a piece of host memory as the device's whole memory, and one launch
 * on it, recorded or not.
 */
#ifndef GPUSIM_TEST_GRID_H
#define GPUSIM_TEST_GRID_H

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/coalesce.h"
#include "model/recorder.h"

/* Buffers begin at multiples of this, as those of a driver do. */
#define BUFFER_ALIGNMENT 4096
#define DEVICE_START 0x7000000000ull

struct device {
    unsigned char *memory;
    uint64_t size, used;
    struct gpusim_cache *l2;
    const struct gpusim_chip *chip;
};

static inline bool device_find(void *self, uint64_t address, struct gpusim_stretch *found)
{
    struct device *d = self;

    if (address < DEVICE_START || address >= DEVICE_START + d->used)
        return false;
    *found = (struct gpusim_stretch){DEVICE_START, DEVICE_START + d->used, (uintptr_t)d->memory};
    return true;
}

static inline void device_open(struct device *d, const char *chip, uint64_t bytes)
{
    bytes = (bytes + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
    d->memory = aligned_alloc(BUFFER_ALIGNMENT, bytes);
    d->size = bytes;
    d->used = 0;
    d->chip = gpusim_chip_find(chip);
    d->l2 = d->chip ? gpusim_cache_new(d->chip->l2_bytes, 16) : NULL;
    if (!d->memory || !d->l2)
        abort();
    memset(d->memory, 0, bytes);
}

static inline void device_close(struct device *d)
{
    free(d->memory);
    gpusim_cache_free(d->l2);
}

static inline uint64_t device_buffer(struct device *d, uint64_t bytes)
{
    uint64_t at = d->used;

    d->used += (bytes + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
    if (d->used > d->size)
        abort();
    return DEVICE_START + at;
}

static inline void *device_bytes(struct device *d, uint64_t address)
{
    return d->memory + (address - DEVICE_START);
}

struct shape {
    unsigned grid_x, grid_y, block_x, block_y, shared, registers;
};

/* Runs the kernel with these parameters, all passed as uint64_t; answers its counts, to be freed.
 */
static inline struct gpusim_result *device_profile(struct device *d, const char *kernel,
                                                   struct shape shape, ...)
{
    struct gpusim_grid *grid = calloc(1, sizeof(*grid));
    struct gpusim_result *result;
    va_list arguments;

    if (!grid)
        abort();
    grid->kernel = gpusim_kernel_find(kernel);
    if (!grid->kernel)
        abort();
    grid->grid = (struct gpusim_dim){shape.grid_x, shape.grid_y, 1};
    grid->block = (struct gpusim_dim){shape.block_x, shape.block_y, 1};
    grid->shared_bytes = shape.shared;
    grid->registers = shape.registers;
    grid->space = (struct gpusim_space){device_find, d};
    va_start(arguments, shape);
    for (unsigned i = 0; i < grid->kernel->params; i++) {
        uint64_t value = va_arg(arguments, uint64_t);
        memcpy(grid->params + gpusim_param_offset(grid->kernel, i), &value,
               grid->kernel->param_size[i]);
    }
    va_end(arguments);
    grid->recorder = gpusim_recorder_new(d->chip, grid, d->l2);
    if (!grid->recorder || gpusim_grid_run(grid) != GPUSIM_RAN)
        abort();
    result = gpusim_recorder_result(grid->recorder);
    gpusim_recorder_free(grid->recorder);
    free(grid);
    if (!result)
        abort();
    return result;
}

#endif
