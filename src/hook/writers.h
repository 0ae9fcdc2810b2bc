/* Work of one context that writes the memory of another one. Launches of that one are not replayed
 * while it goes on (memory/sharing.h). Each of these is called before the work is submitted; a
 * pointer may be NULL, which the driver will refuse. */
#ifndef GPUPROF_HOOK_WRITERS_H
#define GPUPROF_HOOK_WRITERS_H

#include "cuda/driver.h"

/* The context that works in that stream; NULL where it is not to be asked for. */
CUcontext gp_writer(CUstream stream);

void gp_writes(CUdeviceptr to, CUstream stream);
/* A copy or a fill of so many bytes from the address on; 0: they do not lie side by side. To be
 * followed by gp_launch_after_write. */
void gp_copies_to(CUdeviceptr to, uint64_t bytes, CUstream stream);
void gp_copies_2d(const CUDA_MEMCPY2D_v2 *copy, uint64_t bytes, CUstream stream);
void gp_copies_3d(const CUDA_MEMCPY3D_v2 *copy, uint64_t bytes, CUstream stream);
void gp_writes_peer(const CUDA_MEMCPY3D_PEER_v1 *copy, CUstream stream);
void gp_writes_operations(const CUstreamBatchMemOpParams *list, unsigned count, CUstream stream);
/* Arrays, and the host. */
void gp_copies_elsewhere(const void *to, uint64_t bytes, CUstream stream);

/* A copy or a fill, by its first argument: its target, or a structure that says it. A second one of
 * this type is the distance between rows. */
#define GP_COPIES(first, second, bytes, stream) \
    _Generic((first), CUdeviceptr                                            \
             : gp_copies_to, const CUDA_MEMCPY2D_v2 *                        \
             : gp_copies_2d, const CUDA_MEMCPY3D_v2 *                        \
             : gp_copies_3d, default                                         \
             : gp_copies_elsewhere)(first, _Generic((second), size_t : 0, default : (bytes)), stream)

#if CUDA_VERSION >= 12080
void gp_writes_batch(const CUdeviceptr *targets, size_t count, CUstream stream);
void gp_writes_3d_batch(const CUDA_MEMCPY3D_BATCH_OP_v1 *list, size_t count, CUstream stream);
void gp_writes_decompressed(const CUmemDecompressParams *list, size_t count, CUstream stream);
#endif

#endif
