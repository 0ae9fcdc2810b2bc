/* Launches of a graph, counted as launches of its kernels. */
#include "graph/inside.h"

#include "base/mix.h"
#include "launch/kernels.h"
#include "launch/selection.h"

#include <stdlib.h>

/* ---- which kernels there are ----------------------------------------------------------------- */

struct listing {
    struct gp_graph_node *nodes;
    unsigned count, room;
};

static bool make_room(struct listing *l)
{
    if (l->count == GP_MOST_GRAPH_NODES)
        return false;
    if (l->count == l->room) {
        unsigned room = 2 * l->room + 16;
        struct gp_graph_node *nodes = realloc(l->nodes, room * sizeof(*nodes));
        if (!nodes)
            return false;
        l->nodes = nodes;
        l->room = room;
    }
    return true;
}

static bool add_kernel(struct listing *l, CUgraphNode node)
{
    CUcontext context;
    if (!make_room(l))
        return false;
    struct gp_graph_node *n = &l->nodes[l->count];
    *n = (struct gp_graph_node){.node = node, .type = CU_GRAPH_NODE_TYPE_KERNEL};
    l->count += graph_node_read(n, &context);
    return true;
}

static bool add_kernels(struct listing *l, CUgraph graph, unsigned depth)
{
    size_t count;
    CUgraphNode *nodes = depth < GP_MOST_GRAPH_DEPTH ? graph_nodes(graph, &count) : NULL;
    bool well = nodes != NULL;
    for (size_t i = 0; well && i < count; i++) {
        CUgraphNodeType type;
        CUgraph child;
        well = gp_cuda.cuGraphNodeGetType(nodes[i], &type) == CUDA_SUCCESS;
        if (well && type == CU_GRAPH_NODE_TYPE_KERNEL)
            well = add_kernel(l, nodes[i]);
        else if (well && type == CU_GRAPH_NODE_TYPE_GRAPH)
            well = gp_cuda.cuGraphChildGraphNodeGetGraph(nodes[i], &child) == CUDA_SUCCESS &&
                   add_kernels(l, child, depth + 1);
    }
    free(nodes);
    return well;
}

static bool driver_can_list(void)
{
    return gp_cuda.cuGraphGetNodes && gp_cuda.cuGraphNodeGetType &&
           gp_cuda.cuGraphChildGraphNodeGetGraph && gp_cuda.cuGraphKernelNodeGetParams_v2 &&
           gp_cuda.cuGraphKernelNodeGetAttribute;
}

struct gp_graph_node *graph_kernels(CUgraph graph, unsigned *count)
{
    struct listing l = {0};
    if (!driver_can_list() || !add_kernels(&l, graph, 0)) {
        free(l.nodes);
        l = (struct listing){0};
    }
    *count = l.count;
    return l.nodes;
}

struct gp_graph_node *graph_kernels_of_clone(const struct gp_graph_clone *clone, unsigned *count)
{
    struct listing l = {0};
    for (unsigned i = 0; i < clone->order.count; i++)
        if (clone->nodes[i].type == CU_GRAPH_NODE_TYPE_KERNEL && make_room(&l))
            l.nodes[l.count++] = clone->nodes[i];
    *count = l.count;
    return l.nodes;
}

/* ---- at a launch ----------------------------------------------------------------------------- */

/* Counts the launch of a kernel that is about to be made. */
static enum gp_choice choose(struct gp_graph_node *n, bool may_be_measured)
{
    struct gp_launch call = {.function = n->function, .configuration = n->configuration};
    if (gp_sampling_leaves_out_of_graph(&call) || !gp_selection_takes(&call))
        return GP_ONLY_COUNTED;
    return gp_sampling_chooses(&call, may_be_measured, &n->turn);
}

void graph_node_passed_over(struct gp_graph_node *n, enum gp_passed_over why)
{
    struct gp_launch call = {.function = n->function, .configuration = n->configuration};
    gp_sampling_passed_over(&call, why);
    n->taken = false;
}

