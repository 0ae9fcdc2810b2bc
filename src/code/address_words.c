/* The words are followed from instruction to instruction (word_walk.c) to the upper halves of
 * addresses. An address is two registers side by side. The upper half of the product of two words,
 * added to two registers, is the upper half of these; so it is for a word that is shifted by bits.
 * Words that are shifted by bytes may be parts of an address that is not aligned.
 * Floating-point arithmetic makes no addresses. Memory is one piece: a number that is loaded has
 * the words of all numbers that the kernel stores. More words may be taken for upper halves than
 * are; address_words.h says which are not found.
 *
 * Parameters have addresses, too, which follow from numbers of the driver's in front of them. */
#include "code/address_words.h"

#include "code/word_flow.h"

#include <stdlib.h>
#include <string.h>

/* Words that one walk follows, with two bits each: the register has the word as it is, or bytes of
 * it. The last bits say that it may have a power of two that the compiler put there, by which a
 * word is moved or shifted that is multiplied with it, and that a number of the driver's is in it.
 */
#define WORDS_AT_ONCE 31u
#define WHOLE ((UINT64_C(1) << WORDS_AT_ONCE) - 1)
/* Instructions of all walks: more take too long while a launch waits. */
#define MOST_WALKED 10000
#define FACTOR (UINT64_C(1) << 62)
#define OF_DRIVER (UINT64_C(1) << 63)

enum {
    UMOV = 0x082,
    USEL = 0x087,
    UIADD3 = 0x090,
    ULEA = 0x091,
    USHF = 0x099,
    UIMAD = 0x0a4,
    FIRST_OF_SHIFT = 75,
    BITS_OF_SHIFT = 5,
    UPPER_HALF = 80
};

static uint64_t in_bytes(uint64_t words)
{
    return (words & ~WHOLE) | (words & WHOLE) << WORDS_AT_ONCE;
}

static uint64_t any_part(uint64_t words)
{
    return words | in_bytes(words);
}

/* The address stands in two registers from bit 24 on, or in one, an offset to two uniform ones, at
 * the bit that is given; bit 91 says that there are such. */
static void check_address(struct gp_word_walk *w, const uint64_t word[2], unsigned uniform_at,
                          bool generic)
{
    const unsigned first = gp_bits(word, 24, 8);
    const uint64_t uniform = gp_bits(word, 91, 1) ? gp_uniform_upper(w, word, uniform_at) : 0;
    const uint64_t upper = uniform | (first < NO_REGISTER - 1 ? gp_registers(w, first + 1, 1) : 0);
    w->found |= upper;
    w->lost = w->lost || (generic && (upper & OF_DRIVER)); /* its own parameters, maybe */
}

static bool is_of_thread_or_block(enum gp_op op)
{
    return op == GP_OP_LDS || op == GP_OP_STS || op == GP_OP_LDL || op == GP_OP_STL ||
           op == GP_OP_ATOMS;
}

static void note_stored(struct gp_word_walk *w, uint64_t words)
{
    w->changed = w->changed || (words & ~w->memory);
    w->memory |= words;
}

/* Bits 64 to 71 name the second half of more than four registers. */
static void take_memory(struct gp_word_walk *w, const uint64_t word[2], unsigned bytes)
{
    const bool halves = bytes > 4 * MOST_IN_ROW;
    const unsigned count = halves ? MOST_IN_ROW : gp_registers_of(bytes);
    gp_write_registers(w, gp_bits(word, 16, 8), count, bytes == 0 || halves ? 0 : count,
                       bytes && bytes < 4 ? in_bytes(w->memory) : w->memory);
    if (halves)
        gp_write_registers(w, gp_bits(word, 64, 8), count, 0, w->memory);
}

static void load(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    if (!is_of_thread_or_block(i->op))
        check_address(w, word, 32, i->op == GP_OP_LD);
    take_memory(w, word, i->bytes);
}

static void store(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    const bool halves = i->bytes > 4 * MOST_IN_ROW;
    if (!is_of_thread_or_block(i->op))
        check_address(w, word, 64, false);
    if (halves)
        check_address(w, word, 32, false);
    note_stored(
        w, gp_registers(w, gp_bits(word, 32, 8), halves ? MOST_IN_ROW : gp_registers_of(i->bytes)));
    if (halves)
        note_stored(w, gp_registers(w, gp_bits(word, 64, 8), MOST_IN_ROW) |
                           gp_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW));
}

