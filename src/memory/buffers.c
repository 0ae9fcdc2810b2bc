#include "memory/inside.h"

#include "cuda/green.h"
#include "memory/modules.h"
#include "memory/sharing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <utlist.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_buffer *list;  /* in order of allocation */
static struct gp_buffer *table; /* the same buffers by address */
static atomic_bool is_barred;
static struct gp_reason barred; /* constant once `is_barred` */
static atomic_bool doubtful; /* a context has gone, and buffers that none owned perhaps with it */

void gp_memory_bar_replay(struct gp_reason why)
{
    static pthread_mutex_t barring = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&barring);
    if (!atomic_load(&is_barred))
        barred = why;
    atomic_store(&is_barred, true);
    pthread_mutex_unlock(&barring);
}

struct gp_reason gp_memory_replay_barred(void)
{
    return atomic_load(&is_barred) ? barred : GP_NO_REASON;
}

void buffers_lock(void)
{
    pthread_mutex_lock(&lock);
}

void buffers_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

struct gp_buffer *buffers_first(void)
{
    return list;
}

struct gp_buffer *buffer_find(CUdeviceptr address)
{
    struct gp_buffer *buffer;
    HASH_FIND(hh, table, &address, sizeof(address), buffer);
    return buffer;
}

/* Locked. */
static void detach(struct gp_buffer *buffer)
{
    HASH_DEL(table, buffer);
    DL_DELETE(list, buffer);
    buffer_note_change(buffer, false);
}

void buffer_drop(struct gp_buffer *buffer)
{
    detach(buffer);
    free(buffer);
}

/* Locked. False where the table had no memory for it. */
static bool insert(struct gp_buffer *buffer)
{
    struct gp_buffer *stale = buffer_find(buffer->address);
    /* A free that we did not see, through a call that is not intercepted. */
    if (stale)
        buffer_drop(stale);
    HASH_ADD(hh, table, address, sizeof(buffer->address), buffer);
    if (!buffer->hh.tbl)
        return false;
    DL_APPEND(list, buffer);
    buffer_note_change(buffer, true);
    return true;
}

void buffer_enter(struct gp_buffer entry)
{
    if (!entry.address || !entry.size)
        return;
    struct gp_buffer *buffer = malloc(sizeof(*buffer));
    entry.not_ours = buffer_not_ours(&entry);
    if (buffer)
        *buffer = entry;
    pthread_mutex_lock(&lock);
    bool inserted = buffer && insert(buffer);
    pthread_mutex_unlock(&lock);
    if (!inserted) {
        free(buffer);
        gp_memory_bar_replay(
            GP_REASON_TEXT(NO_MEMORY, "out of memory: not all buffers of the program are known"));
    }
}

void gp_buffer_add(enum gp_buffer_kind kind, CUdeviceptr address, size_t size)
{
    CUcontext context = gp_owning_context();
    gp_context_is_used(context);
    buffer_enter((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = kind,
        .managed = kind == GP_BUFFER_MANAGED,
        .context = kind == GP_BUFFER_MANAGED ? NULL : context,
    });
}

void gp_buffer_add_host(void *address, size_t size)
{
    CUdeviceptr device_address = 0;
    if (gp_cuda.cuMemHostGetDevicePointer_v2(&device_address, address, 0) != CUDA_SUCCESS)
        return; /* not mapped: no kernel reaches it */
    buffer_enter((struct gp_buffer){
        .address = (CUdeviceptr)(uintptr_t)address,
        .device_address = device_address,
        .size = size,
        .kind = GP_BUFFER_HOST,
    });
}

static bool is_managed(CUdeviceptr address)
{
    unsigned managed = 0;
    return gp_cuda.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) ==
               CUDA_SUCCESS &&
           managed;
}

/* Several parts of an image may name the same variables: a linked one, and those that it was linked
 * of. One that is known by itself lies in its section, and its buffer must not stand for that. */
