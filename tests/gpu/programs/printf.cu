/* Kernels that print, by themselves and through another function: their text must appear once,
 * however often the launch is repeated. Another kernel of the same module prints nothing: it may run
 * as often as is wanted. */
#include "check.h"

__global__ void speak(int k)
{
    for (int i = 0; i < 3; i++)
        printf("printf: launch %d line %d\n", k, i);
}

__device__ __noinline__ void tell(float sum)
{
    printf("printf: the sum is %.0f\n", sum);
}

__global__ void speak_through(const float *sum)
{
    if (*sum > 0)
        tell(*sum);
}

__global__ void silent(float *sum)
{
    *sum = 2 * *sum + 1;
}

int main()
{
    float *sum;
    CHECK(cudaMalloc(&sum, sizeof(*sum)));
    CHECK(cudaMemset(sum, 0, sizeof(*sum)));
    for (int k = 0; k < 4; k++) {
        speak<<<1, 1>>>(k);
        CHECK(cudaGetLastError());
        silent<<<1, 1>>>(sum);
        CHECK(cudaGetLastError());
        speak_through<<<1, 1>>>(sum);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    return 0;
}
