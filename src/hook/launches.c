/* Every way to start a kernel. A wrapper describes the launch and says how to repeat it; launch/
 * decides how it is made. */
#include "gate/blocking.h"
#include "gate/captures.h"
#include "hook/entry.h"
#include "launch/launch.h"

struct kernel_launch {
    struct gp_launch call;
    PFN_cuLaunchKernel_v4000 real;
};

static CUresult run_kernel(const struct gp_launch *call)
{
    const struct kernel_launch *k = (const struct kernel_launch *)call;
    return k->real(call->function, call->grid[0], call->grid[1], call->grid[2], call->block[0],
                   call->block[1], call->block[2], call->shared_dynamic, call->stream,
                   call->parameters, call->extra);
}

#define LAUNCH_KERNEL(suffix, per_thread)                                                          \
    GP_EXPORT CUresult cuLaunchKernel##suffix(                                                     \
        CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,         \
        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,                    \
        unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)          \
    {                                                                                              \
        GP_FORWARD_UNLESS_OURS(cuLaunchKernel##suffix, f, gridDimX, gridDimY, gridDimZ, blockDimX, \
                               blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams,        \
                               extra);                                                             \
        struct kernel_launch k = {                                                                 \
            .call = {.function = f,                                                                \
                     .stream = hStream,                                                            \
                     .per_thread_stream = per_thread,                                              \
                     .grid = {gridDimX, gridDimY, gridDimZ},                                       \
                     .block = {blockDimX, blockDimY, blockDimZ},                                   \
                     .shared_dynamic = sharedMemBytes,                                             \
                     .parameters = kernelParams,                                                   \
                     .extra = extra,                                                               \
                     .run = run_kernel},                                                           \
            .real = gp_cuda.cuLaunchKernel##suffix,                                                \
        };                                                                                         \
        return gp_launch(&k.call);                                                                 \
    }
LAUNCH_KERNEL(, false)
LAUNCH_KERNEL(_ptsz, true)

struct cooperative_launch {
    struct gp_launch call;
    PFN_cuLaunchCooperativeKernel_v9000 real;
};

static CUresult run_cooperative(const struct gp_launch *call)
{
    const struct cooperative_launch *k = (const struct cooperative_launch *)call;
    return k->real(call->function, call->grid[0], call->grid[1], call->grid[2], call->block[0],
                   call->block[1], call->block[2], call->shared_dynamic, call->stream,
                   call->parameters);
}

#define LAUNCH_COOPERATIVE(suffix, per_thread)                                                     \
    GP_EXPORT CUresult cuLaunchCooperativeKernel##suffix(                                          \
        CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,         \
        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,                    \
        unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)                        \
    {                                                                                              \
        GP_FORWARD_UNLESS_OURS(cuLaunchCooperativeKernel##suffix, f, gridDimX, gridDimY, gridDimZ, \
                               blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream,           \
                               kernelParams);                                                      \
        struct cooperative_launch k = {                                                            \
            .call = {.function = f,                                                                \
                     .stream = hStream,                                                            \
                     .per_thread_stream = per_thread,                                              \
                     .grid = {gridDimX, gridDimY, gridDimZ},                                       \
                     .block = {blockDimX, blockDimY, blockDimZ},                                   \
                     .shared_dynamic = sharedMemBytes,                                             \
                     .cooperative = true,                                                          \
                     .parameters = kernelParams,                                                   \
                     .run = run_cooperative},                                                      \
            .real = gp_cuda.cuLaunchCooperativeKernel##suffix,                                     \
        };                                                                                         \
        return gp_launch(&k.call);                                                                 \
    }
LAUNCH_COOPERATIVE(, false)
LAUNCH_COOPERATIVE(_ptsz, true)

struct extended_launch {
    struct gp_launch call;
    PFN_cuLaunchKernelEx_v11060 real;
    const CUlaunchConfig *config;
};

static CUresult run_extended(const struct gp_launch *call)
{
    const struct extended_launch *k = (const struct extended_launch *)call;
    return k->real(k->config, call->function, call->parameters, call->extra);
}

static void note_attributes(struct gp_launch *call, const CUlaunchConfig *config)
{
    call->attributes = config->attrs;
    call->attribute_count = config->attrs ? config->numAttrs : 0;
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        const CUlaunchAttribute *a = &config->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            call->cluster[0] = a->value.clusterDim.x;
            call->cluster[1] = a->value.clusterDim.y;
            call->cluster[2] = a->value.clusterDim.z;
        } else if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
            call->cooperative = a->value.cooperative != 0;
        }
    }
}

#define LAUNCH_EXTENDED(suffix, per_thread)                                                 \
    GP_EXPORT CUresult cuLaunchKernelEx##suffix(const CUlaunchConfig *config, CUfunction f, \
                                                void **kernelParams, void **extra)          \
    {                                                                                       \
        GP_FORWARD_UNLESS_OURS(cuLaunchKernelEx##suffix, config, f, kernelParams, extra);   \
        if (!config) /* an error, which is the driver's to report */                        \
            return gp_cuda.cuLaunchKernelEx##suffix(config, f, kernelParams, extra);        \
        struct extended_launch k = {                                                        \
            .call = {.function = f,                                                         \
                     .stream = config->hStream,                                             \
                     .per_thread_stream = per_thread,                                       \
                     .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},        \
                     .block = {config->blockDimX, config->blockDimY, config->blockDimZ},    \
                     .shared_dynamic = config->sharedMemBytes,                              \
                     .parameters = kernelParams,                                            \
                     .extra = extra,                                                        \
                     .run = run_extended},                                                  \
            .real = gp_cuda.cuLaunchKernelEx##suffix,                                       \
            .config = config,                                                               \
        };                                                                                  \
        note_attributes(&k.call, config);                                                   \
        return gp_launch(&k.call);                                                          \
    }