static void join_overlapping(const void *owner, CUdeviceptr *address, size_t *size)
{
    struct gp_buffer *buffer, *next;
    CUdeviceptr end = *address + *size;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(list, buffer, next)
    {
        const CUdeviceptr its_end = buffer->address + buffer->size;
        if (buffer->owner != owner || buffer->address >= end || its_end <= *address)
            continue;
        *address = buffer->address < *address ? buffer->address : *address;
        end = its_end > end ? its_end : end;
        buffer_drop(buffer);
    }
    pthread_mutex_unlock(&lock);
    *size = end - *address;
}

void buffer_add_global(const void *owner, CUdeviceptr address, size_t size)
{
    join_overlapping(owner, &address, &size);
    buffer_enter((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .managed = is_managed(address),
        .kind = GP_BUFFER_GLOBAL,
        .context = gp_owning_context(),
        .owner = owner,
    });
}

void gp_buffer_add_foreign(CUdeviceptr address, size_t size, struct gp_reason why)
{
    CUdeviceptr start = address;
    if (!size && (!gp_cuda.cuMemGetAddressRange_v2 ||
                  gp_cuda.cuMemGetAddressRange_v2(&start, &size, address) != CUDA_SUCCESS)) {
        gp_memory_bar_replay(why);
        return;
    }
    buffer_enter((struct gp_buffer){
        .address = address,
        .device_address = start,
        .size = size,
        .kind = GP_BUFFER_FOREIGN,
        .shared = why,
    });
}

bool gp_buffer_is_there(const struct gp_buffer *buffer)
{
    CUdeviceptr start;
    size_t size;
    return buffer && gp_cuda.cuMemGetAddressRange_v2 &&
           gp_cuda.cuMemGetAddressRange_v2(&start, &size, buffer->address) == CUDA_SUCCESS &&
           start == buffer->device_address && size == buffer->size;
}

uint64_t gp_buffer_bytes(CUdeviceptr address)
{
    pthread_mutex_lock(&lock);
    const struct gp_buffer *buffer = buffer_find(address);
    uint64_t bytes = buffer ? buffer->size : 0;
    pthread_mutex_unlock(&lock);
    return bytes;
}

static uint64_t distance(const struct gp_buffer *buffer, CUdeviceptr address)
{
    CUdeviceptr start = buffer->device_address, end = start + buffer->size;
    return address < start ? start - address : address > end ? address - end : 0;
}

uint64_t gp_buffer_distance(CUdeviceptr address, enum gp_cause but_shared)
{
    const struct gp_buffer *buffer;
    uint64_t least = UINT64_MAX;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        if (buffer->shared.cause != but_shared && distance(buffer, address) < least)
            least = distance(buffer, address);
    }
    pthread_mutex_unlock(&lock);
    return least;
}

struct gp_buffer *gp_buffer_take(CUdeviceptr address)
{
    pthread_mutex_lock(&lock);
    struct gp_buffer *buffer = buffer_find(address);
    if (buffer)
        detach(buffer);
    pthread_mutex_unlock(&lock);
    return buffer;
}

void gp_buffer_discard(struct gp_buffer *buffer)
{
    free(buffer);
}

void gp_buffer_put_back(struct gp_buffer *buffer)
{
    if (!buffer)
        return;
    struct gp_buffer entry = *buffer;
    free(buffer);
    buffer_enter(entry);
}

/* Takes off all buffers for which the test holds. */
static void drop_if(bool (*test)(const struct gp_buffer *, const void *), const void *data)
{
    struct gp_buffer *buffer, *next;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(list, buffer, next)
    {
        if (test(buffer, data)) {
            buffer_drop(buffer);
        }
    }
    pthread_mutex_unlock(&lock);
}

static bool has_owner(const struct gp_buffer *buffer, const void *owner)
{
    return buffer->owner == owner;
}

static bool is_in_context(const struct gp_buffer *buffer, const void *context)
{
    return buffer->context == context;
}

static CUresult ask_id(const struct gp_buffer *buffer, unsigned long long *id)
{
    return gp_cuda.cuPointerGetAttribute(id, CU_POINTER_ATTRIBUTE_BUFFER_ID, buffer->address);
}

