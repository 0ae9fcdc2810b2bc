/*
 * counted_linked CASE: a graph of one kernel is launched once and then ROUNDS times. In the cases
 * "changed" and "disabled" it allocates memory, too, and in between its kernel becomes one of
 * another module, while its own goes, or its node is disabled. In the case "enabled" its node is
 * disabled for a launch in between, in the case "second" the node of a second kernel for all
 * launches before. In the case "refused" its kernel is one of a communication library.
 */
#include "programs/cases.h"
#include "programs/linked.h"
#include "programs/nodes.h"
#include "programs/snippets.h"

enum { N = 1000, ROUNDS = 4 };

static CUmodule modules[2];
static CUdeviceptr x[3];
static CUstream stream;
static unsigned n = N;
static float factor = 2;
static void *scaling[] = {&x[0], &n, &factor}, *adding[] = {&x[0], &x[1], &x[2], &n};

static CUDA_KERNEL_NODE_PARAMS node_of(CUmodule module, const char *name, void **params)
{
    CUfunction function;

    MUST(cuModuleGetFunction(&function, module, name));
    return kernel_node(function, 8, 128, params);
}

static void add_memory(CUgraph graph, CUgraphNode behind)
{
    CUgraphNodeParams made = allocation_node(N * 4), gone;
    CUgraphNode node;

    MUST(cuGraphAddNode(&node, graph, &behind, NULL, 1, &made));
    gone = free_node(made.alloc.dptr);
    MUST(cuGraphAddNode(&node, graph, &node, NULL, 1, &gone));
}

static CUgraphExec begin(const char *name, bool memory, CUgraphNode *node)
{
    CUDA_KERNEL_NODE_PARAMS kernel = node_of(modules[0], name, scaling);
    CUgraph graph;
    CUgraphExec exec;

    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddKernelNode(node, graph, NULL, 0, &kernel));
    if (memory)
        add_memory(graph, *node);
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    return exec;
}

static void launch_often(const char *name, CUgraphExec exec)
{
    uint32_t found;

    for (int i = 0; i < ROUNDS; i++)
        MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemcpyDtoH(&found, x[2], 4));
    printf("%s: %u\n", name, found);
    MUST(cuGraphExecDestroy(exec));
}

static void changed(void)
{
    CUgraphNode node;
    CUgraphExec exec = begin("scale_in_place", true, &node);
    CUDA_KERNEL_NODE_PARAMS other = node_of(modules[1], "vector_add_float", adding);

    MUST(cuGraphExecKernelNodeSetParams(exec, node, &other));
    MUST(cuModuleUnload(modules[0]));
    launch_often("changed", exec);
}

static void disabled(void)
{
    CUgraphNode node;
    CUgraphExec exec = begin("scale_in_place", true, &node);

    MUST(cuGraphNodeSetEnabled(exec, node, 0));
    launch_often("disabled", exec);
}

static void enabled(void)
{
    CUgraphNode node;
    CUgraphExec exec = begin("scale_in_place", false, &node);

    MUST(cuGraphNodeSetEnabled(exec, node, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuGraphNodeSetEnabled(exec, node, 1));
    launch_often("enabled", exec);
}

static void second(void)
{
    CUDA_KERNEL_NODE_PARAMS first = node_of(modules[0], "scale_in_place", scaling),
                            next = node_of(modules[0], "vector_add_float", adding);
    CUgraphNode node;
    CUgraph graph;
    CUgraphExec exec;

    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddKernelNode(&node, graph, NULL, 0, &first));
    MUST(cuGraphAddKernelNode(&node, graph, &node, 1, &next));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphNodeSetEnabled(exec, node, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuGraphNodeSetEnabled(exec, node, 1));
    launch_often("second", exec);
}

static void refused(void)
{
    CUgraphNode node;

    launch_often("refused", begin("_Z19ncclDevKernel_ScalePffj", false, &node));
}

int main(int argc, char **argv)
{
    static const struct program_case cases[] = {{"changed", changed}, {"disabled", disabled},
                                                {"enabled", enabled}, {"second", second},
                                                {"refused", refused}, {0}};
    CUcontext context;
    size_t size;
    void *image = snippets_image(&size);

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    for (int i = 0; i < 2; i++)
        MUST(cuModuleLoadData(&modules[i], image));
    for (int i = 0; i < 3; i++) {
        MUST(cuMemAlloc(&x[i], N * 4));
        MUST(cuMemsetD32(x[i], 0, N));
    }
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxSynchronize());
    run_case(cases, argc > 1 ? argv[1] : "");
    free(image);
    return 0;
}
