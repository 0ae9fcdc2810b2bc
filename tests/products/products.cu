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

// ---- in other styles ----------------------------------------------------------------------------------------------

/* One number of the thread is divided by the width, known at run time. */
KERNEL plain_by_one_index(const float *A, const float *B, float *C, int M, int N, int K)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= M * N)
        return;
    int row = idx / N;
    int col = idx % N;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[row * K + k] * B[k * N + col];
    C[idx] = acc;
}

KERNEL plain_by_one_unsigned_index(
    float *out, const float *lhs, const float *rhs, unsigned rows, unsigned cols, unsigned inner)
{
    const unsigned stride = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols; i += stride) {
        const unsigned r = i / cols, c = i - r * cols;
        float dot = 0;
        for (unsigned k = 0; k < inner; k++)
            dot = fmaf(lhs[r * inner + k], rhs[k * cols + c], dot);
        out[i] = dot;
    }
}

KERNEL plain_by_one_long_index(
    const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, size_t n)
{
    size_t tid = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n * n) {
        size_t i = tid / n, j = tid % n;
        float s = 0.f;
        for (size_t k = 0; k < n; k++)
            s += a[i * n + k] * b[k * n + j];
        c[tid] = s;
    }
}

KERNEL plain_by_one_signed_long_index(const float *a, const float *b, float *c, long long n)
{
    for (long long tid = (long long)blockIdx.x * blockDim.x + threadIdx.x; tid < n * n;
         tid += (long long)blockDim.x * gridDim.x) {
        long long i = tid / n, j = tid % n;
        float s = 0.f;
        for (long long k = 0; k < n; k++)
            s += a[i * n + k] * b[k * n + j];
        c[tid] = s;
    }
}

KERNEL plain_by_a_constant_width(const float *a, const float *b, float *c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = i / 1000, x = i % 1000;
    float s = 0;
    for (int k = 0; k < 1000; k++)
        s += a[y * 1000 + k] * b[k * 1000 + x];
    c[i] = s;
}

/* Matrix, row and column are divided out of one number. */
KERNEL plain_of_a_batch_by_one_index(const float *x, const float *w, float *y, int batch, int tokens, int in, int out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= batch * tokens * out)
        return;
    int b = t / (tokens * out), r = (t / out) % tokens, o = t % out;
    float v = 0;
    for (int k = 0; k < in; k++)
        v += x[(b * tokens + r) * in + k] * w[(b * in + k) * out + o];
    y[t] = v;
}

/* A fully connected layer with bias and activation. */
KERNEL plain_layer(
    const float *input, const float *weights, const float *bias, float *output, int n_in, int n_out, int n)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id < n * n_out) {
        int sample = id / n_out, neuron = id - sample * n_out;
        float z = bias[neuron];
        for (int k = 0; k < n_in; k++)
            z += input[sample * n_in + k] * weights[neuron * n_in + k];
        output[id] = z > 0 ? z : 0;
    }
}

/* PolyBench's: scaled in the loop, and summed in memory. */
KERNEL plain_scaled_and_summed_in_memory(int ni, int nj, int nk, float alpha, float beta, float *a, float *b, float *c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if ((i < ni) && (j < nj)) {
        c[i * nj + j] *= beta;
        for (int k = 0; k < nk; k++)
            c[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
    }
}

/* PolyBench's syr2k. */
KERNEL plain_of_rank_two(int ni, int nj, float alpha, float beta, const float *__restrict__ a,
    const float *__restrict__ b, float *__restrict__ c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < ni && j < ni) {
        float s = c[i * ni + j] * beta;
        for (int k = 0; k < nj; k++)
            s += alpha * a[i * nj + k] * b[j * nj + k] + alpha * b[i * nj + k] * a[j * nj + k];
        c[i * ni + j] = s;
    }
}

/* A symmetric update: the lower half alone. */
KERNEL plain_of_a_symmetric_update(const float *a, float *c, int n, int k, int lda)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || col > row)
        return;
    float s = 0;
    for (int l = 0; l < k; ++l)
        s += __ldg(&a[row + l * lda]) * __ldg(&a[col + l * lda]);
    c[row + col * n] += s;
}

