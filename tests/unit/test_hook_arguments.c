/* hook/: the arguments that wrappers hand on. The wrappers are compiled in here, with functions in
 * place of those of other rooms that write down a line for each call. */
#include "gate/blocking.h"
#include "gate/captures.h"
#include "graph/allocations.h"
#include "hook/entry.h"
#include "launch/contexts.h"
#include "memory/buffers.h"
#include "memory/retired.h"
#include "memory/sharing.h"
#include "memory/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define STREAM ((CUstream)(uintptr_t)0x5000)
#define CONTEXT(n) ((CUcontext)(uintptr_t)(n))
#define POOL ((CUmemoryPool)(uintptr_t)0x6000)
#define ADDRESS 0x10000
#define OF_HOST ((void *)(uintptr_t)ADDRESS)

static char notes[4096]; /* the lines */
static CUresult result;  /* of the driver's calls */
static bool captured;    /* the stream is, and so are others */
static bool is_direct;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
    const size_t length = strlen(notes);
    va_list list;
    va_start(list, format);
    vsnprintf(notes + length, sizeof(notes) - length, format, list);
    va_end(list);
    strncat(notes, "\n", sizeof(notes) - strlen(notes) - 1);
}

/* All that was written down since the last time. */
static void noted(const char *expected)
{
    assert_string_equal(notes, expected);
    notes[0] = '\0';
}

#define gp_session_observes() true
#define gp_gate_enter() (void)0
#define gp_gate_leave() (void)0
#define gp_any_held() true
#define gp_captures() (captured ? 1u : 0u)
#define gp_stream_is_capturing(stream, per_thread, unknown) \
    ((void)(stream), note("captured%s?", (per_thread) ? " own" : ""), captured)
#define gp_graph_allocates() note("a graph allocates")
#define gp_buffer_add(kind, address, size) \
    note("kind %d: %zu bytes at %llx", kind, (size_t)(size), (unsigned long long)(address))
#define gp_buffer_add_host(address, size) note("host: %zu bytes at %p", (size_t)(size), address)
#define gp_buffer_add_pooled(address, size) \
    note("pooled: %zu bytes at %llx", (size_t)(size), (unsigned long long)(address))
#define gp_buffer_add_foreign(address, size, why)                                         \
    note("foreign: %zu bytes at %llx, %s", (size_t)(size), (unsigned long long)(address), \
         (why).text)
#define gp_memory_bar_replay(why) note("barred: %s", (why).text)
#define gp_retired_any() false
#define gp_retired_take(bytes, pool) ((void)(bytes), (CUdeviceptr)0)
#define gp_is_retired(address) false
#define gp_buffer_bytes(address) ((uint64_t)12)
#define gp_launch_retires_or_enters(address, bytes, may_stay, waits)                               \
    (note("%llu bytes at %llx go%s%s", (unsigned long long)(bytes), (unsigned long long)(address), \
          (may_stay) ? ", or stay" : "", (waits) ? ", behind all" : ""),                           \
     false)
#define gp_launch_enter_before_free(address, bytes) \
    note("%zu bytes at %llx go", (size_t)(bytes), (unsigned long long)(address))
#define gp_launch_enter_before_change() note("change")
#define gp_buffer_take(address) ((struct gp_buffer *)NULL)
#define gp_buffer_put_back(buffer) ((void)(buffer), note("it is there"))
#define gp_buffer_discard(buffer) ((void)(buffer), note("it has gone"))
#define gp_buffer_shared(address) note("%llx is shared", (unsigned long long)(address))
#define gp_range_shared(address, size) \
    note("%zu bytes at %llx are shared", (size_t)(size), (unsigned long long)(address))
#define gp_buffer_is_direct(address) is_direct
#define gp_buffer_make_direct(address) note("%llx is direct", (unsigned long long)(address))
#define gp_physical_made(handle) note("physical %llx", (unsigned long long)(handle))
#define gp_physical_shared(handle) note("physical %llx is shared", (unsigned long long)(handle))
#define gp_mapping_add(address, size, handle)                                                \
    note("mapped: %zu bytes at %llx of %llx", (size_t)(size), (unsigned long long)(address), \
         (unsigned long long)(handle))
#define gp_mapping_remove(address, size) \
    note("unmapped: %zu bytes at %llx", (size_t)(size), (unsigned long long)(address))
#define gp_mapping_set_access(address, size, device, writable)                                   \
    note("GPU %d %s %zu bytes at %llx", device, (writable) ? "writes" : "reads", (size_t)(size), \
         (unsigned long long)(address))