static void change(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    if (!is_of_thread_or_block(i->op)) {
        check_address(w, word, 64, false);
        check_address(w, word, 32, false);
    }
    note_stored(w, gp_registers(w, gp_bits(word, 32, 8), MOST_IN_ROW) |
                       gp_registers(w, gp_bits(word, 64, 8), MOST_IN_ROW));
    if (i->op != GP_OP_RED)
        gp_write_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW, 0, w->memory);
}

/* Each register has a word of its own. */
static void load_constants(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode,
                           bool to_uniform)
{
    const unsigned width = gp_constant_width(word), bank = gp_bits(word, 54, 5);
    const unsigned offset = gp_constant_offset(word, opcode), count = width < 4 ? 1 : width / 4;
    const bool by_number = opcode == ULDC || gp_bits(word, 24, 8) == NO_REGISTER;
    w->lost = w->lost || (bank == 0 && !by_number); /* any of the parameters */
    for (unsigned i = 0; i < count; i++) {
        const uint64_t own = bank != 0    ? 0
                             : width >= 4 ? gp_words_at(w, offset + 4 * i, 4)
                                          : in_bytes(gp_words_at(w, offset / 4 * 4, 4));
        if (to_uniform)
            gp_write_uniform_at(w, word, i, own);
        else
            gp_write_registers(w, gp_bits(word, 16, 8) + i, 1, 1, own);
    }
}

static uint64_t middle_operand(struct gp_word_walk *w, const uint64_t word[2])
{
    return gp_constant(w, word, 0, 4) |
           (gp_has_register(w, word) ? gp_registers(w, gp_bits(word, 32, 8), 1) : 0) |
           (gp_has_uniform(word) ? gp_uniform(w, word, 32, 1) : 0);
}

/* The upper half of the two that are added. */
static uint64_t upper_of_sum(struct gp_word_walk *w, const uint64_t word[2])
{
    if (!gp_third_is_elsewhere(word))
        return gp_registers(w, gp_bits(word, 64, 8) + 1, 1);
    if (gp_has_uniform(word))
        return gp_uniform_upper(w, word, 32);
    return gp_constant(w, word, 4, 4) |
           (gp_has_register(w, word) ? gp_registers(w, gp_bits(word, 32, 8) + 1, 1) : 0);
}

/* Words that are shifted by so many bits: by whole words, by bytes, or so that no part of an
 * address is left, as an index is by its size. */
static uint64_t shifted(uint64_t words, unsigned bits)
{
    return bits % 32 == 0 ? words : bits % 8 == 0 ? in_bytes(words) : 0;
}

/* Bits 9 to 11 say that bits 32 to 63 are a number. */
static bool has_number(const uint64_t word[2])
{
    return gp_bits(word, 9, 3) == 4;
}

static uint32_t number(const uint64_t word[2])
{
    return (uint32_t)(word[0] >> 32);
}

/* The bits by which a word is shifted that is multiplied with a power of two; else more than there
 * are. */
#define NO_SHIFT 33u
static unsigned bits_of_factor(const uint64_t word[2])
{
    const uint32_t factor = number(word);
    return has_number(word) && factor && (factor & (factor - 1)) == 0
               ? (unsigned)__builtin_ctz(factor)
               : NO_SHIFT;
}

/* The first factor, a word: compilers move and add by way of a product with one, and shift by way
 * of one with a power of two. Else it is no part of an address. */
static uint64_t multiplied(const uint64_t word[2], uint64_t words)
{
    return shifted(words, bits_of_factor(word));
}

/* Factors that are registers, or constants of the compiler's: either may be such a power. */
static uint64_t multiplied_by(uint64_t first, uint64_t second)
{
    return (second & FACTOR ? any_part(first) : 0) | (first & FACTOR ? any_part(second) : 0);
}

/* The upper half of its product, of 64 bits. */
static uint64_t multiplied_high(const uint64_t word[2], uint64_t words)
{
    const unsigned bits = bits_of_factor(word);
    return bits ? shifted(words, bits) : 0;
}

