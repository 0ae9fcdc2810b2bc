// Kernels of which the tests know where each line went.
__device__ __noinline__ float called(float x)
{
    return x * x + 1.0f; // called
}

__device__ float deepest(float x, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += x * i; // deepest
    return sum;
}

__device__ float middle(float x, int n)
{
    return deepest(x, n) * 3.0f; // call of deepest
}

template <class T> __global__ void first(T *p, const T *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = middle(q[i], n) + called(q[i]); // call of middle
}

__global__ void second(double *p)
{
    __shared__ double s[64];
    s[threadIdx.x] = p[threadIdx.x]; // copy to shared
    __syncthreads();
    p[threadIdx.x] = s[63 - threadIdx.x] * 2.0;
}

template __global__ void first(float *, const float *, int);
template __global__ void first(int *, const int *, int);

__device__ float through_a_header(const float *p)
{
    return __ldcg(p) * 2.0f; // call into a header
}

__global__ void third(float *p, const float *q)
{
    p[threadIdx.x] = through_a_header(q + threadIdx.x); // call of through_a_header
}

__global__ void fourth(double *p, const double *q)
{
    __syncthreads(); // the first barrier
    p[threadIdx.x] = p[threadIdx.x] * 3.0 + q[threadIdx.x] * 5.0; // two operations
    __syncthreads();
}

__global__ void fifth(float *p, int rounds)
{
    float rise = threadIdx.x, fall = 1;
#pragma unroll 8
    for (int r = 0; r < rounds; r++)
        if ((threadIdx.x + r) % 2)
            rise = __fmul_rn(__fadd_rn(__fmul_rn(__fadd_rn(rise, 0.25f), 1.1f), 0.5f), 0.9f); // one side
        else
            fall = __fadd_rn(__fmul_rn(__fadd_rn(__fmul_rn(fall, 0.9f), -0.1f), 1.2f), -0.5f); // the other
    p[threadIdx.x] = rise + fall;
}

// Many lines, each with an access.
__global__ void sixth(float *p, const float *q)
{
    p[threadIdx.x * 2] = q[threadIdx.x * 3];
    p[threadIdx.x * 3] = q[threadIdx.x * 4];
    p[threadIdx.x * 4] = q[threadIdx.x * 5];
    p[threadIdx.x * 5] = q[threadIdx.x * 6];
    p[threadIdx.x * 6] = q[threadIdx.x * 7];
    p[threadIdx.x * 7] = q[threadIdx.x * 8];
    p[threadIdx.x * 8] = q[threadIdx.x * 9];
    p[threadIdx.x * 9] = q[threadIdx.x * 10];
    p[threadIdx.x * 10] = q[threadIdx.x * 11];
    p[threadIdx.x * 11] = q[threadIdx.x * 12];
    p[threadIdx.x * 12] = q[threadIdx.x * 13];
    p[threadIdx.x * 13] = q[threadIdx.x * 14];
    p[threadIdx.x * 14] = q[threadIdx.x * 15];
    p[threadIdx.x * 15] = q[threadIdx.x * 16];
}
