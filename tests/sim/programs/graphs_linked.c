/* graphs_linked CASE: a graph of kernels, copies and fills that update memory in place, made and
 * changed in the way the case says and launched several times. Prints the memory afterwards. */
#include <pthread.h>
#include <unistd.h>

#include "programs/cases.h"
#include "programs/linked.h"
#include "programs/nodes.h"
#include "programs/snippets.h"

#define N 700u
#define BUFFERS 8
#define ROUNDS 5

static CUfunction scale, wait_for_flag, global_counter;
static CUcontext context;
static CUstream stream;
static CUdeviceptr x[BUFFERS];
static float host[N];

/* ---- pieces ---- */

/* x = x * factor + 1, as a node says it. */
struct scaling {
    CUdeviceptr x;
    unsigned n;
    float factor;
    void *params[3];
    CUDA_KERNEL_NODE_PARAMS node;
};

static const CUDA_KERNEL_NODE_PARAMS *scaling(struct scaling *s, CUdeviceptr buffer, float factor)
{
    *s = (struct scaling){.x = buffer, .n = N, .factor = factor};
    s->params[0] = &s->x;
    s->params[1] = &s->n;
    s->params[2] = &s->factor;
    s->node = kernel_node(scale, blocks_for(N, 128), 128, s->params);
    return &s->node;
}

static CUgraphNode add_scaling(CUgraph graph, CUdeviceptr buffer, float factor,
                               const CUgraphNode *after, size_t count)
{
    struct scaling s;
    CUgraphNode node;

    MUST(cuGraphAddKernelNode(&node, graph, after, count, scaling(&s, buffer, factor)));
    return node;
}

static CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .WidthInBytes = N * 4,
                           .Height = 1,
                           .Depth = 1};
}

static CUgraphNode add_copy(CUgraph graph, const CUDA_MEMCPY3D *copy, const CUgraphNode *after,
                            size_t count)
{
    CUgraphNode node;

    MUST(cuGraphAddMemcpyNode(&node, graph, after, count, copy, context));
    return node;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr what, unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = what, .value = value, .elementSize = 4, .width = N / 2, .height = 1};
}

static CUgraphNode add_fill(CUgraph graph, CUdeviceptr what, unsigned value,
                            const CUgraphNode *after, size_t count)
{
    CUDA_MEMSET_NODE_PARAMS fill = fill_of(what, value);
    CUgraphNode node;

    MUST(cuGraphAddMemsetNode(&node, graph, after, count, &fill, context));
    return node;
}

