/* The functions of a cubin, with their machine code. */
#ifndef GPUPROF_CODE_FUNCTIONS_H
#define GPUPROF_CODE_FUNCTIONS_H

#include "code/cubin.h"

/* Calls `visit` for each function, until that returns true: first for those with a section of
 * their own, which is named after them, then for device functions in the sections of others. */
typedef bool gp_function_visit(const char *name, const void *code, size_t size, void *data);
void gp_cubin_functions(const struct gp_cubin *cubin, gp_function_visit *visit, void *data);

/* The registers of a thread of the function, by the cubin's own account; 0: that is not there. */
unsigned gp_cubin_registers(const struct gp_cubin *cubin, const char *function);

#endif
