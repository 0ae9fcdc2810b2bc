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

KERNEL(data_summed_up, float)
{
    atomicAdd(&a[I & 7], __uint_as_float(k) * (float)I);
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

KERNEL(used_as_a_barrier, uint32_t)
{
    a[I] = 1;
    asm volatile("bar.sync %0;" ::"r"(k));
    a[I ^ 1] = 2;
}

KERNEL(used_as_a_lane, uint32_t)
{
    a[I] = __shfl_sync(0xffffffff, a[I], (int)(k + I));
}

KERNEL(used_as_a_texture, float)
{
    a[I] = tex1Dfetch<float>((cudaTextureObject_t)k, (int)I);
}

KERNEL(used_as_a_surface, float)
{
    a[I] = surf2Dread<float>((cudaSurfaceObject_t)k, (int)(4 * I), 1);
}

KERNEL(used_in_half_of_a_number, uint32_t)
{
    const unsigned long long x = (unsigned long long)k << 32 | 7, y = I * 12345678901234ull;
    a[(x < y ? x : y) >> 40 & 255] = 4;
}

KERNEL(used_in_eight_numbers, uint32_t)
{
    uint32_t x = k;
    a[I] = k;
    __syncthreads();
#if __CUDA_ARCH__ >= 1000
    uint32_t r[7];
    asm volatile("ld.global.v8.b32 {%0,%1,%2,%3,%4,%5,%6,%7},[%8];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]),
                   "=r"(r[6]), "=r"(x)
                 : "l"(a + 8 * I));
    a[0] = r[0];
#endif
    a[x & 255] = 1;
}

/* In shared memory, for instructions that take addresses of it. */
static __device__ unsigned shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

KERNEL(used_to_load_a_matrix, uint32_t)
{
    __shared__ __align__(16) uint32_t s[2048];
    s[threadIdx.x] = a[I];
    __syncthreads();
    uint32_t x;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(x)
                 : "r"(shared(s) + 16 * threadIdx.x + k));
    a[I] = x;
}

KERNEL(used_by_way_of_a_matrix, uint32_t)
{
    __shared__ __align__(16) uint32_t s[2048];
#if __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(
                     shared(s) + 16 * threadIdx.x),
                 "r"(threadIdx.x), "r"(k));
#else
    s[threadIdx.x] = k;
#endif
    __syncwarp();
    a[s[threadIdx.x ^ 5] & 255] = 1;
}

KERNEL(used_to_copy, uint32_t)
{
    __shared__ __align__(16) uint32_t s[2048];
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(s) + 16 * k),
                 "l"(a + 4 * I));
    asm volatile("cp.async.wait_all;");
#else
    s[k] = a[I];
#endif
    __syncthreads();
    a[I] = s[255 - threadIdx.x];
}

KERNEL(used_to_sum_up, uint32_t)
{
    const uint32_t before = atomicAdd(&a[I], k);
    a[before & 127] = 2;
}
