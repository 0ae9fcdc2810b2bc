/* The CUPTI library. Found at run time, called only through here: a machine without it, or with
 * another version of it, still runs the program. Owns the pointers. */
#ifndef GPUPROF_CUDA_CUPTI_H
#define GPUPROF_CUDA_CUPTI_H

#include "cuda/driver.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_events.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>

/* A libcupti refuses a structure that is larger than the one it knows. Newer headers add fields at
 * the end of these two, none of which we use: they have the sizes of CUDA 12.6, with any headers.
 */
#undef CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE
#define CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE \
    CUPTI_PROFILER_STRUCT_SIZE(CUpti_Profiler_Host_Initialize_Params, pHostObject)
#undef CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE
#define CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE \
    CUPTI_PROFILER_STRUCT_SIZE(CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject)
/* The headers of CUDA 12 have no name for it. */
#if CUPTI_API_VERSION < 130000
#define CUPTI_ERROR_INVALID_CHIP_NAME 46
#endif

/* The headers of CUDA 12.6 have no names for these errors. */
#if CUPTI_API_VERSION < 26
#define CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED 43
#define CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED 44
#define CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED 45
#endif

struct gp_cupti {
#define CUPTI(function) __typeof__(&function) function;
#define RANGE(function) CUPTI(function)
#define HOST(function) CUPTI(function)
#define SASS(function) CUPTI(function)
#define SAMPLE(function) CUPTI(function)
#define DETACH(function) CUPTI(function)
#define EVENT(function) CUPTI(function)
#include "cuda/cupti.def"
};

extern struct gp_cupti gp_cupti;

/* Finds CUPTI, the first of: the file GPUPROF_CUPTI, the copy the program has loaded already, those
 * of cuda/cupti_search.h, CUDA_HOME, /usr/local/cuda, the loader's path. Needs 12.6 or later, which
 * brought the Range Profiler. Returns false with the reason in *why, also when it did so before.
 * Loads the library: call it outside locks the program could wait for. */
bool gp_cupti_find(struct gp_reason *why);

/* Says once which file was found, but for those that GPUPROF_CUPTI and CUDA_HOME name, and those of
 * the toolkit in /usr/local/cuda. */
void gp_cupti_say_file(void);

/* Loads the library that gp_cupti_find will return, in a thread of its own. That takes a tenth of a
 * second or two: the program makes its context meanwhile. errno may change. */
void gp_cupti_load_ahead(void);

/* Whether it has been found, and the address lies in it. */
bool gp_cupti_has(const void *address);
/* It is not to be used any more, for the reason `why`: from now on it is not found. */
void gp_cupti_lose(struct gp_reason why);

/* The functions of this version: all RANGE functions of cupti.def, all SASS functions, and so on.
 */
bool gp_cupti_has_ranges(void);
bool gp_cupti_has_host_lists(void);
bool gp_cupti_has_sass(void);
bool gp_cupti_has_samples(void);
bool gp_cupti_can_detach(void);
bool gp_cupti_has_events(void);

/* cuptiGetVersion's number; 0 before it is found. */
uint32_t gp_cupti_version(void);

/* The failure and its remedy, for people: "the GPU's counters are in use by another process", or
 * else the function's and the error's name, with the cause CUPTI_FAILED. */
struct gp_reason gp_cupti_error(const char *function, CUptiResult result);

/* Calls a function of CUPTI's; true where that failed, with the reason in *(why). */
#define GP_CUPTI_FAILED(function, params, why) \
    gp_cupti_failed(#function, gp_cupti.function(params), why)
bool gp_cupti_failed(const char *function, CUptiResult result, struct gp_reason *why);

/* A CUPTI parameter structure, zeroed, its size filled in, and room behind it: a later library
 * writes there all that its own structure has, whichever size is passed. */
#define GP_CUPTI_PARAMS(type, name) \
    type##_Params name[4] = {{.structSize = type##_Params_STRUCT_SIZE}}

#endif
