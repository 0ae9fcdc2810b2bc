// Launches that cannot run before the host goes on, ten times each: in a stream behind a wait for a
// value, behind an event of a stream that waits for one, behind a host function that waits; a
// kernel that waits for the host; a kernel that waits for one launched after it. A profiler may
// wait in vain, but not long, and not at each of them: `blocked SECONDS` fails where all of it
// takes longer than that. Ordinary kernels follow, which can be measured.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>

#include "check.h"
#include "wait_value.h"

static const int rounds = 10;

__global__ void behind(int *count)
{
    *count += 1;
}

__global__ void waitForHost(volatile int *flag, int *count)
{
    while (*flag == 0)
        ;
    *count += 1;
}

__global__ void consume(volatile int *flag, int *count)
{
    while (*flag == 0)
        ;
    *count += *flag;
}

__global__ void produce(volatile int *flag)
{
    *flag = 3;
}

__global__ void ordinary(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}

static std::atomic<int> released;

static void CUDART_CB waitOnHost(void *)
{
    while (released == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
}

int main(int argc, char **argv)
{
    volatile int *flag;
    int *deviceFlag, *inMemory, *count, *out;
    cudaStream_t a, b;
    cudaEvent_t event;
    WaitValue waitValue = findWaitValue();
    CHECK(cudaHostAlloc((void **)&flag, sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&deviceFlag, (void *)flag, 0));
    CHECK(cudaMalloc(&inMemory, sizeof(int)));
    CHECK(cudaMalloc(&count, sizeof(int)));
    CHECK(cudaMalloc(&out, 64 * sizeof(int)));
    CHECK(cudaMemset(count, 0, sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));

    // With lazy loading the first launch of a kernel may wait for the device: load them before.
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, behind));
    CHECK(cudaFuncGetAttributes(&attributes, waitForHost));
    CHECK(cudaFuncGetAttributes(&attributes, consume));
    CHECK(cudaFuncGetAttributes(&attributes, produce));
    CHECK(cudaFuncGetAttributes(&attributes, ordinary));
    CHECK(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();

    for (int how = 0; how < 5; how++) {
        for (int round = 0; round < rounds; round++) {
            *flag = 0;
            released = 0;
            if (how == 0) {
                REQUIRE(waitValue((CUstream)a, (CUdeviceptr)deviceFlag, 1, 0) == CUDA_SUCCESS,
                        "a wait for a value");
                behind<<<1, 1, 0, a>>>(count);
            } else if (how == 1) {
                REQUIRE(waitValue((CUstream)b, (CUdeviceptr)deviceFlag, 1, 0) == CUDA_SUCCESS,
                        "a wait for a value");
                CHECK(cudaEventRecord(event, b));
                CHECK(cudaStreamWaitEvent(a, event, 0));
                behind<<<1, 1, 0, a>>>(count);
            } else if (how == 2) {
                CHECK(cudaLaunchHostFunc(a, waitOnHost, nullptr));
                behind<<<1, 1, 0, a>>>(count);
            } else if (how == 3) {
                waitForHost<<<1, 1, 0, a>>>(deviceFlag, count);
            } else {
                CHECK(cudaMemset(inMemory, 0, sizeof(int)));
                CHECK(cudaDeviceSynchronize());
                consume<<<1, 1, 0, a>>>(inMemory, count);
                produce<<<1, 1, 0, b>>>(inMemory);
            }
            CHECK(cudaGetLastError());
            *flag = 1;
            released = 1;
            CHECK(cudaStreamSynchronize(a));
        }
        CHECK(cudaDeviceSynchronize());
        ordinary<<<1, 64>>>(out);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    int result = 0;
    CHECK(cudaMemcpy(&result, count, sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(result == 4 * rounds + 3 * rounds, "the count is %d", result);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (argc > 1)
        REQUIRE(took.count() <= std::atof(argv[1]), "all of it took %.1f s", took.count());
    std::printf("blocked: ok %d\n", result);
    return 0;
}
