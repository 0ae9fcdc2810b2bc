/*
 * The exported functions that take a stream or work on stream 0, all of which exist twice. This
 * file is included once with PER_THREAD 0 and once with 1; SYNC and ASYNC then give the names their
 * suffix: _ptds for calls that wait, _ptsz for calls that take a stream.
 */
#if PER_THREAD
#define SYNC(name) name##_ptds
#define ASYNC(name) name##_ptsz
#else
#define SYNC(name) name
#define ASYNC(name) name
#endif

/* ---- launches ---- */

CUresult ASYNC(cuLaunchKernel)(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                               unsigned int gridDimZ, unsigned int blockDimX,
                               unsigned int blockDimY, unsigned int blockDimZ,
                               unsigned int sharedMemBytes, CUstream hStream, void **kernelParams,
                               void **extra)
{
    struct launch_call call = {.function = f,
                               .grid = {gridDimX, gridDimY, gridDimZ},
                               .block = {blockDimX, blockDimY, blockDimZ},
                               .shared = sharedMemBytes,
                               .stream = hStream,
                               .params = kernelParams,
                               .extra = extra};

    return launch(&call, PER_THREAD);
}

CUresult ASYNC(cuLaunchKernelEx)(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                                 void **extra)
{
    struct launch_call call = {.function = f, .params = kernelParams, .extra = extra};

    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    call.grid = (struct gpusim_dim){config->gridDimX, config->gridDimY, config->gridDimZ};
    call.block = (struct gpusim_dim){config->blockDimX, config->blockDimY, config->blockDimZ};
    call.shared = config->sharedMemBytes;
    call.stream = config->hStream;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            call.cooperative = config->attrs[i].value.cooperative != 0;
    return launch(&call, PER_THREAD);
}

CUresult ASYNC(cuLaunchCooperativeKernel)(CUfunction f, unsigned int gridDimX,
                                          unsigned int gridDimY, unsigned int gridDimZ,
                                          unsigned int blockDimX, unsigned int blockDimY,
                                          unsigned int blockDimZ, unsigned int sharedMemBytes,
                                          CUstream hStream, void **kernelParams)
{
    struct launch_call call = {.function = f,
                               .grid = {gridDimX, gridDimY, gridDimZ},
                               .block = {blockDimX, blockDimY, blockDimZ},
                               .shared = sharedMemBytes,
                               .stream = hStream,
                               .params = kernelParams,
                               .cooperative = true};

    return launch(&call, PER_THREAD);
}

CUresult ASYNC(cuLaunchHostFunc)(CUstream hStream, CUhostFn fn, void *userData)
{
    struct gpusim_work work = {.kind = GPUSIM_HOST_CALL,
                               .host = {.function = fn, .data = userData}};

    if (!fn)
        return CUDA_ERROR_INVALID_VALUE;
    return gpusim_do(hStream, PER_THREAD, &work, GPUSIM_RETURN_AT_ONCE);
}

/* ---- copies ---- */

CUresult SYNC(cuMemcpy)(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return copy_bytes(dst, ANYWHERE, src, ANYWHERE, ByteCount, NULL, PER_THREAD, true);
}

CUresult ASYNC(cuMemcpyAsync)(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return copy_bytes(dst, ANYWHERE, src, ANYWHERE, ByteCount, hStream, PER_THREAD, false);
}

CUresult SYNC(cuMemcpyHtoD_v2)(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return copy_bytes(dstDevice, DEVICE, (uintptr_t)srcHost, ANYWHERE, ByteCount, NULL, PER_THREAD,
                      true);
}

CUresult ASYNC(cuMemcpyHtoDAsync_v2)(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                     CUstream hStream)
{
    return copy_bytes(dstDevice, DEVICE, (uintptr_t)srcHost, ANYWHERE, ByteCount, hStream,
                      PER_THREAD, false);
}

CUresult SYNC(cuMemcpyDtoH_v2)(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_bytes((uintptr_t)dstHost, ANYWHERE, srcDevice, DEVICE, ByteCount, NULL, PER_THREAD,
                      true);
}

CUresult ASYNC(cuMemcpyDtoHAsync_v2)(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                     CUstream hStream)
{
    return copy_bytes((uintptr_t)dstHost, ANYWHERE, srcDevice, DEVICE, ByteCount, hStream,
                      PER_THREAD, false);
}

CUresult SYNC(cuMemcpyDtoD_v2)(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_bytes(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, NULL, PER_THREAD, true);
}

