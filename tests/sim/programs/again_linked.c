/* again_linked CASE: graphs that have to run as a whole, as they allocate memory of their own or
 * deal with events, launched several times. Prints the memory afterwards. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "programs/cases.h"
#include "programs/linked.h"
#include "programs/nodes.h"
#include "programs/snippets.h"

#include "image.h"

#define N 700u
#define BUFFERS 4
#define ROUNDS 5

static CUfunction scale, add, hide, follow, write_at;
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
    CUgraphNodeParams p = allocation_node(bytes);

    MUST(cuGraphAddNode(&last, graph, &last, NULL, last != NULL, &p));
    return p.alloc.dptr;
}

static void release(CUdeviceptr memory)
{
    CUgraphNodeParams p = free_node(memory);

    MUST(cuGraphAddNode(&last, graph, &last, NULL, last != NULL, &p));
}

static CUDA_KERNEL_NODE_PARAMS kernel_of(CUfunction function, void **params)
{
    return kernel_node(function, blocks_for(N, 128), 128, params);
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

/* An address of memory that the graph allocates is copied into other memory: a kernel might go
 * there, when it is gone. */
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

/* ---- hazards ---- */

/* A kernel that updates the element to which the table leads. */
static void follows(CUdeviceptr table)
{
    unsigned n = 1;
    void *params[] = {&table, &n};
    CUDA_KERNEL_NODE_PARAMS p = kernel_of(follow, params);

    MUST(cuGraphAddKernelNode(&last, graph, &last, last != NULL, &p));
}

/* An address comes from the host's memory, and another word goes there: a second run that took that
 * would follow it. */
static void in_and_out(void)
{
    static CUdeviceptr word;

    begin();
    copies(CU_MEMORYTYPE_DEVICE, x[2], CU_MEMORYTYPE_UNIFIED, (uintptr_t)&word, sizeof(word));
    follows(x[2]);
    copies(CU_MEMORYTYPE_UNIFIED, (uintptr_t)&word, CU_MEMORYTYPE_DEVICE, x[3], sizeof(word));
    CUgraphExec exec = executable();
    for (int i = 0; i < 2 * ROUNDS; i++) {
        word = x[0];
        MUST(cuGraphLaunch(exec, stream));
        MUST(cuStreamSynchronize(stream));
    }
    MUST(cuMemsetD32(x[2], 0, N));
    show("in and out");
    end(exec);
}

/* A word goes to the host and comes back. */
static void out_and_in(void)
{
    CUevent done;

    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    scales(x[0], 2);
    copies(CU_MEMORYTYPE_UNIFIED, (uintptr_t)landed, CU_MEMORYTYPE_DEVICE, x[0], 4);
    copies(CU_MEMORYTYPE_DEVICE, x[1], CU_MEMORYTYPE_UNIFIED, (uintptr_t)landed, 4);
    CUgraphExec exec = executable();
    launch_often(exec);
    show("out and in");
    end(exec);
}

/* A kernel changes memory of the host, and a fill makes it as it was. */
static void there_and_back(void)
{
    CUdeviceptr of_host;
    CUevent done;

    MUST(cuMemHostGetDevicePointer(&of_host, landed, 0));
    for (unsigned i = 0; i < N; i++)
        landed[i] = 0x3f800000;
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    scales(of_host, 2);
    adds(of_host, x[0], x[0]);
    fills(of_host, 0x3f800000);
    CUgraphExec exec = executable();
    launch_often(exec);
    show("there and back");
    printf("%08x\n", landed[N - 1]);
    end(exec);
}

/* A large table comes from the host. Its first address becomes another one, or is that of memory of
 * the graph's own. */
static void brings_much(bool own)
{
    static CUdeviceptr words[16384];
    CUdeviceptr table, one = 0;

    MUST(cuMemAlloc(&table, sizeof(words)));
    MUST(cuMemsetD32(table, 0, sizeof(words) / 4));
    MUST(cuCtxSynchronize());
    begin();
    if (own) {
        one = alloc_node(N * 4);
        fills(one, 0x3f800000);
    }
    copies(CU_MEMORYTYPE_DEVICE, table, CU_MEMORYTYPE_UNIFIED, (uintptr_t)words, sizeof(words));
    follows(table);
    if (own)
        release(one);
    CUgraphExec exec = executable();
    for (int i = 0; i < 2 * ROUNDS; i++) {
        words[0] = own ? one : x[i < 2 * ROUNDS - 1 ? 0 : 1];
        MUST(cuGraphLaunch(exec, stream));
        MUST(cuStreamSynchronize(stream));
    }
    show("a large table");
    end(exec);
}

