/* The words on which the result of an instruction may depend, and those that get into an address or
 * a condition by it. */
#include "code/word_flow.h"

uint64_t gp_words_at(const struct gp_word_walk *w, unsigned offset, unsigned bytes)
{
    uint64_t words = 0;
    for (unsigned at = offset; at < offset + bytes; at += 4) {
        if (at < w->driver_end && !gp_is_of_launch(at, w->cc))
            words |= w->of_driver;
        const unsigned word = (at - w->first) / 4;
        if (at >= w->first && word < (w->most ? w->most : GP_DATA_WORDS))
            words |= UINT64_C(1) << word;
    }
    return words;
}

/* The words on which `count` registers from the first one on depend. */
uint64_t gp_registers(const struct gp_word_walk *w, unsigned first, unsigned count)
{
    uint64_t words = 0;
    for (unsigned r = first; r < first + count && r < NO_REGISTER; r++)
        words |= w->condition != NO_CONDITION && w->now.condition[r] == w->condition
                     ? w->now.of_if[r]
                     : w->now.of[r];
    return words;
}

/* There are more uniform registers since 10.0; the last one is none. */
static unsigned bits_of_uniform(const struct gp_word_walk *w)
{
    return w->cc >= 100 ? 8 : 6;
}

static unsigned no_uniform(const struct gp_word_walk *w)
{
    return (1u << bits_of_uniform(w)) - 1;
}

static unsigned uniform_at(const struct gp_word_walk *w, const uint64_t word[2], unsigned bit)
{
    return gp_bits(word, bit, bits_of_uniform(w));
}

/* The words on which `count` uniform registers depend. The number of the first one stands at that
 * bit. */
uint64_t gp_uniform(const struct gp_word_walk *w, const uint64_t word[2], unsigned bit,
                    unsigned count)
{
    const unsigned first = uniform_at(w, word, bit), end = no_uniform(w);
    uint64_t words = 0;
    for (unsigned r = first; r < first + count && r < end; r++)
        words |= w->now.uniform[r];
    return words;
}

uint64_t gp_uniform_upper(const struct gp_word_walk *w, const uint64_t word[2], unsigned bit)
{
    const unsigned first = uniform_at(w, word, bit);
    return first + 1 < no_uniform(w) ? w->now.uniform[first + 1] : 0;
}

/* The result of an instruction depends on these words. It replaces those before in so many
 * registers as it surely writes; under a condition, only where that holds. */
static uint64_t written(const struct gp_word_walk *w, bool surely, uint64_t before, uint64_t words)
{
    return words | (surely && w->condition == NO_CONDITION ? 0 : before);
}

void gp_write_registers(struct gp_word_walk *w, unsigned first, unsigned count, unsigned surely,
                        uint64_t facts)
{
    for (unsigned i = 0, r = first; i < count && r < NO_REGISTER; i++, r++) {
        w->now.of_if[r] = i < surely ? facts : facts | gp_registers(w, r, 1);
        w->now.of[r] = written(w, i < surely, w->now.of[r], facts);
        w->now.condition[r] = w->condition;
        w->now.any_condition |= w->condition != NO_CONDITION;
    }
}

void gp_write_uniform(struct gp_word_walk *w, const uint64_t word[2], unsigned count,
                      unsigned surely, uint64_t facts)
{
    const unsigned first = uniform_at(w, word, 16), end = no_uniform(w);
    for (unsigned i = 0; i < count && first + i < end; i++)
        w->now.uniform[first + i] = written(w, i < surely, w->now.uniform[first + i], facts);
}

