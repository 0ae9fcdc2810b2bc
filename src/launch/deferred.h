/* Launches that are not waited for. Of a kernel that is known to end, and to reach only the memory
 * to which its parameters and its module's variables lead, the host knows the memory to copy
 * beforehand: the copy is made in the launch's own stream, in front of it, and the call returns
 * when the driver does. All passes of the launch are made when the batch is drained
 * (launch/drain.h). */
#ifndef GPUPROF_LAUNCH_DEFERRED_H
#define GPUPROF_LAUNCH_DEFERRED_H

#include "launch/drain.h"

/* Holds a launch that is about to be made; NULL where it is to be measured at the launch. The GPU
 * may be at work. The gate is closed. To be followed by gp_launch_held. */
struct gp_held *gp_defer(const struct gp_launch *call, struct gp_kernel *kernel);

#endif
