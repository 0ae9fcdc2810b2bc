/* The executable graphs of the program: the nodes of each, so that its nodes can be launched one by
 * one. When a graph is instantiated a clone of it is kept, and the program's changes of the
 * executable graph are made there too. Owns the clones.
 *
 * A graph that cannot be taken to pieces safely, or whose changes cannot be followed, is known with
 * the reason and launched as it is. */
#ifndef GPUPROF_GRAPH_GRAPHS_H
#define GPUPROF_GRAPH_GRAPHS_H

#include "cuda/driver.h"
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

/* The context is about to be destroyed. */
void gp_graph_streams_leave(CUcontext context);

/* Launches the graph into the stream; the result is the answer that the driver's own function,
 * `real`, would have given. */
CUresult gp_graph_launch(CUgraphExec exec, CUstream stream, bool per_thread_stream,
                         PFN_cuGraphLaunch_v10000 real);

#endif
