/* The contexts whose memory the copies and fills of a graph write. Where another context launches
 * the graph it is at work in their memory (memory/sharing.h). */
#ifndef GPUPROF_GRAPH_OWNERS_H
#define GPUPROF_GRAPH_OWNERS_H

#include "cuda/driver.h"

struct gp_graph_owners {
    CUcontext *list;
    unsigned count, room;
};

/* Adds the owners for a graph of the program's and its child graphs, beside the ones that there
 * are. */
void graph_owners_read(struct gp_graph_owners *owners, CUgraph graph);
/* Adds the owner of the target of a copy or a fill. */
void graph_owners_add(struct gp_graph_owners *owners, CUmemorytype type, CUdeviceptr to);
void graph_owners_free(struct gp_graph_owners *owners);

/* Before that context launches it. */
void graph_owners_note(const struct gp_graph_owners *owners, CUcontext by);

#endif
