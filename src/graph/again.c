#include "graph/again.h"

#include "graph/node_launch.h"
#include "graph/parts.h"
#include "graph/stand_ins.h"

/* Launches in a row. */
#define MOST_IN_VAIN 3
/* Bytes that a copy brings from the host are searched for addresses, up to so many: tables of
 * addresses are short. */
#define MOST_SEARCHED ((size_t)64 << 10)

#define OUT_OF_ROOM "its nodes use too many addresses"
#define IN_ARRAYS "it writes arrays"
#define ELSEWHERE "it writes memory of another device or process"

bool gp_graph_may_run_again(const struct gp_graph_clone *g)
{
    return !g->calls_host && g->runs.in_vain < MOST_IN_VAIN;
}

/* ---- where copies and fills lead ------------------------------------------------------------- */

enum side { ON_DEVICE, ON_HOST, IN_ARRAY };

/* Managed memory counts as the device's. Memory that the driver does not know is the host's. */
static bool is_on_device(CUdeviceptr address)
{
    CUmemorytype type = CU_MEMORYTYPE_HOST;
    unsigned managed = 0;
    if (gp_cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
        CUDA_SUCCESS)
        return false;
    return type == CU_MEMORYTYPE_DEVICE ||
           (gp_cuda.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) ==
                CUDA_SUCCESS &&
            managed);
}

static enum side side_of(CUmemorytype type, CUdeviceptr address)
{
    switch (type) {
    case CU_MEMORYTYPE_DEVICE:
        return ON_DEVICE;
    case CU_MEMORYTYPE_ARRAY:
        return IN_ARRAY;
    case CU_MEMORYTYPE_UNIFIED:
        return is_on_device(address) ? ON_DEVICE : ON_HOST;
    default:
        return ON_HOST;
    }
}

static enum side source_of(const CUDA_MEMCPY3D_v2 *copy)
{
    return side_of(copy->srcMemoryType, copy->srcDevice);
}

static enum side target_of(const CUDA_MEMCPY3D_v2 *copy)
{
    return side_of(copy->dstMemoryType, copy->dstDevice);
}

static bool add_address(struct gp_again *a, CUdeviceptr address)
{
    return gp_again_add_roots(a, &address, sizeof(address));
}

/* A table of addresses may be on its way to a kernel. */
static bool add_host_source(struct gp_again *a, const CUDA_MEMCPY3D_v2 *c)
{
    const char *from =
        c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : (const char *)(uintptr_t)c->srcDevice;
    bool is_searched = from && c->Height <= 1 && c->Depth <= 1 && c->WidthInBytes <= MOST_SEARCHED;
    return !is_searched || gp_again_add_roots(a, from + c->srcXInBytes, c->WidthInBytes);
}

static bool add_copy(struct gp_graph_node *n, const struct gp_graph_clone *g, struct gp_again *a,
                     const char **why)
{
    CUDA_MEMCPY3D_v2 c = {0};
    *why = OUT_OF_ROOM;
    if (gp_graph_read_copy(n, g->stand_ins, &c) != CUDA_SUCCESS)
        return false;
    enum side source = source_of(&c), target = target_of(&c);
    if (target == IN_ARRAY) {
        *why = IN_ARRAYS;
        return false;
    }
    n->left_out = target == ON_HOST;
    if (n->left_out)
        return true;
    return add_address(a, c.dstDevice) &&
           (source == ON_DEVICE ? add_address(a, c.srcDevice)
                                : source == IN_ARRAY || add_host_source(a, &c));
}

static bool add_fill(struct gp_graph_node *n, const struct gp_graph_clone *g, struct gp_again *a,
                     const char **why)
{
    CUDA_MEMSET_NODE_PARAMS_v1 f = {0};
    *why = OUT_OF_ROOM;
    if (gp_graph_read_fill(n, g->stand_ins, &f) != CUDA_SUCCESS)
        return false;
    n->left_out = !is_on_device(f.dst);
    return n->left_out || add_address(a, f.dst);
}

static bool add_kernel(const struct gp_graph_node *n, const struct gp_graph_clone *g,
                       struct gp_again *a, CUstream stream, const char **why)
{
    struct gp_node_launch k;
    *why = "the parameters of a kernel are not known";
    if (gp_node_launch_make(&k, n, g->stand_ins, stream, false) != CUDA_SUCCESS)
        return false;
    bool added = gp_again_add_kernel(a, &k.call, why);
    gp_node_launch_free(&k);
    return added;
}

static bool add_node(struct gp_graph_node *n, const struct gp_graph_clone *g, struct gp_again *a,
                     CUstream stream, const char **why)
{
    n->left_out = false;
    if (n->disabled)
        return true;
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return add_kernel(n, g, a, stream, why);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return add_copy(n, g, a, why);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return add_fill(n, g, a, why);
    default:
        return true;
    }
}

/* The memory that the node writes was copied. */
static bool is_copied(const struct gp_graph_node *n, const struct gp_graph_clone *g,
                      const struct gp_again *a)
{
    CUDA_MEMCPY3D_v2 c = {0};
    CUDA_MEMSET_NODE_PARAMS_v1 f = {0};
    if (n->disabled || n->left_out)
        return true;
    if (n->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        return gp_graph_read_copy(n, g->stand_ins, &c) == CUDA_SUCCESS &&
               gp_again_reaches(a, c.dstDevice);
    if (n->type == CU_GRAPH_NODE_TYPE_MEMSET)
        return gp_graph_read_fill(n, g->stand_ins, &f) == CUDA_SUCCESS &&
               gp_again_reaches(a, f.dst);
    return true;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool save(struct gp_graph_clone *g, CUstream stream, struct gp_again *a, const char **why)
{
    if (!gp_again_begin(a, stream, g->whole == GP_GRAPH_SPLITS, why))
        return false;
    CUdeviceptr base = g->stand_ins ? gp_again_stand_in(a, g->stand_ins->bytes, why) : 0;
    if (g->stand_ins && !base)
        return false;
    if (g->stand_ins)
        gp_stand_ins_enter(g->stand_ins, base);
    for (unsigned i = 0; i < g->order.count; i++)
        if (!add_node(&g->nodes[i], g, a, stream, why))
            return false;
    if (!gp_again_save(a, &g->runs.schedule, why))
        return false;
    *why = ELSEWHERE;
    for (unsigned i = 0; i < g->order.count; i++)
        if (!is_copied(&g->nodes[i], g, a))
            return false;
    return true;
}

bool gp_graph_save(struct gp_graph_clone *g, CUstream stream, struct gp_again *a, const char **why)
{
    bool saved = save(g, stream, a, why);
    if (!a->not_yet)
        g->runs.in_vain++; /* until it has run again */
    return saved;
}

void gp_graph_again_ends(struct gp_graph_clone *g, struct gp_again *a)
{
    if (a->rewound)
        g->runs.in_vain = 0;
    else if (a->context && a->context->busy)
        g->runs.in_vain = MOST_IN_VAIN; /* each wait for it holds the program up */
    gp_again_end(a);
    if (g->stand_ins)
        gp_stand_ins_leave(g->stand_ins);
    for (unsigned i = 0; i < g->order.count; i++)
        g->nodes[i].left_out = false;
}
