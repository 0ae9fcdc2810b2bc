/* tiny [kernels] [launches] [warm-up]: launches that do next to nothing, of one to five kernels
 * one after the other (1; 20000 launches; each kernel twice beforehand).
 *
 * Each kernel is affine modulo 2^32, so that the host follows them with two numbers and checks
 * every element. */
#include "bench.h"
#include <stdint.h>

#define BLOCK 256
#define N (64 * BLOCK)
#define KERNELS 5

template <int K> __global__ void step(uint32_t *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = (2 * K + 3) * data[i] + K + 1;
}

static void (*const steps[KERNELS])(uint32_t *) = {step<0>, step<1>, step<2>, step<3>, step<4>};

/* The work so far: element = factor * its first value + constant. */
static uint32_t factor = 1, constant = 0;

static void follow(int kernel)
{
    uint32_t by = 2 * (uint32_t)kernel + 3;
    factor *= by;
    constant = by * constant + (uint32_t)kernel + 1;
}

int main(int argc, char **argv)
{
    int kernels = (int)argument(argc, argv, 1, 1, 1, KERNELS);
    int launches = (int)argument(argc, argv, 2, 20000, 1, 1 << 24);
    int warm = (int)argument(argc, argv, 3, 2, 0, 1000);

    static uint32_t host[N];
    for (uint32_t i = 0; i < N; i++)
        host[i] = i * 2654435761u;
    uint32_t *data;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice));

    for (int i = 0; i < warm * kernels; i++) {
        steps[i % kernels]<<<N / BLOCK, BLOCK>>>(data);
        follow(i % kernels);
    }
    double start = start_loop();
    for (int i = 0; i < launches; i++)
        steps[i % kernels]<<<N / BLOCK, BLOCK>>>(data);
    print_loop(start, launches);
    CHECK(cudaGetLastError());
    for (int i = 0; i < launches; i++)
        follow(i % kernels);

    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    uint32_t sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t wanted = factor * (i * 2654435761u) + constant;
        REQUIRE(host[i] == wanted, "element %u is %u, not %u", i, host[i], wanted);
        sum += host[i];
    }
    CHECK(cudaFree(data));
    printf("tiny %d kernels, %d launches: ok sum=%u\n", kernels, launches, sum);
    return 0;
}
