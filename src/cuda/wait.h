/* Bounded waits for the GPU: a kernel may wait for the host, or for a kernel that is not launched
 * yet, and would never end while we hold its program up. */
#ifndef GPUPROF_CUDA_WAIT_H
#define GPUPROF_CUDA_WAIT_H

#include "cuda/driver.h"

#include <stdbool.h>

/* CUDA_SUCCESS where all work in the stream has ended, CUDA_ERROR_NOT_READY where it has not, or
 * the error of an earlier call that failed. Of the default streams 0 means the thread's own when
 * per_thread. */
CUresult gp_stream_query(CUstream stream, bool per_thread);

/* Waits until the event has happened: CUDA_SUCCESS, or CUDA_ERROR_NOT_READY when `seconds` have
 * passed, or the error of an earlier call that failed. */
CUresult gp_wait_for_event(CUevent event, double seconds);

/* Waits in that way until everything submitted to the context, which is current, has ended. `event`
 * is recorded for it: as long as it has not happened, the context is still busy. */
CUresult gp_wait_for_context(CUcontext context, CUevent event, double seconds);

#endif
