#include "memory/buffers.h"

#include "cuda/green.h"

#include "memory/modules.h"
#include "memory/sharing.h"
#include "memory/surfaces.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <utlist.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_buffer *list;  /* in order of allocation */
static struct gp_buffer *table; /* the same buffers by address */
static atomic_ulong generation; /* changes so far */

/* The last changes, each at its number modulo the size. */
#define CHANGES 1024
static struct change {
    struct gp_buffer buffer; /* as it was then; its links mean nothing */
    bool added;
} changes[CHANGES];
static _Atomic(const char *) barred;
static atomic_bool doubtful; /* a context has gone, and buffers that none owned perhaps with it */

uint64_t gp_buffers_generation(void)
{
    return atomic_load(&generation);
}

void gp_memory_bar_replay(const char *why)
{
    const char *none = NULL;
    atomic_compare_exchange_strong(&barred, &none, why);
}

const char *gp_memory_replay_barred(void)
{
    return atomic_load(&barred);
}

/* Locked. */
static void note_change(const struct gp_buffer *buffer, bool added)
{
    unsigned long number = atomic_load(&generation);
    changes[number % CHANGES] = (struct change){.buffer = *buffer, .added = added};
    atomic_store(&generation, number + 1);
}

void gp_buffers_changed(void)
{
    pthread_mutex_lock(&lock);
    /* Longer ago than changes are kept. */
    atomic_fetch_add(&generation, CHANGES + 1);
    pthread_mutex_unlock(&lock);
}

static const char *why_not_ours(const struct gp_buffer *buffer)
{
    if (buffer->shared)
        return buffer->shared;
    if (buffer->devices & (buffer->devices - 1))
        return GP_OF_SEVERAL_GPUS;
    return buffer->host_writes ? GP_OF_THE_HOST : NULL;
}

/* Locked. */
static struct gp_buffer *find(CUdeviceptr address)
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
    note_change(buffer, false);
}

/* Locked. Who may write it is not what it was. */
static void set_writers(struct gp_buffer *buffer, uint64_t devices, bool host, const char *shared)
{
    if (buffer->devices == devices && buffer->host_writes == host && buffer->shared == shared)
        return;
    note_change(buffer, false);
    buffer->devices = devices;
    buffer->host_writes = host;
    buffer->shared = shared;
    buffer->not_ours = why_not_ours(buffer);
    note_change(buffer, true);
}

/* Locked. False where the table had no memory for it. */
static bool insert(struct gp_buffer *buffer)
{
    struct gp_buffer *stale = find(buffer->address);
    if (stale) {
        /* A free that we did not see, through a call that is not intercepted. */
        detach(stale);
        free(stale);
    }
    HASH_ADD(hh, table, address, sizeof(buffer->address), buffer);
    if (!buffer->hh.tbl)
        return false;
    DL_APPEND(list, buffer);
    note_change(buffer, true);
    return true;
}

static void add(struct gp_buffer entry)
{
    if (!entry.address || !entry.size)
        return;
    struct gp_buffer *buffer = malloc(sizeof(*buffer));
    entry.not_ours = why_not_ours(&entry);
    if (buffer)
        *buffer = entry;
    pthread_mutex_lock(&lock);
    bool inserted = buffer && insert(buffer);
    pthread_mutex_unlock(&lock);
    if (!inserted) {
        free(buffer);
        gp_memory_bar_replay("no memory to keep track of the program's buffers");
    }
}

void gp_buffer_add(enum gp_buffer_kind kind, CUdeviceptr address, size_t size)
{
    add((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = kind,
        .context = kind == GP_BUFFER_MANAGED ? NULL : gp_owning_context(),
    });
}

void gp_buffer_add_host(void *address, size_t size)
{
    CUdeviceptr device_address = 0;
    if (gp_cuda.cuMemHostGetDevicePointer_v2(&device_address, address, 0) != CUDA_SUCCESS)
        return; /* not mapped: no kernel reaches it */
    add((struct gp_buffer){
        .address = (CUdeviceptr)(uintptr_t)address,
        .device_address = device_address,
        .size = size,
        .kind = GP_BUFFER_HOST,
    });
}

void gp_buffer_add_global(const void *owner, CUdeviceptr address, size_t size)
{
    add((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = GP_BUFFER_GLOBAL,
        .context = gp_owning_context(),
        .owner = owner,
    });
}

