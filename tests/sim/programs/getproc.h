/*
 * The driver as the CUDA runtime finds it: one dlsym for cuGetProcAddress_v2, which is first asked
 * for itself and then for several hundred functions, many twice (for either kind of stream 0), some
 * in several versions, and once for the empty name.
 */
#ifndef GPUSIM_PROGRAM_GETPROC_H
#define GPUSIM_PROGRAM_GETPROC_H

#include "programs/gpu.h"

struct getproc_query {
    const char *base;
    int version;
    cuuint64_t flags;
};

static inline void *getproc_ask(PFN_cuGetProcAddress_v12000 ask, const char *base, int version,
                                cuuint64_t flags)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    void *found = NULL;

    if (ask(base, &found, version, flags, &status) != CUDA_SUCCESS)
        return NULL;
    if ((found != NULL) != (status == CU_GET_PROC_ADDRESS_SUCCESS)) {
        printf("cuGetProcAddress contradicts itself about %s\n", base);
        exit(1);
    }
    return found;
}

/* The runtime's other questions, whose answers nobody here uses; how many were answered. */
static inline unsigned getproc_ask_all(PFN_cuGetProcAddress_v12000 ask)
{
    static const struct getproc_query queries[] = {
#include "programs/runtime_queries.def"
    };
    unsigned found = 0;

    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
        found += getproc_ask(ask, queries[i].base, queries[i].version, queries[i].flags) != NULL;
    return found;
}

static inline void gpu_from_getproc(struct gpu *g, bool per_thread)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    cuuint64_t flags =
        per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_DEFAULT;
    PFN_cuGetProcAddress_v12000 first, ask;
    PFN_cuGetProcAddress_v11030 older;
    void *launch = NULL;

    if (!driver || !gpu_store(&first, dlsym(driver, "cuGetProcAddress_v2")))
        gpu_missing("cuGetProcAddress_v2");
    /* An older driver knows only the older form under this name. */
    if (!gpu_store(&ask, getproc_ask(first, "cuGetProcAddress", 12000, flags)))
        ask = first;
    if (!gpu_store(&older, getproc_ask(first, "cuGetProcAddress", 11030, flags)))
        gpu_missing("cuGetProcAddress 11.3");
    if (getproc_ask_all(ask) == 0)
        gpu_missing("answer to any of the runtime's questions");
#define CALL(base, version, symbol) \
    (void)gpu_store(&g->base, getproc_ask(ask, "cu" #base, version, flags));
#define STREAM_CALL(base, version, symbol, pt_version, suffix) \
    (void)gpu_store(&g->base,                                  \
                    getproc_ask(ask, "cu" #base, per_thread ? pt_version : version, flags));
#include "programs/calls.def"
#undef CALL
#undef STREAM_CALL
    /* The older form finds the same. */
    if (older("cuLaunchKernel", &launch, 4000, CU_GET_PROC_ADDRESS_DEFAULT) != CUDA_SUCCESS ||
        !launch)
        gpu_missing("cuLaunchKernel by the older cuGetProcAddress");
}

#endif