static CUgraph new_graph(void)
{
    CUgraph graph;

    MUST(cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphExec executable(CUgraph graph)
{
    CUgraphExec exec;

    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void destroy(CUgraphExec exec, CUgraph graph)
{
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
}

static void launch_often(CUgraphExec exec)
{
    for (int i = 0; i < ROUNDS; i++)
        MUST(cuGraphLaunch(exec, stream));
}

static void show(const char *what)
{
    MUST(cuStreamSynchronize(stream));
    printf("%s:", what);
    for (int i = 0; i < BUFFERS; i++) {
        MUST(cuMemcpyDtoH(host, x[i], N * 4));
        printf(" %08x", digest(host, N * 4));
    }
    printf("\n");
}

/* Three scalings of one buffer. */
static CUgraph a_line(CUgraphNode nodes[3])
{
    CUgraph graph = new_graph();

    for (int i = 0; i < 3; i++)
        nodes[i] = add_scaling(graph, x[0], 2 + (float)i, i ? &nodes[i - 1] : NULL, i ? 1 : 0);
    return graph;
}

/* ---- cases ---- */

static void line(void)
{
    CUgraphNode nodes[3];
    CUgraph graph = a_line(nodes);
    CUgraphExec exec = executable(graph);

    launch_often(exec);
    show("a line");
    destroy(exec, graph);
}

/* The program's graph is changed and destroyed after it was instantiated. */
static void destroyed(void)
{
    CUgraphNode nodes[3];
    CUgraph graph = a_line(nodes);
    CUgraphExec exec = executable(graph);
    struct scaling s;

    MUST(cuGraphKernelNodeSetParams(nodes[1], scaling(&s, x[1], 100)));
    MUST(cuGraphDestroy(graph));
    launch_often(exec);
    show("its graph destroyed");
    MUST(cuGraphExecDestroy(exec));
}

/* 0 -> (1, 2 -> 3) -> 4, twice over: the joining node reads the writes of the branches. */
static CUgraph a_diamond(void)
{
    CUgraph graph = new_graph();
    CUgraphNode top = NULL;

    for (int i = 0; i < 2; i++) {
        CUDA_MEMCPY3D copy = copy_of(x[3], x[1]), back = copy_of(x[0], x[3]);
        CUgraphNode ends[2], in;
        top = add_scaling(graph, x[0], 2, &top, i);
        ends[0] = add_scaling(graph, x[1], 3, &top, 1);
        in = add_scaling(graph, x[2], 4, &top, 1);
        ends[1] = add_scaling(graph, x[2], 5, &in, 1);
        in = add_copy(graph, &copy, ends, 2);
        in = add_scaling(graph, x[3], 0.5f, &in, 1);
        top = add_copy(graph, &back, &in, 1);
    }
    return graph;
}

static void branches(void)
{
    CUgraph graph = a_diamond();
    CUgraphExec exec = executable(graph);

    launch_often(exec);
    MUST(cuMemsetD32Async(x[5], 7, N, stream));
    launch_often(exec);
    show("branches");
    destroy(exec, graph);
}

/* 0 -> (1, 2 -> 3) -> 4 of copies: the joining node reads the last write of the longer branch.
 * Later work in the stream reads the end. */
static void join_behind(CUgraph graph, const CUgraphNode *first, unsigned longer, const char *name)
{
    CUDA_MEMCPY3D copy = copy_of(x[3], x[2]), out = copy_of(x[5], x[4]);
    CUgraphNode top = add_scaling(graph, x[0], 2, first, first ? 1 : 0), ends[2], node;
    CUgraphExec exec;

    ends[0] = add_scaling(graph, x[1], 3, &top, 1);
    node = add_scaling(graph, x[2], 4, &top, 1);
    for (unsigned i = 0; i < longer; i++)
        node = add_scaling(graph, x[2], 0.5f, &node, 1);
    ends[1] = add_scaling(graph, x[2], 5, &node, 1);
    node = add_copy(graph, &copy, ends, 2);
    (void)add_scaling(graph, x[3], 0.5f, &node, 1);
    exec = executable(graph);
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuGraphLaunch(exec, stream));
        MUST(cuMemcpyDtoDAsync(x[4], x[3], N * 4, stream));
        MUST(cuMemcpy3DAsync(&out, stream));
        MUST(cuMemsetD32Async(x[3], 7, N, stream));
    }
    show(name);
    destroy(exec, graph);
}

static void joined(void)
{
    join_behind(new_graph(), NULL, 0, "joined");
}

static void do_nothing(void *unused)
{
    (void)unused;
}

/* A graph with a host function runs once: its nodes are the program's work. One branch takes
 * longer than the other one. */
static void joined_behind_host(void)
{
    CUDA_HOST_NODE_PARAMS call = {.fn = do_nothing};
    CUgraph graph = new_graph();
    CUgraphNode node;

    MUST(cuGraphAddHostNode(&node, graph, NULL, 0, &call));
    join_behind(graph, &node, 3, "joined behind the host");
}

/* A node that is launched cooperatively, with blocks enough for it to matter. */
static void cooperative(void)
{
    CUgraph graph = new_graph();
    void *parameters[] = {&x[0]};
    CUDA_KERNEL_NODE_PARAMS p = kernel_node(NULL, 4, 128, parameters);
    CUlaunchAttributeValue yes = {.cooperative = 1};
    CUgraphNode node;
    CUgraphExec exec;
    CUmodule module;

    MUST(cuFuncGetModule(&module, scale));
    MUST(cuModuleGetFunction(&p.func, module, "grid_is_valid"));
    MUST(cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
    MUST(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &yes));
    MUST(cuGraphAddKernelNode(&node, graph, &node, 1, &p));
    exec = executable(graph);
    for (int i = 0; i < 8; i++)
        launch_often(exec);
    show("cooperative");
    destroy(exec, graph);
}

/* More kernels side by side than are launched apart. */
static void wide(void)
{
    CUgraph graph = new_graph();
    CUgraphExec exec;

    for (int i = 0; i < BUFFERS; i++)
        (void)add_scaling(graph, x[i], 2 + (float)i, NULL, 0);
    exec = executable(graph);
    launch_often(exec);
    show("wide");
    destroy(exec, graph);
}

/* The same kernels, which the driver compiles; their text says whether they may wait. */
static void wide_of_ptx(const char *load)
{
    const CUfunction plain = scale;
    char text[512];
    CUmodule module;

    (void)snprintf(text, sizeof(text),
                   ".version 8.0\n.target sm_90\n.address_size 64\n"
                   ".visible .entry scale_in_place(.param .u64 x, .param .u32 n, .param .f32 a)\n"
                   "{\n %s %%r1, [%%rd1];\n st.global.u32 [%%rd1], %%r1;\n ret;\n}\n",
                   load);
    MUST(cuModuleLoadData(&module, text));
    MUST(cuModuleGetFunction(&scale, module, "scale_in_place"));
    wide();
    scale = plain;
    MUST(cuModuleUnload(module));
}

static void wide_ptx(void)
{
    wide_of_ptx("ld.global.u32");
}

static void wide_ptx_waits(void)
{
    wide_of_ptx("ld.acquire.gpu.global.u32");
}

static CUDA_KERNEL_NODE_PARAMS waiting(void **parameters);

/* More kernels side by side than are launched apart; `waits` of them wait for a fill beside them.
 */
static void wide_and_waiting(int waits, int launches)
{
    CUdeviceptr flag = x[6], seen = x[7];
    void *parameters[] = {&flag, &seen};
    CUDA_KERNEL_NODE_PARAMS p = waiting(parameters);
    CUgraph graph = new_graph();
    CUgraphNode zero = add_fill(graph, flag, 0, NULL, 0), node;
    CUgraphExec exec;

    for (int i = 0; i < waits; i++)
        MUST(cuGraphAddKernelNode(&node, graph, &zero, 1, &p));
    for (int i = 0; i < 6; i++)
        (void)add_scaling(graph, x[i], 2 + (float)i, &zero, 1);
    (void)add_fill(graph, flag, 3, &zero, 1);
    exec = executable(graph);
    (void)alarm(30);
    while (launches--)
        MUST(cuGraphLaunch(exec, stream));
    show("wide");
    destroy(exec, graph);
}

static void wide_waits(void)
{
    wide_and_waiting(5, 1);
}

static void wide_waits_often(void)
{
    wide_and_waiting(5, ROUNDS);
}

static void wide_waits_once(void)
{
    wide_and_waiting(1, ROUNDS);
}

/* Kernels that cannot wait become some that do, or such kernels are enabled. */
static void wide_later(bool are_enabled)
{
    CUdeviceptr flag = x[6], seen = x[7];
    void *parameters[] = {&flag, &seen};
    CUDA_KERNEL_NODE_PARAMS p = waiting(parameters);
    CUgraph graph = new_graph();
    CUgraphNode nodes[6], zero = add_fill(graph, flag, 0, NULL, 0);
    CUgraphExec exec;

    for (int i = 0; i < 6; i++)
        nodes[i] = add_scaling(graph, x[i], 2 + (float)i, &zero, 1);
    for (int i = 0; are_enabled && i < 6; i++)
        MUST(cuGraphAddKernelNode(&nodes[i], graph, &zero, 1, &p));
    (void)add_fill(graph, flag, 3, &zero, 1);
    exec = executable(graph);
    for (int i = 0; are_enabled && i < 6; i++)
        MUST(cuGraphNodeSetEnabled(exec, nodes[i], 0));
    (void)alarm(30);
    launch_often(exec);
    for (int i = 0; i < 6; i++)
        MUST(are_enabled ? cuGraphNodeSetEnabled(exec, nodes[i], 1)
                         : cuGraphExecKernelNodeSetParams(exec, nodes[i], &p));
    launch_often(exec);
    show("wide");
    destroy(exec, graph);
}

static void wide_changed(void)
{
    wide_later(false);
}

static void wide_enabled(void)
{
    wide_later(true);
}

/* Fills and copies among kernels, and one to memory that only the host knows. */
static void copies(void)
{
    static float pageable[N];
    CUgraph graph = new_graph();
    CUDA_MEMCPY3D copy = copy_of(x[1], x[0]), out = copy_of(0, x[1]);
    CUgraphNode fills[3], last;
    CUgraphExec exec;

    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = pageable;
    fills[0] = add_fill(graph, x[0], 0x3f800000, NULL, 0);
    fills[1] = add_fill(graph, x[2], 0x40000000, NULL, 0);
    MUST(cuGraphAddEmptyNode(&fills[2], graph, NULL, 0));
    last = add_scaling(graph, x[0], 3, fills, 3);
    last = add_copy(graph, &copy, &last, 1);
    last = add_scaling(graph, x[1], 5, &last, 1);
    (void)add_copy(graph, &out, &last, 1);
    (void)add_fill(graph, x[3], 0x40400000, &last, 1);
    exec = executable(graph);
    launch_often(exec);
    show("copies and fills");
    printf("on the host: %08x\n", digest(pageable, sizeof(pageable)));
    destroy(exec, graph);
}

/* Every node is changed in the executable graph, in each of the ways there are. */
static void params(void)
{
    CUgraph graph = new_graph();
    CUDA_MEMCPY3D copy = copy_of(x[1], x[0]);
    CUDA_MEMSET_NODE_PARAMS fill;
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    CUgraphNode first, second, copied, filled;
    CUgraphExec exec;
    struct scaling s;

    first = add_scaling(graph, x[0], 2, NULL, 0);
    second = add_scaling(graph, x[1], 3, &first, 1);
    copied = add_copy(graph, &copy, &second, 1);
    filled = add_fill(graph, x[2], 9, &copied, 1);
    exec = executable(graph);
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuGraphExecKernelNodeSetParams(exec, first, scaling(&s, x[3], 4)));
    MUST(cuGraphLaunch(exec, stream));
    copy = copy_of(x[4], x[3]);
    MUST(cuGraphExecMemcpyNodeSetParams(exec, copied, &copy, context));
    MUST(cuGraphLaunch(exec, stream));
    fill = fill_of(x[5], 11);
    MUST(cuGraphExecMemsetNodeSetParams(exec, filled, &fill, context));
    MUST(cuGraphLaunch(exec, stream));
    memcpy(&any.kernel, scaling(&s, x[6], 5), sizeof(any.kernel));
    MUST(cuGraphExecNodeSetParams(exec, second, &any));
    MUST(cuGraphLaunch(exec, stream));
    show("changed nodes");
    destroy(exec, graph);
}

