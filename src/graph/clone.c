/* A clone of a graph, read and ordered, so that its nodes can be launched one by one. Owns the
 * clone. */
#include "graph/inside.h"

#include "memory/modules.h"

#include <stdlib.h>
#include <string.h>

#define NO_PARENT UINT32_MAX

/* ---- the parts of a graph -------------------------------------------------------------------- */

CUgraphNode *graph_nodes(CUgraph graph, size_t *count)
{
    *count = 0;
    if (gp_cuda.cuGraphGetNodes(graph, NULL, count) != CUDA_SUCCESS || *count > GP_MOST_GRAPH_NODES)
        return NULL;
    CUgraphNode *nodes = calloc(*count + 1, sizeof(CUgraphNode));
    if (nodes && *count && gp_cuda.cuGraphGetNodes(graph, nodes, count) != CUDA_SUCCESS) {
        free(nodes);
        return NULL;
    }
    return nodes;
}

/* ---- reading the graph ----------------------------------------------------------------------- */

/* Collected while a clone is read. Child graphs become part of the whole: their node becomes a
 * beginning, which their first nodes depend on, and an end, which depends on their last ones. */
struct reading {
    struct gp_graph_node *nodes;
    struct end_points {
        unsigned parent;     /* the child graph it is in */
        unsigned end;        /* that others depend on: itself, or its child graph's end */
        bool leads, follows; /* some edge of its own graph begins, ends here */
    } * ends;
    unsigned count, room;
    struct gp_graph_edge *edges;
    size_t edge_count, edge_room;
};

static void free_reading(struct reading *r)
{
    free(r->nodes);
    free(r->ends);
    free(r->edges);
}

static bool add_node(struct reading *r, CUgraphNode node, CUgraphNodeType type, unsigned parent)
{
    if (r->count == r->room) {
        unsigned room = 2 * r->room + 64;
        struct gp_graph_node *nodes = realloc(r->nodes, room * sizeof(*nodes));
        if (nodes)
            r->nodes = nodes;
        struct end_points *ends = realloc(r->ends, room * sizeof(*ends));
        if (ends)
            r->ends = ends;
        if (!nodes || !ends)
            return false;
        r->room = room;
    }
    r->nodes[r->count] = (struct gp_graph_node){.node = node, .type = type};
    r->ends[r->count] = (struct end_points){.parent = parent, .end = r->count};
    r->count++;
    return true;
}

static bool add_edge(struct reading *r, unsigned from, unsigned to)
{
    if (r->edge_count == r->edge_room) {
        size_t room = 2 * r->edge_room + 64;
        struct gp_graph_edge *edges = realloc(r->edges, room * sizeof(*edges));
        if (!edges)
            return false;
        r->edges = edges;
        r->edge_room = room;
    }
    r->edges[r->edge_count++] = (struct gp_graph_edge){from, to};
    return true;
}

static int compare_originals(const void *a, const void *b)
{
    uintptr_t one = (uintptr_t)((const struct gp_graph_original *)a)->node;
    uintptr_t other = (uintptr_t)((const struct gp_graph_original *)b)->node;
    return (one > other) - (one < other);
}

static const struct gp_graph_original *find_original(const struct gp_graph_original *list,
                                                     size_t count, CUgraphNode node)
{
    struct gp_graph_original key = {.node = node};
    return count ? bsearch(&key, list, count, sizeof(key), compare_originals) : NULL;
}

/* Adds the edges between the nodes of one graph. */
static bool read_edges(struct reading *r, CUgraph graph, const struct gp_graph_original *own,
                       size_t count)
{
    struct gp_graph_edges e;
    bool well = graph_edges_of(graph, &e);
    for (size_t i = 0; i < e.count && well; i++) {
        const struct gp_graph_original *from = find_original(own, count, e.from[i]);
        const struct gp_graph_original *to = find_original(own, count, e.to[i]);
        well = from && to && add_edge(r, r->ends[from->index].end, to->index);
        if (well) {
            r->ends[from->index].leads = true;
            r->ends[to->index].follows = true;
        }
    }
    graph_edges_free(&e);
    return well;
}

static bool read_graph(struct reading *r, CUgraph graph, unsigned parent);

/* The others only order these; those with which the program's run is one of the whole, too. */
static bool is_of_use(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_HOST;
}