#define gp_mapping_set_host_access(address, size, writable)                                \
    note("the host %s %zu bytes at %llx", (writable) ? "writes" : "reads", (size_t)(size), \
         (unsigned long long)(address))
#define gp_pool_set_access(pool, device, writable) \
    note("GPU %d %s pool %p", device, (writable) ? "writes" : "reads", (void *)(pool))
#define gp_peer_enabled(by, owner) note("%p writes memory of %p", (void *)(by), (void *)(owner))
#define gp_capture_begins(stream, per_thread) \
    note("capture of %p%s", (void *)(stream), (per_thread) ? ", own" : "")
#define gp_capture_ends(stream, per_thread) \
    note("end of %p%s", (void *)(stream), (per_thread) ? ", own" : "")
#define gp_capture_of(stream) ((const struct gp_capture *)(const void *)(stream))
#define gp_capture_drop(capture) note("no capture of %p", (const void *)(capture))
#define gp_launch_before_stream_goes(stream) note("%p goes", (void *)(stream))
#define gp_launch(call) launched(call)

static CUresult launched(const struct gp_launch *l)
{
    note("%p in %p%s: %ux%ux%u of %ux%ux%u, clusters %ux%ux%u%s, %u shared, %u attributes%s%s",
         (void *)l->function, (void *)l->stream, l->per_thread_stream ? ", own" : "", l->grid[0],
         l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->cluster[0],
         l->cluster[1], l->cluster[2], l->cooperative ? ", cooperative" : "", l->shared_dynamic,
         l->attribute_count, l->parameters ? ", parameters" : "", l->extra ? ", extra" : "");
    return l->run(l);
}

#include "hook/launches.c"
#include "hook/memory.c"
#include "hook/sharing.c"

/* ---- the driver ------------------------------------------------------------------------------ */

static CUresult allocate(CUdeviceptr *p, size_t size)
{
    (void)size;
    *p = ADDRESS;
    return result;
}

static CUresult allocate_pitch(CUdeviceptr *p, size_t *pitch, size_t width, size_t height,
                               unsigned element)
{
    (void)width, (void)height, (void)element;
    *p = ADDRESS;
    *pitch = 512;
    return result;
}

static CUresult allocate_managed(CUdeviceptr *p, size_t size, unsigned flags)
{
    (void)flags;
    return allocate(p, size);
}

static CUresult allocate_in_order(CUdeviceptr *p, size_t size, CUstream stream)
{
    (void)stream;
    return allocate(p, size);
}

static CUresult register_host(void *p, size_t size, unsigned flags)
{
    (void)p, (void)size, (void)flags;
    return result;
}

static CUresult allocate_host(void **p, size_t size, unsigned flags)
{
    (void)size, (void)flags;
    *p = OF_HOST;
    return result;
}

static CUresult free_device(CUdeviceptr p)
{
    (void)p;
    return result;
}

static CUresult free_in_order(CUdeviceptr p, CUstream stream)
{
    (void)p, (void)stream;
    return result;
}

static CUresult free_host(void *p)
{
    (void)p;
    return result;
}

static CUresult map(CUdeviceptr p, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                    unsigned long long flags)
{
    (void)p, (void)size, (void)offset, (void)handle, (void)flags;
    return result;
}

static CUresult unmap(CUdeviceptr p, size_t size)
{
    (void)p, (void)size;
    return result;
}

static CUresult set_access(CUdeviceptr p, size_t size, const CUmemAccessDesc *list, size_t count)
{
    (void)p, (void)size, (void)list, (void)count;
    return result;
}

static CUresult set_pool_access(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count)
{
    (void)pool, (void)list, (void)count;
    return result;
}

static CUresult import(CUmemGenericAllocationHandle *handle, void *from,
                       CUmemAllocationHandleType type)
{
    (void)from, (void)type;
    *handle = 0x77;
    return result;
}

static CUresult give_range(void *handle, CUdeviceptr p, size_t size, CUmemRangeHandleType type,
                           unsigned long long flags)
{
    (void)handle, (void)p, (void)size, (void)type, (void)flags;
    return result;
}

static CUresult map_external(CUdeviceptr *p, CUexternalMemory memory,
                             const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *about)
{
    (void)memory, (void)about;
    *p = ADDRESS;
    return result;
}

static CUresult set_attribute(const void *value, CUpointer_attribute attribute, CUdeviceptr p)
{
    (void)value, (void)attribute, (void)p;
    return result;
}

