/* As ptxas writes an addition in shared memory that the hardware has no instruction for:
 *
 *     AGAIN: LDS R2, [R6]
 *            FADD R3, R11, R2
 *            ATOMS.CAST.SPIN R3, [R6], R2, R3
 *            ISETP.EQ.U32.AND P1, PT, R3, 0x1, PT      from 10.0 on the swap answers in P1
 *            @!P1 BRA AGAIN */
#include "code/swaps.h"

#include "code/registers.h"
#include "code/word_flow.h"

#include <string.h>

enum {
    ATOMS_CAS = 0x18d,        /* and CAST.SPIN */
    ANSWERS_IN_PREDICATE = 2, /* bits 9 to 11 of ATOMS.CAST.SPIN from 10.0 on */
};

/* Instructions in the longest loop that swaps until nobody else has changed the memory since it was
 * read. */
#define LONGEST_SWAP 24

static void words_of(const unsigned char *instruction, uint64_t words[2])
{
    memcpy(words, instruction, GP_INSTRUCTION_BYTES);
}

static unsigned opcode_of(const unsigned char *instruction)
{
    uint64_t words[2];
    words_of(instruction, words);
    return gp_bits(words, 0, 9);
}

static bool swaps(const unsigned char *instruction)
{
    return opcode_of(instruction) == ATOMS_CAS;
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
    return gp_bits(words, 12, 3);
}

static unsigned predicate_written(const uint64_t words[2])
{
    const unsigned opcode = gp_bits(words, 0, 9);
    const bool writes = opcode == FSETP || opcode == ISETP || opcode == IADD3 || opcode == LOP3 ||
                        (opcode >= FIRST_PLOP3 && opcode <= LAST_PLOP3) || opcode == DSETP ||
                        opcode == HSETP2 ||
                        (opcode == ATOMS_CAS && gp_bits(words, 9, 3) == ANSWERS_IN_PREDICATE);
    return writes ? gp_bits(words, 81, 3) : NO_PREDICATE;
}

/* True where an integer comparison reads one of these registers. */
static bool compares(const uint64_t words[2], int cc, struct gp_register_range registers)
{
    struct gp_register_range operands[GP_MOST_OPERANDS];
    const unsigned count = gp_registers_read(words, cc, operands);
    bool does = false;
    for (unsigned o = 0; gp_bits(words, 0, 9) == ISETP && o < count; o++)
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
    const unsigned opcode = opcode_of(code + at);
    if (opcode == SYNCS || opcode == LAST_SYNCS || gp_instruction_leaves(code + at, at, size, cc))
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
        return opcode_of(code + at) != BRA || gp_instruction_jump(code + at, cc) > 0;
    }
}

/* True where the branch at `end` goes back to a loop with a swap that begins at `at` or before. */
static bool swaps_again(const unsigned char *code, size_t size, size_t end, size_t at, int cc)
{
    size_t swap = 0;
    bool has_swap = false;
    if (opcode_of(code + end) != BRA)
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
