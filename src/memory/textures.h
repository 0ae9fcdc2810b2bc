/* Whether kernels may read memory through textures: no parameter names that memory, so it is in no
 * copy. From any thread. */
#ifndef GPUPROF_MEMORY_TEXTURES_H
#define GPUPROF_MEMORY_TEXTURES_H

#include <stdbool.h>

/* The program makes a texture object, or asks for a texture of a module. */
void gp_texture_made(void);

/* True from then on. Until then no kernel reads one, with any code. */
bool gp_textures_made(void);

#endif
