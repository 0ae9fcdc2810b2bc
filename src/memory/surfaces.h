/* The arrays that kernels can write: those for which there is a surface object. A kernel names a
 * surface by a small number, so which of them it writes is not known. Owns the list. From any
 * thread. */
#ifndef GPUPROF_MEMORY_SURFACES_H
#define GPUPROF_MEMORY_SURFACES_H

#include "cuda/driver.h"

/* After a surface object has been made in the current context. Where it cannot be kept track of,
 * replay is barred. */
void gp_surface_made(CUsurfObject surface, const CUDA_RESOURCE_DESC *resource);
/* After a level of a mipmapped array has been asked for: it goes with the whole. */
void gp_mipmap_level(CUmipmappedArray whole, CUarray level);

/* Before the real destruction. True when that takes arrays off the list. */
bool gp_surface_going(CUsurfObject surface);
bool gp_array_going(CUarray array);
bool gp_mipmap_going(CUmipmappedArray whole);

#endif
