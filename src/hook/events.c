/* The program's calls that read a time: an autotuner is known by them. */
#include "hook/entry.h"

GP_EXPORT CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
    GP_FORWARD(cuEventElapsedTime, (ms, start, end));
    const CUresult result = gp_cuda.cuEventElapsedTime(ms, start, end);
    GP_IF_DONE(gp_time_was_read());
    return result;
}

#if CUDA_VERSION >= 12080
GP_EXPORT CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    GP_FORWARD(cuEventElapsedTime_v2, (ms, start, end));
    const CUresult result = gp_cuda.cuEventElapsedTime_v2(ms, start, end);
    GP_IF_DONE(gp_time_was_read());
    return result;
}
#endif
