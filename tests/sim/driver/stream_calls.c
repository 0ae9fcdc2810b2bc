/* The work of the exported functions of stream_calls.h, once they know which default stream they
 * mean. */
#include <stdlib.h>
#include <string.h>

#include "driver/capture.h"
#include "driver/faults.h"
#include "driver/launch_call.h"
#include "driver/memory.h"
#include "driver/queue.h"

/* ---- launches ---- */

static bool launches_serialized(CUcontext context)
{
    for (struct gpusim_watcher *w = context->watchers; w; w = w->next)
        if (w->serialize)
            return true;
    return false;
}

static CUresult launch(const struct launch_call *call, bool per_thread)
{
    struct gpusim_work work = {.kind = GPUSIM_LAUNCH};
    struct gpusim_task *task = NULL;
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUstream stream;

    if (result != CUDA_SUCCESS)
        return result;
    gpusim_watched_call();
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream(context, call->stream, per_thread, &result);
    if (stream)
        result = gpusim_launch_from_call(context, call, &work.launch);
    if (result == CUDA_SUCCESS && !stream->capture && gpusim_fault("slowhost"))
        gpusim_stream_wait(stream);
    if (result == CUDA_SUCCESS) {
        gpusim_stream_wait_for_room(stream);
        result = gpusim_submit(stream, &work, NULL, &task);
    }
    if (task && launches_serialized(context))
        gpusim_task_wait(task);
    gpusim_task_release(task);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

/* ---- copies ---- */

enum side { DEVICE, ANYWHERE };

/* Is this memory that only the host knows of? Copies from and to it cannot be left running. */
static bool pageable(uint64_t address)
{
    struct gpusim_range range;

    return !gpusim_memory_find(address, &range);
}

static bool on_host(uint64_t address)
{
    struct gpusim_range range;

    return !gpusim_memory_find(address, &range) ||
           (range.kind != GPUSIM_DEVICE_MEMORY && range.kind != GPUSIM_VARIABLE_MEMORY);
}

static CUresult copy(const struct gpusim_copy *c, CUstream stream, bool per_thread, bool sync)
{
    struct gpusim_work work = {.kind = GPUSIM_COPY, .copy = *c};
    enum gpusim_wait wait = GPUSIM_RETURN_AT_ONCE;

    if (sync && (on_host(c->source) || on_host(c->target)))
        wait = GPUSIM_WAIT;
    else if (!sync && (pageable(c->source) || pageable(c->target)))
        wait = GPUSIM_WAIT_IF_QUEUED;
    return gpusim_do(stream, per_thread, &work, wait);
}

static CUresult copy_bytes(uint64_t target, enum side target_side, uint64_t source,
                           enum side source_side, size_t bytes, CUstream stream, bool per_thread,
                           bool sync)
{
    struct gpusim_copy c = {.source = source,
                            .target = target,
                            .source_device = source_side == DEVICE,
                            .target_device = target_side == DEVICE,
                            .width = bytes,
                            .height = 1,
                            .depth = 1};

    return copy(&c, stream, per_thread, sync);
}

static CUresult side_of(CUmemorytype type, const void *host, CUdeviceptr device, uint64_t *address,
                        bool *on_device)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        *address = (uintptr_t)host;
        *on_device = false;
        return CUDA_SUCCESS;
    case CU_MEMORYTYPE_DEVICE:
        *address = device;
        *on_device = true;
        return CUDA_SUCCESS;
    case CU_MEMORYTYPE_UNIFIED:
        *address = device;
        *on_device = false;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED; /* arrays: the simulated GPU has no textures */
    }
}

CUresult gpusim_copy_read(const CUDA_MEMCPY3D *p, struct gpusim_copy *c)
{
    CUresult result;

    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    memset(c, 0, sizeof(*c));
    result = side_of(p->srcMemoryType, p->srcHost, p->srcDevice, &c->source, &c->source_device);
    if (result == CUDA_SUCCESS)
        result = side_of(p->dstMemoryType, p->dstHost, p->dstDevice, &c->target, &c->target_device);
    if (result != CUDA_SUCCESS)
        return result;
    c->source_type = p->srcMemoryType;
    c->target_type = p->dstMemoryType;
    c->width = p->WidthInBytes;
    c->height = p->Height;
    c->depth = p->Depth;
    c->source_pitch = p->srcPitch ? p->srcPitch : p->WidthInBytes;
    c->target_pitch = p->dstPitch ? p->dstPitch : p->WidthInBytes;
    if ((p->Height > 1 && (c->source_pitch < c->width || c->target_pitch < c->width)))
        return CUDA_ERROR_INVALID_VALUE;
    c->source_slice = c->source_pitch * (p->srcHeight ? p->srcHeight : p->Height);
    c->target_slice = c->target_pitch * (p->dstHeight ? p->dstHeight : p->Height);
    c->source += p->srcZ * c->source_slice + p->srcY * c->source_pitch + p->srcXInBytes;
    c->target += p->dstZ * c->target_slice + p->dstY * c->target_pitch + p->dstXInBytes;
    return CUDA_SUCCESS;
}

