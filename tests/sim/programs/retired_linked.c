/*
 * retired_linked CASE...: memory that is freed right behind the launches that reach it. In the case
 * "loop" each round allocates, launches two kernels that do other work than all before, and frees;
 * new memory must be zero. In the case "prefers" each round says which cache and how much shared
 * memory the kernels prefer. In the case "pools" memory is from pools. In the case "twice" memory
 * is freed twice, in "refused" the driver refuses to free it, in "sizes" the next allocation is
 * larger or smaller, in "full" it takes nearly all memory of the GPU, in "threads" each of some
 * threads does the loop, and in "contexts" the context goes, or another one frees. Each launch
 * changes its memory, so that one that runs twice, or from the wrong memory, is seen. An alarm ends
 * the program after 60 seconds.
 */
#include <pthread.h>
#include <unistd.h>

#include "programs/cases.h"
#include "programs/linked.h"
#include "programs/snippets.h"

enum { ROUNDS = 100, N = 64, THREADS = 3 };

static CUcontext context;
static CUmodule module;

struct kernels {
    CUfunction scale, count_down;
};

static struct kernels kernels_of(CUmodule from)
{
    struct kernels k;
    MUST(cuModuleGetFunction(&k.scale, from, "scale_in_place"));
    MUST(cuModuleGetFunction(&k.count_down, from, "count_down"));
    return k;
}

static CUdeviceptr allocate_zeros(unsigned words)
{
    uint32_t seen[N];
    CUdeviceptr p;

    MUST(cuMemAlloc(&p, 4 * words));
    MUST(cuMemcpyDtoH(seen, p, sizeof(seen)));
    for (unsigned i = 0; i < N; i++)
        expect(seen[i] == 0, "new memory");
    return p;
}

static void scale(const struct kernels *k, CUdeviceptr x)
{
    unsigned n = N;
    float factor = 2;
    void *params[] = {&x, &n, &factor};

    MUST(cuLaunchKernel(k->scale, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
}

/* Launches that count other instructions in each round. */
static void work(const struct kernels *k, CUdeviceptr x, CUdeviceptr number, unsigned round)
{
    float seen[N];
    uint32_t left;
    void *counting[] = {&number};

    MUST(cuMemsetD32(x, 0, N));
    MUST(cuMemsetD32(number, 100 + round, N));
    scale(k, x);
    MUST(cuLaunchKernel(k->count_down, 1, 1, 1, 1, 1, 1, 0, NULL, counting, NULL));
    MUST(cuMemcpyDtoH(seen, x, sizeof(seen)));
    MUST(cuMemcpyDtoH(&left, number, sizeof(left)));
    expect(seen[N - 1] == 1 && left == 99 + round, "work");
}

static void rounds(const struct kernels *k, unsigned first)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        CUdeviceptr x = allocate_zeros(N), number = allocate_zeros(N);
        work(k, x, number, first + i);
        MUST(cuMemFree(x));
        MUST(cuMemFree(number));
    }
}

/* Before each launch the function is set to prefer the same cache, and may have as much shared
 * memory as before, by the one name of a library's kernel or the other. */
static void prefers(void)
{
    struct kernels k = kernels_of(module);
    CUdeviceptr x = allocate_zeros(N), number = allocate_zeros(N);
    CUlibrary library;
    CUkernel kernel;
    size_t size;
    void *image = snippets_image(&size);

    MUST(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    free(image);
    MUST(cuLibraryGetKernel(&kernel, library, "count_down"));
    MUST(cuKernelGetFunction(&k.count_down, kernel));
    for (unsigned i = 0; i < ROUNDS; i++) {
        MUST(cuFuncSetCacheConfig(k.scale, CU_FUNC_CACHE_PREFER_L1));
        MUST(cuFuncSetCacheConfig(k.count_down, CU_FUNC_CACHE_PREFER_SHARED));
        MUST(cuFuncSetAttribute(k.count_down, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                1024));
        MUST(
            cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, kernel, 0));
        work(&k, x, number, i);
    }
    MUST(cuMemFree(x));
    MUST(cuMemFree(number));
    printf("prefers\n");
}

static void loop(void)
{
    struct kernels k = kernels_of(module);
    rounds(&k, 0);
    printf("loop\n");
}

/* The loop has memory of a pool, which stays as it was. */
static void pool(CUmemoryPool from)
{
    struct kernels k = kernels_of(module);
    CUstream stream;

    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < ROUNDS; i++) {
        CUdeviceptr x, number;
        for (int n = 0; n < 2; n++)
            MUST(from ? cuMemAllocFromPoolAsync(n ? &x : &number, 4 * N, from, stream)
                      : cuMemAllocAsync(n ? &x : &number, 4 * N, stream));
        MUST(cuStreamSynchronize(stream));
        work(&k, x, number, i);
        MUST(cuMemFreeAsync(x, stream));
        MUST(cuMemFreeAsync(number, stream));
    }
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    printf("pool\n");
}

static void pools(void)
{
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemoryPool own;

    pool(NULL);
    MUST(cuMemPoolCreate(&own, &properties));
    pool(own);
    MUST(cuMemPoolDestroy(own));
}

