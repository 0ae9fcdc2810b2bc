#include "memory/retired.h"

#include "memory/inside.h"

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
    uint64_t pool;         /* that it is from; 0: none */
    bool unwritten;        /* a copy is still to be made of it */
    unsigned long long id; /* the driver's number of the allocation */
    struct retired *prev, *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct retired *list;
static atomic_uint count;

bool gp_retired_any(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}

/* The bytes that are retired on the device, of pools as well, or not. Locked. */
static uint64_t bytes_of(CUdevice device, bool pools)
{
    uint64_t bytes = 0;
    const struct retired *r;
    DL_FOREACH(list, r)
    {
        bytes += r->device == device && (pools || !r->pool) ? r->bytes : 0;
    }
    return bytes;
}

/* Locked. */
static void take_off(struct retired *r)
{
    DL_DELETE(list, r);
    atomic_fetch_sub(&count, 1);
}

static bool is_plain(const struct gp_buffer *buffer)
{
    bool is_of_pool = buffer->kind == GP_BUFFER_POOLED && buffer->source;
    return (buffer->kind == GP_BUFFER_DEVICE || is_of_pool) && !buffer->host_writes &&
           !buffer->shared.cause && !buffer->not_ours.cause && !buffer->direct;
}

static bool ask_id(CUdeviceptr address, unsigned long long *id)
{
    return gp_cuda.cuPointerGetAttribute(id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address) ==
           CUDA_SUCCESS;
}

/* Memory of a pool may have gone with the context that allocated it, and other memory have come to
 * its address. Where the context has failed there is no answer either. */
static bool is_there(const struct retired *r)
{
    unsigned long long id;
    return ask_id(r->address, &id) && id == r->id;
}

static bool is_room_for(const struct retired *r, uint64_t device_memory)
{
    pthread_mutex_lock(&lock);
    bool room = atomic_load(&count) < MOST_RETIRED &&
                bytes_of(r->device, true) + r->bytes <= device_memory / MOST_PART;
    pthread_mutex_unlock(&lock);
    return room;
}

/* A pool gives memory out as it is. Else: a fill has ended when the context is idle. */
static bool clear(const struct retired *r)
{
    return r->pool || (gp_cuda.cuMemsetD8_v2(r->address, 0, r->bytes) == CUDA_SUCCESS &&
                       gp_cuda.cuCtxSynchronize() == CUDA_SUCCESS);
}

/* The memory of the buffer, in the current context; NULL where it cannot be kept. */
static struct retired *describe(const struct gp_buffer *buffer)
{
    struct retired *r = is_plain(buffer) ? calloc(1, sizeof(*r)) : NULL;
    if (!r)
        return NULL;
    r->address = buffer->address;
    r->bytes = buffer->size;
    r->pool = buffer->kind == GP_BUFFER_POOLED ? buffer->source : 0;
    if (gp_cuda.cuCtxGetCurrent(&r->context) == CUDA_SUCCESS &&
        gp_cuda.cuCtxGetDevice(&r->device) == CUDA_SUCCESS && ask_id(r->address, &r->id))
        return r;
    free(r);
    return NULL;
}

static bool keep(const struct gp_buffer *buffer, bool unwritten, uint64_t device_memory)
{
    struct retired *r = describe(buffer);
    if (!r)
        return false;
    if (!unwritten && (!is_room_for(r, device_memory) || !clear(r))) {
        free(r);
        return false;
    }
    r->unwritten = unwritten;
    pthread_mutex_lock(&lock);
    DL_APPEND(list, r);
    atomic_fetch_add(&count, 1);
    pthread_mutex_unlock(&lock);
    return true;
}

static bool retire(CUdeviceptr address, bool unwritten, uint64_t device_memory)
{
    struct gp_buffer *buffer = gp_buffer_take(address);
    bool kept = buffer && keep(buffer, unwritten, device_memory);
    if (kept)
        gp_buffer_discard(buffer);
    else
        gp_buffer_put_back(buffer);
    return kept;
}

bool gp_retire(CUdeviceptr address, uint64_t device_memory)
{
    return retire(address, false, device_memory);
}

bool gp_retire_unwritten(CUdeviceptr address)
{
    return retire(address, true, 0);
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

/* Takes the one of the lowest address off the list, as the driver gives that out first. NULL: none.
 */
static struct retired *take_lowest(CUcontext context, size_t bytes, CUmemoryPool pool)
{
    struct retired *r, *found = NULL;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, r)
    {
        if (r->context == context && r->bytes == bytes && r->pool == (uintptr_t)pool &&
            !r->unwritten && (!found || r->address < found->address))
            found = r;
    }
    if (found)
        take_off(found);
    pthread_mutex_unlock(&lock);
    return found;
}

CUdeviceptr gp_retired_take(size_t bytes, CUmemoryPool pool)
{
    CUcontext current;
    if (!gp_retired_any() || gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)
        return 0;
    struct retired *r = take_lowest(current, bytes, pool);
    CUdeviceptr address = r && is_there(r) ? r->address : 0;
    free(r);
    return address;
}

/* Takes one of the context's off the list; NULL: there is none. */
static struct retired *take_any(CUcontext context)
{
    struct retired *r;
    pthread_mutex_lock(&lock);
    DL_SEARCH_SCALAR(list, r, context, context);
    if (r)
        take_off(r);
    pthread_mutex_unlock(&lock);
    return r;
}

void gp_retired_free(CUcontext context)
{
    struct retired *r;
    while (gp_retired_any() && (r = take_any(context))) {
        if (is_there(r))
            gp_cuda.cuMemFree_v2(r->address);
        free(r);
    }
}

void gp_retired_forget(CUcontext context)
{
    struct retired *r;
    while (gp_retired_any() && (r = take_any(context)))
        free(r);
}

uint64_t retired_bytes(CUdevice device)
{
    pthread_mutex_lock(&lock);
    uint64_t bytes = bytes_of(device, false);
    pthread_mutex_unlock(&lock);
    return bytes;
}
