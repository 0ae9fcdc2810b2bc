/* Kernels for tests of code/products: products of matrices in tiles (product_...), others whose factors come from global
 * memory for one multiply-add alone (plain_...), and kernels full of multiply-adds that are none (none_...). */
#include <cstddef>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)

// ---- tiles in shared memory -------------------------------------------------------------------------------------

#define TILE 16
KERNEL product_of_tiles(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        as[ty][tx] = y < n && t + tx < n ? a[y * n + t + tx] : 0;
        bs[ty][tx] = x < n && t + ty < n ? b[(t + ty) * n + x] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

KERNEL product_of_tiles_of_any_size(float *c, const float *a, const float *b, int n)
{
    extern __shared__ float shared[];
    const int tile = blockDim.x;
    float *as = shared, *bs = shared + tile * tile, sum = 0;
    const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * tile + tx, y = blockIdx.y * tile + ty;
    for (int t = 0; t < n / tile; t++) {
        as[ty * tile + tx] = a[y * n + t * tile + tx];
        bs[ty * tile + tx] = b[(t * tile + ty) * n + x];
        __syncthreads();
        for (int k = 0; k < tile; k++)
            sum += as[ty * tile + k] * bs[k * tile + tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

/* Rows and columns are parts of one number of the thread. */
KERNEL product_in_a_row_of_threads(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[32 * 32], bs[32 * 32];
    const unsigned row = threadIdx.x / 32, column = threadIdx.x % 32;
    a += blockIdx.x * 32 * n;
    b += blockIdx.y * 32;
    float sum = 0;
    for (int t = 0; t < n; t += 32, a += 32, b += 32 * n) {
        as[row * 32 + column] = a[row * n + column];
        bs[row * 32 + column] = b[row * n + column];
        __syncthreads();
        for (int k = 0; k < 32; k++)
            sum += as[row * 32 + k] * bs[k * 32 + column];
        __syncthreads();
    }
    c[(blockIdx.x * 32 + row) * n + blockIdx.y * 32 + column] = sum;
}

/* Each thread computes 8 by 8 numbers. */
KERNEL __launch_bounds__(256) product_in_registers(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[8][128], bs[8][128];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < n; k0 += 8) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            as[i % 8][i / 8] = a[(size_t)(blockIdx.y * 128 + i / 8) * n + k0 + i % 8];
            bs[i / 128][i % 128] = b[(size_t)(k0 + i / 128) * n + blockIdx.x * 128 + i % 128];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++)
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += as[k][ty * 8 + i] * bs[k][tx * 8 + j];
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            c[(size_t)(blockIdx.y * 128 + ty * 8 + i) * n + blockIdx.x * 128 + tx * 8 + j] = sum[i][j];
}

/* The next numbers are loaded while these are used. */
KERNEL __launch_bounds__(256) product_with_two_buffers(float *c, const float4 *a, const float4 *b, int n)
{
    __shared__ float4 as[2][8][16], bs[2][8][16];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float4 x[2], y[2];
    float sum[4][4] = {};
    int now = 0;
    if (t < 128) {
        as[0][t / 16][tx] = a[(t / 16) * n + blockIdx.y * 16 + tx];
        bs[0][t / 16][tx] = b[(t / 16) * n + blockIdx.x * 16 + tx];
    }
    __syncthreads();
    x[0] = as[0][0][ty], y[0] = bs[0][0][tx];
    for (int k0 = 8; k0 <= n; k0 += 8) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (k < 7)
                x[(k + 1) % 2] = as[now][k + 1][ty], y[(k + 1) % 2] = bs[now][k + 1][tx];
            const float p[4] = {x[k % 2].x, x[k % 2].y, x[k % 2].z, x[k % 2].w};
            const float q[4] = {y[k % 2].x, y[k % 2].y, y[k % 2].z, y[k % 2].w};
#pragma unroll
            for (int i = 0; i < 16; i++)
                sum[i / 4][i % 4] += p[i / 4] * q[i % 4];
        }
        if (k0 < n) {
            now ^= 1;
            if (t < 128) {
                as[now][t / 16][tx] = a[(k0 + t / 16) * n + blockIdx.y * 16 + tx];
                bs[now][t / 16][tx] = b[(k0 + t / 16) * n + blockIdx.x * 16 + tx];
            }
            __syncthreads();
            x[0] = as[now][0][ty], y[0] = bs[now][0][tx];
        }
    }
    for (int i = 0; i < 16; i++)
        c[(blockIdx.y * 64 + ty * 4 + i / 4) * n * 4 + blockIdx.x * 64 + tx * 4 + i % 4] = sum[i / 4][i % 4];
}

