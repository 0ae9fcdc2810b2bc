/* The operations of a function, as they follow one another in its machine code. */
#ifndef GPUPROF_CODE_OPERATIONS_H
#define GPUPROF_CODE_OPERATIONS_H

#include <stddef.h>
#include <stdint.h>

/* The operation of each instruction (its low nine bits), without the NOPs that fill the code up at
 * its end. `operations` has room for size / GP_INSTRUCTION_BYTES. Returns how many there are. */
size_t gp_operations_of(const void *code, size_t size, uint16_t *operations);

#endif
