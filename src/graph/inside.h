/* graph/ from within: the declarations that its own files alone use, each section behind those that
 * it needs. The first lines of a file that a section names say more. */
#ifndef GPUPROF_GRAPH_INSIDE_H
#define GPUPROF_GRAPH_INSIDE_H

#include "base/configuration.h"
#include "cuda/driver.h"
#include "launch/again.h"
#include "launch/launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- why kernels are not launched one by one (reasons.c) ------------------------------------- */

enum gp_graph_reason {
    GP_GRAPH_SPLITS, /* they are */
    GP_GRAPH_UNSEEN,
    GP_GRAPH_OLD_DRIVER,
    GP_GRAPH_NOT_COPIED,
    GP_GRAPH_TOO_MANY,
    GP_GRAPH_HOST_NODE,
    GP_GRAPH_EVENT_NODE,
    GP_GRAPH_SEMAPHORE_NODE,
    GP_GRAPH_MEMORY_NODE,
    GP_GRAPH_CONDITIONAL_NODE,
    GP_GRAPH_OTHER_NODE,
    GP_GRAPH_FROM_DEVICE,
    GP_GRAPH_LAUNCHES,
    GP_GRAPH_OTHER_EDGE,
    GP_GRAPH_TOO_WIDE,
    GP_GRAPH_SEVERAL_CONTEXTS,
    GP_GRAPH_BESIDE_CAPTURE,
    GP_GRAPH_NOT_FOLLOWED,
    GP_GRAPH_WAITS,
    GP_GRAPH_BROKE_OFF,
    GP_GRAPH_NOT_AGAIN, /* why was said at its launch */
    GP_GRAPH_REASONS
};

/* Says it, once for each reason. */
void graph_say(enum gp_graph_reason why);

/* ---- memory that graphs allocate (allocations.c) --------------------------------------------- */

/* Allocations of one graph: each is compared with each that is freed. */
#define GP_MOST_GRAPH_ALLOCATIONS 1024

struct gp_graph_allocations {
    unsigned made_count, freed_count;
    struct gp_graph_allocation {
        CUdeviceptr address;
        size_t bytes;
        bool here; /* on the current device */
    } made[GP_MOST_GRAPH_ALLOCATIONS];
    CUdeviceptr freed[GP_MOST_GRAPH_ALLOCATIONS];
};

/* The allocations of the graph and its child graphs; to be freed. NULL where not all are known. */
struct gp_graph_allocations *graph_allocations(CUgraph graph);
/* True where it frees all that it allocates, and nothing else, and all lies on the current device.
 */
bool graph_keeps_to_itself(const struct gp_graph_allocations *allocations);

/* ---- stand-ins for that memory (stand_ins.c) ------------------------------------------------- */

struct gp_stand_ins {
    uint64_t bytes;   /* that they need together, with the gaps between them */
    bool far_apart;   /* the gaps are too large */
    CUdeviceptr base; /* where they lie now; 0: there are none */
    unsigned count;
    struct gp_stand_in {
        CUdeviceptr address; /* the graph's */
        uint64_t bytes, offset;
    } list[]; /* sorted, none overlaps another */
};

/* For the graph's allocations, none there yet; to be freed. NULL where it does not keep them to
 * itself, or they are not known. */
struct gp_stand_ins *stand_ins_list(CUgraph graph);

/* They lie there from now on, known as memory that kernels reach; that of the graph is known as one
 * that is not there. And no more. */
void stand_ins_enter(struct gp_stand_ins *s, CUdeviceptr base);
void stand_ins_leave(struct gp_stand_ins *s);

/* True for an address in memory that the graph allocates, there or not. NULL for `s`: there is
 * none.
 */
bool stand_ins_cover(const struct gp_stand_ins *s, CUdeviceptr address);

/* The address that stands in for one of the graph's, or near its memory; those in other memory
 * stay. NULL for `s`: all stay. */
CUdeviceptr stand_in_for(const struct gp_stand_ins *s, CUdeviceptr address);

/* A launch's parameters with these addresses; to be freed. The launch gets them. NULL where they
 * are not known, or out of memory. */
struct gp_replaced_parameters *stand_ins_replace(const struct gp_stand_ins *s,
                                                 struct gp_launch *call);

/* ---- the ends of a copy or a fill (ends.c) --------------------------------------------------- */

/* Managed memory counts as the device's, and so does memory that the graph allocates, which the
 * driver may not know just now (NULL: none). Other memory that it does not know is the host's. */
enum gp_copy_end { GP_ON_DEVICE, GP_ON_HOST, GP_IN_ARRAY };

