/* Each thread's own default stream: by the handle cudaStreamPerThread, and as a program compiled
 * with
 * --default-stream per-thread gets it, by the runtime's functions for that. */
#include "check.h"
#include <thread>

#define N 5000
#define THREADS 4

/* The names that cuda_runtime_api.h makes of the plain ones under that option. */
extern "C" cudaError_t cudaLaunchKernel_ptsz(const void *kernel, dim3 grid, dim3 block,
                                             void **arguments, size_t shared, cudaStream_t stream);
extern "C" cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes,
                                            cudaMemcpyKind kind, cudaStream_t stream);
extern "C" cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);

__global__ void update(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + k;
}

static void work(int t, unsigned *result)
{
    unsigned host[N], *data, expected = t;
    for (int i = 0; i < N; i++)
        host[i] = t;
    dim3 grid(blocks_for(N, 128)), block(128);
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemcpyAsync_ptsz(data, host, sizeof(host), cudaMemcpyHostToDevice, NULL));
    for (unsigned k = 0; k < 10; k++) {
        void *arguments[] = {&data, &k};
        if (k % 2 == 0) {
            CHECK(cudaLaunchKernel_ptsz((const void *)update, grid, block, arguments, 0, NULL));
        } else {
            update<<<grid, block, 0, cudaStreamPerThread>>>(data, k);
            CHECK(cudaGetLastError());
        }
        expected = 3 * expected + k;
    }
    CHECK(cudaMemcpyAsync_ptsz(host, data, sizeof(host), cudaMemcpyDeviceToHost, NULL));
    CHECK(cudaStreamSynchronize_ptsz(NULL));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "thread %d: element %d is %u, not %u", t, i, host[i],
                expected);
    CHECK(cudaFree(data));
    *result = expected;
}

int main()
{
    unsigned results[THREADS];
    std::thread threads[THREADS];
    for (int t = 1; t < THREADS; t++)
        threads[t] = std::thread(work, t, &results[t]);
    work(0, &results[0]);
    for (int t = 1; t < THREADS; t++)
        threads[t].join();
    printf("per_thread_stream: ok %u %u %u %u\n", results[0], results[1], results[2], results[3]);
    return 0;
}
