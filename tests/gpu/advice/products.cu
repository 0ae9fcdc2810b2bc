// Products of matrices in FP32, and the same on the tensor cores; and kernels full of multiply-adds that are none. kernels.cu
// has the others. A line that carries a defect ends in "// defect: NAME".
#include "common.h"

#include <mma.h>

// The same product by the tensor cores, with TF32: each warp computes 32 by 32 numbers.
__global__ void by_tensor_cores(float *c, const float *a, const float *b, int n)
{
    using namespace nvcuda::wmma;
    int warp = threadIdx.x / 32, row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    fragment<accumulator, 16, 16, 8, float> sum[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += 8) {
        fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> x[2];
        fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> y[2];
        for (int i = 0; i < 2; i++) {
            load_matrix_sync(x[i], a + (size_t)(row + 16 * i) * n + k, n);
            load_matrix_sync(y[i], b + (size_t)k * n + column + 16 * i, n);
        }
        for (int i = 0; i < 4; i++)
            mma_sync(sum[i / 2][i % 2], x[i / 2], y[i % 2], sum[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++)
        store_matrix_sync(c + (size_t)(row + 16 * (i / 2)) * n + column + 16 * (i % 2), sum[i / 2][i % 2], n,
                          mem_row_major);
}

typedef void product(float *c, const float *a, const float *b, int n);
static void multiply(bool before, product *kernel, dim3 tile, dim3 block)
{
    const int n = 4096;
    float *c = allocate<float>((size_t)n * n), *a = allocate<float>((size_t)n * n), *b = allocate<float>((size_t)n * n);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            kernel<<<dim3(n / tile.x, n / tile.y), block>>>(c, a, b, n);
        else
            by_tensor_cores<<<dim3(n / 64, n / 64), 128>>>(c, a, b, n);
}

// ---- 1 tiles: of shared memory, one sum for each thread -----------------------------------------------------
__global__ void tiles_kernel(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[32][32], bs[32][32];
    const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    float sum = 0;
    for (int t = 0; t < n; t += 32) {
        as[ty][tx] = a[(size_t)y * n + t + tx];
        bs[ty][tx] = b[(size_t)(t + ty) * n + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k++)
            sum += as[ty][k] * bs[k][tx]; // defect: tiles
        __syncthreads();
    }
    c[(size_t)y * n + x] = sum;
}
static void tiles(bool before)
{
    multiply(before, tiles_kernel, dim3(32, 32), dim3(32, 32));
}

// ---- 2 registers_tiles: 8 by 8 sums for each thread -----------------------------------------------------------
__global__ void __launch_bounds__(256) register_tiles_kernel(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[8][132];
    __shared__ float4 bs[8][32];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = threadIdx.x / 2, part = threadIdx.x % 2 * 4;
    a += (size_t)(blockIdx.y * 128 + row) * n + part;
    b += (size_t)(threadIdx.x / 32) * n + blockIdx.x * 128 + threadIdx.x % 32 * 4;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < n; k0 += 8, a += 8, b += 8 * (size_t)n) {
        const float4 of_row = *(const float4 *)a;
        as[part][row] = of_row.x, as[part + 1][row] = of_row.y;
        as[part + 2][row] = of_row.z, as[part + 3][row] = of_row.w;
        bs[threadIdx.x / 32][threadIdx.x % 32] = *(const float4 *)b;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float x[8];
#pragma unroll
            for (int i = 0; i < 8; i++)
                x[i] = as[k][ty * 8 + i];
            const float4 p = bs[k][tx], q = bs[k][tx + 16];
            const float y[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += x[i] * y[j]; // defect: register_tiles
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            c[(size_t)(blockIdx.y * 128 + ty * 8 + i) * n + blockIdx.x * 128 + tx * 4 + j % 4 + j / 4 * 64] = sum[i][j];
}
static void register_tiles(bool before)
{
    multiply(before, register_tiles_kernel, dim3(128, 128), dim3(256));
}

// ---- 3 plain: straight from global memory; other rules say so first ---------------------------------------
__global__ void plain_kernel(float *c, const float *a, const float *b, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)y * n + k] * b[(size_t)k * n + x];
    c[(size_t)y * n + x] = sum;
}
static void plain(bool before)
{
    multiply(before, plain_kernel, dim3(32, 8), dim3(32, 8));
}

// ---- 4 one_index: row and column are divided out of one number -----------------------------------------------
__global__ void one_index_kernel(float *c, const float *a, const float *b, int n)
{
    const unsigned i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x, y = i / n, x = i % n;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[(size_t)y * n + k] * b[(size_t)k * n + x];
    c[i] = sum;
}
static void one_index(bool before)
{
    multiply(before, one_index_kernel, dim3(32, 8), dim3(256));
}

// ---- controls: multiply-adds of no matrices -----------------------------------------------------------------
__global__ void polynomial_kernel(float *out, const float *in, const float *factors, int n)
{
    const float x = in[blockIdx.x * blockDim.x + threadIdx.x];
    float sum[4] = {};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 4; i++)
            sum[i] = sum[i] * (x + i) + factors[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
}
static void polynomial(bool)
{
    float *out = allocate<float>((size_t)sms * 64 * 256), *in = allocate<float>((size_t)sms * 64 * 256),
          *factors = allocate<float>(1000);
    for (int i = 0; i < LAUNCHES; i++)
        polynomial_kernel<<<sms * 64, 256>>>(out, in, factors, 1000);
}

__global__ void bodies_kernel(float4 *out, const float4 *bodies, int n)
{
    __shared__ float4 tile[256];
    const float4 me = bodies[blockIdx.x * 256 + threadIdx.x];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j += 256) {
        tile[threadIdx.x] = bodies[j + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 256; k++) {
            const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), f = tile[k].w * r * r * r;
            ax += dx * f, ay += dy * f, az += dz * f;
        }
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = make_float4(ax, ay, az, 0);
}
static void bodies(bool)
{
    const int n = sms * 256;
    float4 *all = allocate<float4>(n), *out = allocate<float4>(n);
    for (int i = 0; i < LAUNCHES; i++)
        bodies_kernel<<<sms, 256>>>(out, all, n);
}

