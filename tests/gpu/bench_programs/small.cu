/* small [megabytes] [launches] [warm-up] [touched]: short kernels, alternately, on some (64) MB of the
 * memory that the program holds (192 MB; 300 launches; each kernel twice beforehand).
 *
 * With 64 MB the kernels take 15 to 60 us on a GPU with some TB/s of memory. All are affine modulo 2^32, so
 * that the host follows any sequence of them with six numbers and checks every element. */
#include "bench.h"
#include <stdint.h>
#include <vector>

static size_t N; /* elements of each of two arrays */
#define BLOCK 256
#define ROUNDS 16
#define PIECE (128l << 20) /* the memory beside them is allocated in pieces */
#define PROBE 4096         /* of each of which some bytes are checked at the end */

__global__ void add(const uint32_t *a, uint32_t *b, uint32_t)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] += a[i];
}

__global__ void scale(uint32_t *a, uint32_t *b, uint32_t k)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = 3 * a[i] + k;
    b[i] = 5 * b[i] + 1;
}

/* Each element is worked on by another thread of its block, which gets it by shared memory. */
__global__ void mix(uint32_t *a, uint32_t *b, uint32_t)
{
    __shared__ uint32_t transposed_a[BLOCK], transposed_b[BLOCK];
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = BLOCK - 1 - threadIdx.x;
    transposed_a[other] = a[i];
    transposed_b[other] = b[i];
    __syncthreads();
    uint32_t x = transposed_a[threadIdx.x], y = transposed_b[threadIdx.x];
#pragma unroll 1
    for (int r = 0; r < ROUNDS; r++) {
        x += y;
        y = 7 * y + x;
    }
    __syncthreads();
    transposed_a[threadIdx.x] = x;
    transposed_b[threadIdx.x] = y;
    __syncthreads();
    a[i] = transposed_a[other];
    b[i] = transposed_b[other];
}

/* The work so far: a = x[0] a0 + x[1] b0 + x[2], and b the same with y. */
static uint32_t x[3] = {1, 0, 0}, y[3] = {0, 1, 0};

static void follow(int kernel, uint32_t k)
{
    if (kernel == 1) {
        for (int c = 0; c < 3; c++) {
            x[c] *= 3;
            y[c] *= 5;
        }
        x[2] += k;
        y[2] += 1;
    } else if (kernel == 0) {
        for (int c = 0; c < 3; c++)
            y[c] += x[c];
    } else {
        for (int r = 0; r < ROUNDS; r++)
            for (int c = 0; c < 3; c++) {
                x[c] += y[c];
                y[c] = 7 * y[c] + x[c];
            }
    }
}

static void launch(int kernel, uint32_t *a, uint32_t *b, uint32_t k)
{
    if (kernel == 0)
        add<<<(unsigned)(N / BLOCK), BLOCK>>>(a, b, k);
    else if (kernel == 1)
        scale<<<(unsigned)(N / BLOCK), BLOCK>>>(a, b, k);
    else
        mix<<<(unsigned)(N / BLOCK), BLOCK>>>(a, b, k);
    CHECK(cudaGetLastError());
}

static uint32_t a_of(uint32_t i)
{
    return i * 2654435761u;
}

static uint32_t b_of(uint32_t i)
{
    return i ^ 0x5bd1e995u;
}

/* A byte of the memory that no kernel touches. */
static int fill_of(size_t piece)
{
    return (int)(piece * 7 % 251 + 1);
}

static void require_untouched(const char *at, size_t bytes, int fill, size_t piece)
{
    unsigned char host[PROBE];
    for (size_t from : {(size_t)0, (bytes - PROBE) / 2, bytes - PROBE}) {
        CHECK(cudaMemcpy(host, at + from, PROBE, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < PROBE; i++)
            REQUIRE(host[i] == fill, "byte %zu of piece %zu is %d, not %d", from + i, piece,
                    host[i], fill);
    }
}

int main(int argc, char **argv)
{
    long megabytes = argument(argc, argv, 1, 192, 64, 1 << 20);
    int launches = (int)argument(argc, argv, 2, 300, 1, 1 << 20);
    int warm = (int)argument(argc, argv, 3, 2, 0, 1000);
    long bytes = megabytes << 20, touched = argument(argc, argv, 4, 64, 1, megabytes) << 20;
    N = touched / 2 / sizeof(uint32_t);

    size_t free_bytes, total_bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if ((size_t)bytes > free_bytes) {
        fprintf(stderr, "%ld MB are wanted, %zu MB are free\n", megabytes, free_bytes >> 20);
        return BENCH_SKIPPED;
    }

    std::vector<uint32_t> a(N), b(N);
    for (uint32_t i = 0; i < (uint32_t)N; i++) {
        a[i] = a_of(i);
        b[i] = b_of(i);
    }
    uint32_t *da, *db;
    CHECK(cudaMalloc(&da, touched / 2));
    CHECK(cudaMalloc(&db, touched / 2));
    CHECK(cudaMemcpy(da, a.data(), touched / 2, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), touched / 2, cudaMemcpyHostToDevice));
    std::vector<char *> pieces;
    std::vector<size_t> sizes;
    for (long left = bytes - touched; left > 0; left -= PIECE) {
        char *piece;
        sizes.push_back((size_t)(left < PIECE ? left : PIECE));
        CHECK(cudaMalloc(&piece, sizes.back()));
        CHECK(cudaMemset(piece, fill_of(pieces.size()), sizes.back()));
        pieces.push_back(piece);
    }

    for (int i = 0; i < 3 * warm; i++) {
        launch(i % 3, da, db, (uint32_t)i);
        follow(i % 3, (uint32_t)i);
    }
    double start = start_loop();
    for (int i = 0; i < launches; i++)
        launch(i % 3, da, db, (uint32_t)i);
    print_loop(start, launches);
    for (int i = 0; i < launches; i++)
        follow(i % 3, (uint32_t)i);

    CHECK(cudaMemcpy(a.data(), da, touched / 2, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(b.data(), db, touched / 2, cudaMemcpyDeviceToHost));
    uint32_t sum = 0;
    for (uint32_t i = 0; i < (uint32_t)N; i++) {
        uint32_t wanted_a = x[0] * a_of(i) + x[1] * b_of(i) + x[2];
        uint32_t wanted_b = y[0] * a_of(i) + y[1] * b_of(i) + y[2];
        REQUIRE(a[i] == wanted_a && b[i] == wanted_b, "element %u is %u, %u, not %u, %u", i, a[i],
                b[i], wanted_a, wanted_b);
        sum += a[i] ^ b[i];
    }
    for (size_t p = 0; p < pieces.size(); p++)
        require_untouched(pieces[p], sizes[p], fill_of(p), p);
    printf("small %ld MB, %d launches: ok sum=%u\n", megabytes, launches, sum);
    return 0;
}