KERNEL plain_through_the_cache(const float *__restrict__ a, const float *__restrict__ b, float *c, int m, int n, int k)
{
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= n || y >= m)
        return;
    float s = 0;
#pragma unroll 8
    for (int i = 0; i < k; ++i)
        s += __ldg(a + y * k + i) * __ldg(b + i * n + x);
    c[y * n + x] = s;
}

KERNEL plain_of_brain_floats(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float s = 0;
        for (int i = 0; i < k; i++)
            s += __bfloat162float(a[row * k + i]) * __bfloat162float(b[i * n + col]);
        c[row * n + col] = __float2bfloat16(s);
    }
}

KERNEL plain_in_halves(const half *a, const half *b, half *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    half s = __float2half(0.f);
    for (int i = 0; i < n; i++)
        s = __hfma(a[row * n + i], b[i * n + col], s);
    c[row * n + col] = s;
}

/* The matrices of a batch by their addresses in memory. */
KERNEL plain_of_a_batch_of_pointers(
    const float *const *as, const float *const *bs, float *const *cs, int m, int n, int k)
{
    const float *a = as[blockIdx.z], *b = bs[blockIdx.z];
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float s = 0;
    for (int i = 0; i < k; i++)
        s += a[row * k + i] * b[i * n + col];
    cs[blockIdx.z][row * n + col] = s;
}

struct matrix {
    int width, height, stride;
    float *elements;
};
KERNEL product_of_the_programming_guide(matrix A, matrix B, matrix C)
{
    int blockRow = blockIdx.y, blockCol = blockIdx.x;
    float *Csub = &C.elements[C.stride * 16 * blockRow + 16 * blockCol];
    float Cvalue = 0;
    int row = threadIdx.y, col = threadIdx.x;
    for (int m = 0; m < (A.width / 16); ++m) {
        const float *Asub = &A.elements[A.stride * 16 * blockRow + 16 * m],
                    *Bsub = &B.elements[B.stride * 16 * m + 16 * blockCol];
        __shared__ float As[16][16 + 1];
        __shared__ float Bs[16][16 + 1];
        As[row][col] = Asub[row * A.stride + col];
        Bs[row][col] = Bsub[row * B.stride + col];
        __syncthreads();
        for (int e = 0; e < 16; ++e)
            Cvalue += As[row][e] * Bs[e][col];
        __syncthreads();
    }
    Csub[row * C.stride + col] = Cvalue;
}

/* Each thread computes four columns of a padded tile. */
KERNEL product_with_coarse_threads(const float *M, const float *N, float *P, int width)
{
    __shared__ float Mds[32][33], Nds[32][33];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int row = by * 32 + ty, colStart = bx * 32 * 4 + tx;
    float Pvalue[4];
    for (int c = 0; c < 4; ++c)
        Pvalue[c] = 0.0f;
    for (int ph = 0; ph < width / 32; ++ph) {
        Mds[ty][tx] = M[row * width + ph * 32 + tx];
        for (int c = 0; c < 4; ++c) {
            int col = colStart + c * 32;
            Nds[ty][tx] = N[(ph * 32 + ty) * width + col];
            __syncthreads();
            for (int k = 0; k < 32; ++k)
                Pvalue[c] += Mds[ty][k] * Nds[k][tx];
            __syncthreads();
        }
    }
    for (int c = 0; c < 4; ++c)
        P[row * width + colStart + c * 32] = Pvalue[c];
}

/* A block of a row of threads, the tile as wide as the caller says. */
KERNEL product_of_tiles_by_one_index(const float *a, const float *b, float *c, int n, int tile)
{
    extern __shared__ float memory[];
    float *sa = memory, *sb = memory + tile * tile;
    int ty = threadIdx.x / tile, tx = threadIdx.x % tile;
    float s = 0;
    for (int t = 0; t < n; t += tile) {
        sa[threadIdx.x] = a[(blockIdx.y * tile + ty) * n + t + tx];
        sb[threadIdx.x] = b[(t + ty) * n + blockIdx.x * tile + tx];
        __syncthreads();
        for (int k = 0; k < tile; k++)
            s += sa[ty * tile + k] * sb[k * tile + tx];
        __syncthreads();
    }
    c[(blockIdx.y * tile + ty) * n + blockIdx.x * tile + tx] = s;
}

