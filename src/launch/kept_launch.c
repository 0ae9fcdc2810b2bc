/* A launch that can be made again when the program's own call has long returned: with its
 * parameters, and through cuLaunchKernelEx, which takes every kind of launch. */
#include "launch/inside.h"

#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ATTRIBUTES 8
#define PARAMETER_ALIGNMENT 16

struct kept_launch {
    struct gp_launch call;
    PFN_cuLaunchKernelEx_v11060 real;
    CUlaunchConfig config;
    CUlaunchAttribute attributes[MOST_ATTRIBUTES];
    size_t size;
    void *extra[GP_EXTRA_WORDS];
    _Alignas(PARAMETER_ALIGNMENT) unsigned char parameters[];
};

CUlaunchConfig gp_launch_config(const struct gp_launch *call, CUlaunchAttribute *attributes)
{
    return (CUlaunchConfig){.gridDimX = call->grid[0],
                            .gridDimY = call->grid[1],
                            .gridDimZ = call->grid[2],
                            .blockDimX = call->block[0],
                            .blockDimY = call->block[1],
                            .blockDimZ = call->block[2],
                            .sharedMemBytes = call->shared_dynamic,
                            .hStream = call->stream,
                            .attrs = attributes};
}

static CUresult run_kept(const struct gp_launch *call)
{
    const struct kept_launch *k = (const struct kept_launch *)call;
    return k->real(&k->config, call->function, NULL, call->extra);
}

/* The attributes that a launch alone on the GPU needs. False for one that may do more than say how
 * the kernel runs. */
static bool keep_attribute(struct kept_launch *k, const CUlaunchAttribute *a)
{
    switch (a->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        return true;
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
#if CUDA_VERSION >= 12080
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
#endif
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        if (k->config.numAttrs == MOST_ATTRIBUTES)
            return false;
        k->attributes[k->config.numAttrs++] = *a;
        return true;
    default:
        return false;
    }
}

static bool keep_attributes(struct kept_launch *k, const struct gp_launch *call)
{
    const CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                           .value.cooperative = 1};
    for (unsigned i = 0; i < call->attribute_count; i++)
        if (!keep_attribute(k, &call->attributes[i]))
            return false;
    return !call->cooperative || call->attribute_count || keep_attribute(k, &cooperative);
}

static void keep_parameters(struct kept_launch *k, const void *parameters, size_t size)
{
    if (!size)
        return; /* no parameter */
    memcpy(k->parameters, parameters, size);
    k->size = size;
    gp_parameters_as_block(k->extra, k->parameters, &k->size);
    k->call.extra = k->extra;
}

struct gp_launch *launch_keep(const struct gp_launch *call, const void *parameters, size_t size)
{
    PFN_cuLaunchKernelEx_v11060 real =
        call->per_thread_stream ? gp_cuda.cuLaunchKernelEx_ptsz : gp_cuda.cuLaunchKernelEx;
    size_t bytes = (sizeof(struct kept_launch) + size + PARAMETER_ALIGNMENT - 1) /
                   PARAMETER_ALIGNMENT * PARAMETER_ALIGNMENT;
    struct kept_launch *k = real ? aligned_alloc(PARAMETER_ALIGNMENT, bytes) : NULL;
    if (!k)
        return NULL;
    memset(k, 0, sizeof(*k));
    k->call = *call;
    k->call.parameters = k->call.extra = NULL;
    k->call.attributes = k->attributes;
    k->call.run = run_kept;
    k->real = real;
    k->config = gp_launch_config(call, k->attributes);
    keep_parameters(k, parameters, size);
    if (keep_attributes(k, call))
        return &k->call;
    free(k);
    return NULL;
}

uint64_t launch_hash_caches(const struct gp_launch *call, uint64_t hash)
{
    for (unsigned i = 0; i < call->attribute_count; i++) {
        const CUlaunchAttributeValue *value = &call->attributes[i].value;
        const CUaccessPolicyWindow *window = &value->accessPolicyWindow;
        switch (call->attributes[i].id) {
        case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
            hash = gp_mix(hash, value->sharedMemCarveout);
            break;
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
            hash = gp_mix(hash, window->num_bytes);
            hash = gp_mix(hash, (uint64_t)(1e6 * (double)window->hitRatio));
            hash = gp_mix(gp_mix(hash, window->hitProp), window->missProp);
            break;
        default:
            break;
        }
    }
    return hash;
}
