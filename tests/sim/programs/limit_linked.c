/*
 * limit_linked REST_US WORD:COUNT...: launches, so many microseconds of the host's own time behind
 * each. `one` is COUNT launches of scale_in_place with one grid, `all` with another grid each,
 * `rare` of vector_add_float with one of scale_in_place behind each 100, `graph` of a graph of six
 * launches, `long` of one of 288, `captures` of one while its stream is captured, `various` of one
 * with two kernels, `packed` of one with three, of which two are in images that take long to
 * unpack, `wide` with the same side by side, `dear` of one of these, `pieces` on pieces of an
 * allocation, with some of a dear kernel, `threads` of four threads, each in a stream of its own;
 * `anew` gives the context up, and begins with another one, COUNT times. `waiting` are COUNT
 * kernels in contexts of their own that end once all else is launched. At the end a digest shows
 * all memory.
 */
#include <pthread.h>
#include <time.h>

#include "programs/linked.h"
#include "programs/nodes.h"
#include "programs/packed.h"
#include "programs/snippets.h"

#define ELEMENTS 4096u
#define THREADS 4
#define NODES 6
#define ROUNDS_OF_LONG 48
#define MOST_WAITING 4
#define UNPACKED ((size_t)80 << 20) /* more than is kept of images */

static struct gpu gpu;
static struct work w = {.gpu = &gpu};
static unsigned rest_us;

static CUmodule packed[2]; /* with a kernel each that no other module has */

static struct waiting {
    CUcontext context;
    CUdeviceptr flag;
} waiting[MOST_WAITING];
static unsigned waiting_count;

struct worker {
    pthread_t thread;
    CUcontext context;
    unsigned count;
    CUdeviceptr p;
};

static void rest(void)
{
    (void)nanosleep(&(struct timespec){.tv_sec = rest_us / 1000000,
                                       .tv_nsec = (long)(rest_us % 1000000) * 1000},
                    NULL);
}

static void show(const char *name, CUdeviceptr p)
{
    static float host[ELEMENTS];
    download(&w, host, p, sizeof(host));
    printf("%s: digest %08x\n", name, digest(host, sizeof(host)));
}

static void scale_by(CUfunction function, CUdeviceptr p, unsigned grid, CUstream stream)
{
    unsigned n = ELEMENTS;
    float factor = 0.5f;
    void *params[] = {&p, &n, &factor};
    MUST(gpu.LaunchKernel(function, grid, 1, 1, 128, 1, 1, 0, stream, params, NULL));
}

static void scale(CUdeviceptr p, unsigned grid, CUstream stream)
{
    unsigned n = ELEMENTS;
    float factor = 0.5f;
    void *params[] = {&p, &n, &factor};
    launch(&w, "scale_in_place", grid, 1, 128, 1, 0, stream, params);
}

static void add(CUdeviceptr p)
{
    unsigned n = ELEMENTS / 2;
    CUdeviceptr other = p + n * sizeof(float);
    void *params[] = {&p, &other, &p, &n};
    launch(&w, "vector_add_float", n / 128, 1, 128, 1, 0, NULL, params);
}

static void *work(void *argument)
{
    const struct worker *me = argument;
    CUstream stream;
    MUST(gpu.CtxSetCurrent(me->context));
    MUST(gpu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < me->count; i++) {
        scale(me->p, 8, stream);
        rest();
    }
    MUST(gpu.StreamSynchronize(stream));
    MUST(gpu.StreamDestroy(stream));
    return NULL;
}