enum gp_copy_end copy_end_of_source(const CUDA_MEMCPY3D_v2 *copy, const struct gp_stand_ins *own);
enum gp_copy_end copy_end_of_target(const CUDA_MEMCPY3D_v2 *copy, const struct gp_stand_ins *own);
enum gp_copy_end copy_end_of_fill(const CUDA_MEMSET_NODE_PARAMS_v1 *fill,
                                  const struct gp_stand_ins *own);

/* All bytes from the first to the last one that is read or written; not of an array. */
struct gp_address_span {
    uint64_t start, end;
};
struct gp_address_span span_of_source(const CUDA_MEMCPY3D_v2 *copy);
struct gp_address_span span_of_target(const CUDA_MEMCPY3D_v2 *copy);
struct gp_address_span span_of_fill(const CUDA_MEMSET_NODE_PARAMS_v1 *fill);

/* Bytes that a copy moves. */
uint64_t copied_bytes(const CUDA_MEMCPY3D_v2 *copy);
/* The copy, with the same bytes lying in a row on the device as its source, or as its target. */
CUDA_MEMCPY3D_v2 copy_from_row(const CUDA_MEMCPY3D_v2 *copy, CUdeviceptr row);
CUDA_MEMCPY3D_v2 copy_to_row(const CUDA_MEMCPY3D_v2 *copy, CUdeviceptr row);

/* ---- the order of nodes (order.c) ------------------------------------------------------------ */

/* Streams that run at the same time for certain: the driver maps streams to a few queues of the GPU
 * (8 where nobody says otherwise), and some of those belong to the program. */
#define GP_MOST_BRANCHES 4

/* A node, by its number, that must end before another begins. */
struct gp_graph_edge {
    unsigned from, to;
};

struct gp_graph_order {
    unsigned count;         /* nodes */
    unsigned branches;      /* streams they need; 1 where no two can wait for each other */
    unsigned *sequence;     /* the nodes, each behind those it depends on */
    unsigned *first;        /* of a node's dependencies, in the next list; one more at the end */
    unsigned *dependencies; /* nodes */
    unsigned char *branch;  /* of a node */
    bool *awaited;          /* a node of another branch depends on it */
};

/* Finds a sequence for nodes 0 to count - 1, which have no branches yet. False when out of memory,
 * or for input that is no graph: then there is nothing to free. */
bool graph_order_find(unsigned count, const struct gp_graph_edge *edges, size_t edge_count,
                      struct gp_graph_order *order);
/* Gives each node a branch; may_wait has one entry for each. False where more branches are needed
 * than there may be, or when out of memory: then they have none. */
bool graph_order_spread(struct gp_graph_order *order, const bool *may_wait);
void graph_order_free(struct gp_graph_order *order);

/* ---- whether a graph can be taken to pieces (inspect.c) -------------------------------------- */

struct gp_graph_kinds {
    /* Why the program needs the graph as a whole, though its kernels may be launched by themselves
     * behind it; GP_GRAPH_SPLITS where it does not. */
    enum gp_graph_reason whole;
    bool calls_host, allocates;
    bool waits; /* for events or semaphores */
};

/* GP_GRAPH_SPLITS where its kernels can be launched one by one: some kinds of nodes forbid to try.
 */
enum gp_graph_reason graph_inspect(CUgraph graph, struct gp_graph_kinds *kinds);

struct gp_graph_edges {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t count;
};

/* False when out of memory. To be freed in any case. */
bool graph_edges_of(CUgraph graph, struct gp_graph_edges *edges);
void graph_edges_free(struct gp_graph_edges *edges);

/* ---- the clone of a graph (clone.c) ---------------------------------------------------------- */

/* The most nodes there may be. */
#define GP_MOST_GRAPH_NODES (1u << 19)
/* Child graphs in child graphs. */
#define GP_MOST_GRAPH_DEPTH 16

union gp_graph_work {
    CUDA_MEMCPY3D_v2 copy;
    CUDA_MEMSET_NODE_PARAMS_v1 fill;
};

struct gp_graph_node {
    CUgraphNode node;     /* of the clone; NULL for the end of a child graph; not used in lists */
    CUgraphNodeType type; /* CU_GRAPH_NODE_TYPE_EMPTY for a node that only orders others */
    /* The parameters of a copy or a fill that is not in the clone: the driver takes addresses of
     * memory that a graph allocates in that graph only. */
    union gp_graph_work *work;
    bool disabled;
    bool left_out;      /* where the nodes run again: it writes memory of the host */
    CUdeviceptr source; /* the same: the bytes that it copies from the host; 0: it does not */
    /* Kernel nodes alone have the members below. */
    CUfunction function; /* may be a CUkernel in disguise, as cuLaunchKernel allows */
    GP_CONFIGURATION;
    bool taken;      /* the launch that is being made of it is to be measured, */
    bool only_timed; /* or timed alone */
    uint64_t turn;   /* which one of those of its kernel it is then */
};

