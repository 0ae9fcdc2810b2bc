/* Libraries: an image kept, and loaded into each context when it is first needed there. */
#include <stdlib.h>
#include <string.h>

#include "driver/image.h"
#include "driver/module.h"

struct loaded {
    struct loaded *next;
    CUcontext context;
    unsigned long long context_id;
    CUmodule module;
};

struct CUlib_st {
    enum gpusim_handle kind;
    struct CUlib_st *next;
    const void *image; /* the caller's, or owned */
    void *owned;
    struct loaded *loaded;
    CUkernel kernels;
};

static CUlibrary libraries;

static bool library_alive(CUlibrary library)
{
    for (CUlibrary l = libraries; l; l = l->next)
        if (l == library)
            return true;
    return false;
}

/* For calls about a library: on success the lock is held. */
static CUresult lock_library(CUlibrary library, bool arguments_given)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!arguments_given)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    if (library_alive(library))
        return CUDA_SUCCESS;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult module_in(CUlibrary library, CUcontext context, CUmodule *module)
{
    struct loaded *entry;
    CUresult result;

    for (entry = library->loaded; entry; entry = entry->next)
        if (entry->context == context && entry->context_id == context->id) {
            *module = entry->module;
            return CUDA_SUCCESS;
        }
    entry = calloc(1, sizeof(*entry));
    if (!entry)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = gpusim_module_load(context, library->image, &entry->module);
    if (result != CUDA_SUCCESS) {
        free(entry);
        return result;
    }
    entry->context = context;
    entry->context_id = context->id;
    entry->next = library->loaded;
    library->loaded = entry;
    *module = entry->module;
    return CUDA_SUCCESS;
}

struct naming {
    CUlibrary library;
    CUresult result;
};

static bool name_kernel(void *self, const struct gpusim_image_function *from)
{
    struct naming *naming = self;
    CUkernel k = calloc(1, sizeof(*k));

    naming->result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!k)
        return false;
    k->kind = GPUSIM_LIBRARY_KERNEL;
    k->library = naming->library;
    k->name = strdup(from->name);
    if (!k->name) {
        free(k);
        return false;
    }
    k->next = naming->library->kernels;
    naming->library->kernels = k;
    naming->result = CUDA_SUCCESS;
    return true;
}

static void free_library(CUlibrary library)
{
    while (library->kernels) {
        CUkernel k = library->kernels;
        library->kernels = k->next;
        k->kind = GPUSIM_DEAD;
        free(k->name);
        free(k);
    }
    while (library->loaded) {
        struct loaded *entry = library->loaded;
        library->loaded = entry->next;
        free(entry);
    }
    free(library->owned);
    library->kind = GPUSIM_DEAD;
    free(library);
}

static CUresult new_library(CUlibrary *out, const void *image, void *owned)
{
    CUlibrary library = calloc(1, sizeof(*library));
    struct naming naming = {library, CUDA_SUCCESS};
    struct gpusim_image_visitor visitor = {name_kernel, NULL, &naming};

    if (!library)
        return CUDA_ERROR_OUT_OF_MEMORY;
    library->kind = GPUSIM_LIBRARY;
    library->image = image;
    if (gpusim_image_walk(image, &visitor) == GPUSIM_IMAGE_BAD)
        naming.result = CUDA_ERROR_INVALID_IMAGE;
    if (naming.result != CUDA_SUCCESS) {
        free_library(library);
        return naming.result;
    }
    library->owned = owned;
    library->next = libraries;
    libraries = library;
    *out = library;
    return CUDA_SUCCESS;
}

static CUresult load_library(CUlibrary *library, const void *code, void *owned)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!library || !code)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    result = new_library(library, code, owned);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                           void **jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions)
{
    const void *start;
    CUresult result;
    size_t bytes;
    void *copy;

    (void)jitOptions;
    (void)jitOptionsValues;
    (void)numJitOptions;
    (void)libraryOptions;
    (void)libraryOptionValues;
    (void)numLibraryOptions;
    if (!code)
        return CUDA_ERROR_INVALID_VALUE;
    /* The caller may take its image away; contexts that load it come later. */
    bytes = gpusim_image_bytes(code, &start);
    if (bytes == 0)
        return CUDA_ERROR_INVALID_IMAGE;
    copy = malloc(bytes);
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, start, bytes);
    result = load_library(library, copy, copy);
    if (result != CUDA_SUCCESS)
        free(copy);
    return result;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions)
{
    CUresult result;
    void *image;

    (void)jitOptions;
    (void)jitOptionsValues;
    (void)numJitOptions;
    (void)libraryOptions;
    (void)libraryOptionValues;
    (void)numLibraryOptions;
    if (!fileName)
        return CUDA_ERROR_INVALID_VALUE;
    image = gpusim_image_from_file(fileName, &result);
    if (!image)
        return result;
    result = load_library(library, image, image);
    if (result != CUDA_SUCCESS)
        free(image);
    return result;
}

