/* The environment before libc has it. A program may use CUDA from its preinit functions, which run
 * before libc's own start: getenv then finds nothing. Owns a copy of the environment for that case.
 */
#ifndef GPUPROF_BASE_ENVIRONMENT_H
#define GPUPROF_BASE_ENVIRONMENT_H

/* Makes getenv work as early as this. Does nothing where it works already, or where the kernel does
 * not give the environment. libc puts its own in place later. */
void gp_environment_find(void);

#endif
