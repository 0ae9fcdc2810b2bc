/*
 * calls_linked: every other way to launch a kernel, load its module and get its memory, each with a
 * kernel that updates in place: launches by cuLaunchKernel with packed parameters, by
 * cuLaunchKernelEx and cooperatively, in modules from files and fatbins, on pitched, registered,
 * pooled and mapped memory; a context that is destroyed and one that is reset, and used again.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#include <unistd.h>

#define N 1000u

static float host[N] __attribute__((aligned(4096)));

/* The kernel's parameters: x[i] = x[i] * factor + 1. */
struct scaling {
    CUdeviceptr x;
    unsigned n;
    float factor;
};

enum how { PLAIN, PACKED, EXTENDED, COOPERATIVE, HOWS };

static CUresult launch_as(enum how how, CUfunction f, struct scaling *s)
{
    void *params[] = {&s->x, &s->n, &s->factor};
    size_t size = sizeof(*s);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, s, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig config = {.gridDimX = 8,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 128,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};

    switch (how) {
    case PACKED:
        return cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra);
    case EXTENDED:
        return cuLaunchKernelEx(&config, f, params, NULL);
    case COOPERATIVE:
        return cuLaunchCooperativeKernel(f, 8, 1, 1, 128, 1, 1, 0, NULL, params);
    default:
        return cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, NULL, params, NULL);
    }
}

/* Two launches of each kind on N floats of 1; x becomes 2x + 1 each time. */
static void work_on(const char *what, CUfunction f, CUdeviceptr x)
{
    float expected = 1, *seen = malloc(sizeof(host));

    if (!seen)
        exit(2);
    for (unsigned i = 0; i < N; i++)
        seen[i] = 1;
    MUST(cuMemcpyHtoD(x, seen, sizeof(host)));
    for (int how = PLAIN; how < HOWS; how++) {
        for (int launch = 0; launch < 2; launch++) {
            struct scaling s = {x, N, 2};
            MUST(launch_as(how, f, &s));
            expected = expected * 2 + 1;
        }
    }
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(seen, x, sizeof(host)));
    for (unsigned i = 0; i < N; i++) {
        if (seen[i] != expected) {
            printf("%s: element %u is %g, not %g\n", what, i, (double)seen[i], (double)expected);
            exit(1);
        }
    }
    printf("%s: %g\n", what, (double)expected);
    free(seen);
}

static void every_memory(CUfunction f)
{
    CUdeviceptr x;
    size_t pitch;
    CUmemoryPool pool;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    size_t unit;

    MUST(cuMemAllocPitch(&x, &pitch, sizeof(host), 3, 4));
    work_on("pitch", f, x + pitch);
    MUST(cuMemFree(x));

    MUST(cuDeviceGetDefaultMemPool(&pool, 0));
    MUST(cuMemAllocFromPoolAsync(&x, sizeof(host), pool, NULL));
    work_on("pool", f, x);
    MUST(cuMemFreeAsync(x, NULL));
    MUST(cuCtxSynchronize());

    MUST(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    MUST(cuMemAddressReserve(&x, 2 * unit, 0, 0, 0));
    MUST(cuMemCreate(&memory, unit, &prop, 0));
    MUST(cuMemMap(x, unit, 0, memory, 0));
    MUST(cuMemSetAccess(x, unit, &access, 1));
    work_on("mapped", f, x);
    /* The same memory at a second address: a write through one is seen through the other. */
    MUST(cuMemMap(x + unit, unit, 0, memory, 0));
    MUST(cuMemSetAccess(x + unit, unit, &access, 1));
    work_on("mapped twice", f, x + unit);
    MUST(cuMemUnmap(x + unit, unit));
    work_on("mapped once again", f, x);
    MUST(cuMemUnmap(x, unit));
    MUST(cuMemRelease(memory));
    MUST(cuMemAddressFree(x, 2 * unit));
}

/* A capture that is given up with its stream is over. */
static void abandon_capture(CUfunction f)
{
    CUstream stream;
    CUdeviceptr x;

    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemAlloc(&x, sizeof(host)));
    work_on("after an abandoned capture", f, x);
    MUST(cuMemFree(x));
}

/* As old programs do. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static CUresult detach(CUcontext context)
{
    return cuCtxDetach(context);
}
#pragma GCC diagnostic pop

/* So is one whose context goes, be it in the thread's own stream, and be it the primary one. */
static void abandon_context(const void *image, bool primary, bool own_stream)
{
    CUcontext context;
    CUstream stream = CU_STREAM_PER_THREAD;
    CUmodule module;
    CUfunction f;
    CUdeviceptr x;

    if (primary) {
        MUST(cuDevicePrimaryCtxRetain(&context, 0));
        MUST(cuCtxSetCurrent(context));
    } else {
        MUST(cuCtxCreate_v2(&context, 0, 0));
    }
    if (!own_stream)
        MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    if (primary) {
        MUST(cuDevicePrimaryCtxReset(0));
        MUST(cuDevicePrimaryCtxRetain(&context, 0));
        MUST(cuCtxSetCurrent(context));
    } else {
        MUST(own_stream ? detach(context) : cuCtxDestroy(context));
    }
    MUST(cuModuleLoadData(&module, image));
    MUST(cuModuleGetFunction(&f, module, "scale_in_place"));
    MUST(cuMemAlloc(&x, sizeof(host)));
    work_on("after an abandoned context", f, x);
    MUST(cuMemFree(x));
    MUST(cuModuleUnload(module));
    if (primary)
        MUST(cuDevicePrimaryCtxRelease(0));
}

