/* The list of intercepted functions as data: our wrapper, the real function and the ABI of each. */
#ifndef GPUPROF_HOOK_TABLE_H
#define GPUPROF_HOOK_TABLE_H

#include "cuda/driver.h"

enum gp_stream_kind { GP_LEGACY_STREAM, GP_PER_THREAD_STREAM };

struct gp_hook {
    const char *symbol;       /* "cuMemcpyHtoD_v2_ptds" */
    const char *base;         /* "cuMemcpyHtoD", the name for cuGetProcAddress */
    int version;              /* of the ABI: 7000 */
    enum gp_stream_kind kind; /* which default stream it means */
    void *wrapper;
    void *const *real; /* slot in gp_cuda */
};

/* The hook for an exported symbol of the driver, NULL for any other name. */
const struct gp_hook *gp_hook_by_symbol(const char *symbol);

/* The hook for the address of a function of the driver's, once that is found; NULL for any other.
 */
const struct gp_hook *gp_hook_by_real(const void *address);

/* The hook that replaces the answer of cuGetProcAddress: by the function's identity, or, where a
 * driver gives out other addresses than dlsym, by base, version asked for and kind of stream. NULL
 * when the function is not ours. */
const struct gp_hook *gp_hook_for_answer(const char *base, const void *answer, int version,
                                         unsigned long long flags);

#endif
