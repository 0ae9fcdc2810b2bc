// A kernel writes far past the end of a small buffer. The driver puts small allocations into blocks
// of 2 MB, so it meets nobody's memory there: the program works, and has to go on working.
#include <cstdio>
#include <cuda_runtime.h>

#include "check.h"

#define N 512
#define PAST (64 * 1024)
#define LAUNCHES 6

__global__ void add(unsigned *numbers, unsigned n, unsigned by)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        numbers[i] += by;
}

int main()
{
    unsigned *numbers, *others, all[N], sum = 0;
    CHECK(cudaMalloc(&others, sizeof(all)));
    CHECK(cudaMalloc(&numbers, sizeof(all)));
    CHECK(cudaMemset(others, 0, sizeof(all)));
    CHECK(cudaMemset(numbers, 0, sizeof(all)));
    for (unsigned i = 1; i <= LAUNCHES; i++) {
        add<<<PAST / 256, 256>>>(numbers, PAST, i);
        add<<<N / 256, 256>>>(others, N, i);
    }
    CHECK(cudaDeviceSynchronize());
    for (unsigned *from : {numbers, others}) {
        CHECK(cudaMemcpy(all, from, sizeof(all), cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < N; i++)
            sum += all[i] == LAUNCHES * (LAUNCHES + 1) / 2;
    }
    REQUIRE(sum == 2 * N, "%u numbers of %u are right", sum, 2 * N);
    std::printf("overrun: ok\n");
    return 0;
}