// ---- from global memory -----------------------------------------------------------------------------------------

KERNEL plain_product(float *c, const float *a, const float *b, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[Y * n + k] * b[k * n + X];
    c[Y * n + X] = sum;
}

KERNEL plain_product_within_bounds(int m, int n, int depth, float alpha, const float *a, const float *b, float beta, float *c)
{
    if (X >= (unsigned)m || Y >= (unsigned)n)
        return;
    float sum = 0;
    for (int k = 0; k < depth; k++)
        sum += a[X * depth + k] * b[k * n + Y];
    c[X * n + Y] = alpha * sum + beta * c[X * n + Y];
}

/* Both by rows. */
KERNEL plain_product_transposed(float *c, const float *a, const float *b, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[Y * n + k] * b[X * n + k];
    c[Y * n + X] = sum;
}

KERNEL plain_product_of_a_batch(float *c, const float *a, const float *b, int n)
{
    const size_t of = (size_t)blockIdx.z * n * n;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[of + k * n + Y] * b[of + k * n + X];
    c[of + Y * n + X] = sum;
}

KERNEL plain_product_with_strides(float *c, const float *a, const float *b, int n)
{
    for (int y = Y; y < n; y += gridDim.y * blockDim.y)
        for (int x = X; x < n; x += gridDim.x * blockDim.x) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[y * n + k] * b[k * n + x];
            c[y * n + x] = sum;
        }
}

KERNEL plain_product_of_halves(float *c, const half *a, const half *b, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += __half2float(a[Y * n + k]) * __half2float(b[k * n + X]);
    c[Y * n + X] = sum;
}

KERNEL plain_product_of_vectors(float *c, const float4 *a, const float4 *b, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++) {
        const float4 p = a[Y * n + k], q = b[X * n + k];
        sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
    c[Y * n + X] = sum;
}

/* A convolution of many channels is one. */
KERNEL plain_product_of_channels(float *out, const float *in, const float *filter, int w, int h, int channels, int size)
{
    float sum = 0;
    for (int c = 0; c < channels; c++)
        for (int j = 0; j < size; j++)
            for (int i = 0; i < size; i++)
                sum += in[(c * h + Y + j) * w + X + i] * filter[((blockIdx.z * channels + c) * size + j) * size + i];
    out[(blockIdx.z * h + Y) * w + X] = sum;
}

// ---- none -------------------------------------------------------------------------------------------------------

KERNEL none_a_polynomial(float *out, const float *in, const float *factors, int n)
{
    const float x = in[X];
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum = sum * x + factors[k];
    out[X] = sum;
}

KERNEL none_a_sum_of_powers(float *out, const float *in, const float *factors, int n)
{
    const float x = in[X];
    float sum = 0, power = 1;
    for (int k = 0; k < n; k++, power *= x)
        sum += factors[k] * power;
    out[X] = sum;
}

KERNEL none_forces_of_bodies(float4 *out, const float4 *bodies, int n)
{
    __shared__ float4 tile[256];
    const float4 me = bodies[X];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j += 256) {
        tile[threadIdx.x] = bodies[j + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), f = tile[k].w * r * r * r;
            ax += dx * f, ay += dy * f, az += dz * f;
        }
        __syncthreads();
    }
    out[X] = make_float4(ax, ay, az, 0);
}

KERNEL none_an_orbit(int *out, int width, int rounds)
{
    const float cx = X * 0.001f, cy = blockIdx.y * 0.001f;
    float a = 0, b = 0;
    int k = 0;
    for (; k < rounds && a * a + b * b < 4; k++) {
        const float t = a * a - b * b + cx;
        b = 2 * a * b + cy;
        a = t;
    }
    out[blockIdx.y * width + X] = k;
}

KERNEL none_a_stencil(float *out, const float *in, const float *weights, int n)
{
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 9; k++)
        sum += weights[k] * in[Y * n + X + k];
    out[Y * n + X] = sum;
}

KERNEL none_a_stencil_along_z(float *out, const float *in, int n)
{
    const size_t at = (size_t)(Y + 1) * n + X + 1, plane = (size_t)n * n;
    float below = in[at], here = in[at + plane];
    for (int z = 1; z < n - 1; z++) {
        const float *p = in + z * plane + at;
        const float above = p[plane];
        out[z * plane + at] = 0.4f * here + 0.1f * (below + above + p[-1] + p[1] + p[-n] + p[n]);
        below = here, here = above;
    }
}