static void large_table(void)
{
    brings_much(false);
}

static void large_table_of_own(void)
{
    brings_much(true);
}

/* A node of a graph that has run often becomes a kernel that writes memory to which nothing leads,
 * or such a node is enabled. */
static void writes_hidden_later(bool is_enabled, const char *name)
{
    CUdeviceptr inverted = ~x[0];
    CUevent done;
    unsigned n = N;
    void *params[] = {&inverted, &n};
    CUDA_KERNEL_NODE_PARAMS p = kernel_of(hide, params);

    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    CUgraphNode node = last;
    if (is_enabled)
        MUST(cuGraphAddKernelNode(&node, graph, &last, 1, &p));
    else
        node = scales(x[1], 2);
    scales(x[2], 2);
    CUgraphExec exec = executable();
    if (is_enabled)
        MUST(cuGraphNodeSetEnabled(exec, node, 0));
    launch_often(exec);
    if (is_enabled)
        MUST(cuGraphNodeSetEnabled(exec, node, 1));
    else
        MUST(cuGraphExecKernelNodeSetParams(exec, node, &p));
    launch_often(exec);
    show(name);
    end(exec);
}

static void hidden_later(void)
{
    writes_hidden_later(false, "hidden later");
}

static void hidden_enabled(void)
{
    writes_hidden_later(true, "hidden, enabled later");
}

/* The graph is updated: a kernel of it that wrote nothing so far now writes memory to which nothing
 * leads. */
static void updated_hidden(void)
{
    CUdeviceptr inverted = ~x[0];
    unsigned n = 0;
    void *params[] = {&inverted, &n};
    CUDA_KERNEL_NODE_PARAMS p = kernel_of(hide, params);
    CUgraphExecUpdateResultInfo info;
    CUgraph first;
    CUevent done;

    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    MUST(cuGraphAddKernelNode(&last, graph, &last, 1, &p));
    scales(x[2], 2);
    CUgraphExec exec = executable();
    launch_often(exec);
    first = graph;
    n = N;
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    MUST(cuGraphAddKernelNode(&last, graph, &last, 1, &p));
    scales(x[2], 2);
    MUST(cuGraphExecUpdate(exec, graph, &info));
    launch_often(exec);
    show("updated hidden");
    MUST(cuGraphDestroy(first));
    end(exec);
}

/* A graph that is launched often beside much memory, to which nothing of it leads. */
static void much_beside(void)
{
    CUdeviceptr big;
    CUevent done;

    MUST(cuMemAlloc(&big, 32 << 20));
    MUST(cuMemsetD32(big, 1, 8 << 20));
    MUST(cuCtxSynchronize());
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    scales(x[1], 2);
    adds(x[0], x[1], x[2]);
    CUgraphExec exec = executable();
    for (int i = 0; i < 16; i++)
        launch_often(exec);
    show("much beside");
    end(exec);
}

static void *page;

/* The number that the graph brings tells that its copies were made. */
static void *unmap_page(void *unused)
{
    (void)unused;
    while (*(volatile uint32_t *)landed != 0x40400000)
        usleep(10);
    munmap(page, 4096);
    return NULL;
}

/* Memory from which a graph copies goes as soon as it has run. */
static void source_goes(void)
{
    CUevent done;
    pthread_t thread;

    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *landed = 0;
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    copies(CU_MEMORYTYPE_DEVICE, x[2], CU_MEMORYTYPE_UNIFIED, (uintptr_t)page, N * 4);
    scales(x[1], 2);
    copies(CU_MEMORYTYPE_UNIFIED, (uintptr_t)landed, CU_MEMORYTYPE_DEVICE, x[1], 4);
    CUgraphExec exec = executable();
    if (page == MAP_FAILED || pthread_create(&thread, NULL, unmap_page, NULL) != 0)
        exit(2);
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    pthread_join(thread, NULL);
    show("its source goes");
    end(exec);
}

