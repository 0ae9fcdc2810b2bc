/* Our own kernels that hash memory, and compare hashes. */
#pragma once

#include "memory/device_units.cuh"

/* Sixteen bytes and where they lie, mixed: one-to-one in either half, so that a change of one word
 * always shows; sums of such values depend on every word and its position, and not on the order in
 * which threads come to them. */
__device__ static uint64_t mix(uint64_t low, uint64_t high, uint64_t position)
{
    uint64_t h = (low ^ position * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    h = ((h ^ h >> 32) + high) * 0x94d049bb133111ebull;
    h = (h ^ h >> 29) * 0xd6e8feb86659fd93ull;
    return h ^ h >> 32;
}

__device__ static uint64_t mix_word(uint4 v, uint64_t position)
{
    return mix((uint64_t)v.y << 32 | v.x, (uint64_t)v.w << 32 | v.z, position);
}

/* As the memory hashes to of which this is the copy, `distance` away; 0: the memory itself. */
__device__ static uint64_t hash_whole(const unit &u, uint64_t distance)
{
    uint64_t live = u.words_from + WORD * threadIdx.x, sum = 0;
    uint4 word[AT_ONCE];
#pragma unroll
    for (unsigned i = 0; i < AT_ONCE; i++)
        word[i] = load(live + distance + i * STEP);
#pragma unroll
    for (unsigned i = 0; i < AT_ONCE; i++)
        sum += mix_word(word[i], live + i * STEP);
    return sum;
}

__device__ static uint64_t hash_part(const unit &u)
{
    uint64_t sum = 0;
    for (uint64_t at = u.from + threadIdx.x; at < u.words_from; at += GP_UNIT_THREADS)
        sum += mix(load_byte(at), 1, at);
    for (uint64_t at = u.tail_from + threadIdx.x; at < u.to; at += GP_UNIT_THREADS)
        sum += mix(load_byte(at), 2, at);
    for (uint64_t at = u.words_from + WORD * threadIdx.x; at < u.tail_from; at += STEP)
        sum += mix_word(load(at), at);
    return sum;
}

__device__ static void add_hash(uint64_t *hash, uint64_t sum)
{
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0 && sum)
        atomicAdd((unsigned long long *)hash, (unsigned long long)sum);
}

/* Adds to each segment's hash. */
KERNEL gp_hash(const gp_segment *segments, uint32_t count, uint64_t units, uint64_t *hashes)
{
    uint32_t at = 0;
    uint64_t sum = 0;
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        uint32_t next = segment_of(segments, count, at, number);
        if (next != at) {
            add_hash(&hashes[at], sum);
            sum = 0;
            at = next;
        }
        unit u = unit_of(segments[at], number);
        sum += u.tail_from - u.words_from == GP_UNIT_BYTES ? hash_whole(u, 0) : hash_part(u);
    }
    add_hash(&hashes[at], sum);
}

/* Counts the hashes that are not the same. */
KERNEL gp_compare_hashes(const uint64_t *before, const uint64_t *after, uint32_t count,
                         gp_answer *answer)
{
    uint32_t stride = gridDim.x * GP_UNIT_THREADS;
    for (uint32_t i = blockIdx.x * GP_UNIT_THREADS + threadIdx.x; i < count; i += stride)
        if (before[i] != after[i])
            atomicAdd(&answer->elsewhere, 1u);
}

/* ---- digests of units ------------------------------------------------------------------------ */

/* The sum over the block, in its first thread; for all threads at once. */
__device__ static uint64_t block_sum(uint64_t sum)
{
    __shared__ uint64_t sums[GP_UNIT_THREADS / 32];
    sum = warp_sum(sum);
    __syncthreads(); /* the sums of the unit before were read */
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (unsigned i = 0; i < GP_UNIT_THREADS / 32; i++)
        sum += sums[i];
    return sum;
}

__device__ static uint64_t *digest_of(const gp_segment &s, uint64_t number)
{
    return (uint64_t *)s.digests + (number - s.first_unit);
}

/* Sets the digests of all units of a few segments that have any. */
KERNEL gp_digest_few(AS_IT_IS gp_few_segments segments, uint32_t count, uint64_t units)
{
    uint32_t at = 0;
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        at = segment_of(segments.of, count, at, number);
        if (!segments.of[at].digests)
            continue;
        uint64_t sum = block_sum(hash_whole(unit_of(segments.of[at], number), 0));
        if (threadIdx.x == 0)
            *digest_of(segments.of[at], number) = sum;
    }
}

/* Compares whole units from `live` on with their digests, which are set anew; a bit of `changed`
 * for each that differs. */
KERNEL gp_check_digests(uint64_t live, uint64_t units, uint64_t *digests, uint32_t *changed,
                        gp_digests_answer *answer)
{
    for (uint64_t number = blockIdx.x; number < units; number += gridDim.x) {
        unit u = {};
        u.words_from = live + number * GP_UNIT_BYTES;
        uint64_t sum = block_sum(hash_whole(u, 0));
        if (threadIdx.x != 0 || digests[number] == sum)
            continue;
        digests[number] = sum;
        atomicOr(&changed[number / 32], 1u << number % 32);
        atomicAdd(&answer->changed, 1u);
    }
}