CUresult ASYNC(cuMemcpyDtoDAsync_v2)(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                     CUstream hStream)
{
    return copy_bytes(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, hStream, PER_THREAD, false);
}

CUresult SYNC(cuMemcpyPeer)(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                            CUcontext srcContext, size_t ByteCount)
{
    (void)dstContext;
    (void)srcContext;
    return copy_bytes(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, NULL, PER_THREAD, true);
}

CUresult ASYNC(cuMemcpyPeerAsync)(CUdeviceptr dstDevice, CUcontext dstContext,
                                  CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
                                  CUstream hStream)
{
    (void)dstContext;
    (void)srcContext;
    return copy_bytes(dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, hStream, PER_THREAD, false);
}

CUresult SYNC(cuMemcpy2D_v2)(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, PER_THREAD, true);
}

CUresult SYNC(cuMemcpy2DUnaligned_v2)(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, PER_THREAD, true);
}

CUresult ASYNC(cuMemcpy2DAsync_v2)(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return copy_2d(pCopy, hStream, PER_THREAD, false);
}

CUresult SYNC(cuMemcpy3D_v2)(const CUDA_MEMCPY3D *pCopy)
{
    return copy_3d(pCopy, NULL, PER_THREAD, true);
}

CUresult ASYNC(cuMemcpy3DAsync_v2)(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return copy_3d(pCopy, hStream, PER_THREAD, false);
}