static CUresult enable_peer(CUcontext peer, unsigned flags)
{
    (void)peer, (void)flags;
    return result;
}

static CUresult current_context(CUcontext *context)
{
    *context = CONTEXT(1);
    return CUDA_SUCCESS;
}

static CUresult context_of(CUstream stream, CUcontext *context)
{
    *context = stream == STREAM ? CONTEXT(1) : CONTEXT(2);
    return CUDA_SUCCESS;
}

static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream,
                       void **parameters, void **extra)
{
    note("really %p in %p: %ux%ux%u of %ux%ux%u, %u shared%s%s", (void *)f, (void *)stream, gx, gy,
         gz, bx, by, bz, shared, parameters ? ", parameters" : "", extra ? ", extra" : "");
    return result;
}

static CUresult launch_together(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                void **parameters)
{
    return launch(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, NULL);
}

static CUresult launch_extended(const CUlaunchConfig *c, CUfunction f, void **parameters,
                                void **extra)
{
    return launch(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY,
                  c->blockDimZ, c->sharedMemBytes, c->hStream, parameters, extra);
}

static CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)stream, (void)mode;
    return result;
}

static CUresult end_capture(CUstream stream, CUgraph *graph)
{
    (void)stream, (void)graph;
    return result;
}

static CUresult destroy_stream(CUstream stream)
{
    (void)stream;
    return result;
}