static CUresult copy_3d(const CUDA_MEMCPY3D *p, CUstream stream, bool per_thread, bool sync)
{
    struct gpusim_copy c;
    CUresult result = gpusim_copy_read(p, &c);

    return result == CUDA_SUCCESS ? copy(&c, stream, per_thread, sync) : result;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *p, CUstream stream, bool per_thread, bool sync)
{
    CUDA_MEMCPY3D as_3d = {0};

    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    as_3d.srcMemoryType = p->srcMemoryType;
    as_3d.srcHost = p->srcHost;
    as_3d.srcDevice = p->srcDevice;
    as_3d.srcPitch = p->srcPitch;
    as_3d.srcXInBytes = p->srcXInBytes;
    as_3d.srcY = p->srcY;
    as_3d.dstMemoryType = p->dstMemoryType;
    as_3d.dstHost = p->dstHost;
    as_3d.dstDevice = p->dstDevice;
    as_3d.dstPitch = p->dstPitch;
    as_3d.dstXInBytes = p->dstXInBytes;
    as_3d.dstY = p->dstY;
    as_3d.WidthInBytes = p->WidthInBytes;
    as_3d.Height = p->Height;
    as_3d.Depth = 1;
    return copy_3d(&as_3d, stream, per_thread, sync);
}

