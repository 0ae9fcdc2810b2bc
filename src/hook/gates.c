/* Calls we have no interest in, except that they must not run while a launch is being replayed:
 * their writes would be taken for the kernel's work and undone. And calls whose success means that
 * kernels can from now on write memory that we cannot save. */
#include "hook/entry.h"
#include "launch/copies.h"
#include "memory/buffers.h"

#define GATE(base, version, suffix, symbol, parameters, arguments) \
    GP_EXPORT CUresult symbol parameters                           \
    {                                                              \
        GP_FORWARD(symbol, arguments);                             \
        gp_gate_pass();                                            \
        CUresult result = gp_cuda.symbol arguments;                \
        gp_gate_passed();                                          \
        return result;                                             \
    }

/* The same, and the time that the copy takes is taken where the user has asked for it. */
#define COPY(base, version, suffix, symbol, parameters, arguments, kind, bytes, stream) \
    GP_EXPORT CUresult symbol parameters                                                \
    {                                                                                   \
        GP_FORWARD(symbol, arguments);                                                  \
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
