/* Nodes of graphs, as programs describe them. Only for programs linked with the driver. */
#ifndef GPUSIM_PROGRAM_NODES_H
#define GPUSIM_PROGRAM_NODES_H

#include "programs/gpu.h"

/* So many blocks of so many threads, in one dimension. */
static inline CUDA_KERNEL_NODE_PARAMS kernel_node(CUfunction function, unsigned blocks,
                                                  unsigned threads, void **params)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                     .gridDimX = blocks,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = threads,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
}

/* Memory of the first device. */
static inline CUgraphNodeParams allocation_node(size_t bytes)
{
    return (CUgraphNodeParams){
        .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        .alloc = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
                  .bytesize = bytes}};
}

static inline CUgraphNodeParams free_node(CUdeviceptr memory)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {.dptr = memory}};
}

#endif
