/* Three threads make launches, of which few are measured, while two others ask the driver all the time; the context
 * goes and comes back twice. CUPTI is detached and attached meanwhile. */
#include "check.h"
#include <atomic>
#include <thread>
#include <vector>

#define ROUNDS 3
#define THREADS 3
#define LAUNCHES 40000
#define BEHIND_WAIT 500 /* launches */
#define ELEMENTS 4096

template <unsigned STEP> __global__ void add(unsigned *data)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ELEMENTS)
        data[i] += STEP;
}

static std::atomic<bool> asking;

static void launch(int t)
{
    std::vector<unsigned> host(ELEMENTS);
    cudaStream_t stream;
    unsigned *data, sum = 0;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&data, ELEMENTS * sizeof(unsigned)));
    CHECK(cudaMemsetAsync(data, 0, ELEMENTS * sizeof(unsigned), stream));
    for (unsigned k = 0; k < LAUNCHES; k++) {
        if ((k + t) % 2)
            add<1><<<ELEMENTS / 256, 256, 0, stream>>>(data);
        else
            add<2><<<ELEMENTS / 256, 256, 0, stream>>>(data);
        CHECK(cudaGetLastError());
        sum += (k + t) % 2 ? 1 : 2;
        if (t % 2 && k % BEHIND_WAIT == 0)
            CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaMemcpyAsync(host.data(), data, ELEMENTS * sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (unsigned i = 0; i < ELEMENTS; i++)
        REQUIRE(host[i] == sum, "thread %d: element %u is %u, not %u", t, i, host[i], sum);
    CHECK(cudaFree(data));
    CHECK(cudaStreamDestroy(stream));
}

static void ask()
{
    cudaStream_t stream;
    cudaEvent_t event;
    void *memory;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaMalloc(&memory, 64));
    while (asking) {
        cudaPointerAttributes about;
        size_t left, all;
        int device;
        CHECK(cudaEventRecord(event, stream));
        (void)cudaEventQuery(event);
        (void)cudaStreamQuery(stream);
        CHECK(cudaPointerGetAttributes(&about, memory));
        CHECK(cudaGetDevice(&device));
        CHECK(cudaMemGetInfo(&left, &all));
    }
    CHECK(cudaFree(memory));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    for (int round = 0; round < ROUNDS; round++) {
        std::vector<std::thread> launching, others;
        asking = true;
        for (int t = 0; t < THREADS; t++)
            launching.emplace_back(launch, t);
        for (int t = 0; t < 2; t++)
            others.emplace_back(ask);
        for (auto &thread : launching)
            thread.join();
        asking = false;
        for (auto &thread : others)
            thread.join();
        printf("round %d: %d launches are right\n", round, THREADS * LAUNCHES);
        CHECK(cudaDeviceReset());
    }
    return 0;
}
