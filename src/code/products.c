/* Where numbers come from is followed through the registers (word_walk.c). The facts of a register:
 *
 * - the numbers of threads and blocks on which it depends; of a thread's number the upper and the
 *   lower bits by themselves, where a shift or a mask takes these: threads of a block in a row are
 *   divided into rows and columns that way;
 * - of a number as it was loaded: the same of its address, and whether that was loaded;
 * - whether it was computed, and whether it is a sum of products of loaded numbers. */
#include "code/products.h"

#include "code/paths.h"
#include "code/registers.h"
#include "code/word_flow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a thread have three facts each: all of it, its upper bits, its lower bits. */
enum {
    ALL_OF_THREAD = 0x49,
    UPPER_OF_THREAD = ALL_OF_THREAD << 1,
    LOWER_OF_THREAD = ALL_OF_THREAD << 2,
    FIRST_OF_BLOCK_BIT = 9,
    NUMBERS = 0xfff,
    AT_LOADED = 1 << 12, /* of an address: a loaded number is in it */
};
#define ADDRESS_BIT 16
#define FROM_GLOBAL (UINT64_C(1) << 32)
#define FROM_SHARED (UINT64_C(1) << 33)
#define LOADED (FROM_GLOBAL | FROM_SHARED)
#define COMPUTED (UINT64_C(1) << 34)
#define SUM (UINT64_C(1) << 35)

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
        return UINT64_C(1) << 3 * (special - FIRST_OF_THREAD);
    if (is_between(special, FIRST_OF_BLOCK, LAST_OF_BLOCK))
        return UINT64_C(1) << (FIRST_OF_BLOCK_BIT + special - FIRST_OF_BLOCK);
    return 0;
}

/* A part of the thread's numbers is left of them all. */
static uint64_t part_of(uint64_t facts, unsigned part)
{
    const uint64_t all = facts & ALL_OF_THREAD;
    return (facts & ~(uint64_t)ALL_OF_THREAD) | all << (part == UPPER_OF_THREAD ? 1 : 2);
}

/* Bits 9 to 11: the second operand is a number. */
static bool has_number(const uint64_t word[2])
{
    return gp_bits(word, 9, 3) == 4;
}

/* A mask of the lowest bits. */
static bool is_of_lower(uint32_t number)
{
    return number != 0 && (number & (number + 1)) == 0;
}

/* A mask without these; an offset in bytes may have been made of the number before. */
#define ROW_OF_BYTES 0x1fu
static bool is_of_upper(uint32_t number)
{
    return number != 0 && ((number & ROW_OF_BYTES) == 0 || is_of_lower(~number));
}

/* SHF: bit 76 says that it goes to the right. LOP3: bits 72 to 79 have its table, that of "and". */
static uint64_t take_part(const uint64_t word[2], unsigned opcode, uint64_t facts)
{
    const uint32_t number = (uint32_t)(word[0] >> 32);
    if (opcode == SHF && has_number(word) && gp_bits(word, 76, 1))
        return part_of(facts, UPPER_OF_THREAD);
    if (opcode == LOP3 && has_number(word) && gp_bits(word, 72, 8) == 0xc0)
        return is_of_lower(number)   ? part_of(facts, LOWER_OF_THREAD)
               : is_of_upper(number) ? part_of(facts, UPPER_OF_THREAD)
                                     : facts;
    return facts;
}

/* One number goes into it, which is moved, widened or cut out of a word. */
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
        return gp_registers_read(word, cc, operands) == 1;
    default:
        return false;
    }
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

static void compute(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode,
                    enum gp_word_kind kind)
{
    const bool pairs = gp_takes_pairs(word, opcode, w->cc);
    const unsigned count = kind == ARITHMETIC && !pairs ? 1 : 2;
    uint64_t facts = take_part(word, opcode, of_operands(w, word, pairs ? 2 : 1));
    if (!is_of_one_number(word, opcode, w->cc))
        facts = (facts & ~SUM) | (facts & LOADED ? COMPUTED : 0);
    /* A conversion, or a product's upper half, may write a single register. */
    const bool both =
        pairs || opcode == IMAD_WIDE || opcode == IADD || is_between(opcode, DMUL, DFMA);
    gp_write_registers(w, gp_bits(word, 16, 8), count, both ? count : 1, facts);
}

