/* The real CUDA driver. Found once, called only through here.
 *
 * Owns the pointers to the driver's own functions. Every room that speaks CUDA includes this header
 * instead of <cuda.h>: it switches off cuda.h's renaming, so that a name in the source is the
 * symbol it says (cuMemAlloc_v2, cuLaunchKernel_ptsz). */
#ifndef GPUPROF_CUDA_DRIVER_H
#define GPUPROF_CUDA_DRIVER_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include "base/cause.h"

#include <cuda.h>

#include <cudaTypedefs.h>
#include <stdbool.h>
#include <stddef.h>

/* As cudaProfiler.h and cudaProfilerTypedefs.h have them, which not every toolkit does. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);
typedef CUresult(CUDAAPI *PFN_cuProfilerStart_v4000)(void);
typedef CUresult(CUDAAPI *PFN_cuProfilerStop_v4000)(void);

/* One pointer for each row of functions.def, named as the symbol; NULL where this driver has none.
 */
struct gp_driver {
#define HOOK(base, version, suffix, symbol) PFN_cu##base##_v##version##suffix symbol;
#define GATE(base, version, suffix, symbol, parameters, arguments) \
    HOOK(base, version, suffix, symbol)
#define BARS(base, version, suffix, symbol, parameters, arguments, why) \
    HOOK(base, version, suffix, symbol)
#define RAW(base, version, suffix, symbol) HOOK(base, version, suffix, symbol)
#include "cuda/functions.def"
};

extern struct gp_driver gp_cuda;

/* Finds the loaded driver and fills gp_cuda; cheap once done. False while no driver is loaded. Does
 * not load one: a program that has none gets none from us. */
bool gp_driver_find(void);

/* True when address lies in the driver's library. */
bool gp_is_driver_address(const void *address);

/* True when the path, or the code at `caller`, is of NVIDIA's own libraries (the driver, CUPTI and
 * the libraries that they load), which must get the driver's functions, not ours: memory that CUPTI
 * allocates is no buffer of the program's. */
bool gp_is_nvidia_file(const char *path);
bool gp_is_nvidia_caller(const void *caller);

/* True when the driver is the simulated one of tests/sim. */
bool gp_driver_is_simulated(void);

/* dlsym as libc has it; our own exported dlsym is a hook. */
extern void *(*gp_real_dlsym)(void *handle, const char *name);
/* Finds gp_real_dlsym. No memory, no locks: it runs before constructors. */
void gp_real_dlsym_find(void);

/* "CUDA_ERROR_OUT_OF_MEMORY"; never NULL. */
const char *gp_cuda_error(CUresult result);
struct gp_reason gp_cuda_reason(CUresult result); /* with that name as its text */

/* True while the stream is captured. `unknown` is the answer where the driver gives an error, as it
 * does for the legacy stream while another one is captured. */
bool gp_stream_is_capturing(CUstream stream, bool per_thread_stream, bool unknown);

/* True for the default streams. */
bool gp_stream_is_default(CUstream stream);

/* Records the event in the stream; stream 0 is the thread's own where per_thread_stream. */
CUresult gp_event_record(CUevent event, CUstream stream, bool per_thread_stream);
/* False, and *event NULL, where none can be had. */
bool gp_event_make(CUevent *event, unsigned flags);

/* After a context was made current for a while. */
void gp_context_pop(void);

/* A device attribute; 0 when the driver does not know it. */
int gp_device_attribute(CUdevice device, CUdevice_attribute attribute);

#endif
