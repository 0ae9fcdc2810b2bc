/* random_arena [gigabytes] [launches] [whole]: launches on pieces of one allocation (64 GB, or 80 % of the memory that is
 * free), cut at random, given back, and cut anew. Kernels update them, read others by numbers from memory, count by
 * atomic additions, have addresses from a table in memory, and write now and then far from their parameters. "whole":
 * each piece is an allocation of its own, and no launch writes to another one than its parameters lead to. Prints a digest of all
 * pieces. */
#include "check.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#define BLOCK 256
#define PIECES 160

__global__ void update(uint32_t *y, uint32_t n, uint32_t k)
{
    uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        y[i] = y[i] * 3 + k;
}

__global__ void addTo(uint32_t *y, const uint32_t *x, uint32_t n)
{
    uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        y[i] += x[i] ^ i;
}

__global__ void gather(uint32_t *y, const uint32_t *x, const uint32_t *numbers, uint32_t n)
{
    uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        y[i] += x[numbers[i] % n];
}

__global__ void count(uint32_t *counts, const uint32_t *x, uint32_t n)
{
    uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i] % 64], 1);
}

/* The addresses are in memory. */
__global__ void through(uint32_t *const *table, uint32_t to, uint32_t from, uint32_t n)
{
    uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        table[to][i] += table[from][i] * 5;
}

/* It writes to another piece where the number in memory says so. */
__global__ void scatter(uint32_t *y, const int64_t *away, uint32_t n)
{
    uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        y[i] = y[i] * 7 + 1;
    if (i == 0 && *away)
        y[*away] ^= 0x5a5a5a5a;
}

struct piece {
    uint32_t *at;
    uint32_t words;
};

static std::vector<piece> pieces(PIECES);
static uint64_t seed = 12345;

static uint32_t chance(uint32_t below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % below;
}

static unsigned grid(uint32_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

/* Piece p lies somewhere in its part of the arena. */
static void cut(int p, char *base, size_t part, bool whole)
{
    const uint32_t words = 64 + chance(1u << (10 + chance(11)));
    const size_t room = part - 4 * (size_t)words;
    const size_t offset = (size_t)((double)chance(1 << 20) / (1 << 20) * (double)room) / 512 * 512;
    if (whole) {
        CHECK(cudaFree(pieces[p].at));
        CHECK(cudaMalloc(&pieces[p].at, 4 * (size_t)words));
    } else {
        pieces[p].at = (uint32_t *)(base + part * p + offset);
    }
    pieces[p].words = words;
    CHECK(cudaMemset(pieces[p].at, 17 * p + 1, 4 * (size_t)words));
}

int main(int argc, char **argv)
{
    const double gigabytes = argc > 1 ? atof(argv[1]) : 64;
    const int launches = argc > 2 ? atoi(argv[2]) : 700;
    const bool whole = argc > 3 && !strcmp(argv[3], "whole");
    size_t free_bytes, all_bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    size_t bytes = (size_t)(gigabytes * (1 << 30));
    if (bytes > free_bytes / 5 * 4)
        bytes = free_bytes / 5 * 4;
    const size_t part = bytes / PIECES / 512 * 512;
    char *base;
    uint32_t **table;
    int64_t *away;
    CHECK(cudaMalloc(&base, bytes));
    CHECK(cudaMalloc(&table, PIECES * sizeof(*table)));
    CHECK(cudaMalloc(&away, sizeof(*away)));
    CHECK(cudaMemset(away, 0, sizeof(*away)));
    for (int p = 0; p < PIECES; p++)
        cut(p, base, part, whole);
    for (int i = 0; i < launches; i++) {
        const uint32_t a = chance(PIECES), b = chance(PIECES), c = chance(PIECES);
        const piece &y = pieces[a], &x = pieces[b], &z = pieces[c];
        /* No launch reads memory that it writes. */
        const bool apart = a != b && a != c;
        const uint32_t n = min(y.words, x.words), skip = chance(4) ? 0 : 4 * chance(n / 4), kind = chance(7);
        if (kind == 0) {
            update<<<grid(y.words - skip), BLOCK>>>(y.at + skip, y.words - skip, i);
        } else if (kind == 1) {
            addTo<<<grid(n), BLOCK>>>(y.at, x.at, n);
        } else if (kind == 2 && apart) {
            gather<<<grid(min(n, z.words)), BLOCK>>>(y.at, x.at, z.at, min(n, z.words));
        } else if (kind == 3 && apart) {
            count<<<grid(x.words), BLOCK>>>(y.at, x.at, x.words);
        } else if (kind == 4) {
            uint32_t *const both[2] = {y.at, x.at};
            CHECK(cudaMemcpy(table + 2, both, sizeof(both), cudaMemcpyHostToDevice));
            through<<<grid(n), BLOCK>>>(table, 2, 3, n);
        } else if (kind == 5) {
            const int64_t far = chance(200) || whole ? 0 : x.at - y.at;
            CHECK(cudaMemcpy(away, &far, sizeof(far), cudaMemcpyHostToDevice));
            scatter<<<grid(y.words), BLOCK>>>(y.at, away, y.words);
        } else if (kind == 6) {
            cut(a, base, part, whole);
        }
        CHECK(cudaGetLastError());
    }
    uint64_t digest = 14695981039346656037ull;
    std::vector<uint32_t> found;
    for (const piece &p : pieces) {
        found.resize(p.words);
        CHECK(cudaMemcpy(found.data(), p.at, 4 * (size_t)p.words, cudaMemcpyDeviceToHost));
        for (uint32_t word : found)
            digest = (digest ^ word) * 1099511628211ull;
    }
    printf("digest %016llx\n", (unsigned long long)digest);
    return 0;
}
