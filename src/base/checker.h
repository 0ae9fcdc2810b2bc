/* Tools in the process that check its memory or its threads as it runs: the sanitizers of clang and
 * gcc. Their runtime is found when the program has it. It sees part of our work only, by the
 * functions of libc's that it stands in for, and would report errors that there are none of. */
#ifndef GPUPROF_BASE_CHECKER_H
#define GPUPROF_BASE_CHECKER_H

#include <stdbool.h>

/* Whether there is one. Such a runtime ends a process that loads a library with RTLD_DEEPBIND. */
bool gp_checker_is_here(void);

/* Has it begun: one that begins at its first call, as the memory sanitizer does, asks dlsym then.
 */
void gp_checker_begins(void);

/* Between these, the thread's work is not checked. In pairs, one inside the other. */
void gp_checker_rests(void);
void gp_checker_goes_on(void);

#endif
