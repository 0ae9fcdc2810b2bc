/* Right behind launches that are all different the program takes nearly all memory there is, in one
 * piece, and uses both ends of it: copies that were kept of the launches must not be in its way. */
#include "check.h"

#define N 4096
#define ALL (16ul << 20) /* elements that a launch reaches: sixteen copies take a gigabyte */
#define LEFT (512ul << 20)
#define ROUNDS 6

__global__ void advance(unsigned *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 3 * data[i] + i;
}

int main()
{
    static unsigned expected[N], host[N];
    unsigned *data, sum = 0;
    CHECK(cudaMalloc(&data, ALL * sizeof(unsigned)));
    CHECK(cudaMemset(data, 0, ALL * sizeof(unsigned)));
    for (int round = 0, launches = 0; round < ROUNDS; round++) {
        for (int k = 0; k < 5; k++, launches++) {
            int n = 100 + 61 * launches;
            advance<<<N / 256, 256>>>(data, n);
            CHECK(cudaGetLastError());
            for (int i = 0; i < n; i++)
                expected[i] = 3 * expected[i] + i;
        }
        size_t free, total;
        unsigned char *all, ends[2];
        CHECK(cudaMemGetInfo(&free, &total));
        REQUIRE(free > (1ul << 30), "%zu bytes are free", free);
        size_t size = free - LEFT;
        CHECK(cudaMalloc(&all, size));
        CHECK(cudaMemset(all, round, 1 << 20));
        CHECK(cudaMemset(all + size - (1 << 20), round + 1, 1 << 20));
        CHECK(cudaMemcpy(&ends[0], all, 1, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(&ends[1], all + size - 1, 1, cudaMemcpyDeviceToHost));
        REQUIRE(ends[0] == round && ends[1] == round + 1, "%u and %u at the ends", ends[0],
                ends[1]);
        CHECK(cudaFree(all));
    }
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == expected[i], "element %d is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    printf("memory_taken: ok sum=%u\n", sum);
    return 0;
}
