/* again_linked CASE: graphs that have to run as a whole, as they allocate memory of their own or
 * deal with events, launched several times. Prints the memory afterwards. */
#include "programs/cases.h"
#include "programs/linked.h"
#include "programs/snippets.h"

#include "image.h"

#define N 700u
#define BUFFERS 4
#define ROUNDS 5

static CUfunction scale, add, hide;
static CUstream stream, other;
static CUdeviceptr x[BUFFERS];
static uint32_t *landed; /* page-locked */
static float host[N];

/* ---- nodes: each is behind the one before it ---- */

static CUgraph graph;
static CUgraphNode last;

static void begin(void)
{
    MUST(cuGraphCreate(&graph, 0));
    last = NULL;
}

static CUdeviceptr alloc_node(size_t bytes)
{
    CUgraphNodeParams p = {
        .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        .alloc = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
                  .bytesize = bytes}};

    MUST(cuGraphAddNode(&last, graph, &last, NULL, last != NULL, &p));
    return p.alloc.dptr;
}

static void release(CUdeviceptr memory)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {.dptr = memory}};

    MUST(cuGraphAddNode(&last, graph, &last, NULL, last != NULL, &p));
}

static CUDA_KERNEL_NODE_PARAMS kernel_of(CUfunction function, void **params)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                     .gridDimX = blocks_for(N, 128),
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 128,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
}

/* memory = memory * factor + 1 */
static CUgraphNode scales(CUdeviceptr memory, float factor)
{
    unsigned n = N;
    void *params[] = {&memory, &n, &factor};
    CUDA_KERNEL_NODE_PARAMS p = kernel_of(scale, params);

    MUST(cuGraphAddKernelNode(&last, graph, &last, last != NULL, &p));
    return last;
}

static CUgraphNode adds(CUdeviceptr a, CUdeviceptr b, CUdeviceptr sum)
{
    unsigned n = N;
    void *params[] = {&a, &b, &sum, &n};
    CUDA_KERNEL_NODE_PARAMS p = kernel_of(add, params);

    MUST(cuGraphAddKernelNode(&last, graph, &last, last != NULL, &p));
    return last;
}

static void fills(CUdeviceptr memory, unsigned value)
{
    CUcontext context;
    const CUDA_MEMSET_NODE_PARAMS p = {
        .dst = memory, .value = value, .elementSize = 4, .width = N, .height = 1};

    MUST(cuCtxGetCurrent(&context));
    MUST(cuGraphAddMemsetNode(&last, graph, &last, last != NULL, &p, context));
}

static void copies(CUmemorytype to_kind, CUdeviceptr to, CUmemorytype from_kind, CUdeviceptr from,
                   size_t bytes)
{
    CUcontext context;
    CUDA_MEMCPY3D p = {.srcMemoryType = from_kind,
                       .srcDevice = from,
                       .dstMemoryType = to_kind,
                       .dstDevice = to,
                       .WidthInBytes = bytes,
                       .Height = 1,
                       .Depth = 1};

    MUST(cuCtxGetCurrent(&context));
    MUST(cuGraphAddMemcpyNode(&last, graph, &last, last != NULL, &p, context));
}

/* ---- for all cases ---- */

static CUgraphExec executable(void)
{
    CUgraphExec exec;

    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void launch_often(CUgraphExec exec)
{
    for (int i = 0; i < ROUNDS; i++)
        MUST(cuGraphLaunch(exec, stream));
}

static uint32_t digest_of(CUdeviceptr memory)
{
    uint32_t hash = 2166136261u;

    MUST(cuMemcpyDtoH(host, memory, N * 4));
    for (size_t i = 0; i < N * 4; i++)
        hash = (hash ^ ((unsigned char *)host)[i]) * 16777619u;
    return hash;
}

static void show(const char *what)
{
    MUST(cuStreamSynchronize(stream));
    printf("%s:", what);
    for (int i = 0; i < BUFFERS; i++)
        printf(" %08x", digest_of(x[i]));
    printf("\n");
}

static void end(CUgraphExec exec)
{
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
}

/* ---- cases ---- */

/* Two allocations with work in them, which goes into memory that stays and to the host. */
static CUgraphNode a_graph_with_memory(void)
{
    CUdeviceptr one, two;

    begin();
    one = alloc_node(N * 4);
    fills(one, 0x3f800000);
    scales(one, 3);
    two = alloc_node(N * 4 + 100);
    copies(CU_MEMORYTYPE_DEVICE, two, CU_MEMORYTYPE_DEVICE, one, N * 4);
    scales(two, 2);
    CUgraphNode node = adds(one, x[0], x[0]);
    release(one);
    adds(two, x[1], x[1]);
    scales(x[0], 0.5f);
    copies(CU_MEMORYTYPE_UNIFIED, (uintptr_t)landed, CU_MEMORYTYPE_DEVICE, x[0], 4);
    release(two);
    return node;
}

static void memory(void)
{
    a_graph_with_memory();
    CUgraphExec exec = executable();
    launch_often(exec);
    show("memory of its own");
    printf("%08x came to the host\n", *landed);
    end(exec);
}

/* Nodes with that memory get other parameters, and are switched off. */
static void changed(void)
{
    CUgraphNode node = a_graph_with_memory();
    CUgraphExec exec = executable();
    unsigned n = N;
    void *params[] = {&x[2], &x[1], &x[3], &n};
    CUDA_KERNEL_NODE_PARAMS p = kernel_of(add, params);

    launch_often(exec);
    MUST(cuGraphExecKernelNodeSetParams(exec, node, &p));
    launch_often(exec);
    MUST(cuGraphNodeSetEnabled(exec, node, 0));
    launch_often(exec);
    show("changed");
    end(exec);
}

/* A fill of that memory becomes another one. */
static void refilled(void)
{
    CUcontext context;

    begin();
    CUdeviceptr one = alloc_node(N * 4);
    fills(one, 0x3f800000);
    CUgraphNode node = last;
    adds(one, x[0], x[0]);
    release(one);
    CUgraphExec exec = executable();
    const CUDA_MEMSET_NODE_PARAMS p = {
        .dst = one, .value = 0x40000000, .elementSize = 4, .width = N, .height = 1};
    launch_often(exec);
    MUST(cuCtxGetCurrent(&context));
    MUST(cuGraphExecMemsetNodeSetParams(exec, node, &p, context));
    launch_often(exec);
    show("another fill");
    end(exec);
}

/* Another graph takes more memory of its own, in turns with the first. */
static void larger(void)
{
    CUgraphExec small, large;
    CUgraph first;

    a_graph_with_memory();
    small = executable();
    first = graph;
    begin();
    CUdeviceptr much = alloc_node(5 << 20);
    fills(much, 0x40000000);
    adds(much, x[2], x[2]);
    release(much);
    large = executable();
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuGraphLaunch(small, stream));
        MUST(cuGraphLaunch(large, stream));
    }
    show("a larger one");
    end(large);
    graph = first;
    end(small);
}

