/* different [launches] [warm-up]: launches of one kernel that are all different: each works on
 * another part of its array and goes round its loop another number of times (1000; 2 beforehand).
 *
 * A step is affine modulo 2^32, so that the host follows each element with two numbers. */
#include "bench.h"
#include <stdint.h>
#include <vector>

#define BLOCK 256
#define N (64u * BLOCK)

/* Element i of the first `count` goes round as often as its warp and the launch say. */
__global__ void work(uint32_t *data, uint32_t count, uint32_t rounds)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint32_t value = data[i];
#pragma unroll 1
    for (uint32_t r = 0; r < rounds + i / 32 % 8; r++)
        value = 5 * value + r;
    data[i] = value;
}

static uint32_t count_of(uint32_t launch)
{
    return N / 2 + launch * 37 % (N / 2);
}

static uint32_t rounds_of(uint32_t launch)
{
    return 8 + launch % 61;
}

static void follow(std::vector<uint32_t> &host, uint32_t launch)
{
    for (uint32_t i = 0; i < count_of(launch); i++)
        for (uint32_t r = 0; r < rounds_of(launch) + i / 32 % 8; r++)
            host[i] = 5 * host[i] + r;
}

int main(int argc, char **argv)
{
    uint32_t launches = (uint32_t)argument(argc, argv, 1, 1000, 1, 1 << 20);
    uint32_t warm = (uint32_t)argument(argc, argv, 2, 2, 0, 1000), sum = 0;
    std::vector<uint32_t> host(N), seen(N);
    for (uint32_t i = 0; i < N; i++)
        host[i] = i * 2654435761u;
    uint32_t *data;
    CHECK(cudaMalloc(&data, N * sizeof(*data)));
    CHECK(cudaMemcpy(data, host.data(), N * sizeof(*data), cudaMemcpyHostToDevice));

    double start = start_loop();
    for (uint32_t l = 0; l < warm + launches; l++) {
        if (l == warm)
            start = start_loop();
        work<<<N / BLOCK, BLOCK>>>(data, count_of(l), rounds_of(l));
    }
    print_loop(start, launches);
    CHECK(cudaGetLastError());
    for (uint32_t l = 0; l < warm + launches; l++)
        follow(host, l);

    CHECK(cudaMemcpy(seen.data(), data, N * sizeof(*data), cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < N; i++) {
        REQUIRE(seen[i] == host[i], "element %u is %u, not %u", i, seen[i], host[i]);
        sum += seen[i];
    }
    CHECK(cudaFree(data));
    printf("different %u launches: ok sum=%u\n", launches, sum);
    return 0;
}
