// Small kernels with one defect each, and the same without it; and kernels that nothing is to be said of.
// tests/gpu/advice/run runs each under gpuprof. A line that carries a defect ends in "// defect: NAME".
//
//   kernels NAME before|after      a
//   kernels NAME                   a control
//   kernels --list                 all of them: pair|control NAME RULE METRICS DIAGNOSIS
#include "common.h"

#include <cuda_fp16.h>
#include <mma.h>

// ---- 1 columns: lanes walk down a column ----------------------------------------------------------
__global__ void columns_before(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    out[(size_t)x * n + y] = in[(size_t)x * n + y] + 1; // defect: columns
}
__global__ void columns_after(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    out[(size_t)y * n + x] = in[(size_t)y * n + x] + 1;
}
static void columns(bool before)
{
    const int n = 8192;
    float *in = allocate<float>((size_t)n * n), *out = allocate<float>((size_t)n * n);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? columns_before : columns_after)<<<dim3(n / 256, n), 256>>>(out, in, n);
}

// ---- 2 offset: rows begin inside a sector; the data stay in L2 -------------------------------------
template <bool ALIGNED> __device__ float sum_rows(const float *in, int chunks, int rounds)
{
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        int chunk = (blockIdx.x + r * 37) % chunks;
        const float *row = in + (size_t)chunk * 1024 + threadIdx.x;
#pragma unroll
        for (int k = 0; k < 4; k++)
            sum += __ldcg(row + k * 256); // defect: offset
    }
    return sum;
}
__global__ void offset_before(float *out, const float *in, int chunks, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum_rows<false>(in + 3, chunks, rounds);
}
__global__ void offset_after(float *out, const float *in, int chunks, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum_rows<true>(in, chunks, rounds);
}
static void offset(bool before)
{
    const int chunks = 4096;
    float *in = allocate<float>((size_t)chunks * 1024 + 64), *out = allocate<float>((size_t)sms * 8 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? offset_before : offset_after)<<<sms * 8, 256>>>(out, in, chunks, 400);
}

// ---- 3 members: one member of a struct of 32 bytes ------------------------------------------------
struct __align__(16) Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};
__global__ void members_before(float *out, const Particle *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i].mass * 2; // defect: members
}
__global__ void members_after(float *out, const float *mass)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = mass[i] * 2;
}
static void members(bool before)
{
    const int n = 1 << 24;
    float *out = allocate<float>(n);
    Particle *in = before ? allocate<Particle>(n) : nullptr;
    float *mass = before ? nullptr : allocate<float>(n);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            members_before<<<n / 256, 256>>>(out, in);
        else
            members_after<<<n / 256, 256>>>(out, mass);
}

// ---- 4 banks: a tile read by columns --------------------------------------------------------------
template <int WIDTH> __device__ void transpose(float *out, const float *in, int rounds)
{
    __shared__ float tile[32][WIDTH];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    float value = in[threadIdx.x];
    for (int r = 0; r < rounds; r++) {
        for (int k = 0; k < 32; k += 8)
            tile[y + k][x] = value + k;
        __syncthreads();
        for (int k = 0; k < 32; k += 8)
            value += tile[x][y + k]; // defect: banks
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void banks_before(float *out, const float *in, int rounds)
{
    transpose<32>(out, in, rounds);
}
__global__ void banks_after(float *out, const float *in, int rounds)
{
    transpose<33>(out, in, rounds);
}
static void banks(bool before)
{
    float *in = allocate<float>(256), *out = allocate<float>((size_t)sms * 8 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? banks_before : banks_after)<<<sms * 8, 256>>>(out, in, 200);
}

// ---- 5 branches: neighbouring lanes go different ways ---------------------------------------------
__device__ float branch_work(float x, bool odd, int rounds)
{
    if (odd) { // defect: branches
#pragma unroll 4
        for (int r = 0; r < rounds; r++)
            x = x * 1.0001f + 0.25f;
    } else {
#pragma unroll 4
        for (int r = 0; r < rounds; r++)
            x = x * 0.9999f - 0.125f;
    }
    return x;
}
__global__ void branches_before(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = branch_work(i, i % 2, rounds);
}
__global__ void branches_after(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = branch_work(i, i / 32 % 2, rounds);
}
static void branches(bool before)
{
    float *out = allocate<float>((size_t)sms * 64 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? branches_before : branches_after)<<<sms * 64, 256>>>(out, 1000);
}

// ---- 6 tiny blocks --------------------------------------------------------------------------------
__global__ void blocks_before(float *m, const float *column, int n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        m[i] -= column[i] * 0.5f;
}
__global__ void blocks_after(float *m, const float *column, int n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)n)
        m[i] -= column[i] * 0.5f;
}
static void blocks(bool before)
{
    const int n = 1 << 24, block = before ? 16 : 256;
    float *m = allocate<float>(n), *column = allocate<float>(n);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? blocks_before : blocks_after)<<<n / block, block>>>(m, column, n);
}

