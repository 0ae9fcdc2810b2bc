/* Green contexts: a context with a part of the GPU's processors, whose memory and modules are those
 * of the device's primary context. Owns whether there was one. */
#ifndef GPUPROF_CUDA_GREEN_H
#define GPUPROF_CUDA_GREEN_H

#include "cuda/driver.h"

#include <stdbool.h>

/* True when work in the stream, of the current context where it is a default one, runs in a green
 * context. */
bool gp_stream_is_green(CUstream stream);

/* The program has made a green context. */
void gp_green_context_made(void);
bool gp_green_context_was_made(void);

/* The context that owns memory and modules made now: the current one, or the primary context where
 * that is green. NULL where none is current. */
CUcontext gp_owning_context(void);
/* The context in which work of the stream runs; the primary context where that is green. Where
 * there was a green one nothing is being captured. */
CUcontext gp_working_context(CUstream stream);

#endif
