/* A stack of our own. A program's thread may have 16 KiB of stack, with no more left than it needs
 * itself; and it may run on a stack that it has made. Owns a few stacks. */
#ifndef GPUPROF_BASE_STACK_H
#define GPUPROF_BASE_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* Calls work(argument): on this stack, where so many bytes of it are left, else on one of ours. The
 * calling thread must not be cancelled there (gp_cancel_hold). False, and nothing was called, where
 * no memory for a stack was left. `bytes` is at most GP_STACK_BYTES less a few thousand. */
#define GP_STACK_BYTES ((size_t)8 << 20)
bool gp_stack_run(size_t bytes, void (*work)(void *argument), void *argument);

/* Enough for all but that of which something else is known. */
#define GP_STACK_ENOUGH ((size_t)512 << 10)

#endif