// ---- 7, 8 occupancy: a walk through memory, a line at a time, that many warps would hide -----------
static const unsigned LINES_OF_TABLE = 1 << 20; // of 128 bytes
__device__ unsigned walk(const unsigned *table, unsigned warp, int steps)
{
    unsigned at = warp * 2654435761u;
    for (int s = 0; s < steps; s++)
        at = at * 747796405u + 2891336453u + table[(size_t)((at >> 11) % LINES_OF_TABLE) * 32 + threadIdx.x % 32];
    return at;
}
template <int HELD> __device__ void walk_holding(unsigned *out, const unsigned *next, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned held[HELD];
#pragma unroll
    for (int k = 0; k < HELD; k++) {
        held[k] = i * k;
        asm volatile("" : "+r"(held[k]));
    }
    unsigned at = walk(next, i / 32, steps);
#pragma unroll
    for (int k = 0; k < HELD; k++) {
        asm volatile("" : "+r"(held[k]));
        at += held[k];
    }
    out[i] = at;
}
__global__ void registers_before(unsigned *out, const unsigned *next, int steps)
{
    walk_holding<140>(out, next, steps);
}
__global__ void registers_after(unsigned *out, const unsigned *next, int steps)
{
    walk_holding<1>(out, next, steps);
}
__global__ void shared_before(unsigned *out, const unsigned *next, int steps)
{
    extern __shared__ unsigned room[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    room[threadIdx.x] = walk(next, i / 32, steps);
    out[i] = room[threadIdx.x];
}
__global__ void shared_after(unsigned *out, const unsigned *next, int steps)
{
    extern __shared__ unsigned room[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    room[threadIdx.x] = walk(next, i / 32, steps);
    out[i] = room[threadIdx.x];
}
static void registers(bool before)
{
    unsigned *next = allocate<unsigned>((size_t)LINES_OF_TABLE * 32), *out = allocate<unsigned>((size_t)sms * 160 * 128);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? registers_before : registers_after)<<<sms * 160, 128>>>(out, next, 8);
}
static void shared(bool before)
{
    unsigned *next = allocate<unsigned>((size_t)LINES_OF_TABLE * 32), *out = allocate<unsigned>((size_t)sms * 160 * 128);
    const int bytes = before ? 100 * 1024 : 1024;
    CHECK(cudaFuncSetAttribute(shared_before, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
    for (int i = 0; i < LAUNCHES; i++)
        (before ? shared_before : shared_after)<<<sms * 160, 128, bytes>>>(out, next, 8);
}

// ---- 9 tail: one block more than fits -------------------------------------------------------------
__device__ float spin(float x, int rounds)
{
    float a = x, b = x + 1, c = x + 2, d = x + 3;
    for (int r = 0; r < rounds; r++) {
        a = a * 1.0001f + 0.5f;
        b = b * 1.0001f + 0.5f;
        c = c * 1.0001f + 0.5f;
        d = d * 1.0001f + 0.5f;
    }
    return a + b + c + d;
}
__global__ void __launch_bounds__(1024, 2) tail_before(float *out, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = spin(threadIdx.x, rounds);
}
__global__ void __launch_bounds__(1024, 2) tail_after(float *out, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = spin(threadIdx.x, rounds);
}
static void tail(bool before)
{
    float *out = allocate<float>((size_t)(2 * sms + 1) * 1024);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            tail_before<<<2 * sms + 1, 1024>>>(out, 20000);
        else
            tail_after<<<2 * sms, 1024>>>(out, 20000 + 20000 / (2 * sms));
}

// ---- 10 local: an array that is indexed at run time -------------------------------------------------
__global__ void local_before(float *out, int rounds, int size)
{
    float a[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < size; k++)
        a[k] = i + k;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll 1
        for (int k = 0; k < size; k++)
            a[k] = a[k] * 0.5f + r; // defect: local
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < size; k++)
        sum += a[k];
    out[i] = sum;
}
__global__ void local_after(float *out, int rounds, int)
{
    float a[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 32; k++)
        a[k] = i + k;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 32; k++)
            a[k] = a[k] * 0.5f + r;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 32; k++)
        sum += a[k];
    out[i] = sum;
}
static void local(bool before)
{
    float *out = allocate<float>((size_t)sms * 16 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? local_before : local_after)<<<sms * 16, 256>>>(out, 100, 32);
}

