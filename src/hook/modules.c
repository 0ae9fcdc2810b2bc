/* Modules and libraries, for the device globals in them, and contexts. */
#include "memory/modules.h"

#include "cuda/green.h"
#include "hook/entry.h"
#include "launch/captures.h"
#include "launch/launch.h"
#include "memory/buffers.h"

#include <stdatomic.h>

#define LOADS_IMAGE(symbol, parameters, arguments, handle, image) \
    GP_EXPORT CUresult symbol parameters                          \
    {                                                             \
        GP_FORWARD(symbol, arguments);                            \
        CUresult result = gp_cuda.symbol arguments;               \
        if (result == CUDA_SUCCESS)                               \
            GP_COUNTED(gp_module_loaded(*(handle), image));       \
        return result;                                            \
    }
LOADS_IMAGE(cuModuleLoadData, (CUmodule * module, const void *image), (module, image), module,
            image)
LOADS_IMAGE(cuModuleLoadDataEx,
            (CUmodule * module, const void *image, unsigned int numOptions, CUjit_option *options,
             void **optionValues),
            (module, image, numOptions, options, optionValues), module, image)
LOADS_IMAGE(cuModuleLoadFatBinary, (CUmodule * module, const void *fatCubin), (module, fatCubin),
            module, fatCubin)

GP_EXPORT CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
    GP_FORWARD_UNLESS_OURS(cuModuleLoad, module, fname);
    CUresult result = gp_cuda.cuModuleLoad(module, fname);
    if (result == CUDA_SUCCESS)
        gp_module_loaded_from_file(*module, fname);
    return result;
}

/* The program promises that the image stays until the library is unloaded. */
static bool is_preserved(const CUlibraryOption *options, void *const *values, unsigned count)
{
    for (unsigned i = 0; options && i < count; i++)
        if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED)
            return !values || values[i];
    return false;
}

GP_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                     void **jitOptionsValues, unsigned int numJitOptions,
                                     CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                     unsigned int numLibraryOptions)
{
    GP_FORWARD_UNLESS_OURS(cuLibraryLoadData, library, code, jitOptions, jitOptionsValues,
                           numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions);
    CUresult result =
        gp_cuda.cuLibraryLoadData(library, code, jitOptions, jitOptionsValues, numJitOptions,
                                  libraryOptions, libraryOptionValues, numLibraryOptions);
    if (result == CUDA_SUCCESS)
        GP_COUNTED(gp_library_loaded(
            *library, code, is_preserved(libraryOptions, libraryOptionValues, numLibraryOptions)));
    return result;
}

GP_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                         CUjit_option *jitOptions, void **jitOptionsValues,
                                         unsigned int numJitOptions,
                                         CUlibraryOption *libraryOptions,
                                         void **libraryOptionValues, unsigned int numLibraryOptions)
{
    GP_FORWARD_UNLESS_OURS(cuLibraryLoadFromFile, library, fileName, jitOptions, jitOptionsValues,
                           numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions);
    CUresult result = gp_cuda.cuLibraryLoadFromFile(library, fileName, jitOptions, jitOptionsValues,
                                                    numJitOptions, libraryOptions,
                                                    libraryOptionValues, numLibraryOptions);
    if (result == CUDA_SUCCESS)
        GP_COUNTED(gp_library_loaded_from_file(*library, fileName));
    return result;
}

/* What the driver does may wait for the GPU, and is done with the gate open. */
#define UNLOADS(symbol, type, is_library)                 \
    GP_EXPORT CUresult symbol(type handle)                \
    {                                                     \
        GP_FORWARD_UNLESS_OURS(symbol, handle);           \
        if (!gp_launch_forget_module(handle, is_library)) \
            return CUDA_SUCCESS;                          \
        gp_gate_share();                                  \
        CUresult result = gp_cuda.symbol(handle);         \
        gp_gate_unshare();                                \
        return result;                                    \
    }
UNLOADS(cuModuleUnload, CUmodule, false)
UNLOADS(cuLibraryUnload, CUlibrary, true)

static void forget_context(CUcontext context)
{
    gp_memory_forget_context(context);
    gp_captures_forget_context(context);
}

