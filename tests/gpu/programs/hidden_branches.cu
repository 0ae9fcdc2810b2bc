/* Launches that seem the same and count other instructions: a number in memory says whether a
 * branch, a loop, a function or single lanes do arithmetic, and no instruction there touches memory.
 * Each launch has to have the counts of its own. */
#include "check.h"

#define LAUNCHES 40
#define STEPS 64
#define BLOCKS 4
#define THREADS 128
#define I (blockIdx.x * blockDim.x + threadIdx.x)

/* Not predicated: a loop of steps that depend on each other. */
__device__ __forceinline__ int arithmetic(int x, int steps)
{
#pragma unroll 1
    for (int i = 0; i < steps; i++)
        x = x * 1664525 + (x ^ i);
    return x;
}

__device__ __noinline__ int function(int x)
{
    return arithmetic(x, STEPS);
}

__global__ void branch(const int *flag, int *out)
{
    int x = out[I];
    if (*flag)
        x = arithmetic(x, STEPS);
    out[I] = x + 1;
}

/* Eight steps without a loop, of which the compiler makes a branch round them. */
__global__ void straight(const int *flag, int *out)
{
    int x = out[I];
    if (*flag) {
        asm volatile("mad.lo.s32 %0, %0, 1664525, 1; mad.lo.s32 %0, %0, 1664525, 2;"
                     "mad.lo.s32 %0, %0, 1664525, 3; mad.lo.s32 %0, %0, 1664525, 4;"
                     "mad.lo.s32 %0, %0, 1664525, 5; mad.lo.s32 %0, %0, 1664525, 6;"
                     "mad.lo.s32 %0, %0, 1664525, 7; mad.lo.s32 %0, %0, 1664525, 8;"
                     : "+r"(x));
    }
    out[I] = x + 1;
}

__global__ void rounds(const int *flag, int *out)
{
    out[I] = arithmetic(out[I], 1 + 7 * *flag);
}

__global__ void call(const int *flag, int *out)
{
    int x = out[I];
    if (*flag)
        x = function(x);
    out[I] = x + 1;
}

/* As many lanes as the number says. */
__global__ void lanes(const int *flag, int *out)
{
    int x = out[I];
    if ((int)(threadIdx.x % 32) < 3 + 20 * *flag)
        x = arithmetic(x, STEPS);
    out[I] = x + 1;
}

/* As many warps: the number comes from another lane. */
__global__ void warps(const int *flag, int *out)
{
    int x = out[I], of_first = __shfl_sync(0xffffffff, *flag, 0);
    if ((int)(threadIdx.x / 32) <= of_first)
        x = arithmetic(x, STEPS);
    out[I] = x + 1;
}

int main(void)
{
    void (*const kernels[])(const int *, int *) = {branch, straight, rounds, call, lanes, warps};
    int *flags, *out, host[BLOCKS * THREADS], both[2] = {0, 1};
    unsigned digest = 0;
    CHECK(cudaMalloc(&flags, sizeof(both)));
    CHECK(cudaMalloc(&out, sizeof(host)));
    CHECK(cudaMemcpy(flags, both, sizeof(both), cudaMemcpyHostToDevice));
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        CHECK(cudaMemset(out, 0, sizeof(host)));
        for (int i = 0; i < LAUNCHES; i++) {
            /* First one way only, then by turns, and each way by pointer and by value. */
            const int way = i < LAUNCHES / 4 ? 0 : i % 2;
            if (i >= LAUNCHES / 2)
                CHECK(cudaMemcpyAsync(flags, &both[way], sizeof(int), cudaMemcpyHostToDevice));
            kernels[k]<<<BLOCKS, THREADS>>>(i < LAUNCHES / 2 ? flags + way : flags, out);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaMemcpy(flags, both, sizeof(both), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
        for (int i = 0; i < BLOCKS * THREADS; i++)
            digest = 31 * digest + (unsigned)host[i];
    }
    printf("hidden_branches: %08x\n", digest);
    return 0;
}