void gp_write_uniform_at(struct gp_word_walk *w, const uint64_t word[2], unsigned i, uint64_t facts)
{
    const unsigned r = uniform_at(w, word, 16) + i;
    if (r < no_uniform(w))
        w->now.uniform[r] = written(w, true, w->now.uniform[r], facts);
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Bits 9 to 11. */
static bool has_constant(const uint64_t word[2])
{
    const unsigned form = gp_bits(word, 9, 3);
    return form == 3 || form == 5;
}

bool gp_has_uniform(const uint64_t word[2])
{
    const unsigned form = gp_bits(word, 9, 3);
    return form == 6 || form == 7;
}

/* Arithmetic takes no constants since 10.0: where it named one, it names a register. */
bool gp_has_register(const struct gp_word_walk *w, const uint64_t word[2])
{
    const unsigned opcode = gp_bits(word, 0, 9);
    return gp_bits(word, 9, 3) == 1 || (has_constant(word) && w->cc >= 100) || opcode == I2FP;
}

/* The words of the constant, if it is a parameter. */
uint64_t gp_constant(struct gp_word_walk *w, const uint64_t word[2], unsigned from, unsigned bytes)
{
    if (!has_constant(word) || gp_bits(word, 54, 5) != 0)
        return 0;
    const uint64_t words = gp_words_at(w, gp_bits(word, 38, 16) + from, bytes);
    w->read |= words;
    return words;
}

bool gp_third_is_elsewhere(const uint64_t word[2])
{
    const unsigned form = gp_bits(word, 9, 3);
    return form == 2 || form == 3 || form == 7;
}

/* The words on which an instruction of up to three operands depends. Each operand has `count`
 * registers, but the third one has `third`. */
uint64_t gp_operands(struct gp_word_walk *w, const uint64_t word[2], unsigned count, unsigned third)
{
    const bool elsewhere = gp_third_is_elsewhere(word);
    const unsigned middle = elsewhere ? third : count, last = elsewhere ? count : third;
    uint64_t words = gp_registers(w, gp_bits(word, 24, 8), count) |
                     gp_registers(w, gp_bits(word, 64, 8), last) |
                     gp_constant(w, word, 0, 4 * middle);
    if (gp_has_register(w, word))
        words |= gp_registers(w, gp_bits(word, 32, 8), middle);
    if (gp_has_uniform(word))
        words |= gp_uniform(w, word, 32, middle);
    return words;
}

bool gp_is_matrix(unsigned opcode, int cc)
{
    return opcode == IMMA || is_between(opcode, HMMA, DMMA) || (opcode == VIADD && cc < 90);
}

/* The words that an instruction of no known kind may read: its operands, or the address and the
 * data of memory, stand in bits 16 to 39 and 64 to 71, and those of a matrix in 40 to 47, too. */
uint64_t gp_all_operands(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    static const uint8_t fields[] = {24, 32, 64, 16, 40};
    const bool matrix = gp_is_matrix(opcode, w->cc);
    const unsigned count = matrix ? MOST_OF_MATRIX : MOST_IN_ROW;
    /* The result alone stands in bits 16 to 23 of those that are not about memory. */
    const unsigned used = matrix ? 5 : opcode >= FIRST_OF_MEMORY ? 4 : 3;
    uint64_t words = gp_constant(w, word, 0, 8);
    for (unsigned f = 0; f < used; f++)
        if (fields[f] != 32 || opcode >= FIRST_OF_MEMORY || !has_constant(word) || w->cc >= 100)
            words |= gp_registers(w, gp_bits(word, fields[f], 8), count) |
                     gp_uniform(w, word, fields[f], count);
    return words;
}

/* Since 12.0, on 64 bits: bits 9 to 11, or another bit, say so. */
bool gp_takes_pairs(const uint64_t word[2], unsigned opcode, int cc)
{
    const unsigned form = gp_bits(word, 9, 3);
    switch (cc >= 100 ? opcode : 0) {
    case MOV:
        return form == 2 || gp_bits(word, 80, 1);
    case SEL:
        return form != 1 && form != 4 && form != 6;
    case IMNMX:
        return gp_bits(word, 74, 1);
    case ISETP:
        return gp_bits(word, 80, 1);
    default:
        return false;
    }
}

static bool makes_condition(const uint64_t word[2], unsigned opcode, int cc)
{
    switch (opcode) {
    case IADD3:
        return gp_bits(word, 81, 3) != NO_PREDICATE || gp_bits(word, 84, 3) != NO_PREDICATE;
    case LEA:
    case LOP3:
    case IMAD:
    case IMAD_WIDE:
    case IMAD_HI:
    case IADD:
        return gp_bits(word, 81, 3) != NO_PREDICATE;
    case IMNMX:
        return cc >= 100;
    default:
        return false;
    }
}

static void compute(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode,
                    enum gp_word_kind of)
{
    const enum gp_word_kind kind = gp_takes_pairs(word, opcode, w->cc) ? DOUBLE : of;
    const unsigned results = kind == ARITHMETIC ? 1 : 2;
    const uint64_t words = gp_operands(w, word, kind == DOUBLE ? 2 : 1, results);
    if (makes_condition(word, opcode, w->cc))
        w->not_data |= words;
    /* A conversion, or a product's upper half, may write a single register. */
    const bool both = kind == ARITHMETIC || opcode == DADD || opcode == DMUL || opcode == DFMA ||
                      opcode == IMAD_WIDE;
    gp_write_registers(w, gp_bits(word, 16, 8), results, both ? results : 1, words);
}

static void compare(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    const unsigned count = opcode == DSETP || gp_takes_pairs(word, opcode, w->cc) ? 2 : 1;
    w->not_data |= gp_operands(w, word, count, count);
}

/* ---- memory ---------------------------------------------------------------------------------- */

unsigned gp_constant_offset(const uint64_t word[2], unsigned opcode)
{
    return opcode == LDCU ? gp_bits(word, 37, 17) : gp_bits(word, 38, 16);
}

unsigned gp_constant_width(const uint64_t word[2])
{
    static const uint8_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 16};
    return bytes[gp_bits(word, 73, 3)];
}

