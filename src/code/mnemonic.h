/* The names of machine instructions, where no disassembler is at hand: the operation and its
 * predicate, without modifiers and operands. */
#ifndef GPUPROF_CODE_MNEMONIC_H
#define GPUPROF_CODE_MNEMONIC_H

#define GP_PREDICATE_SIZE 8

/* "FFMA", "BRA"; NULL where the operation is not known. `word` is GP_INSTRUCTION_BYTES bytes of
 * code, `cc` the compute capability times ten: opcodes change their meaning. */
const char *gp_mnemonic(const void *word, int cc);

/* "@P0 ", "@!UP1 ": the predicate under which it runs, empty where there is none. */
void gp_predicate_text(const void *word, int cc, char out[GP_PREDICATE_SIZE]);

#endif
