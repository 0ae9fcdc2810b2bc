/* PTX, as a module's image has it: its variables, and the calls of its functions. Text is given
 * from its begin to behind its end. */
#ifndef GPUPROF_CODE_PTX_H
#define GPUPROF_CODE_PTX_H

#include <stdbool.h>
#include <stddef.h>

/* The next of the text that is neither blank nor comment. */
const char *gp_ptx_skip_blank(const char *p, const char *end);

/* Calls visit for each variable of the module in device memory. */
void gp_ptx_variables(const char *p, const char *end,
                      void (*visit)(const char *name, size_t length, void *data), void *data);

/* Calls visit for each function with the answer to a question on it. */
typedef void gp_ptx_answer(const char *name, size_t length, bool answer, void *data);

/* Calls visit for each function, with true where it may wait as gp_code_may_wait has it, by itself
 * or through others (code/waits.h). False where that is not to be had: any may wait. */
bool gp_ptx_waits(const char *text, const char *end, gp_ptx_answer *visit, void *data);

#endif
