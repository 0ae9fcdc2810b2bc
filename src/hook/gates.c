/* Calls we have no interest in, except that they must not run while a launch is being replayed:
 * their writes would be taken for the kernel's work and undone. And calls whose success means that
 * kernels can from now on write memory that we cannot save. */
#include "cuda/green.h"
#include "gate/captures.h"
#include "hook/entry.h"
#include "launch/copies.h"
#include "memory/buffers.h"
#include "memory/sharing.h"

#define GATE(base, version, suffix, symbol, parameters, arguments) \
    GP_EXPORT CUresult symbol parameters                           \
    {                                                              \
        GP_FORWARD(symbol, arguments);                             \
        gp_gate_pass();                                            \
        CUresult result = gp_cuda.symbol arguments;                \
        gp_gate_passed();                                          \
        return result;                                             \
    }

/* The address that a copy writes is its first argument; where it is none, it writes an array or the
 * host, or a structure tells. */
#define FIRST_OF(first, ...) (first)
#define ADDRESS_OF(first) _Generic((first), CUdeviceptr : (first), default : (CUdeviceptr)0)

/* Launches of a context are not replayed while another one copies into its memory. */
static void note_writer(CUdeviceptr to, CUstream stream)
{
    CUcontext owner = NULL;
    /* Of a stream that is being captured it is not to be asked whether it is green. */
    if (!to || (gp_green_context_was_made() && gp_captures() > 0))
        return;
    CUcontext by = gp_working_context(stream);
    gp_context_is_used(by);
    if (by && gp_several_contexts() &&
        gp_cuda.cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, to) == CUDA_SUCCESS &&
        owner && owner != by)
        gp_peer_copies(by, owner);
}

/* The same, and the time that the copy takes is taken where the user has asked for it. */
#define COPY(base, version, suffix, symbol, parameters, arguments, kind, bytes, stream) \
    GP_EXPORT CUresult symbol parameters                                                \
    {                                                                                   \
        GP_FORWARD(symbol, arguments);                                                  \
        note_writer(ADDRESS_OF(FIRST_OF arguments), stream);                            \
        gp_gate_pass();                                                                 \
        struct gp_copy copy;                                                            \
        bool seen = gp_copies_wanted() && gp_copy_begins(&copy, kind, bytes, stream);   \
        CUresult result = gp_cuda.symbol arguments;                                     \
        if (seen)                                                                       \
            gp_copy_ends(&copy, result);                                                \
        gp_gate_passed();                                                               \
        return result;                                                                  \
    }

#define BARS(base, version, suffix, symbol, parameters, arguments, why) \
    GP_GATED_CHANGE(symbol, parameters, arguments, GP_IF_DONE(gp_memory_bar_replay(why)))
#include "cuda/functions.def"
