#include "model/kernel.h"

#include <string.h>

#include "model/recorder.h"

void gpusim_note(struct gpusim_thread *t, const struct gpusim_site *site, unsigned count, bool on)
{
    if (t->lane)
        gpusim_lane_add(t->lane,
                        &(struct gpusim_event){
                            .site = site, .iteration = t->iteration, .count = count, .on = on});
}

static void note_access(struct gpusim_thread *t, const struct gpusim_site *site, uint64_t address,
                        unsigned size, bool on)
{
    if (t->lane)
        gpusim_lane_add(t->lane, &(struct gpusim_event){.site = site,
                                                        .iteration = t->iteration,
                                                        .address = address,
                                                        .count = 1,
                                                        .size = (uint16_t)size,
                                                        .on = on});
}

void *gpusim_symbol(struct gpusim_thread *t, const char *name)
{
    uint64_t address = t->grid->symbol ? t->grid->symbol(t->grid->module, name) : 0;

    if (!address)
        gpusim_grid_fault(t, GPUSIM_ILLEGAL_ADDRESS);
    return (void *)(uintptr_t)address;
}

void *gpusim_global(struct gpusim_thread *t, const struct gpusim_site *site, const void *address,
                    unsigned size)
{
    uint64_t at = (uintptr_t)address;
    void *memory;

    if (at % size != 0)
        gpusim_grid_fault(t, GPUSIM_MISALIGNED_ADDRESS);
    memory = gpusim_grid_memory(t->grid, at, size);
    if (!memory)
        gpusim_grid_fault(t, GPUSIM_ILLEGAL_ADDRESS);
    note_access(t, site, at, size, true);
    return memory;
}

void *gpusim_shared(struct gpusim_thread *t, const struct gpusim_site *site, const void *address,
                    unsigned size)
{
    uintptr_t start = (uintptr_t)t->grid->shared;
    uintptr_t at = (uintptr_t)address;

    if (at < start || at - start > t->grid->shared_bytes ||
        size > t->grid->shared_bytes - (at - start))
        gpusim_grid_fault(t, GPUSIM_ILLEGAL_ADDRESS);
    note_access(t, site, at - start, size, true);
    return (void *)at;
}

void gpusim_access_off(struct gpusim_thread *t, const struct gpusim_site *site, unsigned size)
{
    note_access(t, site, 0, size, false);
}

bool gpusim_branch(struct gpusim_thread *t, const struct gpusim_site *site, bool taken)
{
    if (t->lane)
        gpusim_lane_add(
            t->lane,
            &(struct gpusim_event){
                .site = site, .iteration = t->iteration, .count = 1, .on = true, .taken = taken});
    return taken;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15ull + b + 1;

    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ull;
    return x ^ x >> 32;
}

struct gpusim_loop gpusim_loop_begin(struct gpusim_thread *t, const struct gpusim_site *site)
{
    return (struct gpusim_loop){.thread = t,
                                .outer = t->iteration,
                                .seed = mix(t->iteration, (uint64_t)site->order),
                                .open = true};
}

void gpusim_loop_next(struct gpusim_loop *loop)
{
    loop->thread->iteration = mix(loop->seed, ++loop->iterations);
}

void gpusim_loop_end(struct gpusim_loop *loop)
{
    loop->thread->iteration = loop->outer;
}

float gpusim_half(float value)
{
    uint32_t bits;
    uint32_t exponent;
    float magnitude;

    memcpy(&bits, &value, sizeof(bits));
    exponent = bits >> 23 & 0xff;
    if (exponent == 0xff)
        return value;
    magnitude = fabsf(value);
    if (magnitude < 0x1p-14f) /* subnormal: multiples of the smallest step */
        return copysignf(rintf(magnitude * 0x1p24f) * 0x1p-24f, value);
    /* Keep ten bits of the fraction, ties to even; a carry moves into the exponent by itself. */
    bits += 0xfffu + (bits >> 13 & 1u);
    bits &= ~0x1fffu;
    memcpy(&value, &bits, sizeof(value));
    return fabsf(value) > 65504.0f ? copysignf(INFINITY, value) : value;
}