/* The executable graph takes over other graphs of the same shape, and one of another. */
static void update(void)
{
    CUgraphNode nodes[3];
    CUgraph graph = a_line(nodes), wrong = a_diamond();
    CUgraphExec exec = executable(graph);
    CUgraphExecUpdateResultInfo info;

    MUST(cuGraphDestroy(graph));
    launch_often(exec);
    for (int i = 1; i < 4; i++) {
        CUgraph other = new_graph();
        CUgraphNode last = NULL;
        for (int k = 0; k < 3; k++)
            last = add_scaling(other, x[k], (float)(i + k), &last, k > 0);
        MUST(cuGraphExecUpdate(exec, other, &info));
        MUST(cuGraphDestroy(other));
        launch_often(exec);
    }
    expect(cuGraphExecUpdate(exec, wrong, &info) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "update");
    launch_often(exec);
    show("updated");
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(wrong));
}

static void disabled(void)
{
    CUgraphNode nodes[3];
    CUgraph graph = a_line(nodes);
    CUgraphExec exec = executable(graph);

    MUST(cuGraphNodeSetEnabled(exec, nodes[1], 0));
    launch_often(exec);
    MUST(cuGraphNodeSetEnabled(exec, nodes[0], 0));
    MUST(cuGraphNodeSetEnabled(exec, nodes[1], 1));
    launch_often(exec);
    MUST(cuGraphNodeSetEnabled(exec, nodes[1], 0));
    MUST(cuGraphNodeSetEnabled(exec, nodes[2], 0));
    launch_often(exec);
    show("disabled nodes");
    destroy(exec, graph);
}

/* A line in a graph in a graph, beside a kernel and before another, and a child without nodes. */
static CUgraph a_family(CUgraphNode *inner)
{
    CUgraph grown = new_graph(), child = new_graph(), empty = new_graph(), line;
    CUgraphNode nodes[3], in, ends[3];

    line = a_line(nodes);
    in = add_scaling(child, x[1], 2, NULL, 0);
    MUST(cuGraphAddChildGraphNode(&in, child, &in, 1, line));
    (void)add_scaling(child, x[0], 7, &in, 1);
    ends[0] = add_scaling(grown, x[0], 3, NULL, 0);
    MUST(cuGraphAddChildGraphNode(&ends[1], grown, &ends[0], 1, child));
    ends[0] = add_scaling(grown, x[2], 5, &ends[0], 1);
    MUST(cuGraphAddChildGraphNode(&ends[2], grown, &ends[0], 1, empty));
    (void)add_scaling(grown, x[0], 0.25f, ends, 3);
    if (inner) {
        size_t one = 1;
        MUST(cuGraphChildGraphNodeGetGraph(ends[1], &child));
        MUST(cuGraphGetNodes(child, inner, &one));
    } else {
        MUST(cuGraphDestroy(child));
    }
    MUST(cuGraphDestroy(empty));
    MUST(cuGraphDestroy(line));
    return grown;
}

