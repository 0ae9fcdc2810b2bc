#include "driver/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/faults.h"
#include "driver/image.h"
#include "driver/memory.h"

struct loading {
    CUmodule module;
    CUresult result;
};

/* Functions of modules that are gone: new functions get their handles, and seldom those that their
 * like had. */
static pthread_mutex_t retired_lock = PTHREAD_MUTEX_INITIALIZER;
static CUfunction retired;

static void retire(CUfunction f)
{
    *f = (struct CUfunc_st){.kind = GPUSIM_DEAD};
    pthread_mutex_lock(&retired_lock);
    f->next = retired;
    retired = f;
    pthread_mutex_unlock(&retired_lock);
}

static CUfunction new_function(void)
{
    static unsigned taken;
    CUfunction *place = &retired, f;

    pthread_mutex_lock(&retired_lock);
    for (unsigned i = taken++ % 3; i > 0 && *place && (*place)->next; i--)
        place = &(*place)->next;
    f = *place;
    if (f)
        *place = f->next;
    pthread_mutex_unlock(&retired_lock);
    if (!f)
        return calloc(1, sizeof(*f));
    *f = (struct CUfunc_st){0};
    return f;
}

static void free_module(CUmodule module)
{
    while (module->functions) {
        CUfunction f = module->functions;
        module->functions = f->next;
        free(f->name);
        retire(f);
    }
    while (module->variables) {
        struct gpusim_variable *v = module->variables;
        module->variables = v->next;
        (void)gpusim_memory_release(v->address,
                                    1u << GPUSIM_VARIABLE_MEMORY | 1u << GPUSIM_MANAGED_MEMORY);
        free(v->name);
        free(v);
    }
    module->kind = GPUSIM_DEAD;
    free(module);
}

static CUfunction add_named_function(CUmodule module, const char *name)
{
    CUfunction f = new_function();

    if (!f)
        return NULL;
    f->kind = GPUSIM_FUNCTION;
    f->module = module;
    f->name = strdup(name);
    if (!f->name) {
        retire(f);
        return NULL;
    }
    f->code = gpusim_kernel_find(name);
    f->carveout = -1;
    f->next = module->functions;
    module->functions = f;
    return f;
}

static bool add_function(void *self, const struct gpusim_image_function *from)
{
    struct loading *loading = self;
    CUfunction f = add_named_function(loading->module, from->name);

    if (!f) {
        loading->result = CUDA_ERROR_OUT_OF_MEMORY;
        return false;
    }
    f->registers = from->registers;
    f->shared = from->shared;
    f->local = from->local;
    return true;
}

static bool add_variable(void *self, const struct gpusim_image_variable *from)
{
    struct loading *loading = self;
    struct gpusim_variable *v = calloc(1, sizeof(*v));

    loading->result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!v)
        return false;
    v->name = strdup(from->name);
    v->bytes = from->size;
    v->managed = from->managed;
    if (v->name)
        loading->result =
            gpusim_memory_new(loading->module->context,
                              from->managed ? GPUSIM_MANAGED_MEMORY : GPUSIM_VARIABLE_MEMORY,
                              v->bytes, CU_MEM_ATTACH_GLOBAL, NULL, &v->address);
    if (loading->result != CUDA_SUCCESS) {
        free(v->name);
        free(v);
        return false;
    }
    if (from->initial)
        memcpy(gpusim_memory_host(v->address, v->bytes, true), from->initial, v->bytes);
    v->next = loading->module->variables;
    loading->module->variables = v;
    return true;
}

