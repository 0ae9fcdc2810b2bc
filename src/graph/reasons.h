/* Why the kernels of a graph are not launched one by one, and hence not measured. */
#ifndef GPUPROF_GRAPH_REASONS_H
#define GPUPROF_GRAPH_REASONS_H

enum gp_graph_reason {
    GP_GRAPH_SPLITS, /* they are */
    GP_GRAPH_UNSEEN,
    GP_GRAPH_OLD_DRIVER,
    GP_GRAPH_NOT_COPIED,
    GP_GRAPH_TOO_MANY,
    GP_GRAPH_HOST_NODE,
    GP_GRAPH_EVENT_NODE,
    GP_GRAPH_SEMAPHORE_NODE,
    GP_GRAPH_MEMORY_NODE,
    GP_GRAPH_CONDITIONAL_NODE,
    GP_GRAPH_OTHER_NODE,
    GP_GRAPH_FROM_DEVICE,
    GP_GRAPH_LAUNCHES,
    GP_GRAPH_OTHER_EDGE,
    GP_GRAPH_TOO_WIDE,
    GP_GRAPH_SEVERAL_CONTEXTS,
    GP_GRAPH_BESIDE_CAPTURE,
    GP_GRAPH_NOT_FOLLOWED,
    GP_GRAPH_WAITS,
    GP_GRAPH_BROKE_OFF,
    GP_GRAPH_NOT_AGAIN, /* why was said at its launch */
    GP_GRAPH_REASONS
};

/* Says it, once for each reason. */
void graph_say(enum gp_graph_reason why);

#endif