struct gp_graph_clone {
    CUgraph graph;
    struct gp_graph_node
        *nodes; /* as many as there are in the order; child graphs are part of it */
    struct gp_graph_order order;
    bool spread;  /* its nodes have branches; else it is too wide as far as is known */
    bool by_code; /* these rest on the machine code of its kernels */
    struct gp_graph_original {
        CUgraphNode node;
        unsigned index;
    } * originals; /* the program's node, and which of ours stands for it; sorted */
    size_t original_count;
    CUcontext context; /* of its kernels; NULL where the driver does not tell */
    /* Why the program's run is one of the whole; GP_GRAPH_SPLITS where it need not be. */
    enum gp_graph_reason whole;
    bool calls_host;
    bool waits;                     /* for events or semaphores */
    union gp_graph_work *works;     /* of its nodes, where there are stand-ins */
    struct gp_stand_ins *stand_ins; /* for memory that it allocates; NULL where it does not */
    CUdeviceptr brought;            /* bytes from the host, while the nodes run again; 0: none */
    /* The runs of the graph as a whole with its kernels once more behind it. Where the graph is
     * updated only the schedule begins anew. */
    struct gp_graph_runs {
        struct gp_verify_schedule schedule;
        unsigned in_vain; /* in a row, where the kernels could not run again */
    } runs;
};

/* Clones the graph if it is one that can be taken to pieces; else there is nothing to be freed. */
enum gp_graph_reason graph_clone_make(struct gp_graph_clone *clone, CUgraph graph);
void graph_clone_free(struct gp_graph_clone *clone);

/* Our node for one of the program's, NULL where none is known: nodes in child graphs are not. */
struct gp_graph_node *graph_clone_node(const struct gp_graph_clone *clone, CUgraphNode original);

/* The nodes of a graph of the program's, to be freed. NULL when out of memory, for a graph that the
 * driver does not know, and for one with too many. */
CUgraphNode *graph_nodes(CUgraph graph, size_t *count);

/* True when all kernels of the graph run in that context, as far as is known. */
bool graph_is_in_context(const struct gp_graph_clone *graph, CUcontext context);

/* Reads a kernel's function and configuration, and the context it runs in, NULL where the driver
 * does not tell; false where that cannot be read. */
bool graph_node_read(struct gp_graph_node *kernel, CUcontext *context);

/* ---- contexts whose memory a graph writes (owners.c) ----------------------------------------- */

struct gp_graph_owners {
    CUcontext *list;
    unsigned count, room;
};

/* Adds the owners for a graph of the program's and its child graphs, beside the ones that there
 * are. */
void graph_owners_read(struct gp_graph_owners *owners, CUgraph graph);
/* Adds the owner of the target of a copy or a fill. */
void graph_owners_add(struct gp_graph_owners *owners, CUmemorytype type, CUdeviceptr to);
void graph_owners_free(struct gp_graph_owners *owners);

/* Before that context launches it. */
void graph_owners_note(const struct gp_graph_owners *owners, CUcontext by);

/* ---- launches of kernels (count.c) ----------------------------------------------------------- */

/* The kernels of a graph of the program's that has no clone, those of child graphs among them; to
 * be freed. Those in the bodies of conditional nodes are left out: how often they run only the
 * device knows. NULL where there are none, when out of memory, and where they are too many. */
struct gp_graph_node *graph_kernels(CUgraph graph, unsigned *count);
/* The kernels of a clone that is about to go; the list is to be freed. NULL where there are none.
 */
struct gp_graph_node *graph_kernels_of_clone(const struct gp_graph_clone *clone, unsigned *count);

/* How a graph is launched. */
enum gp_graph_way { GP_BY_NODES, GP_AS_IT_IS, GP_AS_IT_IS_AND_TIMED };
/* Counts the launches that are about to be made of the kernels among these nodes, and takes down
 * which of them are to be measured: none where the graph is launched as it is, and nodes stay as
 * they are. Of the user's kernels: how many there are, and how many launches were not left out by
 * the limit. *unending becomes true where one is known not to end by itself. */
struct gp_graph_counts {
    unsigned selected, counted, taken;
};
struct gp_graph_counts graph_count(struct gp_graph_node *nodes, unsigned count,
                                   enum gp_graph_way way, bool *unending);