static CUresult load(CUcontext context, const void *image, CUmodule *module)
{
    struct loading loading = {calloc(1, sizeof(struct CUmod_st)), CUDA_SUCCESS};
    struct gpusim_image_visitor visitor = {add_function, add_variable, &loading};
    enum gpusim_image_kind kind;

    if (!loading.module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    loading.module->kind = GPUSIM_MODULE;
    loading.module->context = context;
    kind = gpusim_image_walk(image, &visitor);
    if (kind == GPUSIM_IMAGE_BAD)
        loading.result = CUDA_ERROR_INVALID_IMAGE;
    if (loading.result != CUDA_SUCCESS) {
        free_module(loading.module);
        return loading.result;
    }
    loading.module->fatbin = kind == GPUSIM_IMAGE_FATBIN && !loading.module->functions;
    loading.module->next = context->modules;
    context->modules = loading.module;
    *module = loading.module;
    return CUDA_SUCCESS;
}

/* CUPTI keeps the code that it has patched by the function's handle. On the real thing the process
 * dies when the handle is given to another function; here it dies at once. */
static void unload(CUmodule module)
{
    const struct CUctx_st *context = module->context;

    for (CUfunction f = module->functions; f; f = f->next)
        if (context->watchers && f->watched == context->watches + 1) {
            (void)fprintf(stderr, "gpusim: %s is unloaded while CUPTI holds its code\n", f->name);
            abort();
        }
    free_module(module);
}

void gpusim_modules_free(CUcontext context)
{
    while (context->modules) {
        CUmodule module = context->modules;
        context->modules = module->next;
        free_module(module);
    }
}

/* Answers whether the context had it. */
static bool unload_from(CUcontext context, CUmodule module)
{
    for (CUmodule *link = &context->modules; *link; link = &(*link)->next)
        if (*link == module) {
            *link = module->next;
            unload(module);
            return true;
        }
    return false;
}

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
    if (module_alive(context, module))
        return CUDA_SUCCESS;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_ERROR_INVALID_HANDLE;
}

static CUfunction find_function(CUmodule module, const char *name)
{
    for (CUfunction f = module->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return f;
    /* A compressed fat binary cannot be looked into: gpuprof's own kernels are taken to be there.
     */
    if (module->fatbin && strncmp(name, "gp_", 3) == 0 && gpusim_kernel_find(name)) {
        CUfunction f = add_named_function(module, name);
        if (f)
            f->registers = 32;
        return f;
    }
    return NULL;
}

static struct gpusim_variable *find_variable(CUmodule module, const char *name)
{
    for (struct gpusim_variable *v = module->variables; v; v = v->next)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

uint64_t gpusim_module_symbol(void *module, const char *name)
{
    struct gpusim_variable *v = find_variable(module, name);

    return v ? v->address : 0;
}

static void *read_file(const char *path, CUresult *result)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size = -1;

    *result = CUDA_ERROR_FILE_NOT_FOUND;
    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size > 0 && fseek(file, 0, SEEK_SET) == 0)
        bytes = calloc(1, (size_t)size + 64); /* a short file must not be read past its end */
    if (bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size)
        *result = CUDA_SUCCESS;
    (void)fclose(file);
    if (*result != CUDA_SUCCESS) {
        free(bytes);
        return NULL;
    }
    return bytes;
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
    result = load(context, image, module);
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
    image = read_file(fname, &result);
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
    if (!unload_from(context, hmod))
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
    f = find_function(hmod, name);
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
    v = find_variable(hmod, name);
    if (v && dptr)
        *dptr = v->address;
    if (v && bytes)
        *bytes = v->bytes;
    pthread_mutex_unlock(&gpusim_lock);
    return v ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* ---- libraries: an image kept, and loaded into each context when first needed there ---- */

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
    result = load(context, library->image, &entry->module);
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
    image = read_file(fileName, &result);
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
            (void)unload_from(entry->context, entry->module);
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
        struct gpusim_variable *v = find_variable(module, name);
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
        if (handle->module->context != context) {
            *why = CUDA_ERROR_INVALID_CONTEXT;
            return NULL;
        }
        return handle;
    }
    /* Launch calls take a library's kernel in a function's place. */
    kernel = (CUkernel)(void *)handle;
    if (kernel->kind != GPUSIM_LIBRARY_KERNEL || !library_alive(kernel->library))
        return NULL;
    *why = module_in(kernel->library, context, &module);
    if (*why != CUDA_SUCCESS)
        return NULL;
    f = find_function(module, kernel->name);
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

/* ---- questions about functions ---- */

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
    return is_function(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult param_info(const char *name, size_t index, size_t *offset, size_t *size)
{
    const struct gpusim_kernel *code = gpusim_kernel_find(name);

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
    return param_info(func->name, paramIndex, paramOffset, paramSize);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                              size_t *paramSize)
{
    if (!is_kernel(kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    return param_info(kernel->name, paramIndex, paramOffset, paramSize);
}
