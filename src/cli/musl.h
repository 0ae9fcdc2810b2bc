/* Programs that are linked with musl instead of glibc, as in Alpine Linux. NVIDIA's driver needs
 * glibc, and so does our library: musl's dynamic linker ends a program with it. */
#ifndef GPUPROF_CLI_MUSL_H
#define GPUPROF_CLI_MUSL_H

#include <stdbool.h>

/* Whether the program at this path, or the interpreter that it names, is such a one. */
bool cli_is_for_musl(const char *path);

/* Leaves the first library out of LD_PRELOAD. */
void cli_preload_less(void);

#endif