/* Tiles of warps, of 20 columns of threads; A is transposed on its way. */
KERNEL __launch_bounds__(160) product_in_tiles_of_warps(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float As[8 * 64], Bs[8 * 80];
    const int threadCol = threadIdx.x % 20, threadRow = threadIdx.x / 20;
    A += blockIdx.y * 64 * K, B += blockIdx.x * 80, C += blockIdx.y * 64 * N + blockIdx.x * 80;
    float threadResults[8 * 4] = {0.0}, regM[8], regN[4];
    for (int bk = 0; bk < K; bk += 8) {
        for (int i = threadIdx.x; i < 64 * 8; i += 160)
            As[(i % 8) * 64 + i / 8] = A[(i / 8) * K + i % 8];
        for (int i = threadIdx.x; i < 80 * 8; i += 160)
            Bs[i] = B[(i / 80) * N + i % 80];
        __syncthreads();
        A += 8, B += 8 * N;
        for (int dot = 0; dot < 8; ++dot) {
            for (int i = 0; i < 8; ++i)
                regM[i] = As[dot * 64 + threadRow * 8 + i];
            for (int i = 0; i < 4; ++i)
                regN[i] = Bs[dot * 80 + threadCol * 4 + i];
            for (int m = 0; m < 8; ++m)
                for (int n = 0; n < 4; ++n)
                    threadResults[m * 4 + n] += regM[m] * regN[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < 8; ++m)
        for (int n = 0; n < 4; ++n)
            C[(threadRow * 8 + m) * N + threadCol * 4 + n] = threadResults[m * 4 + n];
}

/* Complex numbers. */
KERNEL plain_of_complex_numbers(float2 *c, const float2 *a, const float2 *b, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float re = 0, im = 0;
    for (int k = 0; k < n; k++) {
        float2 p = a[row * n + k], q = b[k * n + col];
        re += p.x * q.x - p.y * q.y;
        im += p.x * q.y + p.y * q.x;
    }
    c[row * n + col] = make_float2(re, im);
}

/* A convolution of many channels, all of its numbers divided out of one. */
KERNEL plain_convolution_by_one_index(
    const float *in, const float *filter, float *out, int N, int C, int H, int W, int OC, int KS, int OH, int OW)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * OC * OH * OW)
        return;
    int ow = idx % OW, oh = (idx / OW) % OH, oc = (idx / (OW * OH)) % OC, n = idx / (OW * OH * OC);
    float s = 0;
    for (int c = 0; c < C; c++)
        for (int i = 0; i < KS; i++)
            for (int j = 0; j < KS; j++)
                s += in[((n * C + c) * H + oh + i) * W + ow + j] * filter[((oc * C + c) * KS + i) * KS + j];
    out[idx] = s;
}

/* The same where each channel has a filter of its own: none. */
KERNEL none_depthwise_by_one_index(
    const float *in, const float *filter, float *out, int N, int C, int H, int W, int KS, int OH, int OW)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= N * C * OH * OW)
        return;
    int ow = idx % OW, oh = (idx / OW) % OH, c = (idx / (OW * OH)) % C, n = idx / (OW * OH * C);
    float s = 0;
    for (int i = 0; i < KS; i++)
        for (int j = 0; j < KS; j++)
            s += in[((n * C + c) * H + oh + i) * W + ow + j] * filter[(c * KS + i) * KS + j];
    out[idx] = s;
}

KERNEL none_warps_of_rows_and_a_vector(const float *A, const float *x, float *y, int rows, int cols)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= rows)
        return;
    float s = 0;
    for (int c = lane; c < cols; c += 32)
        s += A[warp * cols + c] * x[c];
    for (int o = 16; o; o >>= 1)
        s += __shfl_down_sync(~0u, s, o);
    if (lane == 0)
        y[warp] = s;
}

/* As many threads for a row as the caller says. */
KERNEL none_some_threads_for_each_row(const float *A, const float *x, float *y, int rows, int cols, int threads)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int row = id / threads, part = id % threads;
    if (row >= rows)
        return;
    float s = 0;
    for (int c = part; c < cols; c += threads)
        s += A[(size_t)row * cols + c] * x[c];
    atomicAdd(&y[row], s);
}