static bool read_node(struct reading *r, CUgraphNode node, unsigned parent)
{
    CUgraphNodeType type;
    CUgraph child;
    unsigned index = r->count;
    if (gp_cuda.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS || !add_node(r, node, type, parent))
        return false;
    if (!is_of_use(type))
        r->nodes[index].type = CU_GRAPH_NODE_TYPE_EMPTY;
    if (type != CU_GRAPH_NODE_TYPE_GRAPH)
        return true;
    if (gp_cuda.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_SUCCESS ||
        !read_graph(r, child, index))
        return false;
    unsigned end = r->count;
    if (!add_node(r, NULL, CU_GRAPH_NODE_TYPE_EMPTY, parent))
        return false;
    r->ends[end].leads = r->ends[end].follows = true; /* it belongs to its beginning */
    r->ends[index].end = end;
    if (!add_edge(r, index, end))
        return false;
    for (unsigned i = index + 1; i < end; i++) {
        const struct end_points *p = &r->ends[i];
        if (p->parent != index)
            continue;
        if ((!p->follows && !add_edge(r, index, i)) || (!p->leads && !add_edge(r, p->end, end)))
            return false;
    }
    return true;
}

static bool read_graph(struct reading *r, CUgraph graph, unsigned parent)
{
    size_t count;
    CUgraphNode *nodes = graph_nodes(graph, &count);
    struct gp_graph_original *own = calloc(count + 1, sizeof(*own));
    bool well = nodes && own;
    for (size_t i = 0; i < count && well; i++) {
        own[i] = (struct gp_graph_original){nodes[i], r->count};
        well = read_node(r, nodes[i], parent);
    }
    if (well) {
        qsort(own, count, sizeof(*own), compare_originals);
        well = read_edges(r, graph, own, count);
    }
    free(nodes);
    free(own);
    return well;
}

/* A graph that is too wide where every kernel may wait for others may be narrow enough by their
 * code: graph/width.c, at its launch. */
static enum gp_graph_reason find_order(struct gp_graph_clone *c, const struct reading *r)
{
    bool *may_wait = calloc(r->count + 1, sizeof(*may_wait));
    if (!may_wait)
        return GP_GRAPH_NOT_COPIED;
    for (unsigned i = 0; i < r->count; i++)
        may_wait[i] = r->nodes[i].type == CU_GRAPH_NODE_TYPE_KERNEL ||
                      r->nodes[i].type == CU_GRAPH_NODE_TYPE_HOST;
    bool found = graph_order_find(r->count, r->edges, r->edge_count, &c->order);
    if (found)
        c->spread = graph_order_spread(&c->order, may_wait);
    free(may_wait);
    return found ? GP_GRAPH_SPLITS : GP_GRAPH_NOT_COPIED;
}

static void read_configuration(struct gp_graph_node *node, const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    CUkernelNodeAttrValue value = {0};
    node->grid[0] = p->gridDimX;
    node->grid[1] = p->gridDimY;
    node->grid[2] = p->gridDimZ;
    node->block[0] = p->blockDimX;
    node->block[1] = p->blockDimY;
    node->block[2] = p->blockDimZ;
    node->shared_dynamic = p->sharedMemBytes;
    /* Drivers that know no clusters do not know the attribute. */
    if (gp_cuda.cuGraphKernelNodeGetAttribute(node->node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                              &value) != CUDA_SUCCESS)
        return;
    node->cluster[0] = value.clusterDim.x;
    node->cluster[1] = value.clusterDim.y;
    node->cluster[2] = value.clusterDim.z;
}

bool graph_node_read(struct gp_graph_node *node, CUcontext *context)
{
    CUDA_KERNEL_NODE_PARAMS_v2 p = {0};
    CUmodule module = NULL;
    if (gp_cuda.cuGraphKernelNodeGetParams_v2(node->node, &p) != CUDA_SUCCESS)
        return false;
    node->function = p.func ? p.func : (CUfunction)p.kern;
    *context = p.ctx;
    if (!*context && p.func && gp_cuda.cuFuncGetModule &&
        gp_cuda.cuFuncGetModule(&module, p.func) == CUDA_SUCCESS)
        *context = gp_module_context(module);
    read_configuration(node, &p);
    return node->function != NULL;
}