// ---- 11 atomics: one sum, every thread adds --------------------------------------------------------
__global__ void atomics_before(float *sum, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, in[i]); // defect: atomics
}
__global__ void atomics_after(float *sum, const float *in)
{
    __shared__ float warps[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own = in[i];
    for (int step = 16; step > 0; step /= 2)
        own += __shfl_down_sync(~0u, own, step);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x < 32) {
        own = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
        for (int step = 16; step > 0; step /= 2)
            own += __shfl_down_sync(~0u, own, step);
        if (threadIdx.x == 0)
            atomicAdd(sum, own);
    }
}
static void atomics(bool before)
{
    const int n = 1 << 22;
    float *in = allocate<float>(n), *sum = allocate<float>(1);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? atomics_before : atomics_after)<<<n / 512, 512>>>(sum, in);
}

// ---- 12 doubles: constants that are double -----------------------------------------------------------
__global__ void doubles_before(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i;
    for (int r = 0; r < rounds; r++)
        x = x * 1.0001 + 0.3; // defect: doubles
    out[i] = x;
}
__global__ void doubles_after(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i;
    for (int r = 0; r < rounds; r++)
        x = x * 1.0001f + 0.3f;
    out[i] = x;
}
static void doubles(bool before)
{
    float *out = allocate<float>((size_t)sms * 32 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? doubles_before : doubles_after)<<<sms * 32, 256>>>(out, 500);
}

// ---- 13 launches: a thousand kernels of two microseconds, and one that does the work of all ----------
__device__ float step(float x, int rounds)
{
    for (int r = 0; r < rounds; r++)
        x = x * 1.0001f + 0.5f;
    return x;
}
__global__ void launches_before(float *x, int rounds)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = step(threadIdx.x, rounds);
}
__global__ void launches_after(float *x, int rounds)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = step(threadIdx.x, rounds);
}
static double now_us()
{
    timeval t;
    gettimeofday(&t, nullptr);
    return t.tv_sec * 1e6 + t.tv_usec;
}
static void launches(bool before)
{
    float *x = allocate<float>((size_t)sms * 256);
    const int rounds = 200;
    launches_before<<<sms, 256>>>(x, rounds); // loads the code
    launches_after<<<sms, 256>>>(x, rounds);
    CHECK(cudaDeviceSynchronize());
    double begun = now_us();
    if (before)
        for (int i = 0; i < 1000; i++)
            launches_before<<<sms, 256>>>(x, rounds);
    else
        launches_after<<<sms, 256>>>(x, 1000 * rounds);
    CHECK(cudaDeviceSynchronize());
    std::printf("wall %.1f us\n", now_us() - begun);
}

