// Kernels for tests of the causes of waits: each has the name of its cause, as report/waits.def has it, and some more
// letters. Those that begin with "none" have no cause of their own. A line that holds the cause ends in "// cause: NAME",
// the line at which warps wait for it, where it is another one, in "// wait: NAME".
#include <cuda_fp16.h>

#define KERNEL(name) extern "C" __global__ void name
#define I (blockIdx.x * blockDim.x + threadIdx.x)

__constant__ float table[1024];

KERNEL(loads_one_by_one)(float *out, const float *in, int n)
{
    float sum = 0;
#pragma unroll 1
    for (int i = I; i < n; i += 4096) {
        const float value = in[i]; // cause: loads_one_by_one
        sum = sum * 0.5f + value;  // wait: loads_one_by_one
    }
    out[I] = sum;
}

// The pointer itself is loaded, but once, before the loop.
KERNEL(loads_by_one_pointer)(float *out, float **rows, int n)
{
    const float *row = rows[threadIdx.x];
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum = sum * 0.5f + row[i]; // cause: loads_by_one_pointer
    out[I] = sum;
}

KERNEL(chains_of_a_list)(int *out, const int *next, int n)
{
    int at = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        at = next[at]; // cause: chains_of_a_list
    out[I] = at;
}

KERNEL(chains_by_index)(float *out, const float *in, const int *index, int n)
{
    float sum = 0;
#pragma unroll 1
    for (int i = I; i < n; i += 4096) {
        const int at = index[i];
        sum = sum * 0.5f + in[at]; // cause: chains_by_index
    }
    out[I] = sum;
}

KERNEL(local_array)(float *out, int n, int size)
{
    float a[64];
#pragma unroll 1
    for (int k = 0; k < 64; k++)
        a[(k * 7) % 64] = k; // cause: local_array
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum = sum * 0.5f + a[(i * size) & 63]; // cause: local_array
    out[I] = sum;
}

KERNEL(textures_of_numbers)(float *out, cudaTextureObject_t in, int n)
{
    float sum = 0;
#pragma unroll 1
    for (int i = I; i < n; i += 4096) // cause: textures_of_numbers
        sum = sum * 0.5f + tex1Dfetch<float>(in, i); // cause: textures_of_numbers
    out[I] = sum;
}

#if __CUDA_ARCH__ >= 800
KERNEL(copies_one_ahead)(float *out, const float *in, int n)
{
    __shared__ float tile[2][256];
    const int t = threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const unsigned to = __cvta_generic_to_shared(&tile[i & 1][t]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + i * 256 + t)); // cause: copies_one_ahead
        asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;" ::: "memory"); // wait: copies_one_ahead
        sum += tile[(i + 1) & 1][t];
    }
    out[I] = sum;
}
#endif

KERNEL(atomics_with_answers)(int *out, int *counter, int n)
{
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += atomicAdd(counter + (sum & 1), i); // cause: atomics_with_answers
    out[I] = sum;
}

KERNEL(shared_tile)(float *out, int n)
{
    __shared__ float tile[1024];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum = sum * 0.5f + tile[(i + threadIdx.x) & 1023]; // cause: shared_tile
    out[I] = sum;
}

KERNEL(shared_atomics_with_answers)(int *out, int n)
{
    __shared__ int counts[32];
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += atomicAdd(&counts[sum & 31], 1); // cause: shared_atomics_with_answers
    out[I] = sum;
}

KERNEL(lane_constants_by_thread)(float *out, int n)
{
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum = sum * 0.5f + table[(i * 7 + threadIdx.x) & 1023]; // cause: lane_constants_by_thread
    out[I] = sum;
}

KERNEL(lane_constants_by_index)(float *out, const int *index, int n)
{
    int at = index[I];
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        sum = sum * 0.5f + table[at & 1023]; // cause: lane_constants_by_index
        at = at * 5 + i;
    }
    out[I] = sum;
}

// All lanes read the same word.
KERNEL(none_lane_constants)(float *out, int n)
{
    float sum = 0;
    int at = blockIdx.x;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        sum = sum * 0.5f + table[at & 1023];
        at = at * 5 + i;
    }
    out[I] = sum;
}

KERNEL(special_fast)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = __sinf(x) + __expf(x); // cause: special_fast
    out[I] = x;
}

KERNEL(conversions_to_integers)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = rintf(x) * 1.5f + (int)x; // cause: conversions_to_integers
    out[I] = x;
}

KERNEL(none_conversions)(float *out, int n)
{
    float x = __int_as_float(I);
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = __sinf(x) * __int_as_float(__popc(__float_as_int(x)) | 0x3f800000);
    out[I] = x;
}

KERNEL(accurate_sine)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = sinf(x); // cause: accurate_sine
    out[I] = x;
}

KERNEL(accurate_exponential)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = expf(x); // cause: accurate_exponential
    out[I] = x;
}

KERNEL(accurate_logarithm)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = logf(x); // cause: accurate_logarithm
    out[I] = x;
}

KERNEL(accurate_power)(float *out, int n, float y)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = powf(x, y); // cause: accurate_power
    out[I] = x;
}

KERNEL(accurate_quotient)(float *out, int n, float y)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = y / x; // cause: accurate_quotient
    out[I] = x;
}

KERNEL(accurate_root)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = sqrtf(x); // cause: accurate_root
    out[I] = x;
}

KERNEL(accurate_hyperbolic)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = tanhf(x); // cause: accurate_hyperbolic
    out[I] = x;
}

