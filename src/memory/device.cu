/* Our own kernels: copy, compare and restore chunks of the program's memory, and read a scratch buffer
 * from end to end to empty the caches. Loaded by the raw driver, never profiled. */
#include "memory/chunk.h"

/* Calls head(i) for the bytes before the first and tail(i) for those after the last 16-byte boundary,
 * and wide(i) for the 16-byte words between, over all threads of the block. */
struct split {
    uint64_t head, words, tail_start;
};

__device__ static split split_chunk(const gp_chunk &c)
{
    split s;
    s.head = (16 - c.live % 16) % 16;
    if (s.head > c.bytes)
        s.head = c.bytes;
    s.words = (c.bytes - s.head) / 16;
    s.tail_start = s.head + s.words * 16;
    return s;
}

__device__ static void copy(const gp_chunk &c, uint64_t to, uint64_t from)
{
    split s = split_chunk(c);
    unsigned char *to_bytes = (unsigned char *)to;
    const unsigned char *from_bytes = (const unsigned char *)from;
    uint4 *to_words = (uint4 *)(to + s.head);
    const uint4 *from_words = (const uint4 *)(from + s.head);
    for (uint64_t i = threadIdx.x; i < s.head; i += blockDim.x)
        to_bytes[i] = from_bytes[i];
    /* Four loads in flight per thread keep the memory busy. */
    uint64_t i = threadIdx.x;
    for (; i + 3 * blockDim.x < s.words; i += 4 * blockDim.x) {
        uint4 a = from_words[i], b = from_words[i + blockDim.x];
        uint4 d = from_words[i + 2 * blockDim.x], e = from_words[i + 3 * blockDim.x];
        to_words[i] = a;
        to_words[i + blockDim.x] = b;
        to_words[i + 2 * blockDim.x] = d;
        to_words[i + 3 * blockDim.x] = e;
    }
    for (; i < s.words; i += blockDim.x)
        to_words[i] = from_words[i];
    for (uint64_t j = s.tail_start + threadIdx.x; j < c.bytes; j += blockDim.x)
        to_bytes[j] = from_bytes[j];
}

__device__ static bool words_differ(uint4 a, uint4 b)
{
    return ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z) | (a.w ^ b.w)) != 0;
}

extern "C" __global__ void __launch_bounds__(GP_CHUNK_THREADS)
    gp_copy_chunks(const gp_chunk *chunks, uint32_t count)
{
    for (uint32_t i = blockIdx.x; i < count; i += gridDim.x)
        copy(chunks[i], chunks[i].saved, chunks[i].live);
}

/* changed[i] becomes 1 where chunk i is not what it was, else 0. */
extern "C" __global__ void __launch_bounds__(GP_CHUNK_THREADS)
    gp_compare_chunks(const gp_chunk *chunks, uint32_t count, uint32_t *changed)
{
    for (uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
        gp_chunk c = chunks[i];
        split s = split_chunk(c);
        const unsigned char *live = (const unsigned char *)c.live;
        const unsigned char *saved = (const unsigned char *)c.saved;
        const uint4 *live_words = (const uint4 *)(c.live + s.head);
        const uint4 *saved_words = (const uint4 *)(c.saved + s.head);
        bool differs = false;
        for (uint64_t j = threadIdx.x; j < s.head; j += blockDim.x)
            differs |= live[j] != saved[j];
        for (uint64_t j = s.tail_start + threadIdx.x; j < c.bytes; j += blockDim.x)
            differs |= live[j] != saved[j];
        uint64_t j = threadIdx.x;
        for (; j + blockDim.x < s.words; j += 2 * blockDim.x) {
            uint4 a = live_words[j], b = live_words[j + blockDim.x];
            uint4 d = saved_words[j], e = saved_words[j + blockDim.x];
            differs |= words_differ(a, d) | words_differ(b, e);
        }
        for (; j < s.words; j += blockDim.x)
            differs |= words_differ(live_words[j], saved_words[j]);
        int any = __syncthreads_or(differs);
        if (threadIdx.x == 0)
            changed[i] = any != 0;
    }
}

extern "C" __global__ void __launch_bounds__(GP_CHUNK_THREADS)
    gp_restore_chunks(const gp_chunk *chunks, uint32_t count, const uint32_t *changed)
{
    for (uint32_t i = blockIdx.x; i < count; i += gridDim.x)
        if (changed[i])
            copy(chunks[i], chunks[i].live, chunks[i].saved);
}

/* Fills the L2 with clean lines of the scratch buffer. The sum keeps the compiler from leaving the
 * reads out; the store cannot happen. */
extern "C" __global__ void __launch_bounds__(GP_CHUNK_THREADS)
    gp_read_all(const uint4 *scratch, uint64_t bytes, uint32_t *sink)
{
    uint32_t seen = 0;
    uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes / 16; i += stride) {
        uint4 v = __ldcg(&scratch[i]);
        seen |= v.x | v.y | v.z | v.w;
    }
    if (seen == 0x5eed1e55 && bytes == 1)
        *sink = seen;
}
