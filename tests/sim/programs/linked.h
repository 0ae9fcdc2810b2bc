/* The driver's exported symbols, bound by the linker. Only for programs linked with the driver. */
#ifndef GPUSIM_PROGRAM_LINKED_H
#define GPUSIM_PROGRAM_LINKED_H

#include "programs/gpu.h"

/* Newer headers declare only the newest form; older programs are linked with this one. */
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);

static inline void gpu_from_linker(struct gpu *g)
{
#define CALL(base, version, symbol) g->base = symbol;
#define STREAM_CALL(base, version, symbol, pt_version, suffix) CALL(base, version, symbol)
#include "programs/calls.def"
#undef CALL
#undef STREAM_CALL
}

#endif
