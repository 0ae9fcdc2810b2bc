#include "memory/inside.h"

#include "cuda/green.h"

#include "memory/sharing.h"

#include <utlist.h>

struct gp_reason buffer_not_ours(const struct gp_buffer *buffer)
{
    if (buffer->shared.cause)
        return buffer->shared;
    if (buffer->devices & (buffer->devices - 1))
        return GP_OF_SEVERAL_GPUS;
    return buffer->host_writes ? GP_OF_THE_HOST : GP_NO_REASON;
}

/* Locked. Others may write it from now on, or may not any more. */
static void set_writers(struct gp_buffer *buffer, uint64_t devices, bool host,
                        struct gp_reason shared)
{
    if (buffer->devices == devices && buffer->host_writes == host &&
        buffer->shared.cause == shared.cause)
        return;
    buffer_note_change(buffer, false);
    buffer->devices = devices;
    buffer->host_writes = host;
    buffer->shared = shared;
    buffer->not_ours = buffer_not_ours(buffer);
    buffer_note_change(buffer, true);
}

/* ---- other processes ------------------------------------------------------------------------- */

/* The start of the allocation that the address is in; the address itself where that is not known.
 */
static CUdeviceptr start_of(CUdeviceptr address)
{
    CUdeviceptr start = address;
    size_t size;
    if (gp_cuda.cuMemGetAddressRange_v2 &&
        gp_cuda.cuMemGetAddressRange_v2(&start, &size, address) != CUDA_SUCCESS)
        start = address;
    return start;
}

void gp_buffer_shared(CUdeviceptr address)
{
    CUdeviceptr start = start_of(address);
    buffers_lock();
    struct gp_buffer *buffer = buffer_find(start);
    if (buffer)
        set_writers(buffer, buffer->devices, buffer->host_writes, GP_OF_ANOTHER_PROCESS);
    buffers_unlock();
    if (!buffer)
        gp_memory_bar_replay(
            GP_REASON_TEXT(REPLAY_BARRED, "the program shares memory with another process"));
}

void gp_range_shared(CUdeviceptr address, size_t size)
{
    bool known = false;
    struct gp_buffer *buffer;
    buffers_lock();
    DL_FOREACH(buffers_first(), buffer)
    {
        if (buffer->device_address - address >= size &&
            address - buffer->device_address >= buffer->size)
            continue;
        set_writers(buffer, buffer->devices, buffer->host_writes, GP_OF_ANOTHER_PROCESS);
        known = true;
    }
    buffers_unlock();
    if (!known)
        gp_memory_bar_replay(
            GP_REASON_TEXT(REPLAY_BARRED, "the program shares memory with another process"));
}

/* ---- other devices --------------------------------------------------------------------------- */

void gp_buffer_make_direct(CUdeviceptr address)
{
    CUdeviceptr start = start_of(address);
    buffers_lock();
    struct gp_buffer *buffer = buffer_find(start);
    if (buffer && !buffer->direct) {
        buffer_note_change(buffer, false);
        buffer->direct = true;
        buffer_note_change(buffer, true);
    }
    buffers_unlock();
}

bool gp_buffer_is_direct(CUdeviceptr address)
{
    CUdeviceptr start = start_of(address);
    buffers_lock();
    const struct gp_buffer *buffer = buffer_find(start);
    bool direct = buffer && buffer->direct;
    buffers_unlock();
    return direct;
}

/* ---- mappings, pools ------------------------------------------------------------------------- */

CUmemGenericAllocationHandle gp_mapping_source(CUdeviceptr address)
{
    CUmemGenericAllocationHandle source = 0;
    struct gp_buffer *buffer;
    buffers_lock();
    DL_FOREACH(buffers_first(), buffer)
    {
        if (buffer->kind == GP_BUFFER_MAPPED && address - buffer->address < buffer->size)
            source = buffer->source;
    }
    buffers_unlock();
    return source;
}

void gp_mapping_add(CUdeviceptr address, size_t size, CUmemGenericAllocationHandle handle)
{
    handle = physical_of_handle(handle);
    buffer_enter((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = GP_BUFFER_MAPPED,
        .source = handle,
        .shared = physical_is_shared(handle) ? GP_OF_ANOTHER_PROCESS : GP_NO_REASON,
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
    gp_context_is_used(gp_owning_context());
    if (gp_cuda.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) !=
            CUDA_SUCCESS &&
        gp_cuda.cuCtxGetDevice(&current) == CUDA_SUCCESS)
        device = current;
    if (gp_cuda.cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address) !=
        CUDA_SUCCESS)
        pool = NULL;
    if (device >= GP_MOST_DEVICES)
        gp_memory_bar_replay(GP_REASON_TEXT(REPLAY_BARRED, "there are too many GPUs"));
    buffer_enter((struct gp_buffer){
        .address = address,
        .device_address = address,
        .size = size,
        .kind = GP_BUFFER_POOLED,
        .devices = device_bit(device) | pool_devices(pool),
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
        struct gp_buffer *buffer = buffer_find(at);
        if (!buffer || buffer->kind != GP_BUFFER_MAPPED)
            break;
        at += buffer->size;
        visit(buffer, data);
    }
    if (at - address >= size)
        return;
    struct gp_buffer *buffer, *next;
    DL_FOREACH_SAFE(buffers_first(), buffer, next)
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
    struct access access = {.device = device_bit(device), .writable = writable};
    if (!access.device) {
        gp_memory_bar_replay(GP_REASON_TEXT(REPLAY_BARRED, "there are too many GPUs"));
        return;
    }
    buffers_lock();
    each_mapping(address, size, set_access, &access);
    buffers_unlock();
}

void gp_mapping_set_host_access(CUdeviceptr address, size_t size, bool writable)
{
    struct access access = {.writable = writable};
    buffers_lock();
    each_mapping(address, size, set_access, &access);
    buffers_unlock();
}

void mappings_shared(CUmemGenericAllocationHandle handle)
{
    struct gp_buffer *buffer;
    buffers_lock();
    DL_FOREACH(buffers_first(), buffer)
    {
        if (buffer->kind == GP_BUFFER_MAPPED && buffer->source == handle)
            set_writers(buffer, buffer->devices, buffer->host_writes, GP_OF_ANOTHER_PROCESS);
    }
    buffers_unlock();
}

void pooled_set_access(CUmemoryPool pool, int device, bool writable)
{
    struct access access = {.device = device_bit(device), .writable = writable};
    struct gp_buffer *buffer;
    buffers_lock();
    DL_FOREACH(buffers_first(), buffer)
    {
        bool unknown = !buffer->source && writable;
        if (buffer->kind == GP_BUFFER_POOLED && access.device &&
            (buffer->source == (uintptr_t)pool || unknown))
            set_access(buffer, &access);
    }
    buffers_unlock();
}

static void remove_mapping(struct gp_buffer *buffer, void *unused)
{
    (void)unused;
    buffer_drop(buffer);
}

void gp_mapping_remove(CUdeviceptr address, size_t size)
{
    buffers_lock();
    each_mapping(address, size, remove_mapping, NULL);
    buffers_unlock();
}
