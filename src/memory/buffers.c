#include "memory/buffers.h"

#include "memory/modules.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <utlist.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_buffer *list;  /* in order of allocation */
static struct gp_buffer *table; /* the same buffers by address */
static atomic_ulong generation;
static _Atomic(const char *) barred;

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

/* Locked. False where the table had no memory for it. */
static bool insert(struct gp_buffer *buffer)
{
    struct gp_buffer *stale;
    HASH_FIND(hh, table, &buffer->address, sizeof(buffer->address), stale);
    if (stale) {
        /* A free that passed us by, through some library's private door. */
        HASH_DEL(table, stale);
        DL_DELETE(list, stale);
        free(stale);
    }
    HASH_ADD(hh, table, address, sizeof(buffer->address), buffer);
    if (!buffer->hh.tbl)
        return false;
    DL_APPEND(list, buffer);
    atomic_fetch_add(&generation, 1);
    return true;
}

static void add(struct gp_buffer entry)
{
    if (!entry.address || !entry.size)
        return;
    struct gp_buffer *buffer = malloc(sizeof(*buffer));
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

static bool is_mapped_within(const struct gp_buffer *buffer, CUdeviceptr address, size_t size)
{
    return buffer->kind == GP_BUFFER_MAPPED && buffer->address >= address &&
           buffer->address - address < size;
}

static CUcontext current_context(void)
{
    CUcontext context = NULL;
    gp_cuda.cuCtxGetCurrent(&context);
    return context;
}

void gp_buffer_add(enum gp_buffer_kind kind, CUdeviceptr address, size_t size)
{
    add((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = kind,
        .context = kind == GP_BUFFER_MANAGED ? NULL : current_context(),
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
        .context = current_context(),
        .owner = owner,
    });
}

void gp_mapping_add(CUdeviceptr address, size_t size)
{
    add((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = GP_BUFFER_MAPPED,
        .device = GP_NO_DEVICE,
    });
}

void gp_buffer_add_pooled(CUdeviceptr address, size_t size)
{
    int device = GP_NO_DEVICE;
    CUdevice current;
    if (gp_cuda.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) !=
            CUDA_SUCCESS &&
        gp_cuda.cuCtxGetDevice(&current) == CUDA_SUCCESS)
        device = current;
    add((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = GP_BUFFER_MAPPED,
        .device = device,
    });
}

bool gp_mapping_set_access(CUdeviceptr address, size_t size, int device, bool writable)
{
    bool alone = true;
    struct gp_buffer *buffer;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        if (!is_mapped_within(buffer, address, size))
            continue;
        if (!writable && buffer->device == device)
            buffer->device = GP_NO_DEVICE;
        else if (writable && buffer->device == GP_NO_DEVICE)
            buffer->device = device;
        else if (writable && buffer->device != device)
            alone = false;
    }
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&lock);
    return alone;
}

/* Locked. */
static void detach(struct gp_buffer *buffer)
{
    HASH_DEL(table, buffer);
    DL_DELETE(list, buffer);
    atomic_fetch_add(&generation, 1);
}

struct gp_buffer *gp_buffer_take(CUdeviceptr address)
{
    struct gp_buffer *buffer;
    pthread_mutex_lock(&lock);
    HASH_FIND(hh, table, &address, sizeof(address), buffer);
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

void gp_mapping_remove(CUdeviceptr address, size_t size)
{
    struct gp_buffer *buffer, *next;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(list, buffer, next)
    {
        if (is_mapped_within(buffer, address, size)) {
            detach(buffer);
            free(buffer);
        }
    }
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

/* Memory that no context owned may have gone with the last one. Other errors say nothing of it. */
static bool is_unknown(const struct gp_buffer *buffer, const void *unused)
{
    (void)unused;
    unsigned type = 0;
    return !buffer->context &&
           gp_cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                         buffer->address) == CUDA_ERROR_INVALID_VALUE;
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
    drop_if(is_in_context, context);
    drop_if(is_unknown, NULL);
    gp_modules_forget_context(context);
}

static bool is_reachable(const struct gp_buffer *buffer, CUcontext context, int device)
{
    if (buffer->kind == GP_BUFFER_MAPPED)
        return buffer->device == device;
    return !buffer->context || buffer->context == context;
}

void gp_buffers_each(CUcontext context, int device, gp_buffer_visit *visit, void *data)
{
    struct gp_buffer *buffer;
    pthread_mutex_lock(&lock);
    DL_FOREACH(list, buffer)
    {
        if (is_reachable(buffer, context, device))
            visit(buffer, data);
    }
    pthread_mutex_unlock(&lock);
}
