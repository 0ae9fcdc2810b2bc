/*
 * The objects of the simulated driver and the rules they share.
 *
 * One lock guards all of them (gpusim_lock); it is never held while a kernel runs, a copy is made
 * or a host function is called. Functions of the driver never call each other by their exported
 * names: those may be somebody's hooks.
 */
#ifndef GPUSIM_DRIVER_H
#define GPUSIM_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "backend.h"
#include "model/cache.h"
#include "model/chip.h"
#include "model/grid.h"

/* As cudaProfiler.h and cudaProfilerTypedefs.h have them, which not every toolkit does. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);
typedef CUresult(CUDAAPI *PFN_cuProfilerStart_v4000)(void);
typedef CUresult(CUDAAPI *PFN_cuProfilerStop_v4000)(void);

#define GPUSIM_MAX_DEVICES 8

enum gpusim_handle {
    GPUSIM_CONTEXT = 0x6770c001,
    GPUSIM_MODULE,
    GPUSIM_FUNCTION,
    GPUSIM_LIBRARY,
    GPUSIM_LIBRARY_KERNEL,
    GPUSIM_STREAM,
    GPUSIM_EVENT,
    GPUSIM_GRAPH,
    GPUSIM_GRAPH_NODE,
    GPUSIM_GRAPH_EXEC,
    GPUSIM_POOL,
    GPUSIM_DEAD
};

struct gpusim_device {
    int ordinal;
    _Atomic uint64_t used; /* bytes; under several locks */
    CUcontext primary;
    unsigned primary_refs;
    unsigned primary_flags;
    CUmemoryPool default_pool, current_pool;
    struct gpusim_cache *l2; /* made when a launch is first recorded */
    pthread_mutex_t l2_lock;
};

struct CUctx_st {
    enum gpusim_handle kind;
    struct CUctx_st *next;
    struct gpusim_device *device;
    unsigned flags, api_version;
    unsigned long long id;
    bool is_primary;
    struct CUctx_st
        *owner;      /* of a green context: the primary one, whose memory and modules it has */
    CUresult sticky; /* once a kernel has failed, the answer to everything */
    CUstream streams;
    CUstream legacy_stream; /* the meaning of stream 0 */
    CUstream watching;      /* for events of the whole context; made when first asked for */
    CUmodule modules;
    struct gpusim_watcher *watchers;
    unsigned long long watches; /* times the last watcher has left */
    unsigned captures; /* under way in global or thread-local mode, somewhere in the context */
    size_t limits[CU_LIMIT_MAX];
    CUfunc_cache cache_config;
};

extern pthread_mutex_t gpusim_lock;
extern pthread_cond_t gpusim_changed; /* broadcast when an operation ends */

/* Every call begins with this: is the driver there, and which context is current? */
CUresult gpusim_enter(void);
CUresult gpusim_enter_context(CUcontext *context);
/* Calls that must not be made while a stream of the context is being captured begin with this. */
CUresult gpusim_enter_unsafe(CUcontext *context);

/* The lock must be held for the rest of this block. */
CUcontext gpusim_context_current(void);
bool gpusim_context_alive(CUcontext context);
/* Everything queued so far in any context is done; the lock is given up meanwhile. */
void gpusim_contexts_wait(void);
CUcontext gpusim_context_owner(CUcontext context); /* itself, or of a green context the primary */
CUstream gpusim_context_stream(CUcontext context, CUstream handle); /* of it or its green ones */
struct gpusim_device *gpusim_device(int ordinal);                   /* NULL: no such device */
unsigned gpusim_device_count(void);
uint64_t gpusim_device_memory(void);
int gpusim_driver_version(void);

/* Frees the objects of a context, when nothing of it is running any more. */
void gpusim_modules_free(CUcontext context);
void gpusim_memory_free_all(CUcontext context);
void gpusim_streams_free(CUcontext context);

#endif
