/* arena [megabytes] [launches] [piece KB] [whole]: short kernels, alternately, on pieces of one allocation
 * of so many megabytes (1024; 300 launches; pieces of 1024 KB; each kernel a few times beforehand).
 * "whole": each piece is an allocation of its own, and the memory that is left is allocated beside
 * them. Every element of the pieces is checked. */
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

int main(int argc, char **argv)
{
    size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 1024;
    int launches = argc > 2 ? atoi(argv[2]) : 300;
    size_t bytes = (argc > 3 ? strtoul(argv[3], NULL, 10) : 1024) << 10;
    bool whole = argc > 4 && !strcmp(argv[4], "whole");
    char *base;
    N = bytes / 4;
    if ((megabytes << 20) / PIECES < 2 * bytes)
        bytes = ((megabytes << 20) / PIECES / 2) / 1024 * 1024, N = bytes / 4;
    CHECK(cudaMalloc(&base, (megabytes << 20) - (whole ? PIECES * bytes : 0)));
    for (int i = 0; i < PIECES; i++) {
        if (whole)
            CHECK(cudaMalloc(&pieces[i].at, bytes));
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
