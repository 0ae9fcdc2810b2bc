/* Kernels that may wait for others and kernels that cannot, for the unit test of code/waits: those
 * that may have a name that begins with "may_". */

extern "C" __global__ void plain_loop(int *a, int n)
{
    for (int i = 0; i < n && a[i] != 7; i++)
        a[i] = 3 * a[i] + 1;
}

extern "C" __global__ void shared_alone(int *a)
{
    __shared__ int s[256];
    __shared__ volatile int flag;
    s[threadIdx.x] = a[threadIdx.x];
    flag = 0;
    __syncthreads();
    if (atomicAdd(&s[0], 1) == 5)
        flag = 1;
    __threadfence_block();
    a[threadIdx.x] = s[255 - threadIdx.x] + flag;
}

/* For atomicAdd nvcc writes an operation with an answer into PTX. */
extern "C" __global__ void adds(int *a)
{
    asm volatile("red.global.add.u32 [%0], 3;" ::"l"(a) : "memory");
}

extern "C" __global__ void reads_the_clock(long long *a, long long ticks)
{
    const long long began = clock64();
    while (clock64() - began < ticks)
        ;
    a[0] = ticks;
}

extern "C" __global__ void streams_loads(const int *__restrict__ a, int *b, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += __ldcs(a + i) + __ldg(a + i);
    __stcg(b, sum);
}

extern "C" __global__ void may_poll(volatile int *a, int *b)
{
    while (a[0] == 0)
        ;
    b[0] = 1;
}

extern "C" __global__ void may_take_numbers(int *a, int *b)
{
    b[atomicAdd(a, 1)] = 1;
}

extern "C" __global__ void may_compare(int *a)
{
    while (atomicCAS(a, 0, 1) != 0)
        ;
}

extern "C" __global__ void may_see_behind_a_fence(int *a, int *b)
{
    b[0] = a[0];
    __threadfence();
    b[1] = a[0];
}

extern "C" __global__ void may_see_behind_a_fence_of_the_system(int *a, int *b)
{
    b[0] = a[0];
    __threadfence_system();
    b[1] = a[0];
}

extern "C" __global__ void may_acquire(int *a, int *b)
{
    int seen;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(a) : "memory");
    b[0] = seen;
}

extern "C" __global__ void may_relax(int *a, int *b)
{
    int seen;
    asm volatile("{ .reg .pred p;\n@!p ld.relaxed.sys.global.u32 %0, [%1]; }" : "=r"(seen) : "l"(a));
    b[0] = seen;
}

/* By its machine code such a load is one that sees changes as far as the SM does. */
extern "C" __global__ void may_load_into_all_caches(int *a, int *b)
{
    b[0] = __ldca(a);
}

extern "C" __global__ void may_load_past_the_cache(int *a, int *b)
{
    b[0] = __ldcg(a);
    b[1] = __ldcv(a);
}

__device__ __noinline__ int ask(int *a)
{
    return atomicExch(a, 1);
}

__device__ __noinline__ int ask_again(int *a)
{
    return ask(a) + 1;
}

__device__ __noinline__ int square(int x)
{
    return x * x;
}

extern "C" __global__ void calls_square(int *a)
{
    a[0] = square(a[1]);
}

extern "C" __global__ void may_ask(int *a, int *b)
{
    b[0] = ask_again(a);
}

extern "C" __global__ void may_call_anything(int *a, int (*function)(int))
{
    a[0] = function(a[1]);
}
