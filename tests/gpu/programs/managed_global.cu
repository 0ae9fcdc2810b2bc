/* Managed variables of the module: an array and a pointer to managed memory, which host and kernels
 * update alternately. */
#include "check.h"

#define N 3000

struct list {
    unsigned *items;
    unsigned count;
};

__managed__ unsigned table[N];
__managed__ struct list list;

__global__ void update(unsigned k)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N)
        return;
    table[i] = 3 * table[i] + k;
    if (i < list.count)
        list.items[i] += table[i];
}

int main()
{
    static unsigned expected_table[N], expected_items[N];
    unsigned count = 100, sum = 0;
    CHECK(cudaMallocManaged(&list.items, N * sizeof(unsigned)));
    list.count = count;
    for (unsigned i = 0; i < N; i++) {
        table[i] = expected_table[i] = i;
        list.items[i] = 0;
    }
    for (unsigned k = 0; k < 10; k++) {
        update<<<blocks_for(N, 128), 128>>>(k);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        for (unsigned i = 0; i < N; i++) {
            expected_table[i] = 3 * expected_table[i] + k;
            if (i < count)
                expected_items[i] += expected_table[i];
        }
        list.count = count += 250;
        table[k] ^= 0xff;
        expected_table[k] ^= 0xff;
    }
    for (unsigned i = 0; i < N; i++) {
        REQUIRE(table[i] == expected_table[i], "table[%u] is %u, not %u", i, table[i],
                expected_table[i]);
        REQUIRE(list.items[i] == expected_items[i], "item %u is %u, not %u", i, list.items[i],
                expected_items[i]);
        sum += table[i] + list.items[i];
    }
    REQUIRE(list.count == count, "the count is %u, not %u", list.count, count);
    CHECK(cudaFree(list.items));
    printf("managed_global: ok sum=%u\n", sum);
    return 0;
}
