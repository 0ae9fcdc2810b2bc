/* The words that each register may depend on are followed from instruction to instruction, and
 * joined where branches meet, until nothing changes. Each branch is taken to go on, too. A word
 * that gets into an address, into a condition, or into an instruction that is not known here, is
 * not data only. More may be taken for dependent than is: an operand's number may be that of no
 * operand, and memory is one piece.
 *
 * The encodings are those of instruction.c. Operands stand in bits 24 to 31, 32 to 39 and 64 to 71,
 * the result in bits 16 to 23; bits 9 to 11 say which of them is a number, a constant, or a uniform
 * register. tests/sass compares them with the disassembler. */
#include "code/data_words.h"

#include "code/instruction.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NO_REGISTER 255
#define UNIFORM_REGISTERS 256u
#define NO_PREDICATE 7u
/* Instructions read and write so many registers in a row at most; those that multiply matrices read
 * more. */
#define MOST_IN_ROW 4u
#define MOST_OF_MATRIX 16u
/* Walks through the function, bytes of it, and targets of branches: else nothing is known. */
#define MOST_WALKS 16
#define MOST_CODE ((size_t)64 << 10)
#define MOST_TARGETS 512

/* The words that each register may depend on. */
struct state {
    uint64_t of[256];
    uint64_t uniform[UNIFORM_REGISTERS];
};

struct walk {
    const unsigned char *code;
    size_t count; /* instructions */
    int cc;
    unsigned first; /* where the parameters begin among the constants of bank 0 */
    struct state now;
    struct state synced; /* at any barrier of diverged threads: they go on somewhere else */
    struct state **at;   /* by instruction: where a branch leads; NULL elsewhere */
    bool any_synced, changed, lost;
    uint64_t memory; /* that stored numbers depend on */
    uint64_t read, not_data;
};

/* Opcodes by their nine bits, see opcodes.def. */
enum {
    OPCODE_MASK = 0x1ff,
    MOV = 0x002,
    CS2R = 0x005,
    SEL = 0x007,
    FSEL = 0x008,
    FMNMX = 0x009,
    FSETP = 0x00b,
    ISETP = 0x00c,
    IADD3 = 0x010,
    LEA = 0x011,
    LOP3 = 0x012,
    IABS = 0x013,
    PRMT = 0x016,
    IMNMX = 0x017,
    SHF = 0x019,
    FMUL = 0x020,
    FADD = 0x021,
    FFMA = 0x023,
    IMAD = 0x024,
    IMAD_WIDE = 0x025,
    IMAD_HI = 0x027,
    DMUL = 0x028,
    DADD = 0x029,
    DSETP = 0x02a,
    DFMA = 0x02b,
    HADD2 = 0x030,
    HFMA2 = 0x031,
    HMUL2 = 0x032,
    IADD = 0x035, /* HFMA2.MMA up to 9.0 */
    VIADD = 0x036,
    IMMA = 0x037,
    LDSM = 0x03b,
    HMMA = 0x03c,
    BMMA = 0x03d,
    DMMA = 0x03f,
    I2FP = 0x045,
    QMMA = 0x07a,
    OMMA = 0x07f,
    ULDC_BY_ADDRESS = 0x0b8,
    ULDC = 0x0b9,
    ULDC_BY_REGISTER = 0x0bb,
    F2F = 0x104,
    F2I = 0x105,
    I2F = 0x106,
    FRND = 0x107,
    MUFU = 0x108,
    NOP = 0x118,
    S2R = 0x119,
    DEPBAR = 0x11a,
    BAR = 0x11d,
    FIRST_OF_GRAPHICS = 0x11e,
    LAST_OF_GRAPHICS = 0x127,
    FIRST_OF_MEMORY = 0x13e,
    BSYNC = 0x141,
    BREAK = 0x142,
    CALL_RELATIVE = 0x144,
    BSSY = 0x145,
    YIELD = 0x146,
    BRA = 0x147,
    WARPSYNC = 0x148,
    EXIT = 0x14d,
    RET = 0x150,
    FIRST_TEXTURE = 0x160,
    LAST_TEXTURE = 0x174,
    LDC = 0x182,
    SHFL = 0x189,
    MEMBAR = 0x192,
    FIRST_SURFACE = 0x193,
    LAST_SURFACE = 0x1a0,
    LDCU = 0x1ac,
    LDTRAM = 0x1ad,
    LDGSTS = 0x1ae,
    SUQUERY = 0x1b3,
    UTMAPF = 0x1b8,
    UBLKPF = 0x1bc,
    S2UR = 0x1c3,
    FIRST_OF_TENSORS = 0x1d0, /* tensor memory, and matrices of four warps */
};

