/* Memory that the program has freed and that held launches reach (launch/drain.c): it stays until
 * they have been measured, all zero, as new memory is; that of a pool as it is. The program's next
 * allocation of as many bytes gets it, as the driver would do: so the loop of a program that
 * allocates, launches and frees is measured in batches. Owns the list of that memory. From any
 * thread. */
#ifndef GPUPROF_MEMORY_RETIRED_H
#define GPUPROF_MEMORY_RETIRED_H

#include "cuda/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keeps the memory of a buffer instead of a free: true, and the buffer is gone. False where it is
 * to be freed: it is of another kind, or shared, or there is much of it already. Its context is
 * current and idle. */
bool gp_retire(CUdeviceptr address, uint64_t device_memory);

/* Keeps memory of which a copy is still to be made, as gp_retire does, in the current context,
 * which is at work: nobody gets it again before it is freed. */
bool gp_retire_unwritten(CUdeviceptr address);

/* True for an address whose memory the program has freed already. */
bool gp_is_retired(CUdeviceptr address);
bool gp_retired_any(void);
/* Memory of the current context for an allocation of so many bytes, from a pool or (NULL) not; 0:
 * there is none. Nothing is captured. */
CUdeviceptr gp_retired_take(size_t bytes, CUmemoryPool pool);

/* Frees all that is kept in the context, which is current and idle. */
void gp_retired_free(CUcontext context);
/* Forgets it: it has gone with its context. */
void gp_retired_forget(CUcontext context);

#endif
