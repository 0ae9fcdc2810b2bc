#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/capture.h"
#include "driver/context.h"
#include "driver/driver.h"
#include "driver/faults.h"
#include "driver/memory.h"
#include "driver/queue.h"

pthread_mutex_t gpusim_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t gpusim_changed = PTHREAD_COND_INITIALIZER;

#define STACK_DEPTH 64

static struct gpusim_device devices[GPUSIM_MAX_DEVICES];
static unsigned device_count;
static CUcontext contexts;
static CUcontext destroyed;
static unsigned long long last_context_id;

static atomic_int owner; /* the process that called cuInit; 0: none has */
static atomic_bool gone; /* after teardown */

static __thread CUcontext stack[STACK_DEPTH];
static __thread unsigned depth;

/* ---- life and death ---- */

static void tear_down(void)
{
    if (gpusim_fault("teardown"))
        atomic_store(&gone, true);
}

static unsigned devices_wanted(void)
{
    const char *text = getenv("GPUSIM_DEVICES");
    unsigned long n = text ? strtoul(text, NULL, 10) : 1;

    return text && n <= GPUSIM_MAX_DEVICES ? (unsigned)n : 1;
}

CUresult cuInit(unsigned int Flags)
{
    static pthread_once_t injected = PTHREAD_ONCE_INIT;
    int nobody = 0;

    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (atomic_load(&gone))
        return CUDA_ERROR_DEINITIALIZED;
    if (devices_wanted() == 0)
        return CUDA_ERROR_NO_DEVICE;
    pthread_mutex_lock(&gpusim_lock);
    if (device_count == 0) {
        device_count = devices_wanted();
        for (unsigned i = 0; i < device_count; i++) {
            devices[i].ordinal = (int)i;
            (void)pthread_mutex_init(&devices[i].l2_lock, NULL);
        }
        /* The driver's own exit handler: those registered after this call run before it. */
        (void)atexit(tear_down);
    }
    pthread_mutex_unlock(&gpusim_lock);
    /* A child of a process that has used the GPU can never use it. */
    if (!atomic_compare_exchange_strong(&owner, &nobody, (int)getpid()) && nobody != (int)getpid())
        return CUDA_ERROR_NOT_INITIALIZED;
    (void)pthread_once(&injected, gpusim_inject);
    return CUDA_SUCCESS;
}

CUresult gpusim_enter(void)
{
    if (atomic_load(&gone))
        return CUDA_ERROR_DEINITIALIZED;
    if (atomic_load(&owner) != (int)getpid())
        return CUDA_ERROR_NOT_INITIALIZED;
    return CUDA_SUCCESS;
}

