/* The program's own tool, which uses CUPTI: a profiler of its framework, say. CUPTI serves one tool
 * in a process, and one copy of CUPTI: the driver refuses the others. The program's tool has it:
 * while that is at work launches are only timed, so that it sees none of our replays and kernels;
 * where it uses another copy than we do, and ours was first, a line says the remedy. Owns the note
 * of the work that the tool has CUPTI do. From any thread. */
#ifndef GPUPROF_LAUNCH_TOOL_H
#define GPUPROF_LAUNCH_TOOL_H

#include <stdbool.h>

/* The meaning of a call of CUPTI's for that. */
enum gp_tool_change {
    GP_TOOL_ASKS,    /* anything for which CUPTI needs the driver */
    GP_TOOL_RECORDS, /* a kind of activity, `which` */
    GP_TOOL_LISTENS, /* to the calls of a domain, `which`: (domain << 16) + number of the call */
    GP_TOOL_COUNTS,  /* by a profiler of CUPTI's, `which` */
    GP_TOOL_GOES,    /* it listens to nothing any more */
    GP_TOOL_LEAVES,  /* CUPTI as a whole is ended */
};
#define GP_TOOL_EVERY_CALL 0xffffu /* for the number of a call */

struct gp_tool_call {
    enum gp_tool_change change;
    unsigned which;
    bool on;           /* it begins; else it ends */
    const void *real;  /* the function of CUPTI's that is called */
    bool was, watched; /* for gp_tool_called */
};

/* Before the call, and after it. */
void gp_tool_calls(struct gp_tool_call *call);
void gp_tool_called(const struct gp_tool_call *call, bool done);

#endif
