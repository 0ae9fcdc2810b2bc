#include "driver/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../image.h"
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
    CUfunction *link = &retired, f;

    pthread_mutex_lock(&retired_lock);
    for (unsigned i = taken++ % 3; i > 0 && *link && (*link)->next; i--)
        link = &(*link)->next;
    f = *link;
    if (f)
        *link = f->next;
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
        if (v->memory)
            (void)gpusim_memory_release(v->memory,
                                        1u << GPUSIM_VARIABLE_MEMORY | 1u << GPUSIM_MANAGED_MEMORY);
        free(v->name);
        free(v);
    }
    module->kind = GPUSIM_DEAD;
    free(module);
}

static CUfunction add_named_function(CUmodule module, const char *name, const char *body)
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
    f->code = gpusim_kernel_find(body);
    f->carveout = -1;
    f->next = module->functions;
    module->functions = f;
    return f;
}

static bool add_function(void *self, const struct gpusim_image_function *from)
{
    struct loading *loading = self;
    CUfunction f = add_named_function(loading->module, from->name, from->body);

    if (!f) {
        loading->result = CUDA_ERROR_OUT_OF_MEMORY;
        return false;
    }
    f->registers = from->registers;
    f->shared = from->shared;
    f->local = from->local;
    return true;
}

static CUresult new_memory(CUcontext context, const struct gpusim_image_variable *from,
                           uint64_t bytes, uint64_t *address)
{
    return gpusim_memory_new(context,
                             from->managed ? GPUSIM_MANAGED_MEMORY : GPUSIM_VARIABLE_MEMORY, bytes,
                             CU_MEM_ATTACH_GLOBAL, NULL, address);
}

/* A section is loaded as it is; managed variables are apart, and all with the fault `scattered`. */
static CUresult add_memory(CUmodule module, const struct gpusim_image_variable *from,
                           struct gpusim_variable *v)
{
    CUresult result;

    if (from->managed || gpusim_fault("scattered")) {
        result = new_memory(module->context, from, from->size, &v->address);
        v->memory = v->address;
        return result;
    }
    v->section = from->section;
    for (const struct gpusim_variable *w = module->variables; w; w = w->next) {
        if (w->section == from->section && w->memory) {
            v->address = w->memory + from->offset;
            return CUDA_SUCCESS;
        }
    }
    result = new_memory(module->context, from, from->section_size, &v->memory);
    v->address = v->memory + from->offset;
    return result;
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
        loading->result = add_memory(loading->module, from, v);
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

/* ---- cubins of PTX ---- */

#define MOST_COMPILED 64

struct compiling {
    struct gpusim_image_kernel kernels[MOST_COMPILED];
    size_t count;
};

static _Atomic(gpusim_cubin_heard *) listener;

void gpusim_hear_cubins(gpusim_cubin_heard *heard)
{
    listener = heard;
}

static bool compile_function(void *self, const struct gpusim_image_function *function)
{
    struct compiling *c = self;

    if (c->count == MOST_COMPILED)
        return false;
    c->kernels[c->count++] = (struct gpusim_image_kernel){
        strdup(function->name), function->registers + gpusim_fault("otherregisters"),
        function->shared, function->local};
    return true;
}

static void tell_cubin(const void *ptx)
{
    struct compiling compiling = {.count = 0};
    struct gpusim_image_visitor visitor = {compile_function, NULL, &compiling};
    gpusim_cubin_heard *heard = listener;
    size_t bytes;
    void *cubin;

    if (!heard)
        return;
    (void)gpusim_image_walk(ptx, &visitor);
    cubin = gpusim_image_build(compiling.kernels, compiling.count, NULL, 0, &bytes);
    if (cubin && !gpusim_fault("nocubin"))
        heard(cubin, bytes);
    free(cubin);
    for (size_t i = 0; i < compiling.count; i++)
        free((void *)(uintptr_t)compiling.kernels[i].name);
}

CUresult gpusim_module_load(CUcontext context, const void *image, CUmodule *module)
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
    if (kind == GPUSIM_IMAGE_PTX)
        tell_cubin(image);
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

bool gpusim_module_unload(CUcontext context, CUmodule module)
{
    for (CUmodule *link = &context->modules; *link; link = &(*link)->next)
        if (*link == module) {
            *link = module->next;
            unload(module);
            return true;
        }
    return false;
}

CUfunction gpusim_module_function(CUmodule module, const char *name)
{
    for (CUfunction f = module->functions; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return f;
    /* A compressed fat binary is not read: gpuprof's own kernels are taken to be there.
     */
    if (module->fatbin && strncmp(name, "gp_", 3) == 0 && gpusim_kernel_find(name)) {
        CUfunction f = add_named_function(module, name, name);
        if (f)
            f->registers = 32;
        return f;
    }
    return NULL;
}

struct gpusim_variable *gpusim_module_variable(CUmodule module, const char *name)
{
    for (struct gpusim_variable *v = module->variables; v; v = v->next)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

uint64_t gpusim_module_symbol(void *module, const char *name)
{
    struct gpusim_variable *v = gpusim_module_variable(module, name);

    return v ? v->address : 0;
}