static void child(void)
{
    CUgraph graph = a_family(NULL);
    CUgraphExec exec = executable(graph);

    MUST(cuGraphDestroy(graph));
    launch_often(exec);
    show("child graphs");
    MUST(cuGraphExecDestroy(exec));
}

/* A node of a child graph is changed in the executable graph. */
static void inner(void)
{
    CUgraphNode node;
    CUgraph graph = a_family(&node);
    CUgraphExec exec = executable(graph);
    struct scaling s;

    launch_often(exec);
    MUST(cuGraphExecKernelNodeSetParams(exec, node, scaling(&s, x[4], 3)));
    launch_often(exec);
    show("a changed child graph");
    destroy(exec, graph);
}

static void count_call(void *data)
{
    __atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED);
}

static void host_node(void)
{
    static int calls;
    CUDA_HOST_NODE_PARAMS call = {.fn = count_call, .userData = &calls};
    CUgraphNode nodes[3], node;
    CUgraph graph = a_line(nodes);
    CUgraphExec exec;

    MUST(cuGraphAddHostNode(&node, graph, &nodes[1], 1, &call));
    exec = executable(graph);
    launch_often(exec);
    show("a host function");
    printf("called %d times\n", calls);
    destroy(exec, graph);
}

static void count_other(void *data)
{
    *(int *)data += 1000;
}

/* The host function becomes another one, and then one of other data. */
static void host_changed(void)
{
    static int calls[2];
    CUDA_HOST_NODE_PARAMS call = {.fn = count_call, .userData = &calls[0]};
    CUgraphNodeParams other = {.type = CU_GRAPH_NODE_TYPE_HOST};
    CUgraphNode nodes[3], node;
    CUgraph graph = a_line(nodes);
    CUgraphExec exec;

    MUST(cuGraphAddHostNode(&node, graph, &nodes[2], 1, &call));
    exec = executable(graph);
    launch_often(exec);
    call.fn = count_other;
    MUST(cuGraphExecHostNodeSetParams(exec, node, &call));
    launch_often(exec);
    MUST(cuStreamSynchronize(stream));
    other.host.fn = count_other;
    other.host.userData = &calls[1];
    MUST(cuGraphExecNodeSetParams(exec, node, &other));
    launch_often(exec);
    show("a host function that changes");
    printf("called: %d %d\n", calls[0], calls[1]);
    destroy(exec, graph);
}

static void halve(void *data)
{
    float *numbers = data;
    for (unsigned i = 0; i < N; i++)
        numbers[i] = numbers[i] / 2 + (float)i;
}

/* The host changes the numbers between two kernels. */
static void host_between(void)
{
    void *memory;
    CUDA_MEMCPY3D out = copy_of(0, x[1]), back = copy_of(x[1], 0);
    CUDA_HOST_NODE_PARAMS call = {.fn = halve};
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUgraphExec exec;

    MUST(cuMemHostAlloc(&memory, N * 4, 0));
    out.dstMemoryType = back.srcMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = memory;
    back.srcHost = memory;
    call.userData = memory;
    node = add_scaling(graph, x[1], 3, NULL, 0);
    node = add_copy(graph, &out, &node, 1);
    MUST(cuGraphAddHostNode(&node, graph, &node, 1, &call));
    node = add_copy(graph, &back, &node, 1);
    (void)add_scaling(graph, x[1], 0.5f, &node, 1);
    exec = executable(graph);
    launch_often(exec);
    show("a host function between kernels");
    MUST(cuMemFreeHost(memory));
    destroy(exec, graph);
}

static void wait_for_program(void *data)
{
    while (!__atomic_load_n((int *)data, __ATOMIC_ACQUIRE))
        usleep(100);
}

/* A host function waits for the program, which goes on only when the launch has come back. */
static void host_waits(void)
{
    static int flag;
    CUDA_HOST_NODE_PARAMS call = {.fn = wait_for_program, .userData = &flag};
    CUgraphNode nodes[3];
    CUgraph graph = a_line(nodes);
    CUgraphNode node;
    CUgraphExec exec;

    MUST(cuGraphAddHostNode(&node, graph, &nodes[2], 1, &call));
    (void)add_scaling(graph, x[0], 7, &node, 1);
    exec = executable(graph);
    (void)alarm(30);
    for (int i = 0; i < ROUNDS; i++) {
        __atomic_store_n(&flag, 0, __ATOMIC_RELEASE);
        MUST(cuGraphLaunch(exec, stream));
        __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
        MUST(cuStreamSynchronize(stream));
    }
    show("a host function that waits");
    destroy(exec, graph);
}

/* The graph goes while it runs. */
static void host_destroyed(void)
{
    static int calls;
    CUDA_HOST_NODE_PARAMS call = {.fn = count_call, .userData = &calls};
    CUgraphNode nodes[3], node;
    CUgraph graph = a_line(nodes);
    CUgraphExec exec;

    MUST(cuGraphAddHostNode(&node, graph, &nodes[2], 1, &call));
    exec = executable(graph);
    MUST(cuGraphLaunch(exec, stream));
    destroy(exec, graph);
    show("a host function of a graph that is gone");
    printf("called %d times\n", calls);
}

