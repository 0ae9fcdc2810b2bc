/* Settings for the program's kernels: held launches are replayed before one changes. */
#include "hook/entry.h"

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

GP_EXPORT CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    GP_FORWARD_UNLESS_OURS(cuFuncSetAttribute, hfunc, attrib, value);
    if (gp_any_held() && !is_attribute(hfunc, attrib, value))
        gp_launch_before_function_changes(hfunc);
    return gp_cuda.cuFuncSetAttribute(hfunc, attrib, value);
}

GP_EXPORT CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                                        CUdevice dev)
{
    GP_FORWARD_UNLESS_OURS(cuKernelSetAttribute, attrib, val, kernel, dev);
    if (gp_any_held() && !is_kernel_attribute(kernel, attrib, val, dev))
        gp_launch_before_function_changes((CUfunction)kernel);
    return gp_cuda.cuKernelSetAttribute(attrib, val, kernel, dev);
}

GP_EXPORT CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    GP_FORWARD_UNLESS_OURS(cuFuncSetCacheConfig, hfunc, config);
    gp_launch_before_function_changes(hfunc);
    return gp_cuda.cuFuncSetCacheConfig(hfunc, config);
}

GP_EXPORT CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    GP_FORWARD_UNLESS_OURS(cuKernelSetCacheConfig, kernel, config, dev);
    gp_launch_before_function_changes((CUfunction)kernel);
    return gp_cuda.cuKernelSetCacheConfig(kernel, config, dev);
}

GP_EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    GP_FORWARD_UNLESS_OURS(cuCtxSetLimit, limit, value);
    gp_launch_before_change();
    return gp_cuda.cuCtxSetLimit(limit, value);
}