static enum gp_graph_reason read_kernels(struct gp_graph_clone *c)
{
    bool all_known = true;
    for (unsigned i = 0; i < c->order.count; i++) {
        CUcontext context;
        if (c->nodes[i].type != CU_GRAPH_NODE_TYPE_KERNEL)
            continue;
        if (!graph_node_read(&c->nodes[i], &context))
            return GP_GRAPH_NOT_COPIED;
        if (context && c->context && context != c->context)
            return GP_GRAPH_SEVERAL_CONTEXTS;
        all_known = all_known && context;
        c->context = context ? context : c->context;
    }
    if (!all_known)
        c->context = NULL;
    return GP_GRAPH_SPLITS;
}

/* Which of our nodes stands for which of the program's. Those in child graphs are left out:
 * changing one of them in the executable graph is a change that is not followed. */
static bool read_originals(struct gp_graph_clone *c, CUgraph graph)
{
    size_t count;
    CUgraphNode *nodes = graph_nodes(graph, &count);
    struct gp_graph_original *clones = calloc(c->order.count + 1, sizeof(*clones));
    c->originals = calloc(count + 1, sizeof(*c->originals));
    bool well = nodes && clones && c->originals;
    if (well) {
        for (unsigned i = 0; i < c->order.count; i++)
            clones[i] = (struct gp_graph_original){c->nodes[i].node, i};
        qsort(clones, c->order.count, sizeof(*clones), compare_originals);
    }
    for (size_t i = 0; i < count && well; i++) {
        CUgraphNode clone;
        const struct gp_graph_original *found = NULL;
        if (gp_cuda.cuGraphNodeFindInClone(&clone, nodes[i], c->graph) == CUDA_SUCCESS)
            found = find_original(clones, c->order.count, clone);
        well = found != NULL;
        if (well)
            c->originals[c->original_count++] = (struct gp_graph_original){nodes[i], found->index};
    }
    if (well)
        qsort(c->originals, count, sizeof(*c->originals), compare_originals);
    free(nodes);
    free(clones);
    return well;
}

/* Which of our nodes stands for which of the program's, where the nodes read are the program's own.
 */
static bool take_originals(struct gp_graph_clone *c, const struct reading *r)
{
    c->originals = calloc(r->count + 1, sizeof(*c->originals));
    if (!c->originals)
        return false;
    for (unsigned i = 0; i < r->count; i++)
        if (r->ends[i].parent == NO_PARENT && r->nodes[i].node)
            c->originals[c->original_count++] = (struct gp_graph_original){r->nodes[i].node, i};
    qsort(c->originals, c->original_count, sizeof(*c->originals), compare_originals);
    return true;
}

static bool copy_node(struct gp_graph_clone *c, struct gp_graph_node *n, CUcontext context)
{
    CUgraphNode original = n->node;
    n->node = NULL;
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return graph_kernel_copy(c->graph, original, context, &n->node);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        n->work = &c->works[n - c->nodes];
        return gp_cuda.cuGraphMemcpyNodeGetParams(original, &n->work->copy) == CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        n->work = &c->works[n - c->nodes];
        return gp_cuda.cuGraphMemsetNodeGetParams(original, &n->work->fill) == CUDA_SUCCESS;
    default:
        return true;
    }
}

/* A graph that allocates cannot be cloned, and memory that a clone allocated would have another
 * address. So a graph of our own gets a copy of each kernel; the order tells which node is behind
 * which. */
static bool copy_nodes(struct gp_graph_clone *c)
{
    CUcontext context;
    c->works = calloc(c->order.count + 1, sizeof(*c->works));
    bool copied = c->works && gp_cuda.cuCtxGetCurrent(&context) == CUDA_SUCCESS;
    for (unsigned i = 0; copied && i < c->order.count; i++)
        copied = copy_node(c, &c->nodes[i], context);
    return copied;
}

static enum gp_graph_reason read_clone(struct gp_graph_clone *c, CUgraph original)
{
    struct reading r = {0};
    enum gp_graph_reason why = GP_GRAPH_NOT_COPIED;
    if (read_graph(&r, c->stand_ins ? original : c->graph, NO_PARENT))
        why = find_order(c, &r);
    if (why == GP_GRAPH_SPLITS) {
        bool known = !c->stand_ins || take_originals(c, &r);
        c->nodes = r.nodes;
        r.nodes = NULL;
        why = known && (!c->stand_ins || copy_nodes(c)) ? read_kernels(c) : GP_GRAPH_NOT_COPIED;
    }
    if (why == GP_GRAPH_SPLITS && !c->stand_ins && !read_originals(c, original))
        why = GP_GRAPH_NOT_COPIED;
    free_reading(&r);
    return why;
}

