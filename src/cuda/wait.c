#include "cuda/wait.h"

#include "base/clock.h"

#include <sched.h>
#include <time.h>

/* Most kernels end within this time; only for longer ones is it worth going to sleep. */
#define SPIN_SECONDS 1e-3

CUresult gp_stream_query(CUstream stream, bool per_thread)
{
    return per_thread ? gp_cuda.cuStreamQuery_ptsz(stream) : gp_cuda.cuStreamQuery(stream);
}

CUresult gp_wait_for_event(CUevent event, double seconds)
{
    const struct timespec nap = {.tv_nsec = 200000};
    const struct gp_spin spin = gp_spin_begins();
    for (;;) {
        CUresult result = gp_cuda.cuEventQuery(event);
        double waited = gp_clock_seconds() - spin.began;
        bool over = seconds > SPIN_SECONDS ? waited > seconds : gp_spin_is_over(&spin, seconds);
        if (result != CUDA_ERROR_NOT_READY || over)
            return result;
        if (waited < SPIN_SECONDS)
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
