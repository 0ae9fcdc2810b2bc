#include "code/halves.h"

#include "code/driver_calls.h"
#include "code/word_flow.h"

#include <stdint.h>
#include <string.h>

#define SECOND_IS_REGISTER 1 /* of the three bits that say of which kind the operands are */

/* An addition that adds nothing: a number is widened, or its sign changes. */
static bool adds_zero(const uint64_t word[2])
{
    const bool has_register = gp_bits(word, 9, 3) == SECOND_IS_REGISTER;
    return gp_bits(word, 24, 8) == NO_REGISTER ||
           (has_register && gp_bits(word, 32, 8) == NO_REGISTER);
}

bool gp_is_half_arithmetic(const void *code, size_t at, int cc)
{
    uint64_t word[2];
    memcpy(word, (const char *)code + at, GP_INSTRUCTION_BYTES);
    const enum gp_op op = gp_instruction_decode((const char *)code + at, cc).op;
    if (op == GP_OP_HADD2)
        return !adds_zero(word);
    if (op == GP_OP_HFMA2)
        return gp_bits(word, 24, 8) != NO_REGISTER;
    return op == GP_OP_HMUL2;
}

/* Two bits for each operand: which halves of its register are taken as the lower and the upper one.
 * From 2 on it is the same half twice. */
static bool takes_one_half(const uint64_t word[2], unsigned bit)
{
    return gp_bits(word, bit, 2) >= 2;
}

bool gp_is_scalar_half_arithmetic(const void *code, size_t at, int cc)
{
    uint64_t word[2];
    memcpy(word, (const char *)code + at, GP_INSTRUCTION_BYTES);
    const bool has_register = gp_bits(word, 9, 3) == SECOND_IS_REGISTER;
    return gp_is_half_arithmetic(code, at, cc) && takes_one_half(word, 74) &&
           (!has_register || takes_one_half(word, 60));
}

/* A table has labels of its own function alone (PTX: brx.idx). The functions of the driver print,
 * allocate memory, or end the kernel. */
static bool goes_elsewhere(const void *code, size_t at, size_t size, int cc)
{
    const char *instruction = (const char *)code + at;
    return !gp_instruction_has_table(instruction) &&
           gp_instruction_leaves(instruction, at, size, cc) && !gp_code_calls_driver(code, at);
}

bool gp_code_may_compute_halves(const void *code, size_t size, int cc)
{
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES)
        if (gp_is_half_arithmetic(code, at, cc) || goes_elsewhere(code, at, size, cc) ||
            gp_instruction_decode((const char *)code + at, cc).op == GP_OP_UNKNOWN)
            return true;
    return false;
}
