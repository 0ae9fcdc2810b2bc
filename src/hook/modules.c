/* Modules and libraries, for the device globals in them, and contexts. */
#include "memory/modules.h"
#include "memory/sharing.h"

#include "base/log.h"
#include "cuda/green.h"
#include "gate/captures.h"
#include "gate/internal_work.h"
#include "gate/waits.h"
#include "graph/graphs.h"
#include "hook/entry.h"
#include "launch/contexts.h"
#include "launch/copies.h"
#include "launch/kernels.h"
#include "launch/timed.h"
#include "memory/buffers.h"

#include <stdatomic.h>
#include <time.h>

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
        GP_COUNTED(gp_module_loaded_from_file(*module, fname));
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

/* ---- modules that go ------------------------------------------------------------------------- */

/* How often, a millisecond each, an unloading waits for captures of other threads to end. */
#define MOST_CAPTURE_NAPS 1000

/* Queues. Where CUPTI has something of the module that is to go the gate is locked, at a time when
 * nothing is being captured, if that comes soon: not where it takes this thread to end the capture.
 * Else there is nothing that others could disturb. */
static bool lock_between_captures(const void *module, bool is_library)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    for (unsigned naps = 0;; naps++) {
        gp_gate_queue();
        if (!gp_contexts_collect() || !gp_kernels_collected(module, is_library))
            return false;
        bool locked = gp_gate_lock_queued_in_time();
        if (gp_captures() == 0 || naps >= MOST_CAPTURE_NAPS || gp_capture_is_own())
            return locked;
        gp_gate_unlock_queued(locked);
        naps += locked ? 0 : (unsigned)(1e3 * GP_STUCK_SECONDS);
        nanosleep(&nap, NULL);
    }
}

struct unloading {
    const void *module;
    bool is_library;
    bool allowed;
};

/* Launches of other modules' kernels may have reached its variables. Queued. */
static void drain_before_variables_go(const void *module, bool *locked)
{
    struct gp_program_change change = {0};
    while (gp_any_held() && gp_buffer_of_owner(module, &change.address, &change.bytes)) {
        gp_contexts_note_going(&change);
        if (gp_contexts_are_concerned(&change)) {
            *locked = *locked || gp_gate_lock_queued_in_time();
            gp_contexts_before_change(&change, *locked, false);
        }
        change.address++;
    }
}

/* Closes the collections of the contexts in which CUPTI may have something of the module. Not with
 * the gate unlocked: CUPTI waits for all in a context, and another thread may launch a kernel there
 * that waits for it. */
static bool close_collections(const struct unloading *u, bool locked)
{
    bool all = u->is_library || gp_kernels_collected_somewhere();
    if (!locked && gp_contexts_collect())
        return false;
    return gp_contexts_close_collections(all ? NULL : gp_module_context(u->module), u->module);
}

static void forget_module(void *unloading)
{
    static struct gp_say_limit once;
    struct unloading *u = unloading;
    bool locked = lock_between_captures(u->module, u->is_library);
    /* CUPTI keeps the code it has patched by the function's handle, and crashes on another function
     * that comes to the same handle: it must be abandoned while the module is still there. A module
     * none of whose functions ran in a pass costs nothing. */
    u->allowed = !gp_kernels_collected(u->module, u->is_library) || close_collections(u, locked);
    drain_before_variables_go(u->module, &locked);
    u->allowed = u->allowed && !gp_kernels_held(u->module, u->is_library);
    if (u->allowed)
        gp_kernels_forget(u->module, u->is_library);
    if (!u->allowed)
        gp_say_limited(
            &once, 1,
            "modules that are unloaded while a kernel does not end, or a driver call of another "
            "thread does not return, stay loaded: CUPTI holds their code");
    gp_module_unloading(u->module);
    gp_gate_unlock_queued(locked);
}

/* A module or library is about to be unloaded: its variables go, and its functions' handles become
 * others'. False where these must not, as CUPTI has something of them: then it is to stay. */
