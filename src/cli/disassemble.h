/* Machine code as text: by nvdisasm where there is one, else the names that we know. Runs a
 * program. */
#ifndef GPUPROF_CLI_DISASSEMBLE_H
#define GPUPROF_CLI_DISASSEMBLE_H

#include "base/text.h"

#include <stddef.h>

/* Appends the name of one instruction, or its opcode where we know no name, without nvdisasm. */
void cli_add_instruction(const void *code, int cc, struct gp_text *out);

/* One text for each instruction of the code, to be freed with cli_forget_texts; NULL when out
 * of memory. `*by` names their author. */
char **cli_disassemble(const void *code, size_t size, int cc, const char **by);
void cli_forget_texts(char **texts, size_t size);

#endif