static int begin(void **state)
{
    (void)state;
    notes[0] = '\0';
    result = CUDA_SUCCESS;
    captured = is_direct = false;
    gp_cuda.cuMemAlloc_v2 = allocate;
    gp_cuda.cuMemAllocPitch_v2 = allocate_pitch;
    gp_cuda.cuMemAllocManaged = allocate_managed;
    gp_cuda.cuMemAllocAsync = gp_cuda.cuMemAllocAsync_ptsz = allocate_in_order;
    gp_cuda.cuMemHostAlloc = allocate_host;
    gp_cuda.cuMemHostRegister_v2 = register_host;
    gp_cuda.cuMemFree_v2 = free_device;
    gp_cuda.cuMemFreeAsync = gp_cuda.cuMemFreeAsync_ptsz = free_in_order;
    gp_cuda.cuMemFreeHost = gp_cuda.cuMemHostUnregister = free_host;
    gp_cuda.cuMemMap = map;
    gp_cuda.cuMemUnmap = unmap;
    gp_cuda.cuMemSetAccess = set_access;
    gp_cuda.cuMemPoolSetAccess = set_pool_access;
    gp_cuda.cuMemImportFromShareableHandle = import;
    gp_cuda.cuMemGetHandleForAddressRange = give_range;
    gp_cuda.cuExternalMemoryGetMappedBuffer = map_external;
    gp_cuda.cuPointerSetAttribute = set_attribute;
    gp_cuda.cuCtxEnablePeerAccess = enable_peer;
    gp_cuda.cuCtxGetCurrent = current_context;
    gp_cuda.cuStreamGetCtx = context_of;
    gp_cuda.cuLaunchKernel = gp_cuda.cuLaunchKernel_ptsz = launch;
    gp_cuda.cuLaunchCooperativeKernel = gp_cuda.cuLaunchCooperativeKernel_ptsz = launch_together;
    gp_cuda.cuLaunchKernelEx = gp_cuda.cuLaunchKernelEx_ptsz = launch_extended;
    gp_cuda.cuStreamDestroy_v2 = destroy_stream;
    gp_cuda.cuStreamBeginCapture_v2 = gp_cuda.cuStreamBeginCapture_v2_ptsz = begin_capture;
    gp_cuda.cuStreamEndCapture = gp_cuda.cuStreamEndCapture_ptsz = end_capture;
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void memory_has_its_kind_and_size(void **state)
{
    (void)state;
    CUdeviceptr p;
    size_t pitch;
    void *host;
    cuMemAlloc_v2(&p, 100);
    noted("kind 0: 100 bytes at 10000\n");
    cuMemAllocPitch_v2(&p, &pitch, 100, 3, 4);
    noted("kind 0: 1536 bytes at 10000\n");
    cuMemAllocManaged(&p, 100, CU_MEM_ATTACH_GLOBAL);
    noted("kind 1: 100 bytes at 10000\n");
    cuMemHostAlloc(&host, 100, 0);
    noted("host: 100 bytes at 0x10000\n");
    cuMemHostRegister_v2(OF_HOST, 100, CU_MEMHOSTREGISTER_DEVICEMAP);
    noted("host: 100 bytes at 0x10000\n");
    cuMemHostRegister_v2(OF_HOST, 100, CU_MEMHOSTREGISTER_IOMEMORY);
    noted("barred: kernels can write to another device's registers\n");
    result = CUDA_ERROR_INVALID_VALUE;
    cuMemAlloc_v2(&p, 100);
    cuMemHostRegister_v2(OF_HOST, 100, 0);
    noted("");
}

static void memory_of_a_pool_is_a_graphs_in_a_captured_stream(void **state)
{
    (void)state;
    CUdeviceptr p;
    cuMemAllocAsync(&p, 100, STREAM);
    noted("pooled: 100 bytes at 10000\n");
    captured = true;
    cuMemAllocAsync(&p, 100, NULL);
    noted("captured?\na graph allocates\n");
    cuMemAllocAsync_ptsz(&p, 100, NULL);
    noted("captured own?\na graph allocates\n");
}

static void memory_goes_or_stays(void **state)
{
    (void)state;
    cuMemFree_v2(ADDRESS);
    noted("12 bytes at 10000 go, or stay, behind all\nit has gone\n");
    cuMemFreeAsync(ADDRESS, STREAM);
    noted("12 bytes at 10000 go, or stay\nit has gone\n");
    /* In a stream of another context. */
    cuMemFreeAsync_ptsz(ADDRESS, (CUstream)(uintptr_t)0x5001);
    noted("12 bytes at 10000 go\nit has gone\n");
    cuMemFreeHost(OF_HOST);
    noted("12 bytes at 10000 go, behind all\nit has gone\n");
    result = CUDA_ERROR_INVALID_VALUE;
    cuMemHostUnregister(OF_HOST);
    noted("12 bytes at 10000 go, behind all\nit is there\n");
}

static void mappings_are_of_their_range(void **state)
{
    (void)state;
    const CUmemAccessDesc access[] = {
        {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 3}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READ},
        {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 5}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {.location = {CU_MEM_LOCATION_TYPE_HOST, 0}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    cuMemMap(ADDRESS, 200, 8, 0x77, 0);
    noted("mapped: 200 bytes at 10000 of 77\n");
    cuMemSetAccess(ADDRESS, 200, access, 3);
    noted("200 bytes at 10000 go\nGPU 3 reads 200 bytes at 10000\nGPU 5 writes 200 bytes at 10000\n"
          "the host writes 200 bytes at 10000\n");
    cuMemPoolSetAccess(POOL, access, 3);
    noted("change\nGPU 3 reads pool 0x6000\nGPU 5 writes pool 0x6000\n"
          "barred: the host can write memory of a pool\n");
    cuMemUnmap(ADDRESS, 200);
    noted("200 bytes at 10000 go\nunmapped: 200 bytes at 10000\n");
    result = CUDA_ERROR_INVALID_VALUE;
    cuMemUnmap(ADDRESS, 200);
    noted("200 bytes at 10000 go\nunmapped: 200 bytes at 10000\n"
          "barred: the program failed to unmap memory\n");
    cuMemSetAccess(ADDRESS, 200, access, 3);
    noted("200 bytes at 10000 go\n");
}

static void shared_memory_is_that_of_the_call(void **state)
{
    (void)state;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr p;
    int number;
    unsigned set = 0;
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC external = {.offset = 64, .size = 200};
    cuMemImportFromShareableHandle(&handle, NULL, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    noted("physical 77\nphysical 77 is shared\n");
    cuMemGetHandleForAddressRange(&number, ADDRESS, 200, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    noted("change\n200 bytes at 10000 are shared\n");
    cuExternalMemoryGetMappedBuffer(&p, NULL, &external);
    noted("foreign: 200 bytes at 10000, the launch reaches memory imported from another API\n");
    cuCtxEnablePeerAccess(CONTEXT(2), 0);
    noted("change\n0x1 writes memory of 0x2\n");
    cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ADDRESS);
    noted("");
    set = 1;
    cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, ADDRESS);
    noted("");
    cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ADDRESS);
    noted("change\n10000 is direct\n");
    is_direct = true;
    cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ADDRESS);
    noted("");
}

/* ---- launches -------------------------------------------------------------------------------- */

static const CUfunction function = (CUfunction)(uintptr_t)0x7000;
static void *list[1];

