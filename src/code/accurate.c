#include "code/accurate.h"

#include "code/word_flow.h"

#define FCHK 0x102

/* Bits 9 to 11: the second or the third operand is a number, in bits 32 to 63. */
#define SECOND_IS_NUMBER 4u
#define THIRD_IS_NUMBER 2u

#define QUOTIENT 0x01800000 /* 1 / x */
#define ANGLE 0x3f22f983    /* 2 / pi */

bool gp_is_accurate_quotient(const uint64_t word[2])
{
    return gp_is_accurate_function(word) &&
           (gp_bits(word, 0, 9) == FCHK || (uint32_t)(word[0] >> 32) == QUOTIENT);
}

bool gp_is_accurate_angle(const uint64_t word[2])
{
    return gp_is_accurate_function(word) && (uint32_t)(word[0] >> 32) == ANGLE;
}

/* The numbers, as ptxas of CUDA 12 and 13 writes them for compute capability 7.5 to 12.0. */
bool gp_is_accurate_function(const uint64_t word[2])
{
    const uint32_t number = (uint32_t)(word[0] >> 32);
    const unsigned opcode = gp_bits(word, 0, 9);
    if (opcode == FCHK) /* a quotient: may its operands be too large or too small? */
        return true;
    if (gp_bits(word, 9, 3) != SECOND_IS_NUMBER && gp_bits(word, 9, 3) != THIRD_IS_NUMBER)
        return false;
    switch (opcode) {
    case FMUL:
        return number == ANGLE          /* sin, cos, tan */
               || number == 0x4038aa3b; /* tanh: 2 / ln 2 */
    case FADD:
        return number == 0xcb40007f; /* exp, pow: -12583039 */
    case IADD3:
    case IADD:
    case VIADD:
        return number == 0xc0d55555    /* log: 2/3, by its bits */
               || number == 0xc0cafb0d /* log2, pow: the root of 1/2 */
               || number == 0xf3000000 /* sqrt */
               || number == QUOTIENT;
    default:
        return false;
    }
}