void gp_buffer_add_foreign(CUdeviceptr address, size_t size, const char *why)
{
    CUdeviceptr start = address;
    if (!size && (!gp_cuda.cuMemGetAddressRange_v2 ||
                  gp_cuda.cuMemGetAddressRange_v2(&start, &size, address) != CUDA_SUCCESS)) {
        gp_memory_bar_replay(why);
        return;
    }
    add((struct gp_buffer){
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

void gp_buffer_shared(CUdeviceptr address)
{
    CUdeviceptr start = address;
    size_t size;
    if (gp_cuda.cuMemGetAddressRange_v2 &&
        gp_cuda.cuMemGetAddressRange_v2(&start, &size, address) != CUDA_SUCCESS)
        start = address;
    pthread_mutex_lock(&lock);
    struct gp_buffer *buffer = find(start);
    if (buffer)
        set_writers(buffer, buffer->devices, buffer->host_writes, GP_OF_ANOTHER_PROCESS);
    pthread_mutex_unlock(&lock);
    if (!buffer)
        gp_memory_bar_replay("the program shares memory with another process");
}

void gp_range_shared(CUdeviceptr address, size_t size)
{
    bool known = false;
    struct gp_buffer *buffer;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        if (buffer->device_address - address >= size &&
            address - buffer->device_address >= buffer->size)
            continue;
        set_writers(buffer, buffer->devices, buffer->host_writes, GP_OF_ANOTHER_PROCESS);
        known = true;
    }
    pthread_mutex_unlock(&lock);
    if (!known)
        gp_memory_bar_replay("the program shares memory with another process");
}

CUmemGenericAllocationHandle gp_mapping_source(CUdeviceptr address)
{
    CUmemGenericAllocationHandle source = 0;
    struct gp_buffer *buffer;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        if (buffer->kind == GP_BUFFER_MAPPED && address - buffer->address < buffer->size)
            source = buffer->source;
    }
    pthread_mutex_unlock(&lock);
    return source;
}

void gp_mapping_add(CUdeviceptr address, size_t size, CUmemGenericAllocationHandle handle)
{
    handle = gp_physical_of(handle);
    add((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = GP_BUFFER_MAPPED,
        .source = handle,
        .shared = gp_physical_is_shared(handle) ? GP_OF_ANOTHER_PROCESS : NULL,
    });
}

/* There are pools of the host's memory and of managed memory, too. */
static bool host_may_write(CUdeviceptr address)
{
    unsigned type = CU_MEMORYTYPE_DEVICE, managed = 0;
    return (gp_cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) ==
                CUDA_SUCCESS &&
            type == CU_MEMORYTYPE_HOST) ||
           (gp_cuda.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) ==
                CUDA_SUCCESS &&
            managed);
}

void gp_buffer_add_pooled(CUdeviceptr address, size_t size)
{
    int device = -1;
    CUdevice current;
    CUmemoryPool pool = NULL;
    if (gp_cuda.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) !=
            CUDA_SUCCESS &&
        gp_cuda.cuCtxGetDevice(&current) == CUDA_SUCCESS)
        device = current;
    if (gp_cuda.cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address) !=
        CUDA_SUCCESS)
        pool = NULL;
    if (device >= GP_MOST_DEVICES)
        gp_memory_bar_replay("there are too many GPUs");
    add((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = GP_BUFFER_POOLED,
        .devices = gp_device_bit(device) | gp_pool_devices(pool),
        .host_writes = host_may_write(address),
        .source = (uintptr_t)pool,
    });
}

/* Locked. Calls visit for each mapping that begins in the range. They lie one after the other
 * without gaps, as the driver demands of those it is to change together; else all are searched
 * at. */
static void each_mapping(CUdeviceptr address, size_t size,
                         void (*visit)(struct gp_buffer *, void *), void *data)
{
    CUdeviceptr at = address;
    while (at - address < size) {
        struct gp_buffer *buffer = find(at);
        if (!buffer || buffer->kind != GP_BUFFER_MAPPED)
            break;
        at += buffer->size;
        visit(buffer, data);
    }
    if (at - address >= size)
        return;
    struct gp_buffer *buffer, *next;
    DL_FOREACH_SAFE(list, buffer, next)
    {
        if (buffer->kind == GP_BUFFER_MAPPED && buffer->address >= at &&
            buffer->address - address < size)
            visit(buffer, data);
    }
}

struct access {
    uint64_t device; /* 0: the host */
    bool writable;
};

static void set_access(struct gp_buffer *buffer, void *data)
{
    const struct access *access = data;
    uint64_t devices =
        access->writable ? buffer->devices | access->device : buffer->devices & ~access->device;
    set_writers(buffer, devices, access->device ? buffer->host_writes : access->writable,
                buffer->shared);
}

void gp_mapping_set_access(CUdeviceptr address, size_t size, int device, bool writable)
{
    struct access access = {.device = gp_device_bit(device), .writable = writable};
    if (!access.device) {
        gp_memory_bar_replay("there are too many GPUs");
        return;
    }
    pthread_mutex_lock(&lock);
    each_mapping(address, size, set_access, &access);
    pthread_mutex_unlock(&lock);
}

