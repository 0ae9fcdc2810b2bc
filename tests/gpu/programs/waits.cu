// Kernels that need company: one waits for the host, which acts only after the launch has returned; one
// for a kernel of another stream that is launched after it. A profiler that lets nothing else happen
// until a kernel has ended would hang here. And an ordinary kernel afterwards, which can be measured.
#include <cstdio>
#include <cuda_runtime.h>

#include "check.h"

__global__ void waitForHost(volatile int *flag, int *out)
{
    while (*flag == 0)
        ;
    *out = 7;
}

__global__ void waitForKernel(volatile int *flag, int *out)
{
    while (*flag == 0)
        ;
    *out = 8;
}

__global__ void release(volatile int *flag)
{
    *flag = 1;
}

__global__ void ordinary(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}

int main()
{
    volatile int *host_flag;
    int *host_flag_device, *device_flag, *out, result[3] = {};
    CHECK(cudaHostAlloc((void **)&host_flag, sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&host_flag_device, (void *)host_flag, 0));
    CHECK(cudaMalloc(&device_flag, sizeof(int)));
    CHECK(cudaMalloc(&out, 64 * sizeof(int)));
    CHECK(cudaMemset(device_flag, 0, sizeof(int)));
    cudaStream_t a, b;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));

    // With lazy loading the first launch of a kernel may wait for the device: load them before.
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, waitForHost));
    CHECK(cudaFuncGetAttributes(&attributes, waitForKernel));
    CHECK(cudaFuncGetAttributes(&attributes, release));

    *host_flag = 0;
    waitForHost<<<1, 1, 0, a>>>(host_flag_device, out);
    CHECK(cudaGetLastError());
    *host_flag = 1;
    CHECK(cudaStreamSynchronize(a));

    waitForKernel<<<1, 1, 0, a>>>(device_flag, out + 1);
    CHECK(cudaGetLastError());
    release<<<1, 1, 0, b>>>(device_flag);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaMemcpy(result, out, 2 * sizeof(int), cudaMemcpyDeviceToHost));

    ordinary<<<1, 64>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result + 2, out + 63, sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("waits: %d %d %d\n", result[0], result[1], result[2]);
    return result[0] == 7 && result[1] == 8 && result[2] == 63 ? 0 : 1;
}
