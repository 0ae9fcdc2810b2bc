/* Threads that launch and end before their launches are waited for; others, and main, go on with
 * the same stream and memory. */
#include "check.h"
#include <thread>

#define N 50000

__global__ void update(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + k;
}

static cudaStream_t stream;
static unsigned *data;

static void launch(unsigned k)
{
    update<<<blocks_for(N, 128), 128, 0, stream>>>(data, k);
    CHECK(cudaGetLastError());
}

static void start()
{
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&data, N * sizeof(unsigned)));
    CHECK(cudaMemsetAsync(data, 0, N * sizeof(unsigned), stream));
    launch(0);
}

int main()
{
    static unsigned host[N];
    unsigned expected = 0, launches = 8;
    std::thread(start).join(); /* CUDA begins in a thread that is gone */
    for (unsigned k = 1; k < launches; k++)
        if (k % 3)
            std::thread(launch, k).join();
        else
            launch(k);
    CHECK(cudaMemcpyAsync(host, data, sizeof(host), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (unsigned k = 0; k < launches; k++)
        expected = 3 * expected + k;
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    CHECK(cudaFree(data));
    CHECK(cudaStreamDestroy(stream));
    printf("threads_exit: ok %u\n", expected);
    return 0;
}