void gp_mapping_set_host_access(CUdeviceptr address, size_t size, bool writable)
{
    struct access access = {.writable = writable};
    pthread_mutex_lock(&lock);
    each_mapping(address, size, set_access, &access);
    pthread_mutex_unlock(&lock);
}

void gp_mappings_shared(CUmemGenericAllocationHandle handle)
{
    struct gp_buffer *buffer;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        if (buffer->kind == GP_BUFFER_MAPPED && buffer->source == handle)
            set_writers(buffer, buffer->devices, buffer->host_writes, GP_OF_ANOTHER_PROCESS);
    }
    pthread_mutex_unlock(&lock);
}

void gp_pooled_set_access(CUmemoryPool pool, int device, bool writable)
{
    struct access access = {.device = gp_device_bit(device), .writable = writable};
    struct gp_buffer *buffer;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        bool unknown = !buffer->source && writable;
        if (buffer->kind == GP_BUFFER_POOLED && access.device &&
            (buffer->source == (uintptr_t)pool || unknown))
            set_access(buffer, &access);
    }
    pthread_mutex_unlock(&lock);
}

uint64_t gp_buffer_bytes(CUdeviceptr address)
{
    pthread_mutex_lock(&lock);
    const struct gp_buffer *buffer = find(address);
    uint64_t bytes = buffer ? buffer->size : 0;
    pthread_mutex_unlock(&lock);
    return bytes;
}

struct gp_buffer *gp_buffer_take(CUdeviceptr address)
{
    pthread_mutex_lock(&lock);
    struct gp_buffer *buffer = find(address);
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
    add(entry);
}

static void remove_mapping(struct gp_buffer *buffer, void *unused)
{
    (void)unused;
    detach(buffer);
    free(buffer);
}

void gp_mapping_remove(CUdeviceptr address, size_t size)
{
    pthread_mutex_lock(&lock);
    each_mapping(address, size, remove_mapping, NULL);
    pthread_mutex_unlock(&lock);
}

/* Takes off all buffers for which the test holds. */
static void drop_if(bool (*test)(const struct gp_buffer *, const void *), const void *data)
{
    struct gp_buffer *buffer, *next;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(list, buffer, next)
    {
        if (test(buffer, data)) {
            detach(buffer);
            free(buffer);
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
    CUcontext popped;
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
    gp_cuda.cuCtxPopCurrent_v2(&popped);
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
    /* Only what the driver has allocated need have a number. */
    return buffer->id && ask_id(buffer, &id) == CUDA_SUCCESS && id != buffer->id;
}

void gp_buffers_drop_owner(const void *owner)
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
    gp_modules_forget_context(context);
    gp_surfaces_forget_context(context);
}

static bool is_reachable(const struct gp_buffer *buffer, CUcontext context, int device)
{
    if (buffer->kind == GP_BUFFER_MAPPED || buffer->kind == GP_BUFFER_POOLED)
        return buffer->devices & gp_device_bit(device);
    return !buffer->context || buffer->context == context;
}

/* As a kernel of the context sees it: what lies in another one is just memory, and not ours. False
 * where it cannot reach it. */
static bool concerns(const struct gp_buffer *buffer, CUcontext context, int device,
                     struct gp_buffer *seen)
{
    *seen = *buffer;
    if (is_reachable(buffer, context, device))
        return true;
    if (!buffer->context || !gp_peer_reaches(context, buffer->context))
        return false;
    seen->kind = GP_BUFFER_FOREIGN;
    seen->owner = NULL;
    seen->not_ours = GP_OF_ANOTHER_GPU;
    return true;
}

/* Not when the context goes: the driver is asked, and that takes a context that is current. */
static void drop_gone(void)
{
    if (atomic_exchange(&doubtful, false))
        drop_if(is_gone, NULL);
}

void gp_buffers_each(CUcontext context, int device, gp_buffer_visit *visit, void *data)
{
    struct gp_buffer *buffer, seen;
    drop_gone();
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        if (concerns(buffer, context, device, &seen))
            visit(&seen, data);
    }
    pthread_mutex_unlock(&lock);
}

bool gp_buffers_changes(uint64_t *since, CUcontext context, int device, gp_buffer_change *visit,
                        void *data)
{
    struct gp_buffer seen;
    drop_gone();
    pthread_mutex_lock(&lock);
    unsigned long now = atomic_load(&generation);
    bool known = now - *since <= CHANGES;
    for (unsigned long number = *since; known && number != now; number++) {
        const struct change *change = &changes[number % CHANGES];
        if (concerns(&change->buffer, context, device, &seen))
            visit(&seen, change->added, data);
    }
    *since = now;
    pthread_mutex_unlock(&lock);
    return known;
}
