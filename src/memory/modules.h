/* The modules and libraries the program has loaded, and the variables in them. A variable is
 * found by the driver, and so becomes a buffer, when a kernel is first measured in a context:
 * loading a module stays as cheap (and as lazy) as it was. Owns the list of modules. */
#ifndef GPUPROF_MEMORY_MODULES_H
#define GPUPROF_MEMORY_MODULES_H

#include "code/module_code.h"
#include "cuda/driver.h"

/* After the real load. A module belongs to the current context, a library to every context. An
 * image that stays where it is until the library is unloaded need not be copied. */
void gp_module_loaded(CUmodule module, const void *image);
void gp_module_loaded_from_file(CUmodule module, const char *path);
void gp_library_loaded(CUlibrary library, const void *image, bool stays);
void gp_library_loaded_from_file(CUlibrary library, const char *path);

/* Before the real unload of a module or library. */
void gp_module_unloading(const void *handle);

/* Makes buffers of all variables in the current context that are none yet. The driver may load code
 * for that, and wait for the GPU. */
void gp_modules_resolve(CUcontext current);
/* True where there is nothing to do for that. */
bool gp_modules_are_resolved(CUcontext current);

/* True when the handle is that of a module or library that the program has loaded, so that we know
 * its variables as its. NULL is none. */
bool gp_module_is_loaded(const void *handle);

/* The library of the program's whose kernel the function is, by its name and in the current
 * context, where the driver made the module for it (cuKernelGetFunction, and functions of graphs).
 * Else the module. */
const void *gp_module_owner(CUmodule module, CUfunction function, const char *name);

/* The context a module belongs to; NULL for a library, which belongs to all, and for a handle that
 * we do not know. */
CUcontext gp_module_context(const void *handle);

/* Why the kernel of that module or library must not run more often than launched (it prints, or its
 * module allocates); none where it may. For a handle we do not know (NULL too), the answer for such
 * a kernel of any module. */
struct gp_reason gp_module_runs_once(const void *handle, const char *kernel);

/* The machine code of a function of that module or library, as gp_code_find has it; valid until it
 * is unloaded. For a handle we do not know (NULL too), that of the one module that has such a
 * function. NULL with the reason in *why. */
const void *gp_module_code(const void *handle, const char *function, size_t *size,
                           struct gp_reason *why);

/* The PTX of a module or library that has no machine code, to be freed, and a cubin that was made
 * of it, as gp_code_ptx and gp_code_compiled have them. */
char *gp_module_ptx(const void *handle);
size_t gp_module_ptx_bytes(const void *handle);
void gp_module_compiled(const void *handle, const void *cubin, size_t size, const char *why);
/* The kernel's code is given if it has so many registers, which the driver says of its own. */
void gp_module_check_registers(const void *handle, const char *kernel, unsigned registers);

/* The seconds that gp_module_code takes now to unpack the images that it searches, as predicted; 0
 * where it need not. */
double gp_module_code_seconds(const void *handle, const char *function);

/* False where the kernel of that module or library is compiled from PTX that shows that it cannot
 * wait (code/ptx.h). Where it is of machine code, gp_module_code has it. */
bool gp_module_ptx_may_wait(const void *handle, const char *kernel);

/* The parts of a cubin for the source lines of a function of that module or library, as
 * gp_code_slim has them. */
void *gp_module_slim(const void *handle, const char *function, size_t most, size_t *size);

/* True when kernels of that module or library may call the function of that name of the device's
 * runtime: where it cannot be found out they may. For a handle we do not know (NULL too), those of
 * any. It is slow: the symbols of its image are searched. */
bool gp_module_may_call(const void *handle, const char *function);

#endif
