/* Settings for the program's kernels: held launches are replayed before one changes. */
#include "base/hash.h"
#include "hook/entry.h"
#include "launch/contexts.h"
#include "launch/timed.h"

#include <pthread.h>
#include <stdlib.h>

/* Functions whose preferred cache is remembered. */
#define MOST_PREFERRED 1024

/* Libraries say the same before each launch: that is no change. */
static bool is_attribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    int now;
    return gp_cuda.cuFuncGetAttribute &&
           gp_cuda.cuFuncGetAttribute(&now, attribute, function) == CUDA_SUCCESS && now == value;
}

static bool is_kernel_attribute(CUkernel kernel, CUfunction_attribute attribute, int value,
                                CUdevice device)
{
    int now;
    return gp_cuda.cuKernelGetAttribute &&
           gp_cuda.cuKernelGetAttribute(&now, attribute, kernel, device) == CUDA_SUCCESS &&
           now == value;
}

/* The driver does not tell which cache a function prefers: so the last answer is kept, by the
 * handle. A wrong one, of a handle that was given out anew, costs a replay with another L1. */
struct preferred {
    const void *function;
    CUfunc_cache cache;
    UT_hash_handle hh;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct preferred *table;

/* Locked. NULL where there is no room. */
static struct preferred *add(const void *function)
{
    struct preferred *p = HASH_COUNT(table) < MOST_PREFERRED ? calloc(1, sizeof(*p)) : NULL;
    if (!p)
        return NULL;
    p->function = function;
    HASH_ADD_PTR(table, function, p);
    if (p->hh.tbl)
        return p;
    free(p);
    return NULL;
}

/* Notes it; false where it was the same before, as far as is known. */
static bool changes_cache(const void *function, CUfunc_cache cache)
{
    struct preferred *p;
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(table, &function, p);
    bool changes = !p || p->cache != cache;
    if (!p)
        p = add(function);
    if (p)
        p->cache = cache;
    pthread_mutex_unlock(&lock);
    return changes;
}

/* Launches may be of the kernel, or of its function in this context. */
static void before_kernel_changes(CUkernel kernel)
{
    CUfunction function;
    gp_launch_before_function_changes((CUfunction)kernel);
    if (gp_any_held() && gp_cuda.cuKernelGetFunction &&
        gp_cuda.cuKernelGetFunction(&function, kernel) == CUDA_SUCCESS)
        gp_launch_before_function_changes(function);
}

GP_EXPORT CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    GP_FORWARD_UNLESS_OURS(cuFuncSetAttribute, hfunc, attrib, value);
    if (gp_any_held() && !is_attribute(hfunc, attrib, value))
        gp_launch_before_function_changes(hfunc);
    CUresult result = gp_cuda.cuFuncSetAttribute(hfunc, attrib, value);
    gp_timed_function_changes();
    return result;
}

GP_EXPORT CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                        CUdevice dev)
{
    GP_FORWARD_UNLESS_OURS(cuKernelSetAttribute, attrib, val, kernel, dev);
    if (gp_any_held() && !is_kernel_attribute(kernel, attrib, val, dev))
        before_kernel_changes(kernel);
    CUresult result = gp_cuda.cuKernelSetAttribute(attrib, val, kernel, dev);
    gp_timed_function_changes();
    return result;
}

GP_EXPORT CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    GP_FORWARD_UNLESS_OURS(cuFuncSetCacheConfig, hfunc, config);
    if (changes_cache(hfunc, config))
        gp_launch_before_function_changes(hfunc);
    return gp_cuda.cuFuncSetCacheConfig(hfunc, config);
}

GP_EXPORT CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    GP_FORWARD_UNLESS_OURS(cuKernelSetCacheConfig, kernel, config, dev);
    if (changes_cache(kernel, config))
        before_kernel_changes(kernel);
    return gp_cuda.cuKernelSetCacheConfig(kernel, config, dev);
}

GP_EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    GP_FORWARD_UNLESS_OURS(cuCtxSetLimit, limit, value);
    gp_launch_before_change();
    return gp_cuda.cuCtxSetLimit(limit, value);
}
