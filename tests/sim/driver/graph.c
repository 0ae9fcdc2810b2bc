#include <stdlib.h>
#include <string.h>

#include "driver/capture.h"

static unsigned long long last_capture_id;
/* Events may name a capture long after its end, so none is ever freed. */
static struct gpusim_capture *captures;
static __thread CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/* ---- graphs ---- */

CUgraph gpusim_graph_new(void)
{
    CUgraph graph = calloc(1, sizeof(*graph));

    if (graph)
        graph->kind = GPUSIM_GRAPH;
    return graph;
}

void gpusim_graph_free(CUgraph graph)
{
    while (graph->first) {
        CUgraphNode node = graph->first;
        graph->first = node->next;
        if (node->child)
            gpusim_graph_free(node->child);
        free(node->after);
        node->kind = GPUSIM_DEAD;
        free(node);
    }
    graph->kind = GPUSIM_DEAD;
    free(graph);
}

CUgraphNode gpusim_graph_add(CUgraph graph, CUgraphNodeType type, const struct gpusim_work *work,
                             const CUgraphNode *after, size_t after_count)
{
    CUgraphNode node = calloc(1, sizeof(*node));

    if (!node)
        return NULL;
    if (after_count) {
        node->after = calloc(after_count, sizeof(CUgraphNode));
        if (!node->after) {
            free(node);
            return NULL;
        }
        memcpy(node->after, after, after_count * sizeof(CUgraphNode));
        node->after_count = after_count;
    }
    node->kind = GPUSIM_GRAPH_NODE;
    node->graph = graph;
    node->type = type;
    node->work = *work;
    node->index = graph->count++;
    if (graph->last)
        graph->last->next = node;
    else
        graph->first = node;
    graph->last = node;
    return node;
}

static bool clone_node(CUgraph clone, CUgraphNode of, CUgraphNode *by_index)
{
    CUgraphNode node, *after = calloc(of->after_count + 1, sizeof(CUgraphNode));

    if (!after)
        return false;
    for (size_t i = 0; i < of->after_count; i++)
        after[i] = by_index[of->after[i]->index];
    node = gpusim_graph_add(clone, of->type, &of->work, after, of->after_count);
    free(after);
    if (!node)
        return false;
    by_index[node->index] = node;
    node->cloned_from = of;
    node->memory = of->memory;
    node->bytes = of->bytes;
    node->pool = of->pool;
    node->event = of->event;
    node->disabled = of->disabled;
    node->is_left_out = of->is_left_out;
    memcpy(node->attributes, of->attributes, sizeof(node->attributes));
    if (of->child) {
        node->child = gpusim_graph_clone(of->child);
        return node->child != NULL;
    }
    return true;
}

CUgraph gpusim_graph_clone(CUgraph graph)
{
    CUgraph clone = gpusim_graph_new();
    CUgraphNode *by_index = calloc(graph->count + 1, sizeof(CUgraphNode));
    bool whole = clone && by_index;

    for (CUgraphNode n = graph->first; n && whole; n = n->next)
        whole = clone_node(clone, n, by_index);
    free(by_index);
    if (!whole && clone)
        gpusim_graph_free(clone);
    return whole ? clone : NULL;
}

/* ---- capture ---- */

static CUgraphNodeType type_of(const struct gpusim_work *work)
{
    switch (work->kind) {
    case GPUSIM_LAUNCH:
        return CU_GRAPH_NODE_TYPE_KERNEL;
    case GPUSIM_COPY:
        return CU_GRAPH_NODE_TYPE_MEMCPY;
    case GPUSIM_FILL:
        return CU_GRAPH_NODE_TYPE_MEMSET;
    case GPUSIM_HOST_CALL:
        return CU_GRAPH_NODE_TYPE_HOST;
    case GPUSIM_WRITE_VALUE:
    case GPUSIM_WAIT_VALUE:
        return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    case GPUSIM_FREE:
        return CU_GRAPH_NODE_TYPE_MEM_FREE;
    default:
        return CU_GRAPH_NODE_TYPE_EMPTY;
    }
}

