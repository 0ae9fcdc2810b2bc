/* The driver as a program of this folder sees it: one pointer per call, found in any way. */
#ifndef GPUSIM_PROGRAM_GPU_H
#define GPUSIM_PROGRAM_GPU_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>
#include <cudaTypedefs.h>

struct gpu {
#define CALL(base, version, symbol) PFN_cu##base##_v##version base;
#define STREAM_CALL(base, version, symbol, pt_version, suffix) PFN_cu##base##_v##version base;
#include "programs/calls.def"
#undef CALL
#undef STREAM_CALL
};

/* Ends the program with a message; every call of the programs is expected to succeed. */
#define MUST(call)                                                                          \
    do {                                                                                    \
        CUresult must_result_ = (call);                                                     \
        if (must_result_ != CUDA_SUCCESS) {                                                 \
            printf("%s:%d: error %d from %s\n", __FILE_NAME__, __LINE__, (int)must_result_, \
                   #call);                                                                  \
            exit(2);                                                                        \
        }                                                                                   \
    } while (0)

#ifndef __FILE_NAME__
#define __FILE_NAME__ (strrchr("/" __FILE__, '/') + 1)
#endif

/* Stores the answer of a look-up in a function pointer. */
static inline bool gpu_store(void *slot, void *found)
{
    memcpy(slot, &found, sizeof(found));
    return found != NULL;
}

static inline _Noreturn void gpu_missing(const char *name)
{
    printf("the driver has no %s\n", name);
    exit(2);
}

/* Calls that were not found stay NULL: a snippet that needs one says so and does nothing. */
/* With dlopen and dlsym, as plain C programs do. */
static inline void gpu_from_dlsym(struct gpu *g)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!driver) {
        printf("no driver: %s\n", dlerror());
        exit(2);
    }
#define CALL(base, version, symbol)                   \
    if (!gpu_store(&g->base, dlsym(driver, #symbol))) \
        gpu_missing(#symbol);
#define STREAM_CALL(base, version, symbol, pt_version, suffix) CALL(base, version, symbol)
#include "programs/calls.def"
#undef CALL
#undef STREAM_CALL
}

#endif
