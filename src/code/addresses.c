/* The rules, by kinds of instructions:
 *
 * - An address is eight bytes. The compiler loads it by an instruction of eight bytes or more;
 * where it is not aligned (a packed struct), by two of four bytes side by side, or by single bytes.
 * - The host writes the constants of a module (bank 3). The other banks hold
 *   parameters (0), the compiler's numbers (2), and the addresses of variables (4).
 * - Floating-point arithmetic makes no addresses.
 * - A descriptor of the TMA holds an address, and may lie in memory.
 * - Textures and surfaces are asked for elsewhere (code/textures.h).
 *
 * - In code that is not optimized each load has registers of its own for its address: any two of
 * four bytes may be side by side. ptxas leaves moves of a register to itself there.
 *
 * Not found are addresses whose halves are loaded by way of different registers: from two arrays,
 * or from one by indices of 32 bits that may wrap; nor those that one load gets in two rounds of a
 * loop or in two threads. */
#include "code/addresses.h"

#include "code/address_flow.h"
#include "code/encoding.h"
#include "code/instruction.h"
#include "code/waits.h"

#include <stdint.h>
#include <string.h>

#define WORD_BYTES 4
/* Loads and atomics of four bytes that are compared; in a function with more there may be two side
 * by side. */
#define MOST_WORDS 128

/* Opcodes by their nine bits, see opcodes.def. */
enum {
    OPCODE_MASK = 0x1ff,
    MOV_OF_REGISTER = 0x202, /* with bits 9 to 11 */
    LDC = 0x182,
    ULDC = 0x0b8, /* two of them */
    ULDC_LAST = 0x0b9,
    LDCU = 0x1ac,
    BAR = 0x11d, /* its barrier's number stands where others name a bank */
};

/* The register that takes no result. */
#define ZERO 255u

/* From where an instruction loads four bytes. */
struct word {
    uint8_t address; /* the register */
    int32_t offset;
};

struct words {
    unsigned count;
    struct word of[MOST_WORDS];
};

/* Whether an operand is one of the module's constants: bits 9 to 11 say that one is a constant, 54
 * to 58 the bank. */
static bool takes_constant(const uint64_t word[2], unsigned opcode)
{
    const unsigned form = gp_bits(word, 9, 3), bank = gp_bits(word, 54, 5);
    return (form == 3 || form == 5) && opcode != BAR && bank != 0 && bank != 2 && bank != 4;
}

/* False where it lies beside another one, so that both may be an address. */
static bool note_word(struct words *words, const uint64_t word[2], int32_t offset)
{
    const struct word w = {(uint8_t)gp_bits(word, 24, 8), offset};
    if (words->count == MOST_WORDS)
        return false;
    for (unsigned i = 0; i < words->count; i++) {
        const int64_t apart = (int64_t)words->of[i].offset - w.offset;
        if (words->of[i].address == w.address && (apart == WORD_BYTES || apart == -WORD_BYTES))
            return false;
    }
    words->of[words->count++] = w;
    return true;
}

/* It stands in bits 40 to 63, and in 32 to 63 of a generic load where bit 91 names no uniform
 * register. */
static int32_t offset_of(const uint64_t word[2], enum gp_op op)
{
    const bool generic = op == GP_OP_LD && !gp_bits(word, 91, 1);
    return generic ? (int32_t)(word[0] >> 32) : (int32_t)(gp_bits(word, 40, 24) << 8) >> 8;
}

static bool may_load(struct words *words, const uint64_t word[2], const struct gp_instruction *i)
{
    return i->bytes != WORD_BYTES || !note_word(words, word, offset_of(word, i->op));
}

static bool is_load_of_constants(unsigned opcode)
{
    return opcode == LDC || opcode == ULDC || opcode == ULDC_LAST || opcode == LDCU;
}

/* Their width is a field of its own: four bytes are 4 there. */
static bool may_load_constant(struct words *words, const uint64_t word[2], unsigned opcode)
{
    const unsigned offset = opcode == LDCU ? gp_bits(word, 37, 17) : gp_bits(word, 38, 16);
    return gp_bits(word, 73, 3) != 4 || !note_word(words, word, (int32_t)offset);
}