static void load_constant(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode,
                          bool to_uniform)
{
    const unsigned width = gp_constant_width(word), bank = gp_bits(word, 54, 5);
    const unsigned offset = gp_constant_offset(word, opcode);
    const unsigned count = width < 4 ? 1 : width / 4;
    const bool by_number = opcode == ULDC || gp_bits(word, 24, 8) == NO_REGISTER;
    uint64_t words = 0;
    if (!by_number && bank == 0)
        w->lost = true; /* any of the parameters */
    if (!by_number)
        w->not_data |= gp_registers(w, gp_bits(word, 24, 8), 1) | gp_uniform(w, word, 24, 1);
    if (bank == 0 && by_number)
        words = gp_words_at(w, offset / 4 * 4, offset % 4 + width);
    w->read |= words;
    if (to_uniform)
        gp_write_uniform(w, word, count, count, words);
    else
        gp_write_registers(w, gp_bits(word, 16, 8), count, count, words);
}

unsigned gp_registers_of(unsigned bytes)
{
    return bytes == 0 ? MOST_IN_ROW : bytes < 4 ? 1 : (bytes + 3) / 4;
}

static void load(struct gp_word_walk *w, const uint64_t word[2], unsigned bytes)
{
    const bool halves = bytes > 4 * MOST_IN_ROW; /* the first one stands in bits 64 to 71 */
    const unsigned count = halves ? MOST_IN_ROW : gp_registers_of(bytes);
    w->not_data |= gp_registers(w, gp_bits(word, 24, 8), 2) | gp_uniform(w, word, 32, 2) |
                   gp_uniform(w, word, 64, 2);
    gp_write_registers(w, gp_bits(word, 16, 8), count, bytes == 0 || halves ? 0 : count, w->memory);
    if (halves)
        gp_write_registers(w, gp_bits(word, 64, 8), count, 0, w->memory);
}

static void note_stored(struct gp_word_walk *w, uint64_t words)
{
    w->changed = w->changed || (words & ~w->memory);
    w->memory |= words;
}

static void store(struct gp_word_walk *w, const uint64_t word[2], unsigned bytes)
{
    w->not_data |= gp_registers(w, gp_bits(word, 24, 8), 2) | gp_uniform(w, word, 64, 2);
    if (bytes <= 4 * MOST_IN_ROW) {
        note_stored(w, gp_registers(w, gp_bits(word, 32, 8), gp_registers_of(bytes)));
        return;
    }
    w->not_data |= gp_uniform(w, word, 32, 2);
    note_stored(w, gp_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW) |
                       gp_registers(w, gp_bits(word, 32, 8), MOST_IN_ROW) |
                       gp_registers(w, gp_bits(word, 64, 8), MOST_IN_ROW));
}

/* The answer, if there is one, is from memory. */
static void change(struct gp_word_walk *w, const uint64_t word[2], bool answers)
{
    w->not_data |= gp_registers(w, gp_bits(word, 24, 8), 2) | gp_uniform(w, word, 32, 2) |
                   gp_uniform(w, word, 64, 2);
    note_stored(w, gp_registers(w, gp_bits(word, 32, 8), MOST_IN_ROW) |
                       gp_registers(w, gp_bits(word, 64, 8), MOST_IN_ROW));
    if (!answers)
        return;
    w->not_data |= w->memory; /* it may come as a condition */
    gp_write_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW, 0, w->memory);
}

static void do_unknown(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    const bool loads =
        (opcode >= FIRST_OF_MEMORY && opcode != SHFL && opcode != LDGSTS) || opcode == LDSM;
    w->not_data |= gp_all_operands(w, word, opcode);
    if (loads) {
        gp_write_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW, 0, w->memory);
        gp_write_uniform(w, word, MOST_IN_ROW, 0, w->memory);
    }
}

/* It may read parameters by an address: they have generic ones, too, and descriptors lie there. */
static bool may_read_any(enum gp_op op)
{
    return op == GP_OP_LD || op == GP_OP_ATOM || gp_may_read_descriptors(op);
}

void gp_data_word_step(struct gp_word_walk *w, const uint64_t word[2],
                       const struct gp_instruction *i)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    const enum gp_word_kind kind = gp_word_kind_of(word, i, w->cc);
    w->lost = w->lost || may_read_any(i->op);
    switch (kind) {
    case NOTHING:
        break;
    case SPECIAL:
        gp_write_registers(w, gp_bits(word, 16, 8), 1, 1, 0);
        break;
    case SPECIAL_UNIFORM:
        gp_write_uniform(w, word, 1, 1, 0);
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