static bool may_unload(const void *module, bool is_library)
{
    struct unloading u = {module, is_library, true};
    gp_run_internal_work(forget_module, &u);
    return u.allowed;
}

/* The driver's work may wait for the GPU, and is done with the gate unlocked. */
#define UNLOADS(symbol, type, is_library)         \
    GP_EXPORT CUresult symbol(type handle)        \
    {                                             \
        GP_FORWARD_UNLESS_OURS(symbol, handle);   \
        if (!may_unload(handle, is_library))      \
            return CUDA_SUCCESS;                  \
        gp_gate_enter();                          \
        CUresult result = gp_cuda.symbol(handle); \
        gp_gate_leave();                          \
        return result;                            \
    }
UNLOADS(cuModuleUnload, CUmodule, false)
UNLOADS(cuLibraryUnload, CUlibrary, true)

/* ---- contexts that go ------------------------------------------------------------------------ */

/* A context is about to be destroyed (NULL: one that we never saw): stops collecting in it, frees
 * our memory in it. */
static void leave_context(void *context)
{
    gp_gate_queue();
    bool locked = (gp_context_is_known(context) || gp_any_held()) && gp_gate_lock_queued_in_time();
    if (context) {
        gp_copies_leave(context);
        gp_graphs_forget_context(context);
        gp_graph_streams_leave(context);
        gp_timed_leave(context);
        gp_context_leave(context);
    }
    /* Launches that are held in other contexts need their kernels, and their memory. */
    if (context && locked)
        gp_captures_are_going(context, true);
    gp_contexts_before_change(&(struct gp_program_change){.context = context}, locked, false);
    if (context && locked)
        gp_captures_are_going(context, false); /* the driver may refuse, or others have it */
    if (context)
        gp_kernels_forget_context(context);
    else
        gp_kernels_forget(NULL, false);
    gp_gate_unlock_queued(locked);
}

/* The device's primary context, which is about to go; NULL where we never saw it. */
static CUcontext leave_primary(CUdevice device)
{
    gp_internal_work_begins();
    CUcontext primary = gp_context_primary(device);
    gp_internal_work_ends();
    gp_run_internal_work(leave_context, primary);
    return primary;
}

static void forget_context(CUcontext context)
{
    gp_memory_forget_context(context);
    gp_captures_forget_context(context);
}

/* A context that goes takes its buffers, its modules and our own things in it with it. */
#define DESTROYS_CONTEXT(symbol)                  \
    GP_EXPORT CUresult symbol(CUcontext ctx)      \
    {                                             \
        GP_FORWARD_UNLESS_OURS(symbol, ctx);      \
        gp_run_internal_work(leave_context, ctx); \
        gp_gate_enter();                          \
        gp_memory_context_going(ctx);             \
        CUresult result = gp_cuda.symbol(ctx);    \
        if (result == CUDA_SUCCESS)               \
            forget_context(ctx);                  \
        gp_gate_leave();                          \
        return result;                            \
    }
DESTROYS_CONTEXT(cuCtxDestroy)
DESTROYS_CONTEXT(cuCtxDestroy_v2)
/* It has one user, and that one goes: where there were more, replay is barred. */
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
        gp_run_internal_work(leave_context, context);
    gp_gate_enter();
    CUresult result = gp_cuda.cuGreenCtxDestroy(hCtx);
    if (result == CUDA_SUCCESS && context) {
        gp_captures_forget_context(context);
        gp_peers_forget(context); /* the driver does not bear to be asked for it */
    }
    gp_gate_leave();
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
        CUcontext primary = leave_primary(dev);                                                    \
        gp_gate_enter();                                                                           \
        gp_memory_context_going(primary);                                                          \
        CUresult result = gp_cuda.symbol(dev);                                                     \
        unsigned flags;                                                                            \
        int active = 0;                                                                            \
        if (result == CUDA_SUCCESS && primary &&                                                   \
            (gp_cuda.cuDevicePrimaryCtxGetState(dev, &flags, &active) != CUDA_SUCCESS || !active)) \
            forget_context(primary);                                                               \
        gp_gate_leave();                                                                           \
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
