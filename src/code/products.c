/* Where numbers come from is followed through the registers (word_walk.c). The facts of a register:
 *
 * - the numbers of threads and blocks on which it depends, and the parts of these
 *   (thread_parts.h): quotients and remainders, whether a shift, a mask, or a product with a
 *   reciprocal makes them. Threads in a row are divided into rows and columns that way;
 * - of a number as it was loaded: the same of its address, and of the address from which that was
 *   loaded, if it was;
 * - whether it was computed, and whether it is a sum of products of loaded numbers. A loaded number
 *   that a constant scales counts as loaded. */
#include "code/products.h"

#include "code/paths.h"
#include "code/registers.h"
#include "code/thread_parts.h"
#include "code/word_flow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_AND_BLOCK = 6, FIRST_OF_BLOCK_BIT = 3 };
#define NUMBERS ((UINT64_C(1) << GP_MOST_NUMBERS) - 1)
#define ADDRESS_BIT GP_MOST_NUMBERS
#define FROM_GLOBAL (UINT64_C(1) << 56)
#define FROM_SHARED (UINT64_C(1) << 57)
#define LOADED (FROM_GLOBAL | FROM_SHARED)
#define COMPUTED (UINT64_C(1) << 59)
#define SUM (UINT64_C(1) << 60)
#define NEGATED (UINT64_C(1) << 61)
#define RECIPROCAL (UINT64_C(1) << 62) /* an integer that was made of a quotient of floats */

/* S2R, S2UR: bits 72 to 79 name the special register: the three numbers of a thread, of a block. */
#define FIRST_OF_THREAD 0x21
#define LAST_OF_THREAD 0x23
#define FIRST_OF_BLOCK 0x25
#define LAST_OF_BLOCK 0x27

/* One that sums a product of two loaded numbers. */
struct candidate {
    uint32_t n;
    uint64_t factors[2], addend;
};

struct flow {
    struct gp_word_walk walk; /* first: the step gets it */
    struct candidate *list;   /* by instruction; n + 1 stands for one that is a candidate */
    struct gp_thread_parts parts;
};