/* Four neighbours for each thread, so that each factor is used four times. */
__global__ void filter_kernel(float *out, const float *in, const float *filter, int size)
{
    const int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float sum[4] = {}, a = in[x], b = in[x + 1], c = in[x + 2];
#pragma unroll 8
    for (int k = 0; k < size; k++) {
        const float d = in[x + k + 3], f = filter[k];
        sum[0] += f * a, sum[1] += f * b, sum[2] += f * c, sum[3] += f * d;
        a = b, b = c, c = d;
    }
    for (int i = 0; i < 4; i++)
        out[x + i] = sum[i];
}
static void filter(bool)
{
    const int n = sms * 64 * 1024;
    float *in = allocate<float>(n + 1024), *out = allocate<float>(n), *factors = allocate<float>(1000);
    for (int i = 0; i < LAUNCHES; i++)
        filter_kernel<<<n / 1024, 256>>>(out, in, factors, 1000);
}

// ---- all of them ----------------------------------------------------------------------------------------------
static const Case cases[] = {
    {"tiles", "tensor_cores", true, tiles},
    {"register_tiles", "tensor_cores", true, register_tiles},
    {"plain", "matrix_product", true, plain},
    {"one_index", "matrix_product", true, one_index},
    {"polynomial", "tensor_cores,matrix_product", false, polynomial},
    {"bodies", "tensor_cores,matrix_product", false, bodies},
    {"filter", "tensor_cores,matrix_product", false, filter},
};

int main(int argc, char **argv)
{
    return run_cases(cases, argc, argv);
}