// ---- 14 chain: one sum at a time, one warp for each scheduler; and sixteen sums, two warps ----------
// A loop has 32 multiply-adds: with few, a single warp waits for the branch of the loop.
__global__ void chain_before(float *out, int rounds)
{
    float a = threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 32; k++)
            a = a * 1.0001f + 0.5f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
__global__ void chain_after(float *out, int rounds)
{
    float a[16], sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        a[k] = threadIdx.x + k;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 32; k++)
            a[k % 16] = a[k % 16] * 1.0001f + 0.5f;
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum += a[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
static void chain(bool before)
{
    float *out = allocate<float>((size_t)sms * 256);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            chain_before<<<sms, 128>>>(out, 20000);
        else
            chain_after<<<sms, 256>>>(out, 10000);
}

// ---- 15 loads: one load in flight for each thread -----------------------------------------------------
__global__ void loads_before(float *out, const float *in, int n)
{
    float sum = 0;
    int threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        sum = sum * 0.5f + in[i]; // defect: loads loads_wait loads_sampled
        asm volatile("" : "+f"(sum));
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void loads_after(float *out, const float *in, int n)
{
    float sum = 0;
    int threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i + 15 * threads < n; i += 16 * threads) {
        float v[16];
#pragma unroll
        for (int k = 0; k < 16; k++)
            v[k] = in[i + k * threads];
#pragma unroll
        for (int k = 0; k < 16; k++)
            sum = sum * 0.5f + v[k];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
static void loads(bool before)
{
    const int n = sms * 256 * 16 * 32;
    float *in = allocate<float>(n), *out = allocate<float>((size_t)sms * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? loads_before : loads_after)<<<sms, 256>>>(out, in, n);
}

// ---- 16 grid: fewer blocks than SMs --------------------------------------------------------------------
__global__ void grid_before(float *out, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = spin(threadIdx.x, rounds);
}
__global__ void grid_after(float *out, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = spin(threadIdx.x, rounds);
}
static void grid(bool before)
{
    float *out = allocate<float>((size_t)16 * sms * 1024);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            grid_before<<<sms / 8, 1024>>>(out, 20000);
        else
            grid_after<<<sms / 8 * 8, 1024>>>(out, 20000 / 8);
}

// ---- 17 matrix: a product on the FP32 pipe, with bank conflicts, and on the tensor cores ------------------
__global__ void __launch_bounds__(256) matrix_before(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[8][128], bs[8][128];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < n; k0 += 8) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            as[i % 8][i / 8] = a[(size_t)(blockIdx.y * 128 + i / 8) * n + k0 + i % 8];
            bs[i / 128][i % 128] = b[(size_t)(k0 + i / 128) * n + blockIdx.x * 128 + i % 128];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float x[8], y[8];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                x[i] = as[k][ty * 4 + i % 4 + i / 4 * 64];
                y[i] = bs[k][tx * 4 + i % 4 + i / 4 * 64];
            }
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++)
                    sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            c[(size_t)(blockIdx.y * 128 + ty * 4 + i % 4 + i / 4 * 64) * n + blockIdx.x * 128 + tx * 4 + j % 4 +
              j / 4 * 64] = sum[i][j];
}
__global__ void matrix_after(float *c, const half *a, const half *b, int n)
{
    using namespace nvcuda::wmma;
    int warp = threadIdx.x / 32, row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    fragment<accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 4; i++)
        fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += 16) {
        fragment<matrix_a, 16, 16, 16, half, row_major> x[2];
        fragment<matrix_b, 16, 16, 16, half, row_major> y[2];
        for (int i = 0; i < 2; i++) {
            load_matrix_sync(x[i], a + (size_t)(row + 16 * i) * n + k, n);
            load_matrix_sync(y[i], b + (size_t)k * n + column + 16 * i, n);
        }
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                mma_sync(sum[i][j], x[i], y[j], sum[i][j]);
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            store_matrix_sync(c + (size_t)(row + 16 * i) * n + column + 16 * j, sum[i][j], n, mem_row_major);
}
static void matrix(bool before)
{
    const int n = 4096;
    float *c = allocate<float>((size_t)n * n);
    float *a = before ? allocate<float>((size_t)n * n) : nullptr, *b = before ? allocate<float>((size_t)n * n) : nullptr;
    half *ha = before ? nullptr : allocate<half>((size_t)n * n), *hb = before ? nullptr : allocate<half>((size_t)n * n);
    for (int i = 0; i < LAUNCHES; i++)
        if (before)
            matrix_before<<<dim3(n / 128, n / 128), 256>>>(c, a, b, n);
        else
            matrix_after<<<dim3(n / 64, n / 64), 128>>>(c, ha, hb, n);
}

