/*
 * Loaded device programs: functions, variables, and the libraries that load them once per context.
 */
#ifndef GPUSIM_MODULE_H
#define GPUSIM_MODULE_H

#include "driver/driver.h"

struct gpusim_variable {
    struct gpusim_variable *next;
    char *name;
    uint64_t address, bytes;
    bool managed;
    uint64_t memory;  /* to be released with it; 0: it lies in another one's */
    unsigned section; /* all of it is in `memory`; 0: none */
};

struct CUmod_st {
    enum gpusim_handle kind;
    struct CUmod_st *next;
    CUcontext context;
    CUfunction functions;
    struct gpusim_variable *variables;
    bool fatbin; /* and its content could not be read */
};

struct CUfunc_st {
    enum gpusim_handle kind;
    struct CUfunc_st *next;
    CUmodule module;
    char *name;
    const struct gpusim_kernel *code; /* NULL: the simulator does not know this kernel */
    unsigned registers, shared, local;
    int max_dynamic_shared, carveout;
    bool loaded;                /* its code, see the fault lazyload */
    unsigned long long watched; /* when it ran last with somebody watching, see run_watched */
};

struct CUlib_st;

struct CUkern_st {
    enum gpusim_handle kind;
    struct CUkern_st *next;
    CUlibrary library;
    char *name;
};

/* For these the caller holds the lock. */
CUresult gpusim_module_load(CUcontext context, const void *image, CUmodule *module);
bool gpusim_module_unload(CUcontext context, CUmodule module); /* false: it is not the context's */
CUfunction gpusim_module_function(CUmodule module, const char *name);
struct gpusim_variable *gpusim_module_variable(CUmodule module, const char *name);

/* The function behind a handle of either kind, in the current context; NULL and why not. */
CUfunction gpusim_function_of(CUfunction handle, CUcontext context, CUresult *why);

/* The device address of a module's variable, for a running kernel. */
uint64_t gpusim_module_symbol(void *module, const char *name);

/* The listener is called with the cubin of each module that is compiled from PTX, from now on. */
typedef void gpusim_cubin_heard(const void *cubin, size_t size);
void gpusim_hear_cubins(gpusim_cubin_heard *heard);

#endif
