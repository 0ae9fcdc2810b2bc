/* The host's own memory, page-locked for a while and released again, between launches that update
 * it in place. It begins in the middle of a page, and the memory around it is the host's alone. */
#include "check.h"

#define N 6000

__global__ void update(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 5 * data[i] + k;
}

int main()
{
    static unsigned around[N + 4096];
    unsigned *data = around + 1040, *mapped, expected[2] = {1, 2}, sum = 0;
    for (int i = 0; i < N + 4096; i++)
        around[i] = i % 2 + 1;
    for (unsigned round = 0; round < 3; round++) {
        CHECK(cudaHostRegister(data, N * sizeof(unsigned), cudaHostRegisterMapped));
        CHECK(cudaHostGetDevicePointer(&mapped, data, 0));
        for (unsigned k = 0; k < 4; k++) {
            update<<<blocks_for(N, 128), 128>>>(mapped, k + round);
            CHECK(cudaGetLastError());
            if (k == 1) { /* the host, at its own memory, while it is registered */
                CHECK(cudaDeviceSynchronize());
                for (int i = 0; i < N; i++)
                    data[i] ^= 0x55;
            }
            for (int parity = 0; parity < 2; parity++) {
                expected[parity] = 5 * expected[parity] + k + round;
                if (k == 1)
                    expected[parity] ^= 0x55;
            }
        }
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaHostUnregister(data));
        for (int i = 0; i < N; i++)
            data[i] += round;
        expected[0] += round;
        expected[1] += round;
    }
    for (int i = 0; i < N + 4096; i++) {
        unsigned right = i >= 1040 && i < 1040 + N ? expected[i % 2] : i % 2 + 1;
        REQUIRE(around[i] == right, "word %d is %u, not %u", i, around[i], right);
        sum += around[i];
    }
    printf("registered: ok sum=%u\n", sum);
    return 0;
}