// ---- 18 structs: members of structs of 32 bytes in shared memory -----------------------------------------
struct Body {
    double v, x, y, z;
};
__global__ void structs_before(double *out, const double *in, int rounds)
{
    __shared__ Body bodies[128];
    int t = threadIdx.x;
    double sum = 0;
    bodies[t] = {in[t], in[t] + 1, in[t] + 2, in[t] + 3};
    __syncthreads();
    for (int r = 0; r < rounds; r++)
        sum += bodies[(t + r) % 128].x; // defect: structs
    out[blockIdx.x * blockDim.x + t] = sum;
}
__global__ void structs_after(double *out, const double *in, int rounds)
{
    __shared__ double v[128], x[128], y[128], z[128];
    int t = threadIdx.x;
    double sum = 0;
    v[t] = in[t], x[t] = in[t] + 1, y[t] = in[t] + 2, z[t] = in[t] + 3;
    __syncthreads();
    for (int r = 0; r < rounds; r++)
        sum += x[(t + r) % 128];
    out[blockIdx.x * blockDim.x + t] = sum + v[0] + y[0] + z[0];
}
static void structs(bool before)
{
    double *in = allocate<double>(128), *out = allocate<double>((size_t)sms * 16 * 128);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? structs_before : structs_after)<<<sms * 16, 128>>>(out, in, 2000);
}

// ---- 19 lane: one lane of each warp works ------------------------------------------------------------------
__device__ void lane_work(float *out, int first, int count, int rounds)
{
    for (int k = first; k < first + count; k++)
        out[k] = step(k % 32, rounds);
}
__global__ void lane_before(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 == 0) // defect: lane
        lane_work(out, i, 32, rounds);
    __syncwarp();
    out[i] += 1;
}
__global__ void lane_after(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    lane_work(out, i, 1, rounds);
    __syncwarp();
    out[i] += 1;
}
static void lane(bool before)
{
    float *out = allocate<float>((size_t)sms * 128);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? lane_before : lane_after)<<<sms, 128>>>(out, 2000);
}