static CUresult copy_batch(const CUdeviceptr *dsts, const CUdeviceptr *srcs, const size_t *sizes,
                           size_t count, size_t *failed, CUstream stream, bool per_thread)
{
    if (!dsts || !srcs || !sizes || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (failed)
        *failed = SIZE_MAX;
    if (!stream)
        return CUDA_ERROR_INVALID_VALUE; /* stream 0 is not accepted here */
    for (size_t i = 0; i < count; i++) {
        CUresult result =
            copy_bytes(dsts[i], ANYWHERE, srcs[i], ANYWHERE, sizes[i], stream, per_thread, false);
        if (result != CUDA_SUCCESS) {
            if (failed)
                *failed = i;
            return result;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult fill(CUdeviceptr target, size_t pitch, unsigned size, uint32_t value, size_t width,
                     size_t height, CUstream stream, bool per_thread, bool sync)
{
    struct gpusim_work work = {.kind = GPUSIM_FILL,
                               .fill = {.target = target,
                                        .pitch = pitch,
                                        .width = width,
                                        .height = height,
                                        .size = size,
                                        .value = value}};
    /* Memory that the host can read is filled before the call returns. */
    bool wait = sync && on_host(target);

    return gpusim_do(stream, per_thread, &work, wait ? GPUSIM_WAIT : GPUSIM_RETURN_AT_ONCE);
}

/* ---- memory in stream order ---- */

/*
 * The address is good at once, earlier in the stream than on the real thing, where it is good for
 * work that follows in the stream; nobody may use it sooner.
 */
static CUresult allocate_async(CUdeviceptr *dptr, size_t bytes, CUmemoryPool pool, CUstream handle,
                               bool per_thread)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    uint64_t address = 0;
    CUstream stream;

    if (result != CUDA_SUCCESS)
        return result;
    if (!dptr)
        return CUDA_ERROR_INVALID_VALUE;
    if (gpusim_fault_allocation())
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream(context, handle, per_thread, &result);
    if (stream && stream->capture) {
        gpusim_capture_invalidate(stream->capture);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; /* graphs here own no memory */
    } else if (stream) {
        if (!pool)
            pool = context->device->current_pool;
        result = gpusim_memory_new(context, gpusim_pool_kind(pool), bytes,
                                   CU_MEMHOSTALLOC_DEVICEMAP, pool, &address);
    }
    pthread_mutex_unlock(&gpusim_lock);
    if (result == CUDA_SUCCESS)
        *dptr = address;
    return result;
}

static CUresult free_async(CUdeviceptr dptr, CUstream stream, bool per_thread)
{
    struct gpusim_work work = {.kind = GPUSIM_FREE, .address = dptr};
    struct gpusim_range range;
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!gpusim_memory_find(dptr, &range) || range.start != dptr ||
        range.kind != gpusim_pool_kind(range.pool))
        return CUDA_ERROR_INVALID_VALUE;
    return gpusim_do(stream, per_thread, &work, GPUSIM_RETURN_AT_ONCE);
}

/* ---- streams and events ---- */

static CUresult stream_synchronize(CUstream handle, bool per_thread)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUstream stream;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream(context, handle, per_thread, &result);
    if (stream && stream->capture) {
        gpusim_capture_invalidate(stream->capture);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else if (stream) {
        result = gpusim_capture_interrupted_by(stream);
        if (result == CUDA_SUCCESS) {
            gpusim_stream_wait(stream);
            result = context->sticky;
        }
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

static CUresult stream_query(CUstream handle, bool per_thread)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUstream stream;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream(context, handle, per_thread, &result);
    if (stream && stream->capture) {
        gpusim_capture_invalidate(stream->capture);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    } else if (stream) {
        result = gpusim_stream_idle(stream) ? context->sticky : CUDA_ERROR_NOT_READY;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

static CUresult stream_wait_event(CUstream handle, CUevent event, unsigned flags, bool per_thread)
{
    struct gpusim_work work = {.kind = GPUSIM_MARK};
    struct gpusim_task *task = NULL;
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUstream stream;

    (void)flags;
    if (result != CUDA_SUCCESS)
        return result;
    if (!event || event->kind != GPUSIM_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream(context, handle, per_thread, &result);
    if (stream && (event->capture || stream->capture))
        result = gpusim_capture_wait(stream, event);
    else if (stream && event->task)
        result = gpusim_submit(stream, &work, event->task, &task);
    gpusim_task_release(task);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

static CUresult event_record(CUevent event, CUstream handle, unsigned flags, bool per_thread)
{
    struct gpusim_work work = {.kind = GPUSIM_MARK};
    struct gpusim_task *task = NULL;
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUstream stream;

    if (result != CUDA_SUCCESS)
        return result;
    if (!event || event->kind != GPUSIM_EVENT)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream(context, handle, per_thread, &result);
    if (stream && !stream->capture && gpusim_fault_event_held_up()) {
        gpusim_stream_wait(stream);
        gpusim_time_passes(0.1);
    }
    if (stream && stream->capture) {
        result = gpusim_capture_record(stream, event);
    } else if (stream) {
        result = gpusim_submit(stream, &work, NULL, &task);
        if (task) {
            gpusim_task_release(event->task);
            event->task = task; /* the reference goes with it */
            event->capture = NULL;
            gpusim_event_stands(event);
        }
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

struct stream_facts {
    unsigned flags;
    int priority;
    unsigned long long id;
    CUcontext context;
};

static CUresult facts_of(CUstream handle, bool per_thread, struct stream_facts *facts)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUstream stream;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream(context, handle, per_thread, &result);
    if (stream)
        *facts =
            (struct stream_facts){stream->flags, stream->priority, stream->id, stream->context};
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

static CUresult capture_info(CUstream handle, bool per_thread, CUstreamCaptureStatus *status,
                             cuuint64_t *id, CUgraph *graph, const CUgraphNode **dependencies,
                             size_t *dependency_count)
{
    struct gpusim_capture_facts facts;
    CUresult result =
        status ? gpusim_capture_info(handle, per_thread, &facts) : CUDA_ERROR_INVALID_VALUE;

    if (result != CUDA_SUCCESS)
        return result;
    *status = facts.status;
    if (facts.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    if (id)
        *id = facts.id;
    if (graph)
        *graph = facts.graph;
    if (dependencies)
        *dependencies = facts.dependencies;
    if (dependency_count)
        *dependency_count = facts.dependency_count;
    return CUDA_SUCCESS;
}

#define PER_THREAD 0
#include "driver/stream_calls.h"
#undef PER_THREAD
#define PER_THREAD 1
#include "driver/stream_calls.h"
#undef PER_THREAD
