/* Is this still the process that it was? getpid asks the kernel, which is too dear for every call
 * of a program. Owns one page of memory. */
#ifndef GPUPROF_BASE_PROCESS_H
#define GPUPROF_BASE_PROCESS_H

#include <stdbool.h>

/* Marks the calling process. From any thread. */
void gp_process_mark(void);

/* True in a marked process, false in its forked children. (True in a child of vfork: it has its
 * parent's memory, and may do nothing but become another program.) */
bool gp_process_is_marked(void);

/* Seconds since this library or command was loaded, at the begin of the process or later. */
double gp_process_seconds(void);

#endif