static unsigned bits(const uint64_t word[2], unsigned first, unsigned count)
{
    return (unsigned)(word[first / 64] >> first % 64) & ((1u << count) - 1);
}

static uint64_t set_of_words(const struct walk *w, unsigned offset, unsigned bytes)
{
    uint64_t words = 0;
    for (unsigned at = offset; at < offset + bytes; at += 4) {
        const unsigned word = (at - w->first) / 4;
        if (at >= w->first && word < GP_DATA_WORDS)
            words |= UINT64_C(1) << word;
    }
    return words;
}

/* Of `count` registers from that one on. */
static uint64_t registers(const struct walk *w, unsigned first, unsigned count)
{
    uint64_t words = 0;
    for (unsigned r = first; r < first + count && r < NO_REGISTER; r++)
        words |= w->now.of[r];
    return words;
}

/* There are more uniform registers since 10.0; the last one is none. */
static unsigned bits_of_uniform(const struct walk *w)
{
    return w->cc >= 100 ? 8 : 6;
}

static unsigned no_uniform(const struct walk *w)
{
    return (1u << bits_of_uniform(w)) - 1;
}

static unsigned uniform_at(const struct walk *w, const uint64_t word[2], unsigned bit)
{
    return bits(word, bit, bits_of_uniform(w));
}

/* Of `count` uniform registers from that one on, whose number stands at that bit. */
static uint64_t uniform(const struct walk *w, const uint64_t word[2], unsigned bit, unsigned count)
{
    const unsigned first = uniform_at(w, word, bit), end = no_uniform(w);
    uint64_t words = 0;
    for (unsigned r = first; r < first + count && r < end; r++)
        words |= w->now.uniform[r];
    return words;
}

/* The result of an instruction depends on these words. It replaces those before only if it runs in
 * every thread, and in so many registers as it surely writes. */
static void write(uint64_t *of, unsigned end, unsigned first, unsigned count, unsigned surely,
                  uint64_t words)
{
    for (unsigned i = 0; i < count && first + i < end; i++)
        of[first + i] = words | (i < surely ? 0 : of[first + i]);
}

static bool is_predicated(const uint64_t word[2])
{
    return bits(word, 12, 4) != NO_PREDICATE;
}

/* ---- kinds of instructions ------------------------------------------------------------------- */

enum kind {
    UNKNOWN,
    UNKNOWABLE, /* its operands are not known here */
    NOTHING,    /* reads no register and writes none */
    SPECIAL,    /* reads none, and writes */
    SPECIAL_UNIFORM,
    ARITHMETIC, /* on single registers */
    DOUBLE,     /* on pairs */
    WIDE,       /* on single ones and a pair; the result is a pair */
    COMPARISON, /* makes a condition */
    CONSTANT,   /* a load of constants */
    TO_UNIFORM, /* the same, to uniform registers */
    LOAD,
    STORE,
    ATOMIC
};

/* With numbers for operands. The others name registers; bit 91 says that one is uniform. */
static bool has_numbers(const uint64_t word[2], unsigned opcode)
{
    return bits(word, 9, 3) == (opcode == BAR ? 5 : 4) && !bits(word, 91, 1);
}

static enum kind kind_of_other(const uint64_t word[2], unsigned opcode, int cc)
{
    switch (opcode) {
    case NOP:
    case DEPBAR:
    case BAR:
    case BSYNC:
    case BREAK:
    case BSSY:
    case YIELD:
    case BRA:
    case EXIT:
    case MEMBAR:
        return has_numbers(word, opcode) ? NOTHING : UNKNOWN;
    case S2R:
    case CS2R:
        return SPECIAL;
    case S2UR:
        return SPECIAL_UNIFORM;
    case MOV:
    case SEL:
    case FSEL:
    case FMNMX:
    case IADD3:
    case LEA:
    case LOP3:
    case IABS:
    case PRMT:
    case IMNMX:
    case SHF:
    case IMAD:
    case I2FP:
    case MUFU:
        return ARITHMETIC;
    case IADD:
        return cc >= 100 ? DOUBLE : UNKNOWN;
    case VIADD:
        return cc >= 90 ? ARITHMETIC : UNKNOWN;
    case F2F:
    case F2I:
    case I2F:
    case FRND:
        return DOUBLE;
    case IMAD_WIDE:
    case IMAD_HI:
        return WIDE;
    case FSETP:
    case ISETP:
    case DSETP:
        return COMPARISON;
    case LDC:
        return CONSTANT;
    case ULDC:
    case LDCU:
        return TO_UNIFORM;
    default:
        return UNKNOWN;
    }
}

