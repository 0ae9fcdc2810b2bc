/* Which launches the user asks for: by the kernel's name, device, context,
 * stream, the number of the launch. Owns the counts for that. From any thread. */
#ifndef GPUPROF_LAUNCH_SELECTION_H
#define GPUPROF_LAUNCH_SELECTION_H

#include "base/sample.h"
#include "launch/launch.h"

#include <stdbool.h>

/* Asked once for each launch that is about to be made, in the context that is current. */
bool gp_selection_takes(const struct gp_launch *call);

/* How a launch is measured. */
enum gp_choice { GP_ONLY_COUNTED, GP_ONLY_TIMED, GP_MEASURED };

/* Counts a launch that is about to be made, in the context that is current, and chooses whether it
 * is to be measured. The limit to the added time is not asked for one that cannot be: it adds
 * nothing. *turn (may be NULL) is then how many launches of the same kernel and
 * configuration were to be measured before it. */
enum gp_choice gp_sampling_chooses(const struct gp_launch *call, bool may_be_measured,
                                   uint64_t *turn);

/* True where the user's rule leaves the launch of a graph's kernel out: then it is counted. Graphs
 * that the limit leaves out pass as wholes. No lock is taken. */
bool gp_sampling_leaves_out_of_graph(const struct gp_launch *call);

/* Graphs whose kernels the limit leaves out (launch/graphs_left_out.c). One is used by one thread
 * at a time. NULL where there is no limit, or when out of memory: it may be handed to all of these.
 */
struct gp_left_out_graph *gp_left_out_graph_make(void);
void gp_left_out_graph_free(struct gp_left_out_graph *graph);
/* It has other kernels from here on. */
void gp_left_out_graph_changes(struct gp_left_out_graph *graph);
/* True where none of the kernels need be asked for: then the launch is counted. */
bool gp_left_out_graph_passes(struct gp_left_out_graph *graph);
/* A launch was counted kernel by kernel, and all were left out: it is learned whether the next ones
 * need be asked for, from its kernels. */
void gp_left_out_graph_learn(struct gp_left_out_graph *graph, const struct gp_launch *kernels,
                             unsigned count);

/* False while all is measured that can be, however long that takes. */
bool gp_sampling_is_limited(void);
/* A kernel of a graph that was chosen is left out after all: the money is spent. */
void gp_sampling_left_out(const struct gp_launch *call, enum gp_choice choice);

/* Between these the launches that are chosen are kernels of one graph with so many, which is
 * launched into that stream, by nodes if one of them is to be measured, or only timed where these
 * may be. It is learned how long that takes, from gp_sampling_graph_launches on. */
void gp_sampling_graph_begins(CUstream stream, bool per_thread, unsigned kernels,
                              bool may_be_timed);
/* Waits for the GPU, where that is at work before the graph, as long as the limit permits. False
 * where it is at work still: the graph is not to be launched by nodes. */
bool gp_sampling_graph_may_begin(void);
void gp_sampling_graph_launches(void);
void gp_sampling_graph_ends(void);

/* One that was to be measured could not be, and has no record. */
void gp_sampling_passed_over(const struct gp_launch *call, enum gp_passed_over why);

#endif