/* ---- the clone ------------------------------------------------------------------------------- */

static bool driver_can_split(void)
{
    return gp_cuda.cuGraphClone && gp_cuda.cuGraphDestroy && gp_cuda.cuGraphNodeFindInClone &&
           gp_cuda.cuGraphGetNodes && (gp_cuda.cuGraphGetEdges || gp_cuda.cuGraphGetEdges_v2) &&
           gp_cuda.cuGraphNodeGetType && gp_cuda.cuGraphChildGraphNodeGetGraph &&
           gp_cuda.cuGraphKernelNodeGetAttribute && gp_cuda.cuGraphKernelNodeGetParams_v2 &&
           gp_cuda.cuGraphMemcpyNodeGetParams && gp_cuda.cuGraphMemsetNodeGetParams &&
           gp_cuda.cuGraphCreate && gp_cuda.cuGraphAddMemcpyNode && gp_cuda.cuGraphAddMemsetNode &&
           gp_cuda.cuGraphInstantiateWithFlags && gp_cuda.cuGraphExecDestroy &&
           gp_cuda.cuLaunchKernelEx &&
           gp_cuda.cuCtxRecordEvent; /* without it there is no bounded wait for work beside it */
}

static enum gp_graph_reason begin(struct gp_graph_clone *c, CUgraph graph)
{
    struct gp_graph_kinds kinds;
    enum gp_graph_reason why =
        driver_can_split() ? graph_inspect(graph, &kinds) : GP_GRAPH_OLD_DRIVER;
    if (why != GP_GRAPH_SPLITS)
        return why;
    c->whole = kinds.whole;
    c->calls_host = kinds.calls_host;
    c->waits = kinds.waits;
    if (kinds.allocates) {
        c->stand_ins = stand_ins_list(graph);
        if (!c->stand_ins)
            return GP_GRAPH_MEMORY_NODE;
    }
    CUresult result = kinds.allocates ? gp_cuda.cuGraphCreate(&c->graph, 0)
                                      : gp_cuda.cuGraphClone(&c->graph, graph);
    if (result == CUDA_SUCCESS)
        return GP_GRAPH_SPLITS;
    c->graph = NULL;
    return kinds.allocates ? GP_GRAPH_MEMORY_NODE : GP_GRAPH_NOT_COPIED;
}

enum gp_graph_reason graph_clone_make(struct gp_graph_clone *c, CUgraph graph)
{
    memset(c, 0, sizeof(*c));
    enum gp_graph_reason why = begin(c, graph);
    if (why == GP_GRAPH_SPLITS)
        why = read_clone(c, graph);
    if (why == GP_GRAPH_NOT_COPIED && c->whole != GP_GRAPH_SPLITS)
        why = c->whole;
    if (why != GP_GRAPH_SPLITS)
        graph_clone_free(c);
    return why;
}

void graph_clone_free(struct gp_graph_clone *c)
{
    if (c->graph)
        gp_cuda.cuGraphDestroy(c->graph);
    free(c->nodes);
    free(c->originals);
    free(c->works);
    free(c->stand_ins);
    graph_order_free(&c->order);
    memset(c, 0, sizeof(*c));
}

struct gp_graph_node *graph_clone_node(const struct gp_graph_clone *c, CUgraphNode original)
{
    const struct gp_graph_original *o = find_original(c->originals, c->original_count, original);
    return o ? &c->nodes[o->index] : NULL;
}

/* Devices whose primary context somebody uses. */
static int primary_contexts(void)
{
    int devices = 0, used = 0;
    if (gp_cuda.cuDeviceGetCount(&devices) != CUDA_SUCCESS)
        return 0;
    for (int i = 0; i < devices; i++) {
        CUdevice device;
        unsigned flags;
        int active = 0;
        if (gp_cuda.cuDeviceGet(&device, i) == CUDA_SUCCESS &&
            gp_cuda.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active)
            used++;
    }
    return used;
}

bool graph_is_in_context(const struct gp_graph_clone *graph, CUcontext context)
{
    return graph->context ? graph->context == context : primary_contexts() <= 1;
}
