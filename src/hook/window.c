/* The program's calls around the part of it that is to be measured: cudaProfilerStart and
 * cudaProfilerStop of the runtime come to these. */
#include "launch/window.h"
#include "hook/entry.h"

GP_EXPORT CUresult cuProfilerStart(void)
{
    GP_FORWARD(cuProfilerStart, ());
    gp_window_opens();
    return gp_cuda.cuProfilerStart();
}

GP_EXPORT CUresult cuProfilerStop(void)
{
    GP_FORWARD(cuProfilerStop, ());
    gp_window_closes();
    return gp_cuda.cuProfilerStop();
}
