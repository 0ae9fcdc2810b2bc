/* The size of a terminal. */
#ifndef GPUPROF_BASE_TERMINAL_H
#define GPUPROF_BASE_TERMINAL_H

#include <stddef.h>

/* The columns of a line, 0 where the descriptor is no terminal or does not say. errno stays. */
size_t gp_terminal_columns(int fd);

#endif
