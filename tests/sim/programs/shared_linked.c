/* shared_linked CASE...: memory that other processes or other GPUs can write, and memory beside
 * it that they cannot. Each launch makes x = 3 * x + 1 of every element, so that one that runs
 * twice, or from the wrong memory, is seen. Needs two devices.
 *
 * Kernels of the name reach_around only touch memory that is this process's and this GPU's own;
 * reach_list and reach_table touch shared memory. */
#include "programs/cases.h"
#include "programs/linked.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "image.h"

enum { N = 1000, BYTES = N * 4, LAUNCHES = 5 };

/* A context, and the kernels in it. */
struct owner {
    CUcontext context;
    CUmodule module;
};

static struct owner owners[2];

static void enter(const struct owner *owner)
{
    MUST(cuCtxSetCurrent(owner->context));
}

static uint32_t after(uint32_t i, unsigned launches)
{
    while (launches-- > 0)
        i = 3 * i + 1;
    return i;
}

static void fill(CUdeviceptr p, unsigned n)
{
    uint32_t numbers[N];

    for (unsigned i = 0; i < n; i++)
        numbers[i] = i;
    MUST(cuMemcpyHtoD(p, numbers, n * 4));
}

static CUdeviceptr make(void)
{
    CUdeviceptr p;

    MUST(cuMemAlloc(&p, BYTES));
    fill(p, N);
    return p;
}

static void check(const char *what, CUdeviceptr p, unsigned n, unsigned launches)
{
    uint32_t seen[N];

    MUST(cuMemcpyDtoH(seen, p, n * 4));
    for (unsigned i = 0; i < n; i++)
        if (seen[i] != after(i, launches)) {
            printf("%s: element %u is %u, not %u\n", what, i, seen[i], after(i, launches));
            exit(1);
        }
    printf("%s: the last of %u is %u\n", what, n, seen[n - 1]);
}

