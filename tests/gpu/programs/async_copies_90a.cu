/* Copies between global and shared memory that no load or store does: by threads (cp.async) and in
 * blocks (TMA). Prints "KERNEL METRIC VALUE": the count that gpuprof must give. */
#include "check.h"
#include <string.h>

#define BLOCKS 64
#define THREADS 256
#define LAUNCHES 3
#define BULK 4096 /* bytes that a block copies at once */

#define ASYNC_KERNEL(name, how, size)                                                         \
    __global__ void name(const char *in, char *)                                              \
    {                                                                                         \
        __shared__ __align__(16) char here[THREADS * size];                                   \
        size_t i = (blockIdx.x * (size_t)THREADS + threadIdx.x) * size;                       \
        unsigned at = (unsigned)__cvta_generic_to_shared(here + threadIdx.x * size);          \
        asm volatile("cp.async." how ".shared.global [%0], [%1], %2; cp.async.commit_group;"  \
                     "cp.async.wait_group 0;" ::"r"(at), "l"(in + i), "n"(size)               \
                     : "memory");                                                             \
    }
ASYNC_KERNEL(async4, "ca", 4)
ASYNC_KERNEL(async8, "ca", 8)
ASYNC_KERNEL(async16, "ca", 16)
ASYNC_KERNEL(async16_past_l1, "cg", 16)

__global__ void bulk_load(const char *in, char *)
{
    __shared__ __align__(128) char here[BULK];
    __shared__ __align__(8) unsigned long long arrived;
    unsigned at = (unsigned)__cvta_generic_to_shared(here);
    unsigned barrier = (unsigned)__cvta_generic_to_shared(&arrived);
    if (threadIdx.x > 0)
        return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(barrier)
                 : "memory");
    asm volatile("{ .reg .b64 state; .reg .pred done;"
                 "mbarrier.arrive.expect_tx.shared.b64 state, [%0], %3;"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], %3, [%0];"
                 "again: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra again; }" ::"r"(barrier),
                 "r"(at), "l"(in + blockIdx.x * (size_t)BULK), "r"(BULK)
                 : "memory");
}

__global__ void bulk_store(const char *, char *out)
{
    __shared__ __align__(128) char here[BULK];
    for (int i = threadIdx.x; i < BULK; i += THREADS)
        here[i] = 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(here);
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%1], [%0], %2; cp.async.bulk.commit_group;"
                     "cp.async.bulk.wait_group 0;" ::"r"(at),
                     "l"(out + blockIdx.x * (size_t)BULK), "r"(BULK)
                     : "memory");
}

__global__ void plain(const char *in, char *out)
{
    size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;
    ((float *)out)[i] = ((const float *)in)[i];
}

static char *in, *out;

static void run(void (*kernel)(const char *, char *), const char *name, const char *metric, long bytes)
{
    for (int i = 0; i < LAUNCHES; i++)
        kernel<<<BLOCKS, THREADS>>>(in, out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    static const char *const metrics[] = {"async_copy_bytes", "tma_load_bytes", "tma_store_bytes"};
    for (int i = 0; i < 3; i++)
        printf("%s %s %ld\n", name, metrics[i], strcmp(metric, metrics[i]) == 0 ? bytes : 0);
    long sectors = strcmp(metric, "gld_moved_bytes") == 0 ? bytes / 32 : 0;
    printf("%s gld_transactions %ld\n%s gst_transactions %ld\n", name, sectors, name, sectors);
}

int main(void)
{
    const long most = (long)BLOCKS * THREADS * 16, threads = (long)BLOCKS * THREADS;
    CHECK(cudaMalloc(&in, most));
    CHECK(cudaMalloc(&out, most));
    CHECK(cudaMemset(in, 0, most));
    run(async4, "async4", "async_copy_bytes", threads * 4);
    run(async8, "async8", "async_copy_bytes", threads * 8);
    run(async16, "async16", "async_copy_bytes", threads * 16);
    run(async16_past_l1, "async16_past_l1", "async_copy_bytes", threads * 16);
    run(bulk_load, "bulk_load", "tma_load_bytes", (long)BLOCKS * BULK);
    run(bulk_store, "bulk_store", "tma_store_bytes", (long)BLOCKS * BULK);
    run(plain, "plain", "gld_moved_bytes", threads * 4);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return 0;
}
