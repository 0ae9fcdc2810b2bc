/* The calls that give out memory, take it back and answer questions about it. */
#include <string.h>

#include "driver/faults.h"
#include "driver/memory.h"
#include "driver/queue.h"

#define PITCH 512

static CUresult allocate(enum gpusim_memory_kind kind, uint64_t bytes, unsigned flags,
                         uint64_t *address)
{
    CUcontext context;
    CUresult result = gpusim_enter_unsafe(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!address)
        return CUDA_ERROR_INVALID_VALUE;
    if (kind != GPUSIM_PINNED_MEMORY && gpusim_fault_allocation())
        return CUDA_ERROR_OUT_OF_MEMORY;
    return gpusim_memory_new(context, kind, bytes, flags, NULL, address);
}

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    uint64_t address;
    CUresult result =
        dptr ? allocate(GPUSIM_DEVICE_MEMORY, bytesize, 0, &address) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *dptr = address;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes)
{
    size_t pitch = (WidthInBytes + PITCH - 1) / PITCH * PITCH;
    uint64_t address;
    CUresult result;

    if (!dptr || !pPitch || WidthInBytes == 0 || Height == 0 ||
        (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    result = allocate(GPUSIM_DEVICE_MEMORY, pitch * Height, 0, &address);
    if (result == CUDA_SUCCESS) {
        *dptr = address;
        *pPitch = pitch;
    }
    return result;
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    uint64_t address;
    CUresult result;

    if (!dptr || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    result = allocate(GPUSIM_MANAGED_MEMORY, bytesize, flags, &address);
    if (result == CUDA_SUCCESS)
        *dptr = address;
    return result;
}

/* Everything that may still use it ends first, as on the real thing. */
static CUresult release(CUcontext context, uint64_t address, unsigned kinds)
{
    pthread_mutex_lock(&gpusim_lock);
    gpusim_context_wait(context);
    pthread_mutex_unlock(&gpusim_lock);
    return gpusim_memory_release(address, kinds);
}

/* The driver takes all work on memory of a pool for done, and does not wait. */
CUresult cuMemFree_v2(CUdeviceptr dptr)
{
    CUcontext context;
    CUresult result = gpusim_enter_unsafe(&context);
    struct gpusim_range range;

    if (result != CUDA_SUCCESS || dptr == 0)
        return result;
    if (gpusim_memory_find(dptr, &range) && range.start == dptr && range.pool)
        return gpusim_memory_release(dptr, 1u << GPUSIM_DEVICE_MEMORY);
    return release(context, dptr, 1u << GPUSIM_DEVICE_MEMORY | 1u << GPUSIM_MANAGED_MEMORY);
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    uint64_t all = gpusim_device_memory();
    uint64_t used;

    if (result != CUDA_SUCCESS)
        return result;
    used = context->device->used;
    if (free)
        *free = used < all ? all - used : 0;
    if (total)
        *total = all;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    struct gpusim_range range;

    if (result != CUDA_SUCCESS)
        return result;
    if (!gpusim_memory_find(dptr, &range))
        return CUDA_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = range.start;
    if (psize)
        *psize = range.end - range.start;
    return CUDA_SUCCESS;
}

/* ---- the host's side ---- */

static CUresult allocate_host(void **pp, size_t bytesize, unsigned flags)
{
    uint64_t address;
    CUresult result =
        pp ? allocate(GPUSIM_PINNED_MEMORY, bytesize, flags, &address) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *pp = (void *)(uintptr_t)address;
    return result;
}

CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return allocate_host(pp, bytesize, CU_MEMHOSTALLOC_DEVICEMAP);
}

CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    if (Flags & ~(unsigned)(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                            CU_MEMHOSTALLOC_WRITECOMBINED))
        return CUDA_ERROR_INVALID_VALUE;
    return allocate_host(pp, bytesize, Flags);
}

CUresult cuMemFreeHost(void *p)
{
    CUcontext context;
    CUresult result = gpusim_enter_unsafe(&context);

    return result == CUDA_SUCCESS ? release(context, (uintptr_t)p, 1u << GPUSIM_PINNED_MEMORY)
                                  : result;
}

CUresult cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    return gpusim_host_register(p, bytesize, Flags);
}