CUresult gpusim_enter_context(CUcontext *context)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    *context = gpusim_context_current();
    if (!*context)
        return CUDA_ERROR_INVALID_CONTEXT;
    pthread_mutex_lock(&gpusim_lock);
    result = gpusim_context_alive(*context) ? (*context)->sticky : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult gpusim_enter_unsafe(CUcontext *context)
{
    CUresult result = gpusim_enter_context(context);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    if (gpusim_capture_forbids(*context))
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

bool gpusim_context_alive(CUcontext context)
{
    for (CUcontext c = contexts; c; c = c->next)
        if (c == context)
            return true;
    return false;
}

void gpusim_contexts_wait(void)
{
    for (CUcontext c = contexts; c; c = c->next)
        gpusim_context_wait(c);
}

CUcontext gpusim_context_current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

struct gpusim_device *gpusim_device(int ordinal)
{
    return ordinal >= 0 && (unsigned)ordinal < device_count ? &devices[ordinal] : NULL;
}

unsigned gpusim_device_count(void)
{
    return device_count;
}

uint64_t gpusim_device_memory(void)
{
    const char *text = getenv("GPUSIM_MEMORY");
    char *unit;
    uint64_t bytes;

    if (!text || !*text)
        return gpusim_chip()->memory_bytes;
    bytes = strtoull(text, &unit, 10);
    switch (*unit) {
    case 'K':
        return bytes << 10;
    case 'M':
        return bytes << 20;
    case 'G':
        return bytes << 30;
    default:
        return bytes;
    }
}

/* ---- contexts ---- */

static CUresult new_context(struct gpusim_device *device, unsigned flags, unsigned version,
                            CUcontext *out)
{
    CUcontext context = calloc(1, sizeof(*context));

    if (!context)
        return CUDA_ERROR_OUT_OF_MEMORY;
    context->kind = GPUSIM_CONTEXT;
    context->device = device;
    context->flags = flags;
    context->api_version = version;
    context->id = ++last_context_id;
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 7 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->legacy_stream = gpusim_stream_new(context, CU_STREAM_DEFAULT, 0);
    if (!context->legacy_stream) {
        free(context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->legacy_stream->legacy = true;
    context->next = contexts;
    contexts = context;
    *out = context;
    return CUDA_SUCCESS;
}

static void destroy_context(CUcontext context)
{
    gpusim_context_wait(context);
    for (CUcontext *link = &contexts; *link; link = &(*link)->next)
        if (*link == context) {
            *link = context->next;
            break;
        }
    gpusim_modules_free(context);
    gpusim_memory_free_all(context);
    gpusim_streams_free(context);
    /* Threads may still have it on their stacks, and workers read it once more: the struct
     * stays, marked dead. A program creates few contexts. */
    context->kind = GPUSIM_DEAD;
    context->next = destroyed;
    destroyed = context;
}

CUcontext gpusim_context_owner(CUcontext context)
{
    return context->owner ? context->owner : context;
}

CUstream gpusim_context_stream(CUcontext context, CUstream handle)
{
    for (CUcontext c = contexts; c; c = c->next)
        for (CUstream s = c->streams; s; s = s->next)
            if (s == handle && gpusim_context_owner(c) == gpusim_context_owner(context))
                return s;
    return NULL;
}

static CUresult push(CUcontext context)
{
    if (depth == STACK_DEPTH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

static CUresult create(CUcontext *pctx, unsigned flags, unsigned version, CUdevice dev)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!pctx || flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    if (!gpusim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&gpusim_lock);
    result = new_context(gpusim_device(dev), flags, version, pctx);
    if (result == CUDA_SUCCESS)
        result = push(*pctx);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, 3020, dev);
}

CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                        unsigned int flags, CUdevice dev)
{
    if (numParams != 0 || paramsArray)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create(pctx, flags, 3020, dev);
}

CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
                        CUdevice dev)
{
    if (ctxCreateParams && (ctxCreateParams->numExecAffinityParams || ctxCreateParams->cigParams))
        return CUDA_ERROR_NOT_SUPPORTED;
    return create(pctx, flags, 3020, dev);
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
    return gpusim_context_destroy(ctx);
}

CUresult gpusim_context_destroy(CUcontext ctx)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    if (!gpusim_context_alive(ctx)) {
        result = CUDA_ERROR_INVALID_CONTEXT;
    } else if (ctx->is_primary) {
        result = CUDA_ERROR_INVALID_CONTEXT;
    } else {
        if (gpusim_context_current() == ctx)
            depth--;
        destroy_context(ctx);
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    result = gpusim_context_alive(ctx) ? push(ctx) : CUDA_ERROR_INVALID_CONTEXT;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuCtxPopCurrent_v2(CUcontext *pctx)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (pctx)
        *pctx = stack[depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!ctx) {
        if (depth)
            depth--;
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&gpusim_lock);
    if (!gpusim_context_alive(ctx))
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (depth)
        stack[depth - 1] = ctx;
    else
        result = push(ctx);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = gpusim_context_current();
    return CUDA_SUCCESS;
}

static CUresult device_of(CUcontext context, CUdevice *device)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (!context)
        context = gpusim_context_current();
    pthread_mutex_lock(&gpusim_lock);
    if (!context || !gpusim_context_alive(context))
        result = CUDA_ERROR_INVALID_CONTEXT;
    else
        *device = context->device->ordinal;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    return device_of(NULL, device);
}

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
    return device_of(ctx, device);
}

static CUresult synchronize(CUcontext context)
{
    CUcontext current;
    CUresult result;

    if (!context) {
        result = gpusim_enter_unsafe(&current);
        context = current;
    } else {
        result = gpusim_enter();
    }
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    if (!gpusim_context_alive(context)) {
        result = CUDA_ERROR_INVALID_CONTEXT;
    } else {
        gpusim_context_wait(context);
        result = context->sticky;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuCtxSynchronize(void)
{
    return synchronize(NULL);
}

CUresult cuCtxSynchronize_v2(CUcontext ctx)
{
    return synchronize(ctx);
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!ctxId)
        return CUDA_ERROR_INVALID_VALUE;
    if (!ctx)
        ctx = gpusim_context_current();
    pthread_mutex_lock(&gpusim_lock);
    if (!ctx)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (!gpusim_context_alive(ctx))
        result = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    else
        *ctxId = ctx->id;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    CUcontext current;
    CUresult result = gpusim_enter_context(&current);

    if (result != CUDA_SUCCESS)
        return result;
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = (ctx ? ctx : current)->api_version;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result == CUDA_SUCCESS)
        *flags = context->flags;
    return result;
}

CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!pvalue || (unsigned)limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    *pvalue = context->limits[limit];
    return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if ((unsigned)limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

/* A tool that observes these calls acts on them; here is none. */
CUresult cuProfilerStart(void)
{
    CUcontext context;

    return gpusim_enter_context(&context);
}

CUresult cuProfilerStop(void)
{
    CUcontext context;

    return gpusim_enter_context(&context);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result == CUDA_SUCCESS)
        *pconfig = context->cache_config;
    return result;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result == CUDA_SUCCESS)
        context->cache_config = config;
    return result;
}

CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (leastPriority)
        *leastPriority = 0;
    if (greatestPriority)
        *greatestPriority = -5;
    return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    CUcontext context;

    return gpusim_enter_context(&context);
}

/* ---- primary contexts ---- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    CUresult result = gpusim_enter();
    struct gpusim_device *device = gpusim_device(dev);

    if (result != CUDA_SUCCESS)
        return result;
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&gpusim_lock);
    if (!device->primary) {
        result = new_context(device, device->primary_flags, 3020, &device->primary);
        if (result == CUDA_SUCCESS)
            device->primary->is_primary = true;
    }
    if (result == CUDA_SUCCESS) {
        device->primary_refs++;
        *pctx = device->primary;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

static void drop_primary(struct gpusim_device *device)
{
    CUcontext context = device->primary;

    device->primary = NULL;
    device->primary_refs = 0;
    if (context)
        destroy_context(context);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    return gpusim_primary_release(dev);
}

CUresult gpusim_primary_release(CUdevice dev)
{
    CUresult result = gpusim_enter();
    struct gpusim_device *device = gpusim_device(dev);

    if (result != CUDA_SUCCESS)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&gpusim_lock);
    if (device->primary_refs == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else if (--device->primary_refs == 0)
        drop_primary(device);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    return gpusim_primary_reset(dev);
}

CUresult gpusim_primary_reset(CUdevice dev)
{
    CUresult result = gpusim_enter();
    struct gpusim_device *device = gpusim_device(dev);

    if (result != CUDA_SUCCESS)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&gpusim_lock);
    drop_primary(device);
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!gpusim_device(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    gpusim_device(dev)->primary_flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    CUresult result = gpusim_enter();
    struct gpusim_device *device = gpusim_device(dev);

    if (result != CUDA_SUCCESS)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&gpusim_lock);
    if (flags)
        *flags = device->primary_flags;
    if (active)
        *active = device->primary != NULL;
    pthread_mutex_unlock(&gpusim_lock);
    return CUDA_SUCCESS;
}

/* ---- green contexts: as if they had all multiprocessors ---- */

struct CUgreenCtx_st {
    CUcontext context;
};

CUresult cuGreenCtxCreate(CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev,
                          unsigned int flags)
{
    CUcontext primary;
    CUresult result;
    CUgreenCtx green;

    (void)desc;
    if (!phCtx || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    result = cuDevicePrimaryCtxRetain(&primary, dev);
    if (result != CUDA_SUCCESS)
        return result;
    green = calloc(1, sizeof(*green));
    pthread_mutex_lock(&gpusim_lock);
    result = green ? new_context(gpusim_device(dev), 0, 3020, &green->context)
                   : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        green->context->owner = primary;
    pthread_mutex_unlock(&gpusim_lock);
    if (result != CUDA_SUCCESS) {
        free(green);
        (void)cuDevicePrimaryCtxRelease_v2(dev);
        return result;
    }
    *phCtx = green;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx)
{
    CUresult result = gpusim_enter();
    int device;

    if (result != CUDA_SUCCESS)
        return result;
    if (!hCtx)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    device = hCtx->context->device->ordinal;
    if (gpusim_context_current() == hCtx->context)
        depth--;
    destroy_context(hCtx->context);
    pthread_mutex_unlock(&gpusim_lock);
    free(hCtx);
    return cuDevicePrimaryCtxRelease_v2(device);
}

CUresult cuCtxFromGreenCtx(CUcontext *pContext, CUgreenCtx hCtx)
{
    if (!pContext || !hCtx)
        return CUDA_ERROR_INVALID_VALUE;
    *pContext = hCtx->context;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags,
                                int priority)
{
    if (!phStream || !greenCtx || flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    *phStream = gpusim_stream_new(greenCtx->context, flags, priority);
    pthread_mutex_unlock(&gpusim_lock);
    return *phStream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Any value that is not NULL says that it is green: nobody asks for more. */
CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx *phCtx)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUstream stream;

    if (result != CUDA_SUCCESS)
        return result;
    if (!phCtx)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    stream = gpusim_stream(context, hStream, false, &result);
    if (stream)
        *phCtx = stream->context->owner ? (CUgreenCtx)(void *)stream->context : NULL;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}