KERNEL none_blocks_of_rows_and_a_vector(const float4 *A, const float4 *x, float *y, int n4)
{
    __shared__ float sums[8];
    float s = 0;
    const float4 *row = A + (size_t)blockIdx.x * n4;
    for (int i = threadIdx.x; i < n4; i += blockDim.x) {
        float4 p = row[i], q = x[i];
        s += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

/* A vector for each matrix of a batch, by one number. */
KERNEL none_matrices_and_vectors_by_one_index(const float *A, const float *x, float *y, int batch, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= batch * n)
        return;
    int b = id / n;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += A[(size_t)id * n + k] * x[b * n + k];
    y[id] = s;
}

KERNEL none_a_complex_dot_product(float2 *out, const float2 *a, const float2 *b, int n)
{
    float re = 0, im = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float2 p = a[i], q = b[i];
        re += p.x * q.x + p.y * q.y;
        im += p.x * q.y - p.y * q.x;
    }
    atomicAdd(&out->x, re);
    atomicAdd(&out->y, im);
}

__constant__ float mask[7 * 7];
KERNEL none_a_filter_in_constant_memory(float *out, const float *in, int w, int h)
{
    __shared__ float tile[22][23];
    int tx = threadIdx.x, ty = threadIdx.y, ox = blockIdx.x * 16 + tx, oy = blockIdx.y * 16 + ty;
    for (int y = ty; y < 22; y += 16)
        for (int x = tx; x < 22; x += 16)
            tile[y][x] = in[(blockIdx.y * 16 + y) * w + blockIdx.x * 16 + x];
    __syncthreads();
    float s = 0;
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++)
            s += mask[i * 7 + j] * tile[ty + i][tx + j];
    out[oy * w + ox] = s;
}

/* A vertical and a horizontal filter, the width known at run time. */
KERNEL none_a_filter_by_one_index(float *out, const float *in, const float *kernel, int w, int h, int radius)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w * h)
        return;
    int x = i % w, y = i / w;
    float s = 0;
    for (int d = -radius; d <= radius; d++) {
        int yy = min(max(y + d, 0), h - 1);
        s += in[yy * w + x] * kernel[d + radius];
    }
    out[i] = s;
}

KERNEL none_a_softmax(float *out, const float *in, int n)
{
    __shared__ float shared[256];
    const float *row = in + (size_t)blockIdx.x * n;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        float v = row[i], w = fmaxf(m, v);
        s = s * __expf(m - w) + __expf(v - w);
        m = w;
    }
    shared[threadIdx.x] = s;
    __syncthreads();
    for (int o = 128; o; o /= 2) {
        if (threadIdx.x < o)
            shared[threadIdx.x] += shared[threadIdx.x + o];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += 256)
        out[(size_t)blockIdx.x * n + i] = __expf(row[i] - m) / shared[0];
}

KERNEL none_a_layer_norm(float *out, const float *in, const float *gamma, const float *beta, int n)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float v = in[row * n + i];
        s += v, q += v * v;
    }
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(~0u, s, o), q += __shfl_xor_sync(~0u, q, o);
    float mean = s / n, r = rsqrtf(q / n - mean * mean + 1e-5f);
    for (int i = threadIdx.x; i < n; i += 32)
        out[row * n + i] = (in[row * n + i] - mean) * r * gamma[i] + beta[i];
}

/* A linear recurrence for each row and channel. */
KERNEL none_a_recurrence(float *out, const float *in, const float *decay, int length, int channels)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int b = id / channels, c = id % channels;
    float h = 0;
    for (int t = 0; t < length; t++) {
        h = h * decay[t * channels + c] + in[(b * length + t) * channels + c];
        out[(b * length + t) * channels + c] = h;
    }
}

KERNEL none_a_prefix_sum(float *out, const float *in, const float *weights, int n)
{
    __shared__ float t[1024 + 32];
    int i = threadIdx.x, at = i + i / 32;
    t[at] = in[blockIdx.x * 1024 + i] * weights[i];
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        float v = i >= d ? t[i - d + (i - d) / 32] : 0;
        __syncthreads();
        t[at] += v;
        __syncthreads();
    }
    out[blockIdx.x * 1024 + i] = t[at];
}

