/* Allocation and free. An allocation is entered after the real one, a free reported before the real
 * one, so that an address is never in the list while it can belong to something else. */
#include "gate/captures.h"
#include "graph/allocations.h"
#include "hook/entry.h"
#include "launch/contexts.h"
#include "launch/host_calls.h"
#include "launch/launch.h"
#include "memory/buffers.h"
#include "memory/retired.h"
#include "memory/sharing.h"
#include "memory/snapshot.h"

/* A program must not run out of memory because of us: we free ours, then the call is made again. A
 * launch of another thread may have taken it meanwhile; the next time none can. */
#define WITH_RETRY(result, call)                                            \
    CUresult result = (call);                                               \
    if (result == CUDA_ERROR_OUT_OF_MEMORY && gp_launch_release_memory()) { \
        result = (call);                                                    \
        if (result == CUDA_ERROR_OUT_OF_MEMORY) {                           \
            if (gp_launch_leave_memory())                                   \
                result = (call);                                            \
            gp_gate_leave();                                                \
        }                                                                   \
    }

/* Hands out memory that the program has freed before (0: there is none), or makes the call. */
#define TAKE_OR_ALLOCATE(result, dptr, retired, call) \
    if (retired)                                      \
        *dptr = retired;                              \
    WITH_RETRY(result, retired ? CUDA_SUCCESS : (call))

GP_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    GP_FORWARD_UNLESS_OURS(cuMemGetInfo_v2, free, total);
    CUresult result = gp_cuda.cuMemGetInfo_v2(free, total);
    /* The program can have our memory, see above. */
    if (result == CUDA_SUCCESS && free)
        *free += gp_snapshot_held_memory();
    return result;
}

GP_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    GP_FORWARD_UNLESS_OURS(cuMemAlloc_v2, dptr, bytesize);
    CUdeviceptr retired = dptr && gp_captures() == 0 ? gp_retired_take(bytesize, NULL) : 0;
    struct gp_host_call call = gp_host_call_begins();
    if (retired)
        call.began = 0;
    TAKE_OR_ALLOCATE(result, dptr, retired, gp_cuda.cuMemAlloc_v2(dptr, bytesize));
    gp_host_call_ends(&call, GP_HOST_ALLOCATION, 0, result);
    if (result == CUDA_SUCCESS)
        gp_buffer_add(GP_BUFFER_DEVICE, *dptr, bytesize);
    return result;
}

GP_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                      size_t Height, unsigned int ElementSizeBytes)
{
    GP_FORWARD_UNLESS_OURS(cuMemAllocPitch_v2, dptr, pPitch, WidthInBytes, Height,
                           ElementSizeBytes);
    struct gp_host_call call = gp_host_call_begins();
    WITH_RETRY(result,
               gp_cuda.cuMemAllocPitch_v2(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes));
    gp_host_call_ends(&call, GP_HOST_ALLOCATION, 0, result);
    if (result == CUDA_SUCCESS)
        gp_buffer_add(GP_BUFFER_DEVICE, *dptr, *pPitch * Height);
    return result;
}

GP_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    GP_FORWARD_UNLESS_OURS(cuMemAllocManaged, dptr, bytesize, flags);
    struct gp_host_call call = gp_host_call_begins();
    WITH_RETRY(result, gp_cuda.cuMemAllocManaged(dptr, bytesize, flags));
    gp_host_call_ends(&call, GP_HOST_ALLOCATION, 0, result);
    if (result == CUDA_SUCCESS)
        gp_buffer_add(GP_BUFFER_MANAGED, *dptr, bytesize);
    return result;
}

/* In a stream that is being captured an asynchronous allocation is a node of a graph: its address
 * means memory only when the graph has run. */
static void add_async(CUdeviceptr address, size_t size, bool captured)
{
    if (captured)
        gp_graph_allocates();
    else
        gp_buffer_add_pooled(address, size);
}

static bool is_captured(CUstream stream, bool per_thread_stream)
{
    return gp_captures() > 0 && gp_stream_is_capturing(stream, per_thread_stream, false);
}

/* A stream may be of another context than the current one, or of none. */
static bool is_in_current_context(CUstream stream)
{
    CUcontext current, own;
    return gp_stream_is_default(stream) ||
           (gp_cuda.cuStreamGetCtx && gp_cuda.cuCtxGetCurrent(&current) == CUDA_SUCCESS &&
            gp_cuda.cuStreamGetCtx(stream, &own) == CUDA_SUCCESS && own == current);
}

