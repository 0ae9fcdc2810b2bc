/*
 * The line that registers a kernel: DEFINE_KERNEL(name, barriers, sizes of its parameters in
 * bytes).
 */
#ifndef GPUSIM_DEFINE_H
#define GPUSIM_DEFINE_H

#include "model/kernel.h"

#define DEFINE_KERNEL(name_, barriers_, ...)                 \
    extern const struct gpusim_kernel gpusim_kernel_##name_; \
    const struct gpusim_kernel gpusim_kernel_##name_ = {     \
        .name = #name_,                                      \
        .file = __FILE__,                                    \
        .run = name_,                                        \
        .barriers = (barriers_),                             \
        .params = sizeof((uint8_t[]){__VA_ARGS__}),          \
        .param_size = {__VA_ARGS__},                         \
    }

/* Most kernels begin with this: the thread's index in a one-dimensional grid. Three instructions.
 */
#define LINEAR_INDEX(t) (INT(t, 3), (t)->bid.x * (t)->bdim.x + (t)->tid.x)

#endif
