/* Machine code as text: by nvdisasm where there is one, else the names that we know. Runs a
 * program. */
#ifndef GPUPROF_CLI_DISASSEMBLE_H
#define GPUPROF_CLI_DISASSEMBLE_H

#include <stddef.h>

/* One text for each instruction of the code, to be freed with cli_forget_texts; NULL when memory
 * runs out. `*by` names their author. */
char **cli_disassemble(const void *code, size_t size, int cc, const char **by);
void cli_forget_texts(char **texts, size_t size);

#endif
