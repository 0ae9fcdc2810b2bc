/* Graphs that can be launched: their nodes, the program's changes of them, and their launch. Other
 * work on graphs is none of ours, but for allocations: it does nothing until an executable graph is
 * made. */
#include "graph/graphs.h"
#include "graph/allocations.h"
#include "hook/entry.h"
#include "hook/writers.h"
#include "launch/host_calls.h"

static void note_allocating(const CUgraphNodeParams *node)
{
    if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        gp_graph_allocates();
}

#define ADDS_NODE(symbol, parameters, arguments) \
    GP_GATED(symbol, parameters, arguments, GP_IF_DONE(note_allocating(nodeParams)))
ADDS_NODE(cuGraphAddNode,
          (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
           size_t numDependencies, CUgraphNodeParams *nodeParams),
          (phGraphNode, hGraph, dependencies, numDependencies, nodeParams))
ADDS_NODE(cuGraphAddNode_v2,
          (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
           const CUgraphEdgeData *dependencyData, size_t numDependencies,
           CUgraphNodeParams *nodeParams),
          (phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams))

GP_GATED(cuGraphAddMemAllocNode,
         (CUgraphNode * phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
          size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS_v1 *nodeParams),
         (phGraphNode, hGraph, dependencies, numDependencies, nodeParams),
         GP_IF_DONE(gp_graph_allocates()))

#define INSTANTIATES(symbol, parameters, arguments, flags)      \
    GP_EXPORT CUresult symbol parameters                        \
    {                                                           \
        GP_FORWARD(symbol, arguments);                          \
        CUresult result = gp_cuda.symbol arguments;             \
        if (result == CUDA_SUCCESS) {                           \
            gp_graph_check_allocations(hGraph);                 \
            gp_graph_instantiated(*phGraphExec, hGraph, flags); \
        }                                                       \
        return result;                                          \
    }
#define WITH_LOG                                                                            \
    (CUgraphExec * phGraphExec, CUgraph hGraph, CUgraphNode * phErrorNode, char *logBuffer, \
     size_t bufferSize)
INSTANTIATES(cuGraphInstantiate, WITH_LOG,
             (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize), 0)
INSTANTIATES(cuGraphInstantiate_v2, WITH_LOG,
             (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize), 0)
INSTANTIATES(cuGraphInstantiateWithFlags,
             (CUgraphExec * phGraphExec, CUgraph hGraph, unsigned long long flags),
             (phGraphExec, hGraph, flags), flags)
#define WITH_PARAMS \
    (CUgraphExec * phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS * instantiateParams)
INSTANTIATES(cuGraphInstantiateWithParams, WITH_PARAMS, (phGraphExec, hGraph, instantiateParams),
             instantiateParams->flags)
INSTANTIATES(cuGraphInstantiateWithParams_ptsz, WITH_PARAMS,
             (phGraphExec, hGraph, instantiateParams), instantiateParams->flags)

static void note_target(CUgraphExec exec, const CUgraphNodeParams *node)
{
    if (node->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        gp_graph_node_writes(exec, node->memcpy.copyParams.dstMemoryType,
                             node->memcpy.copyParams.dstDevice);
    if (node->type == CU_GRAPH_NODE_TYPE_MEMSET)
        gp_graph_node_writes(exec, CU_MEMORYTYPE_UNIFIED, node->memset.dst);
}

/* A change in the executable graph is made in the clone as well. Behind the gate: a launch may be
 * going through the clone. */
#define CHANGE_CLONE(setter, ...)                                                                 \
    do {                                                                                          \
        CUgraphNode clone = result == CUDA_SUCCESS ? gp_graph_clone_of(hGraphExec, hNode) : NULL; \
        if (clone)                                                                                \
            gp_graph_node_changed(hGraphExec, hNode,                                              \
                                  gp_cuda.setter ? gp_cuda.setter(clone, __VA_ARGS__)             \
                                                 : CUDA_ERROR_NOT_FOUND);                         \
    } while (0)

GP_GATED(cuGraphExecKernelNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams),
         (hGraphExec, hNode, nodeParams), CHANGE_CLONE(cuGraphKernelNodeSetParams, nodeParams))
