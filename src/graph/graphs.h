/* The executable graphs of the program: the nodes of each, so that its nodes can be launched one by
 * one. When a graph is instantiated a clone of it is kept, and the program's changes of the
 * executable graph are made there too. Owns the clones.
 *
 * A graph that cannot be taken to pieces safely, or whose changes cannot be followed, is known with
 * the reason and launched as it is. */
#ifndef GPUPROF_GRAPH_GRAPHS_H
#define GPUPROF_GRAPH_GRAPHS_H

#include "graph/clone.h"
#include "launch/launch.h"

/* After a successful instantiation. */
void gp_graph_instantiated(CUgraphExec exec, CUgraph graph, unsigned long long flags);
/* Around an update of the whole from another graph, whose result is the driver's. The old clone
 * goes before: objects that it keeps alive go when they would without us. */
void gp_graph_update_begins(CUgraphExec exec);
void gp_graph_update_ends(CUgraphExec exec, CUgraph graph, CUresult result);

/* After a change of one node: the clone's node, to which the same change is to be made (NULL where
 * there is none to be kept true), and then the result of that. */
CUgraphNode gp_graph_clone_of(CUgraphExec exec, CUgraphNode node);
void gp_graph_node_changed(CUgraphExec exec, CUgraphNode node, CUresult result);
/* After a change, too: a copy or a fill writes there. */
void gp_graph_node_writes(CUgraphExec exec, CUmemorytype type, CUdeviceptr to);
/* A child graph has become another one: that is not followed. */
void gp_graph_child_changed(CUgraphExec exec, CUgraph child);
void gp_graph_node_enabled(CUgraphExec exec, CUgraphNode node, bool enabled);

/* Before the executable graph, or all of a context, is destroyed. */
void gp_graph_forget(CUgraphExec exec);
void gp_graphs_forget_context(CUcontext context);

/* Before a launch in that context, which may be NULL: copies and fills of the graph write memory of
 * others, perhaps. */
void gp_graph_note_writer(CUgraphExec exec, CUcontext by);

/* Counts a launch of the graph that is about to be made, as launches of its kernels, and takes down
 * which of these are to be measured: none while another thread launches the same. True when its
 * nodes are to be launched one by one: there is such a kernel, and *why is GP_GRAPH_SPLITS. Then
 * graph_launched is to follow. *unending: a kernel of it is known not to end by itself. */
bool graph_is_wanted(CUgraphExec exec, enum gp_graph_reason *why, bool *unending);
void graph_launched(CUgraphExec exec);

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

#endif