/* Gradients of a bilinear sampling: weights by row and by column. */
KERNEL none_an_interpolation(float *out, const float *in, const float *wx, const float *wy, int w, int h, int taps)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int i = 0; i < taps; i++)
        s += wy[y * taps + i] * in[(y + i) * w + x];
    out[y * w + x] = s;
}

KERNEL none_padded_dot_products(float *out, const float *a, const float *b, int n, int pitch)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / n, col = i - row * n;
    float s = 0;
    for (int k = 0; k < 16; k++)
        s += a[row * pitch + col + k * n * pitch] * b[i + k * n * n];
    out[i] = s;
}

KERNEL plain_of_blocks_in_a_row(const float *a, const float *b, float *c, int M, int N, int K)
{
    int nb = (N + 15) / 16, pid = blockIdx.x;
    int bm = pid / nb, bn = pid % nb;
    int r = bm * 16 + threadIdx.x / 16, q = bn * 16 + threadIdx.x % 16;
    if (r >= M || q >= N)
        return;
    float s = 0;
    for (int k = 0; k < K; k++)
        s += a[r * K + k] * b[k * N + q];
    c[r * N + q] = s;
}

KERNEL plain_by_columns(
    const float *A, const float *B, float *C, long long M, long long N, long long K, float alpha, float beta)
{
    long long id = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (id >= M * N)
        return;
    long long col = id / M, row = id - col * M;
    float s = 0;
    for (long long k = 0; k < K; ++k)
        s += A[row + k * M] * B[k + col * K];
    C[id] = alpha * s + beta * C[id];
}

KERNEL plain_of_bytes(const signed char *a, const signed char *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += (float)a[row * n + k] * (float)b[k * n + col];
    c[row * n + col] = s;
}

KERNEL plain_of_queries_and_keys(const float *q, const float *k, float *s, int T, int d, float scale)
{
    int h = blockIdx.z, i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= T || j > i)
        return;
    float v = 0;
    for (int e = 0; e < d; e++)
        v += q[(h * T + i) * d + e] * scale * k[(h * T + j) * d + e];
    s[(h * T + i) * T + j] = v;
}

KERNEL product_of_tiles_of_vectors(const float4 *A, const float4 *B, float4 *C, int n4)
{
    __shared__ float4 As[32][8], Bs[32][8];
    int tx = threadIdx.x & 7, ty = threadIdx.x >> 3;
    float4 acc = {0, 0, 0, 0};
    for (int t = 0; t < n4; t += 8) {
        As[ty][tx] = A[(blockIdx.y * 32 + ty) * n4 + t + tx];
        Bs[ty][tx] = B[(t * 4 + ty) * n4 + blockIdx.x * 8 + tx];
        __syncthreads();
        for (int k = 0; k < 32; k++) {
            float a = ((float *)As[ty])[k];
            float4 b = Bs[k][tx];
            acc.x += a * b.x;
            acc.y += a * b.y;
            acc.z += a * b.z;
            acc.w += a * b.w;
        }
        __syncthreads();
    }
    C[(blockIdx.y * 32 + ty) * n4 + blockIdx.x * 8 + tx] = acc;
}

KERNEL plain_by_an_upper_half(const float *a, const float *b, float *c, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned row = __umulhi(i, 0xAAAAAAABu) >> 9, col = i - row * 768;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += a[row * n + k] * b[k * 768 + col];
    c[i] = s;
}

KERNEL none_a_sparse_matrix_by_one_index(
    const int *rp, const int *ci, const float *v, const float *x, float *y, int n, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = i / n, c = i % n;
    if (r >= rows)
        return;
    float s = 0;
    for (int k = rp[r]; k < rp[r + 1]; k++)
        s += v[k] * x[ci[k] * n + c];
    y[i] = s;
}

KERNEL none_the_ends_of_edges(const int *src, const int *dst, const float *h, float *e, int d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int a = src[i], b = dst[i];
    float s = 0;
    for (int k = 0; k < d; k++)
        s += h[a * d + k] * h[b * d + k];
    e[i] = s;
}

KERNEL none_rows_by_themselves(const float *a, const float *b, float *o, int rows, int heads, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = i / heads, h = i % heads;
    float s = 0;
    for (int k = 0; k < d; k++)
        s += a[(r * heads + h) * d + k] * b[(r * heads + h) * d + k];
    o[i] = s;
}

