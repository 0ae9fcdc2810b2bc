/* As ptxas, and NVIDIA's libraries, write them on compute capability 9.0:
 *
 *     RETRY: SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR6], R3
 *            @!P0 NANOSLEEP.SYNCS 0x989680
 *            @!P0 SYNCS.PHASECHK.TRANS64 P0, [UR6], R3
 *            @!P0 BRA RETRY
 *            BRA BACK      where the loop stands apart, for those that did not get a yes at once
 *
 * And on every GPU, for an addition in shared memory that the hardware has no instruction for:
 *
 *     AGAIN: LDS R2, [R6]
 *            FADD R3, R11, R2
 *            ATOMS.CAST.SPIN R3, [R6], R2, R3
 *            ISETP.EQ.U32.AND P1, PT, R3, 0x1, PT      from 10.0 on the swap answers in P1
 *            @!P1 BRA AGAIN */
#include "code/retries.h"

#include "code/instruction.h"
#include "code/registers.h"

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
    FSETP = 0x00b,
    ISETP = 0x00c,
    IADD3 = 0x010,
    LOP3 = 0x012,
    FIRST_PLOP3 = 0x01c,
    LAST_PLOP3 = 0x01f,
    DSETP = 0x02a,
    HSETP2 = 0x034,
    ATOMS_CAS = 0x18d, /* and CAST.SPIN */
    ANSWER_MASK = 0xe00,
    ANSWERS_IN_PREDICATE = 0x400, /* ATOMS.CAST.SPIN from 10.0 on */
    NO_PREDICATE = 7,
};

/* Instructions in the longest loop that only asks; five are the most seen. */
#define LONGEST 8
/* And in the longest loop that swaps until nobody else has changed the memory since it was read. */
#define LONGEST_SWAP 24

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

/* ---- swaps ----------------------------------------------------------------------------------- */

static bool swaps(const unsigned char *instruction)
{
    return (word_of(instruction, 0) & SHORT_MASK) == ATOMS_CAS;
}

static void words_of(const unsigned char *instruction, uint64_t words[2])
{
    words[0] = word_of(instruction, 0);
    words[1] = word_of(instruction, 1);
}

static bool overlap(struct gp_register_range a, struct gp_register_range b)
{
    return a.first < b.first + b.count && b.first < a.first + a.count;
}

/* True where an instruction of the loop writes one of these registers. */
static bool writes(const unsigned char *code, size_t begin, size_t end, int cc,
                   struct gp_register_range registers)
{
    bool does = false;
    for (size_t i = begin; i < end && !does; i += GP_INSTRUCTION_BYTES) {
        uint64_t words[2];
        words_of(code + i, words);
        does = overlap(gp_registers_written(words, cc), registers);
    }
    return does;
}

/* The predicate on which a branch depends, and the one that an instruction of these kinds writes;
 * NO_PREDICATE: none. */
static unsigned predicate_of_branch(const uint64_t words[2])
{
    return words[0] >> 12 & 7;
}

static unsigned predicate_written(const uint64_t words[2])
{
    const unsigned opcode = words[0] & SHORT_MASK;
    const bool writes = opcode == FSETP || opcode == ISETP || opcode == IADD3 || opcode == LOP3 ||
                        (opcode >= FIRST_PLOP3 && opcode <= LAST_PLOP3) || opcode == DSETP ||
                        opcode == HSETP2 ||
                        (opcode == ATOMS_CAS && (words[0] & ANSWER_MASK) == ANSWERS_IN_PREDICATE);
    return writes ? words[1] >> 17 & 7 : NO_PREDICATE;
}

/* True where an integer comparison reads one of these registers. */
static bool compares(const uint64_t words[2], int cc, struct gp_register_range registers)
{
    struct gp_register_range operands[GP_MOST_OPERANDS];
    const unsigned count = gp_registers_read(words, cc, operands);
    bool does = false;
    for (unsigned o = 0; (words[0] & SHORT_MASK) == ISETP && o < count; o++)
        does = does || overlap(operands[o], registers);
    return does;
}

