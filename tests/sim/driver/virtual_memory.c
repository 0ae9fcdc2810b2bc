/*
 * Memory mapped piece by piece: addresses reserved, physical memory made, the one laid under the
 * other, even twice. The stores behind a piece of physical memory are the same wherever it is
 * mapped.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "driver/memory.h"
#include "driver/queue.h"

#define GRANULARITY (2ull << 20)
#define ANOTHER_HANDLE 1u /* added to a handle it makes another one of the same memory */

struct physical {
    struct physical *next;
    uint64_t bytes;
    void *host;
    CUcontext context;
    int device;
    int number;          /* the kind of its handle: here a file descriptor that is none */
    unsigned references; /* the handle, and every address it is mapped at */
};

struct reservation {
    struct reservation *next;
    uint64_t start, bytes;
};

static struct physical *physicals;
static struct reservation *reservations;

static struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
    for (struct physical *p = physicals; p; p = p->next)
        if ((uintptr_t)p == (handle & ~(CUmemGenericAllocationHandle)ANOTHER_HANDLE))
            return p;
    return NULL;
}

static void release(struct physical *physical)
{
    if (--physical->references > 0)
        return;
    for (struct physical **link = &physicals; *link; link = &(*link)->next)
        if (*link == physical) {
            *link = physical->next;
            break;
        }
    gpusim_device(physical->device)->used -= physical->bytes;
    (void)munmap(physical->host, physical->bytes);
    free(physical);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    CUresult result = gpusim_enter();

    (void)option;
    if (result != CUDA_SUCCESS)
        return result;
    if (!granularity || !prop)
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = GRANULARITY;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags)
{
    CUresult result = gpusim_enter();
    struct reservation *r;
    void *addresses;

    (void)addr;
    if (result != CUDA_SUCCESS)
        return result;
    if (!ptr || size == 0 || size % GRANULARITY != 0 || flags != 0 || alignment > GRANULARITY)
        return CUDA_ERROR_INVALID_VALUE;
    r = calloc(1, sizeof(*r));
    if (!r)
        return CUDA_ERROR_OUT_OF_MEMORY;
    addresses = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (addresses == MAP_FAILED) {
        free(r);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    r->start = (uintptr_t)addresses;
    r->bytes = size;
    pthread_mutex_lock(&gpusim_lock);
    r->next = reservations;
    reservations = r;
    pthread_mutex_unlock(&gpusim_lock);
    *ptr = r->start;
    return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    for (struct reservation **link = &reservations; *link; link = &(*link)->next)
        if ((*link)->start == ptr && (*link)->bytes == size) {
            struct reservation *r = *link;
            *link = r->next;
            (void)munmap((void *)(uintptr_t)r->start, r->bytes);
            free(r);
            result = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    struct physical *p;

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !prop || flags != 0 || size == 0 || size % GRANULARITY != 0 ||
        prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpusim_device(prop->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    p = calloc(1, sizeof(*p));
    if (!p)
        return CUDA_ERROR_OUT_OF_MEMORY;
    p->bytes = size;
    p->context = context;
    p->device = prop->location.id;
    p->references = 1;
    pthread_mutex_lock(&gpusim_lock);
    p->host = gpusim_device(p->device)->used + size > gpusim_device_memory()
                  ? MAP_FAILED
                  : mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p->host == MAP_FAILED) {
        free(p);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        gpusim_device(p->device)->used += size;
        p->next = physicals;
        physicals = p;
        *handle = (uintptr_t)p;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult result = gpusim_enter();
    struct physical *p;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    p = physical_of(handle);
    if (p)
        release(p);
    pthread_mutex_unlock(&gpusim_lock);
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* A process may import memory that it has exported itself, as on the real thing. */
CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags)
{
    static int last_number = 1000;
    CUresult result = gpusim_enter();
    struct physical *p;

    if (result != CUDA_SUCCESS)
        return result;
    if (!shareableHandle || flags != 0 || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    p = physical_of(handle);
    if (p && !p->number)
        p->number = ++last_number;
    if (p)
        *(int *)shareableHandle = p->number;
    pthread_mutex_unlock(&gpusim_lock);
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                        CUmemAllocationHandleType shHandleType)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    for (struct physical *p = physicals; p; p = p->next)
        if (p->number && p->number == (int)(intptr_t)osHandle) {
            p->references++;
            *handle = (uintptr_t)p;
            result = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    CUresult result = gpusim_enter();
    struct gpusim_range range;
    struct physical *p;

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !gpusim_memory_find((uintptr_t)addr, &range) ||
        range.kind != GPUSIM_MAPPED_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    p = range.physical;
    pthread_mutex_lock(&gpusim_lock);
    p->references++;
    *handle = (uintptr_t)p + ANOTHER_HANDLE;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_SUCCESS;
}

/* Nobody takes it: a file descriptor that is none. */
CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr dptr, size_t size,
                                       CUmemRangeHandleType handleType, unsigned long long flags)
{
    CUresult result = gpusim_enter();
    struct gpusim_range range;

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || handleType != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || flags != 0 ||
        !gpusim_memory_find(dptr, &range) || size > range.end - dptr)
        return CUDA_ERROR_INVALID_VALUE;
    *(int *)handle = -2;
    return CUDA_SUCCESS;
}

static bool reserved(uint64_t start, uint64_t bytes)
{
    for (struct reservation *r = reservations; r; r = r->next)
        if (start >= r->start && start - r->start < r->bytes &&
            bytes <= r->bytes - (start - r->start))
            return true;
    return false;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    CUresult result = gpusim_enter();
    struct physical *p;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    p = physical_of(handle);
    if (!p || flags != 0 || size == 0 || size % GRANULARITY != 0 || offset > p->bytes ||
        size > p->bytes - offset || !reserved(ptr, size))
        result = CUDA_ERROR_INVALID_VALUE;
    else
        result = gpusim_memory_map(p->context, ptr, size, (char *)p->host + offset, p);
    if (result == CUDA_SUCCESS)
        p->references++;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    CUresult result = gpusim_enter();
    struct gpusim_range range;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    if (!gpusim_memory_find(ptr, &range) || range.kind != GPUSIM_MAPPED_MEMORY ||
        range.start != ptr || range.end - range.start != size) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        gpusim_context_wait(range.context);
        result = gpusim_memory_release(ptr, 1u << GPUSIM_MAPPED_MEMORY);
        release(range.physical);
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    CUresult result = gpusim_enter();
    struct gpusim_range range;

    if (result != CUDA_SUCCESS)
        return result;
    if (!desc || count == 0 || size == 0 || !gpusim_memory_find(ptr, &range) ||
        range.kind != GPUSIM_MAPPED_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS; /* the one device that mapped it has access already */
}