/* The second factor. Numbers of the compiler's are constants of the banks 2 to 4, too. */
static uint64_t second_operand(struct gp_word_walk *w, const uint64_t word[2])
{
    const bool elsewhere = gp_third_is_elsewhere(word);
    const bool of_compiler = gp_bits(word, 9, 3) == 5 && w->cc < 100 && gp_bits(word, 54, 5) != 0;
    return elsewhere ? gp_registers(w, gp_bits(word, 64, 8), 1)
                     : middle_operand(w, word) | (of_compiler ? FACTOR : 0);
}

static uint64_t upper_of_product(struct gp_word_walk *w, const uint64_t word[2])
{
    const uint64_t first = gp_registers(w, gp_bits(word, 24, 8), 1);
    return (upper_of_sum(w, word) | multiplied_high(word, first) |
            multiplied_by(first, second_operand(w, word))) &
           ~FACTOR;
}

static void multiply_wide(struct gp_word_walk *w, const uint64_t word[2])
{
    const unsigned to = gp_bits(word, 16, 8);
    const uint64_t all = gp_operands(w, word, 1, 2), upper = upper_of_product(w, word);
    gp_write_registers(w, to, 1, 1, all & ~FACTOR);
    gp_write_registers(w, to + 1, 1, 1, upper);
}

/* The upper half alone. */
static void multiply_high(struct gp_word_walk *w, const uint64_t word[2])
{
    gp_write_registers(w, gp_bits(word, 16, 8), 1, 1, upper_of_product(w, word));
}

/* The number that is added. */
static uint64_t third_operand(struct gp_word_walk *w, const uint64_t word[2])
{
    return gp_third_is_elsewhere(word) ? middle_operand(w, word)
                                       : gp_registers(w, gp_bits(word, 64, 8), 1);
}

/* A LEA shifts one word, or the upper half of two, to the left, and adds the one in the middle. */
static uint64_t shifted_sum(const uint64_t word[2], uint64_t first, uint64_t middle, uint64_t last)
{
    const unsigned bits = gp_bits(word, FIRST_OF_SHIFT, BITS_OF_SHIFT);
    if (gp_third_is_elsewhere(word))
        return any_part(first | middle | last);
    if (gp_bits(word, UPPER_HALF, 1))
        return middle | (bits ? shifted(first | last, bits) : last);
    return middle | shifted(first, bits);
}

static uint64_t shift(const uint64_t word[2], uint64_t words)
{
    return has_number(word) ? shifted(words, number(word) & 63) : any_part(words);
}

/* Numbers are moved by instructions that select or add as well, and by a product of zeros. */
static bool is_move(unsigned opcode)
{
    return opcode == MOV || opcode == SEL || opcode == FSEL || opcode == IMAD || opcode == IADD3 ||
           opcode == VIADD || opcode == HFMA2 || opcode == IADD;
}

static bool is_factor(uint32_t n)
{
    return n && (n & (n - 1)) == 0 && __builtin_ctz(n) % 8 == 0;
}

static bool moves_factor(const uint64_t word[2], unsigned opcode)
{
    const unsigned form = gp_bits(word, 9, 3);
    return is_move(opcode) && (form == 2 || form == 4) && is_factor(number(word));
}

static void compute(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i,
                    enum gp_word_kind of)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    const bool pairs = of != ARITHMETIC || gp_takes_pairs(word, opcode, w->cc);
    const unsigned count = pairs ? 2 : 1;
    uint64_t words = 0;
    const uint64_t first = gp_registers(w, gp_bits(word, 24, 8), 1);
    if (opcode == LEA)
        words = shifted_sum(word, first, middle_operand(w, word),
                            gp_registers(w, gp_bits(word, 64, 8), 1));
    else if (opcode == IMAD)
        words = third_operand(w, word) | multiplied(word, first) |
                multiplied_by(first, second_operand(w, word));
    else if (opcode == SHF)
        words = shift(word, gp_operands(w, word, 1, 1));
    else if (!pairs && (opcode == MOV || opcode == IABS))
        words = middle_operand(w, word);
    else if (!pairs && (opcode == SEL || opcode == FSEL || opcode == IMNMX || opcode == VIADD))
        words = first | middle_operand(w, word);
    else if (!gp_is_float(i->op, opcode) && opcode != FMNMX)
        words = gp_operands(w, word, count, count);
    words &= is_move(opcode) ? UINT64_MAX : ~FACTOR;
    words |= moves_factor(word, opcode) ? FACTOR : 0;
    if (opcode == PRMT || opcode == LOP3)
        words = in_bytes(words);
    /* A conversion, or a product's upper half, may write a single register. */
    gp_write_registers(w, gp_bits(word, 16, 8), count, 1, words);
}