/* True where the branch back depends on whether the swap was made. */
static bool asks_for_answer(const unsigned char *code, size_t swap, size_t end, int cc)
{
    uint64_t words[2], branch[2];
    words_of(code + swap, words);
    words_of(code + end, branch);
    const unsigned predicate = predicate_of_branch(branch);
    const struct gp_register_range answer = gp_registers_written(words, cc);
    bool asks = predicate != NO_PREDICATE && predicate_written(words) == predicate;
    for (size_t i = swap + GP_INSTRUCTION_BYTES; i < end; i += GP_INSTRUCTION_BYTES) {
        words_of(code + i, words);
        if (predicate != NO_PREDICATE && predicate_written(words) == predicate)
            asks = compares(words, cc, answer);
    }
    return asks;
}

/* True for a swap of the same memory in each round, so that only another thread's swap makes for
 * another round. */
static bool retries_swap(const unsigned char *code, size_t begin, size_t swap, size_t end, int cc)
{
    uint64_t words[2];
    struct gp_register_range address[GP_MOST_OPERANDS];
    words_of(code + swap, words);
    const unsigned count = gp_registers_read(words, cc, address);
    for (unsigned o = 0; o < count; o++)
        if (writes(code, begin, end, cc, address[o]))
            return false;
    return asks_for_answer(code, swap, end, cc);
}

/* True where a loop may do that beside its swap: it computes, reads, and leaves. */
static bool is_beside_swap(const unsigned char *code, size_t size, size_t at, int cc)
{
    const unsigned opcode = word_of(code + at, 0) & SHORT_MASK;
    if (opcode == SYNCS || opcode == SYNCS_EXCH || gp_instruction_leaves(code + at, at, size, cc))
        return false;
    switch (gp_instruction_decode(code + at, cc).op) {
    case GP_OP_UNKNOWN:
    case GP_OP_ST:
    case GP_OP_STG:
    case GP_OP_STS:
    case GP_OP_STL:
    case GP_OP_STSM:
    case GP_OP_LDGSTS:
    case GP_OP_ATOM:
    case GP_OP_ATOMG:
    case GP_OP_ATOMS:
    case GP_OP_RED:
    case GP_OP_STAS:
    case GP_OP_REDAS:
    case GP_OP_TMA_LOAD:
    case GP_OP_TMA_STORE:
    case GP_OP_TMA_REDUCE:
    case GP_OP_TMA_COPY:
        return false;
    default:
        return !is_branch(code + at) || gp_instruction_jump(code + at, cc) > 0;
    }
}

/* True where the branch at `end` goes back to a loop with a swap that begins at `at` or before. */
static bool swaps_again(const unsigned char *code, size_t size, size_t end, size_t at, int cc)
{
    size_t swap = 0;
    bool has_swap = false;
    if (!is_branch(code + end))
        return false;
    const int64_t begin = (int64_t)end + gp_instruction_jump(code + end, cc);
    if (begin < 0 || begin > (int64_t)at ||
        (int64_t)end - begin >= LONGEST_SWAP * GP_INSTRUCTION_BYTES)
        return false;
    for (size_t i = (size_t)begin; i < end; i += GP_INSTRUCTION_BYTES) {
        const bool is_swap = swaps(code + i);
        if (is_swap ? has_swap : !is_beside_swap(code, size, i, cc))
            return false;
        swap = is_swap ? i : swap;
        has_swap = has_swap || is_swap;
    }
    return has_swap && retries_swap(code, (size_t)begin, swap, end, cc);
}

bool gp_code_retries_swap(const void *code, size_t size, size_t at, int cc)
{
    const size_t last = at + (LONGEST_SWAP - 1) * GP_INSTRUCTION_BYTES;
    for (size_t end = at; end <= last && end + GP_INSTRUCTION_BYTES <= size;
         end += GP_INSTRUCTION_BYTES)
        if (swaps_again(code, size, end, at, cc))
            return true;
    return false;
}

/* ---- questions ------------------------------------------------------------------------------- */

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
