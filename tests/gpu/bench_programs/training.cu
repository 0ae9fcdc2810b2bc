/* training [steps] [rest] [warm-up]: a training in small, bound by the host as many are: a step is
 * 727 launches of 48 kernels in four sizes, with copies and events between, and one wait at its end
 * (300 steps; 20 us of the host's own work behind each launch; 2 steps beforehand).
 *
 * Each kernel is affine modulo 2^32 on the elements that its grid reaches, so that the host follows
 * each part of them with two numbers. */
#include "bench.h"
#include <stdint.h>
#include <utility>

#define BLOCK 128
#define SIZES 4
#define BLOCKS_OF_SIZE 16
#define N (SIZES * BLOCKS_OF_SIZE * BLOCK)
#define KERNELS 48
#define LAUNCHES 727
#define COPY_EVERY 24 /* launches */
#define EVENT_EVERY 12

template <int K> __global__ void layer(uint32_t *data, uint32_t rounds)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, value = data[i];
#pragma unroll 1
    for (uint32_t r = 0; r < rounds; r++)
        value = (2 * K + 3) * value + K + 1;
    data[i] = value;
}

typedef void (*layer_function)(uint32_t *, uint32_t);

template <int... K> static layer_function layer_of(int k, std::integer_sequence<int, K...>)
{
    static const layer_function all[] = {layer<K>...};
    return all[k];
}

/* The work so far: element = factor * its first value + constant, for the elements of each size. */
static uint32_t factor[SIZES] = {1, 1, 1, 1}, constant[SIZES];

static int kernel_of(int launch)
{
    return launch % KERNELS;
}

static int sizes_of(int launch, int step)
{
    return (launch / 7 + step) % SIZES + 1;
}

static uint32_t rounds_of(int launch)
{
    return 1 + kernel_of(launch) % 5;
}

static void follow(int step)
{
    for (int i = 0; i < LAUNCHES; i++)
        for (int s = 0; s < sizes_of(i, step); s++)
            for (uint32_t r = 0; r < rounds_of(i); r++) {
                const uint32_t k = (uint32_t)kernel_of(i), by = 2 * k + 3;
                factor[s] *= by;
                constant[s] = by * constant[s] + k + 1;
            }
}

struct training {
    uint32_t *data, *batch;
    void *host; /* pinned */
    cudaEvent_t event;
    double rest;
};

static void work_of_host(double seconds)
{
    const double end = seconds_now() + seconds;
    while (seconds > 0 && seconds_now() < end) {
    }
}

static void train(const struct training *t, int step)
{
    for (int i = 0; i < LAUNCHES; i++) {
        layer_function run = layer_of(kernel_of(i), std::make_integer_sequence<int, KERNELS>());
        run<<<BLOCKS_OF_SIZE * sizes_of(i, step), BLOCK>>>(t->data, rounds_of(i));
        if (i % COPY_EVERY == 0)
            CHECK(cudaMemcpyAsync(t->batch, t->host, BLOCK, cudaMemcpyHostToDevice));
        if (i % EVENT_EVERY == 0)
            CHECK(cudaEventRecord(t->event));
        work_of_host(t->rest);
    }
    CHECK(cudaStreamSynchronize(NULL));
}

int main(int argc, char **argv)
{
    int steps = (int)argument(argc, argv, 1, 300, 1, 1000000);
    double rest = 1e-6 * (double)argument(argc, argv, 2, 20, 0, 1000000);
    int warm = (int)argument(argc, argv, 3, 2, 0, 1000);
    struct training t = {.rest = rest};
    static uint32_t host[N];
    for (uint32_t i = 0; i < N; i++)
        host[i] = i * 2654435761u;
    CHECK(cudaMalloc(&t.data, sizeof(host)));
    CHECK(cudaMalloc(&t.batch, BLOCK));
    CHECK(cudaMallocHost(&t.host, BLOCK));
    CHECK(cudaEventCreate(&t.event));
    CHECK(cudaMemcpy(t.data, host, sizeof(host), cudaMemcpyHostToDevice));
    for (int s = 0; s < warm; s++)
        train(&t, s);
    double start = start_loop();
    for (int s = 0; s < steps; s++)
        train(&t, warm + s);
    print_loop(start, (long)steps * LAUNCHES);
    for (int s = 0; s < warm + steps; s++)
        follow(s);

    CHECK(cudaMemcpy(host, t.data, sizeof(host), cudaMemcpyDeviceToHost));
    uint32_t sum = 0;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t s = i / (BLOCKS_OF_SIZE * BLOCK),
                 wanted = factor[s] * (i * 2654435761u) + constant[s];
        REQUIRE(host[i] == wanted, "element %u is %u, not %u", i, host[i], wanted);
        sum += host[i];
    }
    CHECK(cudaEventDestroy(t.event));
    CHECK(cudaFreeHost(t.host));
    CHECK(cudaFree(t.batch));
    CHECK(cudaFree(t.data));
    printf("training %d steps: ok sum=%u\n", steps, sum);
    return 0;
}