/* Other memory begins right behind that of the graph (the fault "packed"). */
static void adjacent(void)
{
    CUdeviceptr one, next;

    begin();
    one = alloc_node(4096);
    MUST(cuMemAlloc(&next, 4096));
    MUST(cuMemcpyHtoD(next, &x[3], sizeof(x[3])));
    printf("right behind: %s\n", next == one + 4096 ? "yes" : "no");
    fills(one, 0x3f800000);
    adds(one, x[1], x[0]);
    follows(next);
    release(one);
    CUgraphExec exec = executable();
    launch_often(exec);
    show("adjacent");
    end(exec);
}

/* sum[i + offset] = a[i] + b[i] where that is one of the first n */
static void adds_at(CUdeviceptr a, CUdeviceptr b, CUdeviceptr sum, unsigned n, unsigned offset)
{
    void *params[] = {&a, &b, &sum, &n, &offset};
    CUDA_KERNEL_NODE_PARAMS p = kernel_of(write_at, params);

    MUST(cuGraphAddKernelNode(&last, graph, &last, last != NULL, &p));
}

/* The second allocation is written by its distance from the first one. Other memory comes to lie
 * somewhere, which must stay as it is. */
static void by_distance(size_t between)
{
    const size_t words = 4 << 20;
    uint32_t *all = malloc(words * 4), others = 0;
    CUdeviceptr gap, later;

    begin();
    CUdeviceptr one = alloc_node(N * 4);
    MUST(cuMemAlloc(&gap, between));
    CUdeviceptr two = alloc_node(N * 4);
    unsigned offset = (unsigned)((two - one) / 4);
    fills(one, 0x3f800000);
    fills(two, 0x3f800000);
    adds_at(x[0], x[1], one, offset + N, offset);
    adds(two, x[2], x[2]);
    release(one);
    release(two);
    CUgraphExec exec = executable();
    launch_often(exec);
    MUST(cuMemAlloc(&later, words * 4));
    MUST(cuMemsetD32(later, 7, words));
    MUST(cuCtxSynchronize());
    launch_often(exec);
    show("by distance");
    MUST(cuMemcpyDtoH(all, later, words * 4));
    for (size_t i = 0; i < words; i++)
        others += all[i] != 7;
    printf("%s, %u words of other memory have changed\n", two > one ? "behind" : "before", others);
    free(all);
    end(exec);
}

static void near_each_other(void)
{
    by_distance(1 << 20);
}

static void far_apart(void)
{
    by_distance(256 << 20);
}

/* An allocation is reached by an address in front of it only, as an array whose first index is not
 * 0. */
static void from_before(void)
{
    begin();
    CUdeviceptr one = alloc_node(N * 4);
    adds_at(x[0], x[1], one - 4096, 1024 + N, 1024);
    adds_at(x[0], x[1], one - 4096, 1024 + N, 1024);
    copies(CU_MEMORYTYPE_DEVICE, x[2], CU_MEMORYTYPE_DEVICE, one, N * 4);
    release(one);
    CUgraphExec exec = executable();
    launch_often(exec);
    show("from before");
    end(exec);
}

static atomic_bool enough;

static void *ask_for_too_much(void *context)
{
    CUdeviceptr memory;

    MUST(cuCtxSetCurrent(context));
    while (!atomic_load(&enough)) {
        if (cuMemAlloc(&memory, (size_t)1 << 45) != CUDA_ERROR_OUT_OF_MEMORY)
            exit(2);
        usleep(100);
    }
    return NULL;
}

/* Another thread is short of memory all the time. */
static void greedy(void)
{
    CUcontext context;
    pthread_t thread;

    MUST(cuCtxGetCurrent(&context));
    a_graph_with_memory();
    CUgraphExec exec = executable();
    if (pthread_create(&thread, NULL, ask_for_too_much, context) != 0)
        exit(2);
    for (int i = 0; i < 10; i++)
        launch_often(exec);
    atomic_store(&enough, true);
    pthread_join(thread, NULL);
    show("greedy");
    end(exec);
}

static void scale_by_itself(CUdeviceptr memory)
{
    unsigned n = N;
    float factor = 2;
    void *params[] = {&memory, &n, &factor};

    MUST(cuLaunchKernel(scale, blocks_for(N, 128), 1, 1, 128, 1, 1, 0, stream, params, NULL));
}

