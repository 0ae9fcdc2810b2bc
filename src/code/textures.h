/* Whether a function reads memory that nobody can see from its parameters: through textures and
 * surfaces, whose handles are no addresses. */
#ifndef GPUPROF_CODE_TEXTURES_H
#define GPUPROF_CODE_TEXTURES_H

#include <stdbool.h>
#include <stddef.h>

/* `size` bytes of machine code of one function, for compute capability cc / 10, 7.0 or later. True
 * also where it calls another function or goes to an address that it computes: the code there is
 * not read. */
bool gp_code_may_use_textures(const void *code, size_t size, int cc);

#endif