/* Adds an allocation, work in it, and its end. */
static void add_allocation(CUgraph graph, bool freed)
{
    CUgraphNodeParams made = allocation_node(N * 4), gone;
    CUDA_MEMCPY3D out;
    CUgraphNode node;

    MUST(cuGraphAddNode(&node, graph, NULL, NULL, 0, &made));
    node = add_fill(graph, made.alloc.dptr, 5, &node, 1);
    node = add_scaling(graph, made.alloc.dptr, 2, &node, 1);
    out = copy_of(x[4], made.alloc.dptr);
    node = add_copy(graph, &out, &node, 1);
    gone = free_node(made.alloc.dptr);
    if (freed)
        MUST(cuGraphAddNode(&node, graph, &node, NULL, 1, &gone));
}

/* Memory that is there only while the graph runs, or longer; other launches before and behind it.
 */
static void allocates_and(bool freed, bool in_child)
{
    CUgraph graph = new_graph(), inner = new_graph();
    CUgraphNode node;
    CUgraphExec exec;
    struct scaling s;

    (void)scaling(&s, x[0], 2);
    for (int i = 0; i < ROUNDS; i++)
        MUST(cuLaunchKernel(scale, s.node.gridDimX, 1, 1, 128, 1, 1, 0, stream, s.params, NULL));
    add_allocation(graph, true);
    add_allocation(in_child ? inner : graph, freed);
    MUST(cuGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    exec = executable(graph);
    launch_often(exec);
    for (int i = 0; i < ROUNDS; i++)
        MUST(cuLaunchKernel(scale, s.node.gridDimX, 1, 1, 128, 1, 1, 0, stream, s.params, NULL));
    show("memory of a graph");
    destroy(exec, graph);
    MUST(cuGraphDestroy(inner));
}

static void allocates_and_frees(void)
{
    allocates_and(true, false);
    allocates_and(true, true);
}

static void allocates_more(void)
{
    allocates_and(false, false);
}

static void allocates_more_in_child(void)
{
    allocates_and(false, true);
}

/* A graph that calls a host function, and then allocates memory that outlives its launch. */
static void allocates(void)
{
    static int calls;
    CUDA_HOST_NODE_PARAMS call = {.fn = count_call, .userData = &calls};
    CUgraphNodeParams params = allocation_node(N * 4);
    CUgraph graph = new_graph();
    CUgraphNode first, node;
    CUgraphExec exec;
    struct scaling s;

    MUST(cuGraphAddHostNode(&first, graph, NULL, 0, &call));
    MUST(cuGraphAddNode(&node, graph, &first, NULL, 1, &params));
    exec = executable(graph);
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuMemsetD32Async(params.alloc.dptr, 0, N, stream));
    (void)scaling(&s, params.alloc.dptr, 2);
    for (int i = 0; i < ROUNDS; i++)
        MUST(cuLaunchKernel(scale, s.node.gridDimX, 1, 1, 128, 1, 1, 0, stream, s.params, NULL));
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemcpyDtoH(host, params.alloc.dptr, N * 4));
    printf("memory of a graph: %g\n", (double)host[N - 1]);
    destroy(exec, graph);
}

/* A graph launched into a stream that is being captured is part of the graph that comes of it. */
static void captured(void)
{
    CUgraphNode nodes[3];
    CUgraph graph = a_line(nodes), whole;
    CUgraphExec exec = executable(graph), all;

    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuMemsetD32Async(x[3], 5, N, stream));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamEndCapture(stream, &whole));
    show("captured");
    MUST(cuGraphDestroy(graph));
    MUST(cuGraphExecDestroy(exec));
    all = executable(whole);
    launch_often(all);
    show("and launched");
    MUST(cuGraphExecDestroy(all));
    MUST(cuGraphDestroy(whole));
}

/* Every kind of stream there is. */
static void streams(void)
{
    CUstream kinds[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, NULL};
    CUgraph graph = a_diamond();
    CUgraphExec exec = executable(graph);
    CUstream blocking;

    MUST(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    kinds[3] = blocking;
    for (int i = 0; i < 4; i++) {
        MUST(cuGraphLaunch(exec, kinds[i]));
        MUST(cuMemsetD32Async(x[1], (unsigned)i << 20, N / 3, kinds[i]));
        MUST(cuGraphLaunch(exec, kinds[i]));
        MUST(cuStreamSynchronize(kinds[i]));
    }
    show("streams");
    MUST(cuStreamDestroy(blocking));
    destroy(exec, graph);
}

static CUDA_KERNEL_NODE_PARAMS waiting(void **parameters)
{
    return kernel_node(wait_for_flag, 1, 32, parameters);
}

/* One kernel waits for another one beside it. A profiler that holds up the one for the other
 * waits for ever. */
static void waits(void)
{
    CUdeviceptr flag = x[6], seen = x[7];
    void *parameters[] = {&flag, &seen};
    CUDA_KERNEL_NODE_PARAMS p = waiting(parameters);
    CUgraph graph = new_graph();
    CUgraphNode zero, ends[2];
    CUgraphExec exec;

    zero = add_fill(graph, flag, 0, NULL, 0);
    MUST(cuGraphAddKernelNode(&ends[0], graph, &zero, 1, &p));
    ends[0] = add_scaling(graph, x[0], 2, ends, 1);
    ends[1] = add_scaling(graph, x[1], 3, &zero, 1);
    ends[1] = add_fill(graph, flag, 3, &ends[1], 1);
    ends[1] = add_scaling(graph, x[2], 3, &ends[1], 1);
    (void)add_scaling(graph, x[0], 5, ends, 2);
    exec = executable(graph);
    (void)alarm(30);
    launch_often(exec);
    show("a kernel that waits");
    destroy(exec, graph);
}

/* A kernel waits for the host, which goes on only when the launch has come back; then a copy to
 * memory that only the host knows, which is done by then as little. */
static void waits_for_host(void)
{
    static uint32_t seen[N];
    volatile uint32_t *flag;
    CUdeviceptr on_device;
    void *memory, *parameters[] = {&on_device, &x[1]};
    CUDA_KERNEL_NODE_PARAMS p = waiting(parameters);
    CUDA_MEMCPY3D out = copy_of(0, x[1]);
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUgraphExec exec;

    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&on_device, memory, 0));
    flag = memory;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = seen;
    node = add_scaling(graph, x[0], 2, NULL, 0);
    MUST(cuGraphAddKernelNode(&node, graph, &node, 1, &p));
    node = add_copy(graph, &out, &node, 1);
    (void)add_scaling(graph, x[0], 3, &node, 1);
    exec = executable(graph);
    (void)alarm(30);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        *flag = 0;
        MUST(cuGraphLaunch(exec, stream));
        printf("launched, copied %u\n", seen[0]);
        __atomic_store_n(flag, i, __ATOMIC_RELEASE);
        MUST(cuStreamSynchronize(stream));
        printf("ended, copied %u\n", seen[0]);
    }
    show("a kernel that waits for the host");
    MUST(cuMemFreeHost(memory));
    destroy(exec, graph);
}

