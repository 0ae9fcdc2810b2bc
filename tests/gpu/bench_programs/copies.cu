// Copies and fills of known sizes: copies BYTES COUNT. Prints the host's time for all of them, the
// time between events around them, and a digest, so that runs with and without gpuprof can be compared.
#include "check.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void touch(unsigned char *bytes)
{
    bytes[threadIdx.x] ^= 1;
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1 << 20;
    int count = argc > 2 ? atoi(argv[2]) : 1000;
    unsigned char *host, *device, *other;
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaMalloc(&device, bytes));
    CHECK(cudaMalloc(&other, bytes));
    memset(host, 3, bytes);
    touch<<<1, 1>>>(device);
    cudaStream_t stream;
    cudaEvent_t begin, end;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaDeviceSynchronize());
    auto started = std::chrono::steady_clock::now();
    CHECK(cudaEventRecord(begin, stream));
    for (int i = 0; i < count; i++) {
        CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaMemsetAsync(device, i, bytes, stream));
        CHECK(cudaMemcpyAsync(host, other, bytes, cudaMemcpyDeviceToHost, stream));
    }
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    double host_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() -
                                                               started)
                         .count();
    float device_ms = 0;
    CHECK(cudaEventElapsedTime(&device_ms, begin, end));
    unsigned long digest = 0;
    for (size_t i = 0; i < bytes; i++)
        digest = digest * 31 + host[i];
    fprintf(stderr, "copies: %.3f ms on the host, %.3f ms on the GPU\n", host_ms, device_ms);
    printf("digest %lx\n", digest);
    return 0;
}
