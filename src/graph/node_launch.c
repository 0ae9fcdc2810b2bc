/* A kernel of a graph as a launch of its own. */
#include "graph/inside.h"

#include <stdlib.h>

static CUresult run_node(const struct gp_launch *call)
{
    const struct gp_node_launch *k = (const struct gp_node_launch *)call;
    return k->real(&k->config, call->function, call->parameters, call->extra);
}

/* True when the value is set; a value that a node does not set is left to the launch's defaults. */
static bool is_set(CUlaunchAttributeID id, const CUlaunchAttributeValue *value)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return value->accessPolicyWindow.num_bytes != 0;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        return value->cooperative != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return value->clusterDim.x != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return value->clusterSchedulingPolicyPreference != CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
#if CUDA_VERSION >= 12080
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        return value->preferredClusterDim.x != 0;
#endif
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return value->memSyncDomain != CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
    default:
        return false;
    }
}

/* The attributes of nodes that launches have too, but for the priority: the kernel runs alone. */
static void take_attributes(struct gp_node_launch *k, CUgraphNode node)
{
    static const CUlaunchAttributeID ids[] = {
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
#if CUDA_VERSION >= 12080
        CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
#endif
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    };
    _Static_assert(sizeof(ids) / sizeof(ids[0]) <= 8, "room for the attributes");
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        CUlaunchAttributeValue value = {0};
        /* Older drivers do not know the newer attributes. */
        if (gp_cuda.cuGraphKernelNodeGetAttribute(node, ids[i], &value) != CUDA_SUCCESS ||
            !is_set(ids[i], &value))
            continue;
        k->attributes[k->config.numAttrs++] = (CUlaunchAttribute){.id = ids[i], .value = value};
        if (ids[i] == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            k->call.cooperative = true;
    }
}

CUresult node_launch_make(struct gp_node_launch *k, const struct gp_graph_node *n,
                          const struct gp_stand_ins *stand_ins, CUstream stream,
                          bool per_thread_stream)
{
    CUDA_KERNEL_NODE_PARAMS_v2 p = {0};
    CUresult result = gp_cuda.cuGraphKernelNodeGetParams_v2(n->node, &p);
    if (result != CUDA_SUCCESS)
        return result;
    *k = (struct gp_node_launch){
        .call = {.function = n->function,
                 .stream = stream,
                 .per_thread_stream = per_thread_stream,
                 .of_graph = true,
                 .configuration = n->configuration,
                 .parameters = p.kernelParams,
                 .extra = p.extra,
                 .run = run_node},
        .real = per_thread_stream ? gp_cuda.cuLaunchKernelEx_ptsz : gp_cuda.cuLaunchKernelEx,
    };
    k->config = gp_launch_config(&k->call, k->attributes);
    take_attributes(k, n->node);
    k->call.attributes = k->attributes;
    k->call.attribute_count = k->config.numAttrs;
    k->replaced = stand_ins ? stand_ins_replace(stand_ins, &k->call) : NULL;
    return !stand_ins || k->replaced ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

void node_launch_free(struct gp_node_launch *k)
{
    free(k->replaced);
}