/* More nodes behind one than a stream takes launches. */
static void add_line(CUgraph graph, CUgraphNode node)
{
    for (int i = 0; i < 1100; i++)
        node = add_scaling(graph, x[0], 0.5f, &node, 1);
}

/* More nodes than a stream takes launches, side by side, and each behind both before it; some of
 * them copy one buffer to the other. Returns the last node. */
static CUgraphNode make_ladder(CUgraph graph, CUgraphNode node)
{
    CUDA_MEMCPY3D copy = copy_of(x[2], x[0]);
    CUgraphNode both[2], next[2];

    for (int i = 0; i < 600; i++) {
        const CUgraphNode *after = i % 20 ? both : &node;
        next[0] = add_scaling(graph, x[0], 0.5f, after, i % 20 ? 2 : 1);
        next[1] = add_scaling(graph, x[2], 0.25f, after, i % 20 ? 2 : 1);
        memcpy(both, next, sizeof(both));
        if (i % 20 == 19)
            node = add_copy(graph, &copy, both, 2);
    }
    return node;
}

static void add_ladder(CUgraph graph, CUgraphNode node)
{
    (void)make_ladder(graph, node);
}

/* A ladder, and one more kernel behind it. */
static void add_ladder_and_counter(CUgraph graph, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS counter = waiting(NULL);

    counter.func = global_counter;
    node = make_ladder(graph, node);
    MUST(cuGraphAddKernelNode(&node, graph, &node, 1, &counter));
}

/* Many behind the kernel that waits; before it another kernel. */
static void wait_before(void (*add_many)(CUgraph graph, CUgraphNode node))
{
    CUdeviceptr on_device;
    void *memory, *parameters[] = {&on_device, &x[1]};
    CUDA_KERNEL_NODE_PARAMS p = waiting(parameters), counter = waiting(NULL);
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUgraphExec exec;

    counter.func = global_counter;
    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&on_device, memory, 0));
    MUST(cuGraphAddKernelNode(&node, graph, NULL, 0, &counter));
    MUST(cuGraphAddKernelNode(&node, graph, &node, 1, &p));
    add_many(graph, node);
    exec = executable(graph);
    (void)alarm(30);
    for (unsigned i = 1; i <= 2; i++) { /* the second time it is known */
        __atomic_store_n((uint32_t *)memory, 0, __ATOMIC_RELEASE);
        MUST(cuGraphLaunch(exec, stream));
        __atomic_store_n((uint32_t *)memory, i, __ATOMIC_RELEASE);
        MUST(cuStreamSynchronize(stream));
    }
    show("many behind a kernel that waits");
    MUST(cuMemFreeHost(memory));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
}

static void waits_before_many(void)
{
    wait_before(add_line);
}

static void waits_before_ladder(void)
{
    wait_before(add_ladder);
}

static void waits_before_last(void)
{
    wait_before(add_ladder_and_counter);
}

/* Many nodes behind a kernel that does not wait; behind them another kernel. */
static void counter_before_last(void)
{
    CUDA_KERNEL_NODE_PARAMS counter = waiting(NULL);
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUgraphExec exec;

    counter.func = global_counter;
    MUST(cuGraphAddKernelNode(&node, graph, NULL, 0, &counter));
    add_ladder_and_counter(graph, node);
    exec = executable(graph);
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    show("many between two kernels");
    destroy(exec, graph);
}

