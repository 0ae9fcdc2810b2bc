#include "cuda/wait.h"

#include "base/clock.h"

#include <math.h>
#include <sched.h>
#include <time.h>

/* Most kernels end within this time; only for longer ones is it worth going to sleep. */
#define SPIN_SECONDS 1e-3

static CUresult wait_awake(CUevent event, double seconds)
{
    const struct gp_spin spin = gp_spin_begins();
    CUresult result;
    while ((result = gp_cuda.cuEventQuery(event)) == CUDA_ERROR_NOT_READY &&
           !gp_spin_is_over(&spin, seconds))
        sched_yield();
    return result;
}

CUresult gp_wait_for_event(CUevent event, double seconds)
{
    const struct timespec nap = {.tv_nsec = 200000};
    double start = gp_clock_seconds();
    CUresult result = wait_awake(event, fmin(seconds, SPIN_SECONDS));
    while (result == CUDA_ERROR_NOT_READY && gp_clock_seconds() - start < seconds) {
        nanosleep(&nap, NULL);
        result = gp_cuda.cuEventQuery(event);
    }
    return result;
}

CUresult gp_wait_for_context(CUcontext context, CUevent event, double seconds)
{
    /* Older drivers can only be waited for without a limit. */
    if (!gp_cuda.cuCtxRecordEvent)
        return gp_cuda.cuCtxSynchronize();
    CUresult result = gp_cuda.cuCtxRecordEvent(context, event);
    return result == CUDA_SUCCESS ? gp_wait_for_event(event, seconds) : result;
}
