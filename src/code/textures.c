#include "code/textures.h"

#include "code/instruction.h"

#include <string.h>

/* TEX, TLD, TLD4, TXD, TXQ and the opcodes between them; SULD, SUST, SUATOM, SURED. See
 * opcodes.def. */
#define FIRST_TEXTURE 0x160u
#define LAST_TEXTURE 0x174u
#define FIRST_SURFACE 0x193u
#define LAST_SURFACE 0x1a0u
#define OPCODE_MASK 0x1ffu

bool gp_code_may_use_textures(const void *code, size_t size, int cc)
{
    const unsigned char *bytes = code;
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof(word));
        unsigned opcode = word & OPCODE_MASK;
        if ((opcode >= FIRST_TEXTURE && opcode <= LAST_TEXTURE) ||
            (opcode >= FIRST_SURFACE && opcode <= LAST_SURFACE) ||
            gp_instruction_leaves(bytes + at, at, size, cc))
            return true;
    }
    return false;
}
