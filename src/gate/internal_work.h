/* Internal work, our own in a thread of the program's, as a guest that leaves no trace. Owns the
 * state of each thread. */
#ifndef GPUPROF_GATE_INTERNAL_WORK_H
#define GPUPROF_GATE_INTERNAL_WORK_H

#include <stdbool.h>

/* Between these, driver calls of this thread are our own and pass the hooks untouched; afterwards
 * errno is as it was before. */
void gp_internal_work_begins(void);
void gp_internal_work_ends(void);
/* True between them. Every hook asks: the access is one instruction and allocates nothing. */
extern __thread int gp_internal_work __attribute__((tls_model("initial-exec")));
static inline bool gp_in_internal_work(void)
{
    return gp_internal_work > 0;
}

/* Calls work(argument) between these: little of the program's stack is used, the exceptions of its
 * floating-point unit and errno are as before. */
void gp_run_internal_work(void (*work)(void *argument), void *argument);

#endif