/* A context that goes takes its buffers, its modules and our own things in it with it. */
#define DESTROYS_CONTEXT(symbol)               \
    GP_EXPORT CUresult symbol(CUcontext ctx)   \
    {                                          \
        GP_FORWARD_UNLESS_OURS(symbol, ctx);   \
        gp_launch_leave_context(ctx);          \
        gp_gate_share();                       \
        gp_memory_context_going(ctx);          \
        CUresult result = gp_cuda.symbol(ctx); \
        if (result == CUDA_SUCCESS)            \
            forget_context(ctx);               \
        gp_gate_unshare();                     \
        return result;                         \
    }
DESTROYS_CONTEXT(cuCtxDestroy)
DESTROYS_CONTEXT(cuCtxDestroy_v2)
/* It has one user, who goes: where there were more, replay is barred. */
DESTROYS_CONTEXT(cuCtxDetach)

GP_EXPORT CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
                                    unsigned int flags)
{
    GP_FORWARD_UNLESS_OURS(cuGreenCtxCreate, phCtx, desc, dev, flags);
    CUresult result = gp_cuda.cuGreenCtxCreate(phCtx, desc, dev, flags);
    if (result == CUDA_SUCCESS)
        gp_green_context_made();
    return result;
}

/* A green context's memory and modules stay, they are the primary context's. */
GP_EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx hCtx)
{
    GP_FORWARD_UNLESS_OURS(cuGreenCtxDestroy, hCtx);
    CUcontext context = NULL;
    if (gp_cuda.cuCtxFromGreenCtx && gp_cuda.cuCtxFromGreenCtx(&context, hCtx) == CUDA_SUCCESS)
        gp_launch_leave_context(context);
    gp_gate_share();
    CUresult result = gp_cuda.cuGreenCtxDestroy(hCtx);
    if (result == CUDA_SUCCESS && context)
        gp_captures_forget_context(context);
    gp_gate_unshare();
    return result;
}

#define MOST_DEVICES 64

/* Times the program has retained each device's primary context, as far as we saw. */
static atomic_int retained[MOST_DEVICES];

GP_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    GP_FORWARD_UNLESS_OURS(cuDevicePrimaryCtxRetain, pctx, dev);
    CUresult result = gp_cuda.cuDevicePrimaryCtxRetain(pctx, dev);
    if (result == CUDA_SUCCESS && dev >= 0 && dev < MOST_DEVICES)
        atomic_fetch_add(&retained[dev], 1);
    return result;
}

/* False for a release that leaves the context to others. */
static bool is_last(CUdevice dev, bool reset)
{
    if (dev < 0 || dev >= MOST_DEVICES)
        return true;
    if (reset)
        atomic_store(&retained[dev], 0);
    return reset || atomic_fetch_sub(&retained[dev], 1) <= 1;
}

/* The primary context goes at the last release, or at once when reset. */
#define DROPS_PRIMARY(symbol, reset)                                                               \
    GP_EXPORT CUresult symbol(CUdevice dev)                                                        \
    {                                                                                              \
        GP_FORWARD_UNLESS_OURS(symbol, dev);                                                       \
        if (!is_last(dev, reset))                                                                  \
            return gp_cuda.symbol(dev);                                                            \
        CUcontext primary = gp_launch_leave_primary(dev);                                          \
        gp_gate_share();                                                                           \
        gp_memory_context_going(primary);                                                          \
        CUresult result = gp_cuda.symbol(dev);                                                     \
        unsigned flags;                                                                            \
        int active = 0;                                                                            \
        if (result == CUDA_SUCCESS && primary &&                                                   \
            (gp_cuda.cuDevicePrimaryCtxGetState(dev, &flags, &active) != CUDA_SUCCESS || !active)) \
            forget_context(primary);                                                               \
        gp_gate_unshare();                                                                         \
        return result;                                                                             \
    }
DROPS_PRIMARY(cuDevicePrimaryCtxRelease, false)
DROPS_PRIMARY(cuDevicePrimaryCtxRelease_v2, false)
DROPS_PRIMARY(cuDevicePrimaryCtxReset, true)
DROPS_PRIMARY(cuDevicePrimaryCtxReset_v2, true)

GP_EXPORT CUresult cuInit(unsigned int Flags)
{
    if (!GP_REAL(cuInit))
        return CUDA_ERROR_NOT_FOUND;
    CUresult result = gp_cuda.cuInit(Flags);
    if (result == CUDA_SUCCESS)
        gp_session_start();
    return result;
}