static CUresult set_tail(CUstream stream, const CUgraphNode *nodes, size_t count)
{
    CUgraphNode *tail = realloc(stream->capture_tail, (count + 1) * sizeof(CUgraphNode));

    if (!tail)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (count)
        memmove(tail, nodes, count * sizeof(CUgraphNode));
    stream->capture_tail = tail;
    stream->capture_tail_count = count;
    return CUDA_SUCCESS;
}

/* A graph launched into a captured stream becomes a child graph; the work to be run is released. */
static CUresult add_child(CUstream stream, const struct gpusim_work *work)
{
    struct gpusim_work mark = {.kind = GPUSIM_MARK}, not_run = *work;
    CUgraph child = gpusim_graph_clone(work->graph.source);
    CUgraphNode node;

    if (!child)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node = gpusim_graph_add(stream->capture->graph, CU_GRAPH_NODE_TYPE_GRAPH, &mark,
                            stream->capture_tail, stream->capture_tail_count);
    if (!node) {
        gpusim_graph_free(child);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node->child = child;
    gpusim_work_clear(&not_run);
    return set_tail(stream, &node, 1);
}

CUresult gpusim_capture_add(CUstream stream, const struct gpusim_work *work)
{
    CUgraphNode node;

    if (stream->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (work->kind == GPUSIM_MARK)
        return CUDA_SUCCESS; /* dependencies are kept by the nodes themselves */
    if (work->kind == GPUSIM_GRAPH_LAUNCH)
        return add_child(stream, work);
    node = gpusim_graph_add(stream->capture->graph, type_of(work), work, stream->capture_tail,
                            stream->capture_tail_count);
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (work->kind == GPUSIM_LAUNCH)
        node->attributes[CU_LAUNCH_ATTRIBUTE_COOPERATIVE].cooperative = work->launch.cooperative;
    return set_tail(stream, &node, 1);
}

void gpusim_capture_invalidate(struct gpusim_capture *capture)
{
    capture->invalid = true;
}

CUresult gpusim_capture_interrupted_by(CUstream stream)
{
    if (!stream->legacy)
        return CUDA_SUCCESS;
    for (CUstream s = stream->context->streams; s; s = s->next)
        if (s->capture && !(s->flags & CU_STREAM_NON_BLOCKING)) {
            gpusim_capture_invalidate(s->capture);
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
    return CUDA_SUCCESS;
}

bool gpusim_capture_forbids(CUcontext context)
{
    bool forbidden = false;

    if (context->captures == 0 || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    for (CUstream s = context->streams; s; s = s->next) {
        struct gpusim_capture *c = s->capture;
        bool mine = c && pthread_equal(c->thread, pthread_self());
        if (!c || c->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
            continue;
        if (mine || (c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                     thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL)) {
            gpusim_capture_invalidate(c);
            forbidden = true;
        }
    }
    return forbidden;
}

static CUresult join(CUstream stream, struct gpusim_capture *capture)
{
    if (stream->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    stream->capture = capture;
    capture->streams++;
    return CUDA_SUCCESS;
}

static void leave(CUstream stream)
{
    stream->capture->streams--;
    stream->capture = NULL;
    stream->capture_tail_count = 0;
}

CUresult gpusim_capture_wait(CUstream stream, CUevent event)
{
    CUgraphNode *both;
    size_t count;
    CUresult result = CUDA_SUCCESS;

    if (!event->capture)
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION; /* recorded outside of the capture */
    if (stream->capture && stream->capture != event->capture)
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    if (!stream->capture) {
        result = join(stream, event->capture);
        return result == CUDA_SUCCESS
                   ? set_tail(stream, event->capture_nodes, event->capture_node_count)
                   : result;
    }
    count = stream->capture_tail_count + event->capture_node_count;
    both = calloc(count + 1, sizeof(CUgraphNode));
    if (!both)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (stream->capture_tail_count)
        memcpy(both, stream->capture_tail, stream->capture_tail_count * sizeof(CUgraphNode));
    if (event->capture_node_count)
        memcpy(both + stream->capture_tail_count, event->capture_nodes,
               event->capture_node_count * sizeof(CUgraphNode));
    result = set_tail(stream, both, count);
    free(both);
    return result;
}

CUresult gpusim_capture_record(CUstream stream, CUevent event)
{
    CUgraphNode *nodes =
        realloc(event->capture_nodes, (stream->capture_tail_count + 1) * sizeof(CUgraphNode));

    if (!nodes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (stream->capture_tail_count)
        memcpy(nodes, stream->capture_tail, stream->capture_tail_count * sizeof(CUgraphNode));
    event->capture_nodes = nodes;
    event->capture_node_count = stream->capture_tail_count;
    event->capture = stream->capture;
    return CUDA_SUCCESS;
}

static CUresult enter_stream(CUstream handle, bool per_thread, CUcontext *context, CUstream *stream)
{
    CUresult result = gpusim_enter_context(context);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&gpusim_lock);
    *stream = gpusim_stream(*context, handle, per_thread, &result);
    if (!*stream)
        pthread_mutex_unlock(&gpusim_lock);
    return result; /* the lock is held after success */
}

CUresult gpusim_capture_begin(CUstream handle, bool per_thread, CUstreamCaptureMode mode)
{
    struct gpusim_capture *capture = NULL;
    CUcontext context;
    CUstream stream;
    CUresult result = enter_stream(handle, per_thread, &context, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (stream->legacy)
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    else if (stream->capture)
        result = CUDA_ERROR_ILLEGAL_STATE;
    else
        capture = calloc(1, sizeof(*capture));
    if (capture)
        capture->graph = gpusim_graph_new();
    if (result == CUDA_SUCCESS && (!capture || !capture->graph))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        capture->next = captures;
        captures = capture;
        capture->origin = stream;
        capture->mode = mode;
        capture->thread = pthread_self();
        capture->id = ++last_capture_id;
        stream->capture_tail_count = 0;
        (void)join(stream, capture);
        context->captures++;
    } else {
        free(capture);
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

/* Do all streams that joined end in nodes that the origin waits for? */
static bool all_joined(CUcontext context, const struct gpusim_capture *capture)
{
    for (CUstream s = context->streams; s; s = s->next) {
        if (s->capture != capture || s == capture->origin)
            continue;
        for (size_t i = 0; i < s->capture_tail_count; i++) {
            CUgraphNode tail = s->capture_tail[i];
            bool followed = false;
            for (size_t o = 0; o < capture->origin->capture_tail_count; o++)
                followed = followed || capture->origin->capture_tail[o] == tail;
            for (CUgraphNode n = capture->graph->first; n; n = n->next)
                for (size_t a = 0; a < n->after_count; a++)
                    followed = followed || n->after[a] == tail;
            if (!followed)
                return false;
        }
    }
    return true;
}

CUresult gpusim_capture_end(CUstream handle, bool per_thread, CUgraph *graph)
{
    struct gpusim_capture *capture;
    CUcontext context;
    CUstream stream;
    CUresult result = enter_stream(handle, per_thread, &context, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    capture = stream->capture;
    if (!graph)
        result = CUDA_ERROR_INVALID_VALUE;
    else if (!capture)
        result = CUDA_ERROR_ILLEGAL_STATE;
    else if (capture->origin != stream)
        result = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    else if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
             !pthread_equal(capture->thread, pthread_self()))
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (result != CUDA_SUCCESS) {
        pthread_mutex_unlock(&gpusim_lock);
        return result;
    }
    if (capture->invalid)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!all_joined(context, capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *graph = result == CUDA_SUCCESS ? capture->graph : NULL;
    for (CUstream s = context->streams; s; s = s->next)
        if (s->capture == capture)
            leave(s);
    context->captures--;
    if (result != CUDA_SUCCESS)
        gpusim_graph_free(capture->graph);
    capture->graph = NULL;
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult gpusim_capture_info(CUstream handle, bool per_thread, struct gpusim_capture_facts *facts)
{
    CUcontext context;
    CUstream stream;
    CUresult result = enter_stream(handle, per_thread, &context, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    memset(facts, 0, sizeof(*facts));
    facts->status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream->legacy)
        result = gpusim_capture_interrupted_by(stream);
    if (stream->capture) {
        facts->status = stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
        facts->id = stream->capture->id;
        facts->graph = stream->capture->graph;
        facts->dependencies = stream->capture_tail;
        facts->dependency_count = stream->capture_tail_count;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = thread_mode;
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
