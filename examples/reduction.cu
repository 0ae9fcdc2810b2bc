/* reduction [n]: sums n ints (1 << 24) block by block in three ways; the host adds the sums.
 *
 * Shows divergence, and the gain by shared memory.
 *   reduceNeighbours    adds pairs of neighbours, in place in global memory: of every warp only
 *                       the threads with tid % (2 * step) == 0 work, so that warp efficiency is
 *                       low and accesses are strided
 *   reduceInterleaved   adds the upper half to the lower half, in place: whole warps work or
 *                       rest; only the last five steps diverge, and accesses stay dense
 *   reduceShared        the same pattern in shared memory: global memory is read once, densely
 *
 *                                Neighbours     Interleaved    Shared
 *   warp_execution_efficiency    lowest         higher         higher
 *   gld_efficiency               lowest         higher         100 %
 *   shared_efficiency            none is used   none is used   under 100 %: the last steps use a
 *                                                              part of each wavefront
 *
 * The first two overwrite their input: a profiler that runs them twice without putting the memory
 * back makes this program fail. */
#include "check.h"

#define BLOCK 512

__global__ void reduceNeighbours(int *data, int *sums)
{
    int *mine = data + (size_t)blockIdx.x * BLOCK;
    unsigned tid = threadIdx.x;
    for (unsigned step = 1; step < BLOCK; step *= 2) {
        if (tid % (2 * step) == 0)
            mine[tid] += mine[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = mine[0];
}

__global__ void reduceInterleaved(int *data, int *sums)
{
    int *mine = data + (size_t)blockIdx.x * BLOCK;
    unsigned tid = threadIdx.x;
    for (unsigned step = BLOCK / 2; step > 0; step /= 2) {
        if (tid < step)
            mine[tid] += mine[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = mine[0];
}

__global__ void reduceShared(int *data, int *sums)
{
    __shared__ int mine[BLOCK];
    unsigned tid = threadIdx.x;
    mine[tid] = data[(size_t)blockIdx.x * BLOCK + tid];
    __syncthreads();
    for (unsigned step = BLOCK / 2; step > 0; step /= 2) {
        if (tid < step)
            mine[tid] += mine[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = mine[0];
}

static const struct {
    const char *name;
    void (*kernel)(int *data, int *sums);
} ways[] = {
    {"neighbours", reduceNeighbours},
    {"interleaved", reduceInterleaved},
    {"shared", reduceShared},
};

int main(int argc, char **argv)
{
    int n = (int)argument(argc, argv, 1, 1 << 24, BLOCK, 1 << 28);
    REQUIRE(n % BLOCK == 0, "n must be a multiple of %d", BLOCK);
    int blocks = n / BLOCK;
    size_t bytes = n * sizeof(int), sum_bytes = blocks * sizeof(int);

    int *data = (int *)malloc(bytes), *sums = (int *)malloc(sum_bytes);
    REQUIRE(data && sums, "out of memory: %zu bytes", bytes + sum_bytes);
    for (int i = 0; i < n; i++)
        data[i] = i % 101 - 20;

    int *d_data, *d_sums;
    CHECK(cudaMalloc(&d_data, bytes));
    CHECK(cudaMalloc(&d_sums, sum_bytes));

    for (const auto &way : ways) {
        for (int i = 0; i < repeats(); i++) {
            CHECK(cudaMemcpy(d_data, data, bytes, cudaMemcpyHostToDevice));
            CHECK(cudaMemset(d_sums, 0, sum_bytes));
            way.kernel<<<blocks, BLOCK>>>(d_data, d_sums);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaMemcpy(sums, d_sums, sum_bytes, cudaMemcpyDeviceToHost));

        long long total = 0;
        for (int b = 0; b < blocks; b++) {
            int expected = 0;
            for (int i = 0; i < BLOCK; i++)
                expected += data[(size_t)b * BLOCK + i];
            REQUIRE(sums[b] == expected, "%s: block %d is %d, not %d", way.name, b, sums[b],
                    expected);
            total += sums[b];
        }
        printf("reduction %s n %d: ok sum=%lld\n", way.name, n, total);
    }

    CHECK(cudaFree(d_data));
    CHECK(cudaFree(d_sums));
    free(data);
    free(sums);
    return 0;
}