static void unload_from_contexts(CUlibrary library)
{
    for (struct loaded *entry = library->loaded; entry; entry = entry->next)
        if (gpusim_context_alive(entry->context) && entry->context->id == entry->context_id)
            (void)gpusim_module_unload(entry->context, entry->module);
}

CUresult cuLibraryUnload(CUlibrary library)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    result = CUDA_ERROR_INVALID_HANDLE;
    for (CUlibrary *link = &libraries; *link; link = &(*link)->next)
        if (*link == library) {
            *link = library->next;
            unload_from_contexts(library);
            free_library(library);
            result = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    CUresult result = lock_library(library, pKernel && name);

    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_NOT_FOUND;
    for (CUkernel k = library->kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0) {
            *pKernel = k;
            result = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib)
{
    CUresult result = lock_library(lib, count != NULL);

    if (result != CUDA_SUCCESS)
        return result;
    *count = 0;
    for (CUkernel k = lib->kernels; k; k = k->next)
        ++*count;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib)
{
    CUresult result = lock_library(lib, true);
    unsigned i = 0;

    if (result != CUDA_SUCCESS)
        return result;
    for (CUkernel k = lib->kernels; k && i < numKernels; k = k->next)
        kernels[i++] = k;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!pMod)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    result = library_alive(library) ? module_in(library, context, pMod) : CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

static CUresult library_variable(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                 const char *name, bool managed)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUmodule module = NULL;

    if (result != CUDA_SUCCESS)
        return result;
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    result =
        library_alive(library) ? module_in(library, context, &module) : CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS) {
        struct gpusim_variable *v = gpusim_module_variable(module, name);
        if (!v || (managed && !v->managed))
            result = CUDA_ERROR_NOT_FOUND;
        else if (dptr)
            *dptr = v->address;
        if (result == CUDA_SUCCESS && bytes)
            *bytes = v->bytes;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    return library_variable(dptr, bytes, library, name, false);
}

CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    return library_variable(dptr, bytes, library, name, true);
}

CUfunction gpusim_function_of(CUfunction handle, CUcontext context, CUresult *why)
{
    CUkernel kernel;
    CUmodule module;
    CUfunction f;

    *why = CUDA_ERROR_INVALID_HANDLE;
    if (!handle)
        return NULL;
    if (handle->kind == GPUSIM_FUNCTION) {
        if (handle->module->context != gpusim_context_owner(context)) {
            *why = CUDA_ERROR_INVALID_CONTEXT;
            return NULL;
        }
        return handle;
    }
    /* Launch calls take a library's kernel instead of a function. */
    kernel = (CUkernel)(void *)handle;
    if (kernel->kind != GPUSIM_LIBRARY_KERNEL || !library_alive(kernel->library))
        return NULL;
    *why = module_in(kernel->library, gpusim_context_owner(context), &module);
    if (*why != CUDA_SUCCESS)
        return NULL;
    f = gpusim_module_function(module, kernel->name);
    if (!f)
        *why = CUDA_ERROR_NOT_FOUND;
    return f;
}

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUfunction f;

    if (result != CUDA_SUCCESS)
        return result;
    if (!pFunc)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    f = gpusim_function_of((CUfunction)(void *)kernel, context, &result);
    if (f) {
        *pFunc = f;
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel)
{
    if (!pLib || !kernel)
        return CUDA_ERROR_INVALID_VALUE;
    if (kernel->kind != GPUSIM_LIBRARY_KERNEL)
        return CUDA_ERROR_INVALID_HANDLE;
    *pLib = kernel->library;
    return CUDA_SUCCESS;
}
