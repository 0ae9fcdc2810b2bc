/* Memory shared with another process. There is none here: a handle opens memory of the same size
 * that stands for the other process's, which goes on changing its last word while it is open. A
 * handle that a context opens again gives the same address, which is there until it has been closed
 * as often. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/memory.h"
#include "driver/queue.h"

#define MAGIC 0x6770697063000001ull

struct contents {
    uint64_t magic, bytes, exported;
};

struct opened {
    struct opened *next;
    CUcontext context;
    uint64_t exported, address;
    unsigned users;
    volatile uint32_t *last;
    atomic_bool closed;
    pthread_t other;
};

static struct opened *all_opened;

static void *be_the_other(void *argument)
{
    struct opened *o = argument;

    while (!atomic_load(&o->closed)) {
        ++*o->last;
        (void)nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    return NULL;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    CUresult result = gpusim_enter();
    struct gpusim_range range;
    struct contents contents;

    if (result != CUDA_SUCCESS)
        return result;
    if (!pHandle || !gpusim_memory_find(dptr, &range) || range.kind != GPUSIM_DEVICE_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    contents = (struct contents){MAGIC, range.end - range.start, range.start};
    memset(pHandle, 0, sizeof(*pHandle));
    memcpy(pHandle, &contents, sizeof(contents));
    return CUDA_SUCCESS;
}

/* Opens it once more; false where it is not open in the context. */
static bool open_again(CUcontext context, uint64_t exported, CUdeviceptr *address)
{
    struct opened *o;

    pthread_mutex_lock(&gpusim_lock);
    for (o = all_opened; o && (o->context != context || o->exported != exported); o = o->next)
        ;
    if (o) {
        o->users++;
        *address = o->address;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return o != NULL;
}

static CUresult open_handle(CUdeviceptr *pdptr, const CUipcMemHandle *handle, unsigned Flags)
{
    struct opened *o;
    struct gpusim_range range;
    struct contents contents;
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    memcpy(&contents, handle, sizeof(contents));
    if (result == CUDA_SUCCESS && (!pdptr || contents.magic != MAGIC || contents.bytes < 4 ||
                                   Flags & ~(unsigned)CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    if (open_again(context, contents.exported, pdptr))
        return CUDA_SUCCESS;
    o = calloc(1, sizeof(*o));
    result =
        o ? gpusim_memory_new(context, GPUSIM_DEVICE_MEMORY, contents.bytes, 0, NULL, &o->address)
          : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS || !gpusim_memory_find(o->address, &range)) {
        free(o);
        return result;
    }
    o->context = context;
    o->exported = contents.exported;
    o->users = 1;
    o->last = (uint32_t *)(range.host + (uintptr_t)(contents.bytes / 4 - 1) * 4);
    if (pthread_create(&o->other, NULL, be_the_other, o) != 0) {
        (void)gpusim_memory_release(o->address, 1u << GPUSIM_DEVICE_MEMORY);
        free(o);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&gpusim_lock);
    o->next = all_opened;
    all_opened = o;
    pthread_mutex_unlock(&gpusim_lock);
    *pdptr = o->address;
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    return open_handle(pdptr, &handle, Flags);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    return open_handle(pdptr, &handle, Flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    struct opened *found, **link = &all_opened;
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    bool last;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    while (*link && (*link)->address != dptr)
        link = &(*link)->next;
    found = *link;
    last = found && --found->users == 0;
    if (last)
        *link = found->next;
    if (found)
        gpusim_context_wait(context);
    pthread_mutex_unlock(&gpusim_lock);
    if (!found)
        return CUDA_ERROR_INVALID_VALUE;
    if (!last)
        return CUDA_SUCCESS;
    atomic_store(&found->closed, true);
    (void)pthread_join(found->other, NULL);
    free(found);
    return gpusim_memory_release(dptr, 1u << GPUSIM_DEVICE_MEMORY);
}
