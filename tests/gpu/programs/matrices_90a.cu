/* Every kind of matrix multiplication of compute capability 9.0, in loops whose length differs from
 * block to block. Prints "KERNEL METRIC VALUE": the count that gpuprof must give. Compiled for
 * sm_90a only, for warp groups (wgmma).
 *
 * Loops are not unrolled: the rest would be instructions with a predicate in front of the exit, and
 * how often these ran does not follow from branches. */
#include "check.h"

#define BLOCKS 40
#define THREADS 256 /* eight warps, or two warp groups */
#define LAUNCHES 3

__device__ int rounds_of(int rounds)
{
    return rounds + blockIdx.x % 3;
}

#define LOOP(...)                                     \
    _Pragma("unroll 1") for (int r = rounds_of(rounds); r > 0; r--) {     \
        asm volatile(__VA_ARGS__);                    \
    }                                                 \
    if (out)                                          \
        out[threadIdx.x] = x0 + x1 + x2 + x3

/* D and C of four registers, or of two; A and B of packed numbers. */
#define WARP_KERNEL(name, shape, type, in)                                            \
    __global__ void name(int rounds, float *out)                                      \
    {                                                                                 \
        type x0 = 0, x1 = 0, x2 = 0, x3 = 0;                                          \
        LOOP("mma.sync.aligned." shape " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};" \
             : "+" in(x0), "+" in(x1), "+" in(x2), "+" in(x3)                         \
             : "r"(0));                                                               \
    }
#define F(x) "f"(x)
#define R(x) "r"(x)

WARP_KERNEL(hmma_fp16, "m16n8k16.row.col.f32.f16.f16.f32", float, F)
WARP_KERNEL(hmma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, F)
WARP_KERNEL(hmma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, F)
WARP_KERNEL(imma_int8, "m16n8k32.row.col.s32.s8.s8.s32", int, R)

__global__ void hmma_fp16_fp16(int rounds, float *out)
{
    int x0 = 0, x1 = 0, x2 = 0, x3 = 0;
    LOOP("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%2,%2,%2}, {%2,%2}, {%0,%1};"
         : "+r"(x0), "+r"(x1)
         : "r"(0));
}

__global__ void dmma_fp64(int rounds, float *out)
{
    double x0 = 0, x1 = 0, x2 = 0, x3 = 0;
    LOOP("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};"
         : "+d"(x0), "+d"(x1)
         : "d"(0.0));
}

/* The multiplication stands behind a branch that only some warps take. */
__global__ void hmma_some_warps(int rounds, float *out)
{
    float x0 = 0, x1 = 0, x2 = 0, x3 = 0;
    if (threadIdx.x / 32 < 5) {
        LOOP("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
             : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3)
             : "r"(0));
    }
}

/* No loop: a stretch of code from the begin to the exit. */
__global__ void hmma_straight(int, float *out)
{
    float x0 = 0, x1 = 0, x2 = 0, x3 = 0;
#define ONCE                                                                                                   \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, " \
                 "{%0,%1,%2,%3};"                                                                              \
                 : "+f"(x0), "+f"(x1), "+f"(x2), "+f"(x3)                                                      \
                 : "r"(0))
    ONCE;
    ONCE;
    ONCE;
    out[threadIdx.x] = x0 + x1 + x2 + x3;
}

/* Matrices lie in shared memory, without swizzling: rows of core matrices of 128 bytes. */
__device__ unsigned long long describe(const void *shared)
{
    unsigned long long at = __cvta_generic_to_shared(shared);
    return (at & 0x3ffff) >> 4 | 8ull << 16 | 16ull << 32;
}

#define GROUP_KERNEL(name, shape, type, in, scales)                                        \
    __global__ void name(int rounds, float *out)                                           \
    {                                                                                      \
        __shared__ __align__(128) unsigned char matrix[8192];                              \
        type x0 = 0, x1 = 0, x2 = 0, x3 = 0;                                               \
        for (int i = threadIdx.x; i < 8192; i += blockDim.x)                               \
            matrix[i] = 0;                                                                 \
        __syncthreads();                                                                   \
        unsigned long long at = describe(matrix);                                          \
        LOOP("wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned." shape               \
             " {%0,%1,%2,%3}, %4, %4, " scales "; wgmma.commit_group.sync.aligned;"        \
             "wgmma.wait_group.sync.aligned 0;"                                            \
             : "+" in(x0), "+" in(x1), "+" in(x2), "+" in(x3)                              \
             : "l"(at));                                                                   \
    }

GROUP_KERNEL(hgmma_fp16, "m64n8k16.f32.f16.f16", float, F, "1,1,1,0,0")
GROUP_KERNEL(hgmma_bf16, "m64n8k16.f32.bf16.bf16", float, F, "1,1,1,0,0")
GROUP_KERNEL(hgmma_tf32, "m64n8k8.f32.tf32.tf32", float, F, "1,1,1")
GROUP_KERNEL(qgmma_fp8, "m64n8k32.f32.e4m3.e4m3", float, F, "1,1,1")
GROUP_KERNEL(igmma_int8, "m64n8k32.s32.s8.s8", int, R, "1")

__global__ void no_matrices(int rounds, float *out)
{
    if (out)
        out[threadIdx.x] = rounds;
}

static const int rounds = 50;

static long executions(int warps)
{
    long count = 0;
    for (int b = 0; b < BLOCKS; b++)
        count += (long)(rounds + b % 3) * warps;
    return count;
}

static void launch(void (*kernel)(int, float *), const char *name, const char *metric, long ops, float *out = NULL)
{
    for (int i = 0; i < LAUNCHES; i++)
        kernel<<<BLOCKS, THREADS>>>(rounds, out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    printf("%s %s %ld\n", name, metric, ops);
}
#define RUN(kernel, metric, warps, m, n, k) \
    launch(kernel, #kernel, metric, executions(warps) * 2L * m * n * k)

int main(void)
{
    float *out;
    CHECK(cudaMalloc(&out, THREADS * sizeof(*out)));
    RUN(hmma_fp16, "flop_count_tensor_fp16", 8, 16, 8, 16);
    RUN(hmma_fp16_fp16, "flop_count_tensor_fp16", 8, 16, 8, 16);
    RUN(hmma_bf16, "flop_count_tensor_bf16", 8, 16, 8, 16);
    RUN(hmma_some_warps, "flop_count_tensor_bf16", 5, 16, 8, 16);
    RUN(hmma_tf32, "flop_count_tensor_tf32", 8, 16, 8, 8);
    RUN(dmma_fp64, "flop_count_tensor_fp64", 8, 8, 8, 4);
    RUN(imma_int8, "int_count_tensor", 8, 16, 8, 32);
    RUN(hgmma_fp16, "flop_count_tensor_fp16", 2, 64, 8, 16);
    RUN(hgmma_bf16, "flop_count_tensor_bf16", 2, 64, 8, 16);
    RUN(hgmma_tf32, "flop_count_tensor_tf32", 2, 64, 8, 8);
    RUN(qgmma_fp8, "flop_count_tensor_fp8", 2, 64, 8, 32);
    RUN(igmma_int8, "int_count_tensor", 2, 64, 8, 32);
    launch(hmma_straight, "hmma_straight", "flop_count_tensor_bf16", 3L * BLOCKS * THREADS / 32 * 2 * 16 * 8 * 16, out);
    RUN(no_matrices, "flop_count_tensor", 8, 0, 0, 0);
    CHECK(cudaFree(out));
    return 0;
}
