/* Launches that must fail, and a kernel that dies: every call gives the error it gives without a
 * profiler. Prints each call's result; exits with status 3. */
#include "check.h"

__global__ void set(int *data, int value)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void __launch_bounds__(64) narrow(int *data)
{
    data[threadIdx.x] = 1;
}

__global__ void faulty(int *data)
{
    *data = 1;
}

static void say(const char *what, cudaError_t error)
{
    printf("%s: %s\n", what, cudaGetErrorName(error));
}

static void launched(const char *what)
{
    say(what, cudaGetLastError());
}

int main()
{
    int *data, host[4] = {0};
    CHECK(cudaMalloc(&data, 4096));
    CHECK(cudaMemset(data, 0, 4096));

    set<<<1, 2048>>>(data, 1);
    launched("2048 threads");
    set<<<0, 32>>>(data, 1);
    launched("no blocks");
    set<<<1, 0>>>(data, 1);
    launched("no threads");
    set<<<1, 32, 1 << 30>>>(data, 1);
    launched("1 GiB of shared memory");
    set<<<dim3(1, 1 << 20, 1), 32>>>(data, 1);
    launched("too many blocks in y");
    narrow<<<1, 256>>>(data);
    launched("more threads than the kernel allows");
    say("synchronise", cudaDeviceSynchronize());
    say("free of memory never allocated", cudaFree((void *)0x1234));
    launched("after it");

    set<<<1, 32>>>(data, 5);
    launched("a good launch");
    say("copy", cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    printf("value %d\n", host[3]);

    faulty<<<1, 1>>>((int *)64);
    launched("a kernel that will fault");
    say("synchronise", cudaDeviceSynchronize());
    launched("last error");
    set<<<1, 32>>>(data, 6);
    launched("a launch after it");
    say("copy", cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    say("allocate", cudaMalloc(&data, 4096));
    return 3;
}