static void load(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    const bool is_shared = i->op == GP_OP_LDS;
    const unsigned count = i->bytes == 0 || i->bytes > 16 ? MOST_IN_ROW : (i->bytes + 3u) / 4;
    const uint64_t uniform = gp_bits(word, 91, 1) ? gp_uniform(w, word, 32, is_shared ? 1 : 2) : 0;
    const uint64_t address = gp_registers(w, gp_bits(word, 24, 8), is_shared ? 1 : 2) | uniform;
    const uint64_t of_address = (address & NUMBERS) | (address & LOADED ? AT_LOADED : 0);
    const uint64_t facts = of_address << ADDRESS_BIT | (i->op == GP_OP_LDL ? COMPUTED
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
        compute(w, word, opcode, ARITHMETIC);
        return;
    }
    c.n = (uint32_t)w->n + 1;
    f->list[w->n] = c;
    gp_write_registers(w, gp_bits(word, 16, 8), 1, 1, SUM | COMPUTED);
}

enum { FIRST_UNIFORM = 0x080, UIADD3_64 = 0x097, UIMAD_WIDE = 0x0a5, LAST_UNIFORM = 0x0bf };

static bool is_uniform(unsigned opcode)
{
    return is_between(opcode, FIRST_UNIFORM, LAST_UNIFORM);
}

/* Instructions of the uniform datapath, and those that go between it and the registers. */
static void do_other(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    if (is_uniform(opcode)) {
        const unsigned form = gp_bits(word, 9, 3);
        const unsigned count = opcode == UIMAD_WIDE || opcode == UIADD3_64 ? 2 : 1;
        const bool middle = form == 1 || form == 6 || form == 7;
        gp_write_uniform(w, word, count, count,
                         gp_uniform(w, word, 24, 1) | gp_uniform(w, word, 64, count) |
                             (middle ? gp_uniform(w, word, 32, count) : 0));
    } else if (opcode == R2UR) {
        gp_write_uniform(w, word, 1, 1, gp_registers(w, gp_bits(word, 24, 8), 1));
    } else {
        const struct gp_register_range to = gp_registers_written(word, w->cc);
        const uint64_t facts = of_operands(w, word, 1) & ~SUM;
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
        compute(w, word, opcode, kind);
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

/* All of a thread's number implies its parts. */
static uint64_t with_parts(uint64_t numbers)
{
    const uint64_t all = numbers & ALL_OF_THREAD;
    return numbers | all << 1 | all << 2;
}

static uint64_t address_of(uint64_t factor)
{
    return factor >> ADDRESS_BIT & (NUMBERS | AT_LOADED);
}

/* One belongs to rows of the result, one to columns. */
static bool are_of_row_and_column(const struct candidate *c)
{
    const uint64_t a = with_parts(address_of(c->factors[0])),
                   b = with_parts(address_of(c->factors[1]));
    return (a & ~b) && (b & ~a);
}

/* Both addresses are known, and not those of all threads. */
static bool may_be_of_matrices(const struct candidate *c)
{
    const uint64_t a = address_of(c->factors[0]), b = address_of(c->factors[1]);
    return a && b && !((a | b) & AT_LOADED) && (c->addend & SUM);
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

static enum gp_product kind_of(const struct loop *l, const struct candidate *c)
{
    const bool again = uses_numbers_again(l);
    if (!may_be_of_matrices(c) || !(again || are_of_row_and_column(c)))
        return GP_NO_PRODUCT;
    return again || (c->factors[0] | c->factors[1]) & FROM_SHARED ? GP_PRODUCT : GP_PLAIN_PRODUCT;
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
        found->of[n] = (unsigned char)kind_of(&l, &f->list[n]);
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
