// Small kernels that wait for one cause each, and the same without it: kernels.cu has the others. Samples show the cause,
// so most of them are run with --diagnosis full. A line that carries a defect ends in "// defect: NAME".
#include "common.h"

#include <cuda_fp16.h>

// ---- 1 table: lanes read different words of constant memory ------------------------------------------------
__constant__ float constant_table[4096];
__device__ float global_table[4096];
__global__ void table_before(float *out, int rounds)
{
    unsigned at = threadIdx.x * 37 + blockIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int r = 0; r < rounds; r++) {
        sum += constant_table[at % 4096]; // defect: table
        at = at * 5 + 1;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void table_after(float *out, int rounds)
{
    __shared__ float table[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x)
        table[i] = global_table[i];
    __syncthreads();
    unsigned at = threadIdx.x * 37 + blockIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int r = 0; r < rounds; r++) {
        sum += table[at % 4096];
        at = at * 5 + 1;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
static void table(bool before)
{
    float *out = allocate<float>((size_t)sms * 8 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? table_before : table_after)<<<sms * 8, 256>>>(out, 2000);
}

// ---- 2 divide, divide_long: by a number that is known at run time alone ------------------------------------
template <class T> __global__ void divide_before(T *out, T width, int rounds)
{
    T at = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) { // defect: divide_long
        const T row = at / width, column = at % width; // defect: divide divide_long
        sum += row ^ column;
        at += 7919;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template <class T> __global__ void divide_after(T *out, int rounds)
{
    T at = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const T row = at / 1000, column = at % 1000;
        sum += row ^ column;
        at += 7919;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
template <class T> static void divide_by(bool before)
{
    T *out = allocate<T>((size_t)sms * 8 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            divide_before<T><<<sms * 8, 256>>>(out, 1000, 2000);
        else
            divide_after<T><<<sms * 8, 256>>>(out, 2000);
}
static void divide(bool before)
{
    divide_by<unsigned>(before);
}
static void divide_long(bool before)
{
    divide_by<long long>(before);
}

// ---- 3 functions: sinf and expf in full precision -----------------------------------------------------------
__global__ void functions_before(float *out, int rounds)
{
    float x = threadIdx.x * 0.01f;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        x = sinf(x) + expf(-x); // defect: functions
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void functions_after(float *out, int rounds)
{
    float x = threadIdx.x * 0.01f;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        x = __sinf(x) + __expf(-x);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
static void functions(bool before)
{
    float *out = allocate<float>((size_t)sms * 8 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? functions_before : functions_after)<<<sms * 8, 256>>>(out, 2000);
}

// ---- 4 quotients: divisions in FP32 by one number, and products with its reciprocal --------------------------
__global__ void quotients_before(float *out, float by, int rounds)
{
    float x = threadIdx.x + 1, sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        sum += x / by; // defect: quotients
        x = x * 1.0001f + 0.5f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void quotients_after(float *out, float by, int rounds)
{
    float x = threadIdx.x + 1, sum = 0;
    const float inverse = 1 / by;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        sum += x * inverse;
        x = x * 1.0001f + 0.5f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
static void quotients(bool before)
{
    float *out = allocate<float>((size_t)sms * 8 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? quotients_before : quotients_after)<<<sms * 8, 256>>>(out, 3.3f, 4000);
}

// ---- 5 halves: one number of 16 bits at a time --------------------------------------------------------------
// Of several sums in a thread the compiler packs two into one register by itself, so there is one.
template <class T> __device__ void compute_halves(T *out, const T *in, size_t i, int rounds)
{
    T a = in[i], b = in[i + 1];
#pragma unroll 4
    for (int r = 0; r < rounds; r++)
        a = a * b + a; // defect: halves
    out[i] = a;
}
__global__ void halves_before(half *out, const half *in, int rounds)
{
    compute_halves(out, in, (size_t)blockIdx.x * blockDim.x + threadIdx.x, rounds);
}
__global__ void halves_after(half2 *out, const half2 *in, int rounds)
{
    compute_halves(out, in, (size_t)blockIdx.x * blockDim.x + threadIdx.x, rounds);
}
static void halves(bool before)
{
    const size_t n = (size_t)sms * 16 * 256;
    half *in = allocate<half>(n + 16), *out = allocate<half>(n);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            halves_before<<<sms * 16, 256>>>(out, in, 4000);
        else
            halves_after<<<sms * 8, 256>>>((half2 *)out, (const half2 *)in, 4000);
}

// ---- 6 host: a kernel reads page-locked memory of the host, again and again -----------------------------------
__global__ void host_before(float *out, const float *in, int n, int rounds)
{
    float sum = 0;
    for (int r = 0; r < rounds; r++)
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            sum += __ldcg(in + i); // defect: host
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
static void host(bool before)
{
    const int n = 1 << 20;
    float *in, *out = allocate<float>((size_t)sms * 8 * 256);
    if (before) {
        CHECK(cudaMallocHost(&in, n * sizeof(float)));
        std::memset(in, 0, n * sizeof(float));
    } else {
        in = allocate<float>(n);
    }
    for (int i = 0; i < LAUNCHES; i++)
        host_before<<<sms * 8, 256>>>(out, in, n, 4);
}

// ---- 7 one_more: one block more than the GPU holds at once ----------------------------------------------------
__global__ void __launch_bounds__(1024, 2) one_more_kernel(float *out, int rounds)
{
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        x = x * 1.0001f + 0.5f;
    out[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = x;
}
static void one_more(bool before)
{
    float *out = allocate<float>((size_t)(2 * sms + 1) * 1024);
    for (int i = 0; i < LAUNCHES; i++)
        one_more_kernel<<<2 * sms + before, 1024>>>(out, 20000);
}

// ---- 8 list: each thread follows eight lists, one after the other, and all at a time -----------------------------
// The lists of all threads at a time are as many as DRAM needs; those of fewer wait for it still.
#define LISTS 8
template <int AT_A_TIME> __device__ int follow(const int *next, int steps, int threads)
{
    int sum = 0;
#pragma unroll 1
    for (int first = 0; first < LISTS; first += AT_A_TIME) {
        int at[AT_A_TIME];
#pragma unroll
        for (int l = 0; l < AT_A_TIME; l++)
            at[l] = blockIdx.x * blockDim.x + threadIdx.x + (first + l) * threads;
#pragma unroll 1
        for (int s = 0; s < steps; s++)
#pragma unroll
            for (int l = 0; l < AT_A_TIME; l++)
                at[l] = next[at[l]]; // defect: list
#pragma unroll
        for (int l = 0; l < AT_A_TIME; l++)
            sum += at[l];
    }
    return sum;
}
__global__ void list_before(int *out, const int *next, int steps, int threads)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = follow<1>(next, steps, threads);
}
__global__ void list_after(int *out, const int *next, int steps, int threads)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = follow<LISTS>(next, steps, threads);
}
// A permutation of the numbers to n, a power of two: neighbours stay neighbours, rows of 32 are far apart.
__global__ void link(int *next, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        next[i] = (int)(((unsigned)i + 32u * 1000003u) % (unsigned)n);
}
static void list(bool before)
{
    const int n = 1 << 26;
    int *next = allocate<int>(n), *out = allocate<int>((size_t)sms * 4 * 256);
    link<<<sms * 8, 256>>>(next, n);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? list_before : list_after)<<<sms * 4, 256>>>(out, next, 100, sms * 4 * 256);
}

// ---- 9 indirect: an index is loaded, and then its number -------------------------------------------------------
__global__ void indirect_before(float *out, const float *in, const int *index, int rounds, int n)
{
    float sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const int i = (blockIdx.x * blockDim.x + threadIdx.x + r * gridDim.x * blockDim.x) & (n - 1);
        sum = sum * 0.5f + in[index[i]]; // defect: indirect
        asm volatile("" : "+f"(sum));
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void indirect_after(float *out, const float *in, const int *index, int rounds, int n)
{
    float sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r += 8) {
        int at[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            at[k] = index[(blockIdx.x * blockDim.x + threadIdx.x + (r + k) * gridDim.x * blockDim.x) & (n - 1)];
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum = sum * 0.5f + in[at[k]];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
static void indirect(bool before)
{
    const int n = 1 << 24;
    float *in = allocate<float>(n), *out = allocate<float>((size_t)sms * 2 * 256);
    int *index = allocate<int>(n);
    link<<<sms * 8, 256>>>(index, n);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? indirect_before : indirect_after)<<<sms * 2, 256>>>(out, in, index, 256, n);
}

// ---- 10 histogram: lanes count in two words of shared memory, and in registers of their own ---------------------
__global__ void histogram_before(unsigned *out, int rounds)
{
    __shared__ unsigned counts[64];
    if (threadIdx.x < 64)
        counts[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const unsigned bin = (threadIdx.x * 2654435761u ^ r * 40503u) >> 9 & 1;
        atomicAdd(&counts[bin], bin + r); // defect: histogram
    }
    __syncthreads();
    if (threadIdx.x < 64)
        out[blockIdx.x * 64 + threadIdx.x] = counts[threadIdx.x];
}
__global__ void histogram_after(unsigned *out, int rounds)
{
    __shared__ unsigned counts[64];
    if (threadIdx.x < 64)
        counts[threadIdx.x] = 0;
    __syncthreads();
    unsigned own[2] = {};
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const unsigned bin = (threadIdx.x * 2654435761u ^ r * 40503u) >> 9 & 1;
        own[0] += bin ? 0 : r;
        own[1] += bin ? bin + r : 0;
    }
    for (int k = 0; k < 2; k++)
        atomicAdd(&counts[k], own[k]);
    __syncthreads();
    if (threadIdx.x < 64)
        out[blockIdx.x * 64 + threadIdx.x] = counts[threadIdx.x];
}
static void histogram(bool before)
{
    unsigned *out = allocate<unsigned>((size_t)sms * 4 * 64);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? histogram_before : histogram_after)<<<sms * 4, 256>>>(out, 1000);
}

// ---- 11 stages: asynchronous copies that are waited for at once ---------------------------------------------------
__device__ void copy_tile(float (*tile)[256], int stage, const float *in, size_t at)
{
    const unsigned to = (unsigned)__cvta_generic_to_shared(&tile[stage][threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + at + threadIdx.x) : "memory"); // defect: stages
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int STAGES> __device__ float sum_tiles(const float *in, int tiles)
{
    __shared__ float tile[STAGES][256];
    float sum = 0;
    for (int s = 0; s < STAGES - 1; s++)
        copy_tile(tile, s, in, ((size_t)s * gridDim.x + blockIdx.x) * 256);
#pragma unroll 1
    for (int t = 0; t < tiles; t++) {
        const int next = t + STAGES - 1 < tiles ? t + STAGES - 1 : 0;
        copy_tile(tile, (t + STAGES - 1) % STAGES, in, ((size_t)next * gridDim.x + blockIdx.x) * 256);
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory"); // defect: stages
        sum += tile[t % STAGES][threadIdx.x];
    }
    return sum;
}
__global__ void stages_before(float *out, const float *in, int tiles)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum_tiles<1>(in, tiles);
}
__global__ void stages_after(float *out, const float *in, int tiles)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum_tiles<8>(in, tiles);
}
static void stages(bool before)
{
    const int tiles = 512;
    float *in = allocate<float>((size_t)tiles * sms * 256), *out = allocate<float>((size_t)sms * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? stages_before : stages_after)<<<sms, 256>>>(out, in, tiles);
}

// ---- 12 exchange: a chain of exchanges between lanes in few warps, and eight chains in eight times as many ----------------------------------------------
template <int CHAINS> __device__ float exchange(int rounds)
{
    float x[CHAINS], sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        x[c] = threadIdx.x + c;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            x[c] += __shfl_xor_sync(~0u, x[c], 1); // defect: exchange
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum += x[c];
    return sum;
}
__global__ void exchange_before(float *out, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = exchange<1>(rounds);
}
__global__ void exchange_after(float *out, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = exchange<8>(rounds / 8);
}
static void exchange_case(bool before)
{
    float *out = allocate<float>((size_t)sms * 8 * 128);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            exchange_before<<<sms, 128>>>(out, 16000);
        else
            exchange_after<<<sms * 8, 128>>>(out, 16000 / 8);
}

// ---- 13 answers: one atomic operation on global memory after the other, for its answer --------------------------------
__global__ void answers_before(int *out, int *counters, int rounds)
{
    int at = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        if (threadIdx.x == 0)
            at += atomicAdd(counters + 32 * blockIdx.x + (at & 1), 1); // defect: answers
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
__global__ void answers_after(int *out, int *counters, int rounds)
{
    __shared__ int own[32];
    if (threadIdx.x < 32)
        own[threadIdx.x] = counters[32 * blockIdx.x + threadIdx.x];
    __syncthreads();
    int at = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        if (threadIdx.x == 0) {
            at += own[at & 1];
            own[at & 1]++;
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
static void answers(bool before)
{
    int *counters = allocate<int>((size_t)sms * 32), *out = allocate<int>((size_t)sms * 32);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? answers_before : answers_after)<<<sms, 32>>>(out, counters, 2000);
}

// ---- 14 sleep: a warp sleeps between its steps ---------------------------------------------------------------------
__global__ void sleep_before(float *out, int rounds)
{
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        x = x * 1.0001f + 0.5f;
        __nanosleep(200); // defect: sleep
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void sleep_after(float *out, int rounds)
{
    float x = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        x = x * 1.0001f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
static void sleep_case(bool before)
{
    float *out = allocate<float>((size_t)sms * 8 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? sleep_before : sleep_after)<<<sms * 8, 256>>>(out, 2000);
}

// ---- 15 neighbours: each thread loads all of its neighbours, and a tile of them in registers ---------------------------
#define RADIUS 16
__global__ void neighbours_before(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += in[i + k + RADIUS] * (k * 0.01f + 1); // defect: neighbours
    out[i] = sum;
}
__global__ void neighbours_after(float *out, const float *in, int n)
{
    __shared__ float tile[256 * 4 + 2 * RADIUS];
    const size_t begin = (size_t)blockIdx.x * 1024;
    for (int i = threadIdx.x; i < 1024 + 2 * RADIUS; i += 256)
        tile[i] = in[begin + i];
    __syncthreads();
    float window[4 + 2 * RADIUS], sum[4] = {};
#pragma unroll
    for (int k = 0; k < (4 + 2 * RADIUS) / 4; k++) {
        const float4 v = ((const float4 *)tile)[threadIdx.x + k];
        window[4 * k] = v.x, window[4 * k + 1] = v.y, window[4 * k + 2] = v.z, window[4 * k + 3] = v.w;
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int k = -RADIUS; k <= RADIUS; k++)
            sum[j] += window[j + k + RADIUS] * (k * 0.01f + 1);
    ((float4 *)out)[begin / 4 + threadIdx.x] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}
static void neighbours(bool before)
{
    const int n = 1 << 26;
    float *in = allocate<float>(n + 4096), *out = allocate<float>(n);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            neighbours_before<<<n / 256, 256>>>(out, in, n);
        else
            neighbours_after<<<n / 1024, 256>>>(out, in, n);
}

// ---- 16 texels: a chain of fetches from a texture in few warps, and eight chains in sixteen times as many ------------------------------------------------------
#define TEXELS (1 << 20)
// The compiler gives the line of the loop to a fetch in it.
template <int CHAINS> __device__ int fetch(cudaTextureObject_t next, int steps)
{
    int at[CHAINS], sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        at[c] = ((blockIdx.x * blockDim.x + threadIdx.x) * CHAINS + c) % TEXELS;
#pragma unroll 1
    for (int s = 0; s < steps; s++) // defect: texels
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            at[c] = tex1Dfetch<int>(next, at[c]); // defect: texels
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum += at[c];
    return sum;
}
__global__ void texels_before(int *out, cudaTextureObject_t next, int steps)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = fetch<1>(next, steps);
}
__global__ void texels_after(int *out, cudaTextureObject_t next, int steps)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = fetch<8>(next, steps / 8);
}
static void texels(bool before)
{
    int *next = allocate<int>(TEXELS), *out = allocate<int>((size_t)sms * 16 * 128);
    link<<<sms, 256>>>(next, TEXELS);
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {next, cudaCreateChannelDesc<int>(), TEXELS * sizeof(int)};
    description.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            texels_before<<<sms, 128>>>(out, texture, 3200);
        else
            texels_after<<<sms * 16, 128>>>(out, texture, 3200 / 16);
}

// ---- 17 unrolled: code that is larger than the caches of instructions -------------------------------------------------------
template <int FIRST, int COUNT> __device__ __forceinline__ void steps(float &x, float &y)
{
    if constexpr (COUNT > 1) {
        steps<FIRST, COUNT / 2>(x, y);
        steps<FIRST + COUNT / 2, COUNT / 2>(x, y);
    } else {
        x = x * (1 + FIRST * 1e-6f) + FIRST * 0.01f;
        y = y * (1 - FIRST * 1e-6f) + FIRST * 0.02f;
    }
}
__global__ void unrolled_before(float *out, int rounds)
{
    float x = threadIdx.x, y = x;
#pragma unroll 1
    for (int r = 0; r < rounds + (int)(threadIdx.x / 32); r++) // warps are in different parts of the code
        steps<0, 4096>(x, y);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}
__global__ void unrolled_after(float *out, int rounds)
{
    float x = threadIdx.x, y = x;
#pragma unroll 1
    for (int r = 0; r < rounds + (int)(threadIdx.x / 32); r++)
#pragma unroll 8
        for (int s = 0; s < 4096; s++) {
            x = x * (1 + s * 1e-6f) + s * 0.01f;
            y = y * (1 - s * 1e-6f) + s * 0.02f;
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}
static void unrolled(bool before)
{
    float *out = allocate<float>((size_t)sms * 128);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? unrolled_before : unrolled_after)<<<sms, 128>>>(out, 20);
}

// ---- controls: code that does well, with the same kinds of instructions -----------------------------------------------------
// All lanes read the same word of constant memory.
__global__ void uniform_table_kernel(float *out, int rounds)
{
    float sum[8] = {};
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum[k] = sum[k] * 0.5f + constant_table[(8 * r + k) % 4096];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}
static void uniform_table(bool)
{
    float *out = allocate<float>((size_t)sms * 8 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        uniform_table_kernel<<<sms * 8, 256>>>(out, 2000);
}

// ---- all of them -------------------------------------------------------------------------------------------------------------
static const Case cases[] = {
    {"table", "lane_constants", true, table, nullptr, "full"},
    {"divide", "integer_division", true, divide, nullptr, "full"},
    {"divide_long", "integer_division", true, divide_long, nullptr, "full"},
    {"functions", "special_functions", true, functions, nullptr, "full"},
    {"quotients", "special_functions", true, quotients, nullptr, "full"},
    {"halves", "scalar_halves", true, halves, nullptr, "full"},
    {"host", "host_memory", true, host, ",sysmem_read_bytes,sysmem_write_bytes"},
    {"one_more", "tail", true, one_more},
    {"list", "chained_loads", true, list, nullptr, "full"},
    {"indirect", "chained_loads", true, indirect, nullptr, "full"},
    {"histogram", "waiting_for_shared_atomics", true, histogram, nullptr, "full"},
    {"stages", "waiting_for_copies", true, stages, nullptr, "full"},
    {"exchange", "waiting_for_exchanges", true, exchange_case, nullptr, "full"},
    {"answers", "atomics", true, answers, nullptr, "full"},
    {"sleep", "sleeping", true, sleep_case, nullptr, "full"},
    {"neighbours", "reuse", true, neighbours, nullptr, "full"},
    {"texels", "waiting_for_textures", true, texels, nullptr, "full"},
    {"unrolled", "waiting_for_code", true, unrolled, nullptr, "full"},
    {"uniform_table", "lane_constants", false, uniform_table, nullptr, "full"},
};

int main(int argc, char **argv)
{
    return run_cases(cases, argc, argv);
}
