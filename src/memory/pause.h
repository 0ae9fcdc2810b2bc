/* A kernel of ours that holds a stream up for some microseconds, so that a launch behind it stands
 * in line before the GPU comes there. Owns its module. With the context current. */
#ifndef GPUPROF_MEMORY_PAUSE_H
#define GPUPROF_MEMORY_PAUSE_H

#include "cuda/driver.h"

#include <stdint.h>

struct gp_pause {
    CUmodule module;
    CUfunction function; /* NULL: not loaded */
};

/* False where it cannot be had. The driver may wait for the context. */
bool gp_pause_load(struct gp_pause *pause);
void gp_pause_unload(struct gp_pause *pause);

/* Holds the stream up for so many nanoseconds; false where it is not. */
bool gp_pause_on(const struct gp_pause *pause, CUstream stream, bool per_thread_stream,
                 uint64_t nanoseconds);

#endif
