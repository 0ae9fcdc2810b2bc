/* hook/: which call is this? The exported wrappers of the driver's functions, each a few lines:
 * call the real function, report to launch/, graph/ or memory/. Owns the wrappers and the
 * trampoline.
 *
 * A wrapper regards only calls that come from the program: not at those made while we ourselves
 * are at work in the same thread, nor in a forked child, where CUDA is of no use and our locks may
 * be held by threads that do not exist. */
#ifndef GPUPROF_HOOK_ENTRY_H
#define GPUPROF_HOOK_ENTRY_H

#include "base/added_time.h"
#include "cuda/driver.h"
#include "gate/gate.h"
#include "launch/launch.h"
#include "launch/session.h"

#define GP_EXPORT __attribute__((visibility("default")))

/* The real function of that name, NULL where the driver has none or is not loaded; once found it is
 * not asked for again. Our exports make optional functions seem present; calling one then answers
 * CUDA_ERROR_NOT_FOUND. */
#define GP_REAL(symbol) (gp_cuda.symbol || gp_driver_find() ? gp_cuda.symbol : NULL)

/* First lines of a wrapper: forwards calls that are not the program's. `arguments` in parentheses.
 */
#define GP_FORWARD(symbol, arguments)        \
    do {                                     \
        if (!GP_REAL(symbol))                \
            return CUDA_ERROR_NOT_FOUND;     \
        if (!gp_session_observes())          \
            return gp_cuda.symbol arguments; \
    } while (0)
#define GP_FORWARD_UNLESS_OURS(symbol, ...) GP_FORWARD(symbol, (__VA_ARGS__))

/* Our work before or after a call counts as time that we add. */
#define GP_COUNTED(action) \
    do {                   \
        gp_added_begins(); \
        action;            \
        gp_added_ends();   \
    } while (0)

/* A wrapper of a call that enters the gate, and the work after it, before replays go on.
 * `parameters` and `arguments` in parentheses; `after` may read `result`. */
#define GP_GATED(symbol, parameters, arguments, after) \
    GP_EXPORT CUresult symbol parameters               \
    {                                                  \
        GP_FORWARD(symbol, arguments);                 \
        gp_gate_enter();                               \
        CUresult result = gp_cuda.symbol arguments;    \
        GP_COUNTED(after);                             \
        gp_gate_leave();                               \
        return result;                                 \
    }
/* A wrapper like GP_GATED's, of a call after which launches that are held could not be replayed any
 * more. */
#define GP_GATED_CHANGE(symbol, parameters, arguments, after) \
    GP_EXPORT CUresult symbol parameters                      \
    {                                                         \
        GP_FORWARD(symbol, arguments);                        \
        gp_launch_enter_before_change();                      \
        CUresult result = gp_cuda.symbol arguments;           \
        GP_COUNTED(after);                                    \
        gp_gate_leave();                                      \
        return result;                                        \
    }
#define GP_IF_DONE(action)          \
    do {                            \
        if (result == CUDA_SUCCESS) \
            action;                 \
    } while (0)

#endif
