/* Five launches that work, one that fails, and a reset of the device: the process ends as it would
 * by itself, with status 0. Prints each call's result. */
#include "check.h"

#define N (1 << 16)

__global__ void add(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void far_away(int *a)
{
    a[((size_t)1 << 40) + threadIdx.x] = 1;
}

static void say(const char *what, cudaError_t error)
{
    printf("%s: %s\n", what, cudaGetErrorName(error));
}

int main(void)
{
    int *a;
    CHECK(cudaMalloc(&a, N * sizeof(*a)));
    CHECK(cudaMemset(a, 0, N * sizeof(*a)));
    for (int i = 0; i < 5; i++)
        add<<<N / 256, 256>>>(a);
    CHECK(cudaDeviceSynchronize());
    far_away<<<1, 32>>>(a);
    say("launch", cudaGetLastError());
    say("synchronise", cudaDeviceSynchronize());
    say("reset", cudaDeviceReset());
    say("allocate", cudaMalloc(&a, N * sizeof(*a)));
    return 0;
}