static void launches_are_described_and_made(void **state)
{
    (void)state;
    cuLaunchKernel(function, 1, 2, 3, 4, 5, 6, 7, STREAM, list, NULL);
    noted("0x7000 in 0x5000: 1x2x3 of 4x5x6, clusters 0x0x0, 7 shared, 0 attributes, parameters\n"
          "really 0x7000 in 0x5000: 1x2x3 of 4x5x6, 7 shared, parameters\n");
    cuLaunchKernel_ptsz(function, 1, 2, 3, 4, 5, 6, 7, NULL, NULL, list);
    noted("0x7000 in (nil), own: 1x2x3 of 4x5x6, clusters 0x0x0, 7 shared, 0 attributes, extra\n"
          "really 0x7000 in (nil): 1x2x3 of 4x5x6, 7 shared, extra\n");
    cuLaunchCooperativeKernel(function, 1, 2, 3, 4, 5, 6, 7, STREAM, list);
    noted("0x7000 in 0x5000: 1x2x3 of 4x5x6, clusters 0x0x0, cooperative, 7 shared, 0 attributes, "
          "parameters\nreally 0x7000 in 0x5000: 1x2x3 of 4x5x6, 7 shared, parameters\n");
    cuLaunchCooperativeKernel_ptsz(function, 1, 2, 3, 4, 5, 6, 7, NULL, list);
    noted("0x7000 in (nil), own: 1x2x3 of 4x5x6, clusters 0x0x0, cooperative, 7 shared, "
          "0 attributes, parameters\nreally 0x7000 in (nil): 1x2x3 of 4x5x6, 7 shared, "
          "parameters\n");
}

static void attributes_belong_to_a_launch(void **state)
{
    (void)state;
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {4, 2, 3}},
        {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1}};
    CUlaunchConfig config = {1, 2, 3, 4, 5, 6, 7, STREAM, attributes, 2};
    cuLaunchKernelEx(&config, function, list, NULL);
    noted("0x7000 in 0x5000: 1x2x3 of 4x5x6, clusters 4x2x3, cooperative, 7 shared, 2 attributes, "
          "parameters\nreally 0x7000 in 0x5000: 1x2x3 of 4x5x6, 7 shared, parameters\n");
    attributes[1].value.cooperative = 0;
    cuLaunchKernelEx_ptsz(&config, function, NULL, list);
    noted("0x7000 in 0x5000, own: 1x2x3 of 4x5x6, clusters 4x2x3, 7 shared, 2 attributes, extra\n"
          "really 0x7000 in 0x5000: 1x2x3 of 4x5x6, 7 shared, extra\n");
    config.attrs = NULL; /* of any number */
    cuLaunchKernelEx(&config, function, list, NULL);
    noted("0x7000 in 0x5000: 1x2x3 of 4x5x6, clusters 0x0x0, 7 shared, 0 attributes, parameters\n"
          "really 0x7000 in 0x5000: 1x2x3 of 4x5x6, 7 shared, parameters\n");
}

static void captures_end_as_they_began(void **state)
{
    (void)state;
    CUgraph graph;
    static const struct {
        CUresult result;
        bool ends;
    } ends[] = {{CUDA_SUCCESS, true},
                {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, true},
                {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, true},
                {CUDA_ERROR_ILLEGAL_STATE, false}};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        result = CUDA_SUCCESS;
        cuStreamBeginCapture_v2(STREAM, CU_STREAM_CAPTURE_MODE_GLOBAL);
        noted("capture of 0x5000\n");
        cuStreamBeginCapture_v2_ptsz(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL);
        noted("capture of (nil), own\n");
        result = ends[i].result;
        cuStreamEndCapture(STREAM, &graph);
        noted(ends[i].ends ? "end of 0x5000\n" : "");
        cuStreamEndCapture_ptsz(NULL, &graph);
        noted(ends[i].ends ? "end of (nil), own\n" : "");
    }
    cuStreamBeginCapture_v2_ptsz(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL);
    noted("capture of (nil), own\nend of (nil), own\n");
}