/* An address of that memory lies in other memory: a kernel might go there, when it is gone. */
static void leads(void)
{
    begin();
    CUdeviceptr one = alloc_node(N * 4);
    fills(one, 0x3f800000);
    adds(one, x[0], x[0]);
    adds(x[3], x[0], x[1]);
    release(one);
    CUgraphExec exec = executable();
    MUST(cuMemcpyHtoD(x[3] + 2000, &one, sizeof(one)));
    launch_often(exec);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemsetD32(x[3], 0, N));
    MUST(cuMemsetD32(x[1], 0, N));
    show("its address elsewhere");
    end(exec);
}

/* The same on its way there. */
static void brings(void)
{
    static CUdeviceptr table[2];

    begin();
    CUdeviceptr one = alloc_node(N * 4);
    table[1] = one;
    fills(one, 0x3f800000);
    copies(CU_MEMORYTYPE_DEVICE, x[3], CU_MEMORYTYPE_UNIFIED, (uintptr_t)table, sizeof(table));
    adds(one, x[0], x[0]);
    release(one);
    CUgraphExec exec = executable();
    launch_often(exec);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemsetD32(x[3], 0, N));
    show("its address on the way");
    end(exec);
}

/* Memory of an earlier graph goes in a later one. */
static void of_another(void)
{
    begin();
    CUdeviceptr one = alloc_node(N * 4);
    fills(one, 0x3f800000);
    CUgraphExec first = executable();
    CUgraph makes = graph;
    begin();
    adds(one, x[0], x[0]);
    release(one);
    CUgraphExec second = executable();
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuGraphLaunch(first, stream));
        MUST(cuGraphLaunch(second, stream));
    }
    show("memory of another graph");
    end(second);
    graph = makes;
    end(first);
}

/* A kernel writes memory that nothing leads to: it must not run again. */
static void hidden(void)
{
    CUdeviceptr inverted = ~x[0];
    unsigned n = N;
    void *params[] = {&inverted, &n};
    CUDA_KERNEL_NODE_PARAMS p = kernel_of(hide, params);

    begin();
    MUST(cuGraphAddKernelNode(&last, graph, NULL, 0, &p));
    scales(x[1], 2);
    CUgraphExec exec = executable();
    launch_often(exec);
    show("a hidden address");
    end(exec);
}

/* It waits for an event of another stream, and records one for that. */
static void events(void)
{
    CUevent ready, done;

    MUST(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    begin();
    MUST(cuGraphAddEventWaitNode(&last, graph, NULL, 0, ready));
    scales(x[0], 2);
    adds(x[0], x[1], x[2]);
    MUST(cuGraphAddEventRecordNode(&last, graph, &last, 1, done));
    scales(x[1], 3);
    CUgraphExec exec = executable();
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuMemsetD32Async(x[1], 0x3f800000u + (unsigned)i, N, other));
        MUST(cuEventRecord(ready, other));
        MUST(cuGraphLaunch(exec, stream));
        MUST(cuStreamWaitEvent(other, done, 0));
        MUST(cuMemcpyDtoDAsync(x[3], x[2], N * 4, other));
        MUST(cuStreamSynchronize(other));
    }
    show("events");
    end(exec);
}

int main(int argc, char **argv)
{
    static const struct program_case cases[] = {{"memory", memory},     {"changed", changed},
                                                {"larger", larger},     {"leads", leads},
                                                {"brings", brings},     {"of_another", of_another},
                                                {"events", events},     {"hidden", hidden},
                                                {"refilled", refilled}, {0}};
    CUcontext context;
    CUmodule module;
    size_t size;
    static const struct gpusim_image_kernel kernels[] = {
        {"scale_in_place", 10, 0, 0}, {"vector_add_float", 10, 0, 0}, {"reach_hidden", 10, 0, 0}};
    void *image = gpusim_image_build(kernels, 3, NULL, 0, &size);

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, image));
    MUST(cuModuleGetFunction(&scale, module, "scale_in_place"));
    MUST(cuModuleGetFunction(&add, module, "vector_add_float"));
    MUST(cuModuleGetFunction(&hide, module, "reach_hidden"));
    MUST(cuMemHostAlloc((void **)&landed, 4096, 0));
    for (int i = 0; i < BUFFERS; i++) {
        MUST(cuMemAlloc(&x[i], N * 4));
        MUST(cuMemsetD32(x[i], 0x3f800000u, N));
    }
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxSynchronize());
    run_case(cases, argc > 1 ? argv[1] : "");
    free(image);
    return 0;
}
