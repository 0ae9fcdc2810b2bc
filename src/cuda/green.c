#include "cuda/green.h"

#include <stdatomic.h>

static atomic_bool made;

void gp_green_context_made(void)
{
    atomic_store(&made, true);
}

bool gp_green_context_was_made(void)
{
    return atomic_load_explicit(&made, memory_order_relaxed);
}

bool gp_stream_is_green(CUstream stream)
{
    CUgreenCtx green = NULL;
    /* Which default stream it is the driver does not want to know here. */
    if (stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        stream = NULL;
    return gp_cuda.cuStreamGetGreenCtx &&
           gp_cuda.cuStreamGetGreenCtx(stream, &green) == CUDA_SUCCESS && green;
}

static CUcontext primary_context(void)
{
    CUcontext primary = NULL;
    CUdevice device;
    if (gp_cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        gp_cuda.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS)
        return NULL;
    if (gp_cuda.cuDevicePrimaryCtxRelease_v2)
        gp_cuda.cuDevicePrimaryCtxRelease_v2(device);
    return primary;
}

CUcontext gp_owning_context(void)
{
    CUcontext current = NULL, primary;
    if (gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)
        return NULL;
    /* Where there is none the driver is not asked for the default stream: memory is allocated in
     * the middle of captures, too. */
    if (!gp_green_context_was_made() || !gp_stream_is_green(NULL))
        return current;
    primary = primary_context();
    return primary ? primary : current;
}

CUcontext gp_working_context(CUstream stream)
{
    CUcontext context = NULL;
    if (gp_stream_is_default(stream))
        return gp_owning_context();
    if (gp_green_context_was_made() && gp_stream_is_green(stream))
        return primary_context();
    if (gp_cuda.cuStreamGetCtx && gp_cuda.cuStreamGetCtx(stream, &context) == CUDA_SUCCESS)
        return context;
    return gp_owning_context();
}
