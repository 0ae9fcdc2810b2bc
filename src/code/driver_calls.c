#include "code/driver_calls.h"

#include "code/encoding.h"
#include "code/instruction.h"

#include <string.h>

/* Instructions before a call among which its address is loaded. */
#define MOST_BACK 64
#define BANK_OF_ADDRESSES 4u

/* Opcodes by their nine bits, see opcodes.def. */
enum { CALL_ABSOLUTE = 0x143, LDC = 0x182 };

static void read_word(uint64_t word[2], const void *code, size_t at)
{
    memcpy(word, (const char *)code + at, 2 * sizeof(*word));
}

bool gp_code_calls_driver(const void *code, size_t at)
{
    uint64_t word[2];
    read_word(word, code, at);
    if (gp_bits(word, 0, 9) != CALL_ABSOLUTE)
        return false;
    const unsigned address = gp_bits(word, 24, 8);
    for (unsigned back = 1; back <= MOST_BACK && back * GP_INSTRUCTION_BYTES <= at; back++) {
        read_word(word, code, at - back * GP_INSTRUCTION_BYTES);
        if (gp_bits(word, 16, 8) == address && gp_bits(word, 0, 9) == LDC)
            return gp_bits(word, 54, 5) == BANK_OF_ADDRESSES;
    }
    return false;
}
