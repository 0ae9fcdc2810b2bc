/* One piece of work for the GPU, free of any pointer into the caller's frame: a stream queues it
 * and a graph remembers it. */
#ifndef GPUSIM_WORK_H
#define GPUSIM_WORK_H

#include "driver/driver.h"

enum gpusim_work_kind {
    GPUSIM_MARK, /* nothing: a point in the order, as an event records it */
    GPUSIM_LAUNCH,
    GPUSIM_COPY,
    GPUSIM_FILL,
    GPUSIM_HOST_CALL,
    GPUSIM_FREE,
    GPUSIM_APPEAR, /* memory of a graph */
    GPUSIM_DISAPPEAR,
    GPUSIM_WRITE_VALUE,
    GPUSIM_WAIT_VALUE,
    GPUSIM_GRAPH_LAUNCH
};

struct gpusim_launch {
    CUfunction function;
    struct gpusim_dim grid, block;
    unsigned dynamic_shared;
    bool cooperative;
    unsigned char params[GPUSIM_MAX_PARAM_BYTES];
};

struct gpusim_copy {
    uint64_t source, target;
    CUmemorytype source_type, target_type; /* as the program says, of a node */
    bool source_device, target_device;     /* addresses that must be the GPU's */
    uint64_t width, height, depth;         /* bytes, rows, layers */
    uint64_t source_pitch, source_slice, target_pitch, target_slice;
};

struct gpusim_fill {
    uint64_t target, pitch, width, height; /* width in elements */
    unsigned size;                         /* of an element: 1, 2 or 4 */
    uint32_t value;
};

struct gpusim_host_call {
    CUhostFn function;
    CUstreamCallback callback; /* the older kind; exactly one of the two */
    CUstream stream;
    void *data;
};

struct gpusim_value {
    uint64_t address, value;
    unsigned size, flags;
};

struct gpusim_work {
    enum gpusim_work_kind kind;
    union {
        struct gpusim_launch launch;
        struct gpusim_copy copy;
        struct gpusim_fill fill;
        struct gpusim_host_call host;
        struct gpusim_value value;
        uint64_t address; /* GPUSIM_FREE, GPUSIM_APPEAR, GPUSIM_DISAPPEAR */
        struct {
            struct gpusim_step *steps; /* in an order that can be run; owned */
            size_t count;
            CUgraph source; /* for a stream that is being captured */
        } graph;
    };
};

/* A node of a graph that runs. */
struct gpusim_step {
    struct gpusim_work work;
    size_t *after; /* earlier steps that must be done before this one starts; owned */
    size_t after_count;
};

/* Refuses work that the hardware would never accept, before it is queued. */
CUresult gpusim_work_check(CUcontext context, const struct gpusim_work *work);

/* Does it, without the lock. */
CUresult gpusim_work_run(CUcontext context, struct gpusim_work *work);

/* The calling thread does the work of a graph's node. */
bool gpusim_work_in_graph(void);

/* Frees the objects of the work. */
void gpusim_work_clear(struct gpusim_work *work);

/* The simple parts of a copy that a program describes in full. */
CUresult gpusim_copy_read(const CUDA_MEMCPY3D *params, struct gpusim_copy *copy);

CUresult gpusim_launch_check(CUcontext context, const struct gpusim_launch *launch);
CUresult gpusim_launch_run(CUcontext context, const struct gpusim_launch *launch);

/* A kernel of the driver's, or of gpuprof's, has copied so many bytes: watchers count it, too. */
void gpusim_launch_copied(CUcontext context, uint64_t bytes);

#endif