static bool may_load_address(struct words *words, const unsigned char *code, int cc)
{
    uint64_t word[2];
    memcpy(word, code, sizeof(word));
    const struct gp_instruction i = gp_instruction_decode(code, cc);
    const unsigned opcode = i.opcode & OPCODE_MASK;
    switch (i.op) {
    case GP_OP_LD:
    case GP_OP_LDG:
    case GP_OP_LDS:
    case GP_OP_LDL:
    case GP_OP_ATOM:
    case GP_OP_ATOMG:
    case GP_OP_ATOMS:
        return may_load(words, word, &i);
    case GP_OP_UNKNOWN:
    case GP_OP_LDGMC:
    case GP_OP_TMA_LOAD:
    case GP_OP_TMA_STORE:
    case GP_OP_TMA_REDUCE:
        return true;
    case GP_OP_OTHER:
        return takes_constant(word, opcode) &&
               !(is_load_of_constants(opcode) && !may_load_constant(words, word, opcode));
    default:
        return false;
    }
}

static bool moves_to_itself(const unsigned char *code)
{
    uint64_t word[2];
    memcpy(word, code, sizeof(word));
    return gp_bits(word, 0, 12) == MOV_OF_REGISTER && gp_bits(word, 16, 8) == gp_bits(word, 32, 8);
}

/* Words side by side may be loaded one by one: where there are two such loads, and in code that is
 * not optimized, where there are two at all. */
static bool has_words_side_by_side(const unsigned char *code, size_t size, int cc)
{
    struct words words = {.count = 0};
    bool optimized = true, apart = true;
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size && apart; at += GP_INSTRUCTION_BYTES) {
        const struct gp_instruction i = gp_instruction_decode(code + at, cc);
        optimized = optimized && !moves_to_itself(code + at);
        if (i.bytes == WORD_BYTES)
            apart = !may_load_address(&words, code + at, cc);
    }
    return !apart || (!optimized && words.count > 1);
}

/* A first glance, by the widths of loads alone. */
static bool may_load_any(const unsigned char *code, size_t size, int cc)
{
    struct words words = {.count = 0};
    bool optimized = true;
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES) {
        optimized = optimized && !moves_to_itself(code + at);
        if (may_load_address(&words, code + at, cc) ||
            gp_instruction_leaves(code + at, at, size, cc))
            return true;
    }
    return !optimized && words.count > 1;
}

bool gp_code_may_load_addresses(const void *code, size_t size, int cc)
{
    unsigned found;
    return may_load_any(code, size, cc) &&
           (!gp_address_flow(code, size, cc, !has_words_side_by_side(code, size, cc), &found) ||
            (found & GP_ADDRESS_LOADED));
}

static bool answers_in_block(const unsigned char *code, int cc)
{
    uint64_t word[2];
    memcpy(word, code, sizeof(word));
    return gp_instruction_decode(code, cc).op == GP_OP_ATOMS && gp_bits(word, 16, 8) != ZERO;
}

/* Code that sees no changes of other threads reads numbers that were there before, and does the
 * same in each run. */
static bool may_see_order(const unsigned char *code, size_t size, int cc)
{
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES)
        if (answers_in_block(code + at, cc))
            return true;
    return gp_code_may_wait(code, size, cc);
}

enum gp_write_addresses gp_code_write_addresses(const void *code, size_t size, int cc)
{
    unsigned found;
    if (!gp_address_flow(code, size, cc, false, &found))
        return GP_WRITES_ANYWHERE;
    if (found & GP_ADDRESS_FROM_ANSWER)
        return GP_WRITES_BY_ORDER;
    const bool by_order = may_see_order(code, size, cc);
    if (!(found & GP_WRITES_AT_LOADED))
        return by_order ? GP_WRITES_SOME_BY_ORDER : GP_WRITES_BY_PARAMETERS;
    return by_order ? GP_WRITES_BY_ORDER : GP_WRITES_BY_INPUT;
}
