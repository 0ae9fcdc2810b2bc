/* Which memory others can write as well: contexts of other GPUs, other processes. A launch that
 * reaches such memory is not replayed: writes of others since then must not be undone. Owns the
 * lists of peer access, of shared physical memory and of pools. From any thread. */
#ifndef GPUPROF_MEMORY_SHARING_H
#define GPUPROF_MEMORY_SHARING_H

#include "cuda/driver.h"

#include <stdint.h>

/* Why a launch is not replayed. */
#define GP_OF_ANOTHER_PROCESS \
    GP_REASON_TEXT(SHARED_MEMORY, "the launch reaches memory shared with another process")
#define GP_OF_ANOTHER_API \
    GP_REASON_TEXT(SHARED_MEMORY, "the launch reaches memory imported from another API")
#define GP_OF_ANOTHER_GPU GP_REASON_TEXT(SHARED_MEMORY, "the launch reaches memory of another GPU")
#define GP_OF_SEVERAL_GPUS \
    GP_REASON_TEXT(SHARED_MEMORY, "the launch reaches memory that several GPUs can write")
#define GP_OF_THE_HOST GP_REASON(HOST_MEMORY)

/* Kernels of one context can write the memory of the other, from now on. */
void gp_peer_enabled(CUcontext by, CUcontext owner);
/* The program copies into memory of the other context in a stream of that one. */
void gp_peer_copies(CUcontext by, CUcontext owner);
/* The context that the memory there belongs to; NULL where the driver knows none. */
CUcontext gp_owner_of(CUdeviceptr address);
/* The contexts whose kernels or copies can write the memory of this one: writes as many as there is
 * room for, returns how many there are. */
size_t gp_peers_of(CUcontext owner, CUcontext *peers, size_t room);

/* The program allocates memory there, or copies, so it may work there. */
#define GP_MOST_CONTEXTS 64
void gp_context_is_used(CUcontext context);
bool gp_several_contexts(void);
/* How many there are; more than GP_MOST_CONTEXTS: not all are in the list, from then on. */
size_t gp_contexts_used(CUcontext list[GP_MOST_CONTEXTS]);

/* The context goes. */
void gp_peers_forget(CUcontext context);

/* Physical memory of cuMemCreate, by its handle: new; had from another process, or given to it. */
void gp_physical_made(CUmemGenericAllocationHandle handle);
void gp_physical_shared(CUmemGenericAllocationHandle handle);
/* The driver has given out another handle of it. The first one stands for all. */
void gp_physical_also(CUmemGenericAllocationHandle handle, CUmemGenericAllocationHandle first);

/* Beside its own device those may write a pool's memory. */
void gp_pool_set_access(CUmemoryPool pool, int device, bool writable);
void gp_pool_forget(CUmemoryPool pool);

#endif
