#include "graph/graphs.h"

#include "base/hash.h"
#include "base/mix.h"
#include "gate/internal_work.h"
#include "graph/inside.h"
#include "launch/kernels.h"
#include "launch/selection.h"
#include "launch/session.h"

#include <pthread.h>
#include <stdlib.h>

struct gp_graph {
    CUgraphExec exec; /* the key */
    CUcontext made_in;
    unsigned long long flags;
    enum gp_graph_reason why; /* it is not split */
    struct gp_graph_clone clone;
    struct gp_graph_runs runs;     /* while there is none */
    struct gp_graph_node *kernels; /* where there is no clone, so that launches are counted */
    unsigned kernel_count;
    struct gp_graph_owners owners; /* of the memory that its copies and fills write, or wrote */
    unsigned kept_nodes;           /* counted in `kept` */
    CUevent ended;                 /* its last launch by nodes; NULL before the first */
    bool not_counted;   /* its kernels are not those that are known, or not all of them run */
    bool none_selected; /* of its kernels, when last asked */
    bool unending;      /* one of these is known not to end by itself, the same */
    bool none_launches; /* graphs, the same */
    bool listed;        /* its kernels have been recorded (graph_list_kernels) */
    bool launching;     /* a thread has taken nodes of it, and is about to launch them */
    struct gp_left_out_graph *left_out; /* NULL: there is no limit, or it was not counted yet */
    UT_hash_handle hh;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_graph *graphs;
static unsigned kept; /* nodes of all clones, and kernels of graphs without one */

/* ---- one graph ------------------------------------------------------------------------------- */

/* It has other work to do: that is verified anew. */
static void begin_anew(struct gp_graph_runs *runs)
{
    runs->schedule = (struct gp_verify_schedule){.broken = runs->schedule.broken};
}

static void forget_nodes(struct gp_graph *g)
{
    if (g->clone.graph)
        g->runs = g->clone.runs;
    begin_anew(&g->runs);
    gp_left_out_graph_changes(g->left_out);
    graph_clone_free(&g->clone);
    free(g->kernels);
    g->kernels = NULL;
    g->kernel_count = 0;
    pthread_mutex_lock(&lock);
    kept -= g->kept_nodes;
    pthread_mutex_unlock(&lock);
    g->kept_nodes = 0;
}

/* Counts so many nodes more. Those of a clone cost the driver about a kilobyte each. */
static bool reserve(struct gp_graph *g, unsigned count)
{
    pthread_mutex_lock(&lock);
    bool room = count <= GP_MOST_GRAPH_NODES - kept;
    if (room) {
        kept += count;
        g->kept_nodes = count;
    }
    pthread_mutex_unlock(&lock);
    return room;
}

/* Keeps the kernels alone of the graph's nodes: as they are in the program's graph, or else (NULL)
 * in the clone. */
static void keep_kernels(struct gp_graph *g, CUgraph graph)
{
    unsigned count;
    struct gp_graph_node *kernels =
        graph ? graph_kernels(graph, &count) : graph_kernels_of_clone(&g->clone, &count);
    forget_nodes(g);
    g->none_selected = g->unending = false;
    if (kernels && reserve(g, count)) {
        g->kernels = kernels;
        g->kernel_count = count;
    } else {
        free(kernels);
    }
}

/* Reads the nodes of the program's graph as they are now. */
static void read_graph(struct gp_graph *g, CUgraph graph)
{
    forget_nodes(g);
    g->not_counted = g->none_selected = g->none_launches = g->unending = g->listed = false;
    g->why = g->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
                 ? GP_GRAPH_FROM_DEVICE
                 : graph_clone_make(&g->clone, graph);
    g->clone.runs = g->runs;
    if (g->why == GP_GRAPH_SPLITS && !reserve(g, g->clone.order.count))
        g->why = GP_GRAPH_TOO_MANY;
    if (g->why != GP_GRAPH_SPLITS)
        keep_kernels(g, graph);
}

static void free_graph(struct gp_graph *g)
{
    if (!g)
        return;
    forget_nodes(g);
    gp_left_out_graph_free(g->left_out);
    graph_owners_free(&g->owners);
    if (g->ended)
        gp_cuda.cuEventDestroy_v2(g->ended);
    free(g);
}

/* ---- all graphs ------------------------------------------------------------------------------ */

/* Locked. */
static struct gp_graph *find(CUgraphExec exec)
{
    struct gp_graph *g;
    HASH_FIND_PTR(graphs, &exec, g);
    return g;
}

static struct gp_graph *take(CUgraphExec exec)
{
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    if (g)
        HASH_DEL(graphs, g);
    pthread_mutex_unlock(&lock);
    return g;
}

/* Without memory for the entry the graph is one that was not seen. */
static void enter(struct gp_graph *g)
{
    pthread_mutex_lock(&lock);
    HASH_ADD_PTR(graphs, exec, g);
    bool entered = g->hh.tbl != NULL;
    pthread_mutex_unlock(&lock);
    if (!entered)
        free_graph(g);
}

void gp_graph_instantiated(CUgraphExec exec, CUgraph graph, unsigned long long flags)
{
    gp_internal_work_begins();
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        gp_kernels_can_launch_graphs();
    /* The handle of a graph that went unseen, with its context perhaps. */
    free_graph(take(exec));
    struct gp_graph *g = gp_session_measures() ? calloc(1, sizeof(*g)) : NULL;
    if (g) {
        g->exec = exec;
        g->flags = flags;
        if (gp_cuda.cuCtxGetCurrent(&g->made_in) != CUDA_SUCCESS)
            g->made_in = NULL;
        read_graph(g, graph);
        graph_owners_read(&g->owners, graph);
        enter(g);
    }
    gp_internal_work_ends();
}

void gp_graph_update_begins(CUgraphExec exec)
{
    gp_internal_work_begins();
    struct gp_graph *g = take(exec);
    if (g) {
        /* Whether nodes stay disabled is the driver's to know. */
        g->not_counted = g->not_counted || graph_clone_has_disabled(&g->clone);
        if (g->why == GP_GRAPH_SPLITS && (g->not_counted || !gp_session_measures()))
            g->why = GP_GRAPH_NOT_FOLLOWED;
        if (!g->kernels)
            keep_kernels(g, NULL);
        enter(g);
    }
    gp_internal_work_ends();
}

void gp_graph_update_ends(CUgraphExec exec, CUgraph graph, CUresult result)
{
    gp_internal_work_begins();
    struct gp_graph *g = take(exec);
    if (g) {
        if (g->why == GP_GRAPH_SPLITS && result == CUDA_SUCCESS)
            read_graph(g, graph);
        else if (g->why == GP_GRAPH_SPLITS)
            g->why = GP_GRAPH_NOT_FOLLOWED;
        else if (result == CUDA_SUCCESS)
            keep_kernels(g, graph);
        graph_owners_read(&g->owners, graph);
        enter(g);
    }
    gp_internal_work_ends();
}

/* A change that is not followed: which kernels the graph has is not known any more. A function that
 * it had may go. Locked. */
static void not_followed(struct gp_graph *g)
{
    if (g->why == GP_GRAPH_SPLITS)
        g->why = GP_GRAPH_NOT_FOLLOWED;
    g->not_counted = true;
}

/* The entry of our node for one of the program's; NULL where that is no longer to be kept true. A
 * node that is not known has been changed all the same. Locked. */
static struct gp_graph_node *node_to_change(struct gp_graph *g, CUgraphNode node)
{
    struct gp_graph_node *ours =
        g && g->why == GP_GRAPH_SPLITS ? graph_clone_node(&g->clone, node) : NULL;
    if (g && !ours)
        not_followed(g);
    return ours;
}

CUgraphNode gp_graph_clone_of(CUgraphExec exec, CUgraphNode node)
{
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    const struct gp_graph_node *n = node_to_change(g, node);
    CUgraphNode clone = n ? n->node : NULL;
    if (n && n->work)
        not_followed(g);
    pthread_mutex_unlock(&lock);
    return clone;
}

void gp_graph_node_changed(CUgraphExec exec, CUgraphNode node, CUresult result)
{
    CUcontext context;
    gp_internal_work_begins();
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    struct gp_graph_node *n = node_to_change(g, node);
    if (n) {
        begin_anew(&g->clone.runs);
        gp_left_out_graph_changes(g->left_out);
        g->none_selected = g->none_launches = g->unending = g->listed = false;
        if (g->clone.by_code)
            g->clone.spread = false;
        /* The function may be another one; its context cannot. */
        if (result != CUDA_SUCCESS ||
            (n->type == CU_GRAPH_NODE_TYPE_KERNEL && !graph_node_read(n, &context)))
            not_followed(g);
    }
    pthread_mutex_unlock(&lock);
    gp_internal_work_ends();
}

void gp_graph_node_writes(CUgraphExec exec, CUmemorytype type, CUdeviceptr to)
{
    gp_internal_work_begins();
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    if (g)
        graph_owners_add(&g->owners, type, to);
    pthread_mutex_unlock(&lock);
    gp_internal_work_ends();
}

void gp_graph_child_changed(CUgraphExec exec, CUgraph child)
{
    gp_internal_work_begins();
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    if (g) {
        not_followed(g);
        graph_owners_read(&g->owners, child);
    }
    pthread_mutex_unlock(&lock);
    gp_internal_work_ends();
}

void gp_graph_node_enabled(CUgraphExec exec, CUgraphNode node, bool enabled)
{
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    struct gp_graph_node *n = node_to_change(g, node);
    if (n) {
        begin_anew(&g->clone.runs);
        gp_left_out_graph_changes(g->left_out);
        g->none_selected = g->none_launches = g->unending = g->listed = false;
        n->disabled = !enabled;
        if (g->clone.by_code)
            g->clone.spread = false;
    }
    pthread_mutex_unlock(&lock);
}

void gp_graph_forget(CUgraphExec exec)
{
    gp_internal_work_begins();
    free_graph(take(exec));
    gp_internal_work_ends();
}

static struct gp_graph *take_one_of_context(CUcontext context)
{
    struct gp_graph *g, *next, *found = NULL;
    pthread_mutex_lock(&lock);
    HASH_ITER(hh, graphs, g, next)
    {
        if (g->made_in == context || g->clone.context == context)
            found = g;
    }
    if (found)
        HASH_DEL(graphs, found);
    pthread_mutex_unlock(&lock);
    return found;
}

void gp_graphs_forget_context(CUcontext context)
{
    struct gp_graph *g;
    while ((g = take_one_of_context(context)))
        free_graph(g);
}

/* ---- for launches ---------------------------------------------------------------------------- */

void gp_graph_note_writer(CUgraphExec exec, CUcontext by)
{
    pthread_mutex_lock(&lock);
    const struct gp_graph *g = find(exec);
    if (g)
        graph_owners_note(&g->owners, by);
    pthread_mutex_unlock(&lock);
}

/* A kernel launches graphs only as part of one itself: by itself it fails. Locked. */
static bool launches_graphs(struct gp_graph *g)
{
    if (g->none_launches || !gp_kernels_launch_graphs())
        return false;
    g->none_launches = !graph_clone_launches_graphs(&g->clone);
    return !g->none_launches;
}

/* Conditional nodes have kernels in their bodies, which only the device counts. */
static bool is_to_be_timed(const struct gp_graph *g, struct gp_graph_counts c)
{
    return c.counted > 0 || (c.selected == 0 && g->why == GP_GRAPH_CONDITIONAL_NODE);
}

static void key_of_bodies(const struct gp_graph *g, struct gp_graph_listing *whole)
{
    if (whole->all == 0 && g->why == GP_GRAPH_CONDITIONAL_NODE)
        whole->key = gp_mix(1, g->why);
}

static void list_whole(const struct gp_graph *g, struct gp_graph_listing *whole)
{
    if (g->kernels)
        graph_list_whole(g->kernels, g->kernel_count, whole);
    else
        graph_list_whole(g->clone.nodes, g->clone.order.count, whole);
    key_of_bodies(g, whole);
}

/* All of its kernels were left out. Locked. */
static void learn_left_out(struct gp_graph *g)
{
    if (!g->left_out)
        g->left_out = gp_left_out_graph_make();
    if (g->left_out)
        graph_learn_left_out(&g->clone, g->left_out);
}

void graph_left_out(CUgraphExec exec)
{
    gp_internal_work_begins();
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    if (g && g->why == GP_GRAPH_SPLITS)
        learn_left_out(g);
    pthread_mutex_unlock(&lock);
    gp_internal_work_ends();
}

/* Counts the launches of its kernels. True where some are to be measured. Locked. */
static bool count_kernels(struct gp_graph *g, enum gp_graph_way way, struct gp_graph_listing *whole)
{
    const bool listed = g->kernels != NULL;
    struct gp_graph_counts c = {0};
    if (g->not_counted)
        return false;
    if (way == GP_BY_NODES && gp_left_out_graph_passes(g->left_out))
        return false;
    if (!g->none_selected)
        c = graph_count(listed ? g->kernels : g->clone.nodes,
                        listed ? g->kernel_count : g->clone.order.count, way, &g->unending);
    g->none_selected = c.selected == 0;
    if (way == GP_BY_NODES && c.selected > 0 && c.counted == 0)
        learn_left_out(g);
    if (way == GP_AS_IT_IS_AND_TIMED && !g->unending && is_to_be_timed(g, c))
        list_whole(g, whole);
    return c.taken > 0;
}

bool graph_list_kernels(CUgraphExec exec, struct gp_graph_listing *l)
{
    *l = (struct gp_graph_listing){0};
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    if (g && !g->not_counted) {
        if (g->kernels)
            graph_count_whole(g->kernels, g->kernel_count, !g->listed, l);
        else
            graph_count_clone(&g->clone, !g->listed, l);
        key_of_bodies(g, l);
        g->listed = true;
    }
    pthread_mutex_unlock(&lock);
    return g != NULL;
}

static unsigned kernels_among(const struct gp_graph_node *nodes, unsigned count)
{
    unsigned kernels = 0;
    for (unsigned i = 0; i < count; i++)
        kernels += nodes[i].type == CU_GRAPH_NODE_TYPE_KERNEL && !nodes[i].disabled;
    return kernels;
}

unsigned graph_kernel_count(CUgraphExec exec, bool *goes_by_nodes)
{
    pthread_mutex_lock(&lock);
    const struct gp_graph *g = find(exec);
    *goes_by_nodes = g && g->why == GP_GRAPH_SPLITS && g->clone.whole == GP_GRAPH_SPLITS;
    const unsigned kernels = !g || g->not_counted ? 1
                             : g->kernels         ? kernels_among(g->kernels, g->kernel_count)
                                          : kernels_among(g->clone.nodes, g->clone.order.count);
    pthread_mutex_unlock(&lock);
    return kernels;
}

static enum gp_graph_way way_of(const struct gp_graph *g, enum gp_graph_reason why)
{
    if (why == GP_GRAPH_SPLITS)
        return g->launching ? GP_AS_IT_IS : GP_BY_NODES;
    return why == GP_GRAPH_WAITS ? GP_AS_IT_IS : GP_AS_IT_IS_AND_TIMED;
}

bool graph_is_wanted(CUgraphExec exec, enum gp_graph_reason *why, bool *unending,
                     struct gp_graph_listing *whole)
{
    *whole = (struct gp_graph_listing){0};
    gp_internal_work_begins();
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    if (g && g->why == GP_GRAPH_SPLITS && launches_graphs(g))
        g->why = GP_GRAPH_LAUNCHES;
    *why = g ? g->why : GP_GRAPH_UNSEEN;
    bool wanted = g && count_kernels(g, way_of(g, *why), whole);
    if (wanted)
        g->launching = true;
    *unending = *why == GP_GRAPH_WAITS || (g && g->unending);
    pthread_mutex_unlock(&lock);
    gp_internal_work_ends();
    return wanted;
}

void graph_launched(CUgraphExec exec)
{
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    if (g)
        g->launching = false;
    pthread_mutex_unlock(&lock);
}

void graph_passed_over(CUgraphExec exec, enum gp_passed_over why)
{
    gp_internal_work_begins();
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    for (unsigned i = 0; g && i < g->clone.order.count; i++)
        if (g->clone.nodes[i].taken)
            graph_node_passed_over(&g->clone.nodes[i], why);
    pthread_mutex_unlock(&lock);
    gp_internal_work_ends();
}

struct gp_graph_clone *graph_find(CUgraphExec exec)
{
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    struct gp_graph_clone *clone = g && g->why == GP_GRAPH_SPLITS ? &g->clone : NULL;
    pthread_mutex_unlock(&lock);
    return clone;
}

CUevent graph_ended(CUgraphExec exec, bool make)
{
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    if (g && !g->ended && make)
        gp_event_make(&g->ended, CU_EVENT_DISABLE_TIMING);
    CUevent event = g ? g->ended : NULL;
    pthread_mutex_unlock(&lock);
    return event;
}

void graph_give_up(CUgraphExec exec, enum gp_graph_reason why)
{
    pthread_mutex_lock(&lock);
    struct gp_graph *g = find(exec);
    if (g && g->why == GP_GRAPH_SPLITS)
        g->why = why;
    pthread_mutex_unlock(&lock);
}
