/* Streams of our own, one set for each context, for work that may run side by side. Owns them. Used
 * with the gate locked. */
#include "graph/graphs.h"
#include "graph/inside.h"

#include <stdlib.h>
#include <utlist.h>

static struct gp_graph_streams *all;

static struct gp_graph_streams *find(CUcontext context)
{
    struct gp_graph_streams *l;
    LL_SEARCH_SCALAR(all, l, context, context);
    return l;
}

static void destroy_streams(struct gp_graph_streams *l)
{
    for (unsigned i = 0; i < GP_MOST_BRANCHES && l->streams[i]; i++)
        gp_cuda.cuStreamDestroy_v2(l->streams[i]);
}

/* All at once: the driver then gives each a queue of the GPU of its own. */
static bool create_streams(struct gp_graph_streams *l)
{
    for (unsigned i = 0; i < GP_MOST_BRANCHES; i++) {
        if (gp_cuda.cuStreamCreate(&l->streams[i], CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) {
            l->streams[i] = NULL;
            destroy_streams(l);
            return false;
        }
    }
    return true;
}

const struct gp_graph_streams *graph_streams_enter(CUcontext context)
{
    struct gp_graph_streams *l = find(context);
    if (l)
        return l;
    l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->context = context;
    if (!create_streams(l)) {
        free(l);
        return NULL;
    }
    LL_PREPEND(all, l);
    return l;
}

void gp_graph_streams_leave(CUcontext context)
{
    struct gp_graph_streams *l = find(context);
    if (!l)
        return;
    LL_DELETE(all, l);
    if (gp_cuda.cuCtxPushCurrent_v2(context) == CUDA_SUCCESS) {
        destroy_streams(l);
        gp_context_pop();
    }
    free(l);
}
