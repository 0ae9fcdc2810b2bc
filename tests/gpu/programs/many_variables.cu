/* A module with a hundred variables of its own, as a file has that includes Thrust or CUB: most of a
 * byte, some with a value from the start, some aligned, some large. A kernel changes all of them, one
 * none, and one only the last. */
#include "check.h"

#define TEN(of, n) of(n##0) of(n##1) of(n##2) of(n##3) of(n##4) of(n##5) of(n##6) of(n##7) of(n##8) of(n##9)
#define ALL(of) TEN(of, 1) TEN(of, 2) TEN(of, 3) TEN(of, 4) TEN(of, 5)
#define LAUNCHES 30

#define BYTE(n) __device__ unsigned char byte##n;
#define SET_BYTE(n) static __device__ unsigned char set_byte##n = n;
ALL(BYTE)
ALL(SET_BYTE)
__device__ double numbers[3] = {1, 2, 3};
__device__ __align__(256) int aligned[5];
static __device__ unsigned large[100000];
__device__ short last = -7;

#define CHANGE_BYTE(n) byte##n = (unsigned char)(3 * byte##n + n);
#define CHANGE_SET_BYTE(n) set_byte##n = (unsigned char)(5 * set_byte##n + n);

__global__ void changeAll()
{
    if (threadIdx.x == 0) {
        ALL(CHANGE_BYTE)
        ALL(CHANGE_SET_BYTE)
        for (int i = 0; i < 3; i++)
            numbers[i] = numbers[i] * 0.5 + i;
        for (int i = 0; i < 5; i++)
            aligned[i] += i + 1;
        last++;
    }
    for (int i = threadIdx.x; i < 100000; i += blockDim.x)
        large[i] = 3 * large[i] + i;
}

__global__ void changeLast(int *out)
{
    last = (short)(2 * last + 1);
    *out = *out * 3 + last;
}

__global__ void changeNone(int *out)
{
    out[threadIdx.x] = out[threadIdx.x] * 3 + (int)threadIdx.x;
}

/* The sum of all variables, by a kernel that reads alone. */
#define ADD_BYTE(n) sum = 31 * sum + byte##n;
#define ADD_SET_BYTE(n) sum = 31 * sum + set_byte##n;
__global__ void digestAll(unsigned *digest)
{
    unsigned sum = 0;
    ALL(ADD_BYTE)
    ALL(ADD_SET_BYTE)
    for (int i = 0; i < 3; i++)
        sum = 31 * sum + (unsigned)(numbers[i] * 4096);
    for (int i = 0; i < 5; i++)
        sum = 31 * sum + (unsigned)aligned[i];
    for (int i = 0; i < 100000; i++)
        sum = 31 * sum + large[i];
    *digest = 31 * sum + (unsigned short)last;
}

int main(void)
{
    unsigned *digest, host;
    int *out, got[32];
    CHECK(cudaMalloc(&digest, sizeof(host)));
    CHECK(cudaMalloc(&out, sizeof(got)));
    CHECK(cudaMemset(out, 0, sizeof(got)));
    for (int k = 0; k < LAUNCHES; k++) {
        changeAll<<<1, 128>>>();
        CHECK(cudaGetLastError());
        changeNone<<<1, 32>>>(out);
        CHECK(cudaGetLastError());
        changeLast<<<1, 1>>>(out);
        CHECK(cudaGetLastError());
    }
    digestAll<<<1, 1>>>(digest);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&host, digest, sizeof(host), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
    printf("many_variables: %08x %d %d\n", host, got[0], got[31]);
    return 0;
}
