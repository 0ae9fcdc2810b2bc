/* precision [rounds]: known numbers of operations in FP64, FP32, FP16 and packed FP16.
 *
 * Shows how operations are counted. With T = 65536 threads and R rounds (64), each thread of each
 * kernel does R fused multiply-adds, R additions and R multiplications, and nothing else:
 *
 *                       countDouble      countSingle      countHalf        countHalf2
 *   counted in          flop_count_dp    flop_count_sp    flop_count_hp    flop_count_hp
 *   as _fma             T R              T R              T R              T R or 2 T R
 *   as _add, _mul       T R each         T R each         T R each         T R or 2 T R each
 *   flop_count_?p       4 T R            4 T R            4 T R            4 T R or 8 T R
 *
 * An FMA is two operations. Whether an instruction on two packed halves counts once or twice is
 * the counter's affair; comparing countHalf2 with countHalf shows it. */
#include "check.h"
#include <cuda_fp16.h>

#define BLOCK 256
#define THREADS 65536

/* The factors come as arguments, so that nothing is computed by the compiler; the values stay
 * small integers, exact even in half precision. The _rn forms are never fused. */
__global__ void countDouble(double *fma_, double *add, double *mul, double one, double minus,
                            int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double f = fma_[i], a = add[i], m = mul[i];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        f = __fma_rn(f, one, one);
        a = __dadd_rn(a, one);
        m = __dmul_rn(m, minus);
    }
    fma_[i] = f;
    add[i] = a;
    mul[i] = m;
}

__global__ void countSingle(float *fma_, float *add, float *mul, float one, float minus, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float f = fma_[i], a = add[i], m = mul[i];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        f = __fmaf_rn(f, one, one);
        a = __fadd_rn(a, one);
        m = __fmul_rn(m, minus);
    }
    fma_[i] = f;
    add[i] = a;
    mul[i] = m;
}

__global__ void countHalf(__half *fma_, __half *add, __half *mul, __half one, __half minus,
                          int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half f = fma_[i], a = add[i], m = mul[i];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        f = __hfma(f, one, one);
        a = __hadd_rn(a, one);
        m = __hmul_rn(m, minus);
    }
    fma_[i] = f;
    add[i] = a;
    mul[i] = m;
}

__global__ void countHalf2(__half2 *fma_, __half2 *add, __half2 *mul, __half2 one, __half2 minus,
                           int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 f = fma_[i], a = add[i], m = mul[i];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        f = __hfma2(f, one, one);
        a = __hadd2_rn(a, one);
        m = __hmul2_rn(m, minus);
    }
    fma_[i] = f;
    add[i] = a;
    mul[i] = m;
}

/* The three vectors of T, `width` numbers of type N in each: set up, run, checked, summed. */
template <typename T, typename N>
static void run(const char *name, void (*kernel)(T *, T *, T *, T, T, int), T one, T minus,
                int rounds)
{
    const int width = sizeof(T) / sizeof(N), n = THREADS * width;
    size_t bytes = n * sizeof(N);
    N *host = (N *)malloc(3 * bytes), *device;
    REQUIRE(host, "out of memory: %zu bytes", 3 * bytes);
    CHECK(cudaMalloc(&device, 3 * bytes));
    for (int i = 0; i < repeats(); i++) {
        for (int k = 0; k < 3 * n; k++)
            host[k] = N((float)(k % 8));
        CHECK(cudaMemcpy(device, host, 3 * bytes, cudaMemcpyHostToDevice));
        kernel<<<THREADS / BLOCK, BLOCK>>>((T *)device, (T *)(device + n), (T *)(device + 2 * n),
                                           one, minus, rounds);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(host, device, 3 * bytes, cudaMemcpyDeviceToHost));

    double sum = 0;
    for (int k = 0; k < 3 * n; k++) {
        double start = k % 8, got = (double)(float)host[k];
        double expected = k < 2 * n ? start + rounds : rounds % 2 ? -start : start;
        REQUIRE(got == expected, "%s: number %d is %g, not %g", name, k, got, expected);
        sum += got;
    }
    printf("precision %s rounds %d: ok sum=%.0f\n", name, rounds, sum);
    CHECK(cudaFree(device));
    free(host);
}

int main(int argc, char **argv)
{
    int rounds = (int)argument(argc, argv, 1, 64, 1, 2000);
    __half one = __float2half(1.0f), minus = __float2half(-1.0f);
    run<double, double>("double", countDouble, 1.0, -1.0, rounds);
    run<float, float>("single", countSingle, 1.0f, -1.0f, rounds);
    run<__half, __half>("half", countHalf, one, minus, rounds);
    run<__half2, __half>("half2", countHalf2, __half2half2(one), __half2half2(minus), rounds);
    return 0;
}
