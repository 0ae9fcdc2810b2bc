/* As ptxas, and NVIDIA's libraries, write them on compute capability 9.0:
 *
 *     RETRY: SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R3
 *            @!P0 NANOSLEEP.SYNCS 0x989680
 *            @!P0 SYNCS.PHASECHK.TRANS64 P0, [UR6], R3
 *            @!P0 BRA RETRY
 *            BRA BACK      where the loop stands apart, for those that did not get a yes at once */
#include "code/retries.h"

#include "code/instruction.h"

#include <stdint.h>
#include <string.h>

enum {
    OPCODE_MASK = 0xfff,
    PHASECHK = 0x5a7,
    USETMAXREG = 0x9c8, /* TRY_ALLOC */
    BRA = 0x947,
    SHORT_MASK = 0x1ff, /* without the form of the operands */
    SYNCS = 0x1a7,      /* PHASECHK, ARRIVE; others follow at SYNCS_EXCH */
    SYNCS_EXCH = 0x1b2,
};

/* Instructions in the longest loop that only asks; five are the most seen. */
#define LONGEST 8

static uint64_t word_of(const unsigned char *instruction, unsigned half)
{
    uint64_t word;
    memcpy(&word, instruction + half * sizeof(word), sizeof(word));
    return word;
}

static bool asks(const unsigned char *instruction)
{
    const unsigned opcode = word_of(instruction, 0) & OPCODE_MASK;
    return opcode == PHASECHK || opcode == USETMAXREG;
}

/* It changes nothing that other threads can see. */
static bool is_idle(const unsigned char *instruction, int cc)
{
    const unsigned opcode = word_of(instruction, 0) & SHORT_MASK;
    return gp_instruction_decode(instruction, cc).op == GP_OP_OTHER && opcode != SYNCS &&
           opcode != SYNCS_EXCH;
}

static bool is_branch(const unsigned char *instruction)
{
    return (word_of(instruction, 0) & OPCODE_MASK) == BRA;
}

/* Bits 12 to 15 are the condition of an instruction, bits 87 to 90 that of a branch besides; 7 is
 * none. */
static bool is_conditional(const unsigned char *branch)
{
    return (word_of(branch, 0) >> 12 & 0xf) != 7 || (word_of(branch, 1) >> 23 & 0xf) != 7;
}

/* True where the branch at `end` goes back to a loop of questions that begins at `at` or before. */
static bool asks_again(const unsigned char *code, size_t end, size_t at, int cc)
{
    const int64_t begin = (int64_t)end + gp_instruction_jump(code + end, cc);
    bool asked = false;
    if (!is_branch(code + end) || begin < 0 || begin > (int64_t)at ||
        (int64_t)end - begin >= LONGEST * GP_INSTRUCTION_BYTES)
        return false;
    for (size_t i = (size_t)begin; i <= end; i += GP_INSTRUCTION_BYTES) {
        asked = asked || asks(code + i);
        if (!asks(code + i) && !is_idle(code + i, cc))
            return false;
    }
    return asked;
}

static bool is_in_loop(const unsigned char *code, size_t size, size_t at, int cc)
{
    size_t last = at + (LONGEST - 1) * GP_INSTRUCTION_BYTES;
    for (size_t end = at; end <= last && end + GP_INSTRUCTION_BYTES <= size;
         end += GP_INSTRUCTION_BYTES)
        if (asks_again(code, end, at, cc))
            return true;
    return false;
}

bool gp_code_retries(const void *code, size_t size, size_t at, int cc)
{
    const unsigned char *bytes = code;
    if (cc < 90 || size < GP_INSTRUCTION_BYTES || at > size - GP_INSTRUCTION_BYTES ||
        !is_branch(bytes + at))
        return false;
    if (is_in_loop(bytes, size, at, cc))
        return true;
    if (at < GP_INSTRUCTION_BYTES)
        return false;
    const size_t before = at - GP_INSTRUCTION_BYTES;
    return asks(bytes + before) ||
           (!is_conditional(bytes + at) && asks_again(bytes, before, before, cc));
}
