/* Calls we have no interest in, except that they must not run while a launch is being replayed:
 * their writes would be taken for the kernel's work and undone. Calls whose success means that
 * kernels can from now on write memory that we cannot save. And calls that have waited for
 * launches. */
#include "gate/blocking.h"
#include "hook/entry.h"
#include "hook/writers.h"
#include "launch/copies.h"
#include "launch/host_calls.h"
#include "launch/timed.h"
#include "memory/buffers.h"

#include <string.h>

/* `note`: before the call enters the gate. */
#define WRITES(base, version, suffix, symbol, parameters, arguments, note) \
    GP_EXPORT CUresult symbol parameters                                   \
    {                                                                      \
        GP_FORWARD(symbol, arguments);                                     \
        note;                                                              \
        gp_gate_enter_cancellable();                                       \
        CUresult result = gp_cuda.symbol arguments;                        \
        gp_gate_leave_cancellable();                                       \
        return result;                                                     \
    }
#define GATE(base, version, suffix, symbol, parameters, arguments) \
    WRITES(base, version, suffix, symbol, parameters, arguments, (void)0)

#define HOLDS(base, version, suffix, symbol, parameters, arguments) \
    GP_EXPORT CUresult symbol parameters                            \
    {                                                               \
        GP_FORWARD(symbol, arguments);                              \
        gp_gate_enter_cancellable();                                \
        gp_blocking_noted(GP_MAY_HOLD);                             \
        CUresult result = gp_cuda.symbol arguments;                 \
        gp_blocking_noted(GP_MAY_HOLD);                             \
        gp_gate_leave_cancellable();                                \
        return result;                                              \
    }

#define WAITS(base, version, suffix, symbol, parameters, arguments) \
    GP_EXPORT CUresult symbol parameters                            \
    {                                                               \
        GP_FORWARD(symbol, arguments);                              \
        struct gp_host_call wait = gp_host_call_begins();           \
        CUresult result = gp_cuda.symbol arguments;                 \
        gp_host_call_ends(&wait, GP_HOST_WAIT, 0, result);          \
        gp_timed_waited();                                          \
        gp_detach_at_rest();                                        \
        return result;                                              \
    }

#define FIRST_OF(first, ...) (first)
#define SECOND_OF(...) SECOND_OF_THREE(__VA_ARGS__, 0, 0)
#define SECOND_OF_THREE(first, second, ...) (second)

/* The host waits for copies of its memory whose base is not ...Async. The addresses of those of
 * strided memory stand in a struct. */
static bool host_waits(const char *base, enum gp_copy_kind kind, CUdeviceptr to, CUdeviceptr from)
{
    return !strstr(base, "Async") && (kind != GP_COPY_BY_ADDRESS || strcmp(base, "Memcpy") == 0) &&
           gp_host_waits_for(kind, to, from);
}

/* A copy's time on the GPU is taken where the user has asked for it. */
#define COPY(base, version, suffix, symbol, parameters, arguments, kind, bytes, stream) \
    GP_EXPORT CUresult symbol parameters                                                \
    {                                                                                   \
        GP_FORWARD(symbol, arguments);                                                  \
        GP_COPIES(FIRST_OF arguments, SECOND_OF arguments, bytes, stream);              \
        gp_gate_enter_cancellable();                                                    \
        struct gp_copy copy;                                                            \
        bool seen = gp_copies_wanted() && gp_copy_begins(&copy, kind, bytes, stream);   \
        struct gp_host_call wait = {0};                                                 \
        if (host_waits(#base, kind, (CUdeviceptr)(FIRST_OF arguments),                  \
                       (CUdeviceptr)(SECOND_OF arguments)))                             \
            wait = gp_host_call_begins();                                               \
        CUresult result = gp_cuda.symbol arguments;                                     \
        gp_host_call_ends(&wait, GP_HOST_COPY, bytes, result);                          \
        if (seen)                                                                       \
            gp_copy_ends(&copy, result);                                                \
        gp_launch_after_write();                                                        \
        gp_gate_leave_cancellable();                                                    \
        gp_timed_waited(); /* it may have waited */                                     \
        gp_detach_at_rest();                                                            \
        return result;                                                                  \
    }

#define BARS(base, version, suffix, symbol, parameters, arguments, why) \
    GP_GATED_CHANGE(symbol, parameters, arguments, GP_IF_DONE(gp_memory_bar_replay(why)))
#include "cuda/functions.def"
