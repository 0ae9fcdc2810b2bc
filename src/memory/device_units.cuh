/* For our own kernels: the units in which their work is handed out (memory/work.h), and loads and
 * stores of 16 bytes. */
#pragma once

#include "memory/work.h"

#define WORD 16u
#define UNIT_WORDS (GP_UNIT_BYTES / WORD)
#define AT_ONCE 4u
#define STEP (WORD * GP_UNIT_THREADS) /* bytes between one load of a thread and its next */
#define KERNEL extern "C" __global__ void __launch_bounds__(GP_UNIT_THREADS, 4)

static_assert(UNIT_WORDS == AT_ONCE * GP_UNIT_THREADS, "a whole unit is one load of each kind");

/* A few segments come with the launch: the host does not wait until they are read. Before 7.0 a
 * kernel has a copy of its own of them. */
#if __CUDA_ARCH__ >= 700
#define AS_IT_IS const __grid_constant__
#else
#define AS_IT_IS
#endif

/* Addresses come as numbers, so the compiler learns that they lie in global memory; and that each
 * is touched once. */
__device__ static uint4 load(uint64_t at)
{
    return __ldcs((const uint4 *)at);
}

__device__ static void store(uint64_t at, uint4 word)
{
    __stcs((uint4 *)at, word);
}

__device__ static unsigned char load_byte(uint64_t at)
{
    return __ldcs((const unsigned char *)at);
}

__device__ static void store_byte(uint64_t at, unsigned char byte)
{
    __stcs((unsigned char *)at, byte);
}

/* ---- units ----------------------------------------------------------------------------------- */

/* The bytes of a unit: those before the first 16-byte boundary, whole words, those after the last.
 */
struct unit {
    uint64_t from, words_from, tail_from, to;
    uint64_t base;     /* of the unit, before or at from */
    uint64_t distance; /* from live memory to its copy */
    uint64_t start;
};

__device__ static unit unit_of(const gp_segment &s, uint64_t number)
{
    unit u;
    uint64_t end = s.live + s.bytes;
    u.base = s.live / WORD * WORD + (number - s.first_unit) * GP_UNIT_BYTES;
    u.to = u.base + GP_UNIT_BYTES < end ? u.base + GP_UNIT_BYTES : end;
    u.from = u.base > s.live ? u.base : s.live;
    u.words_from = (u.from + WORD - 1) / WORD * WORD;
    u.tail_from = u.to / WORD * WORD;
    if (u.tail_from < u.words_from)
        u.words_from = u.tail_from = u.to; /* less than a word, in the middle of one */
    u.distance = s.saved - s.live;
    u.start = s.start;
    return u;
}

/* The segment that a unit belongs to; not before `at`. */
__device__ static uint32_t segment_of(const gp_segment *segments, uint32_t count, uint32_t at,
                                      uint64_t number)
{
    if (at + 1 >= count || segments[at + 1].first_unit > number)
        return at;
    uint32_t low = at + 1, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (segments[middle].first_unit <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The same among a few, in as many instructions for each number: the counts of a blank pass follow
 * from its units and segments (counters/blank_law.c). No instruction has a predicate of its own. */
__device__ static uint32_t segment_of_few(const gp_few_segments &segments, uint32_t count,
                                          uint64_t number)
{
    uint32_t low = 0;
#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2) {
        const uint32_t middle = min(low + step, count - 1);
        const uint64_t is_behind = number - segments.of[middle].first_unit;
        low = max(low, middle & ~(uint32_t)((int64_t)is_behind >> 63));
    }
    return low;
}
static_assert(GP_FEW_SEGMENTS <= 32, "each has its number in five steps");

/* Adds over the warp; the sum is in lane 0. */
__device__ static uint64_t warp_sum(uint64_t value)
{
    for (unsigned lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_down_sync(0xffffffffu, value, lanes);
    return value;
}
