/* In which order the nodes of a graph can be launched one by one, and which of them need a stream
 * of their own.
 *
 * A kernel or a host function may wait for another node that no path of the graph puts before or
 * after it: with that behind it in the same stream, it would never end. So nodes are spread over
 * branches, each a stream, in such a way that being behind the others of its branch makes a node
 * wait only for those of the nodes that may wait on which it depends anyway. Copies, fills, and
 * kernels that by their code cannot wait may have anything behind them.
 */
#include "graph/inside.h"

#include <stdlib.h>
#include <string.h>

/* For each branch a number of its nodes that may wait for others, the first ones: those of a branch
 * depend on each other, so that these are all that something waits for there. */
struct reach {
    unsigned waiting[GP_MOST_BRANCHES];
};

static void join(struct reach *into, const struct reach *other)
{
    for (unsigned b = 0; b < GP_MOST_BRANCHES; b++)
        if (other->waiting[b] > into->waiting[b])
            into->waiting[b] = other->waiting[b];
}

static bool covers(const struct reach *outer, const struct reach *inner)
{
    for (unsigned b = 0; b < GP_MOST_BRANCHES; b++)
        if (inner->waiting[b] > outer->waiting[b])
            return false;
    return true;
}

/* ---- the order ------------------------------------------------------------------------------- */

/* Lists edges by the node at one of their ends: those of node n are from first[n] to first[n + 1].
 */
static void list_by_end(const struct gp_graph_edge *edges, size_t edge_count, unsigned count,
                        bool by_target, unsigned *first, unsigned *others)
{
    memset(first, 0, (count + 1) * sizeof(*first));
    for (size_t e = 0; e < edge_count; e++)
        first[by_target ? edges[e].to : edges[e].from]++;
    /* From here on first[n] is the end of n's list, and filling it from the end makes it the start.
     */
    for (unsigned n = 1; n < count; n++)
        first[n] += first[n - 1];
    first[count] = (unsigned)edge_count;
    for (size_t e = edge_count; e-- > 0;) {
        unsigned n = by_target ? edges[e].to : edges[e].from;
        others[--first[n]] = by_target ? edges[e].from : edges[e].to;
    }
}

/* Kahn's: a node follows when all it depends on have gone before. False for a circle. */
static bool find_sequence(struct gp_graph_order *o, const unsigned *next_first,
                          const unsigned *next, unsigned *missing)
{
    unsigned done = 0, found = 0;
    for (unsigned n = 0; n < o->count; n++) {
        missing[n] = o->first[n + 1] - o->first[n];
        if (!missing[n])
            o->sequence[found++] = n;
    }
    for (; done < found; done++) {
        unsigned n = o->sequence[done];
        for (unsigned i = next_first[n]; i < next_first[n + 1]; i++)
            if (--missing[next[i]] == 0)
                o->sequence[found++] = next[i];
    }
    return found == o->count;
}

/* ---- the branches ---------------------------------------------------------------------------- */

/* The branch a node joins, one of its dependencies' if it can; GP_MOST_BRANCHES where it fits
 * behind none, and no other is left. */
static unsigned choose_branch(const struct gp_graph_order *o, unsigned node,
                              const struct reach *needs, const struct reach *behind)
{
    for (unsigned i = o->first[node]; i < o->first[node + 1]; i++) {
        unsigned b = o->branch[o->dependencies[i]];
        if (covers(needs, &behind[b]))
            return b;
    }
    for (unsigned b = 0; b < o->branches; b++)
        if (covers(needs, &behind[b]))
            return b;
    return o->branches;
}

/* needs: nodes that may wait and that a node depends on, itself included. behind: those that the
 * end of a branch waits for. */
static bool spread(struct gp_graph_order *o, const bool *may_wait, struct reach *needs)
{
    struct reach behind[GP_MOST_BRANCHES] = {0};
    unsigned waiting[GP_MOST_BRANCHES] = {0};
    o->branches = 1;
    for (unsigned i = 0; i < o->count; i++) {
        unsigned n = o->sequence[i];
        for (unsigned d = o->first[n]; d < o->first[n + 1]; d++)
            join(&needs[n], &needs[o->dependencies[d]]);
        unsigned b = choose_branch(o, n, &needs[n], behind);
        if (b == GP_MOST_BRANCHES)
            return false;
        if (b == o->branches)
            o->branches++;
        o->branch[n] = (unsigned char)b;
        if (may_wait[n])
            needs[n].waiting[b] = ++waiting[b];
        join(&behind[b], &needs[n]);
    }
    memset(o->awaited, 0, o->count * sizeof(*o->awaited));
    for (unsigned n = 0; n < o->count; n++)
        for (unsigned d = o->first[n]; d < o->first[n + 1]; d++)
            if (o->branch[o->dependencies[d]] != o->branch[n])
                o->awaited[o->dependencies[d]] = true;
    return true;
}

/* ---- */

static bool edges_are_good(const struct gp_graph_edge *edges, size_t edge_count, unsigned count)
{
    for (size_t e = 0; e < edge_count; e++)
        if (edges[e].from >= count || edges[e].to >= count)
            return false;
    return edge_count <= (size_t)1 << 30;
}

bool graph_order_find(unsigned count, const struct gp_graph_edge *edges, size_t edge_count,
                      struct gp_graph_order *order)
{
    memset(order, 0, sizeof(*order));
    if (!edges_are_good(edges, edge_count, count))
        return false;
    order->count = count;
    order->sequence = calloc(count + 1, sizeof(*order->sequence));
    order->first = calloc(count + 1, sizeof(*order->first));
    order->dependencies = calloc(edge_count + 1, sizeof(*order->dependencies));
    order->branch = calloc(count + 1, sizeof(*order->branch));
    order->awaited = calloc(count + 1, sizeof(*order->awaited));
    unsigned *next_first = calloc(count + 1, sizeof(*next_first));
    unsigned *next = calloc(edge_count + 1, sizeof(*next));
    unsigned *missing = calloc(count + 1, sizeof(*missing));
    bool found = false;
    if (order->sequence && order->first && order->dependencies && order->branch && order->awaited &&
        next_first && next && missing) {
        list_by_end(edges, edge_count, count, true, order->first, order->dependencies);
        list_by_end(edges, edge_count, count, false, next_first, next);
        found = find_sequence(order, next_first, next, missing);
    }
    free(next_first);
    free(next);
    free(missing);
    if (!found)
        graph_order_free(order);
    return found;
}

bool graph_order_spread(struct gp_graph_order *order, const bool *may_wait)
{
    struct reach *needs = calloc(order->count + 1, sizeof(*needs));
    bool spreads = needs && spread(order, may_wait, needs);
    free(needs);
    return spreads;
}

void graph_order_free(struct gp_graph_order *order)
{
    free(order->sequence);
    free(order->first);
    free(order->dependencies);
    free(order->branch);
    free(order->awaited);
    memset(order, 0, sizeof(*order));
}
