/* Kernels that may print and kernels that cannot, for the unit test of code/printing. */
#include <cstdio>

__device__ __noinline__ void complain(int x)
{
    printf("complain %d\n", x);
}

__device__ __noinline__ int more(int x)
{
    if (x < 0)
        complain(x);
    return x + 1;
}

__device__ __noinline__ int square(int x)
{
    return x * x;
}

extern "C" __global__ void prints(int *a)
{
    if (a[0] == 7)
        printf("prints\n");
    a[0] = 1;
}

extern "C" __global__ void prints_through_two(int *a)
{
    a[0] = more(a[1]);
}

extern "C" __global__ void silent(int *a)
{
    a[0] = 2;
}

extern "C" __global__ void calls_silent(int *a)
{
    a[0] = square(a[1]);
}

extern "C" __global__ void calls_pointer(int *a, int (*function)(int))
{
    a[0] = function(a[1]);
}