/* The kernel that waits was launched by itself before, and is alone in the graph. */
static void waits_alone(void)
{
    CUdeviceptr on_device;
    void *memory, *parameters[] = {&on_device, &x[1]};
    CUDA_KERNEL_NODE_PARAMS p = waiting(parameters);
    struct scaling beside;
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUgraphExec exec;
    CUstream other;

    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&on_device, memory, 0));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
    exec = executable(graph);
    (void)alarm(30);
    (void)scaling(&beside, x[0], 2);
    for (int round = 0; round < 2; round++) {
        __atomic_store_n((uint32_t *)memory, 0, __ATOMIC_RELEASE);
        if (round == 0)
            MUST(cuLaunchKernel(wait_for_flag, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
        else
            MUST(cuGraphLaunch(exec, stream));
        MUST(cuLaunchKernel(scale, beside.node.gridDimX, 1, 1, 128, 1, 1, 0, other, beside.params,
                            NULL));
        __atomic_store_n((uint32_t *)memory, 1, __ATOMIC_RELEASE);
        MUST(cuCtxSynchronize());
    }
    show("a kernel that waits alone");
    MUST(cuMemFreeHost(memory));
    MUST(cuStreamDestroy(other));
    destroy(exec, graph);
}

/* A kernel in the middle goes wrong, and two stand behind it. */
static void faulty(void)
{
    CUgraphNode nodes[3], node;
    CUgraph graph = a_line(nodes);
    unsigned n = N * 4;
    void *parameters[] = {&x[BUFFERS - 1], &n};
    CUDA_KERNEL_NODE_PARAMS p = kernel_node(NULL, 100, 128, parameters);
    CUmodule module;
    CUgraphExec exec;

    MUST(cuFuncGetModule(&module, scale));
    MUST(cuModuleGetFunction(&p.func, module, "out_of_bounds"));
    MUST(cuGraphAddKernelNode(&node, graph, &nodes[2], 1, &p));
    node = add_scaling(graph, x[0], 2, &node, 1);
    (void)add_scaling(graph, x[0], 2, &node, 1);
    exec = executable(graph);
    printf("launch: %d\n", cuGraphLaunch(exec, stream));
    printf("wait: %d\n", cuStreamSynchronize(stream));
    printf("launch again: %d\n", cuGraphLaunch(exec, stream));
    printf("destroy: %d\n", cuGraphExecDestroy(exec));
}

/* Wrong arguments. A stream that was destroyed would not do: a driver may give its handle to
 * another one. */
static void invalid(void)
{
    static char no_stream[4096];
    CUgraphNode nodes[3];
    CUgraph graph = a_line(nodes);
    CUgraphExec exec = executable(graph);

    printf("no graph: %d\n", cuGraphLaunch(NULL, stream));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    printf("no stream: %d\n", cuGraphLaunch(exec, (CUstream)no_stream));
    launch_often(exec);
    show("invalid");
    destroy(exec, graph);
}

/* Threads launch one after the other into one stream, and all use x[7] in between: no launch may
 * come between the nodes of another. */
static CUgraphExec of_thread[4];

static void *launch_mine(void *argument)
{
    CUgraphExec *mine = argument;

    MUST(cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuGraphLaunch(*mine, stream));
        MUST(cuMemsetD32Async(x[7], 0, N, stream));
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];

    for (int i = 0; i < 4; i++) {
        CUgraph graph = new_graph();
        CUDA_MEMCPY3D to = copy_of(x[7], x[i]), from = copy_of(x[i], x[7]);
        CUgraphNode node = add_copy(graph, &to, NULL, 0);
        node = add_scaling(graph, x[7], 2 + (float)i, &node, 1);
        node = add_scaling(graph, x[7], 3 + (float)i, &node, 1);
        (void)add_copy(graph, &from, &node, 1);
        of_thread[i] = executable(graph);
        MUST(cuGraphDestroy(graph));
    }
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, launch_mine, &of_thread[i]) != 0)
            exit(2);
    for (int i = 0; i < 4; i++)
        if (pthread_join(thread[i], NULL) != 0)
            exit(2);
    show("threads");
    for (int i = 0; i < 4; i++)
        MUST(cuGraphExecDestroy(of_thread[i]));
}

/* A context goes with graphs in it, and another one replaces it. */
static void contexts(void)
{
    CUcontext primary = context;
    CUmodule module;
    CUdevice device;
    size_t bytes;
    void *image = snippets_image(&bytes);

    MUST(cuDeviceGet(&device, 0));
    for (int i = 0; i < 3; i++) {
        CUgraphExec exec;
        CUgraph graph;
        MUST(cuCtxCreate_v2(&context, 0, device));
        MUST(cuModuleLoadData(&module, image));
        MUST(cuModuleGetFunction(&scale, module, "scale_in_place"));
        MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        for (int b = 0; b < BUFFERS; b++) {
            MUST(cuMemAlloc(&x[b], N * 4));
            MUST(cuMemsetD32(x[b], 0, N));
        }
        MUST(cuCtxSynchronize());
        graph = a_diamond();
        exec = executable(graph);
        launch_often(exec);
        show("a context of its own");
        MUST(cuGraphDestroy(graph));
        MUST(cuCtxDestroy(context));
    }
    MUST(cuCtxSetCurrent(primary));
    free(image);
}

static void launch_node(const struct scaling *s, const char *what)
{
    CUgraph graph = new_graph();
    CUgraphNode node;
    MUST(cuGraphAddKernelNode(&node, graph, NULL, 0, &s->node));
    CUgraphExec exec = executable(graph);
    launch_often(exec);
    show(what);
    destroy(exec, graph);
}

/* Graphs that keep the library's kernels under the handles a runtime uses, and behind them
 * as functions of the context, for which the driver has made a module. */
static void library(void)
{
    CUlibrary lib;
    CUkernel kernel;
    CUfunction function;
    size_t bytes;
    void *image = snippets_image(&bytes);
    struct scaling s;

    MUST(cuLibraryLoadData(&lib, image, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, lib, "scale_in_place"));
    (void)scaling(&s, x[0], 3);
    MUST(cuLaunchKernel((CUfunction)(void *)kernel, s.node.gridDimX, 1, 1, s.node.blockDimX, 1, 1,
                        0, stream, s.node.kernelParams, NULL));
    s.node.func = NULL;
    s.node.kern = kernel;
    launch_node(&s, "a library's kernel");
    MUST(cuKernelGetFunction(&function, kernel));
    s.node.func = function;
    s.node.kern = NULL;
    launch_node(&s, "the function of a library's kernel");
    MUST(cuLibraryUnload(lib));
    free(image);
}