KERNEL(none_accurate)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = __logf(x) + __fdividef(1.5f, x) * __cosf(x) + (x * 0.25f + 1) * x;
    out[I] = x;
}

// A quotient needs the numbers, however it is computed.
static __device__ __forceinline__ float quotients(const float *in, const float *by, int n)
{
    float sum = 0;
#pragma unroll 1
    for (int i = I; i < n; i += 4096)
        sum += in[i] / by[i];
    return sum;
}

KERNEL(quotients_of_loads)(float *out, const float *in, const float *by, int n)
{
    out[I] = quotients(in, by, n);
}

// The table of a sine is its own, also where other lines have loads.
KERNEL(quotients_and_a_sine)(float *out, const float *in, const float *by, int n)
{
    float sum = quotients(in, by, n);
    sum += sinf(sum);
    out[I] = sum;
}

KERNEL(quotients_behind_barriers)(float *out, const float *in, float by, int n)
{
    __shared__ float tile[256];
    float sum = 0;
#pragma unroll 1
    for (int i = I; i < n; i += 4096) {
        tile[threadIdx.x] = in[i];
        __syncthreads();
        sum += tile[255 - threadIdx.x] / (by + sum);
        __syncthreads();
    }
    out[I] = sum;
}

// A quotient and a barrier stand in one line.
#define PUT(value)                   \
    do {                             \
        tile[threadIdx.x] = (value); \
        __syncthreads();             \
    } while (0)
KERNEL(quotients_beside_barriers)(float *out, const float *in, float by, int n)
{
    __shared__ float tile[256];
    float sum = 0;
#pragma unroll 1
    for (int i = I; i < n; i += 4096) {
        PUT(sum / (by + i));
        sum += tile[255 - threadIdx.x] * 3;
        __syncthreads();
    }
    out[I] = sum;
}

KERNEL(quotients_by_loads)(unsigned *out, const unsigned *in, unsigned n)
{
    unsigned sum = 0;
#pragma unroll 1
    for (unsigned i = I; i < n; i += 4096)
        sum += n / in[i];
    out[I] = sum;
}

KERNEL(divisions_by_parameter)(int *out, int n, int divisor)
{
    int sum = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += (sum + i) / divisor; // cause: divisions_by_parameter
    out[I] = sum;
}

KERNEL(divisions_remainder)(unsigned *out, unsigned n, unsigned divisor)
{
    unsigned sum = I;
#pragma unroll 1
    for (unsigned i = 0; i < n; i++)
        sum += (sum + i) % divisor; // cause: divisions_remainder
    out[I] = sum;
}

KERNEL(divisions_by_loaded)(unsigned *out, const unsigned *in, unsigned n)
{
    __shared__ unsigned divisors[256];
    divisors[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    unsigned sum = I;
#pragma unroll 1
    for (unsigned i = 0; i < n; i++)
        sum = sum * 3 / divisors[i & 255]; // cause: divisions_by_loaded
    out[I] = sum;
}

KERNEL(divisions_of_64_bits)(long long *out, long long n, long long divisor)
{
    long long sum = I;
#pragma unroll 1
    for (long long i = 0; i < n; i++)
        sum += (sum * 12345 + i) / divisor; // cause: divisions_of_64_bits
    out[I] = sum;
}

// By constants: a product and a shift.
KERNEL(none_divisions)(int *out, int n)
{
    int sum = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += (sum + i) / 7 + (sum ^ i) % 1000;
    out[I] = sum;
}

// Half precision: one number of 16 bits at a time, and two.
KERNEL(halves_alone)(half *out, int n)
{
    half x = out[I], y = out[I + 1];
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        x = __hfma(x, y, x); // half: halves_alone
        y = __hadd(y, x);
    }
    out[I] = x * y;
}

KERNEL(halves_in_pairs)(half2 *out, int n)
{
    half2 x = out[I], y = out[I + 1];
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        x = __hfma2(x, y, x);
        y = __hadd2(y, x);
    }
    out[I] = x * y;
}

KERNEL(exchanges_of_a_sum)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        x = x * 0.5f + __shfl_xor_sync(~0u, x, 1); // cause: exchanges_of_a_sum
    out[I] = x;
}

KERNEL(sleeps_between_steps)(float *out, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        x = x * 0.5f + 0.25f;
        __nanosleep(200); // cause: sleeps_between_steps
    }
    out[I] = x;
}

KERNEL(barriers_of_one_warp)(float *out, int n)
{
    __shared__ float part[32];
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (threadIdx.x < 32)
#pragma unroll 1
            for (int k = 0; k < n; k++)
                x = x * 0.5f + 0.25f; // cause: barriers_of_one_warp
        part[threadIdx.x % 32] = x;
        __syncthreads(); // wait: barriers_of_one_warp
        x += part[(threadIdx.x + i) % 32];
    }
    out[I] = x;
}

// A switch by a table of targets, and parts of the code that threads come together behind.
KERNEL(loads_in_a_switch)(float *out, const float *in, int n)
{
    float x = I;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        switch ((threadIdx.x + i) & 7) {
        case 0:
            x += in[i * 5]; // cause: loads_in_a_switch
            break;
        case 1:
            x = __sinf(x);
            break;
        case 2:
            x *= 3;
            break;
        case 3:
            x -= out[i * 3]; // cause: loads_in_a_switch
            break;
        case 4:
            x = fmaxf(x, in[i * 7]); // cause: loads_in_a_switch
            break;
        case 5:
            x = x * x + 1;
            break;
        default:
            x *= out[I + i]; // cause: loads_in_a_switch
        }
    out[I] = x;
}
