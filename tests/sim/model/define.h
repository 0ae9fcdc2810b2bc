/*
 * The line that registers a kernel: DEFINE_KERNEL(name, barriers, sizes of its parameters in
 * bytes). DEFINE_BODY(body, name, ...) registers one of several that have one name.
 */
#ifndef GPUSIM_DEFINE_H
#define GPUSIM_DEFINE_H

#include "model/kernel.h"

#define DEFINE_KERNEL(name_, barriers_, ...) DEFINE_AS(name_, #name_, NULL, barriers_, __VA_ARGS__)
#define DEFINE_BODY(body_, name_, barriers_, ...) \
    DEFINE_AS(body_, #name_, #body_, barriers_, __VA_ARGS__)

#define DEFINE_AS(run_, name_, body_, barriers_, ...)       \
    extern const struct gpusim_kernel gpusim_kernel_##run_; \
    const struct gpusim_kernel gpusim_kernel_##run_ = {     \
        .name = (name_),                                    \
        .body = (body_),                                    \
        .file = __FILE__,                                   \
        .run = run_,                                        \
        .barriers = (barriers_),                            \
        .params = sizeof((uint16_t[]){__VA_ARGS__}) / 2,    \
        .param_size = {__VA_ARGS__},                        \
    }

/* Most kernels begin with this: the thread's index in a one-dimensional grid. Three instructions.
 */
#define LINEAR_INDEX(t) (INT(t, 3), (t)->bid.x * (t)->bdim.x + (t)->tid.x)

#endif
