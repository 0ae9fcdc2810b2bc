#include "code/halves.h"

#include "code/word_flow.h"

#include <stdint.h>
#include <string.h>

bool gp_is_half_arithmetic(const void *code, size_t at, int cc)
{
    uint64_t word[2];
    memcpy(word, (const char *)code + at, GP_INSTRUCTION_BYTES);
    const enum gp_op op = gp_instruction_decode((const char *)code + at, cc).op;
    const bool of_zero = gp_bits(word, 24, 8) == NO_REGISTER;
    return op == GP_OP_HADD2 || op == GP_OP_HMUL2 || (op == GP_OP_HFMA2 && !of_zero);
}