/* The kernels of its last launch were all left out: whether the next launches need be asked for. */
struct gp_left_out_graph;
void graph_learn_left_out(const struct gp_graph_clone *clone, struct gp_left_out_graph *left_out);

/* The kernels that a graph has, as a whole: their number, the first one, and the key. */
struct gp_graph_listing;
void graph_list_whole(const struct gp_graph_node *nodes, unsigned count,
                      struct gp_graph_listing *listing);

/* Counts the launches as well, of a graph that is launched as it is and timed as a whole; lists
 * those that are to be recorded where that is wanted, and else passes them over. */
void graph_count_whole(const struct gp_graph_node *nodes, unsigned count, bool list,
                       struct gp_graph_listing *listing);
/* Counts the launches of a clone as graph_count_whole does; a clone of one kernel is always
 * listed. */
void graph_count_clone(const struct gp_graph_clone *clone, bool list,
                       struct gp_graph_listing *listing);

/* True where some kernel of it may launch graphs, as far as is known. */
bool graph_clone_launches_graphs(const struct gp_graph_clone *clone);
/* True where some node of it does not run. */
bool graph_clone_has_disabled(const struct gp_graph_clone *clone);

/* A node that was to be measured is not. */
void graph_node_passed_over(struct gp_graph_node *node, enum gp_passed_over why);

/* ---- executable graphs (graphs.c) ------------------------------------------------------------ */

/* How many kernels a launch of it runs, as far as is known; 1 where that is not known.
 * *goes_by_nodes: launches of these by themselves may be the program's run. */
unsigned graph_kernel_count(CUgraphExec exec, bool *goes_by_nodes);

struct gp_graph_listing;
/* Counts a launch of the graph that is about to be made, as launches of its kernels, and takes down
 * which of these are to be measured: none while another thread launches the same. True when its
 * nodes are to be launched one by one: there is such a kernel, and *why is GP_GRAPH_SPLITS. Then
 * graph_launched is to follow. *unending: a kernel of it is known not to end by itself. Where it is
 * to be launched as it is, and timed as a whole, *whole has its kernels, and a key; else 0. */
bool graph_is_wanted(CUgraphExec exec, enum gp_graph_reason *why, bool *unending,
                     struct gp_graph_listing *whole);
void graph_launched(CUgraphExec exec);
/* None of them was measured after all, for the limit: the next launches pass as if none was chosen.
 */
void graph_left_out(CUgraphExec exec);

/* In between: those that were to be measured, and were not yet, are not. */
void graph_passed_over(CUgraphExec exec, enum gp_passed_over why);

/* The kernels of a graph that is about to be launched as it is, and timed as a whole. */
struct gp_graph_listing {
    struct gp_graph_node *kernels; /* to be recorded; to be freed */
    unsigned count;
    bool is_one_kernel; /* the graph is that kernel, and nothing else */
    uint64_t key;       /* graphs with the same kernels have the same; 0: they are not known */
    CUfunction first;
    unsigned all; /* that it has */
};
/* Counts the launch as launches of its kernels. Those of the user's are to be recorded at the
 * graph's first launch, and where it is but one kernel at each; else they are passed over. False
 * where the graph's instantiation was not seen. */
bool graph_list_kernels(CUgraphExec exec, struct gp_graph_listing *listing);

/* The graph's clone, NULL where it is not split. Valid, and to be changed, while the gate is
 * closed.
 */
struct gp_graph_clone *graph_find(CUgraphExec exec);
/* The event that the last launch by nodes has ended, to be recorded there: a graph never runs
 * beside itself, in any streams. NULL where there is none, and none was to be made. */
CUevent graph_ended(CUgraphExec exec, bool make);
/* The graph is not split any more, for that reason. */
void graph_give_up(CUgraphExec exec, enum gp_graph_reason why);

/* ---- how many nodes can wait for each other (width.c) ---------------------------------------- */

/* Spreads the nodes of a graph over branches that was too wide where every kernel may wait. False
 * where it is too wide with those alone that may wait by their code. The gate is locked, and the
 * graph's context is current. */
bool graph_spread_by_code(struct gp_graph_clone *clone);

/* ---- a kernel as a launch of its own (node_launch.c) ----------------------------------------- */

struct gp_node_launch {
    struct gp_launch call;
    PFN_cuLaunchKernelEx_v11060 real;
    CUlaunchConfig config;
    CUlaunchAttribute attributes[8];
    struct gp_replaced_parameters *replaced; /* NULL: the parameters are the node's */
};

