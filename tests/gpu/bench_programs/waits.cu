/* waits [rounds] [warm-up]: each round launches a kernel that waits until the host writes a word, lets it
 * wait for a millisecond, and then launches one that ends by itself (20 rounds). That one is
 * launched beforehand as well (twice). Results are checked. How long the loop takes says how long
 * launches hold the program up. */
#include "bench.h"
#include <stdint.h>

#define BLOCK 256
#define N (64 * BLOCK)

__global__ void wait_for(const volatile uint32_t *word, uint32_t value, uint32_t *seen)
{
    while (*word != value)
        ;
    *seen += value;
}

__global__ void count(uint32_t *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x]++;
}

int main(int argc, char **argv)
{
    uint32_t rounds = (uint32_t)argument(argc, argv, 1, 20, 1, 10000), host[N], sum = 0;
    uint32_t warm = (uint32_t)argument(argc, argv, 2, 2, 0, 1000);
    uint32_t *word, *word_there, *seen, *data;
    CHECK(cudaHostAlloc(&word, sizeof(*word), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&word_there, word, 0));
    CHECK(cudaMalloc(&seen, sizeof(*seen)));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(seen, 0, sizeof(*seen)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    *(volatile uint32_t *)word = 0;

    for (uint32_t i = 0; i < warm; i++)
        count<<<N / BLOCK, BLOCK>>>(data);
    CHECK(cudaDeviceSynchronize());

    double start = start_loop();
    for (uint32_t r = 1; r <= rounds; r++) {
        wait_for<<<1, 1>>>(word_there, r, seen);
        struct timespec nap = {.tv_sec = 0, .tv_nsec = 1000000};
        nanosleep(&nap, NULL);
        *(volatile uint32_t *)word = r;
        count<<<N / BLOCK, BLOCK>>>(data);
        CHECK(cudaDeviceSynchronize());
    }
    print_loop(start, 2l * rounds);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(&sum, seen, sizeof(sum), cudaMemcpyDeviceToHost));
    REQUIRE(sum == rounds * (rounds + 1) / 2, "the waiting kernel saw %u", sum);
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < N; i++)
        REQUIRE(host[i] == rounds + warm, "element %u is %u, not %u", i, host[i],
                rounds + warm);
    printf("waits %u rounds: ok\n", rounds);
    return 0;
}