static bool is_between(unsigned opcode, unsigned first, unsigned last)
{
    return opcode >= first && opcode <= last;
}

/* Those that read many registers, or name them in other bits, and those that read parameters by an
 * address. */
static bool is_unknowable(const uint64_t word[2], unsigned opcode, int cc)
{
    const unsigned form = bits(word, 9, 3);
    /* Constants of a bank that a uniform register names. */
    const bool by_bank =
        (form == 3 || form == 5) && bits(word, 91, 1) && cc < 100 && (opcode < FIRST_OF_MEMORY);
    switch (opcode) {
    case LDC:
        return form != 5;
    case LDCU:
        return form != 3;
    case QMMA:
    case OMMA:
    case ULDC_BY_ADDRESS:
    case ULDC_BY_REGISTER:
    case LDTRAM:
    case SUQUERY:
    case UTMAPF:
    case UBLKPF:
        return true;
    default:
        return by_bank || is_between(opcode, FIRST_OF_GRAPHICS, LAST_OF_GRAPHICS) ||
               is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE) ||
               is_between(opcode, FIRST_SURFACE, LAST_SURFACE) || opcode >= FIRST_OF_TENSORS;
    }
}

static enum kind kind_of(const uint64_t word[2], const struct gp_instruction *i, int cc)
{
    if (is_unknowable(word, i->opcode & OPCODE_MASK, cc))
        return UNKNOWABLE;
    switch (i->op) {
    case GP_OP_FADD:
    case GP_OP_FMUL:
    case GP_OP_FFMA:
    case GP_OP_HADD2:
    case GP_OP_HMUL2:
    case GP_OP_HFMA2:
        return ARITHMETIC;
    case GP_OP_DADD:
    case GP_OP_DMUL:
    case GP_OP_DFMA:
        return DOUBLE;
    case GP_OP_LD:
    case GP_OP_LDG:
    case GP_OP_LDS:
    case GP_OP_LDL:
        return LOAD;
    case GP_OP_ST:
    case GP_OP_STG:
    case GP_OP_STS:
    case GP_OP_STL:
        return STORE;
    case GP_OP_ATOM:
    case GP_OP_ATOMG:
    case GP_OP_ATOMS:
    case GP_OP_RED:
        return ATOMIC;
    case GP_OP_OTHER:
        return kind_of_other(word, i->opcode & OPCODE_MASK, cc);
    default:
        return UNKNOWN;
    }
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Bits 9 to 11. */
static bool has_constant(const uint64_t word[2])
{
    const unsigned form = bits(word, 9, 3);
    return form == 3 || form == 5;
}

static bool has_uniform(const uint64_t word[2])
{
    const unsigned form = bits(word, 9, 3);
    return form == 6 || form == 7;
}

/* Arithmetic takes no constants since 10.0: where it named one, it names a register. */
static bool has_register(const struct walk *w, const uint64_t word[2])
{
    const unsigned opcode = bits(word, 0, 9);
    return bits(word, 9, 3) == 1 || (has_constant(word) && w->cc >= 100) || opcode == I2FP;
}

/* The words of the constant, if it is a parameter. */
static uint64_t constant(struct walk *w, const uint64_t word[2], unsigned bytes)
{
    if (!has_constant(word) || bits(word, 54, 5) != 0)
        return 0;
    const uint64_t words = set_of_words(w, bits(word, 38, 16), bytes);
    w->read |= words;
    return words;
}

/* Bits 64 to 71 have the second operand where the third one is a number, a constant or a uniform
 * register, else the third one. */
static bool third_is_elsewhere(const uint64_t word[2])
{
    const unsigned form = bits(word, 9, 3);
    return form == 2 || form == 3 || form == 7;
}

/* That an instruction of up to three operands depends on: of so many registers each, the third one
 * of so many. */
static uint64_t operands(struct walk *w, const uint64_t word[2], unsigned count, unsigned third)
{
    const bool elsewhere = third_is_elsewhere(word);
    const unsigned middle = elsewhere ? third : count, last = elsewhere ? count : third;
    uint64_t words = registers(w, bits(word, 24, 8), count) |
                     registers(w, bits(word, 64, 8), last) | constant(w, word, 4 * middle);
    if (has_register(w, word))
        words |= registers(w, bits(word, 32, 8), middle);
    if (has_uniform(word))
        words |= uniform(w, word, 32, middle);
    return words;
}

static bool is_matrix(unsigned opcode, int cc)
{
    return opcode == IMMA || is_between(opcode, HMMA, DMMA) || (opcode == VIADD && cc < 90);
}

/* That an instruction of no known kind may read: its operands, or the address and the data of
 * memory, stand in bits 16 to 39 and 64 to 71, and those of a matrix in 40 to 47, too. */
static uint64_t all_operands(struct walk *w, const uint64_t word[2], unsigned opcode)
{
    static const uint8_t fields[] = {24, 32, 64, 16, 40};
    const bool matrix = is_matrix(opcode, w->cc);
    const unsigned count = matrix ? MOST_OF_MATRIX : MOST_IN_ROW;
    /* The result alone stands in bits 16 to 23 of those that are not about memory. */
    const unsigned used = matrix ? 5 : opcode >= FIRST_OF_MEMORY ? 4 : 3;
    uint64_t words = constant(w, word, 8);
    for (unsigned f = 0; f < used; f++)
        if (fields[f] != 32 || opcode >= FIRST_OF_MEMORY || !has_constant(word) || w->cc >= 100)
            words |=
                registers(w, bits(word, fields[f], 8), count) | uniform(w, word, fields[f], count);
    return words;
}

/* Since 12.0, on 64 bits: bits 9 to 11, or another bit, say so. */
static bool takes_pairs(const uint64_t word[2], unsigned opcode, int cc)
{
    const unsigned form = bits(word, 9, 3);
    switch (cc >= 100 ? opcode : 0) {
    case MOV:
        return form == 2 || bits(word, 80, 1);
    case SEL:
        return form != 1 && form != 4 && form != 6;
    case IMNMX:
        return bits(word, 74, 1);
    case ISETP:
        return bits(word, 80, 1);
    default:
        return false;
    }
}

static bool makes_condition(const uint64_t word[2], unsigned opcode, int cc)
{
    switch (opcode) {
    case IADD3:
        return bits(word, 81, 3) != NO_PREDICATE || bits(word, 84, 3) != NO_PREDICATE;
    case LEA:
    case LOP3:
    case IMAD:
    case IMAD_WIDE:
    case IMAD_HI:
    case IADD:
        return bits(word, 81, 3) != NO_PREDICATE;
    case IMNMX:
        return cc >= 100;
    default:
        return false;
    }
}

static void compute(struct walk *w, const uint64_t word[2], unsigned opcode, enum kind of)
{
    const enum kind kind = takes_pairs(word, opcode, w->cc) ? DOUBLE : of;
    const unsigned results = kind == ARITHMETIC ? 1 : 2;
    const uint64_t words = operands(w, word, kind == DOUBLE ? 2 : 1, results);
    if (makes_condition(word, opcode, w->cc))
        w->not_data |= words;
    /* A conversion, or a product's upper half, may write a single register. */
    const bool both = kind == ARITHMETIC || opcode == DADD || opcode == DMUL || opcode == DFMA ||
                      opcode == IMAD_WIDE;
    write(w->now.of, NO_REGISTER, bits(word, 16, 8), results,
          is_predicated(word) ? 0 : (both ? results : 1), words);
}

static void compare(struct walk *w, const uint64_t word[2], unsigned opcode)
{
    const unsigned count = opcode == DSETP || takes_pairs(word, opcode, w->cc) ? 2 : 1;
    w->not_data |= operands(w, word, count, count);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void load_constant(struct walk *w, const uint64_t word[2], unsigned opcode, bool to_uniform)
{
    static const uint8_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 16};
    const unsigned width = bytes[bits(word, 73, 3)], bank = bits(word, 54, 5);
    const unsigned offset = opcode == LDCU ? bits(word, 37, 17) : bits(word, 38, 16);
    const unsigned count = width < 4 ? 1 : width / 4;
    const bool by_number = opcode == ULDC || bits(word, 24, 8) == NO_REGISTER;
    uint64_t words = 0;
    if (!by_number && bank == 0)
        w->lost = true; /* any of the parameters */
    if (!by_number)
        w->not_data |= registers(w, bits(word, 24, 8), 1) | uniform(w, word, 24, 1);
    if (bank == 0 && by_number)
        words = set_of_words(w, offset / 4 * 4, offset % 4 + width);
    w->read |= words;
    if (to_uniform)
        write(w->now.uniform, no_uniform(w), uniform_at(w, word, 16), count,
              is_predicated(word) ? 0 : count, words);
    else
        write(w->now.of, NO_REGISTER, bits(word, 16, 8), count, is_predicated(word) ? 0 : count,
              words);
}

static unsigned registers_of(unsigned bytes)
{
    return bytes == 0 ? MOST_IN_ROW : bytes < 4 ? 1 : (bytes + 3) / 4;
}

static void load(struct walk *w, const uint64_t word[2], unsigned bytes)
{
    const bool halves = bytes > 4 * MOST_IN_ROW; /* the first one stands in bits 64 to 71 */
    const unsigned count = halves ? MOST_IN_ROW : registers_of(bytes);
    w->not_data |=
        registers(w, bits(word, 24, 8), 2) | uniform(w, word, 32, 2) | uniform(w, word, 64, 2);
    write(w->now.of, NO_REGISTER, bits(word, 16, 8), count,
          is_predicated(word) || bytes == 0 || halves ? 0 : count, w->memory);
    if (halves)
        write(w->now.of, NO_REGISTER, bits(word, 64, 8), count, 0, w->memory);
}

static void note_stored(struct walk *w, uint64_t words)
{
    w->changed = w->changed || (words & ~w->memory);
    w->memory |= words;
}

static void store(struct walk *w, const uint64_t word[2], unsigned bytes)
{
    w->not_data |= registers(w, bits(word, 24, 8), 2) | uniform(w, word, 64, 2);
    if (bytes <= 4 * MOST_IN_ROW) {
        note_stored(w, registers(w, bits(word, 32, 8), registers_of(bytes)));
        return;
    }
    w->not_data |= uniform(w, word, 32, 2);
    note_stored(w, registers(w, bits(word, 16, 8), MOST_IN_ROW) |
                       registers(w, bits(word, 32, 8), MOST_IN_ROW) |
                       registers(w, bits(word, 64, 8), MOST_IN_ROW));
}

/* The answer, if there is one, is from memory. */
static void change(struct walk *w, const uint64_t word[2], bool answers)
{
    w->not_data |=
        registers(w, bits(word, 24, 8), 2) | uniform(w, word, 32, 2) | uniform(w, word, 64, 2);
    note_stored(w, registers(w, bits(word, 32, 8), MOST_IN_ROW) |
                       registers(w, bits(word, 64, 8), MOST_IN_ROW));
    if (!answers)
        return;
    w->not_data |= w->memory; /* it may come as a condition */
    write(w->now.of, NO_REGISTER, bits(word, 16, 8), MOST_IN_ROW, 0, w->memory);
}

static void do_unknown(struct walk *w, const uint64_t word[2], unsigned opcode)
{
    const bool loads =
        (opcode >= FIRST_OF_MEMORY && opcode != SHFL && opcode != LDGSTS) || opcode == LDSM;
    w->not_data |= all_operands(w, word, opcode);
    if (loads) {
        write(w->now.of, NO_REGISTER, bits(word, 16, 8), MOST_IN_ROW, 0, w->memory);
        write(w->now.uniform, no_uniform(w), uniform_at(w, word, 16), MOST_IN_ROW, 0, w->memory);
    }
}

/* It may read parameters by an address: they have generic ones, too, and descriptors lie there. */
static bool may_read_any(enum gp_op op)
{
    switch (op) {
    case GP_OP_UNKNOWN:
    case GP_OP_LD:
    case GP_OP_ATOM:
    case GP_OP_TMA_LOAD:
    case GP_OP_TMA_STORE:
    case GP_OP_TMA_REDUCE:
    case GP_OP_TMA_COPY:
        return true;
    default:
        return false;
    }
}

static void step(struct walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    const enum kind kind = kind_of(word, i, w->cc);
    w->lost = w->lost || may_read_any(i->op);
    switch (kind) {
    case NOTHING:
        break;
    case SPECIAL:
        write(w->now.of, NO_REGISTER, bits(word, 16, 8), 1, is_predicated(word) ? 0 : 1, 0);
        break;
    case SPECIAL_UNIFORM:
        write(w->now.uniform, no_uniform(w), uniform_at(w, word, 16), 1,
              is_predicated(word) ? 0 : 1, 0);
        break;
    case ARITHMETIC:
    case DOUBLE:
    case WIDE:
        compute(w, word, opcode, kind);
        break;
    case COMPARISON:
        compare(w, word, opcode);
        break;
    case CONSTANT:
    case TO_UNIFORM:
        load_constant(w, word, opcode, kind == TO_UNIFORM);
        break;
    case LOAD:
        load(w, word, i->bytes);
        break;
    case STORE:
        store(w, word, i->bytes);
        break;
    case ATOMIC:
        change(w, word, i->op != GP_OP_RED);
        break;
    case UNKNOWN:
        do_unknown(w, word, opcode);
        break;
    case UNKNOWABLE:
        w->lost = true;
        break;
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* True where there is news in it. */
static bool join(struct state *to, const struct state *from)
{
    uint64_t news = 0;
    for (unsigned r = 0; r < 256; r++) {
        news |= from->of[r] & ~to->of[r];
        to->of[r] |= from->of[r];
    }
    for (unsigned r = 0; r < UNIFORM_REGISTERS; r++) {
        news |= from->uniform[r] & ~to->uniform[r];
        to->uniform[r] |= from->uniform[r];
    }
    return news != 0;
}

/* Where a branch leads. */
static struct state *target_of(const struct walk *w, size_t n)
{
    const int64_t jump = gp_instruction_jump(w->code + n * GP_INSTRUCTION_BYTES, w->cc);
    const int64_t to = (int64_t)n + jump / GP_INSTRUCTION_BYTES;
    return jump && to >= 0 && to < (int64_t)w->count ? w->at[to] : NULL;
}

static void walk_once(struct walk *w)
{
    memset(&w->now, 0, sizeof(w->now));
    for (size_t n = 0; n < w->count && !w->lost; n++) {
        uint64_t word[2];
        memcpy(word, w->code + n * GP_INSTRUCTION_BYTES, sizeof(word));
        const struct gp_instruction i = gp_instruction_decode(word, w->cc);
        const unsigned opcode = i.opcode & OPCODE_MASK;
        if (w->at[n]) {
            w->changed |= join(w->at[n], &w->now);
            w->now = *w->at[n];
        }
        if (w->any_synced)
            join(&w->now, &w->synced);
        step(w, word, &i);
        if ((opcode == BSYNC || opcode == BREAK || opcode == WARPSYNC) && join(&w->synced, &w->now))
            w->any_synced = w->changed = true;
        struct state *target = target_of(w, n);
        if (target)
            w->changed |= join(target, &w->now);
    }
}

static bool mark_targets(struct walk *w)
{
    const size_t size = w->count * GP_INSTRUCTION_BYTES;
    unsigned targets = 0;
    for (size_t n = 0; n < w->count; n++) {
        const unsigned char *word = w->code + n * GP_INSTRUCTION_BYTES;
        const unsigned opcode = gp_instruction_decode(word, w->cc).opcode & OPCODE_MASK;
        const int64_t jump = gp_instruction_jump(word, w->cc);
        if (opcode == CALL_RELATIVE || opcode == RET ||
            gp_instruction_leaves(word, n * GP_INSTRUCTION_BYTES, size, w->cc))
            return false;
        const size_t to = (size_t)((int64_t)n + jump / GP_INSTRUCTION_BYTES);
        if (!jump || w->at[to])
            continue;
        w->at[to] = targets++ < MOST_TARGETS ? calloc(1, sizeof(struct state)) : NULL;
        if (!w->at[to])
            return false;
    }
    return true;
}

static bool walk_until_known(struct walk *w)
{
    bool known = mark_targets(w);
    w->changed = true;
    for (int walks = 0; known && w->changed && walks < MOST_WALKS; walks++) {
        w->changed = false;
        walk_once(w);
    }
    return known && !w->changed && !w->lost;
}

/* The bank of constants begins with numbers of the driver's. */
static unsigned first_parameter(int cc)
{
    return cc >= 100 ? 0x380 : cc >= 90 ? 0x210 : 0x160;
}

uint64_t gp_code_data_words(const void *code, size_t size, int cc)
{
    struct walk *w = size <= MOST_CODE ? calloc(1, sizeof(*w)) : NULL;
    uint64_t words = 0;
    if (!w)
        return 0;
    w->code = code;
    w->count = size / GP_INSTRUCTION_BYTES;
    w->cc = cc;
    w->first = first_parameter(cc);
    w->at = calloc(w->count + 1, sizeof(struct state *));
    if (w->at && walk_until_known(w))
        words = w->read ? ~w->not_data : 0;
    for (size_t n = 0; w->at && n < w->count; n++)
        free(w->at[n]);
    free(w->at);
    free(w);
    return words;
}