bool gp_is_multiply_add(const void *code, size_t at, int cc)
{
    enum gp_op op = gp_instruction_decode((const char *)code + at, cc).op;
    return op == GP_OP_FFMA || op == GP_OP_FFMA2 || op == GP_OP_HFMA2;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static uint64_t of_special(const uint64_t word[2])
{
    const unsigned special = gp_bits(word, 72, 8);
    if (is_between(special, FIRST_OF_THREAD, LAST_OF_THREAD))
        return UINT64_C(1) << (special - FIRST_OF_THREAD);
    if (is_between(special, FIRST_OF_BLOCK, LAST_OF_BLOCK))
        return UINT64_C(1) << (FIRST_OF_BLOCK_BIT + special - FIRST_OF_BLOCK);
    return 0;
}

/* Bits 9 to 11: the second operand is a number. */
static bool has_number(const uint64_t word[2])
{
    return gp_bits(word, 9, 3) == 4;
}

/* ---- parts of the numbers of a thread -------------------------------------------------------- */

enum how { BY_BITS, BY_REST, BY_NUMBER, BY_INSTRUCTION };

static uint64_t part_of(struct gp_word_walk *w, uint64_t numbers, enum how how, uint64_t by,
                        uint32_t bits)
{
    struct gp_thread_parts *parts = &((struct flow *)w)->parts;
    return gp_thread_part(parts, (uint32_t)numbers, (uint64_t)how << 32 | by, bits);
}

/* The part that an instruction makes is known by the number in it, or else by itself. In a
 * subroutine, which divides numbers of 64 bits by many products, all is one. */
static uint64_t part_by(struct gp_word_walk *w, const uint64_t word[2], uint64_t numbers)
{
    const uint32_t begin = w->begin[w->n];
    return has_number(word) ? part_of(w, numbers, BY_NUMBER, word[0] >> 32, UINT32_MAX)
                            : part_of(w, numbers, BY_INSTRUCTION, begin ? begin : w->n, UINT32_MAX);
}

/* A number less a part of it: the remainder of a division, or a multiple of the divisor. */
static uint64_t difference(struct gp_word_walk *w, uint64_t positive, uint64_t negative)
{
    const struct gp_thread_parts *parts = &((struct flow *)w)->parts;
    const uint32_t implied = gp_thread_parts_implied(parts, (uint32_t)positive);
    return positive && negative && !(positive & negative) && !(negative & ~(uint64_t)implied)
               ? part_of(w, positive, BY_REST, negative, UINT32_MAX)
               : positive | negative;
}

/* A summand or a factor of integer arithmetic. */
struct term {
    uint64_t facts;
    bool is_zero, is_negative;
};

/* Bits 72, 63 and 75 negate the operands that stand in bits 24, 32 and 64; of a number, bit 63 is
 * the sign. */
static struct term term_at(const struct gp_word_walk *w, const uint64_t word[2], unsigned bit,
                           unsigned negation, bool is_uniform)
{
    const uint64_t facts =
        is_uniform ? gp_uniform(w, word, bit, 1) : gp_registers(w, gp_bits(word, bit, 8), 1);
    return (struct term){facts, !is_uniform && gp_bits(word, bit, 8) == NO_REGISTER,
                         gp_bits(word, negation, 1) != !!(facts & NEGATED)};
}

/* Operands are uniform registers, all of them, or the one in bits 32 to 39. */
static void read_terms(const struct gp_word_walk *w, const uint64_t word[2], bool all_uniform,
                       struct term terms[3])
{
    const bool is_register = all_uniform ? gp_bits(word, 9, 3) == 1 : gp_has_register(w, word);
    struct term second = {.is_negative = gp_bits(word, 63, 1)};
    if (is_register || gp_has_uniform(word))
        second = term_at(w, word, 32, 63, all_uniform || gp_has_uniform(word));
    const struct term third = term_at(w, word, 64, 75, all_uniform);
    const bool elsewhere = gp_third_is_elsewhere(word);
    terms[0] = term_at(w, word, 24, 72, all_uniform);
    terms[1] = elsewhere ? third : second;
    terms[2] = elsewhere ? second : third;
}

static struct term product_of(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode,
                              const struct term t[2])
{
    const uint64_t facts = t[0].facts | t[1].facts, numbers = facts & NUMBERS;
    const bool divides = opcode == IMAD_HI || (facts & RECIPROCAL);
    return (struct term){.facts = (facts & ~NUMBERS) |
                                  (divides && numbers ? part_by(w, word, numbers) : numbers),
                         .is_zero = t[0].is_zero || t[1].is_zero,
                         .is_negative = t[0].is_negative != t[1].is_negative};
}

static uint64_t sum_of(struct gp_word_walk *w, const struct term *terms, unsigned count)
{
    uint64_t facts = 0, signed_numbers[2] = {0};
    bool any[2] = {false};
    for (unsigned i = 0; i < count; i++) {
        facts |= terms[i].facts & ~(NUMBERS | NEGATED);
        signed_numbers[terms[i].is_negative] |= terms[i].facts & NUMBERS;
        any[terms[i].is_negative] |= !terms[i].is_zero;
    }
    if (signed_numbers[false] | signed_numbers[true])
        for (unsigned i = 0; i < 2; i++)
            any[i] = signed_numbers[i] != 0;
    const bool is_negative = any[true] && !any[false];
    return facts | difference(w, signed_numbers[false], signed_numbers[true]) |
           (is_negative ? NEGATED : 0);
}

/* SHF: bit 76 says that it goes to the right. LOP3: bits 72 to 79 have its table, that of "and". */
static uint64_t part_of_bits(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode,
                             uint64_t numbers)
{
    const uint32_t number = (uint32_t)(word[0] >> 32);
    if (opcode == SHF && has_number(word) && gp_bits(word, 76, 1))
        return part_of(w, numbers, BY_BITS, 0, UINT32_MAX << number % 32);
    if (opcode == LOP3 && has_number(word) && gp_bits(word, 72, 8) == 0xc0)
        return part_of(w, numbers, BY_BITS, 0, number);
    return numbers;
}

/* The facts of a result, but for whether it was computed; `all` are those of all operands. */
static uint64_t result_of(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode,
                          uint64_t all, bool all_uniform)
{
    struct term terms[3];
    uint64_t facts = all & ~NEGATED;
    read_terms(w, word, all_uniform, terms);
    switch (opcode) {
    case IADD3:
    case IADD:
    case VIADD:
        facts = (all & ~(NUMBERS | NEGATED)) | sum_of(w, terms, opcode == IADD3 ? 3 : 2);
        break;
    case IMAD:
    case IMAD_WIDE:
    case IMAD_HI:
        terms[1] = product_of(w, word, opcode, terms);
        facts = (all & ~(NUMBERS | NEGATED)) | sum_of(w, terms + 1, 2);
        break;
    case F2I:
    case F2I_64:
        facts = facts & NUMBERS ? (facts & ~NUMBERS) | part_by(w, word, facts & NUMBERS)
                                : facts | RECIPROCAL;
        break;
    case MOV:
        facts = all;
        break;
    default:
        facts = (facts & ~NUMBERS) | part_of_bits(w, word, opcode, facts & NUMBERS);
        break;
    }
    if (w->condition != NO_CONDITION) /* the sign is put right, as a rule */
        facts &= ~NEGATED;
    return facts & NUMBERS ? facts & ~RECIPROCAL : facts;
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* One number goes into it, which is moved, converted or cut out of a word. */
static bool is_of_one_number(const uint64_t word[2], unsigned opcode, int cc)
{
    struct gp_register_range operands[GP_MOST_OPERANDS];
    switch (opcode) {
    case MOV:
    case IMAD:
    case LOP3:
    case PRMT:
    case SHF:
    case HADD2:
    case I2F:
    case I2FP:
    case F2F:
        return gp_registers_read(word, cc, operands) == 1;
    default:
        return false;
    }
}

static uint64_t address_of(uint64_t factor)
{
    return factor >> ADDRESS_BIT & NUMBERS;
}

static bool is_as_loaded(uint64_t facts)
{
    return (facts & LOADED) && !(facts & COMPUTED);
}

/* Each operand has `least` registers at least. */
static uint64_t of_operands(const struct gp_word_walk *w, const uint64_t word[2], unsigned least)
{
    struct gp_register_range operands[GP_MOST_OPERANDS];
    const unsigned count = gp_registers_read(word, w->cc, operands);
    uint64_t facts = gp_has_uniform(word) ? gp_uniform(w, word, 32, least) : 0;
    for (unsigned o = 0; o < count; o++)
        facts |= gp_registers(w, operands[o].first,
                              operands[o].count > least ? operands[o].count : least);
    return facts;
}

/* The factors of a product of floating-point numbers, but for those that are constants. */
static void read_factors(const struct gp_word_walk *w, const uint64_t word[2], uint64_t factors[2])
{
    struct term terms[3];
    read_terms(w, word, false, terms);
    factors[0] = terms[0].facts;
    factors[1] = terms[1].facts;
}

/* Whether a product is one of two loaded numbers, or a loaded one that is scaled, or neither. */
static uint64_t of_product(uint64_t facts, const uint64_t factors[2])
{
    const bool loaded[2] = {is_as_loaded(factors[0]), is_as_loaded(factors[1])};
    if (loaded[0] && loaded[1])
        return facts | COMPUTED | SUM;
    const bool scales = (loaded[0] && !factors[1]) || (loaded[1] && !factors[0]);
    return facts | (scales || !(facts & LOADED) ? 0 : COMPUTED);
}

static void compute(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    const bool pairs = gp_takes_pairs(word, opcode, w->cc);
    const unsigned count = pairs ? 2 : gp_registers_written(word, w->cc).count;
    uint64_t facts = result_of(w, word, opcode, of_operands(w, word, pairs ? 2 : 1), false);
    uint64_t factors[2];
    if (opcode == FMUL || opcode == HMUL2) {
        read_factors(w, word, factors);
        facts = of_product(facts & ~SUM, factors);
    } else if (!is_of_one_number(word, opcode, w->cc)) {
        facts = (facts & ~SUM) | (facts & LOADED ? COMPUTED : 0);
    }
    gp_write_registers(w, gp_bits(word, 16, 8), count, count, facts);
}

/* Where a loaded number is in an address, it depends on the numbers of that one's own address. */
static uint64_t of_address(uint64_t address)
{
    return (address & NUMBERS) | (address & LOADED ? address_of(address) : 0);
}

/* The facts of the address of a load; of 64 bits the lower half says on which numbers it depends.
 */
static uint64_t read_address(const struct gp_word_walk *w, const uint64_t word[2], bool is_shared)
{
    const unsigned first = gp_bits(word, 24, 8);
    const bool has_uniform = gp_bits(word, 91, 1);
    uint64_t facts = gp_registers(w, first, 1) | (has_uniform ? gp_uniform(w, word, 32, 1) : 0);
    if (!is_shared)
        facts |=
            (gp_registers(w, first, 2) | (has_uniform ? gp_uniform(w, word, 32, 2) : 0)) & ~NUMBERS;
    return facts;
}

static void load(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    const bool is_shared = i->op == GP_OP_LDS;
    const unsigned count = i->bytes == 0 || i->bytes > 16 ? MOST_IN_ROW : (i->bytes + 3u) / 4;
    const uint64_t address = read_address(w, word, is_shared);
    const uint64_t facts = of_address(address) << ADDRESS_BIT | (i->op == GP_OP_LDL ? COMPUTED
                                                                 : is_shared        ? FROM_SHARED
                                                                                    : FROM_GLOBAL);
    gp_write_registers(w, gp_bits(word, 16, 8), count, i->bytes ? count : 0, facts);
    if (i->bytes > 16)
        gp_write_registers(w, gp_bits(word, 64, 8), MOST_IN_ROW, 0, facts);
}

/* The operand stands in bits 32 to 39 only where bits 9 to 11 say so. */
static void multiply_and_add(struct flow *f, const uint64_t word[2], unsigned opcode)
{
    struct gp_word_walk *w = &f->walk;
    const unsigned first = gp_bits(word, 24, 8), second = gp_bits(word, 32, 8);
    struct candidate c = {.factors = {gp_registers(w, first, 1), gp_registers(w, second, 1)},
                          .addend = gp_registers(w, gp_bits(word, 64, 8), 1)};
    if (gp_bits(word, 9, 3) != 1 || first == second || !is_as_loaded(c.factors[0]) ||
        !is_as_loaded(c.factors[1])) {
        f->list[w->n].n = 0;
        compute(w, word, opcode);
        return;
    }
    c.n = (uint32_t)w->n + 1;
    f->list[w->n] = c;
    gp_write_registers(w, gp_bits(word, 16, 8), 1, 1, SUM | COMPUTED);
}

/* Instructions of the uniform datapath, and those that go between it and the registers. */
static void do_other(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    if (gp_is_uniform(opcode, w->cc)) {
        const unsigned form = gp_bits(word, 9, 3);
        const unsigned count = opcode == UIMAD_WIDE || opcode == UIADD3_64 ? 2 : 1;
        const bool middle = form == 1 || form == 6 || form == 7;
        const uint64_t all = gp_uniform(w, word, 24, 1) | gp_uniform(w, word, 64, count) |
                             (middle ? gp_uniform(w, word, 32, count) : 0);
        gp_write_uniform(w, word, count, count,
                         result_of(w, word, opcode - FIRST_UNIFORM, all, true));
    } else if (opcode == R2UR || opcode == R2UR_BY_PORT) {
        gp_write_uniform(w, word, 1, 1, gp_registers(w, gp_bits(word, 24, 8), 1));
    } else {
        const struct gp_register_range to = gp_registers_written(word, w->cc);
        const uint64_t facts = result_of(w, word, opcode, of_operands(w, word, 1), false) & ~SUM;
        gp_write_registers(w, to.first, to.count, to.count,
                           facts | (facts & LOADED ? COMPUTED : 0));
    }
}

static void load_constant(struct gp_word_walk *w, const uint64_t word[2], bool to_uniform)
{
    static const uint8_t registers[8] = {1, 1, 1, 1, 1, 2, 4, 4};
    const unsigned count = registers[gp_bits(word, 73, 3)];
    if (to_uniform)
        gp_write_uniform(w, word, count, count, 0);
    else
        gp_write_registers(w, gp_bits(word, 16, 8), count, count, 0);
}

static void step(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    if (i->op == GP_OP_FFMA || i->op == GP_OP_HFMA2 || i->op == GP_OP_FFMA2) {
        multiply_and_add((struct flow *)w, word, opcode);
        return;
    }
    const enum gp_word_kind kind = gp_word_kind_of(word, i, w->cc);
    switch (kind) {
    case NOTHING:
    case COMPARISON:
    case STORE:
        break;
    case SPECIAL:
        gp_write_registers(w, gp_bits(word, 16, 8), 1, 1, of_special(word));
        break;
    case SPECIAL_UNIFORM:
        gp_write_uniform(w, word, 1, 1, of_special(word));
        break;
    case ARITHMETIC:
    case DOUBLE:
    case WIDE:
        compute(w, word, opcode);
        break;
    case CONSTANT:
    case TO_UNIFORM:
        load_constant(w, word, kind == TO_UNIFORM);
        break;
    case LOAD:
        load(w, word, i);
        break;
    case ATOMIC:
    case UNKNOWN:
    case UNKNOWABLE:
        do_other(w, word, opcode);
        break;
    }
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* One belongs to rows of the result, one to columns: neither follows from the other. */
static bool are_of_row_and_column(const struct gp_thread_parts *parts, const struct candidate *c)
{
    const uint32_t a = (uint32_t)address_of(c->factors[0]), b = (uint32_t)address_of(c->factors[1]);
    return (a & ~gp_thread_parts_implied(parts, b)) && (b & ~gp_thread_parts_implied(parts, a));
}

struct loop {
    size_t first, last;
    size_t products, numbers; /* candidates, and the loaded numbers that they use */
};

/* Counts the candidates of the loop, and their numbers: each is used until its register is written
 * again. */
static void count_uses(struct loop *l, const struct flow *f, const struct gp_paths *p)
{
    bool is_counted[256] = {false};
    for (size_t n = l->first; n <= l->last && n < p->count; n++) {
        uint64_t word[2];
        gp_paths_word(p, n, word);
        if (f->list[n].n) {
            const unsigned factors[2] = {gp_bits(word, 24, 8), gp_bits(word, 32, 8)};
            for (unsigned i = 0; i < 2; i++) {
                l->numbers += !is_counted[factors[i]];
                is_counted[factors[i]] = true;
            }
            l->products++;
        }
        const struct gp_register_range written = gp_registers_written(word, p->cc);
        for (unsigned r = written.first; r < written.first + written.count && r < 256; r++)
            is_counted[r] = false;
    }
}

/* A matrix-vector product has one number more than products, in one thread. */
static bool uses_numbers_again(const struct loop *l)
{
    return l->products >= l->numbers && l->products > 1;
}

/* Each number is used four times or more, as in a tile of four by four sums: this is a product of
 * matrices by itself. The two parts of a complex number are two columns, and less. */
static bool computes_tile(const struct loop *l)
{
    return l->products >= 2 * l->numbers && l->products > 1;
}

static enum gp_product kind_of(const struct loop *l, const struct gp_thread_parts *parts,
                               const struct candidate *c)
{
    if (!(c->addend & SUM) || !(computes_tile(l) || are_of_row_and_column(parts, c)))
        return GP_NO_PRODUCT;
    return uses_numbers_again(l) || (c->factors[0] | c->factors[1]) & FROM_SHARED
               ? GP_PRODUCT
               : GP_PLAIN_PRODUCT;
}

static void judge(struct gp_products *found, const struct flow *f, const struct gp_paths *p)
{
    struct loop l = {.first = SIZE_MAX};
    for (size_t n = 0; n < found->count && n < p->count; n++) {
        size_t first, last;
        if (!f->list[n].n || !gp_paths_loop(p, n, &first, &last))
            continue;
        if (first != l.first || last != l.last) {
            l = (struct loop){.first = first, .last = last};
            count_uses(&l, f, p);
        }
        found->of[n] = (unsigned char)kind_of(&l, &f->parts, &f->list[n]);
    }
}

static bool any_candidate(const struct flow *f)
{
    for (size_t n = 0; n < f->walk.count; n++)
        if (f->list[n].n)
            return true;
    return false;
}

static bool has_multiply_add(const void *code, size_t size, int cc)
{
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES)
        if (gp_is_multiply_add(code, at, cc))
            return true;
    return false;
}

/* False where it is not known. */
static bool find(struct gp_products *found, struct flow *f, const void *code, size_t size, int cc)
{
    f->walk.step = step;
    f->walk.first = UINT32_MAX; /* words of parameters are no facts here */
    f->parts.given = THREAD_AND_BLOCK;
    if (!gp_word_walk_through(&f->walk, code, size, cc))
        return false;
    if (!any_candidate(f))
        return true;
    struct gp_paths *paths = gp_paths_open(code, size, cc);
    if (paths)
        judge(found, f, paths);
    gp_paths_close(paths);
    return paths != NULL;
}

struct gp_products *gp_products_find(const void *code, size_t size, int cc)
{
    struct gp_products *found = calloc(1, sizeof(*found));
    struct flow *f = calloc(1, sizeof(*f));
    const size_t count = size / GP_INSTRUCTION_BYTES;
    bool known = found && f;
    if (known) {
        *found = (struct gp_products){code, count, calloc(count + 1, 1)};
        f->list = calloc(count + 1, sizeof(*f->list));
        known = found->of && f->list &&
                (!has_multiply_add(code, size, cc) || find(found, f, code, size, cc));
    }
    if (f)
        free(f->list);
    free(f);
    if (known)
        return found;
    gp_products_free(found);
    return NULL;
}

void gp_products_free(struct gp_products *p)
{
    if (p)
        free(p->of);
    free(p);
}

enum gp_product gp_products_at(const struct gp_products *p, size_t at)
{
    const size_t n = at / GP_INSTRUCTION_BYTES;
    return n < p->count ? (enum gp_product)p->of[n] : GP_NO_PRODUCT;
}