static void a_capture_goes_with_its_stream(void **state)
{
    (void)state;
    cuStreamDestroy_v2(STREAM);
    noted("0x5000 goes\nno capture of 0x5000\n");
    result = CUDA_ERROR_INVALID_HANDLE;
    cuStreamDestroy_v2(STREAM);
    noted("0x5000 goes\n");
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The name of a copy, taken apart, as the row has to have it. */
struct copy_row {
    const char *base, *suffix, *kind, *bytes, *stream;
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static const char *stream_by_name(const struct copy_row *row)
{
    if (strcmp(row->suffix, "_ptds") == 0)
        return "CU_STREAM_PER_THREAD";
    if (strcmp(row->suffix, "_ptsz") == 0)
        return "GP_PER_THREAD(hStream)";
    return strstr(row->base, "Async") ? "hStream" : "NULL";
}

static const char *kind_by_name(const char *base)
{
    if (starts_with(base, "Memset"))
        return "GP_FILL";
    if (starts_with(base, "MemcpyPeer"))
        return "GP_PEER_TO_PEER";
    if (starts_with(base, "Memcpy2D"))
        return "gp_copy_kind_2d(pCopy)";
    if (starts_with(base, "Memcpy3D"))
        return "gp_copy_kind_3d(pCopy)";
    if (starts_with(base, "MemcpyHto"))
        return "GP_HOST_TO_DEVICE";
    if (starts_with(base, "MemcpyDtoH") || starts_with(base, "MemcpyAtoH"))
        return "GP_DEVICE_TO_HOST";
    return strstr(base, "to") ? "GP_DEVICE_TO_DEVICE" : "GP_COPY_BY_ADDRESS";
}

static void bytes_by_name(const char *base, char *bytes, size_t size)
{
    const bool flat = starts_with(base, "MemsetD2D");
    const char *digits = base + strlen(flat ? "MemsetD2D" : "MemsetD");
    if (starts_with(base, "Memset"))
        snprintf(bytes, size, "%s%s",
                 *digits == '8'   ? ""
                 : *digits == '1' ? "2 * "
                                  : "4 * ",
                 flat ? "Width * Height" : "N");
    else if (starts_with(base, "Memcpy2D") || starts_with(base, "Memcpy3D"))
        snprintf(bytes, size, "gp_copy_bytes_%cd(pCopy)", base[strlen("Memcpy")]);
    else
        snprintf(bytes, size, "ByteCount");
}

static void each_copy_has_its_kind_bytes_and_stream(void **state)
{
    (void)state;
    static const struct copy_row rows[] = {
#define COPY(base, version, suffix, symbol, parameters, arguments, kind, bytes, stream) \
    {#base, #suffix, #kind, #bytes, #stream},
#include "cuda/functions.def"
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char bytes[64];
        bytes_by_name(rows[i].base, bytes, sizeof(bytes));
        if (strcmp(rows[i].stream, stream_by_name(&rows[i])) != 0 ||
            strcmp(rows[i].kind, kind_by_name(rows[i].base)) != 0 ||
            strcmp(rows[i].bytes, bytes) != 0)
            fail_msg("%s%s: %s, %s, %s", rows[i].base, rows[i].suffix, rows[i].kind, rows[i].bytes,
                     rows[i].stream);
    }
    assert_true(sizeof(rows) / sizeof(rows[0]) > 60);
}

/* The last argument of a call that notes the context which writes. */
static bool notes_stream(const char *suffix, const char *parameters, const char *note)
{
    const char *stream = strrchr(note, ',') + 1;
    if (strcmp(suffix, "_ptds") == 0)
        return strcmp(stream, " CU_STREAM_PER_THREAD)") == 0;
    const char *in = strstr(parameters, "CUstream hStream")  ? "hStream"
                     : strstr(parameters, "CUstream stream") ? "stream"
                                                             : "NULL";
    char expected[64];
    snprintf(expected, sizeof(expected), *suffix ? " GP_PER_THREAD(%s))" : " %s)", in);
    return strcmp(stream, expected) == 0;
}

static void each_write_has_its_stream(void **state)
{
    (void)state;
    static const struct {
        const char *symbol, *suffix, *parameters, *note;
    } rows[] = {
#define WRITES(base, version, suffix, symbol, parameters, arguments, note) \
    {#symbol, #suffix, #parameters, #note},
#include "cuda/functions.def"
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!notes_stream(rows[i].suffix, rows[i].parameters, rows[i].note))
            fail_msg("%s: %s", rows[i].symbol, rows[i].note);
    assert_true(sizeof(rows) / sizeof(rows[0]) > 12);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(memory_has_its_kind_and_size),
        TEST(memory_of_a_pool_is_a_graphs_in_a_captured_stream),
        TEST(memory_goes_or_stays),
        TEST(mappings_are_of_their_range),
        TEST(shared_memory_is_that_of_the_call),
        TEST(launches_are_described_and_made),
        TEST(attributes_belong_to_a_launch),
        TEST(captures_end_as_they_began),
        TEST(a_capture_goes_with_its_stream),
        TEST(each_copy_has_its_kind_bytes_and_stream),
        TEST(each_write_has_its_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
