/* Eight threads launch on streams of their own while two others copy all the time. */
#include "check.h"
#include <atomic>
#include <thread>
#include <vector>

#define THREADS 8
#define LAUNCHES 40

__global__ void update(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * 69069u + k;
}

static std::atomic<bool> copying{true};
static unsigned sums[THREADS];

static void launch(int t)
{
    const int n = 20000 + 1000 * t;
    size_t bytes = n * sizeof(unsigned);
    std::vector<unsigned> host(n);
    for (int i = 0; i < n; i++)
        host[i] = i + t;
    cudaStream_t stream;
    unsigned *data;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemcpyAsync(data, host.data(), bytes, cudaMemcpyHostToDevice, stream));
    for (unsigned k = 0; k < LAUNCHES; k++) {
        update<<<blocks_for(n, 128), 128, 0, stream>>>(data, n, k);
        CHECK(cudaGetLastError());
        if (k % 16 == 0)
            CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaMemcpyAsync(host.data(), data, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++) {
        unsigned expected = i + t;
        for (unsigned k = 0; k < LAUNCHES; k++)
            expected = expected * 69069u + k;
        REQUIRE(host[i] == expected, "thread %d: element %d is %u, not %u", t, i, host[i],
                expected);
        sums[t] += host[i];
    }
    CHECK(cudaFree(data));
    CHECK(cudaStreamDestroy(stream));
}

static void copy(int t)
{
    const int n = 4096;
    std::vector<int> there(n), back(n);
    cudaStream_t stream;
    int *data;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&data, n * sizeof(int)));
    for (int k = t; copying; k++) {
        there.assign(n, k);
        CHECK(cudaMemcpyAsync(data, there.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpyAsync(back.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        REQUIRE(there == back, "copier %d: round %d came back changed", t, k);
    }
    CHECK(cudaFree(data));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    std::vector<std::thread> launchers, copiers;
    for (int t = 0; t < 2; t++)
        copiers.emplace_back(copy, t);
    for (int t = 0; t < THREADS; t++)
        launchers.emplace_back(launch, t);
    for (std::thread &thread : launchers)
        thread.join();
    copying = false;
    for (std::thread &thread : copiers)
        thread.join();
    for (int t = 0; t < THREADS; t++)
        printf("streams_threads %d: ok sum=%u\n", t, sums[t]);
    return 0;
}
