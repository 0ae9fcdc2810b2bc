#include "cuda/wait.h"

#include "base/clock.h"

#include <sched.h>
#include <time.h>

CUresult gp_wait_for_event(CUevent event, double seconds)
{
    /* Most kernels end within a millisecond; only for longer ones is it worth going to sleep. */
    const double spin_seconds = 1e-3;
    const struct timespec nap = {.tv_nsec = 200000};
    double start = gp_clock_seconds();
    for (;;) {
        CUresult result = gp_cuda.cuEventQuery(event);
        double waited = gp_clock_seconds() - start;
        if (result != CUDA_ERROR_NOT_READY || waited > seconds)
            return result;
        if (waited < spin_seconds)
            sched_yield();
        else
            nanosleep(&nap, NULL);
    }
}

CUresult gp_wait_for_context(CUcontext context, CUevent event, double seconds)
{
    /* Older drivers can only be waited for without a limit. */
    if (!gp_cuda.cuCtxRecordEvent)
        return gp_cuda.cuCtxSynchronize();
    CUresult result = gp_cuda.cuCtxRecordEvent(context, event);
    return result == CUDA_SUCCESS ? gp_wait_for_event(event, seconds) : result;
}