static uint64_t upper_of_uniform_sum(const struct gp_word_walk *w, const uint64_t word[2],
                                     uint64_t in_middle)
{
    return gp_third_is_elsewhere(word) ? in_middle : gp_uniform_upper(w, word, 64);
}

static bool is_move_or_sum(unsigned opcode)
{
    return opcode == UMOV || opcode == USEL || opcode == UIADD3 || opcode == UIADD3_64;
}

/* Bits 9 to 11 say where the operand of bits 32 to 39 is no register. Since 10.0 others take pairs,
 * too. */
static void compute_uniform(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    const unsigned form = gp_bits(word, 9, 3);
    const unsigned count = opcode == UIMAD_WIDE || opcode == UIADD3_64 || w->cc >= 100 ? 2 : 1;
    const bool middle = form == 1 || form == 6 || form == 7;
    const uint64_t in_middle = middle ? gp_uniform(w, word, 32, count) : 0;
    const uint64_t first = opcode == UMOV ? 0 : gp_uniform(w, word, 24, count);
    const uint64_t last = opcode == UMOV || opcode == USEL ? 0 : gp_uniform(w, word, 64, count);
    const uint64_t all = first | in_middle | last;
    const bool elsewhere = gp_third_is_elsewhere(word);
    const uint64_t third = elsewhere ? in_middle : last, second = elsewhere ? last : in_middle;
    const bool factor = (opcode == UMOV || opcode == USEL) && form == 4 && is_factor(number(word));
    if (opcode == CS2UR || opcode == ELECT) {
        gp_write_uniform(w, word, 2, 0, 0);
    } else if (opcode == UIMAD_WIDE) {
        gp_write_uniform(w, word, 1, 1, all & ~FACTOR);
        gp_write_uniform_at(w, word, 1,
                            (upper_of_uniform_sum(w, word, in_middle) |
                             multiplied_high(word, first) | multiplied_by(first, second)) &
                                ~FACTOR);
    } else if (opcode == USHF) {
        gp_write_uniform(w, word, count, 1, shift(word, all) & ~FACTOR);
    } else if (opcode == UIMAD) {
        gp_write_uniform(w, word, count, 1,
                         third | multiplied(word, first) | multiplied_by(first, second));
    } else if (opcode == ULEA) {
        gp_write_uniform(w, word, count, 1, shifted_sum(word, first, in_middle, last) & ~FACTOR);
    } else if (is_move_or_sum(opcode)) {
        gp_write_uniform(w, word, count, 1, all | (factor ? FACTOR : 0));
    } else {
        gp_write_uniform(w, word, count, 1, any_part(all) & ~FACTOR);
    }
}

static void do_other(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    const unsigned opcode = i->opcode & OPCODE_MASK, to = gp_bits(word, 16, 8);
    const bool is_plain =
        opcode < FIRST_OF_MEMORY && (opcode == F2FP || !gp_is_matrix(opcode, w->cc));
    if (i->op == GP_OP_LDGSTS) {
        check_address(w, word, 64, false); /* memory is one piece */
        return;
    }
    if (gp_is_product_of_matrices(i->op) || gp_has_no_result(opcode) ||
        gp_has_predicates_alone(opcode))
        return;
    if (i->op == GP_OP_STSM || i->op == GP_OP_STAS || i->op == GP_OP_REDAS)
        note_stored(w, gp_all_operands(w, word, opcode));
    else if (opcode == LDSM)
        gp_write_registers(w, to, MOST_IN_ROW, 0, w->memory);
    else if (gp_is_uniform(opcode, w->cc))
        compute_uniform(w, word, opcode);
    else if (opcode == R2UR || opcode == R2UR_BY_PORT || opcode == REDUX || opcode == CREDUX)
        gp_write_uniform(w, word, 1, 1, gp_registers(w, gp_bits(word, 24, 8), 1));
    else if (is_plain)
        gp_write_registers(w, to, 1, 0, any_part(gp_operands(w, word, 2, 2)));
    else if (opcode == SHFL)
        gp_write_registers(w, to, 1, 0, gp_all_operands(w, word, opcode));
    else
        gp_write_registers(w, to, 2, 0, any_part(gp_all_operands(w, word, opcode)));
}