CUresult ASYNC(cuMemcpyBatchAsync)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                   size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                                   size_t numAttrs, size_t *failIdx, CUstream hStream)
{
    if (!attrs || !attrsIdxs || numAttrs == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return copy_batch(dsts, srcs, sizes, count, failIdx, hStream, PER_THREAD);
}

CUresult ASYNC(cuMemcpyBatchAsync_v2)(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                      size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs,
                                      size_t numAttrs, CUstream hStream)
{
    if (!attrs || !attrsIdxs || numAttrs == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return copy_batch(dsts, srcs, sizes, count, NULL, hStream, PER_THREAD);
}

/* ---- fills ---- */

CUresult SYNC(cuMemsetD8_v2)(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    return fill(dstDevice, 0, 1, uc, N, 1, NULL, PER_THREAD, true);
}

CUresult SYNC(cuMemsetD16_v2)(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    return fill(dstDevice, 0, 2, us, N, 1, NULL, PER_THREAD, true);
}

CUresult SYNC(cuMemsetD32_v2)(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    return fill(dstDevice, 0, 4, ui, N, 1, NULL, PER_THREAD, true);
}

CUresult SYNC(cuMemsetD2D8_v2)(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                               size_t Width, size_t Height)
{
    return fill(dstDevice, dstPitch, 1, uc, Width, Height, NULL, PER_THREAD, true);
}

CUresult SYNC(cuMemsetD2D16_v2)(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                                size_t Width, size_t Height)
{
    return fill(dstDevice, dstPitch, 2, us, Width, Height, NULL, PER_THREAD, true);
}

CUresult SYNC(cuMemsetD2D32_v2)(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                                size_t Width, size_t Height)
{
    return fill(dstDevice, dstPitch, 4, ui, Width, Height, NULL, PER_THREAD, true);
}

CUresult ASYNC(cuMemsetD8Async)(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
    return fill(dstDevice, 0, 1, uc, N, 1, hStream, PER_THREAD, false);
}

CUresult ASYNC(cuMemsetD16Async)(CUdeviceptr dstDevice, unsigned short us, size_t N,
                                 CUstream hStream)
{
    return fill(dstDevice, 0, 2, us, N, 1, hStream, PER_THREAD, false);
}

CUresult ASYNC(cuMemsetD32Async)(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
    return fill(dstDevice, 0, 4, ui, N, 1, hStream, PER_THREAD, false);
}

CUresult ASYNC(cuMemsetD2D8Async)(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                                  size_t Width, size_t Height, CUstream hStream)
{
    return fill(dstDevice, dstPitch, 1, uc, Width, Height, hStream, PER_THREAD, false);
}

CUresult ASYNC(cuMemsetD2D16Async)(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                                   size_t Width, size_t Height, CUstream hStream)
{
    return fill(dstDevice, dstPitch, 2, us, Width, Height, hStream, PER_THREAD, false);
}

CUresult ASYNC(cuMemsetD2D32Async)(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                                   size_t Width, size_t Height, CUstream hStream)
{
    return fill(dstDevice, dstPitch, 4, ui, Width, Height, hStream, PER_THREAD, false);
}

/* ---- memory in stream order ---- */

CUresult ASYNC(cuMemAllocAsync)(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    CUmemoryPool pool;
    CUdevice device;
    CUresult result = cuCtxGetDevice(&device);

    if (result == CUDA_SUCCESS)
        result = cuDeviceGetMemPool(&pool, device);
    return result == CUDA_SUCCESS ? allocate_async(dptr, bytesize, pool, hStream, PER_THREAD)
                                  : result;
}

CUresult ASYNC(cuMemAllocFromPoolAsync)(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
                                        CUstream hStream)
{
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate_async(dptr, bytesize, pool, hStream, PER_THREAD);
}

CUresult ASYNC(cuMemFreeAsync)(CUdeviceptr dptr, CUstream hStream)
{
    return free_async(dptr, hStream, PER_THREAD);
}

/* ---- streams and events ---- */

CUresult ASYNC(cuStreamSynchronize)(CUstream hStream)
{
    return stream_synchronize(hStream, PER_THREAD);
}

CUresult ASYNC(cuStreamQuery)(CUstream hStream)
{
    return stream_query(hStream, PER_THREAD);
}

CUresult ASYNC(cuStreamWaitEvent)(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    return stream_wait_event(hStream, hEvent, Flags, PER_THREAD);
}

CUresult ASYNC(cuStreamAddCallback)(CUstream hStream, CUstreamCallback callback, void *userData,
                                    unsigned int flags)
{
    struct gpusim_work work = {.kind = GPUSIM_HOST_CALL,
                               .host = {.callback = callback, .data = userData, .stream = hStream}};

    if (!callback || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return gpusim_do(hStream, PER_THREAD, &work, GPUSIM_RETURN_AT_ONCE);
}

CUresult ASYNC(cuStreamGetFlags)(CUstream hStream, unsigned int *flags)
{
    struct stream_facts facts;
    CUresult result = flags ? facts_of(hStream, PER_THREAD, &facts) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *flags = facts.flags;
    return result;
}

CUresult ASYNC(cuStreamGetPriority)(CUstream hStream, int *priority)
{
    struct stream_facts facts;
    CUresult result = priority ? facts_of(hStream, PER_THREAD, &facts) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *priority = facts.priority;
    return result;
}

CUresult ASYNC(cuStreamGetId)(CUstream hStream, unsigned long long *streamId)
{
    struct stream_facts facts;
    CUresult result = streamId ? facts_of(hStream, PER_THREAD, &facts) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *streamId = facts.id;
    return result;
}

CUresult ASYNC(cuStreamGetCtx)(CUstream hStream, CUcontext *pctx)
{
    struct stream_facts facts;
    CUresult result = pctx ? facts_of(hStream, PER_THREAD, &facts) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *pctx = facts.context;
    return result;
}

CUresult ASYNC(cuStreamGetCtx_v2)(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx)
{
    struct stream_facts facts;
    CUresult result = pCtx ? facts_of(hStream, PER_THREAD, &facts) : CUDA_ERROR_INVALID_VALUE;

    if (result != CUDA_SUCCESS)
        return result;
    *pCtx = facts.context;
    if (pGreenCtx)
        *pGreenCtx = NULL;
    return CUDA_SUCCESS;
}

CUresult ASYNC(cuStreamGetDevice)(CUstream hStream, CUdevice *device)
{
    struct stream_facts facts;
    CUresult result = device ? facts_of(hStream, PER_THREAD, &facts) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *device = facts.context->device->ordinal;
    return result;
}

CUresult ASYNC(cuStreamAttachMemAsync)(CUstream hStream, CUdeviceptr dptr, size_t length,
                                       unsigned int flags)
{
    struct gpusim_work work = {.kind = GPUSIM_MARK};
    struct gpusim_range range;

    (void)length;
    (void)flags;
    if (!gpusim_memory_find(dptr, &range) || range.kind != GPUSIM_MANAGED_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    return gpusim_do(hStream, PER_THREAD, &work, GPUSIM_RETURN_AT_ONCE);
}

CUresult ASYNC(cuEventRecord)(CUevent hEvent, CUstream hStream)
{
    return event_record(hEvent, hStream, 0, PER_THREAD);
}

CUresult ASYNC(cuEventRecordWithFlags)(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    return event_record(hEvent, hStream, flags, PER_THREAD);
}

CUresult ASYNC(cuStreamWriteValue32_v2)(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                        unsigned int flags)
{
    struct gpusim_work work = {.kind = GPUSIM_WRITE_VALUE,
                               .value = {addr, value, sizeof(value), flags}};

    return gpusim_do(stream, PER_THREAD, &work, GPUSIM_RETURN_AT_ONCE);
}

CUresult ASYNC(cuStreamWriteValue64_v2)(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                        unsigned int flags)
{
    struct gpusim_work work = {.kind = GPUSIM_WRITE_VALUE,
                               .value = {addr, value, sizeof(value), flags}};

    return gpusim_do(stream, PER_THREAD, &work, GPUSIM_RETURN_AT_ONCE);
}

CUresult ASYNC(cuStreamWaitValue32_v2)(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                       unsigned int flags)
{
    struct gpusim_work work = {.kind = GPUSIM_WAIT_VALUE,
                               .value = {addr, value, sizeof(value), flags}};

    return gpusim_do(stream, PER_THREAD, &work, GPUSIM_RETURN_AT_ONCE);
}

CUresult ASYNC(cuStreamWaitValue64_v2)(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                       unsigned int flags)
{
    struct gpusim_work work = {.kind = GPUSIM_WAIT_VALUE,
                               .value = {addr, value, sizeof(value), flags}};

    return gpusim_do(stream, PER_THREAD, &work, GPUSIM_RETURN_AT_ONCE);
}

/* ---- capture and graphs ---- */

CUresult ASYNC(cuStreamBeginCapture_v2)(CUstream hStream, CUstreamCaptureMode mode)
{
    return gpusim_capture_begin(hStream, PER_THREAD, mode);
}

CUresult ASYNC(cuStreamEndCapture)(CUstream hStream, CUgraph *phGraph)
{
    return gpusim_capture_end(hStream, PER_THREAD, phGraph);
}

CUresult ASYNC(cuStreamIsCapturing)(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    struct gpusim_capture_facts facts;
    CUresult result =
        captureStatus ? gpusim_capture_info(hStream, PER_THREAD, &facts) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *captureStatus = facts.status;
    return result;
}

CUresult ASYNC(cuStreamGetCaptureInfo)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                       cuuint64_t *id_out)
{
    struct gpusim_capture_facts facts;
    CUresult result = captureStatus_out ? gpusim_capture_info(hStream, PER_THREAD, &facts)
                                        : CUDA_ERROR_INVALID_VALUE;

    if (result != CUDA_SUCCESS)
        return result;
    *captureStatus_out = facts.status;
    if (id_out && facts.status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *id_out = facts.id;
    return CUDA_SUCCESS;
}

CUresult ASYNC(cuStreamGetCaptureInfo_v2)(CUstream hStream,
                                          CUstreamCaptureStatus *captureStatus_out,
                                          cuuint64_t *id_out, CUgraph *graph_out,
                                          const CUgraphNode **dependencies_out,
                                          size_t *numDependencies_out)
{
    return capture_info(hStream, PER_THREAD, captureStatus_out, id_out, graph_out, dependencies_out,
                        numDependencies_out);
}

CUresult ASYNC(cuStreamGetCaptureInfo_v3)(CUstream hStream,
                                          CUstreamCaptureStatus *captureStatus_out,
                                          cuuint64_t *id_out, CUgraph *graph_out,
                                          const CUgraphNode **dependencies_out,
                                          const CUgraphEdgeData **edgeData_out,
                                          size_t *numDependencies_out)
{
    if (edgeData_out)
        *edgeData_out = NULL;
    return capture_info(hStream, PER_THREAD, captureStatus_out, id_out, graph_out, dependencies_out,
                        numDependencies_out);
}

CUresult ASYNC(cuGraphInstantiateWithParams)(CUgraphExec *phGraphExec, CUgraph hGraph,
                                             CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    CUresult result;

    if (!instantiateParams)
        return CUDA_ERROR_INVALID_VALUE;
    result = gpusim_graph_instantiate(phGraphExec, hGraph);
    instantiateParams->hErrNode_out = NULL;
    instantiateParams->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult ASYNC(cuGraphLaunch)(CUgraphExec hGraphExec, CUstream hStream)
{
    return gpusim_graph_launch(hGraphExec, hStream, PER_THREAD);
}

CUresult ASYNC(cuGraphUpload)(CUgraphExec hGraphExec, CUstream hStream)
{
    struct gpusim_work work = {.kind = GPUSIM_MARK};

    if (!hGraphExec)
        return CUDA_ERROR_INVALID_VALUE;
    return gpusim_do(hStream, PER_THREAD, &work, GPUSIM_RETURN_AT_ONCE);
}

#undef SYNC
#undef ASYNC
