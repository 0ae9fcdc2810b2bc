/*
 * A launch as a program asks for it, and the work it becomes.
 */
#ifndef GPUSIM_LAUNCH_CALL_H
#define GPUSIM_LAUNCH_CALL_H

#include "driver/work.h"

struct launch_call {
    CUfunction function;
    struct gpusim_dim grid, block;
    unsigned shared;
    CUstream stream;
    void **params;
    void **extra;
    bool cooperative;
};

/* Finds the function, copies the parameters. The lock is held. */
CUresult gpusim_launch_from_call(CUcontext context, const struct launch_call *call,
                                 struct gpusim_launch *launch);

#endif