/* Bytes that are allocated from the device's pool. */
static cuuint64_t used(void)
{
    CUmemoryPool from;
    cuuint64_t bytes;

    MUST(cuDeviceGetMemPool(&from, 0));
    MUST(cuMemPoolGetAttribute(from, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    return bytes;
}

static void bytes_of_pool(void)
{
    struct kernels k = kernels_of(module);
    CUstream stream;
    CUdeviceptr x;

    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned bytes = 4 * N; bytes <= 1 << 24; bytes *= 64) {
        MUST(cuMemAllocAsync(&x, bytes, stream));
        MUST(cuStreamSynchronize(stream));
        scale(&k, x);
        MUST(cuCtxSynchronize());
        cuuint64_t before = used();
        printf("bytes_of_pool: %d", cuMemFreeAsync(x, (CUstream)(uintptr_t)0x12345678));
        printf(" %d", cuMemFreeAsync(x, stream));
        MUST(cuStreamSynchronize(stream));
        printf(" %lld\n", (long long)(before - used()));
    }
    MUST(cuStreamDestroy(stream));
}

/* Memory of a pool that was allocated in a context which goes while a stream is captured. */
static void elsewhere(void)
{
    struct kernels k = kernels_of(module);
    CUdeviceptr x, plain, pooled;
    CUstream stream, captured, its;
    CUcontext own;
    CUgraph graph;

    MUST(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxCreate_v2(&own, 0, 0));
    MUST(cuStreamCreate(&its, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAllocAsync(&x, 4 * N, its));
    MUST(cuStreamSynchronize(its));
    MUST(cuCtxSetCurrent(context));
    scale(&k, x);
    MUST(cuCtxSynchronize());
    MUST(cuMemFreeAsync(x, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuCtxDestroy(own));
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamEndCapture(captured, &graph));
    MUST(cuMemAlloc(&plain, 4 * N));
    MUST(cuMemAllocAsync(&pooled, 4 * N, stream));
    MUST(cuStreamSynchronize(stream));
    expect(plain != pooled, "elsewhere");
    MUST(cuMemFree(plain));
    MUST(cuMemFreeAsync(pooled, stream));
    printf("elsewhere\n");
}

/* Some launches of other memory are alike, and stay held. */
static void twice(void)
{
    struct kernels k = kernels_of(module);
    CUdeviceptr y = allocate_zeros(N);

    for (unsigned round = 0; round < 20; round++) {
        CUdeviceptr x = allocate_zeros(N);
        for (unsigned i = 0; i < 5; i++)
            scale(&k, i ? y : x);
        MUST(cuMemFree(x));
        printf("twice: %d\n", cuMemFree(x));
    }
    MUST(cuMemFree(y));
}

/* Memory that the driver refuses to free stays the kernels' to write. */
static void refused(void)
{
    struct kernels k = kernels_of(module);
    CUdeviceptr x;
    float seen[N];

    MUST(cuMemAllocAsync(&x, sizeof(seen), NULL));
    MUST(cuMemsetD32(x, 0, N));
    for (unsigned i = 0; i < 5; i++) {
        scale(&k, x);
        printf("refused: %d\n", cuMemFreeAsync(x, (CUstream)(uintptr_t)0x12345678));
    }
    MUST(cuMemcpyDtoH(seen, x, sizeof(seen)));
    expect(seen[0] == 31 && seen[N - 1] == 31, "refused");
    MUST(cuMemFreeAsync(x, NULL));
}

static void sizes(void)
{
    struct kernels k = kernels_of(module);
    for (unsigned i = 0; i < 20; i++) {
        CUdeviceptr x = allocate_zeros(N + 4096 * (i % 5)), number = allocate_zeros(N + 8192 * i);
        work(&k, x, number, i);
        MUST(cuMemFree(x));
        MUST(cuMemFree(number));
    }
    printf("sizes\n");
}

static void full(void)
{
    struct kernels k = kernels_of(module);
    size_t unused, total;

    for (unsigned i = 0; i < 4; i++) {
        CUdeviceptr x = allocate_zeros(8 << 20), number = allocate_zeros(N), large;
        work(&k, x, number, i);
        MUST(cuMemFree(x));
        MUST(cuMemGetInfo(&unused, &total));
        printf("full: %d\n", cuMemAlloc(&large, unused - (1 << 20)));
        MUST(cuMemFree(large));
        MUST(cuMemFree(number));
    }
}

static void *thread(void *number)
{
    MUST(cuCtxSetCurrent(context));
    struct kernels k = kernels_of(module);
    rounds(&k, 1000 * *(unsigned *)number);
    return NULL;
}

static void threads(void)
{
    unsigned numbers[THREADS];
    pthread_t made[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        expect(pthread_create(&made[i], NULL, thread, &numbers[i]) == 0, "threads");
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(made[i], NULL);
    printf("threads\n");
}

static void contexts(void)
{
    for (unsigned i = 0; i < 3; i++) {
        CUcontext own;
        CUmodule its;
        size_t size;
        void *image = snippets_image(&size);

        MUST(cuCtxCreate_v2(&own, 0, 0));
        MUST(cuModuleLoadData(&its, image));
        free(image);
        struct kernels k = kernels_of(its);
        CUdeviceptr x = allocate_zeros(N), number = allocate_zeros(N);
        work(&k, x, number, i);
        MUST(cuMemFree(x));
        MUST(cuCtxSetCurrent(context));
        MUST(cuMemFree(number));
        MUST(cuCtxDestroy(own));
        MUST(cuCtxSetCurrent(context));
        loop();
    }
}

int main(int argc, char **argv)
{
    static const struct program_case cases[] = {
        {"loop", loop},           {"prefers", prefers},
        {"twice", twice},         {"refused", refused},
        {"sizes", sizes},         {"full", full},
        {"threads", threads},     {"contexts", contexts},
        {"pools", pools},         {"bytes_of_pool", bytes_of_pool},
        {"elsewhere", elsewhere}, {0}};
    size_t size;
    void *image;

    (void)alarm(60);
    MUST(cuInit(0));
    MUST(cuCtxCreate_v2(&context, 0, 0));
    image = snippets_image(&size);
    MUST(cuModuleLoadData(&module, image));
    free(image);
    for (int i = 1; i < argc; i++)
        run_case(cases, argv[i]);
    return 0;
}
