#include "memory/retired.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <utlist.h>

/* Not more of a device's memory, as the program's libraries may allocate where we do not see it. */
#define MOST_PART 16
#define MOST_RETIRED 256

struct retired {
    CUdeviceptr address;
    size_t bytes;
    CUcontext context;
    CUdevice device;
    uint64_t pool; /* that it is from; 0: none */
    struct retired *prev, *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct retired *list;
static atomic_uint count;

bool gp_retired_any(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}

/* Locked. */
static uint64_t bytes_of(CUdevice device)
{
    uint64_t bytes = 0;
    const struct retired *r;
    DL_FOREACH(list, r)
    {
        bytes += r->device == device ? r->bytes : 0;
    }
    return bytes;
}

static void drop(struct retired *r)
{
    DL_DELETE(list, r);
    atomic_fetch_sub(&count, 1);
    free(r);
}

static bool is_plain(const struct gp_buffer *buffer)
{
    bool is_of_pool = buffer->kind == GP_BUFFER_POOLED && buffer->source;
    return (buffer->kind == GP_BUFFER_DEVICE || is_of_pool) && !buffer->host_writes &&
           !buffer->shared && !buffer->not_ours;
}

/* A pool gives memory out as it is. Else: the kernel of a memset has ended when the context is
 * idle.
 */
static bool clear(const struct gp_buffer *buffer)
{
    if (buffer->kind == GP_BUFFER_POOLED)
        return true;
    return gp_cuda.cuMemsetD8_v2(buffer->address, 0, buffer->size) == CUDA_SUCCESS &&
           gp_cuda.cuCtxSynchronize() == CUDA_SUCCESS;
}

bool gp_retire(struct gp_buffer *buffer, uint64_t device_memory)
{
    struct retired *r = is_plain(buffer) ? calloc(1, sizeof(*r)) : NULL;
    if (!r)
        return false;
    r->address = buffer->address;
    r->bytes = buffer->size;
    r->pool = buffer->kind == GP_BUFFER_POOLED ? buffer->source : 0;
    bool room = gp_cuda.cuCtxGetCurrent(&r->context) == CUDA_SUCCESS &&
                gp_cuda.cuCtxGetDevice(&r->device) == CUDA_SUCCESS && clear(buffer);
    pthread_mutex_lock(&lock);
    room = room && atomic_load(&count) < MOST_RETIRED &&
           bytes_of(r->device) + r->bytes <= device_memory / MOST_PART;
    if (room) {
        DL_APPEND(list, r);
        atomic_fetch_add(&count, 1);
    }
    pthread_mutex_unlock(&lock);
    if (room)
        gp_buffer_discard(buffer);
    else
        free(r);
    return room;
}

bool gp_is_retired(CUdeviceptr address)
{
    const struct retired *r = NULL;
    if (!gp_retired_any())
        return false;
    pthread_mutex_lock(&lock);
    DL_SEARCH_SCALAR(list, r, address, address);
    pthread_mutex_unlock(&lock);
    return r != NULL;
}

/* The driver gives out the lowest address. Locked. */
static struct retired *lowest(CUcontext context, size_t bytes, CUmemoryPool pool)
{
    struct retired *r, *found = NULL;
    DL_FOREACH(list, r)
    {
        if (r->context == context && r->bytes == bytes && r->pool == (uintptr_t)pool &&
            (!found || r->address < found->address))
            found = r;
    }
    return found;
}

CUdeviceptr gp_retired_take(size_t bytes, CUmemoryPool pool)
{
    CUcontext current;
    CUdeviceptr address = 0;
    if (!gp_retired_any() || gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)
        return 0;
    /* An allocation reports errors of earlier work. */
    CUresult result = gp_cuda.cuStreamQuery(CU_STREAM_LEGACY);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
        return 0;
    pthread_mutex_lock(&lock);
    struct retired *r = lowest(current, bytes, pool);
    if (r) {
        address = r->address;
        drop(r);
    }
    pthread_mutex_unlock(&lock);
    return address;
}

bool gp_retired_free(CUcontext context)
{
    bool freed = false;
    struct retired *r, *next;
    if (!gp_retired_any())
        return false;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(list, r, next)
    {
        if (r->context != context)
            continue;
        gp_cuda.cuMemFree_v2(r->address);
        drop(r);
        freed = true;
    }
    pthread_mutex_unlock(&lock);
    return freed;
}

void gp_retired_forget(CUcontext context)
{
    struct retired *r, *next;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(list, r, next)
    {
        if (r->context == context)
            drop(r);
    }
    pthread_mutex_unlock(&lock);
}

uint64_t gp_retired_bytes(CUdevice device)
{
    pthread_mutex_lock(&lock);
    uint64_t bytes = bytes_of(device);
    pthread_mutex_unlock(&lock);
    return bytes;
}