/* The parameters are the node's, and live as long as it is not changed; or those with stand-ins for
 * memory of the graph's own (NULL: it has none). To be freed. */
CUresult node_launch_make(struct gp_node_launch *launch, const struct gp_graph_node *node,
                          const struct gp_stand_ins *stand_ins, CUstream stream,
                          bool per_thread_stream);
void node_launch_free(struct gp_node_launch *launch);

/* ---- nodes as graphs of their own (parts.c) -------------------------------------------------- */

/* Adds a copy of a kernel's node to a graph, behind no other. */
bool graph_kernel_copy(CUgraph graph, CUgraphNode kernel, CUcontext context, CUgraphNode *copy);

/* The parameters of a copy, with stand-ins for memory of the graph's own; NULL: as they are. */
CUresult graph_read_copy(const struct gp_graph_node *node, const struct gp_stand_ins *stand_ins,
                         CUDA_MEMCPY3D_v2 *copy);

/* The memory that a copy or a fill writes, from its base on; not the bytes of an array. */
struct gp_graph_written {
    enum gp_copy_end side;
    CUdeviceptr base;
    struct gp_address_span bytes;
};
/* False where it cannot be read. A node of another kind writes nothing: its bytes are none. */
bool graph_read_written(const struct gp_graph_node *node, const struct gp_stand_ins *stand_ins,
                        struct gp_graph_written *written);

/* Nodes, and the memory that stands in for that of their graph. */
struct gp_graph_source {
    const struct gp_graph_node *nodes;
    const struct gp_stand_ins *stand_ins; /* NULL: it is not replaced */
    CUcontext context;
};

/* An executable graph of these of the nodes, one behind the other; to be destroyed. Nodes are
 * kernels, copies and fills, and those that only order others. */
bool graph_part_make(const struct gp_graph_source *from, const unsigned *which, size_t count,
                     CUgraphExec *part);

/* An executable graph of all nodes from the one at `from` in the order's sequence on, each behind
 * the ones among them that it depends on; to be destroyed. */
bool graph_rest_make(const struct gp_graph_source *source, const struct gp_graph_order *order,
                     unsigned from, CUgraphExec *rest);

/* ---- bytes that copies bring from the host (host_sources.c) ---------------------------------- */

/* Bytes of device memory that they need. False, with the reason in *why, where the graph writes
 * memory of the host that it reads as well: the bytes may be those of before or behind. The nodes
 * that are left out are known. */
bool host_sources_need(const struct gp_graph_clone *graph, uint64_t *bytes, struct gp_reason *why);
/* Copies them there, where memory is known from then on as one that kernels reach; the nodes have
 * their new sources. And no more. */
bool host_sources_take(struct gp_graph_clone *graph, CUdeviceptr base, uint64_t bytes,
                       struct gp_reason *why);
void host_sources_leave(struct gp_graph_clone *graph);

/* ---- nodes that are launched behind their graph (again.c) ------------------------------------ */

/* Saves the memory that a launch of the graph into that stream will reach, nothing else running.
 * False, with the reason in *why, where its nodes cannot run again. To be ended by
 * graph_again_ends in any case. With the gate locked. */
bool graph_save(struct gp_graph_clone *graph, CUstream stream, struct gp_again *again,
                struct gp_reason *why);
void graph_again_ends(struct gp_graph_clone *graph, struct gp_again *again);

/* Where that has often been in vain it is not tried any more. */
bool graph_may_run_again(const struct gp_graph_clone *graph);

/* ---- streams of our own (streams.c) ---------------------------------------------------------- */

struct gp_graph_streams {
    CUcontext context;
    CUstream streams[GP_MOST_BRANCHES]; /* they do not wait for the default stream */
    struct gp_graph_streams *next;
};

/* The streams of the context, which is current; made when first asked for, NULL where they cannot
 * be. */
const struct gp_graph_streams *graph_streams_enter(CUcontext context);

/* ---- nodes launched one by one (split.c) ----------------------------------------------------- */

/* A stream and which default stream 0 means there. */
struct gp_graph_target {
    CUstream stream;
    bool per_thread;
};

static inline CUresult graph_wait_at(const struct gp_graph_target *p, CUevent event)
{
    return p->per_thread ? gp_cuda.cuStreamWaitEvent_ptsz(p->stream, event, 0)
                         : gp_cuda.cuStreamWaitEvent(p->stream, event, 0);
}

/* Launches the nodes, with the gate locked and nothing running. False where nothing was launched,
 * and the graph is to be launched as it is. */
bool graph_launch_split(CUgraphExec exec, const struct gp_graph_target *target, CUresult *result);

#endif