KERNEL none_a_filter(float *out, const float *in, const float *filter, int size, int w)
{
    float sum = 0;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            sum += filter[j * size + i] * in[(Y + j) * w + X + i];
    out[Y * w + X] = sum;
}

KERNEL none_a_filter_of_four(float *out, const float *in, const float *filter, int size)
{
    const int x = 4 * X;
    float sum[4] = {}, a = in[x], b = in[x + 1], c = in[x + 2];
    for (int k = 0; k < size; k++) {
        const float d = in[x + k + 3], f = filter[k];
        sum[0] += f * a, sum[1] += f * b, sum[2] += f * c, sum[3] += f * d;
        a = b, b = c, c = d;
    }
    for (int i = 0; i < 4; i++)
        out[x + i] = sum[i];
}

/* Each channel has a filter of its own. */
KERNEL none_channels_by_themselves(float *out, const float *in, const float *filter, int w, int h, int size)
{
    float sum = 0;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            sum += in[(blockIdx.z * h + Y + j) * w + X + i] * filter[(blockIdx.z * size + j) * size + i];
    out[(blockIdx.z * h + Y) * w + X] = sum;
}

KERNEL none_a_smaller_image(float *out, const float *in, const float *weights, int w, int size)
{
    float sum = 0;
    for (int k = 0; k < size; k++)
        sum += in[(2 * Y + k) * w + X] * weights[Y * size + k];
    out[Y * w + X] = sum;
}

KERNEL none_a_matrix_and_a_vector(float *out, const float *a, const float *x, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[k * n + X] * x[k];
    out[X] = sum;
}

KERNEL none_four_rows_and_a_vector(float *out, const float *a, const float *x, int n)
{
    float sum[4] = {};
    for (int k = 0; k < n; k++)
        for (int r = 0; r < 4; r++)
            sum[r] += a[(4 * X + r) * n + k] * x[k];
    for (int r = 0; r < 4; r++)
        out[4 * X + r] = sum[r];
}

KERNEL none_a_vector_in_shared_memory(float *out, const float *a, const float *x, int n)
{
    __shared__ float part[256];
    float sum = 0;
    for (int j = 0; j < n; j += 256) {
        part[threadIdx.x] = x[j + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; k++)
            sum += a[(j + k) * n + X] * part[k];
        __syncthreads();
    }
    out[X] = sum;
}

KERNEL none_a_dot_product(float *out, const float *a, const float *b, int n)
{
    float sum = 0;
    for (int i = X; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    atomicAdd(out, sum);
}

KERNEL none_of_each_column(float *out, const float *a, const float *b, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[k * n + X] * b[k * n + X];
    out[X] = sum;
}

KERNEL none_a_sparse_matrix(float *out, const int *begins, const int *columns, const float *values, const float *x)
{
    float sum = 0;
    for (int k = begins[X]; k < begins[X + 1]; k++)
        sum += values[k] * x[columns[k]];
    out[X] = sum;
}

/* The same number of columns in each row, and many vectors. */
KERNEL none_a_sparse_matrix_and_vectors(float *out, const int *columns, const float *values, const float *x, int size, int n)
{
    float sum = 0;
    for (int k = 0; k < size; k++)
        sum += values[Y * size + k] * x[columns[Y * size + k] * n + X];
    out[Y * n + X] = sum;
}

KERNEL none_distances(float *out, const float *points, const float *centres, int n, int dimensions, int count)
{
    float best = 1e30f;
    for (int j = 0; j < count; j++) {
        float sum = 0;
        for (int k = 0; k < dimensions; k++) {
            const float d = points[k * n + X] - centres[j * dimensions + k];
            sum += d * d;
        }
        best = fminf(best, sum);
    }
    out[X] = best;
}

KERNEL none_squares(float *out, const float *in, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += in[k * n + X] * in[k * n + X];
    out[X] = sum;
}

KERNEL none_element_by_element(float *y, const float *x, const float *w, int n)
{
    for (int i = X; i < n; i += gridDim.x * blockDim.x)
        y[i] += w[i] * x[i];
}

KERNEL none_a_row_and_a_column(float *c, const float *a, const float *b, int n)
{
    c[Y * n + X] += a[Y] * b[X];
}

KERNEL none_a_transform(float2 *data, const float2 *factors, int n)
{
    for (int s = 0; s < 8; s++) {
        const float2 a = data[X], b = data[X + (n >> s)], f = factors[X << s & n];
        const float x = a.x - b.x, y = a.y - b.y;
        data[X] = make_float2(a.x + b.x, a.y + b.y);
        data[X + (n >> s)] = make_float2(x * f.x - y * f.y, x * f.y + y * f.x);
    }
}
