/* Twenty thousand allocations, with launches between them that update the last thousand through a table,
 * and between their frees. */
#include "check.h"

enum { COUNT = 20000, AT_ONCE = 1000 };

__global__ void update(unsigned *const *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        *table[i] = 3 * *table[i] + 1;
}

static unsigned *buffers[COUNT];

static void update_some(unsigned **table, int first)
{
    CHECK(cudaMemcpy(table, &buffers[first], AT_ONCE * sizeof(*buffers), cudaMemcpyHostToDevice));
    update<<<blocks_for(AT_ONCE, 128), 128>>>(table, AT_ONCE);
    CHECK(cudaGetLastError());
}

int main()
{
    unsigned **table, sum = 0;
    CHECK(cudaMalloc(&table, AT_ONCE * sizeof(*buffers)));
    for (int i = 0; i < COUNT; i++) {
        CHECK(cudaMalloc(&buffers[i], 4 + i * 37 % 3000));
        CHECK(cudaMemset(buffers[i], i % 251, 4));
        if (i % AT_ONCE == AT_ONCE - 1)
            update_some(table, i - AT_ONCE + 1);
    }
    for (int i = 0; i < COUNT; i++) {
        if (i % AT_ONCE == 0)
            update_some(table, i);
        unsigned value, expected = (i % 251) * 0x01010101u;
        CHECK(cudaMemcpy(&value, buffers[i], sizeof(value), cudaMemcpyDeviceToHost));
        expected = 3 * (3 * expected + 1) + 1;
        REQUIRE(value == expected, "buffer %d holds %u, not %u", i, value, expected);
        sum += value;
        CHECK(cudaFree(buffers[i]));
    }
    CHECK(cudaFree(table));
    printf("many_allocs: ok sum=%u\n", sum);
    return 0;
}
