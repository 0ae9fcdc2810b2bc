/* The bytes that copies of a graph bring from the host, as they were before its run. Where its
 * nodes run again the copies take them from memory of ours: the graph may have written the host's
 * since, or the program freed it. With the gate locked and the context idle. */
#ifndef GPUPROF_GRAPH_HOST_SOURCES_H
#define GPUPROF_GRAPH_HOST_SOURCES_H

#include "graph/clone.h"

/* Bytes of device memory that they need. False, with the reason in *why, where the graph writes
 * memory of the host that it reads as well: the bytes may be those of before or behind. The nodes
 * that are left out are known. */
bool host_sources_need(const struct gp_graph_clone *graph, uint64_t *bytes, struct gp_reason *why);
/* Copies them there, where memory is known from then on as one that kernels reach; the nodes have
 * their new sources. And no more. */
bool host_sources_take(struct gp_graph_clone *graph, CUdeviceptr base, uint64_t bytes,
                       struct gp_reason *why);
void host_sources_leave(struct gp_graph_clone *graph);

#endif