/* Host memory: a profiler cannot know the writer. */
static void host_memory_last(CUfunction f)
{
    CUdeviceptr x;

    /* By its name alone it is the one of the first drivers, which takes a smaller number. */
    CUresult (*allocate_host)(void **, unsigned int);
    void *memory;
    if (!gpu_store(&allocate_host, dlsym(RTLD_DEFAULT, "cuMemAllocHost")))
        exit(2);
    MUST(allocate_host(&memory, sizeof(host)));
    MUST(cuMemHostGetDevicePointer(&x, memory, 0));
    work_on("page-locked", f, x);
    MUST(cuMemFreeHost(memory));

    MUST(cuMemHostRegister(host, sizeof(host), CU_MEMHOSTREGISTER_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&x, host, 0));
    work_on("registered", f, x);
    MUST(cuMemHostUnregister(host));
}

/* A kernel of a communication library must run exactly as often as the program launches it. */
static void communicate(CUmodule module)
{
    CUfunction f;
    CUdeviceptr x;

    MUST(cuModuleGetFunction(&f, module, "_Z19ncclDevKernel_ScalePffj"));
    MUST(cuMemAlloc(&x, sizeof(host)));
    work_on("communication", f, x);
    MUST(cuMemFree(x));
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
        printf("cannot write %s\n", path);
        exit(2);
    }
}

static void every_module(const void *image, size_t size)
{
    char path[] = "/tmp/gpusim-module-XXXXXX";
    CUdeviceptr x;
    CUmodule module;
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    int fd = mkstemp(path);

    if (fd < 0 || close(fd) != 0)
        exit(2);
    write_file(path, image, size);
    MUST(cuMemAlloc(&x, sizeof(host)));

    MUST(cuModuleLoad(&module, path));
    MUST(cuModuleGetFunction(&f, module, "scale_in_place"));
    work_on("module from a file", f, x);
    MUST(cuModuleUnload(module));

    MUST(cuModuleLoadDataEx(&module, image, 0, NULL, NULL));
    MUST(cuModuleGetFunction(&f, module, "scale_in_place"));
    work_on("module with options", f, x);
    MUST(cuModuleUnload(module));

    MUST(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, library, "scale_in_place"));
    work_on("library from a file", (CUfunction)kernel, x);
    MUST(cuLibraryUnload(library));

    MUST(cuMemFree(x));
    (void)unlink(path);
}

/* A context that goes away with everything in it, and its address perhaps taken again. */
static void come_and_go(const void *image)
{
    for (int round = 0; round < 2; round++) {
        CUcontext context;
        CUmodule module;
        CUfunction f;
        CUdeviceptr x;
        MUST(cuCtxCreate_v2(&context, 0, 0));
        MUST(cuModuleLoadData(&module, image));
        MUST(cuModuleGetFunction(&f, module, "scale_in_place"));
        MUST(cuMemAlloc(&x, sizeof(host)));
        work_on("a context of its own", f, x);
        MUST(cuCtxDestroy(context));
    }
    for (int round = 0; round < 2; round++) {
        CUcontext context;
        CUmodule module;
        CUfunction f;
        CUdeviceptr x;
        MUST(cuDevicePrimaryCtxRetain(&context, 0));
        MUST(cuCtxSetCurrent(context));
        MUST(cuModuleLoadData(&module, image));
        MUST(cuModuleGetFunction(&f, module, "scale_in_place"));
        MUST(cuMemAlloc(&x, sizeof(host)));
        work_on("the primary context, reset", f, x);
        MUST(cuDevicePrimaryCtxReset(0));
    }
}

/* On memory that the host can write. */
static void work_beside_failures(CUfunction f)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemAccessDesc access[2] = {
        {.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {.location = {.type = CU_MEM_LOCATION_TYPE_HOST},
         .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr x;
    size_t unit;

    MUST(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    MUST(cuMemAddressReserve(&x, unit, 0, 0, 0));
    MUST(cuMemCreate(&memory, unit, &prop, 0));
    MUST(cuMemMap(x, unit, 0, memory, 0));
    MUST(cuMemSetAccess(x, unit, access, 2));
    for (int round = 0; round < 4; round++) {
        struct scaling s = {x, N, 2};
        void *params[] = {&s.x, &s.n, &s.factor};
        MUST(launch_as(PLAIN, f, &s));
        printf("%d\n", (int)cuLaunchKernel(f, 8, 1, 1, 4096, 1, 1, 0, NULL, params, NULL));
    }
    work_on("beside failures", f, x);
}

int main(int argc, char **argv)
{
    size_t size = 0, free_bytes, total;
    void *image = snippets_image(&size);
    CUcontext context;
    CUmodule module;
    CUfunction f;

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemGetInfo(&free_bytes, &total));
    MUST(cuModuleLoadData(&module, image));
    MUST(cuModuleGetFunction(&f, module, "scale_in_place"));
    if (argc > 1 && strcmp(argv[1], "barred") == 0) {
        work_beside_failures(f);
        return 0;
    }
    every_memory(f);
    abandon_capture(f);
    abandon_context(image, false, false);
    abandon_context(image, false, true);
    communicate(module);
    host_memory_last(f);
    every_module(image, size);
    MUST(cuModuleUnload(module));
    MUST(cuDevicePrimaryCtxRelease(0));
    abandon_context(image, true, false);
    come_and_go(image);
    free(image);
    return 0;
}
