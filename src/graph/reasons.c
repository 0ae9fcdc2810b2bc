/* Why the kernels of a graph are not launched one by one, and hence not measured. */
#include "graph/inside.h"

#include "base/log.h"
#include "launch/session.h"

void graph_say(enum gp_graph_reason why)
{
    static const char *const text[GP_GRAPH_REASONS] = {
        [GP_GRAPH_UNSEEN] = "its instantiation was not seen",
        [GP_GRAPH_OLD_DRIVER] = "this driver is too old",
        [GP_GRAPH_NOT_COPIED] = "it could not be copied",
        [GP_GRAPH_TOO_MANY] = "the program keeps too many graphs, or too large ones",
        [GP_GRAPH_HOST_NODE] = "it calls host functions",
        [GP_GRAPH_EVENT_NODE] = "it records events or waits for them",
        [GP_GRAPH_SEMAPHORE_NODE] = "it uses semaphores of another API",
        [GP_GRAPH_MEMORY_NODE] = "it allocates or frees memory",
        [GP_GRAPH_CONDITIONAL_NODE] = "it has conditional nodes",
        [GP_GRAPH_OTHER_NODE] = "it has nodes other than kernels, copies and fills",
        [GP_GRAPH_FROM_DEVICE] = "kernels can change it or launch it",
        [GP_GRAPH_LAUNCHES] = "its kernels can launch other graphs",
        [GP_GRAPH_OTHER_EDGE] = "its nodes depend on each other in a way that is not known",
        [GP_GRAPH_TOO_WIDE] =
            "too many of its kernels run side by side and may wait for each other",
        [GP_GRAPH_SEVERAL_CONTEXTS] = "it may work in several contexts",
        [GP_GRAPH_BESIDE_CAPTURE] = "a stream was being captured at the launch",
        [GP_GRAPH_NOT_FOLLOWED] = "it was changed in a way that is not followed",
        [GP_GRAPH_WAITS] = "a kernel in it waits for the host or for other work",
        [GP_GRAPH_BROKE_OFF] = "a node of it could not be launched by itself",
    };
    static struct gp_say_limit once[GP_GRAPH_REASONS];
    if (gp_session_measures() && text[why])
        gp_say_limited(&once[why], 1, "the kernels of a graph are not measured: %s", text[why]);
}
