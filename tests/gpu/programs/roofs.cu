// The part of each roof of a roofline that this GPU reaches: a line "key = rate" for each, rates per second. For
// metrics/roofs; tests/gpu/roofs makes its file of these. The best of several runs counts.
#include "check.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <dlfcn.h>
#include <functional>
#include <stdio.h>

#define RUNS 10

// Rate of the best run: `amount` of work in each.
static double best(double amount, const std::function<void()> &run)
{
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    double seconds = 1e30;
    for (int i = 0; i < RUNS + 2; i++) {
        float ms;
        CHECK(cudaEventRecord(begin));
        run();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaGetLastError());
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (i >= 2)
            seconds = std::min(seconds, ms / 1e3);
    }
    return amount / seconds;
}

// ---- arithmetic ----

#define CHAINS 8
#define STEPS 4096

// Multiply-adds in chains that do not wait for each other. T is double, float or half2.
template <class T> __global__ void multiply_add(T *out, T a, T b)
{
    T x[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        x[c] = T(threadIdx.x + c); // else all chains were one
    for (int i = 0; i < STEPS; i++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            x[c] = x[c] * a + b;
    T sum = x[0];
    for (int c = 1; c < CHAINS; c++)
        sum = sum + x[c];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <> __global__ void multiply_add<half2>(half2 *out, half2 a, half2 b)
{
    half2 x[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        x[c] = __float2half2_rn(threadIdx.x + c);
    for (int i = 0; i < STEPS; i++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            x[c] = __hfma2(x[c], a, b);
    half2 sum = x[0];
    for (int c = 1; c < CHAINS; c++)
        sum = __hadd2(sum, x[c]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <class T> static double arithmetic(int sms, int width, T a, T b)
{
    const int blocks = sms * 16, threads = 256;
    T *out;
    CHECK(cudaMalloc(&out, sizeof(T) * blocks * threads));
    double flop = 2.0 * width * CHAINS * STEPS * blocks * threads;
    double rate = best(flop, [&] { multiply_add<T><<<blocks, threads>>>(out, a, b); });
    CHECK(cudaFree(out));
    return rate;
}

// A product of matrices by cuBLAS, where there is one; 0 where not.
static double tensor_product()
{
    void *library = nullptr;
    for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"})
        if (!library)
            library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 0;
    typedef int (*create_t)(void **);
    typedef int (*gemm_t)(void *, int, int, int, int, int, const void *, const void *, int, int,
                          const void *, int, int, const void *, void *, int, int, int, int);
    create_t create = (create_t)dlsym(library, "cublasCreate_v2");
    gemm_t gemm = (gemm_t)dlsym(library, "cublasGemmEx");
    void *handle;
    if (!create || !gemm || create(&handle) != 0)
        return 0;
    // CUDA_R_16F, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT, CUBLAS_OP_T, CUBLAS_OP_N
    const int n = 8192, half_type = 2, compute = 68, algorithm = -1, turned = 1, plain = 0;
    const float one = 1, zero = 0;
    half *a, *b, *c;
    CHECK(cudaMalloc(&a, sizeof(half) * n * n));
    CHECK(cudaMalloc(&b, sizeof(half) * n * n));
    CHECK(cudaMalloc(&c, sizeof(half) * n * n));
    CHECK(cudaMemset(a, 0x3c, sizeof(half) * n * n));
    CHECK(cudaMemset(b, 0x2a, sizeof(half) * n * n));
    int status = 0;
    double rate = best(2.0 * n * n * n, [&] {
        status |= gemm(handle, turned, plain, n, n, n, &one, a, half_type, n, b, half_type, n, &zero,
                       c, half_type, n, compute, algorithm);
    });
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return status == 0 ? rate : 0;
}

// ---- memory ----

__global__ void copy(const float4 *from, float4 *to, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

// Volatile: a compiler that saw the same address again would read once.
static __device__ __forceinline__ float load_l2(const float4 *from)
{
    float4 v;
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
    return v.x + v.y + v.z + v.w;
}

static __device__ __forceinline__ float load_l1(const float4 *from)
{
    float4 v;
    asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
    return v.x + v.y + v.z + v.w;
}

// All threads together read `rounds` times as many elements as there are threads, again and again.
__global__ void read_l2(const float4 *from, float *out, int rounds, int times)
{
    float sum = 0;
    size_t all = (size_t)gridDim.x * blockDim.x;
    const float4 *own = from + blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (int t = 0; t < times; t++)
#pragma unroll 4
        for (int i = 0; i < rounds; i++)
            sum += load_l2(own + i * all);
    if (sum == 12345)
        *out = sum;
}

#define L1_ELEMENTS 1024 // of 16 bytes: well within L1; a power of two

// Each block reads the same 16 KiB again and again: from L1 after the first time. Each round begins `shift`
// elements further on, which the compiler does not know: else its loads would be the same in each round, and
// the assembler would take them out of the loop.
__global__ void read_l1(const float4 *from, float *out, int times, unsigned shift)
{
    float sum = 0;
    unsigned begin = threadIdx.x;
#pragma unroll 1
    for (int t = 0; t < times; t++) {
#pragma unroll
        for (unsigned i = 0; i < L1_ELEMENTS; i += 256)
            sum += load_l1(from + (begin + i) % L1_ELEMENTS);
        begin += shift;
    }
    if (sum == 12345)
        *out = sum;
}

static double dram_copy(int sms)
{
    const size_t bytes = (size_t)1 << 30;
    float4 *from, *to;
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemset(from, 1, bytes));
    double rate = best(2.0 * bytes, [&] { copy<<<sms * 16, 512>>>(from, to, bytes / 16); });
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return rate;
}

static double l2_reads(int sms, size_t l2_bytes)
{
    const size_t all = (size_t)sms * 8 * 256;
    const int rounds = std::max(1, (int)(l2_bytes / 4 / (16 * all))), times = 256;
    float4 *from;
    CHECK(cudaMalloc(&from, 16 * rounds * all));
    CHECK(cudaMemset(from, 1, 16 * rounds * all));
    double read = 16.0 * times * rounds * all;
    double rate = best(read, [&] { read_l2<<<sms * 8, 256>>>(from, (float *)from, rounds, times); });
    CHECK(cudaFree(from));
    return rate;
}

static double l1_reads(int sms)
{
    const int blocks = sms * 8, times = 4096, line = 128 / 16;
    float4 *from;
    CHECK(cudaMalloc(&from, L1_ELEMENTS * 16));
    CHECK(cudaMemset(from, 1, L1_ELEMENTS * 16));
    double read = 16.0 * L1_ELEMENTS * times * blocks;
    double rate = best(read, [&] { read_l1<<<blocks, 256>>>(from, (float *)from, times, line); });
    CHECK(cudaFree(from));
    return rate;
}

static void say(const char *key, double rate)
{
    if (rate > 0)
        printf("%s = %.4g\n", key, rate);
}

int main()
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    int sms = p.multiProcessorCount;
    printf("[%s]\n", p.name);
    say("tensor_fp16", tensor_product());
    say("fp16", arithmetic<half2>(sms, 2, __float2half2_rn(0.5f), __float2half2_rn(0.25f)));
    say("fp32", arithmetic<float>(sms, 1, 0.5f, 0.25f));
    say("fp64", arithmetic<double>(sms, 1, 0.5, 0.25));
    say("l1", l1_reads(sms));
    say("l2", l2_reads(sms, (size_t)p.l2CacheSize));
    say("dram", dram_copy(sms));
    return 0;
}