/* A graph and launches by themselves that need much memory, in turns. */
static void much(void)
{
    CUdeviceptr of_graph, of_launch, table;
    unsigned n = 1;
    void *params[] = {&table, &n};

    MUST(cuMemAlloc(&of_graph, 6 << 20));
    MUST(cuMemAlloc(&of_launch, 14 << 20));
    MUST(cuMemAlloc(&table, 4096));
    MUST(cuMemsetD32(of_graph, 0, 6 << 18));
    MUST(cuMemsetD32(of_launch, 0, 14 << 18));
    MUST(cuMemsetD32(table, 0, 1024));
    MUST(cuMemcpyHtoD(table, &of_launch, sizeof(of_launch)));
    MUST(cuCtxSynchronize());
    begin();
    CUdeviceptr one = alloc_node(N * 4);
    fills(one, 0x3f800000);
    adds(one, of_graph, of_graph);
    release(one);
    CUgraphExec exec = executable();
    for (int i = 0; i < 3; i++) {
        launch_often(exec);
        for (int k = 0; k < ROUNDS; k++) {
            scale_by_itself(of_launch);
            MUST(cuLaunchKernel(follow, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
        }
    }
    MUST(cuStreamSynchronize(stream));
    printf("%08x %08x\n", digest_of(of_graph), digest_of(of_launch));
    end(exec);
}

/* Graphs are launched while another stream is being captured, and one into that stream. */
static void beside_capture(void)
{
    CUgraphExec execs[2];
    CUgraph captured;

    for (int i = 0; i < 2; i++) {
        begin();
        scales(x[0], 2);
        adds(x[0], x[1], x[1 + i]);
        execs[i] = executable();
    }
    launch_often(execs[0]);
    MUST(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_often(execs[0]);
    launch_often(execs[1]);
    MUST(cuGraphLaunch(execs[0], other));
    MUST(cuStreamEndCapture(other, &captured));
    MUST(cuGraphDestroy(captured));
    launch_often(execs[1]);
    show("beside a capture");
    MUST(cuGraphExecDestroy(execs[0]));
    end(execs[1]);
}

struct launcher {
    CUcontext context;
    CUgraphExec exec;
};

static void *launch_in_thread(void *data)
{
    const struct launcher *l = data;
    CUstream own;

    MUST(cuCtxSetCurrent(l->context));
    MUST(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 10 * ROUNDS; i++)
        MUST(cuGraphLaunch(l->exec, own));
    MUST(cuStreamSynchronize(own));
    return NULL;
}

/* Threads launch one graph, each into a stream of its own. */
static void threads(void)
{
    struct launcher l;
    pthread_t list[3];

    begin();
    adds(x[0], x[1], x[2]);
    adds(x[0], x[2], x[3]);
    MUST(cuCtxGetCurrent(&l.context));
    l.exec = executable();
    for (int i = 0; i < 3; i++)
        if (pthread_create(&list[i], NULL, launch_in_thread, &l) != 0)
            exit(2);
    for (int i = 0; i < 3; i++)
        pthread_join(list[i], NULL);
    show("threads");
    end(l.exec);
}

static atomic_bool go;

static void CUDA_CB wait_to_go(void *unused)
{
    (void)unused;
    while (!atomic_load(&go))
        usleep(1000);
}

/* Graphs that wait for an event of another context, where a host function waits for the program. */
static void waits_elsewhere(void)
{
    CUctxCreateParams none = {0};
    CUcontext mine, theirs;
    CUevent ready;
    CUstream there;
    CUdevice device;

    MUST(cuCtxGetCurrent(&mine));
    MUST(cuCtxGetDevice(&device));
    MUST(cuCtxCreate(&theirs, &none, 0, device));
    MUST(cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    (void)alarm(20);
    for (int i = 0; i < 3; i++) {
        MUST(cuCtxSetCurrent(mine));
        begin();
        MUST(cuGraphAddEventWaitNode(&last, graph, NULL, 0, ready));
        scales(x[0], 2);
        CUgraphExec exec = executable();
        atomic_store(&go, false);
        MUST(cuCtxSetCurrent(theirs));
        MUST(cuLaunchHostFunc(there, wait_to_go, NULL));
        MUST(cuEventRecord(ready, there));
        MUST(cuCtxSetCurrent(mine));
        MUST(cuGraphLaunch(exec, stream));
        atomic_store(&go, true);
        MUST(cuStreamSynchronize(stream));
        end(exec);
    }
    show("waits elsewhere");
}

/* ---- memory of others ---- */

static CUstream stream_elsewhere(CUcontext *context)
{
    CUctxCreateParams none = {0};
    CUcontext mine;
    CUdevice device;
    CUstream there;

    MUST(cuCtxGetCurrent(&mine));
    MUST(cuCtxGetDevice(&device));
    MUST(cuCtxCreate(context, &none, 0, device));
    MUST(cuStreamCreate(&there, CU_STREAM_NON_BLOCKING));
    MUST(cuCtxSetCurrent(mine));
    return there;
}

static atomic_uint number_to_land;

static void CUDA_CB wait_for_landing(void *unused)
{
    (void)unused;
    while (*(volatile uint32_t *)landed != atomic_load(&number_to_land))
        usleep(10);
}

/* The graph copies a table from the memory of another context, which fills it otherwise as soon as
 * a number that the graph brings tells that it has done so. */
static void foreign_source(void)
{
    CUcontext mine, theirs;
    CUdeviceptr table;
    CUevent done;
    CUstream there = stream_elsewhere(&theirs);

    MUST(cuCtxGetCurrent(&mine));
    MUST(cuCtxSetCurrent(theirs));
    MUST(cuMemAlloc(&table, 4096));
    MUST(cuCtxSetCurrent(mine));
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    *landed = 0;
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    copies(CU_MEMORYTYPE_DEVICE, x[2], CU_MEMORYTYPE_DEVICE, table, 2048);
    follows(x[2]);
    scales(x[0], 1);
    copies(CU_MEMORYTYPE_UNIFIED, (uintptr_t)landed, CU_MEMORYTYPE_DEVICE, x[3], 4);
    CUgraphExec exec = executable();
    for (unsigned i = 1; i <= ROUNDS; i++) {
        MUST(cuMemsetD32(x[3], i, N));
        MUST(cuCtxSynchronize());
        atomic_store(&number_to_land, i);
        MUST(cuCtxSetCurrent(theirs));
        MUST(cuMemcpyHtoD(table, &x[0], sizeof(x[0])));
        MUST(cuLaunchHostFunc(there, wait_for_landing, NULL));
        MUST(cuMemsetD32Async(table, 16, 2, there)); /* no address */
        MUST(cuCtxSetCurrent(mine));
        MUST(cuGraphLaunch(exec, stream));
        MUST(cuStreamSynchronize(stream));
        MUST(cuCtxSetCurrent(theirs));
        MUST(cuStreamSynchronize(there));
        MUST(cuCtxSetCurrent(mine));
    }
    MUST(cuMemsetD32(x[2], 0, N));
    show("foreign source");
    end(exec);
}

static CUdeviceptr table_of_host[2];

static void CUDA_CB fill_table(void *address)
{
    usleep(30000);
    table_of_host[0] = *(CUdeviceptr *)address;
}

/* The graph waits for an event of another context, where a host function writes the table that the
 * graph brings from the host. */
static void late_source(void)
{
    CUcontext mine, theirs;
    CUevent ready;
    CUstream there = stream_elsewhere(&theirs);

    MUST(cuCtxGetCurrent(&mine));
    MUST(cuCtxSetCurrent(theirs));
    MUST(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    MUST(cuCtxSetCurrent(mine));
    begin();
    MUST(cuGraphAddEventWaitNode(&last, graph, NULL, 0, ready));
    copies(CU_MEMORYTYPE_DEVICE, x[2], CU_MEMORYTYPE_UNIFIED, (uintptr_t)table_of_host,
           sizeof(table_of_host));
    follows(x[2]);
    scales(x[0], 1);
    CUgraphExec exec = executable();
    for (int i = 0; i < ROUNDS; i++) {
        table_of_host[0] = 16; /* no address */
        MUST(cuCtxSetCurrent(theirs));
        MUST(cuLaunchHostFunc(there, fill_table, &x[i % 2]));
        MUST(cuEventRecord(ready, there));
        MUST(cuCtxSetCurrent(mine));
        MUST(cuGraphLaunch(exec, stream));
        MUST(cuStreamSynchronize(stream));
    }
    MUST(cuMemsetD32(x[2], 0, N));
    show("late source");
    end(exec);
}

#define WORDS 16u

static void CUDA_CB wait_a_little(void *unused)
{
    (void)unused;
    usleep(3000);
}

static atomic_bool launched;

static void CUDA_CB wait_for_launch(void *unused)
{
    (void)unused;
    while (!atomic_load(&launched))
        usleep(1000);
}

static void copy_rectangle(CUdeviceptr to, uint32_t *from, CUstream there)
{
    const CUDA_MEMCPY2D p = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                             .srcHost = from,
                             .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                             .dstDevice = to,
                             .WidthInBytes = 4,
                             .Height = 1};

    MUST(cuMemcpy2DAsync(&p, there));
}

static void copy_block(CUdeviceptr to, uint32_t *from, CUstream there)
{
    const CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                             .srcHost = from,
                             .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                             .dstDevice = to,
                             .WidthInBytes = 4,
                             .Height = 1,
                             .Depth = 1};

    MUST(cuMemcpy3DAsync(&p, there));
}

static void write_value(CUdeviceptr to, uint32_t *from, CUstream there)
{
    MUST(cuStreamWriteValue32(there, to, *from, 0));
}

static CUdeviceptr words; /* a part of memory whose other part the graph uses */
static uint32_t *values;

/* Another context writes words there, with a graph of its own where that is given. */
static void beside(CUcontext theirs, CUstream there, CUgraphExec of_theirs,
                   void (*write)(CUdeviceptr to, uint32_t *from, CUstream there))
{
    CUcontext mine;
    CUevent done;
    uint32_t back[WORDS];

    MUST(cuCtxGetCurrent(&mine));
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    scales(words - (1 << 19), 1);
    scales(x[1], 2);
    CUgraphExec exec = executable();
    for (unsigned i = 0; i < 2 * ROUNDS; i++) {
        MUST(cuCtxSetCurrent(theirs));
        for (unsigned k = 0; k < WORDS; k++)
            values[k] = 1000 * i + k;
        /* Once it is still at work at the launch, however busy the machine is. */
        if (i == 0)
            MUST(cuLaunchHostFunc(there, wait_for_launch, NULL));
        if (of_theirs)
            MUST(cuGraphLaunch(of_theirs, there));
        for (unsigned k = 0; k < WORDS && !of_theirs; k++) {
            MUST(cuLaunchHostFunc(there, wait_a_little, NULL));
            write(words + 4 * k, &values[k], there);
        }
        MUST(cuCtxSetCurrent(mine));
        MUST(cuGraphLaunch(exec, stream));
        atomic_store(&launched, true);
        MUST(cuStreamSynchronize(stream));
        MUST(cuCtxSetCurrent(theirs));
        MUST(cuStreamSynchronize(there));
        MUST(cuCtxSetCurrent(mine));
        MUST(cuMemcpyDtoH(back, words, sizeof(back)));
        if (memcmp(back, values, sizeof(back)) != 0)
            printf("round %u: words are lost\n", i);
    }
    show("beside");
    end(exec);
}

static CUdeviceptr memory_for_words(void)
{
    CUdeviceptr memory;

    MUST(cuMemAlloc(&memory, 1 << 20));
    MUST(cuMemsetD32(memory, 0, 1 << 18));
    MUST(cuCtxSynchronize());
    return memory + (1 << 19);
}

static void beside_writes(void (*write)(CUdeviceptr to, uint32_t *from, CUstream there))
{
    CUcontext theirs;
    CUstream there = stream_elsewhere(&theirs);

    values = landed + 64;
    words = memory_for_words();
    beside(theirs, there, NULL, write);
}

static CUDA_MEMCPY3D word_from_host(CUdeviceptr to, unsigned k)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = (uintptr_t)&values[k],
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to + 4 * k,
                           .WidthInBytes = 4,
                           .Height = 1,
                           .Depth = 1};
}

/* A graph that copies the words there, slowly; of each copy its node. */
static void copies_words(CUdeviceptr to, CUgraphNode nodes[WORDS])
{
    CUcontext context;
    const CUDA_HOST_NODE_PARAMS pause = {.fn = wait_a_little};

    MUST(cuCtxGetCurrent(&context));
    begin();
    for (unsigned k = 0; k < WORDS; k++) {
        const CUDA_MEMCPY3D p = word_from_host(to, k);
        MUST(cuGraphAddHostNode(&last, graph, &last, last != NULL, &pause));
        MUST(cuGraphAddMemcpyNode(&last, graph, &last, 1, &p, context));
        nodes[k] = last;
    }
}

enum how { AS_MADE, BY_NODES, BY_UPDATE, BY_CHILD };

static void beside_graph_made(enum how how)
{
    CUcontext mine, theirs;
    CUgraphNode nodes[WORDS];
    CUgraphExecUpdateResultInfo info;
    CUstream there = stream_elsewhere(&theirs);

    MUST(cuCtxGetCurrent(&mine));
    values = landed + 64;
    words = memory_for_words();
    MUST(cuCtxSetCurrent(theirs));
    CUdeviceptr own = memory_for_words();
    copies_words(how == AS_MADE ? words : own, nodes);
    CUgraph child = graph;
    if (how == BY_CHILD) {
        begin();
        MUST(cuGraphAddChildGraphNode(&last, graph, NULL, 0, child));
    }
    CUgraphNode parent = last;
    CUgraphExec of_theirs = executable();
    if (how == BY_NODES)
        for (unsigned k = 0; k < WORDS; k++) {
            const CUDA_MEMCPY3D p = word_from_host(words, k);
            MUST(cuGraphExecMemcpyNodeSetParams(of_theirs, nodes[k], &p, theirs));
        }
    if (how == BY_UPDATE || how == BY_CHILD)
        copies_words(words, nodes);
    if (how == BY_UPDATE)
        MUST(cuGraphExecUpdate(of_theirs, graph, &info));
    if (how == BY_CHILD)
        MUST(cuGraphExecChildGraphNodeSetParams(of_theirs, parent, graph));
    MUST(cuCtxSetCurrent(mine));
    beside(theirs, there, of_theirs, NULL);
}

static void beside_graph(void)
{
    beside_graph_made(AS_MADE);
}

static void beside_graph_with_nodes(void)
{
    beside_graph_made(BY_NODES);
}

static void beside_graph_updated(void)
{
    beside_graph_made(BY_UPDATE);
}

static void beside_graph_with_child(void)
{
    beside_graph_made(BY_CHILD);
}

static void beside_rectangles(void)
{
    beside_writes(copy_rectangle);
}

static void beside_blocks(void)
{
    beside_writes(copy_block);
}

static void beside_values(void)
{
    beside_writes(write_value);
}

static float *managed;
static CUevent met;
static atomic_bool under_way;
static atomic_uint differing;

/* The kernel of the graph writes managed memory; then a number lands, and the event is met. From
 * there on the other thread uses the memory. */
static void managed_after(void *(*thread)(void *context))
{
    CUcontext context;
    CUdeviceptr memory;
    pthread_t other_thread;

    MUST(cuCtxGetCurrent(&context));
    MUST(cuMemAllocManaged(&memory, N * 4, CU_MEM_ATTACH_GLOBAL));
    managed = (float *)(uintptr_t)memory;
    for (unsigned i = 0; i < N; i++)
        managed[i] = 1;
    *landed = 0;
    MUST(cuEventCreate(&met, CU_EVENT_DISABLE_TIMING));
    begin();
    scales(memory, 1);
    copies(CU_MEMORYTYPE_UNIFIED, (uintptr_t)landed, CU_MEMORYTYPE_DEVICE, x[3], 4);
    MUST(cuGraphAddEventRecordNode(&last, graph, &last, 1, met));
    CUgraphExec exec = executable();
    if (pthread_create(&other_thread, NULL, thread, context) != 0)
        exit(2);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        MUST(cuMemsetD32(x[3], i, N));
        MUST(cuCtxSynchronize());
        atomic_store(&under_way, true);
        MUST(cuGraphLaunch(exec, stream));
        while (atomic_load(&under_way))
            usleep(100);
        MUST(cuStreamSynchronize(stream));
    }
    pthread_join(other_thread, NULL);
    printf("%u values were others\n", atomic_load(&differing));
    printf("%g %g\n", managed[0], managed[1]);
    show("managed memory");
    end(exec);
}

