/* Kernels for tests of code/data_words: those of which the third word of the parameters is data
 * only (data_...), and those of which it is not (used_...). It comes behind an address. */
#include <cstdint>

#define KERNEL(name, type) extern "C" __global__ void name(type *a, uint32_t k)
#define I (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL(data_added, uint32_t)
{
    a[I] = 3 * a[I] + k;
}

KERNEL(data_multiplied, float)
{
    a[I] *= __uint_as_float(k);
}

KERNEL(data_in_a_loop, float)
{
#pragma unroll 1
    for (unsigned i = I; i < 10000; i += 256)
        a[i] = a[i] * __uint_as_float(k) + 1;
}

KERNEL(data_hashed, uint32_t)
{
    uint32_t x = k ^ I;
    x = x * 1664525u + 1013904223u;
    a[I] = x;
}

KERNEL(data_not_read, uint32_t)
{
    (void)k;
    a[I] += 1;
}

KERNEL(used_as_an_index, uint32_t)
{
    a[I + k] += 1;
}

KERNEL(used_as_a_mask, uint32_t)
{
    uint32_t sum = 0, i = I;
    for (int r = 0; r < 100; r++) {
        sum += a[i];
        i = (i + 257) & k;
    }
    a[I] = sum;
}

KERNEL(used_as_a_limit, uint32_t)
{
    if (I < k)
        a[I] += 1;
}

KERNEL(used_as_a_count, uint32_t)
{
    uint32_t x = a[I];
    for (uint32_t i = 0; i < k; i++)
        x = x * 1664525u + (x >> 3);
    a[I] = x;
}

KERNEL(used_as_a_threshold, float)
{
    float x = a[I];
    if (x > __uint_as_float(k))
        a[I] = 2 * x;
}

KERNEL(used_by_way_of_shared_memory, uint32_t)
{
    __shared__ uint32_t indices[256];
    indices[threadIdx.x] = k * threadIdx.x;
    __syncthreads();
    a[indices[255 - threadIdx.x] & 255] = 1;
}

KERNEL(used_by_way_of_global_memory, uint32_t)
{
    a[I] = k + I;
    __syncthreads();
    a[a[I ^ 1] & 1023] = 5;
}

KERNEL(used_hashed, uint32_t)
{
    uint32_t x = k ^ I;
    x = x * 1664525u + 1013904223u;
    a[x & 1023] = x;
}

KERNEL(used_to_choose_memory, uint32_t)
{
    uint32_t *b = k & 1 ? a : a + 4096;
    b[I] = 7;
}

KERNEL(used_on_one_side, uint32_t)
{
    uint32_t at = a[I] & 15;
    if (at > 3)
        at = k;
    a[at] = 1;
}

KERNEL(used_from_round_to_round, uint32_t)
{
    uint32_t at = I, next = k;
    for (int r = 0; r < 8 && a[at & 63] != 5; r++) {
        a[at & 63] = (uint32_t)r;
        at = next;
        next = a[r] + 1;
    }
}

KERNEL(used_in_a_warp, uint32_t)
{
    a[__shfl_xor_sync(0xffffffff, k + I, 1)] = 1;
}
