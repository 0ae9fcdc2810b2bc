// Kernels whose loads and stores use L1's data stage in many ways: aligned, shifted, strided,
// gathered, of every width, in shared and local memory. tests/gpu/l1_estimate compares the estimate
// of its steps with the hardware's own count.

#include <cstdio>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#define N (1 << 22)
template <int OFF> __global__ void copy32(const float *a, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i + OFF];
}
template <int OFF> __global__ void copy64(const float2 *a, float2 *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i + OFF];
}
template <int OFF> __global__ void copy128(const float4 *a, float4 *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i + OFF];
}
template <int OFF> __global__ void store32(float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i + OFF] = i;
}
template <int OFF> __global__ void store128(float4 *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i + OFF] = make_float4(i, i, i, i);
}
template <int S> __global__ void strided(const float *a, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 8; k++)
        s += a[((size_t)i * S + k * 4096) & (N - 1)];
    if (s == 1234.5f)
        b[0] = s;
}
template <int S> __global__ void strided8(const unsigned char *a, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 8; k++)
        s += a[((size_t)i * S + k * 4096) & (N - 1)];
    if (s == 1234.5f)
        b[0] = s;
}
__global__ void broadcast(const float *a, float *b)
{
    float s = 0;
    for (int k = 0; k < 64; k++)
        s += a[k + blockIdx.x];
    if (s == 1234.5f)
        b[0] = s;
}
__global__ void gather(const float *a, float *b)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 8; k++) {
        i = i * 1664525u + 1013904223u;
        s += a[(i >> 8) & (N - 1)];
    }
    if (s == 1234.5f)
        b[0] = s;
}
__global__ void gather_small(const float *a, float *b)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 64; k++) {
        i = i * 1664525u + 1013904223u;
        s += a[(i >> 8) & 1023];
    }
    if (s == 1234.5f)
        b[0] = s;
}
/* WIDTH is that of a block: kernels of two widths have two names. */
template <int R, int WIDTH> __global__ void filter(const float *a, float *b, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < R || y < R || x >= w - R || y >= h - R)
        return;
    float s = 0;
    for (int j = -R; j <= R; j++)
        for (int i = -R; i <= R; i++)
            s += a[(y + j) * w + x + i];
    b[y * w + x] = s / ((2 * R + 1) * (2 * R + 1));
}
__global__ void filter_bytes(const unsigned char *a, unsigned char *b, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2)
        return;
    int s = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++)
            s += a[(y + j) * w + x + i];
    b[y * w + x] = s / 25;
}
__global__ void filter_double(const double *a, double *b, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2)
        return;
    double s = 0;
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++)
            s += a[(y + j) * w + x + i];
    b[y * w + x] = s / 25;
}
template <int S> __global__ void shared_conflict(float *b)
{
    __shared__ float t[32 * 33 * 4];
    for (int i = threadIdx.x; i < 32 * 33 * 4; i += blockDim.x)
        t[i] = i;
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 64; k++)
        s += t[((threadIdx.x & 31) * S + k) & 4095];
    if (s == 1234.5f)
        b[0] = s;
}
__global__ void shared128(float *b)
{
    __shared__ float4 t[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        t[i] = make_float4(i, 1, 2, 3);
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 64; k++) {
        float4 v = t[(threadIdx.x + k) & 1023];
        s += v.x + v.y + v.z + v.w;
    }
    if (s == 1234.5f)
        b[0] = s;
}
__global__ void local_array(float *b, int n)
{
    float t[64];
    for (int i = 0; i < 64; i++)
        t[i] = i * n;
    float s = 0;
    for (int k = 0; k < 64; k++)
        s += t[(k * n + threadIdx.x) & 63];
    if (s == 1234.5f)
        b[0] = s;
}
__global__ void atomics(float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&b[i & 1023], 1.0f);
}
__global__ void atomics_spread(float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&b[i], 1.0f);
}
__global__ void ldgsts(const float4 *a, float *b)
{
    __shared__ float4 t[256];
    float s = 0;
    for (int k = 0; k < 8; k++) {
        __pipeline_memcpy_async(&t[threadIdx.x],
                                &a[((size_t)blockIdx.x * 8 + k) % 1024 * 256 + threadIdx.x], 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        s += t[threadIdx.x ^ 1].x;
        __syncthreads();
    }
    if (s == 1234.5f)
        b[0] = s;
}
__global__ void ldgsts4(const float *a, float *b)
{
    __shared__ float t[256];
    float s = 0;
    for (int k = 0; k < 8; k++) {
        __pipeline_memcpy_async(&t[threadIdx.x],
                                &a[((size_t)blockIdx.x * 8 + k) % 1024 * 256 + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        s += t[threadIdx.x ^ 1];
        __syncthreads();
    }
    if (s == 1234.5f)
        b[0] = s;
}
int main()
{
    float *a, *b;
    cudaMalloc(&a, 2 * N * 16ul);
    cudaMalloc(&b, 2 * N * 16ul);
    cudaMemset(a, 0, 2 * N * 16ul);
    dim3 g(N / 256), t(256), f(32, 8), fg(2048 / 32, 2048 / 8), f2(16, 16), fg2(128, 128);
#define RUN(...)                               \
    do {                                       \
        __VA_ARGS__;                           \
        if (cudaDeviceSynchronize()) {         \
            printf("fail %s\n", #__VA_ARGS__); \
            return 1;                          \
        }                                      \
    } while (0)
    RUN((copy32<0><<<g, t>>>(a, b)));
    RUN((copy32<1><<<g, t>>>(a, b)));
    RUN((copy32<8><<<g, t>>>(a, b)));
    RUN((copy32<16><<<g, t>>>(a, b)));
    RUN((copy64<0><<<g, t>>>((float2 *)a, (float2 *)b)));
    RUN((copy64<1><<<g, t>>>((float2 *)a, (float2 *)b)));
    RUN((copy128<0><<<g, t>>>((float4 *)a, (float4 *)b)));
    RUN((copy128<1><<<g, t>>>((float4 *)a, (float4 *)b)));
    RUN((store32<0><<<g, t>>>(b)));
    RUN((store32<1><<<g, t>>>(b)));
    RUN((store128<0><<<g, t>>>((float4 *)b)));
    RUN((store128<1><<<g, t>>>((float4 *)b)));
    RUN((strided<1><<<g, t>>>(a, b)));
    RUN((strided<2><<<g, t>>>(a, b)));
    RUN((strided<3><<<g, t>>>(a, b)));
    RUN((strided<4><<<g, t>>>(a, b)));
    RUN((strided<8><<<g, t>>>(a, b)));
    RUN((strided<32><<<g, t>>>(a, b)));
    RUN((strided<33><<<g, t>>>(a, b)));
    RUN((strided8<1><<<g, t>>>((unsigned char *)a, b)));
    RUN((strided8<3><<<g, t>>>((unsigned char *)a, b)));
    RUN((broadcast<<<g, t>>>(a, b)));
    RUN((gather<<<g, t>>>(a, b)));
    RUN((gather_small<<<g, t>>>(a, b)));
    RUN((filter<1, 32><<<fg, f>>>(a, b, 2048, 2048)));
    RUN((filter<2, 32><<<fg, f>>>(a, b, 2048, 2048)));
    RUN((filter<2, 16><<<fg2, f2>>>(a, b, 2048, 2048)));
    RUN((filter<4, 32><<<fg, f>>>(a, b, 2048, 2048)));
    RUN((filter_bytes<<<fg, f>>>((unsigned char *)a, (unsigned char *)b, 2048, 2048)));
    RUN((filter_double<<<fg, f>>>((double *)a, (double *)b, 2048, 2048)));
    RUN((shared_conflict<1><<<g, t>>>(b)));
    RUN((shared_conflict<2><<<g, t>>>(b)));
    RUN((shared_conflict<32><<<g, t>>>(b)));
    RUN((shared128<<<g, t>>>(b)));
    RUN((local_array<<<1024, t>>>(b, 3)));
    RUN((atomics<<<g, t>>>(b)));
    RUN((atomics_spread<<<g, t>>>(b)));
    RUN((ldgsts<<<4096, t>>>((float4 *)a, b)));
    RUN((ldgsts4<<<4096, t>>>(a, b)));
    return 0;
}
