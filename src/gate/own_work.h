/* Our own work in a thread of the program's, as a guest does it who leaves no trace. Owns what each
 * thread is at. */
#ifndef GPUPROF_GATE_OWN_WORK_H
#define GPUPROF_GATE_OWN_WORK_H

#include <stdbool.h>

/* Between these, driver calls of this thread are our own and pass the hooks untouched; afterwards
 * errno is what it was before. */
void gp_own_work_begins(void);
void gp_own_work_ends(void);
/* True between them. */
bool gp_at_own_work(void);

/* Calls work(argument) between these: little of the program's stack is used, what its
 * floating-point unit has noted and errno are as before. */
void gp_at_work(void (*work)(void *argument), void *argument);

#endif