KERNEL none_factors_of_each_channel(const float *x, const float *f, float *o, int heads, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = i / (heads * d), r = i % (heads * d), c = r % d;
    float s = 0;
    for (int k = 0; k < 4; k++)
        s += x[(t * 4 + k) * heads * d + r] * f[(t * 4 + k) * d + c];
    o[i] = s;
}

KERNEL none_factors_of_groups(const float *x, const float *g, float *o, int groups, int per, int taps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int grp = (i / per) % groups;
    float s = 0;
    for (int k = 0; k < taps; k++)
        s += x[i * taps + k] * g[grp * taps + k];
    o[i] = s;
}

KERNEL none_eight_lanes_for_each_row(const float *A, const float *x, float *y, int cols)
{
    int lane = threadIdx.x & 31, sub = lane & 7, row = (blockIdx.x * blockDim.x + threadIdx.x) >> 3;
    float s = 0;
    for (int c = sub; c < cols; c += 8)
        s += A[(size_t)row * cols + c] * x[c];
    for (int o = 4; o; o >>= 1)
        s += __shfl_xor_sync(~0u, s, o);
    if (!sub)
        y[row] = s;
}

KERNEL none_a_causal_filter(const float *x, const float *w, float *o, int C, int T, int K)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long t = i % T, c = (i / T) % C, b = i / ((long long)T * C);
    float s = 0;
    for (int k = 0; k < K; k++)
        if (t - k >= 0)
            s += x[(b * C + c) * T + t - k] * w[c * K + k];
    o[i] = s;
}

KERNEL none_a_batch_of_vectors(const float *A, const float *x, float *y, int n)
{
    const float *a = A + (size_t)blockIdx.y * n * n, *v = x + blockIdx.y * n;
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++)
        s += a[k * n + r] * v[k];
    y[blockIdx.y * n + r] = s;
}

KERNEL none_three_diagonals(const float *l, const float *d, const float *u, const float *x, float *y, int n, int planes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int p = 0; p < planes; p++)
        s += l[p * n + i] * x[p * n + i - 1] + d[p * n + i] * x[p * n + i] + u[p * n + i] * x[p * n + i + 1];
    y[i] = s;
}

KERNEL none_a_complex_matrix_and_a_vector(const float2 *A, const float2 *x, float2 *y, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float re = 0, im = 0;
    for (int k = 0; k < n; k++) {
        float2 a = A[k * n + r], b = x[k];
        re += a.x * b.x - a.y * b.y;
        im += a.x * b.y + a.y * b.x;
    }
    y[r] = make_float2(re, im);
}

KERNEL none_small_complex_matrices(const float2 *U, const float2 *v, float2 *o, int n, int directions)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 r[3] = {};
    for (int mu = 0; mu < directions; mu++) {
        float2 w[3];
        for (int c = 0; c < 3; c++)
            w[c] = v[(mu * 3 + c) * n + i];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                float2 u = U[((mu * 3 + a) * 3 + b) * n + i];
                r[a].x += u.x * w[b].x - u.y * w[b].y;
                r[a].y += u.x * w[b].y + u.y * w[b].x;
            }
    }
    for (int a = 0; a < 3; a++)
        o[a * n + i] = r[a];
}

KERNEL none_a_resized_row(const float *in, const float *w, const int *start, float *o, int W, int OW, int taps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int y = i / OW, x = i % OW;
    int b = start[x];
    float s = 0;
    for (int k = 0; k < taps; k++)
        s += in[y * W + b + k] * w[x * taps + k];
    o[i] = s;
}

/* As many functions as calls. */
template <int N> __device__ __noinline__ float in_a_row(float x, int n)
{
    for (int i = 0; i < n; i++)
        x = x * (N + 1.5f) + __sinf(x + N);
    return x;
}

template <int N> __device__ __forceinline__ float one_after_the_other(float x, int n)
{
    if constexpr (N < 0)
        return x;
    else
        return in_a_row<N>(one_after_the_other<N - 1>(x, n), n);
}

KERNEL none_many_calls_in_a_row(float *o, const float *in, int n)
{
    o[X] = one_after_the_other<29>(in[X], n);
}
