/* Our own work in a thread of the program's, as a guest that leaves no trace. Owns the state of
 * each thread. */
#ifndef GPUPROF_GATE_OWN_WORK_H
#define GPUPROF_GATE_OWN_WORK_H

#include <stdbool.h>

/* Between these, driver calls of this thread are our own and pass the hooks untouched; afterwards
 * errno is as it was before. */
void gp_own_work_begins(void);
void gp_own_work_ends(void);
/* True between them. Every hook asks: the access is one instruction and allocates nothing. */
extern __thread int gp_own_work __attribute__((tls_model("initial-exec")));
static inline bool gp_at_own_work(void)
{
    return gp_own_work > 0;
}

/* Calls work(argument) between these: little of the program's stack is used, the exceptions of its
 * floating-point unit and errno are as before. */
void gp_at_work(void (*work)(void *argument), void *argument);

#endif
