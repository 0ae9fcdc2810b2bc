/* The questions of the simulated CUPTI to the simulated driver: one table, found under the
 * exported name gpusim_backend, which is also how gpuprof recognises that nothing it measures is
 * real. */
#ifndef GPUSIM_BACKEND_H
#define GPUSIM_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "model/chip.h"
#include "model/counters.h"

#define GPUSIM_BACKEND_VERSION 6

/* A listener that sees the work of each launch on a context. */
struct gpusim_watcher {
    /* Called where the launch ran, with the counts of that launch; they are gone afterwards. */
    void (*launched)(void *self, const struct gpusim_result *result);
    void *self;
    bool serialize;   /* a launch call returns only when the launch has ended */
    bool idle;        /* for now it does not want to see; changed while nothing runs */
    bool instruments; /* it changes the code of kernels */
    bool lists;       /* it is called for gpuprof's kernels as well, without counts */
    struct gpusim_watcher *next;
};

struct gpusim_backend {
    uint32_t version;
    const struct gpusim_chip *(*chip)(void);
    unsigned (*device_count)(void);
    bool (*ready)(void); /* cuInit was called in this process, and the driver is not gone */
    CUcontext (*current)(void);
    bool (*device_of)(CUcontext context, int *device); /* false: no such context */
    bool (*is_green)(CUcontext context);
    bool (*synchronize)(CUcontext context); /* false: the context is broken */
    void (*synchronize_all)(void);
    bool (*watch)(CUcontext context, struct gpusim_watcher *watcher);
    void (*unwatch)(CUcontext context, struct gpusim_watcher *watcher);
    bool (*fault)(const char *name);          /* is this fault switched on? */
    double (*fault_number)(const char *name); /* as gpusim_fault_number */
    void (*sleep_ms)(double ms);              /* as gpusim_sleep_ms */
    bool (*attach)(const void *tool);         /* false: another one is attached */
    void (*detach)(const void *tool);
    void (*serve)(bool on); /* profilers have every call of the program watched */
    /* Called with the cubin of each module that is compiled from PTX; NULL: no more. */
    void (*hear_cubins)(void (*heard)(const void *cubin, size_t size));
};

extern const struct gpusim_backend gpusim_backend;

#endif