/* A CS2R writes two registers where bit 80 says so: they are cleared by it. */
static void clear(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    const unsigned count = opcode == CS2R && gp_bits(word, 80, 1) ? 2 : 1;
    gp_write_registers(w, gp_bits(word, 16, 8), count, count, 0);
}

static void step(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    const enum gp_word_kind kind = gp_word_kind_of(word, i, w->cc);
    w->lost = w->lost || gp_may_read_descriptors(i->op) || i->op == GP_OP_LDGMC;
    switch (kind) {
    case NOTHING:
    case COMPARISON:
        break;
    case SPECIAL:
        clear(w, word, opcode);
        break;
    case SPECIAL_UNIFORM:
        gp_write_uniform(w, word, 1, 1, 0);
        break;
    case WIDE:
        if (opcode == IMAD_WIDE)
            multiply_wide(w, word);
        else
            multiply_high(w, word);
        break;
    case ARITHMETIC:
    case DOUBLE:
        compute(w, word, i, kind);
        break;
    case CONSTANT:
    case TO_UNIFORM:
        load_constants(w, word, opcode, kind == TO_UNIFORM);
        break;
    case LOAD:
        load(w, word, i);
        break;
    case STORE:
        store(w, word, i);
        break;
    case ATOMIC:
        change(w, word, i);
        break;
    case UNKNOWN:
        do_other(w, word, i);
        break;
    case UNKNOWABLE:
        if (is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE))
            gp_write_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW, 0, w->memory);
        else
            w->lost = w->lost || opcode == UTMAPF || !gp_is_known_all_the_same(i->op, opcode);
        break;
    }
}

/* One walk, for the words from the first one on. */
static bool follow(const void *code, size_t size, int cc, unsigned first, uint64_t *found)
{
    struct gp_word_walk *w = calloc(1, sizeof(*w));
    if (!w)
        return false;
    w->step = step;
    w->most = WORDS_AT_ONCE;
    w->driver_end = gp_first_parameter(cc);
    w->of_driver = OF_DRIVER;
    w->first = w->driver_end + 4 * first;
    const bool known = gp_word_walk_through(w, code, size, cc);
    *found = w->found;
    free(w);
    return known;
}

static void set(uint64_t *bits, size_t i, uint64_t bit)
{
    bits[i / 64] |= bit << i % 64;
}

bool gp_code_address_words(const void *code, size_t size, int cc, unsigned count,
                           struct gp_address_words *words)
{
    const size_t walks = (count + WORDS_AT_ONCE - 1) / WORDS_AT_ONCE;
    if (count > GP_ADDRESS_WORDS || walks * (size / GP_INSTRUCTION_BYTES) > MOST_WALKED)
        return false;
    memset(words, 0, sizeof(*words));
    for (size_t i = count; i < GP_ADDRESS_WORDS; i++) { /* nobody has asked for them */
        set(words->whole, i, 1);
        set(words->in_bytes, i, 1);
    }
    for (unsigned first = 0; first < count; first += WORDS_AT_ONCE) {
        uint64_t found;
        if (!follow(code, size, cc, first, &found))
            return false;
        for (unsigned i = 0; i < WORDS_AT_ONCE && first + i < GP_ADDRESS_WORDS; i++) {
            set(words->whole, first + i, found >> i & 1);
            set(words->in_bytes, first + i, found >> (WORDS_AT_ONCE + i) & 1);
        }
    }
    return true;
}

static bool is_set(const uint64_t *bits, size_t i)
{
    return i >= GP_ADDRESS_WORDS || (bits[i / 64] >> i % 64 & 1);
}

bool gp_address_words_may(const struct gp_address_words *words, size_t at)
{
    const size_t first = (at + 4) / 4, last = (at + 7) / 4;
    return (is_set(words->in_bytes, first) && is_set(words->in_bytes, last)) ||
           (first == last && is_set(words->whole, first));
}