static void launch(const struct owner *owner, const char *name, unsigned threads, void **params)
{
    CUfunction f;

    MUST(cuModuleGetFunction(&f, owner->module, name));
    MUST(cuLaunchKernel(f, (threads + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
}

/* Updates as many elements, and as many before them. */
static void work_on_own(const struct owner *owner, CUdeviceptr x)
{
    CUdeviceptr middle = x + BYTES / 2;
    uint32_t half = N / 2;
    void *params[] = {&middle, &half};

    for (int k = 0; k < LAUNCHES; k++)
        launch(owner, "reach_around", N, params);
}

/* Updates the first words behind a table's pointers, which only the table's contents show. */
static void work_by_table(const struct owner *owner, CUdeviceptr x)
{
    CUdeviceptr table;
    uint32_t one = 1;
    void *params[] = {&table, &one};

    MUST(cuMemAlloc(&table, sizeof(x)));
    MUST(cuMemcpyHtoD(table, &x, sizeof(x)));
    for (int k = 0; k < LAUNCHES; k++)
        launch(owner, "reach_table", 1, params);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(table));
}

/* Updates the first word, a list of one element: value, and the next one's address. */
static void work_by_parameter(const struct owner *owner, CUdeviceptr x)
{
    uint32_t none[3] = {0};
    void *params[] = {&x};

    MUST(cuMemcpyHtoD(x, none, sizeof(none)));
    for (int k = 0; k < LAUNCHES; k++)
        launch(owner, "reach_list", 1, params);
}

static void check_word(const char *what, CUdeviceptr x, unsigned launches)
{
    check(what, x, 1, launches);
}

static void imported(void)
{
    CUdeviceptr own = make(), model = make(), other, again;
    CUipcMemHandle handle;

    MUST(cuIpcGetMemHandle(&handle, model));
    MUST(cuMemFree(model));
    MUST(cuIpcOpenMemHandle(&other, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    work_on_own(&owners[0], own);
    work_by_parameter(&owners[0], other);
    check_word("imported", other, LAUNCHES);
    work_by_table(&owners[0], other);
    check_word("imported, by a table", other, 2 * LAUNCHES);
    check("beside imported memory", own, N, LAUNCHES);
    MUST(cuIpcCloseMemHandle(other));
    again = make(); /* perhaps where the other was */
    work_on_own(&owners[0], again);
    check("after the import", again, N, LAUNCHES);
    MUST(cuMemFree(again));
    MUST(cuMemFree(own));
}

/* Opened twice it lies at one address, and is there until it is closed twice. */
static void imported_twice(void)
{
    CUdeviceptr own = make(), model = make(), other, same, again;
    CUipcMemHandle handle;

    MUST(cuIpcGetMemHandle(&handle, model));
    MUST(cuIpcOpenMemHandle(&other, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    MUST(cuIpcOpenMemHandle(&same, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    if (same != other)
        exit(3);
    MUST(cuIpcCloseMemHandle(other));
    work_by_parameter(&owners[0], other);
    check_word("closed once", other, LAUNCHES);
    MUST(cuIpcCloseMemHandle(other));
    again = make(); /* perhaps where the other was */
    work_on_own(&owners[0], again);
    check("closed twice", again, N, LAUNCHES);
    printf("never opened: %d\n", cuIpcCloseMemHandle(own));
    work_on_own(&owners[0], own);
    check("never opened", own, N, LAUNCHES);
    MUST(cuMemFree(again));
    MUST(cuMemFree(model));
    MUST(cuMemFree(own));
}

static void exported(void)
{
    CUdeviceptr own = make(), given = make();
    CUipcMemHandle handle;

    MUST(cuIpcGetMemHandle(&handle, given));
    work_on_own(&owners[0], own);
    work_by_parameter(&owners[0], given);
    check_word("exported", given, LAUNCHES);
    check("beside exported memory", own, N, LAUNCHES);
    MUST(cuMemFree(given));
    MUST(cuMemFree(own));
}

/* Pools of the host's memory, which the host may write at any time. */
static void host_pools(void)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_HOST}};
    CUdeviceptr own = make(), host;
    CUmemoryPool pool;

    MUST(cuMemPoolCreate(&pool, &props));
    MUST(cuMemAllocFromPoolAsync(&host, BYTES, pool, NULL));
    work_on_own(&owners[0], own);
    work_by_parameter(&owners[0], host);
    check_word("a pool of the host's", host, LAUNCHES);
    check("beside a pool of the host's", own, N, LAUNCHES);
    MUST(cuMemFreeAsync(host, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuMemPoolDestroy(pool));
    MUST(cuMemFree(own));
}

/* Memory on the other device, to which no access was enabled. */
static void apart(void)
{
    CUdeviceptr own[2];

    for (int i = 0; i < 2; i++) {
        enter(&owners[i]);
        own[i] = make();
    }
    for (int i = 0; i < 2; i++) {
        enter(&owners[i]);
        work_on_own(&owners[i], own[i]);
        check("apart", own[i], N, LAUNCHES);
    }
    for (int i = 0; i < 2; i++) {
        enter(&owners[i]);
        MUST(cuMemFree(own[i]));
    }
    enter(&owners[0]);
}

/* The first device may write memory of the second. */
static void peers(void)
{
    CUdeviceptr own[2], other;

    for (int i = 0; i < 2; i++) {
        enter(&owners[i]);
        own[i] = make();
    }
    other = make();
    enter(&owners[0]);
    MUST(cuCtxEnablePeerAccess(owners[1].context, 0));
    work_on_own(&owners[0], own[0]);
    work_by_parameter(&owners[0], other);
    check_word("on the other device", other, LAUNCHES);
    work_by_table(&owners[0], other);
    check_word("on the other device, by a table", other, 2 * LAUNCHES);
    enter(&owners[1]);
    work_on_own(&owners[1], own[1]);
    for (int i = 0; i < 2; i++) {
        enter(&owners[i]);
        check("beside it", own[i], N, LAUNCHES);
        MUST(cuMemFree(own[i]));
    }
    MUST(cuMemFree(other));
    enter(&owners[0]);
}

/* Launches of the second device on its memory, which the first may write, while that one is at
 * work, at rest, and at work again. */
static void work_beside(CUdeviceptr own)
{
    CUdeviceptr flag, seen;
    void *memory, *params[] = {&flag, &seen};

    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&flag, memory, 0));
    enter(&owners[0]);
    MUST(cuMemAlloc(&seen, 4));
    for (int round = 0; round < 3; round++) {
        const bool at_work = round != 1;
        *(uint32_t *)memory = 0;
        if (at_work)
            launch(&owners[0], "wait_for_flag", 1, params);
        enter(&owners[1]);
        fill(own, N);
        work_on_own(&owners[1], own);
        check(at_work ? "beside a GPU at work" : "beside a GPU at rest", own, N, LAUNCHES);
        __atomic_store_n((uint32_t *)memory, 7u, __ATOMIC_RELEASE);
        enter(&owners[0]);
        MUST(cuCtxSynchronize());
    }
    MUST(cuMemFree(seen));
    MUST(cuMemFreeHost(memory));
}

static void busy(void)
{
    CUdeviceptr own;

    enter(&owners[1]);
    own = make();
    enter(&owners[0]);
    MUST(cuCtxEnablePeerAccess(owners[1].context, 0));
    work_beside(own);
    enter(&owners[1]);
    MUST(cuMemFree(own));
    enter(&owners[0]);
}

static CUdeviceptr map(CUmemGenericAllocationHandle *memory, size_t *unit)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUdeviceptr x;

    MUST(cuMemGetAllocationGranularity(unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    MUST(cuMemAddressReserve(&x, *unit, 0, 0, 0));
    MUST(cuMemCreate(memory, *unit, &prop, 0));
    MUST(cuMemMap(x, *unit, 0, *memory, 0));
    return x;
}

static void give_access(CUdeviceptr x, size_t unit, int device, CUmemAccess_flags flags)
{
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
                              .flags = flags};

    MUST(cuMemSetAccess(x, unit, &access, 1));
}

/* Mapped memory that first one device may write, then both, then one again; then another process.
 */
static void mapped(void)
{
    CUmemGenericAllocationHandle memory, imported_memory;
    size_t unit;
    CUdeviceptr own = make(), x = map(&memory, &unit);
    int number;

    give_access(x, unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    fill(x, N);
    work_on_own(&owners[0], x);
    check("mapped", x, N, LAUNCHES);
    give_access(x, unit, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    work_by_parameter(&owners[0], x);
    check_word("mapped for both", x, LAUNCHES);
    work_on_own(&owners[0], own);
    check("beside memory mapped for both", own, N, LAUNCHES);
    give_access(x, unit, 1, CU_MEM_ACCESS_FLAGS_PROT_READ);
    fill(x, N);
    work_on_own(&owners[0], x);
    check("mapped for one again", x, N, LAUNCHES);

    MUST(
        cuMemExportToShareableHandle(&number, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    fill(x, N);
    work_by_table(&owners[0], x);
    check_word("mapped and exported", x, LAUNCHES);
    MUST(cuMemUnmap(x, unit));
    MUST(cuMemImportFromShareableHandle(&imported_memory, (void *)(intptr_t)number,
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    MUST(cuMemMap(x, unit, 0, imported_memory, 0));
    give_access(x, unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    work_by_parameter(&owners[0], x);
    check_word("imported and mapped", x, LAUNCHES);
    MUST(cuMemUnmap(x, unit));
    MUST(cuMemRelease(imported_memory));
    MUST(cuMemRelease(memory));
    MUST(cuMemAddressFree(x, unit));
    MUST(cuMemFree(own));
}

static void busy_mapped(void)
{
    CUmemGenericAllocationHandle memory;
    size_t unit;
    CUdeviceptr x = map(&memory, &unit);

    give_access(x, unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    give_access(x, unit, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    work_beside(x);
    MUST(cuMemUnmap(x, unit));
    MUST(cuMemRelease(memory));
    MUST(cuMemAddressFree(x, unit));
}

/* Launches on memory that is mapped for both, and the process is killed: none is replayed later. */
static void killed(void)
{
    CUmemGenericAllocationHandle memory;
    size_t unit;
    CUdeviceptr x = map(&memory, &unit);

    give_access(x, unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    give_access(x, unit, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    fill(x, N);
    for (int round = 0; round < 4; round++)
        work_on_own(&owners[0], x);
    check("mapped for both", x, N, 4 * LAUNCHES);
    (void)fflush(stdout);
    (void)raise(SIGKILL);
}

/* Mapped memory that is exported by another handle than the one it was mapped by. */
static void retained(void)
{
    CUmemGenericAllocationHandle memory, another;
    size_t unit;
    CUdeviceptr own = make(), x = map(&memory, &unit);
    int number;

    give_access(x, unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    MUST(cuMemRetainAllocationHandle(&another, (void *)(uintptr_t)(x + 4)));
    fill(x, N);
    work_on_own(&owners[0], x);
    check("retained", x, N, LAUNCHES);
    MUST(cuMemExportToShareableHandle(&number, another, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      0));
    work_by_parameter(&owners[0], x);
    check_word("exported by another handle", x, LAUNCHES);
    work_on_own(&owners[0], own);
    check("beside it", own, N, LAUNCHES);
    MUST(cuMemUnmap(x, unit));
    MUST(cuMemRelease(another));
    MUST(cuMemRelease(memory));
    MUST(cuMemAddressFree(x, unit));
    MUST(cuMemFree(own));
}

/* Memory that is given to another device, of any kind, as a range of addresses. */
static void range(void)
{
    CUdeviceptr own = make(), given = make();
    int number;

    MUST(cuMemGetHandleForAddressRange(&number, given, BYTES, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD,
                                       0));
    work_on_own(&owners[0], own);
    work_by_parameter(&owners[0], given);
    check_word("given as a range", given, LAUNCHES);
    check("beside given memory", own, N, LAUNCHES);
    MUST(cuMemFree(given));
    MUST(cuMemFree(own));
}

static void pools(void)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1},
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemoryPool shared, usual;
    CUdeviceptr own, before, later;

    MUST(cuDeviceGetDefaultMemPool(&usual, 0));
    MUST(cuMemPoolCreate(&shared, &props));
    MUST(cuMemAllocAsync(&own, BYTES, NULL));
    MUST(cuMemAllocFromPoolAsync(&before, BYTES, shared, NULL));
    MUST(cuMemPoolSetAccess(shared, &access, 1));
    MUST(cuMemAllocFromPoolAsync(&later, BYTES, shared, NULL));
    fill(own, N);
    work_on_own(&owners[0], own);
    work_by_parameter(&owners[0], before);
    work_by_parameter(&owners[0], later);
    check("a pool of its own", own, N, LAUNCHES);
    check_word("a pool for both", before, LAUNCHES);
    check_word("a pool for both", later, LAUNCHES);
    MUST(cuMemFreeAsync(own, NULL));
    MUST(cuMemFreeAsync(before, NULL));
    MUST(cuMemFreeAsync(later, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuMemPoolDestroy(shared));
}

static void open_devices(void)
{
    static const struct gpusim_image_kernel kernels[] = {{"reach_around", 12, 0, 0},
                                                         {"reach_table", 12, 0, 0},
                                                         {"reach_list", 12, 0, 0},
                                                         {"wait_for_flag", 12, 0, 0}};
    size_t bytes;
    void *image =
        gpusim_image_build(kernels, sizeof(kernels) / sizeof(kernels[0]), NULL, 0, &bytes);

    if (!image)
        exit(2);
    MUST(cuInit(0));
    for (int i = 1; i >= 0; i--) {
        MUST(cuDevicePrimaryCtxRetain(&owners[i].context, i));
        enter(&owners[i]);
        MUST(cuModuleLoadData(&owners[i].module, image));
    }
    free(image);
}

int main(int argc, char **argv)
{
    static const struct program_case cases[] = {{"imported", imported},
                                                {"imported_twice", imported_twice},
                                                {"exported", exported},
                                                {"apart", apart},
                                                {"peers", peers},
                                                {"busy", busy},
                                                {"busy_mapped", busy_mapped},
                                                {"killed", killed},
                                                {"mapped", mapped},
                                                {"pools", pools},
                                                {"host_pools", host_pools},
                                                {"retained", retained},
                                                {"range", range},
                                                {0}};

    open_devices();
    for (int i = 1; i < argc; i++)
        run_case(cases, argv[i]);
    return 0;
}
