/* Forms of functions that newer headers no longer declare but drivers still export. */
#include "driver/capture.h"
#include "driver/context.h"
#include "driver/memory.h"
#include "driver/queue.h"

CUresult cuCtxDestroy(CUcontext ctx)
{
    return gpusim_context_destroy(ctx);
}

/* Nobody else uses it: cuCtxAttach is not there. */
CUresult cuCtxDetach(CUcontext ctx)
{
    return gpusim_context_destroy(ctx);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return gpusim_primary_release(dev);
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
    return gpusim_primary_reset(dev);
}

CUresult cuMemAllocHost(void **pp, unsigned int bytesize)
{
    return cuMemAllocHost_v2(pp, bytesize);
}

CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    return gpusim_host_register(p, bytesize, Flags);
}

CUresult cuStreamBeginCapture(CUstream hStream)
{
    return gpusim_capture_begin(hStream, false, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCapture_ptsz(CUstream hStream)
{
    return gpusim_capture_begin(hStream, true, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

/* ---- another device's memory: every device here sees it anyway ---- */

CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    if (!peerContext || peerContext == context || !gpusim_context_alive(peerContext))
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (peerContext->device == context->device)
        result = CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}
