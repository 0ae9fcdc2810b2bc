/*
 * Streams whose work is written down instead of done, and the graphs that come of it.
 */
#ifndef GPUSIM_CAPTURE_H
#define GPUSIM_CAPTURE_H

#include "driver/module.h"
#include "driver/queue.h"

struct gpusim_capture {
    struct gpusim_capture *next; /* of all there have ever been */
    CUgraph graph;
    CUstream origin;
    CUstreamCaptureMode mode;
    pthread_t thread; /* that began it */
    bool invalid;
    unsigned long long id;
    unsigned streams; /* that take part */
};

/* Attributes of kernels that are known here: those with a lower number. */
#define GPUSIM_ATTRIBUTES 16

struct CUgraphNode_st {
    enum gpusim_handle kind;
    struct CUgraphNode_st *next; /* of the graph, in order of creation */
    CUgraph graph;
    CUgraphNodeType type;
    struct gpusim_work work;
    CUgraphNode *after;
    size_t after_count;
    unsigned index;
    CUgraph child;                                        /* of a child graph's node; a body */
    bool is_left_out;                                     /* a body whose condition is false */
    CUgraphNode cloned_from;                              /* it may be gone by now */
    uint64_t memory;                                      /* that it allocates or frees */
    uint64_t bytes;                                       /* of that */
    CUmemPoolProps pool;                                  /* the kind of that */
    CUevent event;                                        /* that it records or waits for */
    bool disabled;                                        /* in an executable graph */
    CUlaunchAttributeValue attributes[GPUSIM_ATTRIBUTES]; /* of a kernel; all zero: not set */
    void *pointers[GPUSIM_MAX_PARAMS]; /* to its parameters, for a caller that asks */
};

struct CUgraph_st {
    enum gpusim_handle kind;
    CUgraphNode first, last;
    unsigned count;
};

/* A node at the end of the graph; NULL when memory is out. */
CUgraphNode gpusim_graph_add(CUgraph graph, CUgraphNodeType type, const struct gpusim_work *work,
                             const CUgraphNode *after, size_t after_count);
CUgraph gpusim_graph_new(void);
CUgraph gpusim_graph_clone(CUgraph graph); /* NULL when memory is out */
void gpusim_graph_free(CUgraph graph);

/* Captured streams: the next work goes into the graph. */
CUresult gpusim_capture_add(CUstream stream, const struct gpusim_work *work);
void gpusim_capture_invalidate(struct gpusim_capture *capture);

/* Work on stream 0 breaks a capture that stream 0 would have to wait for. */
CUresult gpusim_capture_interrupted_by(CUstream stream);

/* Is a capture under way in this context that forbids this thread unsafe calls? It is broken now.
 */
bool gpusim_capture_forbids(CUcontext context);

struct gpusim_capture_facts {
    CUstreamCaptureStatus status;
    unsigned long long id;
    CUgraph graph;
    const CUgraphNode *dependencies;
    size_t dependency_count;
};

CUresult gpusim_capture_begin(CUstream handle, bool per_thread, CUstreamCaptureMode mode);
CUresult gpusim_capture_end(CUstream handle, bool per_thread, CUgraph *graph);
CUresult gpusim_capture_info(CUstream handle, bool per_thread, struct gpusim_capture_facts *facts);

/* The work of a node, from the parameters that a program gives. */
CUresult gpusim_node_launch(const CUDA_KERNEL_NODE_PARAMS *params, struct gpusim_work *work);
CUresult gpusim_node_copy(CUcontext context, const CUDA_MEMCPY3D *params, struct gpusim_work *work);
CUresult gpusim_node_fill(CUcontext context, const CUDA_MEMSET_NODE_PARAMS *params,
                          struct gpusim_work *work);
CUresult gpusim_node_host_call(const CUDA_HOST_NODE_PARAMS *params, struct gpusim_work *work);
CUresult gpusim_node_any(const CUgraphNodeParams *params, struct gpusim_work *work);

CUresult gpusim_graph_instantiate(CUgraphExec *exec, CUgraph graph);
CUresult gpusim_graph_launch(CUgraphExec exec, CUstream handle, bool per_thread);

/* A captured stream waits for an event recorded in a captured stream. */
CUresult gpusim_capture_wait(CUstream stream, CUevent event);
/* An event is recorded in a captured stream. */
CUresult gpusim_capture_record(CUstream stream, CUevent event);

#endif
