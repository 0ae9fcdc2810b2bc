/* A kernel with so many registers that 1024 threads of it do not fit: that launch fails each time,
 * and the ones around it work. */
#include "check.h"

#define VALUES 96
#define THREADS 64

/* All loads come before all stores, in the other order, so every value is alive at once. */
__global__ void reverse(volatile unsigned *data)
{
    unsigned values[VALUES];
#pragma unroll
    for (int v = 0; v < VALUES; v++)
        values[v] = data[v * THREADS + threadIdx.x % THREADS];
#pragma unroll
    for (int v = 0; v < VALUES; v++)
        data[v * THREADS + threadIdx.x % THREADS] = 3 * values[VALUES - 1 - v] + v;
}

int main()
{
    static unsigned host[VALUES][THREADS], expected[VALUES], next[VALUES];
    unsigned *data, sum = 0;
    int registers;
    cudaFuncAttributes attributes;
    CHECK(cudaDeviceGetAttribute(&registers, cudaDevAttrMaxRegistersPerBlock, 0));
    CHECK(cudaFuncGetAttributes(&attributes, reverse));
    REQUIRE(attributes.numRegs * 1024 > registers, "only %d registers", attributes.numRegs);
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    for (int k = 0; k < 6; k++) {
        reverse<<<1, 1024>>>(data);
        cudaError_t error = cudaGetLastError();
        REQUIRE(error == cudaErrorLaunchOutOfResources, "1024 threads: %s",
                cudaGetErrorName(error));
        REQUIRE(cudaPeekAtLastError() == cudaSuccess, "the error stays");
        reverse<<<1, THREADS>>>(data);
        CHECK(cudaGetLastError());
        for (int v = 0; v < VALUES; v++)
            next[v] = 3 * expected[VALUES - 1 - v] + v;
        for (int v = 0; v < VALUES; v++)
            expected[v] = next[v];
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int v = 0; v < VALUES; v++)
        for (int t = 0; t < THREADS; t++) {
            REQUIRE(host[v][t] == expected[v], "[%d][%d] is %u, not %u", v, t, host[v][t],
                    expected[v]);
            sum += host[v][t];
        }
    CHECK(cudaFree(data));
    printf("out_of_registers: ok sum=%u\n", sum);
    return 0;
}
