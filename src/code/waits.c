/* The rules, by kinds of instructions; the samples are in tests/sass/waits.txt:
 *
 * - A strong load sees changes: volatile, relaxed, acquire, and those that go past the L1 (.cg,
 *   .cv). So does an atomic operation with an answer, and a load from a surface.
 * - A fence for more than the block, or an instruction that empties the cache, makes the plain
 *   loads behind it see changes.
 * - A plain load finds its line in the L1, which nobody else's store changes. The compiler relies
 *   on that: it moves such a load out of a loop, or leaves the loop out (ptxas of CUDA 13 does,
 *   from 8.0 on). But the line may be replaced by others, so a loop around a plain load can end by
 *   somebody's store after all. Nearly all kernels have plain loads in loops, so they are taken for
 *   kernels that do not wait. The bounded wait is behind that.
 * - The same holds for textures, and for asynchronous copies into shared memory. These may go past
 *   the L1, but no program reads a flag by them.
 * - An atomic operation without an answer (RED) shows nothing.
 * - Shared memory, barriers and clusters connect threads of one grid, which run at the same time or
 *   end by themselves. A loop on a clock ends by itself. */
#include "code/waits.h"

#include "code/driver_calls.h"
#include "code/instruction.h"

#include <string.h>

/* Opcodes by their nine bits, see opcodes.def. */
enum {
    OPCODE_MASK = 0x1ff,
    FIRST_CCTL = 0x13e, /* of constants; two of them */
    LAST_CCTL = 0x13f,
    CCTL = 0x18f, /* CCTLL and CCTLT, of local memory and of textures, follow it */
    CCTLT = 0x191,
    MEMBAR = 0x192,
    FIRST_SUATOM = 0x193, /* SULD follows; SUST and SURED have no answer */
    LAST_SULD = 0x19a,
};

static unsigned bits(uint64_t high, unsigned first, unsigned count)
{
    return (unsigned)(high >> (first - 64)) & ((1u << count) - 1);
}

/* Bits 77 to 80 of a load: its scope (two bits) below constant, weak, strong, MMIO up to 7.x; since
 * then one number for both, of which 0 is weak, 4 constant, and 5, 7 and 10 are strong for the SM,
 * the GPU and the system. */
static bool is_strong(uint64_t high, int cc)
{
    const unsigned strength = bits(high, 77, 4);
    return cc < 80 ? strength >= 8 : strength != 0 && strength != 4;
}

/* Bits 76 to 78 of a fence: 0 is for the block. */
static bool is_wide_fence(uint64_t high)
{
    return bits(high, 76, 3) != 0;
}

static bool shows_changes(const unsigned char *word, int cc)
{
    uint64_t high;
    memcpy(&high, word + sizeof(high), sizeof(high));
    const struct gp_instruction i = gp_instruction_decode(word, cc);
    const unsigned opcode = i.opcode & OPCODE_MASK;
    switch (i.op) {
    case GP_OP_UNKNOWN:
    case GP_OP_ATOM:
    case GP_OP_ATOMG:
    case GP_OP_LDGMC:
        return true;
    case GP_OP_LD:
    case GP_OP_LDG:
        return is_strong(high, cc);
    case GP_OP_OTHER:
        return (opcode == MEMBAR && is_wide_fence(high)) ||
               (opcode >= FIRST_CCTL && opcode <= LAST_CCTL) ||
               (opcode >= CCTL && opcode <= CCTLT) ||
               (opcode >= FIRST_SUATOM && opcode <= LAST_SULD);
    default:
        return false;
    }
}

bool gp_code_may_wait(const void *code, size_t size, int cc)
{
    const unsigned char *bytes = code;
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES)
        if (shows_changes(bytes + at, cc) ||
            (gp_instruction_leaves(bytes + at, at, size, cc) && !gp_code_calls_driver(bytes, at)))
            return true;
    return false;
}

static bool is_load(enum gp_op op)
{
    return op == GP_OP_LD || op == GP_OP_LDG;
}

static unsigned strength_of(const unsigned char *word)
{
    uint64_t high;
    memcpy(&high, word + sizeof(high), sizeof(high));
    return bits(high, 77, 4);
}

/* A strong load for the whole system, or one of MMIO. */
static bool sees_host(const unsigned char *word, int cc)
{
    const unsigned strength = strength_of(word);
    return is_load(gp_instruction_decode(word, cc).op) &&
           (cc < 80 ? strength == 11 || strength == 15 : strength == 10 || strength == 12);
}

/* A strong load for the whole system or for the GPU, or one of MMIO. */
static bool sees_blocks(const unsigned char *word, int cc)
{
    const unsigned strength = strength_of(word);
    return sees_host(word, cc) || (is_load(gp_instruction_decode(word, cc).op) &&
                                   (cc < 80 ? strength == 10 || strength == 14 : strength == 7));
}

static bool loops_around(const void *code, size_t size, int cc,
                         bool (*sees)(const unsigned char *word, int cc))
{
    const unsigned char *bytes = code;
    int64_t last = -1; /* such a load */
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES) {
        if (sees(bytes + at, cc))
            last = (int64_t)at;
        const int64_t jump = gp_instruction_jump(bytes + at, cc);
        if (jump < 0 && last >= 0 && last >= (int64_t)at + jump)
            return true;
    }
    return false;
}

bool gp_code_polls(const void *code, size_t size, int cc)
{
    return loops_around(code, size, cc, sees_host);
}

bool gp_code_spins(const void *code, size_t size, int cc)
{
    return loops_around(code, size, cc, sees_blocks);
}
