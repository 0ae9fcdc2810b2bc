/* Memory that a kernel allocates itself, updates in place in later launches and frees in the last.
 * It lies in the device's heap, which the program never sees an address of. */
#include "check.h"

#define COUNT 256
#define WORDS 16

__global__ void make(unsigned **table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *mine = (unsigned *)malloc(WORDS * sizeof(unsigned));
    if (mine)
        for (int w = 0; w < WORDS; w++)
            mine[w] = i + w;
    table[i] = mine;
}

__global__ void update(unsigned **table, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (table[i])
        for (int w = 0; w < WORDS; w++)
            table[i][w] = 3 * table[i][w] + k;
}

__global__ void destroy(unsigned **table, unsigned *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = table[i] ? 0 : 1;
    if (table[i])
        for (int w = 0; w < WORDS; w++)
            sums[i] += table[i][w];
    free(table[i]);
    table[i] = NULL;
}

int main()
{
    unsigned **table, *sums, host[COUNT], total = 0;
    CHECK(cudaMalloc(&table, COUNT * sizeof(*table)));
    CHECK(cudaMalloc(&sums, sizeof(host)));
    for (unsigned round = 0; round < 3; round++) {
        make<<<COUNT / 64, 64>>>(table);
        CHECK(cudaGetLastError());
        for (unsigned k = 0; k < 5; k++) {
            update<<<COUNT / 64, 64>>>(table, k + round);
            CHECK(cudaGetLastError());
        }
        destroy<<<COUNT / 64, 64>>>(table, sums);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < COUNT; i++) {
            unsigned expected = 0;
            for (unsigned w = 0; w < WORDS; w++) {
                unsigned value = i + w;
                for (unsigned k = 0; k < 5; k++)
                    value = 3 * value + k + round;
                expected += value;
            }
            REQUIRE(host[i] == expected, "round %u: sum %u is %u, not %u", round, i, host[i],
                    expected);
            total += host[i];
        }
    }
    CHECK(cudaFree(table));
    CHECK(cudaFree(sums));
    printf("device_malloc: ok sum=%u\n", total);
    return 0;
}