GP_GATED(cuGraphExecKernelNodeSetParams_v2,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams),
         (hGraphExec, hNode, nodeParams), CHANGE_CLONE(cuGraphKernelNodeSetParams_v2, nodeParams))
GP_GATED(cuGraphExecMemcpyNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D_v2 *copyParams,
          CUcontext ctx),
         (hGraphExec, hNode, copyParams, ctx), {
             CHANGE_CLONE(cuGraphMemcpyNodeSetParams, copyParams);
             GP_IF_DONE(gp_graph_node_writes(hGraphExec, copyParams->dstMemoryType,
                                             copyParams->dstDevice));
         })
GP_GATED(cuGraphExecMemsetNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS_v1 *memsetParams,
          CUcontext ctx),
         (hGraphExec, hNode, memsetParams, ctx), {
             CHANGE_CLONE(cuGraphMemsetNodeSetParams, memsetParams);
             GP_IF_DONE(gp_graph_node_writes(hGraphExec, CU_MEMORYTYPE_UNIFIED, memsetParams->dst));
         })
GP_GATED(cuGraphExecHostNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS_v1 *nodeParams),
         (hGraphExec, hNode, nodeParams), CHANGE_CLONE(cuGraphHostNodeSetParams, nodeParams))
GP_GATED(cuGraphExecNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams),
         (hGraphExec, hNode, nodeParams), {
             CHANGE_CLONE(cuGraphNodeSetParams, nodeParams);
             GP_IF_DONE(note_target(hGraphExec, nodeParams));
         })
GP_GATED(cuGraphNodeSetEnabled, (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled),
         (hGraphExec, hNode, isEnabled),
         GP_IF_DONE(gp_graph_node_enabled(hGraphExec, hNode, isEnabled != 0)))
GP_GATED(cuGraphExecChildGraphNodeSetParams,
         (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph),
         (hGraphExec, hNode, childGraph),
         GP_IF_DONE(gp_graph_child_changed(hGraphExec, childGraph)))
#define UPDATES(symbol, parameters, arguments)            \
    GP_EXPORT CUresult symbol parameters                  \
    {                                                     \
        GP_FORWARD(symbol, arguments);                    \
        gp_graph_check_allocations(hGraph);               \
        gp_gate_enter();                                  \
        gp_graph_update_begins(hGraphExec);               \
        CUresult result = gp_cuda.symbol arguments;       \
        gp_graph_update_ends(hGraphExec, hGraph, result); \
        gp_gate_leave();                                  \
        return result;                                    \
    }
UPDATES(cuGraphExecUpdate,
        (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
         CUgraphExecUpdateResult *updateResult_out),
        (hGraphExec, hGraph, hErrorNode_out, updateResult_out))
UPDATES(cuGraphExecUpdate_v2,
        (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo),
        (hGraphExec, hGraph, resultInfo))

/* The clone goes first, so that objects that the graph keeps alive go when they would without
 * us. */
GP_EXPORT CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    GP_FORWARD_UNLESS_OURS(cuGraphExecDestroy, hGraphExec);
    gp_gate_enter();
    gp_graph_forget(hGraphExec);
    CUresult result = gp_cuda.cuGraphExecDestroy(hGraphExec);
    gp_gate_leave();
    return result;
}

#define LAUNCHES(symbol, per_thread)                                                        \
    GP_EXPORT CUresult symbol(CUgraphExec hGraphExec, CUstream hStream)                     \
    {                                                                                       \
        GP_FORWARD_UNLESS_OURS(symbol, hGraphExec, hStream);                                \
        gp_graph_note_writer(hGraphExec, gp_writer(hStream));                               \
        CUresult result = gp_graph_launch(hGraphExec, hStream, per_thread, gp_cuda.symbol); \
        GP_IF_DONE(gp_host_graph_launched());                                               \
        return result;                                                                      \
    }
LAUNCHES(cuGraphLaunch, false)
LAUNCHES(cuGraphLaunch_ptsz, true)
