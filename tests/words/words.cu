/* Kernels for tests of code/data_words and, at the end, of code/address_words. The first ones have an
 * address and a third word, which is data only (data_...) or is not (used_...). */
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

/* ---- addresses among the parameters (code/address_words) ------------------------------------- */

/* Eight bytes of it are addresses at the offsets 8 and 24: numbers beside these are none, as far as
 * the names say (near_...: the numbers are added to addresses in 64 bits, as their halves are). */
struct mixed {
    int n, m;
    float *p;
    long long stride;
    const float *q;
    int k, l;
};

#define MIXED(name) extern "C" __global__ void name(mixed x)

MIXED(exact_indexed)
{
    if (I < x.n)
        x.p[I * x.m + x.k] = x.q[I * x.l] + 1;
}

MIXED(exact_in_64_bits)
{
    x.p[(long long)I * x.k] = x.q[x.m * (long long)x.l + threadIdx.x];
}

MIXED(exact_in_a_loop)
{
    float sum = 0;
    for (int i = threadIdx.x; i < x.n; i += x.m)
        sum += x.q[i * x.k + x.l];
    x.p[I] = sum;
}

MIXED(exact_in_shared_memory)
{
    __shared__ float tile[256];
    tile[threadIdx.x] = x.q[I + x.n];
    __syncthreads();
    x.p[I] = tile[(threadIdx.x + x.k) & 255] * x.m;
}

MIXED(exact_chosen)
{
    const float *from = I & 1 ? x.q : x.p;
    x.p[I + x.n] = from[I + (x.m & x.l)];
}

MIXED(exact_changed)
{
    atomicAdd(&x.p[I % x.n], x.q[x.k]);
    atomicMax((int *)&x.p[x.m], x.l);
}

MIXED(exact_led_to)
{
    float *const *list = (float *const *)x.q;
    list[x.n][I + x.m] = x.p[x.k];
}

MIXED(near_stride)
{
    const float *q = x.q;
    for (int i = 0; i < x.n; i++, q += x.stride)
        x.p[i * x.m] = q[threadIdx.x];
}

MIXED(near_chosen_by_number)
{
    const long long pair[2] = {x.stride, (long long)x.q};
    x.p[I] = ((const float *)pair[x.n & 1])[I];
}

/* The address follows the first byte. */
struct __attribute__((packed)) beside {
    char c;
    float *p;
    char more[7];
};

extern "C" __global__ void packed_beside(beside x)
{
    x.p[I] = x.c;
}

struct __attribute__((packed)) between {
    short c;
    float *p;
    short more[3];
};

extern "C" __global__ void packed_between(between x)
{
    x.p[I + x.c] += 1;
}

/* It reads its parameters by an address: any of them may be one. */
extern "C" __global__ void any_by_address(const __grid_constant__ mixed x, int which)
{
    const volatile int *words = (const volatile int *)&x;
    union {
        int halves[2];
        float *address;
    } p;
    p.halves[0] = words[which];
    p.halves[1] = words[which + 1];
    p.address[I] = 1;
}

/* The first parameter is an address (kept_...), or four bytes behind the begin of it (kept_4_...). */

/* ptxas multiplies by a register that has 1 (7.5, 8.0). */
extern "C" __global__ void kept_one_before(unsigned *p, int n)
{
    volatile unsigned *q = p - 1;
    if (threadIdx.x == 0)
        atomicAdd((unsigned *)q, 1u);
    __syncthreads();
    while (q[0] < (unsigned)n)
        ;
}

/* The halves lie in different arrays. */
extern "C" __global__ void kept_in_halves(char *p, int n)
{
    __shared__ uint32_t low[256], high[256];
    low[threadIdx.x] = (uint32_t)(uintptr_t)p;
    high[threadIdx.x] = (uintptr_t)p >> 32;
    __syncthreads();
    const int j = (threadIdx.x * 5 + n) & 255;
    ((char *)((uint64_t)high[j] << 32 | low[j]))[n] = 1;
}

/* Sixteen bytes at a time, of which the third word is the upper half. */
struct __attribute__((packed, aligned(16))) sixteen {
    int a;
    char *p;
    int b;
};

extern "C" __global__ void kept_4_packed(sixteen x)
{
    __shared__ sixteen all[64];
    all[threadIdx.x] = x;
    __syncthreads();
    sixteen y = all[(threadIdx.x * 7 + 1) & 63];
    y.p[y.a] = y.b;
}

/* Uniform registers, of which some instructions write other ones since 12.0. */
extern "C" __global__ void kept_beside_a_clock(float *p, float f, int n)
{
    const int from = (int)(f * (float)(clock() & 7));
    for (int i = 0; i < n; i++)
        p[(from + i) * 3 + threadIdx.x] = (float)from * f;
}

/* The words are bytes of a number of the host's, shifted and put together. */
extern "C" __global__ void kept_rotated(unsigned long long p, int n)
{
    const unsigned long long turned = p << 16 | p >> 48;
    ((volatile unsigned long long *)(turned >> 16 | turned << 48))[threadIdx.x] = n;
}
