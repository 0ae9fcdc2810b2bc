/* arena [megabytes] [launches] [piece KB] [whole|pool|peers]: short kernels, alternately, on pieces of one
 * allocation of so many megabytes (1024; 300 launches; pieces of 1024 KB; each kernel a few times
 * beforehand). "whole": each piece is an allocation of its own, and the memory that is left is
 * allocated beside them. "pool": the pieces come from CUDA's own pool, which keeps so much memory.
 * "peers": two GPUs can reach each other's memory. Every element of the pieces is checked. */
#include "bench.h"
#include <stdint.h>
#include <string.h>
#include <vector>

#define BLOCK 256
#define PIECES 48

__global__ void scale_and_add(uint32_t *y, const uint32_t *x, uint32_t k)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = y[i] * k + x[i];
}

__global__ void scale_and_shift(uint32_t *y, uint32_t k, uint32_t b)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = y[i] * k + b;
}

/* Each piece has one value everywhere, plus the index times another. */
struct piece {
    uint32_t *at;
    uint32_t value, slope;
};

static std::vector<piece> pieces(PIECES);
static size_t N;

static void launch(int i)
{
    piece &y = pieces[i * 7 % PIECES], &x = pieces[(i * 5 + 1) % PIECES];
    if (i % 2 && x.at != y.at) {
        scale_and_add<<<N / BLOCK, BLOCK>>>(y.at, x.at, 3);
        y.value = 3 * y.value + x.value;
        y.slope = 3 * y.slope + x.slope;
    } else {
        scale_and_shift<<<N / BLOCK, BLOCK>>>(y.at, 5, 7);
        y.value = 5 * y.value + 7;
        y.slope = 5 * y.slope;
    }
    CHECK(cudaGetLastError());
}

__global__ void fill(uint32_t *y, uint32_t value)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = value + (uint32_t)i;
}

/* A pool that has so many bytes, all of them free. */
static void fill_pool(size_t bytes)
{
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    void *whole;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    CHECK(cudaMallocAsync(&whole, bytes, 0));
    CHECK(cudaFreeAsync(whole, 0));
    CHECK(cudaStreamSynchronize(0));
}

static void reach_each_other(void)
{
    int count, can = 0;
    CHECK(cudaGetDeviceCount(&count));
    if (count > 1)
        CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can) {
        fprintf(stderr, "no two GPUs that reach each other\n");
        exit(77);
    }
    for (int i = 1; i >= 0; i--) {
        CHECK(cudaSetDevice(i));
        CHECK(cudaDeviceEnablePeerAccess(1 - i, 0));
    }
}

int main(int argc, char **argv)
{
    size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024;
    int launches = argc > 2 ? atoi(argv[2]) : 300;
    size_t bytes = (argc > 3 ? strtoul(argv[3], NULL, 10) : 1024) << 10;
    const char *how = argc > 4 ? argv[4] : "";
    const bool whole = !strcmp(how, "whole"), pool = !strcmp(how, "pool");
    char *base = NULL;
    N = bytes / 4;
    if ((megabytes << 20) / PIECES < 2 * bytes)
        bytes = ((megabytes << 20) / PIECES / 2) / 1024 * 1024, N = bytes / 4;
    if (!strcmp(how, "peers"))
        reach_each_other();
    size_t free_bytes, all_bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    if (megabytes > free_bytes >> 20) {
        fprintf(stderr, "%zu MB are wanted, %zu MB are free\n", megabytes, free_bytes >> 20);
        return 77;
    }
    if (pool)
        fill_pool(megabytes << 20);
    else
        CHECK(cudaMalloc(&base, (megabytes << 20) - (whole ? PIECES * bytes : 0)));
    for (int i = 0; i < PIECES; i++) {
        if (whole)
            CHECK(cudaMalloc(&pieces[i].at, bytes));
        else if (pool)
            CHECK(cudaMallocAsync(&pieces[i].at, bytes, 0));
        else
            pieces[i].at = (uint32_t *)(base + ((megabytes << 20) / PIECES * i) / 512 * 512);
        fill<<<N / BLOCK, BLOCK>>>(pieces[i].at, i);
        pieces[i].value = i;
        pieces[i].slope = 1;
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 16; i++)
        launch(i);
    CHECK(cudaDeviceSynchronize());
    double start = start_loop();
    for (int i = 0; i < launches; i++)
        launch(i);
    print_loop(start, launches);
    std::vector<uint32_t> found(N);
    for (int p = 0; p < PIECES; p++) {
        CHECK(cudaMemcpy(found.data(), pieces[p].at, bytes, cudaMemcpyDeviceToHost));
        for (size_t k = 0; k < N; k++)
            if (found[k] != pieces[p].value + (uint32_t)k * pieces[p].slope) {
                fprintf(stderr, "piece %d: element %zu is wrong\n", p, k);
                return 1;
            }
    }
    return 0;
}
