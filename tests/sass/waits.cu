/* Loops that wait for a change, each in its own way, and the instructions of kernels that do not:
 * for waits.txt. Compiled for several architectures and disassembled, never run. The sleep keeps
 * the compiler from leaving a loop out. */
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>

namespace groups = cooperative_groups;

#define LOAD(name, instruction)                                                          \
    __global__ void name(int *flag)                                                      \
    {                                                                                    \
        int value;                                                                       \
        do {                                                                             \
            asm volatile(instruction " %0, [%1];" : "=r"(value) : "l"(flag) : "memory"); \
            __nanosleep(20);                                                             \
        } while (!value);                                                                \
    }
LOAD(plain, "ld.global.u32")
LOAD(relaxed_block, "ld.relaxed.cta.global.u32")
LOAD(relaxed_gpu, "ld.relaxed.gpu.global.u32")
LOAD(relaxed_system, "ld.relaxed.sys.global.u32")
LOAD(acquire_block, "ld.acquire.cta.global.u32")
LOAD(acquire_gpu, "ld.acquire.gpu.global.u32")
LOAD(acquire_system, "ld.acquire.sys.global.u32")
LOAD(of_device, "ld.mmio.relaxed.sys.global.u32")
LOAD(as_volatile, "ld.volatile.global.u32")
LOAD(constant, "ld.global.nc.u32")
LOAD(cached, "ld.global.ca.u32")
LOAD(cached_in_l2, "ld.global.cg.u32")
LOAD(streamed, "ld.global.cs.u32")
LOAD(not_cached, "ld.global.cv.u32")
LOAD(last_use, "ld.global.lu.u32")
LOAD(generic_plain, "ld.u32")
LOAD(generic_relaxed, "ld.relaxed.gpu.u32")
LOAD(generic_volatile, "ld.volatile.u32")
LOAD(shared_volatile, "ld.volatile.shared.u32")

__global__ void atomics(int *flag, int **table, unsigned short *half, float *number)
{
    while (atomicAdd(flag, 1) == 0 || atomicAdd_block(flag, 1) == 0 || atomicCAS(flag, 0, 1) ||
           atomicExch(flag, 1) || atomicCAS(half, 0, 1))
        ;
    number[1] = atomicAdd(number, 1.f);
    table[0][1] = atomicAdd(table[threadIdx.x], 1);
}

__global__ void reductions(int *flag, float *number)
{
    atomicAdd(flag, 1);
    atomicAdd(number, 1.f);
}

__global__ void shared_atomics(int *flag)
{
    __shared__ int shared;
    shared = 0;
    __syncthreads();
    while (atomicCAS(&shared, 0, 1))
        ;
    flag[0] = atomicAdd(&shared, flag[1]);
    atomicExch(&shared, 0);
}

__global__ void fence_block(int *flag)
{
    flag[threadIdx.x] = 1;
    __threadfence_block();
    flag[threadIdx.x + 32] = 2;
}

__global__ void fence_gpu(int *flag)
{
    while (*flag == 0)
        __threadfence();
}

__global__ void fence_system(int *flag)
{
    while (*flag == 0)
        __threadfence_system();
}

__global__ void store_release(int *flag)
{
    flag[1] = 4;
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    *(volatile int *)(flag + 2) = 1;
}

__global__ void grid_barrier(int *flag)
{
    flag[threadIdx.x]++;
    groups::this_grid().sync();
    flag[threadIdx.x]++;
}

__global__ void wait_atomic(cuda::atomic<int, cuda::thread_scope_system> *flag,
                            cuda::atomic<int, cuda::thread_scope_block> *own)
{
    flag->wait(0);
    while (own->load() == 0)
        ;
}

__global__ void block_barrier(int *data)
{
    __shared__ int shared[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(shared + threadIdx.x, data + threadIdx.x, 4, barrier);
    barrier.arrive_and_wait();
    data[threadIdx.x] = shared[255 - threadIdx.x];
}

__global__ void clocks(long long *data)
{
    unsigned long long now, start = clock64();
    while (clock64() - start < 1000000)
        ;
    do {
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (now < data[0]);
}

__global__ void textures(cudaTextureObject_t texture, float *data)
{
    data[0] = tex2D<float>(texture, data[1], data[2]) + tex1Dfetch<float>(texture, 3);
}

__global__ void surfaces(cudaSurfaceObject_t surface, float *data)
{
    data[0] = surf2Dread<float>(surface, 4, 2);
    surf2Dwrite(data[1], surface, 4, 3);
    asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %1}], %1;" ::"l"(surface), "r"(4));
}

__global__ void prefetch(int *data)
{
    asm volatile("prefetch.global.L2 [%0];" ::"l"(data));
    data[0] = 1;
}

__global__ void prints(int *data)
{
    printf("%d\n", data[0]);
}

#if __CUDA_ARCH__ >= 900
__global__ void multicast(int *data)
{
    int sum;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];" : "=r"(sum) : "l"(data));
    data[1] = sum;
}

__global__ void __cluster_dims__(2, 1, 1) cluster(int *data)
{
    __shared__ int shared;
    auto all = groups::this_cluster();
    shared = data[0];
    all.sync();
    data[1] = *all.map_shared_rank(&shared, 1);
    all.sync();
}

__global__ void after_other_kernel(int *data)
{
    cudaGridDependencySynchronize();
    data[0]++;
}
#endif

#if __CUDA_ARCH__ >= 1000
#define WIDE(name, instruction)                                                                \
    __global__ void name(const float *data, float *out)                                        \
    {                                                                                          \
        float v[8];                                                                            \
        asm volatile(instruction " {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];"                           \
                     : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), \
                       "=f"(v[6]), "=f"(v[7])                                                  \
                     : "l"(data));                                                             \
        out[0] = v[0] + v[7];                                                                  \
    }
WIDE(wide, "ld.global.v8.f32")
WIDE(wide_relaxed, "ld.relaxed.gpu.global.v8.f32")
#endif
