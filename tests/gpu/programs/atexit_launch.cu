/* Launches in main, and again in a handler that runs while the program exits. */
#include "check.h"

#define N 3000

__device__ unsigned calls;

__global__ void update(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + 1;
    if (i == 0)
        calls++;
}

static unsigned *data, expected;

static void launch(int launches)
{
    static unsigned host[N];
    unsigned counted;
    for (int k = 0; k < launches; k++) {
        update<<<blocks_for(N, 128), 128>>>(data);
        CHECK(cudaGetLastError());
        expected = 3 * expected + 1;
    }
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&counted, calls, sizeof(counted)));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    printf("atexit_launch: ok %u calls, %u\n", counted, expected);
}

static void at_exit(void)
{
    launch(3);
    CHECK(cudaFree(data));
}

int main()
{
    CHECK(cudaMalloc(&data, N * sizeof(unsigned)));
    CHECK(cudaMemset(data, 0, N * sizeof(unsigned)));
    REQUIRE(atexit(at_exit) == 0, "no handler at exit");
    launch(4);
    return 0;
}