void gp_memory_context_going(CUcontext context)
{
    struct gp_buffer *buffer;
    /* The driver is only asked in a context, and none need be current. */
    if (!context || gp_cuda.cuCtxPushCurrent_v2(context) != CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        /* Once: another thread's context may have gone with it by now. */
        if (!buffer->context && !buffer->id && ask_id(buffer, &buffer->id) != CUDA_SUCCESS)
            buffer->id = 0;
    }
    pthread_mutex_unlock(&lock);
    gp_context_pop();
}

/* Memory that no context owned may have gone with one that did not own it either, and other memory
 * have come to its address, be it ours. Other errors say nothing of it. */
static bool is_gone(const struct gp_buffer *buffer, const void *unused)
{
    (void)unused;
    unsigned type = 0;
    unsigned long long id = 0;
    if (buffer->context)
        return false;
    if (gp_cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, buffer->address) ==
        CUDA_ERROR_INVALID_VALUE)
        return true;
    /* Only memory that the driver has allocated need have a number. */
    return buffer->id && ask_id(buffer, &id) == CUDA_SUCCESS && id != buffer->id;
}

bool gp_buffer_of_owner(const void *owner, CUdeviceptr *address, uint64_t *bytes)
{
    const struct gp_buffer *buffer, *first = NULL;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        if (has_owner(buffer, owner) && buffer->address >= *address &&
            (!first || buffer->address < first->address))
            first = buffer;
    }
    if (first) {
        *address = first->address;
        *bytes = first->size;
    }
    pthread_mutex_unlock(&lock);
    return first != NULL;
}

bool gp_buffers_go_with(CUcontext context, gp_is_asked_for *is_asked_for, const void *data)
{
    const struct gp_buffer *buffer;
    bool found = false;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        found = found || ((!buffer->context || buffer->context == context) &&
                          is_asked_for(data, buffer->address, buffer->size));
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void buffers_drop_owner(const void *owner)
{
    if (owner)
        drop_if(has_owner, owner);
}

void gp_memory_forget_context(CUcontext context)
{
    if (!context)
        return;
    gp_peers_forget(context);
    drop_if(is_in_context, context);
    atomic_store(&doubtful, true);
    modules_forget_context(context);
    surfaces_forget_context(context);
}

static bool is_reachable(const struct gp_buffer *buffer, CUcontext context, int device)
{
    if (buffer->kind == GP_BUFFER_MAPPED || buffer->kind == GP_BUFFER_POOLED)
        return buffer->devices & device_bit(device);
    return !buffer->context || buffer->context == context;
}

bool buffer_concerns(const struct gp_buffer *buffer, CUcontext context, int device,
                     struct gp_buffer *seen)
{
    *seen = *buffer;
    if (is_reachable(buffer, context, device))
        return true;
    if (!buffer->context || !peer_reaches(context, buffer->context))
        return false;
    seen->kind = GP_BUFFER_FOREIGN;
    seen->owner = NULL;
    seen->not_ours = GP_OF_ANOTHER_GPU;
    return true;
}

bool buffer_may_concern(CUdeviceptr address, CUcontext context, int device)
{
    struct gp_buffer seen;
    pthread_mutex_lock(&lock);
    const struct gp_buffer *buffer = buffer_find(address);
    bool may = !buffer || buffer_concerns(buffer, context, device, &seen);
    pthread_mutex_unlock(&lock);
    return may;
}

/* Not when the context goes: the driver is asked, and that takes a context that is current. */
void buffers_drop_gone(void)
{
    if (atomic_exchange(&doubtful, false))
        drop_if(is_gone, NULL);
}

void gp_buffers_each(CUcontext context, int device, gp_buffer_visit *visit, void *data)
{
    struct gp_buffer *buffer, seen;
    buffers_drop_gone();
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        if (buffer_concerns(buffer, context, device, &seen))
            visit(&seen, data);
    }
    pthread_mutex_unlock(&lock);
}
