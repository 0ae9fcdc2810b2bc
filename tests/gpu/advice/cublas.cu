// Products of matrices by cuBLAS: kernels near their roof, of which nothing is to be said, but that FP32 does without the
// tensor cores.
//   cublas fp32|tf32|bf16
#include <cstdio>
#include <cstring>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

int main(int argc, char **argv)
{
    const int n = 8192;
    const bool tf32 = argc > 1 && !std::strcmp(argv[1], "tf32"), fp32 = tf32 || (argc > 1 && !std::strcmp(argv[1], "fp32"));
    const float one = 1, zero = 0;
    void *a, *b, *c;
    cublasHandle_t handle;
    if (cudaMalloc(&a, (size_t)n * n * 4) || cudaMalloc(&b, (size_t)n * n * 4) || cudaMalloc(&c, (size_t)n * n * 4) ||
        cublasCreate(&handle) || (tf32 && cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH)))
        return 1;
    cudaMemset(a, 1, (size_t)n * n * 4);
    cudaMemset(b, 1, (size_t)n * n * 4);
    for (int i = 0; i < 3; i++) {
        cublasStatus_t status =
            fp32 ? cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, (float *)a, n, (float *)b, n, &zero,
                               (float *)c, n)
                 : cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_16BF, n, b, CUDA_R_16BF, n,
                                &zero, c, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
        if (status != CUBLAS_STATUS_SUCCESS)
            return 1;
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
