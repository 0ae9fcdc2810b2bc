#include "code/two_sides.h"

#include "code/instruction.h"

#include <stdint.h>
#include <string.h>

/* How far apart the two sides are, in instructions. */
#define APART 16
/* BRA, EXIT, CALL, BSYNC and the like, by their nine bits. */
#define FIRST_JUMP 0x140
#define LAST_JUMP 0x15f
/* A predicate has four bits: the number ALWAYS is none, the bit OPPOSITE means its opposite. */
#define ALWAYS 7
#define OPPOSITE 8

/* The lowest bits: nine name the operation, 12 to 15 are the predicate. */
static uint16_t low_bits(const char *code)
{
    uint16_t low;
    memcpy(&low, code, sizeof(low));
    return low;
}

/* The predicate of an instruction, ALWAYS where it has none or jumps. */
static unsigned side(const char *code)
{
    unsigned low = low_bits(code), operation = low & 0x1ff;
    bool jumps = operation >= FIRST_JUMP && operation <= LAST_JUMP;
    return jumps || (low >> 12 & 7) == ALWAYS ? ALWAYS : low >> 12;
}

bool gp_is_under_predicate(const void *word)
{
    return side(word) != ALWAYS;
}

bool gp_is_of_two_sides(const void *code, size_t size, size_t at)
{
    const size_t reach = APART * GP_INSTRUCTION_BYTES;
    const char *begin = code;
    unsigned own = side(begin + at);
    if (own == ALWAYS)
        return false;
    size_t end = size - at > reach ? at + reach : size;
    for (size_t i = at > reach ? at - reach : 0; i + GP_INSTRUCTION_BYTES <= end;
         i += GP_INSTRUCTION_BYTES)
        if (side(begin + i) == (own ^ OPPOSITE))
            return true;
    return false;
}
