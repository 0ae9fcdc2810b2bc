// Kernels that follow each other on the same large arrays, and one kernel that does their work; and others that follow each
// other and could not be one. kernels.cu has the kernels of one defect. Times are those of all launches.
#include "common.h"

static const int N = 1 << 28; // an array of 1 GB: far beyond L2
#define INDEX ((size_t)blockIdx.x * blockDim.x + threadIdx.x)
#define ALL N / 256, 256

// ---- 1 steps: y = a x, y = y + b, y = relu(y) ----------------------------------------------------------------
__global__ void scale_kernel(float *y, const float *x, float a)
{
    y[INDEX] = a * x[INDEX];
}
__global__ void add_kernel(float *y, float b)
{
    y[INDEX] += b;
}
__global__ void relu_kernel(float *y)
{
    y[INDEX] = fmaxf(y[INDEX], 0);
}
__global__ void scale_add_relu_kernel(float *y, const float *x, float a, float b)
{
    y[INDEX] = fmaxf(a * x[INDEX] + b, 0);
}
static void steps(bool before)
{
    float *x = allocate<float>(N), *y = allocate<float>(N);
    for (int i = 0; i < LAUNCHES; i++)
        if (before) {
            scale_kernel<<<ALL>>>(y, x, 2);
            add_kernel<<<ALL>>>(y, 1);
            relu_kernel<<<ALL>>>(y);
        } else {
            scale_add_relu_kernel<<<ALL>>>(y, x, 2, 1);
        }
}

// ---- 2 between: an array between two kernels, grids with strides, and a wait after each ---------------------
__global__ void difference_kernel(float *between, const float *x, const float *y, size_t n)
{
    for (size_t i = INDEX; i < n; i += (size_t)gridDim.x * blockDim.x)
        between[i] = x[i] - y[i];
}
__global__ void square_kernel(float *out, const float *between, size_t n)
{
    for (size_t i = INDEX; i < n; i += (size_t)gridDim.x * blockDim.x)
        out[i] = between[i] * between[i];
}
__global__ void square_of_difference_kernel(float *out, const float *x, const float *y, size_t n)
{
    for (size_t i = INDEX; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const float d = x[i] - y[i];
        out[i] = d * d;
    }
}
static void between(bool before)
{
    float *x = allocate<float>(N), *y = allocate<float>(N), *middle = allocate<float>(N), *out = allocate<float>(N);
    for (int i = 0; i < LAUNCHES; i++)
        if (before) {
            difference_kernel<<<sms * 8, 256>>>(middle, x, y, N);
            CHECK(cudaDeviceSynchronize());
            square_kernel<<<sms * 8, 256>>>(out, middle, N);
            CHECK(cudaDeviceSynchronize());
        } else {
            square_of_difference_kernel<<<sms * 8, 256>>>(out, x, y, N);
        }
}