static void wait_for_round(unsigned i)
{
    while (*(volatile uint32_t *)landed != i)
        ;
    MUST(cuEventSynchronize(met));
}

static void *read_managed(void *context)
{
    MUST(cuCtxSetCurrent(context));
    for (unsigned i = 1; i <= ROUNDS; i++) {
        wait_for_round(i);
        for (int k = 0; k < 2000; k++) {
            if (*(volatile float *)&managed[1] != (float)(i + 1))
                atomic_fetch_add(&differing, 1);
            usleep(5);
        }
        atomic_store(&under_way, false);
    }
    return NULL;
}

static void managed_read(void)
{
    managed_after(read_managed);
}

static void *write_managed(void *context)
{
    MUST(cuCtxSetCurrent(context));
    for (unsigned i = 1; i <= ROUNDS; i++) {
        wait_for_round(i);
        *(volatile float *)&managed[1] = 0;
        for (int k = 0; k < 2000; k++) {
            *(volatile float *)&managed[1] += 1;
            usleep(5);
        }
        if (*(volatile float *)&managed[1] != 2000)
            atomic_fetch_add(&differing, 1);
        atomic_store(&under_way, false);
    }
    return NULL;
}

static void managed_written(void)
{
    managed_after(write_managed);
}

/* A table goes to managed memory, and a copy from there says that it is the host's. */
static void managed_as_host(void)
{
    CUcontext context;
    CUdeviceptr memory;
    CUevent done;

    MUST(cuCtxGetCurrent(&context));
    MUST(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemcpyHtoD(x[3], &x[0], sizeof(x[0])));
    MUST(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    begin();
    MUST(cuGraphAddEventRecordNode(&last, graph, NULL, 0, done));
    copies(CU_MEMORYTYPE_DEVICE, memory, CU_MEMORYTYPE_DEVICE, x[3], sizeof(x[0]));
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = (void *)(uintptr_t)memory,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = x[2],
                          .WidthInBytes = sizeof(x[0]),
                          .Height = 1,
                          .Depth = 1};
    MUST(cuGraphAddMemcpyNode(&last, graph, &last, 1, &back, context));
    follows(x[2]);
    scales(x[0], 1);
    CUgraphExec exec = executable();
    for (int i = 0; i < ROUNDS; i++) {
        *(CUdeviceptr *)(uintptr_t)memory = 16; /* no address */
        MUST(cuGraphLaunch(exec, stream));
        MUST(cuStreamSynchronize(stream));
    }
    MUST(cuMemsetD32(x[2], 0, N));
    MUST(cuMemsetD32(x[3], 0, N));
    show("managed as the host's");
    end(exec);
}