struct gp_graph_counts graph_count(struct gp_graph_node *nodes, unsigned count,
                                   enum gp_graph_way way, bool *unending)
{
    const bool as_it_is = way != GP_BY_NODES;
    const enum gp_passed_over whole =
        way == GP_AS_IT_IS_AND_TIMED ? GP_TIMED_AS_A_WHOLE : GP_AS_A_WHOLE;
    struct gp_graph_counts c = {0};
    for (unsigned i = 0; i < count; i++) {
        struct gp_graph_node copy = nodes[i], *n = as_it_is ? &copy : &nodes[i];
        n->taken = n->only_timed = false;
        enum gp_interest interest = n->type != CU_GRAPH_NODE_TYPE_KERNEL || n->disabled
                                        ? GP_NOT_SELECTED
                                        : gp_kernel_interest(n->function, &n->configuration);
        if (interest == GP_NOT_SELECTED)
            continue;
        c.selected++;
        *unending = *unending || interest == GP_UNENDING;
        const enum gp_choice choice = choose(n, interest == GP_WANTED && !as_it_is);
        const bool counted = choice != GP_ONLY_COUNTED;
        n->taken = counted && interest == GP_WANTED && !as_it_is;
        n->only_timed = choice == GP_ONLY_TIMED;
        if (counted && !n->taken)
            graph_node_passed_over(n, interest == GP_WANTED ? whole : gp_kernel_why_not(interest));
        c.counted += counted;
        c.taken += n->taken;
    }
    return c;
}

void graph_learn_left_out(const struct gp_graph_clone *clone, struct gp_left_out_graph *left_out)
{
    unsigned count = 0;
    bool all_wanted = true; /* others are counted with reasons of their own */
    struct gp_launch *calls = calloc(clone->order.count + 1, sizeof(*calls));
    for (unsigned i = 0; calls && i < clone->order.count; i++) {
        const struct gp_graph_node *n = &clone->nodes[i];
        if (n->type != CU_GRAPH_NODE_TYPE_KERNEL || n->disabled)
            continue;
        const enum gp_interest interest = gp_kernel_interest(n->function, &n->configuration);
        all_wanted = all_wanted && (interest == GP_WANTED || interest == GP_NOT_SELECTED);
        if (interest == GP_WANTED)
            calls[count++] =
                (struct gp_launch){.function = n->function, .configuration = n->configuration};
    }
    if (calls && all_wanted)
        gp_left_out_graph_learn(left_out, calls, count);
    free(calls);
}

static void add_kernel_of(struct gp_graph_listing *l, const struct gp_graph_node *n)
{
    l->first = l->all++ == 0 ? n->function : l->first;
    l->key =
        gp_configuration_hash(&n->configuration, gp_mix(l->key, (uint64_t)(uintptr_t)n->function));
}

void graph_list_whole(const struct gp_graph_node *nodes, unsigned count, struct gp_graph_listing *l)
{
    for (unsigned i = 0; i < count; i++)
        if (nodes[i].type == CU_GRAPH_NODE_TYPE_KERNEL && !nodes[i].disabled)
            add_kernel_of(l, &nodes[i]);
}

void graph_count_whole(const struct gp_graph_node *nodes, unsigned count, bool list,
                       struct gp_graph_listing *l)
{
    if (list)
        l->kernels = calloc(count + 1, sizeof(*l->kernels));
    for (unsigned i = 0; i < count; i++) {
        struct gp_graph_node n = nodes[i];
        if (n.type != CU_GRAPH_NODE_TYPE_KERNEL || n.disabled)
            continue;
        add_kernel_of(l, &n);
        if (gp_kernel_interest(n.function, &n.configuration) == GP_NOT_SELECTED ||
            choose(&n, false) == GP_ONLY_COUNTED)
            continue;
        if (l->kernels)
            l->kernels[l->count++] = n;
        else
            graph_node_passed_over(&n, GP_TIMED_AS_A_WHOLE);
    }
}

void graph_count_clone(const struct gp_graph_clone *clone, bool list, struct gp_graph_listing *l)
{
    l->is_one_kernel = clone->order.count == 1 && clone->nodes[0].type == CU_GRAPH_NODE_TYPE_KERNEL;
    graph_count_whole(clone->nodes, clone->order.count, list || l->is_one_kernel, l);
}

bool graph_clone_launches_graphs(const struct gp_graph_clone *clone)
{
    for (unsigned i = 0; i < clone->order.count; i++)
        if (clone->nodes[i].type == CU_GRAPH_NODE_TYPE_KERNEL &&
            gp_kernel_may_launch_graphs(clone->nodes[i].function))
            return true;
    return false;
}

bool graph_clone_has_disabled(const struct gp_graph_clone *clone)
{
    unsigned i = 0;
    while (i < clone->order.count && !clone->nodes[i].disabled)
        i++;
    return i < clone->order.count;
}
