/* A kernel that prints. Its text must appear once, however often the launch is repeated. */
#include "check.h"

__global__ void speak(int k)
{
    for (int i = 0; i < 3; i++)
        printf("printf: launch %d line %d\n", k, i);
}

int main()
{
    for (int k = 0; k < 4; k++) {
        speak<<<1, 1>>>(k);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    return 0;
}
