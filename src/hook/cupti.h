/* CUPTI as the program calls it, in any way that it finds it: so that it shows when a tool of the
 * program's own is at work. Owns the wrappers, and the list of copies of CUPTI. */
#ifndef GPUPROF_HOOK_CUPTI_H
#define GPUPROF_HOOK_CUPTI_H

#include <stdbool.h>

/* The wrapper for a function of that name, and the address that was found for it; NULL for others,
 * and where there are more copies of CUPTI than wrappers. No memory, no locks. */
void *gp_cupti_wrapper(const char *name, const void *real);

/* The exported one, which finds the real function by its caller; NULL for other names. */
void *gp_cupti_export(const char *name);

#endif
