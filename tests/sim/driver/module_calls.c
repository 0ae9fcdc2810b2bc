/* The driver's calls about modules. */
#include <stdlib.h>

#include "driver/image.h"
#include "driver/module.h"

static bool module_alive(CUcontext context, CUmodule module)
{
    for (CUmodule m = context->modules; m; m = m->next)
        if (m == module)
            return true;
    return false;
}

/* For calls about a module: on success the lock is held. */
static CUresult lock_module(CUmodule module, bool arguments_given)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!arguments_given)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    if (module_alive(gpusim_context_owner(context), module))
        return CUDA_SUCCESS;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult load_current(CUmodule *module, const void *image)
{
    CUcontext context;
    CUresult result = gpusim_enter_unsafe(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    result = gpusim_module_load(gpusim_context_owner(context), image, module);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return load_current(module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **optionValues)
{
    if (numOptions && (!options || !optionValues))
        return CUDA_ERROR_INVALID_VALUE;
    return load_current(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    return load_current(module, fatCubin);
}

CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
    CUresult result;
    void *image;

    if (!fname)
        return CUDA_ERROR_INVALID_VALUE;
    image = gpusim_image_from_file(fname, &result);
    if (!image)
        return result;
    result = load_current(module, image);
    free(image);
    return result;
}

CUresult cuModuleUnload(CUmodule hmod)
{
    CUcontext context;
    CUresult result = gpusim_enter_unsafe(&context);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    if (!gpusim_module_unload(gpusim_context_owner(context), hmod))
        result = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    CUresult result = lock_module(hmod, hfunc && name);
    CUfunction f;

    if (result != CUDA_SUCCESS)
        return result;
    f = gpusim_module_function(hmod, name);
    if (f)
        *hfunc = f;
    pthread_mutex_unlock(&gpusim_lock);
    return f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod)
{
    CUresult result = lock_module(mod, count != NULL);

    if (result != CUDA_SUCCESS)
        return result;
    *count = 0;
    for (CUfunction f = mod->functions; f; f = f->next)
        ++*count;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions, CUmodule mod)
{
    CUresult result = lock_module(mod, true);
    unsigned i = 0;

    if (result != CUDA_SUCCESS)
        return result;
    for (CUfunction f = mod->functions; f && i < numFunctions; f = f->next)
        functions[i++] = f;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    CUresult result = lock_module(hmod, name != NULL);
    struct gpusim_variable *v;

    if (result != CUDA_SUCCESS)
        return result;
    v = gpusim_module_variable(hmod, name);
    if (v && dptr)
        *dptr = v->address;
    if (v && bytes)
        *bytes = v->bytes;
    pthread_mutex_unlock(&gpusim_lock);
    return v ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* The simulated GPU has no textures. */

CUresult cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name)
{
    CUresult result = lock_module(hmod, pTexRef && name);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                           const CUDA_TEXTURE_DESC *pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    (void)pTexObject;
    (void)pResDesc;
    (void)pTexDesc;
    (void)pResViewDesc;
    return CUDA_ERROR_NOT_SUPPORTED;
}
