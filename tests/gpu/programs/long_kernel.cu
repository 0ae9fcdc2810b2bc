// A kernel that computes for two and a half seconds and waits for nobody, and one that waits for
// the host through a volatile flag. Both take longer than a profiler waits for a kernel; by its
// code the first one must end.
#include <cstdio>
#include <cuda_runtime.h>

#include "check.h"

#define FACTOR 1664525u
#define TERM 1013904223u
#define SECONDS 2.5

__device__ unsigned iterate(unsigned x, unsigned long long times)
{
    for (unsigned long long i = 0; i < times; i++)
        x = FACTOR * x + TERM;
    return x;
}

__global__ void calibrate(unsigned *x, unsigned long long times, long long *cycles)
{
    long long start = clock64();
    *x = iterate(*x, times);
    *cycles = clock64() - start;
}

__global__ void computeLong(unsigned *x, unsigned long long times)
{
    x[threadIdx.x] = iterate(x[threadIdx.x], times);
}

__global__ void waitForHost(volatile int *flag, int *out)
{
    while (*flag == 0)
        ;
    *out = 7;
}

// The same as `iterate` in few steps: the map is squared again and again.
static unsigned jump(unsigned x, unsigned long long times)
{
    unsigned factor = FACTOR, term = TERM;
    for (; times; times /= 2) {
        if (times % 2)
            x = factor * x + term;
        term = factor * term + term;
        factor *= factor;
    }
    return x;
}

// So many times take about SECONDS.
static unsigned long long timesOf(unsigned *x)
{
    const unsigned long long few = 1 << 20;
    int kilohertz;
    long long *cycles, taken;
    CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
    CHECK(cudaMalloc(&cycles, sizeof(*cycles)));
    calibrate<<<1, 1>>>(x, few, cycles);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&taken, cycles, sizeof(taken), cudaMemcpyDeviceToHost));
    return (unsigned long long)(SECONDS * 1e3 * kilohertz * few / taken);
}

int main()
{
    unsigned *x, expected[32], found[32];
    volatile int *flag;
    int *flagOnDevice, *out, seen = 0;
    CHECK(cudaMalloc(&x, sizeof(found)));
    CHECK(cudaMalloc(&out, sizeof(*out)));
    CHECK(cudaHostAlloc((void **)&flag, sizeof(*flag), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&flagOnDevice, (void *)flag, 0));
    // With lazy loading the first launch of a kernel may wait for the device: load it before.
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, waitForHost));

    const unsigned long long times = timesOf(x);
    for (unsigned i = 0; i < 32; i++)
        expected[i] = 17 * i;
    CHECK(cudaMemcpy(x, expected, sizeof(found), cudaMemcpyHostToDevice));
    for (unsigned launch = 0; launch < 2; launch++) {
        computeLong<<<1, 32>>>(x, times);
        CHECK(cudaGetLastError());
        for (unsigned i = 0; i < 32; i++)
            expected[i] = jump(expected[i], times);
    }
    CHECK(cudaMemcpy(found, x, sizeof(found), cudaMemcpyDeviceToHost));

    *flag = 0;
    waitForHost<<<1, 1>>>(flagOnDevice, out);
    CHECK(cudaGetLastError());
    *flag = 1;
    CHECK(cudaMemcpy(&seen, out, sizeof(seen), cudaMemcpyDeviceToHost));

    bool same = true;
    for (unsigned i = 0; i < 32; i++)
        same = same && found[i] == expected[i];
    std::printf("long_kernel: %s, saw %d\n", same ? "right" : "wrong", seen);
    return same && seen == 7 ? 0 : 1;
}
