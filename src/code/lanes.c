#include "code/lanes.h"

#include "code/instruction.h"
#include "code/two_sides.h"

#define SET(op) (UINT64_C(1) << (op))

static bool is_counted_access(const void *word, int cc)
{
    const uint64_t counted = SET(GP_OP_LDG) | SET(GP_OP_STG) | SET(GP_OP_ATOMG) | SET(GP_OP_RED) |
                             SET(GP_OP_LDS) | SET(GP_OP_STS) | SET(GP_OP_ATOMS);
    return counted & SET(gp_instruction_decode(word, cc).op);
}

bool gp_code_tells_lanes(const void *code, size_t size, int cc)
{
    const char *begin = code;
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES)
        if (gp_is_under_predicate(begin + at) && !is_counted_access(begin + at, cc))
            return false;
    return true;
}
