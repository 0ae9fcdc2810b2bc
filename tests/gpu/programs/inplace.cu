/* inplace [launches]: a kernel that updates its buffer in place, many times (200). Any launch
 * replayed from the wrong memory changes the result. A second, large buffer is hardly written, and a
 * third only read. */
#include "check.h"

__global__ void advance(unsigned *state, const unsigned *step, unsigned *large, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        state[i] = state[i] * 1664525u + step[i];
    if (i == 0)
        large[state[0] % (1u << 24)] += 1;
}

int main(int argc, char **argv)
{
    const int n = 100003, launches = argc > 1 ? atoi(argv[1]) : 200, large_n = 1 << 24;
    unsigned *host = (unsigned *)malloc(n * sizeof(unsigned)), *state, *step, *large;
    REQUIRE(host, "out of memory");
    CHECK(cudaMalloc(&state, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&step, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&large, large_n * sizeof(unsigned)));
    CHECK(cudaMemset(large, 0, large_n * sizeof(unsigned)));
    for (int i = 0; i < n; i++)
        host[i] = i;
    CHECK(cudaMemcpy(state, host, n * sizeof(unsigned), cudaMemcpyHostToDevice));
    for (int i = 0; i < n; i++)
        host[i] = 2 * i + 1;
    CHECK(cudaMemcpy(step, host, n * sizeof(unsigned), cudaMemcpyHostToDevice));

    for (int k = 0; k < launches; k++) {
        advance<<<blocks_for(n, 256), 256>>>(state, step, large, n);
        CHECK(cudaGetLastError());
    }

    CHECK(cudaMemcpy(host, state, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        unsigned expected = i;
        for (int k = 0; k < launches; k++)
            expected = expected * 1664525u + 2 * i + 1;
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
        sum += host[i];
    }
    free(host);

    host = (unsigned *)malloc(large_n * sizeof(unsigned));
    REQUIRE(host, "out of memory");
    CHECK(cudaMemcpy(host, large, large_n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    unsigned touched = 0;
    for (int i = 0; i < large_n; i++)
        touched += host[i];
    REQUIRE(touched == (unsigned)launches, "%u updates of the large buffer", touched);
    printf("inplace: ok sum=%u touched=%u\n", sum, touched);
    return 0;
}
