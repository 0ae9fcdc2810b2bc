/* memory/: the memory of the program. The linked list of the buffers a kernel can write, hashed by
 * address; the device globals of its modules; snapshots of them. Owns those.
 *
 * Every function here may be called from any thread. */
#ifndef GPUPROF_MEMORY_BUFFERS_H
#define GPUPROF_MEMORY_BUFFERS_H

#include "base/hash.h"
#include "cuda/driver.h"

#include <stdint.h>

enum gp_buffer_kind {
    GP_BUFFER_DEVICE,  /* cuMemAlloc and its relatives */
    GP_BUFFER_MANAGED, /* cuMemAllocManaged */
    GP_BUFFER_HOST,    /* page-locked host memory that kernels reach */
    GP_BUFFER_GLOBAL,  /* a variable of a module */
    GP_BUFFER_MAPPED,  /* of a device, not of a context: mapped by cuMemMap */
    GP_BUFFER_POOLED,  /* of a device, too: had from a pool */
    GP_BUFFER_FOREIGN, /* of another process or API */
};

struct gp_buffer {
    CUdeviceptr address;        /* as the program knows it: the key */
    CUdeviceptr device_address; /* as kernels see it */
    size_t size;                /* bytes */
    enum gp_buffer_kind kind;
    CUcontext context; /* NULL: reachable from every context (managed, host, mapped memory) */
    uint64_t devices;  /* of mapped or pooled memory: whose kernels may write it, a bit each */
    uint64_t source;   /* of the same: its physical memory's handle, or its pool; 0: unknown */
    bool host_writes;  /* of the same: the host may, too */
    struct gp_reason shared; /* by others than this process's GPUs, and why; or none */
    struct gp_reason
        not_ours;          /* why its contents must not be put back (memory/sharing.h), or none */
    bool managed;          /* memory that the host uses as well, a variable, too */
    bool direct;           /* other devices may access it directly: no driver call says when */
    const void *owner;     /* the module or library of a global, else NULL */
    unsigned long long id; /* the driver's number of the allocation; 0: not asked for */
    struct gp_buffer *prev, *next;
    UT_hash_handle hh;
};

/* Enters a buffer of the current context. Address 0 and size 0 are ignored. Where memory for the
 * entry cannot be had, replay is barred: better not to measure than to lose track. */
void gp_buffer_add(enum gp_buffer_kind kind, CUdeviceptr address, size_t size);
void gp_buffer_add_host(void *address, size_t size);
/* Memory of a pool: any context of its device may use it. */
void gp_buffer_add_pooled(CUdeviceptr address, size_t size);

/* Memory of another process, or of another API: never copied. Size 0: the driver is asked. Kernels
 * of any context may write it. */
void gp_buffer_add_foreign(CUdeviceptr address, size_t size, struct gp_reason why);
/* True when the memory that the driver knows at the address is there still, or again. */
bool gp_buffer_is_there(const struct gp_buffer *buffer);
/* The allocation that the address is in has been given to another process. */
void gp_buffer_shared(CUdeviceptr address);
/* All that lies in the range has. */
void gp_range_shared(CUdeviceptr address, size_t size);
/* Other devices, network adapters and disks, or the host by their drivers, may access the
 * allocation that the address is in, at any time from now on (GPUDirect). */
void gp_buffer_make_direct(CUdeviceptr address);
bool gp_buffer_is_direct(CUdeviceptr address);

/* Physical memory mapped at an address. Kernels may write it once access has been given to their
 * device. Access and unmapping may span several mappings. */
void gp_mapping_add(CUdeviceptr address, size_t size, CUmemGenericAllocationHandle handle);
/* Gives a device, or the host, the right to write the memory that is mapped there, or takes it. */
void gp_mapping_set_access(CUdeviceptr address, size_t size, int device, bool writable);
void gp_mapping_set_host_access(CUdeviceptr address, size_t size, bool writable);
void gp_mapping_remove(CUdeviceptr address, size_t size);
/* The handle of the physical memory that is mapped at the address; 0: none is. */
CUmemGenericAllocationHandle gp_mapping_source(CUdeviceptr address);

/* Bytes of the buffer that starts at the address; 0 where there is none. */
uint64_t gp_buffer_bytes(CUdeviceptr address);

/* Bytes from the address to the nearest buffer, as kernels see it, but for those that are shared
 * for that cause. None to one that it is in, or just behind. Goes through all buffers. */
uint64_t gp_buffer_distance(CUdeviceptr address, enum gp_cause but_shared);

/* Takes the buffer that starts at the address off the list; NULL where there is none. Then either
 * its memory is gone (discard) or the free failed (put back). Both take NULL. */
struct gp_buffer *gp_buffer_take(CUdeviceptr address);
void gp_buffer_discard(struct gp_buffer *buffer);
void gp_buffer_put_back(struct gp_buffer *buffer);

/* The first global of the module at *address or behind it; false where there is none. */
bool gp_buffer_of_owner(const void *owner, CUdeviceptr *address, uint64_t *bytes);
/* True where some buffer is asked for that goes with the context, or may, as no context owns it.
 * `is_asked_for` calls nothing of this file. */
typedef bool gp_is_asked_for(const void *data, CUdeviceptr address, uint64_t bytes);
bool gp_buffers_go_with(CUcontext context, gp_is_asked_for *is_asked_for, const void *data);
/* Before a context is destroyed: notes the driver's answer for buffers that no context owns, as
 * they may go with it, and others come to lie there. */
void gp_memory_context_going(CUcontext context);
/* After a context was destroyed: takes all its buffers and its modules off the lists, and at the
 * next launch all buffers that the driver does not know any more. */
void gp_memory_forget_context(CUcontext context);

/* Calls visit for each buffer that a kernel of the current context, which is on that device, can
 * write; under the list's lock. Memory in another context is not ours there, of any kind. */
typedef void gp_buffer_visit(const struct gp_buffer *buffer, void *data);
void gp_buffers_each(CUcontext context, int device, gp_buffer_visit *visit, void *data);

/* From now on kernels can write memory that no snapshot holds, so none is replayed. The first
 * reason is kept. */
void gp_memory_bar_replay(struct gp_reason why);
struct gp_reason gp_memory_replay_barred(void); /* none: replay is safe */

#endif