int main(int argc, char **argv)
{
    static const struct program_case cases[] = {
        {"memory", memory},
        {"changed", changed},
        {"larger", larger},
        {"leads", leads},
        {"brings", brings},
        {"of_another", of_another},
        {"events", events},
        {"hidden", hidden},
        {"refilled", refilled},
        {"in_and_out", in_and_out},
        {"there_and_back", there_and_back},
        {"out_and_in", out_and_in},
        {"large_table", large_table},
        {"large_table_of_own", large_table_of_own},
        {"hidden_later", hidden_later},
        {"hidden_enabled", hidden_enabled},
        {"much_beside", much_beside},
        {"updated_hidden", updated_hidden},
        {"source_goes", source_goes},
        {"adjacent", adjacent},
        {"near_each_other", near_each_other},
        {"far_apart", far_apart},
        {"from_before", from_before},
        {"greedy", greedy},
        {"much", much},
        {"waits_elsewhere", waits_elsewhere},
        {"beside_capture", beside_capture},
        {"threads", threads},
        {"foreign_source", foreign_source},
        {"late_source", late_source},
        {"beside_rectangles", beside_rectangles},
        {"beside_blocks", beside_blocks},
        {"beside_values", beside_values},
        {"beside_graph", beside_graph},
        {"beside_graph_with_nodes", beside_graph_with_nodes},
        {"beside_graph_updated", beside_graph_updated},
        {"beside_graph_with_child", beside_graph_with_child},
        {"managed_read", managed_read},
        {"managed_written", managed_written},
        {"managed_as_host", managed_as_host},
        {0}};
    CUcontext context;
    CUmodule module;
    size_t size;
    static const struct gpusim_image_kernel kernels[] = {{"scale_in_place", 10, 0, 0},
                                                         {"vector_add_float", 10, 0, 0},
                                                         {"reach_hidden", 10, 0, 0},
                                                         {"reach_table", 10, 0, 0},
                                                         {"write_offset", 10, 0, 0}};
    void *image = gpusim_image_build(kernels, 5, NULL, 0, &size);

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, image));
    MUST(cuModuleGetFunction(&scale, module, "scale_in_place"));
    MUST(cuModuleGetFunction(&add, module, "vector_add_float"));
    MUST(cuModuleGetFunction(&hide, module, "reach_hidden"));
    MUST(cuModuleGetFunction(&follow, module, "reach_table"));
    MUST(cuModuleGetFunction(&write_at, module, "write_offset"));
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
