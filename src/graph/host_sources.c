/* The bytes that copies of a graph bring from the host, as they were before its run. Where its
 * nodes run again the copies take them from memory of ours: the graph may have written the host's
 * since, or the program freed it. With the gate locked and the context idle. */
#include "graph/inside.h"

#include "memory/buffers.h"

#include <stdlib.h>

/* As the driver aligns allocations, at least. */
#define ALIGNMENT 512u
/* Copies and fills in the host's memory, each of which is compared with each source. */
#define MOST_WRITTEN 256

#define WRITES_SOURCES                   \
    GP_REASON_TEXT(GRAPH_NOT_REPEATABLE, \
                   "the graph writes memory of the host that it also copies from")
#define NOT_READ GP_REASON_TEXT(GRAPH_NOT_REPEATABLE, "a copy from the host could not be made")

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* True for a copy from the host that is made again. */
static bool brings(const struct gp_graph_node *n, const struct gp_graph_clone *g,
                   CUDA_MEMCPY3D_v2 *copy)
{
    return n->type == CU_GRAPH_NODE_TYPE_MEMCPY && !n->disabled && !n->left_out &&
           graph_read_copy(n, g->stand_ins, copy) == CUDA_SUCCESS &&
           copy_end_of_source(copy, g->stand_ins) == GP_ON_HOST;
}

/* The bytes of the host that the graph writes. */
struct written {
    unsigned count;
    struct gp_address_span spans[MOST_WRITTEN];
};

static bool list_written(const struct gp_graph_clone *g, struct written *w)
{
    struct gp_graph_written one;
    w->count = 0;
    for (unsigned i = 0; i < g->order.count; i++) {
        if (!g->nodes[i].left_out)
            continue;
        if (w->count == MOST_WRITTEN || !graph_read_written(&g->nodes[i], g->stand_ins, &one))
            return false;
        w->spans[w->count++] = one.bytes;
    }
    return true;
}

static bool is_written(const struct written *w, struct gp_address_span source)
{
    for (unsigned i = 0; i < w->count; i++)
        if (w->spans[i].start < source.end && source.start < w->spans[i].end)
            return true;
    return false;
}

bool host_sources_need(const struct gp_graph_clone *g, uint64_t *bytes, struct gp_reason *why)
{
    struct written *w = malloc(sizeof(*w));
    bool all = w && list_written(g, w), well = w != NULL;
    *bytes = 0;
    for (unsigned i = 0; well && i < g->order.count; i++) {
        CUDA_MEMCPY3D_v2 copy = {0};
        if (!brings(&g->nodes[i], g, &copy))
            continue;
        well = all && !is_written(w, span_of_source(&copy));
        *bytes += aligned(copied_bytes(&copy));
    }
    *why = w ? WRITES_SOURCES : GP_REASON(NO_MEMORY);
    free(w);
    return well;
}

bool host_sources_take(struct gp_graph_clone *g, CUdeviceptr base, uint64_t bytes,
                       struct gp_reason *why)
{
    *why = NOT_READ;
    g->brought = base;
    gp_buffer_add(GP_BUFFER_DEVICE, base, bytes);
    for (unsigned i = 0; i < g->order.count; i++) {
        CUDA_MEMCPY3D_v2 copy = {0};
        if (!brings(&g->nodes[i], g, &copy))
            continue;
        const CUDA_MEMCPY3D_v2 kept = copy_to_row(&copy, base);
        if (gp_cuda.cuMemcpy3D_v2(&kept) != CUDA_SUCCESS)
            return false;
        g->nodes[i].source = base;
        base += aligned(copied_bytes(&copy));
    }
    return true;
}

void host_sources_leave(struct gp_graph_clone *g)
{
    if (g->brought)
        gp_buffer_discard(gp_buffer_take(g->brought));
    g->brought = 0;
    for (unsigned i = 0; i < g->order.count; i++)
        g->nodes[i].source = 0;
}
