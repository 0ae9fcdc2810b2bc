/* Memory pools: names that allocations carry; the memory itself comes from where all of it does. */
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "driver/memory.h"

struct CUmemPoolHandle_st {
    enum gpusim_handle kind;
    struct gpusim_device *device;
    cuuint64_t release_threshold;
    bool is_default;
    bool of_host; /* its memory is the host's */
};

static CUmemoryPool new_pool(struct gpusim_device *device, bool is_default)
{
    CUmemoryPool pool = calloc(1, sizeof(*pool));

    if (!pool)
        return NULL;
    pool->kind = GPUSIM_POOL;
    pool->device = device;
    pool->is_default = is_default;
    return pool;
}

static bool is_pool(CUmemoryPool pool)
{
    return pool && pool->kind == GPUSIM_POOL;
}

static CUresult default_pool(CUmemoryPool *out, CUdevice dev, bool current)
{
    CUresult result = gpusim_enter();
    struct gpusim_device *device = gpusim_device(dev);

    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&gpusim_lock);
    if (!device->default_pool)
        device->default_pool = new_pool(device, true);
    if (!device->current_pool)
        device->current_pool = device->default_pool;
    *out = current ? device->current_pool : device->default_pool;
    pthread_mutex_unlock(&gpusim_lock);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    return default_pool(pool_out, dev, false);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    return default_pool(pool, dev, true);
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!gpusim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!is_pool(pool) || pool->device != gpusim_device(dev))
        return CUDA_ERROR_INVALID_VALUE;
    gpusim_device(dev)->current_pool = pool;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!pool || !poolProps ||
        (poolProps->location.type != CU_MEM_LOCATION_TYPE_DEVICE &&
         poolProps->location.type != CU_MEM_LOCATION_TYPE_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    bool of_host = poolProps->location.type == CU_MEM_LOCATION_TYPE_HOST;
    struct gpusim_device *device = gpusim_device(of_host ? 0 : poolProps->location.id);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    *pool = new_pool(device, false);
    if (*pool)
        (*pool)->of_host = of_host;
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

enum gpusim_memory_kind gpusim_pool_kind(CUmemoryPool pool)
{
    return pool && pool->of_host ? GPUSIM_PINNED_MEMORY : GPUSIM_DEVICE_MEMORY;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    if (!is_pool(pool) || pool->is_default)
        return CUDA_ERROR_INVALID_VALUE;
    if (pool->device->current_pool == pool)
        pool->device->current_pool = pool->device->default_pool;
    pool->kind = GPUSIM_DEAD;
    free(pool);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep;
    return is_pool(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    if (!is_pool(pool) || !value)
        return CUDA_ERROR_INVALID_VALUE;
    if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        memcpy(&pool->release_threshold, value, sizeof(pool->release_threshold));
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    cuuint64_t bytes = 0;
    int on = 1;

    if (!is_pool(pool) || !value)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attr) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        memcpy(value, &on, sizeof(on));
        return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        bytes = pool->release_threshold;
        break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        bytes = pool->device->used;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(value, &bytes, sizeof(bytes));
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
    if (!is_pool(pool) || !map || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!gpusim_device(map[i].location.id))
            return CUDA_ERROR_INVALID_DEVICE;
    return CUDA_SUCCESS; /* every device here sees it anyway */
}