// ---- 3 sums: of the numbers that the kernel before has written -----------------------------------------------
__device__ void sum_up(float *out, float sum)
{
    __shared__ float part[8];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < 8; i++)
            atomicAdd(out, part[i]);
}
__global__ void exponents_kernel(float4 *out, const float4 *in, size_t n)
{
    for (size_t i = INDEX; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const float4 x = in[i];
        out[i] = make_float4(__expf(x.x), __expf(x.y), __expf(x.z), __expf(x.w));
    }
}
__global__ void sum_kernel(float *out, const float4 *in, size_t n)
{
    float sum = 0;
    for (size_t i = INDEX; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += in[i].x + in[i].y + in[i].z + in[i].w;
    sum_up(out, sum);
}
__global__ void sum_of_exponents_kernel(float *out, const float4 *in, size_t n)
{
    float sum = 0;
    for (size_t i = INDEX; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const float4 x = in[i];
        sum += __expf(x.x) + __expf(x.y) + __expf(x.z) + __expf(x.w);
    }
    sum_up(out, sum);
}
static void sums(bool before)
{
    float *x = allocate<float>(N), *middle = allocate<float>(N), *out = allocate<float>(1);
    for (int i = 0; i < LAUNCHES; i++)
        if (before) {
            exponents_kernel<<<sms * 8, 256>>>((float4 *)middle, (const float4 *)x, N / 4);
            sum_kernel<<<sms * 8, 256>>>(out, (const float4 *)middle, N / 4);
        } else {
            sum_of_exponents_kernel<<<sms * 8, 256>>>(out, (const float4 *)x, N / 4);
        }
}

// ---- controls ---------------------------------------------------------------------------------------------------
/* One kernel twice, on other arrays. */
static void other_arrays(bool)
{
    float *x = allocate<float>(N), *y = allocate<float>(N), *z = allocate<float>(N), *w = allocate<float>(N);
    for (int i = 0; i < LAUNCHES; i++) {
        scale_kernel<<<ALL>>>(y, x, 2);
        scale_kernel<<<ALL>>>(w, z, 2);
    }
}

/* The same work again and again, as a benchmark does it. */
static void repeated(bool)
{
    float *x = allocate<float>(N), *y = allocate<float>(N);
    for (int i = 0; i < 2 * LAUNCHES; i++)
        scale_kernel<<<ALL>>>(y, x, 2);
}

/* L2 keeps the array. */
static void in_cache(bool)
{
    const int n = 1 << 20;
    float *x = allocate<float>(n), *y = allocate<float>(n);
    for (int i = 0; i < 50; i++) {
        scale_kernel<<<n / 256, 256>>>(y, x, 2);
        relu_kernel<<<n / 256, 256>>>(y);
    }
}

/* The second kernel needs the sum of all that the first one makes. */
__global__ void divide_kernel(float *out, const float *x, const float *sum, size_t n)
{
    const float factor = 1 / (1 + *sum);
    for (size_t i = INDEX; i < n; i += (size_t)gridDim.x * blockDim.x)
        out[i] = x[i] * factor;
}
static void needs_sum(bool)
{
    float *x = allocate<float>(N), *out = allocate<float>(N), *sum = allocate<float>(1);
    for (int i = 0; i < LAUNCHES; i++) {
        sum_kernel<<<sms * 8, 256>>>(sum, (const float4 *)x, N / 4);
        divide_kernel<<<sms * 8, 256>>>(out, x, sum, N);
    }
}

/* Each number needs its neighbours. */
__global__ void neighbours_kernel(float *out, const float *in, int w)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y + 1;
    const float *p = in + (size_t)y * w + x;
    out[(size_t)y * w + x] = 0.5f * p[0] + 0.125f * (p[-1] + p[1] + p[-w] + p[w]);
}
static void stencil(bool)
{
    const int w = 16384;
    float *x = allocate<float>((size_t)w * w), *y = allocate<float>((size_t)w * w);
    for (int i = 0; i < LAUNCHES; i++) {
        neighbours_kernel<<<dim3(w / 256 - 1, w - 2), 256>>>(y, x, w);
        neighbours_kernel<<<dim3(w / 256 - 1, w - 2), 256>>>(x, y, w);
    }
}

/* The host reads a result between the two. */
static void with_a_copy(bool)
{
    float *x = allocate<float>(N), *y = allocate<float>(N), first;
    for (int i = 0; i < LAUNCHES; i++) {
        scale_kernel<<<ALL>>>(y, x, 2);
        CHECK(cudaMemcpy(&first, y, sizeof(first), cudaMemcpyDeviceToHost));
        add_kernel<<<ALL>>>(y, first);
        CHECK(cudaMemcpy(&first, y, sizeof(first), cudaMemcpyDeviceToHost));
    }
}

// ---- all of them --------------------------------------------------------------------------------------------------
static const Case cases[] = {
    {"steps", "fusion", true, steps},
    {"between", "fusion", true, between},
    {"sums", "fusion", true, sums},
    {"other_arrays", "fusion", false, other_arrays},
    {"repeated", "fusion", false, repeated},
    {"in_cache", "fusion", false, in_cache},
    {"needs_sum", "fusion", false, needs_sum},
    {"stencil", "fusion", false, stencil},
    {"with_a_copy", "fusion", false, with_a_copy},
};

int main(int argc, char **argv)
{
    return run_cases(cases, argc, argv);
}