static void run_threads(unsigned count)
{
    struct worker of[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        of[i] = (struct worker){.count = count};
        MUST(cuCtxGetCurrent(&of[i].context));
        of[i].p = allocate(&w, ELEMENTS * sizeof(float));
        MUST(gpu.MemsetD32(of[i].p, 0x3f800000u, ELEMENTS));
        expect(pthread_create(&of[i].thread, NULL, work, &of[i]) == 0, "pthread_create");
    }
    for (unsigned i = 0; i < THREADS; i++)
        (void)pthread_join(of[i].thread, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        show("thread", of[i].p);
}

static CUfunction dear(unsigned i)
{
    static const struct gpusim_image_kernel kernels[] = {{"dear_first=scale_in_place", 10, 0, 0},
                                                         {"dear_second=scale_in_place", 10, 0, 0}};
    CUfunction function;
    if (!packed[i]) {
        size_t bytes;
        void *cubin = gpusim_image_build(&kernels[i], 1, NULL, 0, &bytes);
        void *image = cubin ? packed_image(cubin, bytes, UNPACKED) : NULL;
        expect(image != NULL, "packed");
        MUST(gpu.ModuleLoadData(&packed[i], image));
        free(image);
        free(cubin);
    }
    MUST(gpu.ModuleGetFunction(&function, packed[i], i ? "dear_second" : "dear_first"));
    return function;
}

/* One of the kernels in the graph: of one name, or of several. */
static CUfunction node_of(const char *word, unsigned i)
{
    CUfunction function;
    if (*word == 'p' && i % 3 < 2)
        return dear(i % 3);
    MUST(gpu.ModuleGetFunction(&function, w.module,
                               *word == 'v' && i % 2 ? "ordinary" : "scale_in_place"));
    return function;
}

static void run_graph(unsigned count, CUdeviceptr p, const char *word)
{
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream;
    unsigned n = ELEMENTS;
    float factor = 0.5f;
    void *params[] = {&p, &n, &factor};
    const unsigned rounds = *word == 'l' ? ROUNDS_OF_LONG : 1;
    CUfunction functions[NODES * ROUNDS_OF_LONG];
    for (unsigned i = 0; i < rounds * NODES; i++)
        functions[i] = node_of(word, i);
    MUST(gpu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(gpu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (unsigned i = 0; i < rounds * NODES; i++)
        MUST(gpu.LaunchKernel(functions[i], 1 + i % NODES, 1, 1, 128, 1, 1, 0, stream, params,
                              NULL));
    MUST(gpu.StreamEndCapture(stream, &graph));
    MUST(gpu.GraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned i = 0; i < count; i++) {
        MUST(gpu.GraphLaunch(exec, stream));
        if (*word == 'p')
            MUST(gpu.StreamSynchronize(stream));
        rest();
    }
    MUST(gpu.StreamSynchronize(stream));
    MUST(gpu.GraphExecDestroy(exec));
    MUST(gpu.GraphDestroy(graph));
    MUST(gpu.StreamDestroy(stream));
}

/* A graph is launched while the stream of its launches before is captured. */
static void run_captures(unsigned count, CUdeviceptr p)
{
    CUgraph graph, captured;
    CUgraphExec exec;
    CUstream stream, other;
    unsigned n = ELEMENTS;
    float factor = 0.5f;
    void *params[] = {&p, &n, &factor};
    CUfunction function = node_of("graph", 0);
    MUST(gpu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(gpu.StreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(gpu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(gpu.LaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    MUST(gpu.StreamEndCapture(stream, &graph));
    MUST(gpu.GraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; k < (i == 0 ? 400 : i % 23); k++) {
            MUST(gpu.GraphLaunch(exec, stream));
            MUST(gpu.StreamSynchronize(stream));
            rest();
        }
        MUST(gpu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        MUST(gpu.LaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, params, NULL));
        MUST(gpu.GraphLaunch(exec, other));
        MUST(gpu.StreamEndCapture(stream, &captured));
        MUST(gpu.GraphDestroy(captured));
        MUST(gpu.StreamSynchronize(other));
    }
    MUST(gpu.GraphExecDestroy(exec));
    MUST(gpu.GraphDestroy(graph));
    MUST(gpu.StreamDestroy(other));
    MUST(gpu.StreamDestroy(stream));
}

/* No node waits for another one: more branches than are launched apart. */
static void run_wide_graph(unsigned count, CUdeviceptr p)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    unsigned n = ELEMENTS / NODES;
    float factor = 0.5f;
    MUST(cuGraphCreate(&graph, 0));
    for (unsigned i = 0; i < NODES; i++) {
        CUdeviceptr part = p + (size_t)i * n * sizeof(float);
        void *params[] = {&part, &n, &factor};
        const CUDA_KERNEL_NODE_PARAMS node_params = kernel_node(node_of("p", i), 1, 128, params);
        MUST(cuGraphAddKernelNode(&node, graph, NULL, 0, &node_params));
    }
    MUST(gpu.GraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned i = 0; i < count; i++) {
        MUST(gpu.GraphLaunch(exec, NULL));
        rest();
    }
    MUST(gpu.CtxSynchronize());
    MUST(gpu.GraphExecDestroy(exec));
    MUST(gpu.GraphDestroy(graph));
}

/* Each in a context of its own. */
static void launch_waiting(void)
{
    struct waiting *k = &waiting[waiting_count++];
    struct work beside = {.gpu = &gpu};
    CUdeviceptr seen;
    CUstream stream;
    size_t bytes;
    void *image = snippets_image(&bytes);
    expect(waiting_count <= MOST_WAITING && image, "waiting");
    MUST(cuCtxCreate_v2(&k->context, 0, 0));
    MUST(gpu.ModuleLoadData(&beside.module, image));
    free(image);
    k->flag = allocate(&beside, sizeof(uint32_t));
    seen = allocate(&beside, sizeof(uint32_t));
    MUST(gpu.MemsetD32(k->flag, 0, 1));
    MUST(gpu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    void *params[] = {&k->flag, &seen};
    launch(&beside, "wait_for_flag", 1, 1, 32, 1, 0, stream, params);
    MUST(cuCtxPopCurrent(&k->context));
}

static void end_waiting(void)
{
    for (unsigned i = 0; i < waiting_count; i++) {
        CUstream stream;
        MUST(cuCtxPushCurrent(waiting[i].context));
        MUST(gpu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        MUST(gpu.MemsetD32Async(waiting[i].flag, 1, 1, stream));
        MUST(gpu.CtxSynchronize());
        MUST(cuCtxPopCurrent(&waiting[i].context));
    }
}

/* Launches on pieces of one allocation, with one of a dear kernel behind each ten. */
static void run_on_pieces(unsigned count)
{
    const unsigned pieces = 24, bytes = 1 << 19;
    const CUdeviceptr all = allocate(&w, (size_t)pieces * bytes);
    MUST(gpu.MemsetD32(all, 0x3f800000u, (size_t)pieces * bytes / 4));
    for (unsigned i = 0; i < count; i++) {
        const CUdeviceptr piece = all + (size_t)(i % pieces) * bytes;
        if (i % 11 == 10)
            scale_by(dear(0), piece, 8, NULL);
        else
            scale(piece, 8, NULL);
        rest();
    }
    show("pieces", all);
}

static CUdeviceptr begin(void)
{
    snippets_open(&w);
    CUdeviceptr p = allocate(&w, ELEMENTS * sizeof(float));
    MUST(gpu.MemsetD32(p, 0x3f800000u, ELEMENTS));
    return p;
}

static CUdeviceptr begin_anew(CUdeviceptr p)
{
    memset(packed, 0, sizeof(packed));
    MUST(gpu.CtxSynchronize());
    show("memory", p);
    MUST(cuDevicePrimaryCtxReset(0));
    return begin();
}

int main(int argc, char **argv)
{
    char word[16];
    unsigned count;
    gpu_from_linker(&gpu);
    CUdeviceptr p = begin();
    rest_us = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    for (int i = 2; i < argc; i++) {
        expect(sscanf(argv[i], "%15[a-z]:%u", word, &count) == 2, argv[i]);
        if (strcmp(word, "threads") == 0)
            run_threads(count);
        else if (strcmp(word, "graph") == 0 || strcmp(word, "long") == 0 ||
                 strcmp(word, "various") == 0 || strcmp(word, "packed") == 0)
            run_graph(count, p, word);
        else if (strcmp(word, "captures") == 0)
            run_captures(count, p);
        else if (strcmp(word, "wide") == 0)
            run_wide_graph(count, p);
        else if (strcmp(word, "pieces") == 0)
            run_on_pieces(count);
        else if (strcmp(word, "waiting") == 0)
            for (unsigned n = 0; n < count; n++)
                launch_waiting();
        else if (strcmp(word, "anew") == 0)
            for (unsigned n = 0; n < count; n++)
                p = begin_anew(p);
        else
            for (unsigned n = 0; n < count; n++) {
                if (word[0] == 'd')
                    scale_by(dear(0), p, 8, NULL);
                else if (word[0] == 'r' && n % 101 < 100)
                    add(p);
                else
                    scale(p, word[0] == 'a' ? 1 + n : 8, NULL);
                rest();
            }
    }
    end_waiting();
    MUST(gpu.CtxSynchronize());
    show("memory", p);
    snippets_close(&w);
    return 0;
}
