/* Memory that this process shares: with other processes, other APIs, between its GPUs. A launch
 * that reaches it is not replayed. */
#include "memory/sharing.h"

#include "hook/entry.h"
#include "launch/launch.h"
#include "memory/buffers.h"
#include "memory/retired.h"

#include <string.h>

/* Memory from elsewhere lies at `address`; `size` 0: the driver knows it. */
#define IMPORTS(symbol, parameters, arguments, address, size, why) \
    GP_GATED(symbol, parameters, arguments, GP_IF_DONE(gp_buffer_add_foreign(address, size, why)))
IMPORTS(cuIpcOpenMemHandle, (CUdeviceptr * pdptr, CUipcMemHandle handle, unsigned int Flags),
        (pdptr, handle, Flags), *pdptr, 0, GP_OF_ANOTHER_PROCESS)
IMPORTS(cuIpcOpenMemHandle_v2, (CUdeviceptr * pdptr, CUipcMemHandle handle, unsigned int Flags),
        (pdptr, handle, Flags), *pdptr, 0, GP_OF_ANOTHER_PROCESS)
IMPORTS(cuMemPoolImportPointer,
        (CUdeviceptr * ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData),
        (ptr_out, pool, shareData), *ptr_out, 0, GP_OF_ANOTHER_PROCESS)
IMPORTS(cuExternalMemoryGetMappedBuffer,
        (CUdeviceptr * devPtr, CUexternalMemory extMem,
         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc),
        (devPtr, extMem, bufferDesc), *devPtr, bufferDesc->size, GP_OF_ANOTHER_API)

/* Memory that was opened twice is there until it is closed twice. */
GP_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    GP_FORWARD_UNLESS_OURS(cuIpcCloseMemHandle, dptr);
    gp_launch_enter_before_free(dptr, gp_buffer_bytes(dptr));
    struct gp_buffer *buffer = gp_buffer_take(dptr);
    CUresult result = gp_cuda.cuIpcCloseMemHandle(dptr);
    if (result != CUDA_SUCCESS || gp_buffer_is_there(buffer))
        gp_buffer_put_back(buffer);
    else
        gp_buffer_discard(buffer);
    gp_gate_leave();
    return result;
}

GP_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
                                                  void *osHandle,
                                                  CUmemAllocationHandleType shHandleType)
{
    GP_FORWARD_UNLESS_OURS(cuMemImportFromShareableHandle, handle, osHandle, shHandleType);
    gp_gate_enter();
    CUresult result = gp_cuda.cuMemImportFromShareableHandle(handle, osHandle, shHandleType);
    if (result == CUDA_SUCCESS) {
        gp_physical_made(*handle);
        gp_physical_shared(*handle);
    }
    gp_gate_leave();
    return result;
}

/* It need not be the handle by which the memory was mapped, and may be exported instead of it. */
GP_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    GP_FORWARD_UNLESS_OURS(cuMemRetainAllocationHandle, handle, addr);
    CUresult result = gp_cuda.cuMemRetainAllocationHandle(handle, addr);
    CUmemGenericAllocationHandle first = gp_mapping_source((CUdeviceptr)(uintptr_t)addr);
    if (result == CUDA_SUCCESS && first)
        gp_physical_also(*handle, first);
    return result;
}

/* Entered before the other process can know of it. */
#define EXPORTS(symbol, parameters, arguments, note) \
    GP_GATED_CHANGE(symbol, parameters, arguments, GP_IF_DONE(note))
EXPORTS(cuIpcGetMemHandle, (CUipcMemHandle * pHandle, CUdeviceptr dptr), (pHandle, dptr),
        gp_buffer_shared(dptr))
EXPORTS(cuMemPoolExportPointer, (CUmemPoolPtrExportData * shareData_out, CUdeviceptr ptr),
        (shareData_out, ptr), gp_buffer_shared(ptr))
EXPORTS(cuMemExportToShareableHandle,
        (void *shareableHandle, CUmemGenericAllocationHandle handle,
         CUmemAllocationHandleType handleType, unsigned long long flags),
        (shareableHandle, handle, handleType, flags), gp_physical_shared(handle))
/* For other devices as well, network adapters say. */
EXPORTS(cuMemGetHandleForAddressRange,
        (void *handle, CUdeviceptr dptr, size_t size, CUmemRangeHandleType handleType,
         unsigned long long flags),
        (handle, dptr, size, handleType, flags), gp_range_shared(dptr, size))

static bool is_set(const void *value)
{
    unsigned flag = 0;
    if (value)
        memcpy(&flag, value, sizeof(flag));
    return flag != 0;
}

/* Libraries ask for it before they let a network adapter or a disk access the memory, by calls that
 * are no driver's; and again at each of their own calls. */
GP_EXPORT CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                         CUdeviceptr ptr)
{
    GP_FORWARD_UNLESS_OURS(cuPointerSetAttribute, value, attribute, ptr);
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !is_set(value) || gp_buffer_is_direct(ptr))
        return gp_cuda.cuPointerSetAttribute(value, attribute, ptr);
    gp_launch_enter_before_change();
    CUresult result = gp_cuda.cuPointerSetAttribute(value, attribute, ptr);
    if (result == CUDA_SUCCESS)
        gp_buffer_make_direct(ptr);
    gp_gate_leave();
    return result;
}

GP_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    GP_FORWARD_UNLESS_OURS(cuCtxEnablePeerAccess, peerContext, Flags);
    CUcontext current = NULL;
    gp_launch_enter_before_change();
    CUresult result = gp_cuda.cuCtxEnablePeerAccess(peerContext, Flags);
    bool known = gp_cuda.cuCtxGetCurrent(&current) == CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && known)
        gp_peer_enabled(current, peerContext);
    else if (result == CUDA_SUCCESS)
        gp_memory_bar_replay(
            GP_REASON_TEXT(REPLAY_BARRED, "the program writes to memory of another GPU"));
    gp_gate_leave();
    return result;
}

static void note_pool_access(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            gp_pool_set_access(pool, map[i].location.id,
                               map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        else if (map[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            gp_memory_bar_replay(
                GP_REASON_TEXT(REPLAY_BARRED, "the host can write memory of a pool"));
}

GP_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    GP_FORWARD_UNLESS_OURS(cuMemPoolSetAccess, pool, map, count);
    gp_launch_enter_before_change();
    CUresult result = gp_cuda.cuMemPoolSetAccess(pool, map, count);
    if (result == CUDA_SUCCESS)
        note_pool_access(pool, map, count);
    gp_gate_leave();
    return result;
}

/* Memory that the program has freed to a pool may be kept: then it is freed now. */
static void free_retired(void)
{
    if (gp_retired_any())
        gp_launch_before_change();
}

GP_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    GP_FORWARD_UNLESS_OURS(cuMemPoolTrimTo, pool, minBytesToKeep);
    free_retired();
    return gp_cuda.cuMemPoolTrimTo(pool, minBytesToKeep);
}

GP_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    GP_FORWARD_UNLESS_OURS(cuMemPoolGetAttribute, pool, attr, value);
    free_retired();
    return gp_cuda.cuMemPoolGetAttribute(pool, attr, value);
}

GP_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    GP_FORWARD_UNLESS_OURS(cuMemPoolDestroy, pool);
    free_retired();
    CUresult result = gp_cuda.cuMemPoolDestroy(pool);
    if (result == CUDA_SUCCESS)
        gp_pool_forget(pool);
    return result;
}