// ---- 20 barrier: one warp works, seven wait for it ---------------------------------------------------------
__device__ float share_of_work(float x, int steps)
{
#pragma unroll 1
    for (int s = 0; s < steps; s++)
        x = x * 1.0001f + 0.5f;
    return x;
}
__global__ void barrier_before(float *out, int rounds)
{
    __shared__ float result[32];
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x < 32)
            result[threadIdx.x] = share_of_work(threadIdx.x + sum, 512);
        __syncthreads(); // defect: barrier barrier_sampled
        sum += result[threadIdx.x % 32];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void barrier_after(float *out, int rounds)
{
    __shared__ float result[256];
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        result[threadIdx.x] = share_of_work(threadIdx.x + sum, 512 / 8);
        __syncthreads();
        sum += result[255 - threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
static void barrier(bool before)
{
    float *out = allocate<float>((size_t)sms * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? barrier_before : barrier_after)<<<sms, 256>>>(out, 100);
}

// ---- 21 chase: each load from shared memory needs the one before; and eight at a time ----------------------
template <int CHAINS> __device__ int chase(int rounds)
{
    __shared__ int next[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        next[i] = (i + 32) % 1024;
    __syncthreads();
    int at[CHAINS], sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        at[c] = (threadIdx.x + 32 * c) % 1024;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            at[c] = next[at[c]];
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum += at[c];
    return sum;
}
__global__ void chase_before(int *out, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = chase<1>(rounds);
}
__global__ void chase_after(int *out, int rounds)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = chase<8>(rounds / 8);
}
static void chase_case(bool before)
{
    int *out = allocate<int>((size_t)sms * 128);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? chase_before : chase_after)<<<sms, 128>>>(out, 16000);
}

// ---- 22 fences: one for each store ---------------------------------------------------------------------------
__global__ void fences_before(float *out, int rounds)
{
    float *own = out + blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        own[(size_t)(r % 16) * gridDim.x * blockDim.x] = r;
        __threadfence(); // defect: fences fences_sampled
    }
}
__global__ void fences_after(float *out, int rounds)
{
    float *own = out + blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < rounds; r++)
        own[(size_t)(r % 16) * gridDim.x * blockDim.x] = r;
    __threadfence();
}
static void fences(bool before)
{
    float *out = allocate<float>((size_t)sms * 8 * 256 * 16);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? fences_before : fences_after)<<<sms * 8, 256>>>(out, 160);
}

// ---- 23 predicated: neighbouring lanes take other sides of a branch too short for a jump ----------------------
// Both sides are issued one behind the other, each with half of the lanes. The same sums can be had without a branch.
__global__ void predicated_before(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float rise = threadIdx.x, fall = 1;
#pragma unroll 16
    for (int r = 0; r < rounds; r++)
        if ((i + r) % 2)
            rise = __fmul_rn(__fadd_rn(__fmul_rn(__fadd_rn(rise, 0.25f), 1.0001f), 0.5f), 0.9998f); // defect: predicated
        else
            fall = __fadd_rn(__fmul_rn(__fadd_rn(__fmul_rn(fall, 0.9999f), -0.125f), 1.0002f), -0.5f); // defect: predicated
    out[i] = rise + fall;
}
__global__ void predicated_after(float *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float rise = threadIdx.x, fall = 1;
#pragma unroll 8
    for (int r = 0; r < rounds / 2; r++) {
        rise = __fmul_rn(__fadd_rn(__fmul_rn(__fadd_rn(rise, 0.25f), 1.0001f), 0.5f), 0.9998f);
        fall = __fadd_rn(__fmul_rn(__fadd_rn(__fmul_rn(fall, 0.9999f), -0.125f), 1.0002f), -0.5f);
    }
    out[i] = rise + fall;
}
static void predicated(bool before)
{
    float *out = allocate<float>((size_t)sms * 64 * 256);
    for (int i = 0; i < LAUNCHES; i++)
        (before ? predicated_before : predicated_after)<<<sms * 64, 256>>>(out, 2000);
}

// ---- controls --------------------------------------------------------------------------------------------
__global__ void copy_kernel(float4 *out, const float4 *in)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
static void copy(bool)
{
    const int n = 1 << 26;
    float4 *in = allocate<float4>(n), *out = allocate<float4>(n);
    for (int i = 0; i < LAUNCHES; i++)
        copy_kernel<<<n / 256, 256>>>(out, in);
}

__global__ void broadcast_kernel(float4 *out, const float4 *in, const float *factor)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float f = factor[blockIdx.x]; // all lanes, one address
    float4 v = in[i];
    out[i] = make_float4(v.x * f, v.y * f, v.z * f, v.w * f);
}
static void broadcast(bool)
{
    const int n = 1 << 26;
    float4 *in = allocate<float4>(n), *out = allocate<float4>(n);
    float *factor = allocate<float>(n / 256);
    for (int i = 0; i < LAUNCHES; i++)
        broadcast_kernel<<<n / 256, 256>>>(out, in, factor);
}

