/* The driver's calls about functions, and about the kernels of libraries instead of them. */
#include "driver/faults.h"
#include "driver/module.h"

static bool is_function(CUfunction f)
{
    return f && f->kind == GPUSIM_FUNCTION;
}

static bool is_kernel(CUkernel k)
{
    return k && k->kind == GPUSIM_LIBRARY_KERNEL;
}

static CUresult attribute_of(CUfunction f, CUfunction_attribute attribute, int *value)
{
    const struct gpusim_chip *chip = gpusim_chip();
    unsigned per_thread = f->registers ? f->registers : 1;
    unsigned threads;

    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        threads = 65536 / per_thread / GPUSIM_WARP * GPUSIM_WARP;
        *value = threads < 1024 ? (int)threads : 1024;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)f->shared;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)f->local;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)f->registers;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = chip->major * 10 + chip->minor;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = f->max_dynamic_shared ? f->max_dynamic_shared
                                       : (int)(chip->shared_per_block - f->shared);
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = f->carveout;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult set_attribute_of(CUfunction f, CUfunction_attribute attribute, int value)
{
    const struct gpusim_chip *chip = gpusim_chip();

    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || (unsigned)value + f->shared > chip->shared_optin)
            return CUDA_ERROR_INVALID_VALUE;
        f->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        f->carveout = value;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Finds the function and lets one of the two act on it. */
static CUresult about_function(CUfunction handle, CUfunction_attribute attribute, int *get,
                               const int *set)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUfunction f;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    f = gpusim_function_of(handle, context, &result);
    if (f)
        result = get ? attribute_of(f, attribute, get) : set_attribute_of(f, attribute, *set);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    return pi ? about_function(hfunc, attrib, pi, NULL) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    return about_function(hfunc, attrib, NULL, &value);
}

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    if (!pi)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpusim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    return about_function((CUfunction)(void *)kernel, attrib, pi, NULL);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    if (!gpusim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    return about_function((CUfunction)(void *)kernel, attrib, NULL, &val);
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_function(hfunc))
        return CUDA_ERROR_INVALID_HANDLE;
    *name = hfunc->name;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel hfunc)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_kernel(hfunc))
        return CUDA_ERROR_INVALID_HANDLE;
    *name = hfunc->name;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
    if (!hmod)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_function(hfunc))
        return CUDA_ERROR_INVALID_HANDLE;
    *hmod = hfunc->module;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
    (void)config;
    return is_function(hfunc) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_function(function))
        return CUDA_ERROR_INVALID_HANDLE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
    if (!is_function(function))
        return CUDA_ERROR_INVALID_HANDLE;
    if (gpusim_fault_is("lazyload", "refused"))
        return CUDA_ERROR_NOT_SUPPORTED;
    pthread_mutex_lock(&gpusim_lock);
    function->loaded = !gpusim_fault_is("lazyload", "always");
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_SUCCESS;
}

static CUresult param_info(const struct gpusim_kernel *code, size_t index, size_t *offset,
                           size_t *size)
{
    if (!code || gpusim_fault("noparameters"))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!offset || index >= code->params)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = gpusim_param_offset(code, (unsigned)index);
    if (size)
        *size = code->param_size[index];
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
                            size_t *paramSize)
{
    if (!is_function(func))
        return CUDA_ERROR_INVALID_HANDLE;
    return param_info(func->code, paramIndex, paramOffset, paramSize);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                              size_t *paramSize)
{
    if (!is_kernel(kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    return param_info(gpusim_kernel_find(kernel->name), paramIndex, paramOffset, paramSize);
}