/* From the pool, or (NULL) the one that the device uses at present. */
static CUdeviceptr take_retired(size_t bytes, CUmemoryPool pool, CUstream stream)
{
    CUdevice device;
    if (!gp_retired_any() || gp_captures() > 0 || !is_in_current_context(stream))
        return 0;
    if (!pool && (gp_cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS || !gp_cuda.cuDeviceGetMemPool ||
                  gp_cuda.cuDeviceGetMemPool(&pool, device) != CUDA_SUCCESS))
        return 0;
    return gp_retired_take(bytes, pool);
}

#define ALLOC_ASYNC(suffix)                                                                       \
    GP_EXPORT CUresult cuMemAllocAsync##suffix(CUdeviceptr *dptr, size_t bytesize,                \
                                               CUstream hStream)                                  \
    {                                                                                             \
        GP_FORWARD_UNLESS_OURS(cuMemAllocAsync##suffix, dptr, bytesize, hStream);                 \
        bool captured = is_captured(hStream, sizeof(#suffix) > 1);                                \
        CUdeviceptr retired = dptr ? take_retired(bytesize, NULL, hStream) : 0;                   \
        TAKE_OR_ALLOCATE(result, dptr, retired,                                                   \
                         gp_cuda.cuMemAllocAsync##suffix(dptr, bytesize, hStream));               \
        if (result == CUDA_SUCCESS)                                                               \
            add_async(*dptr, bytesize, captured);                                                 \
        return result;                                                                            \
    }                                                                                             \
    GP_EXPORT CUresult cuMemAllocFromPoolAsync##suffix(CUdeviceptr *dptr, size_t bytesize,        \
                                                       CUmemoryPool pool, CUstream hStream)       \
    {                                                                                             \
        GP_FORWARD_UNLESS_OURS(cuMemAllocFromPoolAsync##suffix, dptr, bytesize, pool, hStream);   \
        bool captured = is_captured(hStream, sizeof(#suffix) > 1);                                \
        CUdeviceptr retired = dptr && pool ? take_retired(bytesize, pool, hStream) : 0;           \
        TAKE_OR_ALLOCATE(result, dptr, retired,                                                   \
                         gp_cuda.cuMemAllocFromPoolAsync##suffix(dptr, bytesize, pool, hStream)); \
        if (result == CUDA_SUCCESS)                                                               \
            add_async(*dptr, bytesize, captured);                                                 \
        return result;                                                                            \
    }
ALLOC_ASYNC()
ALLOC_ASYNC(_ptsz)

GP_EXPORT CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    GP_FORWARD_UNLESS_OURS(cuMemAllocHost_v2, pp, bytesize);
    struct gp_host_call call = gp_host_call_begins();
    CUresult result = gp_cuda.cuMemAllocHost_v2(pp, bytesize);
    gp_host_call_ends(&call, GP_HOST_ALLOCATION, 0, result);
    if (result == CUDA_SUCCESS)
        gp_buffer_add_host(*pp, bytesize);
    return result;
}

/* The one of the first drivers. */
GP_EXPORT CUresult cuMemAllocHost(void **pp, unsigned int bytesize)
{
    GP_FORWARD_UNLESS_OURS(cuMemAllocHost, pp, bytesize);
    struct gp_host_call call = gp_host_call_begins();
    CUresult result = gp_cuda.cuMemAllocHost(pp, bytesize);
    gp_host_call_ends(&call, GP_HOST_ALLOCATION, 0, result);
    if (result == CUDA_SUCCESS)
        gp_buffer_add_host(*pp, bytesize);
    return result;
}

GP_EXPORT CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    GP_FORWARD_UNLESS_OURS(cuMemHostAlloc, pp, bytesize, Flags);
    struct gp_host_call call = gp_host_call_begins();
    CUresult result = gp_cuda.cuMemHostAlloc(pp, bytesize, Flags);
    gp_host_call_ends(&call, GP_HOST_ALLOCATION, 0, result);
    if (result == CUDA_SUCCESS)
        gp_buffer_add_host(*pp, bytesize);
    return result;
}

#define HOST_REGISTER(symbol)                                                                      \
    GP_EXPORT CUresult symbol(void *p, size_t bytesize, unsigned int Flags)                        \
    {                                                                                              \
        GP_FORWARD_UNLESS_OURS(symbol, p, bytesize, Flags);                                        \
        struct gp_host_call call = gp_host_call_begins();                                          \
        CUresult result = gp_cuda.symbol(p, bytesize, Flags);                                      \
        gp_host_call_ends(&call, GP_HOST_ALLOCATION, 0, result);                                   \
        if (result == CUDA_SUCCESS && (Flags & CU_MEMHOSTREGISTER_IOMEMORY))                       \
            gp_memory_bar_replay(                                                                  \
                GP_REASON_TEXT(REPLAY_BARRED, "kernels can write to another device's registers")); \
        else if (result == CUDA_SUCCESS)                                                           \
            gp_buffer_add_host(p, bytesize);                                                       \
        return result;                                                                             \
    }
HOST_REGISTER(cuMemHostRegister)
HOST_REGISTER(cuMemHostRegister_v2)

/* False with the gate entered; true where the memory stays, and is freed later. `waits`: the driver
 * waits for the GPU before it frees it. */
static bool stays_or_shares(CUdeviceptr address, bool may_stay, bool waits)
{
    gp_gate_enter();
    if (!gp_any_held())
        return false; /* and nobody can hold one now */
    gp_gate_leave();
    return gp_launch_retires_or_enters(address, gp_buffer_bytes(address), may_stay, waits);
}

/* A free that fails leaves the buffer where it was. One in the order of a stream, which does not
 * wait, takes the host no time; address 0 is nothing to free. */
#define RELEASE(symbol, key, parameters, arguments, may_stay, waits) \
    GP_EXPORT CUresult symbol parameters                             \
    {                                                                \
        GP_FORWARD(symbol, arguments);                               \
        if (gp_is_retired(key))                                      \
            return CUDA_ERROR_INVALID_VALUE;                         \
        if (stays_or_shares(key, may_stay, waits)) {                 \
            if (waits)                                               \
                gp_host_call_answered(GP_HOST_FREE);                 \
            return CUDA_SUCCESS;                                     \
        }                                                            \
        struct gp_buffer *buffer = gp_buffer_take(key);              \
        struct gp_host_call call = {0};                              \
        if (waits && key)                                            \
            call = gp_host_call_begins();                            \
        CUresult result = gp_cuda.symbol arguments;                  \
        gp_host_call_ends(&call, GP_HOST_FREE, 0, result);           \
        if (result == CUDA_SUCCESS)                                  \
            gp_buffer_discard(buffer);                               \
        else                                                         \
            gp_buffer_put_back(buffer);                              \
        gp_gate_leave();                                             \
        return result;                                               \
    }
RELEASE(cuMemFree_v2, dptr, (CUdeviceptr dptr), (dptr), true, true)
RELEASE(cuMemFreeAsync, dptr, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream),
        is_in_current_context(hStream), false)
RELEASE(cuMemFreeAsync_ptsz, dptr, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream),
        is_in_current_context(hStream), false)
RELEASE(cuMemFreeHost, (CUdeviceptr)(uintptr_t)p, (void *p), (p), false, true)
RELEASE(cuMemHostUnregister, (CUdeviceptr)(uintptr_t)p, (void *p), (p), false, true)

GP_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                               const CUmemAllocationProp *prop, unsigned long long flags)
{
    GP_FORWARD_UNLESS_OURS(cuMemCreate, handle, size, prop, flags);
    WITH_RETRY(result, gp_cuda.cuMemCreate(handle, size, prop, flags));
    if (result == CUDA_SUCCESS)
        gp_physical_made(*handle);
    return result;
}

GP_EXPORT CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
                            CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    GP_FORWARD_UNLESS_OURS(cuMemMap, ptr, size, offset, handle, flags);
    CUresult result = gp_cuda.cuMemMap(ptr, size, offset, handle, flags);
    if (result == CUDA_SUCCESS)
        gp_mapping_add(ptr, size, handle);
    return result;
}

static void note_access(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool writable = desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        if (desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            gp_mapping_set_access(ptr, size, desc[i].location.id, writable);
        else
            gp_mapping_set_host_access(ptr, size, writable);
    }
}

GP_EXPORT CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
                                  size_t count)
{
    GP_FORWARD_UNLESS_OURS(cuMemSetAccess, ptr, size, desc, count);
    gp_launch_enter_before_free(ptr, size);
    CUresult result = gp_cuda.cuMemSetAccess(ptr, size, desc, count);
    if (result == CUDA_SUCCESS)
        note_access(ptr, size, desc, count);
    gp_gate_leave();
    return result;
}

/* An unmapping that fails is the program's mistake, and leaves us without the mapping. */
GP_EXPORT CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    GP_FORWARD_UNLESS_OURS(cuMemUnmap, ptr, size);
    gp_launch_enter_before_free(ptr, size);
    gp_mapping_remove(ptr, size);
    CUresult result = gp_cuda.cuMemUnmap(ptr, size);
    if (result != CUDA_SUCCESS)
        gp_memory_bar_replay(GP_REASON_TEXT(REPLAY_BARRED, "the program failed to unmap memory"));
    gp_gate_leave();
    return result;
}