__global__ void all_members_kernel(Particle *p)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    Particle q = p[i];
    q.x += q.vx, q.y += q.vy, q.z += q.vz, q.mass += q.charge;
    q.vx *= 0.5f, q.vy *= 0.5f, q.vz *= 0.5f, q.charge *= 0.5f;
    p[i] = q;
}
static void all_members(bool)
{
    const int n = 1 << 25;
    Particle *p = allocate<Particle>(n);
    for (int i = 0; i < LAUNCHES; i++)
        all_members_kernel<<<n / 256, 256>>>(p);
}

// 12 % of the warps, eight sums each.
__global__ void few_warps_kernel(float *out, int rounds)
{
    float a[16];
#pragma unroll
    for (int k = 0; k < 16; k++)
        a[k] = threadIdx.x + k;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 16; k++)
            a[k] = a[k] * 1.0001f + 0.5f;
#pragma unroll
        for (int k = 0; k < 16; k++)
            a[k] = a[k] * 1.0002f + 0.5f;
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 16; k++)
        sum += a[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
static void few_warps(bool)
{
    float *out = allocate<float>((size_t)sms * 256);
    for (int i = 0; i < LAUNCHES; i++)
        few_warps_kernel<<<sms, 256>>>(out, 20000);
}

__global__ void reduce_shared_kernel(int *out, const int *in)
{
    extern __shared__ int part[];
    int t = threadIdx.x;
    part[t] = in[(size_t)blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
static void reduce_shared(bool)
{
    const int n = 1 << 24;
    int *in = allocate<int>(n), *out = allocate<int>(n / 512);
    for (int i = 0; i < LAUNCHES; i++)
        reduce_shared_kernel<<<n / 512, 512, 512 * sizeof(int)>>>(out, in);
}

// ---- all of them -----------------------------------------------------------------------------------------
static const Case cases[] = {
    {"columns", "uncoalesced", true, columns},
    {"offset", "misaligned", true, offset},
    {"members", "uncoalesced", true, members},
    {"banks", "bank_conflicts", true, banks},
    {"branches", "divergence", true, branches},
    {"blocks", "small_blocks", true, blocks},
    {"registers", "occupancy_registers", true, registers},
    {"shared", "occupancy_shared", true, shared},
    {"tail", "tail", true, tail},
    {"local", "local_memory", true, local},
    {"atomics", "atomics", true, atomics},
    {"doubles", "fp64", true, doubles},
    {"launches", "launch_overhead", true, launches},
    {"chain", "latency", true, chain},
    {"loads", "latency", true, loads},
    {"grid", "small_grid", true, grid},
    {"matrix", "matrix_product", true, matrix},
    {"structs", "bank_conflicts", true, structs},
    {"lane", "single_lanes", true, lane},
    {"barrier", "barriers", true, barrier, ",stalls"},
    {"chain_waits", "dependency", true, chain, ",stalls"},
    {"loads_wait", "memory_latency", true, loads, ",stalls"},
    {"chase", "dependency", true, chase_case, ",stalls"},
    {"fences", "fences", true, fences, ",stalls"},
    {"predicated", "predication", true, predicated},
    {"chain_sampled", "waiting_for_results", true, chain, nullptr, "full"},
    {"loads_sampled", "waiting_for_loads", true, loads, nullptr, "full"},
    {"barrier_sampled", "waiting_at_barriers", true, barrier, nullptr, "full"},
    {"fences_sampled", "waiting_at_fences", true, fences, nullptr, "full"},
    {"copy", "*", false, copy},
    {"broadcast", "*", false, broadcast},
    {"all_members", "*", false, all_members},
    {"few_warps", "*", false, few_warps},
    {"copy_sampled", "*", false, copy, nullptr, "full"},
    {"few_warps_sampled", "*", false, few_warps, nullptr, "full"},
    {"reduce_shared", "*", false, reduce_shared},
};

int main(int argc, char **argv)
{
    return run_cases(cases, argc, argv);
}
