/* Two thousand small allocations of many sizes, all reached through a table of pointers in device
 * memory; half of them are freed between the launches. */
#include "check.h"

#define COUNT 2000

__global__ void update(int **buffers, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && buffers[i])
        *buffers[i] = 3 * *buffers[i] + i;
}

int main()
{
    static int *buffers[COUNT];
    int **table, expected = 0;
    CHECK(cudaMalloc(&table, sizeof(buffers)));
    for (int i = 0; i < COUNT; i++) {
        CHECK(cudaMalloc(&buffers[i], 4 + (i * 37) % 5000));
        CHECK(cudaMemset(buffers[i], 0, 4));
    }
    CHECK(cudaMemcpy(table, buffers, sizeof(buffers), cudaMemcpyHostToDevice));
    for (int k = 0; k < 5; k++) {
        update<<<blocks_for(COUNT, 128), 128>>>(table, COUNT);
        CHECK(cudaGetLastError());
    }
    for (int i = 1; i < COUNT; i += 2) {
        CHECK(cudaFree(buffers[i]));
        buffers[i] = NULL;
    }
    CHECK(cudaMemcpy(table, buffers, sizeof(buffers), cudaMemcpyHostToDevice));
    for (int k = 0; k < 5; k++) {
        update<<<blocks_for(COUNT, 128), 128>>>(table, COUNT);
        CHECK(cudaGetLastError());
    }
    long long sum = 0;
    for (int k = 0; k < 10; k++)
        expected = 3 * expected + 1;
    for (int i = 0; i < COUNT; i += 2) {
        int got;
        CHECK(cudaMemcpy(&got, buffers[i], sizeof(got), cudaMemcpyDeviceToHost));
        REQUIRE(got == expected * i, "buffer %d holds %d, not %d", i, got, expected * i);
        sum += got;
        CHECK(cudaFree(buffers[i]));
    }
    CHECK(cudaFree(table));
    printf("manyallocs: ok sum=%lld\n", sum);
    return 0;
}
