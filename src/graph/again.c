/* A graph runs as a graph, for the program, and its nodes are launched one by one behind it, on the
 * memory that it found, to be measured. Afterwards memory is as the graph left it. */
#include "graph/inside.h"

/* Launches in a row. */
#define MOST_IN_VAIN 3
#define OUT_OF_ROOM GP_REASON_TEXT(GRAPH_NOT_REPEATABLE, "the graph's nodes use too many addresses")
#define NOT_READ GP_REASON_TEXT(GRAPH_NOT_REPEATABLE, "a node of the graph cannot be read")
#define IN_ARRAYS GP_REASON_TEXT(ARRAYS, "the graph writes arrays")
#define WAITS_AND_BRINGS      \
    GP_REASON_TEXT(           \
        GRAPH_NOT_REPEATABLE, \
        "the graph waits for others, which may write memory of the host that it copies from")
#define FAR_APART \
    GP_REASON_TEXT(GRAPH_NOT_REPEATABLE, "the graph's allocations lie far from each other")
#define TO_ELSEWHERE \
    GP_REASON_TEXT(SHARED_MEMORY, "the graph writes memory of another device or process")
#define FROM_ELSEWHERE            \
    GP_REASON_TEXT(SHARED_MEMORY, \
                   "the graph copies from memory of another context, device or process")

bool graph_may_run_again(const struct gp_graph_clone *g)
{
    return !g->calls_host && g->runs.in_vain < MOST_IN_VAIN;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool add_address(struct gp_again *a, CUdeviceptr address)
{
    return gp_again_add_roots(a, &address, sizeof(address));
}

static bool add_source(const struct gp_graph_node *n, const struct gp_graph_clone *g,
                       struct gp_again *a)
{
    CUDA_MEMCPY3D_v2 c = {0};
    if (n->type != CU_GRAPH_NODE_TYPE_MEMCPY)
        return true;
    return graph_read_copy(n, g->stand_ins, &c) == CUDA_SUCCESS &&
           (copy_end_of_source(&c, g->stand_ins) != GP_ON_DEVICE || add_address(a, c.srcDevice));
}

static bool add_copy_or_fill(const struct gp_graph_node *n, const struct gp_graph_clone *g,
                             struct gp_again *a, struct gp_reason *why)
{
    struct gp_graph_written w;
    *why = OUT_OF_ROOM;
    return graph_read_written(n, g->stand_ins, &w) && add_address(a, w.base) && add_source(n, g, a);
}

static bool add_kernel(const struct gp_graph_node *n, const struct gp_graph_clone *g,
                       struct gp_again *a, CUstream stream, struct gp_reason *why)
{
    struct gp_node_launch k;
    *why = GP_REASON_TEXT(GRAPH_NOT_REPEATABLE, "the parameters of a kernel are not known");
    if (node_launch_make(&k, n, g->stand_ins, stream, false) != CUDA_SUCCESS)
        return false;
    bool added = gp_again_add_kernel(a, &k.call, why);
    node_launch_free(&k);
    return added;
}

static bool add_node(const struct gp_graph_node *n, const struct gp_graph_clone *g,
                     struct gp_again *a, CUstream stream, struct gp_reason *why)
{
    if (n->disabled || n->left_out)
        return true;
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return add_kernel(n, g, a, stream, why);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return add_copy_or_fill(n, g, a, why);
    default:
        return true;
    }
}

/* Leaves out copies and fills that write the host's memory: it is not put back. */
static bool leave_out(struct gp_graph_node *n, const struct gp_graph_clone *g,
                      struct gp_reason *why)
{
    struct gp_graph_written w;
    *why = NOT_READ;
    if (n->disabled)
        return true;
    if (!graph_read_written(n, g->stand_ins, &w))
        return false;
    n->left_out = w.side == GP_ON_HOST;
    *why = IN_ARRAYS;
    return w.side != GP_IN_ARRAY;
}

static bool is_source_copied(const struct gp_graph_node *n, const struct gp_graph_clone *g,
                             const struct gp_again *a)
{
    CUDA_MEMCPY3D_v2 c = {0};
    if (n->type != CU_GRAPH_NODE_TYPE_MEMCPY)
        return true;
    return graph_read_copy(n, g->stand_ins, &c) == CUDA_SUCCESS &&
           (copy_end_of_source(&c, g->stand_ins) != GP_ON_DEVICE ||
            gp_again_reaches(a, c.srcDevice));
}

/* The memory that the node writes was copied, and so was that from which it copies: others may
 * write that before the second run. */
static bool is_copied(const struct gp_graph_node *n, const struct gp_graph_clone *g,
                      const struct gp_again *a, struct gp_reason *why)
{
    struct gp_graph_written w;
    if (n->disabled || n->left_out)
        return true;
    *why = TO_ELSEWHERE;
    if (!graph_read_written(n, g->stand_ins, &w) || (w.base && !gp_again_reaches(a, w.base)))
        return false;
    *why = FROM_ELSEWHERE;
    return is_source_copied(n, g, a);
}

/* ---- the graph ------------------------------------------------------------------------------- */

/* Memory in the second run that the program does not have, or not any more: of the graph's
 * allocations, and for the bytes that it brings from the host. */
static bool stand_in(struct gp_graph_clone *g, struct gp_again *a, struct gp_reason *why)
{
    uint64_t own = g->stand_ins ? g->stand_ins->bytes : 0, brought;
    *why = FAR_APART;
    if (own && g->stand_ins->far_apart)
        return false;
    if (!host_sources_need(g, &brought, why))
        return false;
    if (own + brought == 0)
        return true;
    /* The bytes are taken before its run. An event or a semaphore may tell it that they are there,
     * and whether that is so already does not show: the program may destroy the event. */
    *why = WAITS_AND_BRINGS;
    if (brought && g->waits)
        return false;
    CUdeviceptr base = gp_again_stand_in(a, own + brought, why);
    if (!base)
        return false;
    if (own)
        stand_ins_enter(g->stand_ins, base);
    return brought == 0 || host_sources_take(g, base + own, brought, why);
}

static bool save(struct gp_graph_clone *g, CUstream stream, struct gp_again *a,
                 struct gp_reason *why)
{
    bool well = gp_again_begin(a, stream, g->whole == GP_GRAPH_SPLITS, why);
    if (!well)
        return false;
    a->may_wait = g->waits;
    for (unsigned i = 0; well && i < g->order.count; i++)
        well = leave_out(&g->nodes[i], g, why);
    well = well && stand_in(g, a, why);
    for (unsigned i = 0; well && i < g->order.count; i++)
        well = add_node(&g->nodes[i], g, a, stream, why);
    well = well && gp_again_save(a, &g->runs.schedule, why);
    for (unsigned i = 0; well && i < g->order.count; i++)
        well = is_copied(&g->nodes[i], g, a, why);
    return well;
}

bool graph_save(struct gp_graph_clone *g, CUstream stream, struct gp_again *a,
                struct gp_reason *why)
{
    bool saved = save(g, stream, a, why);
    if (!a->not_yet)
        g->runs.in_vain++; /* until it has run again */
    return saved;
}

void graph_again_ends(struct gp_graph_clone *g, struct gp_again *a)
{
    if (a->rewound)
        g->runs.in_vain = 0;
    else if (gp_again_runs_on(a))
        g->runs.in_vain = MOST_IN_VAIN; /* each wait for it holds the program up */
    gp_again_end(a);
    if (g->stand_ins)
        stand_ins_leave(g->stand_ins);
    host_sources_leave(g);
    for (unsigned i = 0; i < g->order.count; i++)
        g->nodes[i].left_out = false;
}
