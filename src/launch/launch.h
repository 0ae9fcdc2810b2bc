/* launch/: what do we do with a launch? Selects it, makes it the first pass of a measurement,
 * repeats it for the other passes, records what came out. Owns what is known of kernels and
 * contexts. May call memory/, counters/, cuda/ and the rooms below CUDA.
 *
 * The first run of a kernel is always the program's own launch, with its own arguments and result.
 */
#ifndef GPUPROF_LAUNCH_LAUNCH_H
#define GPUPROF_LAUNCH_LAUNCH_H

#include "cuda/driver.h"

/* One launch the program makes: what it is, and how to make it (again). */
struct gp_call {
    CUfunction function; /* may be a CUkernel in disguise, as cuLaunchKernel allows */
    CUstream stream;
    bool per_thread_stream; /* stream 0 is the thread's own */
    unsigned grid[3], block[3], cluster[3];
    unsigned shared_dynamic;
    void **parameters, **extra; /* as cuLaunchKernel takes them; either may be NULL */
    CUresult (*run)(const struct gp_call *call);
};

/* Makes the launch, measured if it can be; the result is that of the program's own launch. */
CUresult gp_launch(const struct gp_call *call);

/* Launches that are let through as they are; said once each. */
enum gp_unmeasured { GP_GRAPH_LAUNCH, GP_MULTI_DEVICE_LAUNCH, GP_OLD_LAUNCH, GP_UNMEASURED_KINDS };
void gp_launch_not_measured(enum gp_unmeasured kind);

/* A module is about to be unloaded: its functions' handles become others'. The gate is closed. */
void gp_launch_forget_kernels(const void *module);

/* A context is about to be destroyed: stops collecting in it, frees our memory in it. The gate is
 * closed. */
void gp_launch_leave_context(CUcontext context);
/* The same for a device's primary context, which is returned, NULL where we never saw it. */
CUcontext gp_launch_leave_primary(CUdevice device);

#endif
