/* The ends of a copy or a fill: whose memory it is, and which bytes. */
#ifndef GPUPROF_GRAPH_ENDS_H
#define GPUPROF_GRAPH_ENDS_H

#include "graph/stand_ins.h"

#include <stdint.h>

/* Managed memory counts as the device's, and so does memory that the graph allocates, which the
 * driver may not know just now (NULL: none). Other memory that it does not know is the host's. */
enum gp_copy_end { GP_ON_DEVICE, GP_ON_HOST, GP_IN_ARRAY };

enum gp_copy_end copy_end_of_source(const CUDA_MEMCPY3D_v2 *copy, const struct gp_stand_ins *own);
enum gp_copy_end copy_end_of_target(const CUDA_MEMCPY3D_v2 *copy, const struct gp_stand_ins *own);
enum gp_copy_end copy_end_of_fill(const CUDA_MEMSET_NODE_PARAMS_v1 *fill,
                                  const struct gp_stand_ins *own);

/* All bytes from the first to the last one that is read or written; not of an array. */
struct gp_address_span {
    uint64_t start, end;
};
struct gp_address_span span_of_source(const CUDA_MEMCPY3D_v2 *copy);
struct gp_address_span span_of_target(const CUDA_MEMCPY3D_v2 *copy);
struct gp_address_span span_of_fill(const CUDA_MEMSET_NODE_PARAMS_v1 *fill);

/* Bytes that a copy moves. */
uint64_t copied_bytes(const CUDA_MEMCPY3D_v2 *copy);
/* The copy, with the same bytes lying in a row on the device as its source, or as its target. */
CUDA_MEMCPY3D_v2 copy_from_row(const CUDA_MEMCPY3D_v2 *copy, CUdeviceptr row);
CUDA_MEMCPY3D_v2 copy_to_row(const CUDA_MEMCPY3D_v2 *copy, CUdeviceptr row);

#endif