/* A graph of one kernel that launches graphs or not, and of an ordinary one in another buffer. */
static CUgraphExec launching(CUfunction from_graph, unsigned launches)
{
    unsigned n = N;
    void *params[] = {&x[0], &n, &launches};
    CUDA_KERNEL_NODE_PARAMS p = kernel_node(from_graph, blocks_for(N, 128), 128, params);
    CUgraph graph = new_graph();
    CUgraphNode node;
    CUgraphExec exec;

    MUST(cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
    (void)add_scaling(graph, x[1], 3, &node, 1);
    exec = executable(graph);
    MUST(cuGraphDestroy(graph));
    return exec;
}

/* Kernels that can launch graphs, before there is one that they could launch, and afterwards; and a
 * graph of another module, whose kernels cannot. Then the same kernels by themselves. */
static void from_device(void)
{
    static const struct gpusim_image_kernel kernels[] = {{"scale_in_place", 8, 0, 0},
                                                         {"launch_from_graph", 8, 0, 0}};
    size_t bytes;
    void *image = gpusim_image_build(kernels, 2, NULL, 0, &bytes);
    CUfunction plain = scale, from_graph;
    CUmodule module;
    CUgraph child;
    CUgraphExec exec, child_exec;
    unsigned n = N, launches = 0;
    void *params[] = {&x[0], &n, &launches};

    if (!image)
        exit(2);
    MUST(cuModuleLoadData(&module, image));
    free(image);
    MUST(cuModuleGetFunction(&from_graph, module, "launch_from_graph"));
    MUST(cuModuleGetFunction(&scale, module, "scale_in_place"));
    exec = launching(from_graph, 0);
    launch_often(exec);
    show("nothing to launch");
    MUST(cuGraphExecDestroy(exec));

    scale = plain;
    child = new_graph();
    (void)add_scaling(child, x[2], 3, NULL, 0);
    MUST(
        cuGraphInstantiateWithFlags(&child_exec, child, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    exec = launching(from_graph, 1);
    launch_often(exec);
    show("a graph to launch");
    MUST(cuGraphExecDestroy(exec));
    exec = executable(child);
    launch_often(exec);
    show("another module");
    MUST(cuGraphExecDestroy(exec));
    for (int i = 0; i < ROUNDS; i++)
        MUST(cuLaunchKernel(from_graph, blocks_for(N, 128), 1, 1, 128, 1, 1, 0, stream, params,
                            NULL));
    show("by itself");
}

/* A node whose body runs, or does not. */
static CUgraphNode add_body(CUgraph graph, bool runs, const CUgraphNode *after, size_t count)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                .conditional = {.type = CU_GRAPH_COND_TYPE_IF, .size = 1}};
    CUgraphNode node;

    params.conditional.ctx = context;
    MUST(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, context, runs,
                                        CU_GRAPH_COND_ASSIGN_DEFAULT));
    MUST(cuGraphAddNode_v2(&node, graph, after, NULL, count, &params));
    (void)add_scaling(params.conditional.phGraph_out[0], x[0], 3, NULL, 0);
    return node;
}

/* One that runs and one that does not, between two kernels; then the first by itself. */
static void conditional(void)
{
    CUgraph graph = new_graph();
    CUgraphNode top = add_scaling(graph, x[0], 2, NULL, 0), end;
    CUgraphExec exec;

    top = add_body(graph, true, &top, 1);
    top = add_body(graph, false, &top, 1);
    end = add_scaling(graph, x[0], 5, &top, 1);
    (void)end;
    exec = executable(graph);
    launch_often(exec);
    show("conditional nodes");
    destroy(exec, graph);
    graph = new_graph();
    (void)add_body(graph, true, NULL, 0);
    exec = executable(graph);
    launch_often(exec);
    show("a conditional node");
    destroy(exec, graph);
}

int main(int argc, char **argv)
{
    static const struct program_case cases[] = {
        {"line", line},
        {"destroyed", destroyed},
        {"branches", branches},
        {"wide", wide},
        {"wide_ptx", wide_ptx},
        {"wide_ptx_waits", wide_ptx_waits},
        {"wide_waits", wide_waits},
        {"wide_waits_often", wide_waits_often},
        {"wide_waits_once", wide_waits_once},
        {"wide_changed", wide_changed},
        {"wide_enabled", wide_enabled},
        {"copies", copies},
        {"params", params},
        {"update", update},
        {"disabled", disabled},
        {"child", child},
        {"inner", inner},
        {"allocates_and_frees", allocates_and_frees},
        {"allocates_more", allocates_more},
        {"allocates_more_in_child", allocates_more_in_child},
        {"host", host_node},
        {"host_changed", host_changed},
        {"host_between", host_between},
        {"host_waits", host_waits},
        {"host_destroyed", host_destroyed},
        {"captured", captured},
        {"streams", streams},
        {"waits", waits},
        {"faulty", faulty},
        {"invalid", invalid},
        {"threads", threads},
        {"contexts", contexts},
        {"library", library},
        {"waits_for_host", waits_for_host},
        {"waits_alone", waits_alone},
        {"waits_before_many", waits_before_many},
        {"waits_before_ladder", waits_before_ladder},
        {"waits_before_last", waits_before_last},
        {"counter_before_last", counter_before_last},
        {"allocates", allocates},
        {"joined", joined},
        {"joined_behind_host", joined_behind_host},
        {"cooperative", cooperative},
        {"from_device", from_device},
        {"conditional", conditional},
        {0}};
    struct gpu gpu;
    struct work w = {.gpu = &gpu};
    CUmodule managed;
    size_t bytes;
    void *image;

    gpu_from_linker(&gpu);
    snippets_open(&w);
    scale = kernel(&w, "scale_in_place");
    wait_for_flag = kernel(&w, "wait_for_flag");
    MUST(cuModuleLoadData(&managed, image = snippets_image_managed(&bytes)));
    free(image);
    MUST(cuModuleGetFunction(&global_counter, managed, "global_counter"));
    MUST(cuCtxGetCurrent(&context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < BUFFERS; i++) {
        x[i] = allocate(&w, N * 4);
        MUST(cuMemsetD32(x[i], 0, N));
    }
    MUST(cuCtxSynchronize());
    run_case(cases, argc > 1 ? argv[1] : "");
    return 0;
}