CUresult gpusim_host_register(void *p, size_t bytes, unsigned flags)
{
    CUcontext context;
    CUresult result = gpusim_enter_unsafe(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!p || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return gpusim_memory_register(context, p, bytes, flags);
}

CUresult cuMemHostUnregister(void *p)
{
    CUcontext context;
    CUresult result = gpusim_enter_unsafe(&context);

    if (result != CUDA_SUCCESS)
        return result;
    result = release(context, (uintptr_t)p, 1u << GPUSIM_REGISTERED_MEMORY);
    return result == CUDA_SUCCESS ? result : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

static bool of_host(const struct gpusim_range *range)
{
    return range->kind == GPUSIM_PINNED_MEMORY || range->kind == GPUSIM_REGISTERED_MEMORY;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    struct gpusim_range range;

    if (result != CUDA_SUCCESS)
        return result;
    if (!pdptr || Flags != 0 || !gpusim_memory_find((uintptr_t)p, &range) || !of_host(&range))
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = (uintptr_t)p;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    struct gpusim_range range;

    if (result != CUDA_SUCCESS)
        return result;
    if (!pFlags || !gpusim_memory_find((uintptr_t)p, &range) || !of_host(&range))
        return CUDA_ERROR_INVALID_VALUE;
    *pFlags = range.flags;
    return CUDA_SUCCESS;
}

/* ---- hints, which change nothing here ---- */

static CUresult hint(CUdeviceptr address, size_t bytes)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    struct gpusim_range range;

    if (result != CUDA_SUCCESS)
        return result;
    if (bytes == 0 || !gpusim_memory_find(address, &range) || range.kind != GPUSIM_MANAGED_MEMORY ||
        bytes > range.end - address)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device)
{
    (void)advice;
    (void)device;
    return hint(devPtr, count);
}

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                        CUmemLocation location)
{
    (void)advice;
    (void)location;
    return hint(devPtr, count);
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    (void)dstDevice;
    (void)hStream;
    return hint(devPtr, count);
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                 CUstream hStream)
{
    (void)dstDevice;
    (void)hStream;
    return hint(devPtr, count);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                               unsigned int flags, CUstream hStream)
{
    (void)location;
    (void)flags;
    (void)hStream;
    return hint(devPtr, count);
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                    unsigned int flags, CUstream hStream)
{
    (void)location;
    (void)flags;
    (void)hStream;
    return hint(devPtr, count);
}

/* ---- questions ---- */

static CUmemorytype type_of(const struct gpusim_range *range)
{
    return of_host(range) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static CUresult range_attribute(const struct gpusim_range *range, CUpointer_attribute attribute,
                                CUdeviceptr ptr, void *data)
{
    bool seen_by_host = of_host(range) || range->kind == GPUSIM_MANAGED_MEMORY;

    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = range->context;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data = type_of(range);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!seen_by_host)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = (void *)(uintptr_t)ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(int *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        /* Promised for memory that the driver has allocated. */
        if (range->kind == GPUSIM_REGISTERED_MEMORY || range->kind == GPUSIM_MAPPED_MEMORY)
            return CUDA_ERROR_INVALID_VALUE;
        *(unsigned long long *)data = range->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(int *)data = range->kind == GPUSIM_MANAGED_MEMORY;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = range->device->ordinal;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = range->start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = range->end - range->start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(int *)data = 1;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(unsigned *)data = CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *(CUmemoryPool *)data = range->pool;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    struct gpusim_range range;

    if (result != CUDA_SUCCESS)
        return result;
    if (!data || !gpusim_memory_find(ptr, &range) || range.absent)
        return CUDA_ERROR_INVALID_VALUE;
    return range_attribute(&range, attribute, ptr, data);
}

/* Unlike its sibling, this one answers for pointers it knows nothing about: zero. */
static void empty_attribute(CUpointer_attribute attribute, void *data)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        memset(data, 0, 8);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = -2;
        break;
    default:
        memset(data, 0, 4);
        break;
    }
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                void **data, CUdeviceptr ptr)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    struct gpusim_range range;
    bool known;

    if (result != CUDA_SUCCESS)
        return result;
    if (numAttributes == 0 || !attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    known = gpusim_memory_find(ptr, &range) && !range.absent;
    for (unsigned i = 0; i < numAttributes; i++)
        if (!known || range_attribute(&range, attributes[i], ptr, data[i]) != CUDA_SUCCESS)
            empty_attribute(attributes[i], data[i]);
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    struct gpusim_range range;

    if (result != CUDA_SUCCESS)
        return result;
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !gpusim_memory_find(ptr, &range))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