LAUNCH_EXTENDED(, false)
LAUNCH_EXTENDED(_ptsz, true)

/* Work that goes through as it is, beside replays but never in the middle of one. */
#define UNMEASURED(symbol, what, parameters, arguments) \
    GP_EXPORT CUresult symbol parameters                \
    {                                                   \
        GP_FORWARD(symbol, arguments);                  \
        gp_gate_enter();                                \
        gp_blocking_noted(GP_MAY_WAIT);                 \
        CUresult result = gp_cuda.symbol arguments;     \
        gp_blocking_noted(GP_MAY_WAIT);                 \
        gp_gate_leave();                                \
        if (result == CUDA_SUCCESS)                     \
            gp_launch_not_measured(what);               \
        return result;                                  \
    }
UNMEASURED(cuLaunchCooperativeKernelMultiDevice, GP_MULTI_DEVICE_LAUNCH,
           (CUDA_LAUNCH_PARAMS * launchParamsList, unsigned int numDevices, unsigned int flags),
           (launchParamsList, numDevices, flags))
UNMEASURED(cuLaunch, GP_OLD_LAUNCH, (CUfunction f), (f))
UNMEASURED(cuLaunchGrid, GP_OLD_LAUNCH, (CUfunction f, int grid_width, int grid_height),
           (f, grid_width, grid_height))
UNMEASURED(cuLaunchGridAsync, GP_OLD_LAUNCH,
           (CUfunction f, int grid_width, int grid_height, CUstream hStream),
           (f, grid_width, grid_height, hStream))

/* While any stream is being captured nothing is measured: measuring waits for the device and
 * allocates, which would invalidate the capture. */
#define BEGINS_CAPTURE(symbol, per_thread, parameters, arguments) \
    GP_EXPORT CUresult symbol parameters                          \
    {                                                             \
        GP_FORWARD(symbol, arguments);                            \
        gp_gate_enter();                                          \
        gp_capture_begins(hStream, per_thread);                   \
        CUresult result = gp_cuda.symbol arguments;               \
        if (result != CUDA_SUCCESS)                               \
            gp_capture_ends(hStream, per_thread);                 \
        gp_gate_leave();                                          \
        return result;                                            \
    }
BEGINS_CAPTURE(cuStreamBeginCapture, false, (CUstream hStream), (hStream))
BEGINS_CAPTURE(cuStreamBeginCapture_ptsz, true, (CUstream hStream), (hStream))
BEGINS_CAPTURE(cuStreamBeginCapture_v2, false, (CUstream hStream, CUstreamCaptureMode mode),
               (hStream, mode))
BEGINS_CAPTURE(cuStreamBeginCapture_v2_ptsz, true, (CUstream hStream, CUstreamCaptureMode mode),
               (hStream, mode))
#define TO_GRAPH_PARAMETERS                                             \
    (CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies, \
     const CUgraphEdgeData *dependencyData, size_t numDependencies, CUstreamCaptureMode mode)
#define TO_GRAPH_ARGUMENTS (hStream, hGraph, dependencies, dependencyData, numDependencies, mode)
BEGINS_CAPTURE(cuStreamBeginCaptureToGraph, false, TO_GRAPH_PARAMETERS, TO_GRAPH_ARGUMENTS)
BEGINS_CAPTURE(cuStreamBeginCaptureToGraph_ptsz, true, TO_GRAPH_PARAMETERS, TO_GRAPH_ARGUMENTS)

/* A capture that was invalidated ends too, with an error; one that was not begun does not. */
#define ENDS_CAPTURE(symbol, per_thread)                                                 \
    GP_EXPORT CUresult symbol(CUstream hStream, CUgraph *phGraph)                        \
    {                                                                                    \
        GP_FORWARD_UNLESS_OURS(symbol, hStream, phGraph);                                \
        CUresult result = gp_cuda.symbol(hStream, phGraph);                              \
        if (result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || \
            result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)                                \
            gp_capture_ends(hStream, per_thread);                                        \
        return result;                                                                   \
    }
ENDS_CAPTURE(cuStreamEndCapture, false)
ENDS_CAPTURE(cuStreamEndCapture_ptsz, true)

/* A capture can also end with its stream. */
#define DESTROYS_STREAM(symbol)                                    \
    GP_EXPORT CUresult symbol(CUstream hStream)                    \
    {                                                              \
        GP_FORWARD_UNLESS_OURS(symbol, hStream);                   \
        const struct gp_capture *capture = gp_capture_of(hStream); \
        gp_launch_before_stream_goes(hStream);                     \
        CUresult result = gp_cuda.symbol(hStream);                 \
        if (result == CUDA_SUCCESS)                                \
            gp_capture_drop(capture);                              \
        return result;                                             \
    }
DESTROYS_STREAM(cuStreamDestroy)
DESTROYS_STREAM(cuStreamDestroy_v2)
