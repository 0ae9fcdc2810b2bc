/* Where loaded numbers get to. The facts of a register:
 *
 * - HIGH: it may be the upper half of an address that was loaded from memory. A load of eight bytes
 * has it in every second register. Where words side by side are loaded one by one any of them may
 * be one, and a byte may be a part of one.
 * - LOADED: it depends on loaded numbers; an index, say.
 * - ANSWER: it depends on the answer of an atomic operation, which is another one in each run.
 *
 * An address is two registers side by side. The product of two words, added to two registers, keeps
 * the upper half of these: so an index times a size is no address. Floating-point arithmetic makes
 * no addresses. Memory of a block and of a thread is one piece: it has the facts of all numbers
 * that are stored there, and any, where copies go there past the registers.
 *
 * Descriptors of the TMA lie among the parameters, or where an address leads that is followed here.
 */
#include "code/address_flow.h"

#include "code/word_flow.h"

#include <stdlib.h>

enum { HIGH = 1, LOADED = 2, ANSWER = 4, ANY = 7 };

enum {
    LOAD_OF_MATRICES = LDSM,
    F2FP = 0x03e,
    FIRST_UNIFORM = 0x080,
    UIMAD_WIDE = 0x0a5,
    LAST_UNIFORM = 0x0bf,
    ENDCOLLECTIVE = 0x11b,
    R2UR_BY_PORT = 0x0ca,
    TMA_PREFETCH = UTMAPF,
    BULK_PREFETCH = UBLKPF,
    CONSTANTS_BY_REGISTER = ULDC_BY_REGISTER,
};

static bool is_float(enum gp_op op, unsigned opcode)
{
    switch (op) {
    case GP_OP_FADD:
    case GP_OP_FMUL:
    case GP_OP_FFMA:
    case GP_OP_FADD2:
    case GP_OP_FMUL2:
    case GP_OP_FFMA2:
    case GP_OP_FHADD:
    case GP_OP_FHFMA:
    case GP_OP_DADD:
    case GP_OP_DMUL:
    case GP_OP_DFMA:
    case GP_OP_HADD2:
    case GP_OP_HMUL2:
    case GP_OP_HFMA2:
        return true;
    default:
        return opcode == MUFU || opcode == I2FP || is_between(opcode, F2F, FRND);
    }
}

/* Matrices of numbers, and asynchronous ones. */
static bool is_product_of_matrices(enum gp_op op)
{
    return op >= GP_OP_HMMA && op <= GP_OP_UTCMMA;
}

static void check(struct gp_word_walk *w, uint64_t all, uint64_t upper, bool writes)
{
    if (upper & HIGH)
        w->found |= GP_ADDRESS_LOADED;
    if (all & ANSWER)
        w->found |= GP_ADDRESS_FROM_ANSWER;
    if (writes && (all & LOADED))
        w->found |= GP_WRITES_AT_LOADED;
}

/* The address stands in two registers from bit 24 on, or in one, an offset to two uniform ones, at
 * the bit that is given. */
static void check_address(struct gp_word_walk *w, const uint64_t word[2], unsigned uniform_at,
                          bool writes)
{
    const unsigned first = gp_bits(word, 24, 8);
    const uint64_t all = gp_registers(w, first, 2) | gp_uniform(w, word, uniform_at, 2);
    const uint64_t upper = first < NO_REGISTER - 1 ? gp_registers(w, first + 1, 1) : 0;
    check(w, all, upper | gp_uniform(w, word, uniform_at, 2), writes);
}

static bool is_of_thread_or_block(enum gp_op op)
{
    return op == GP_OP_LDS || op == GP_OP_STS || op == GP_OP_LDL || op == GP_OP_STL ||
           op == GP_OP_ATOMS;
}

static void take_loaded(struct gp_word_walk *w, const uint64_t word[2], unsigned bytes)
{
    const unsigned first = gp_bits(word, 16, 8);
    const unsigned count = bytes == 0 || bytes > 16 ? MOST_IN_ROW : bytes < 4 ? 1 : bytes / 4;
    const bool sure = bytes != 0 && bytes <= 16;
    const bool any_high = bytes < 4 || bytes > 16 || (bytes == 4 && !w->words_apart);
    for (unsigned i = 0; i < count; i++)
        gp_write_registers(w, first + i, 1, sure,
                           LOADED | (any_high || (bytes >= 8 && i % 2) ? HIGH : 0));
    if (bytes > 16)
        gp_write_registers(w, gp_bits(word, 64, 8), MOST_IN_ROW, 0, LOADED | HIGH);
}

static void take_stored(struct gp_word_walk *w, const uint64_t word[2], unsigned bytes)
{
    const unsigned count = bytes == 0 || bytes > 16 ? MOST_IN_ROW : bytes < 4 ? 1 : bytes / 4;
    gp_write_registers(w, gp_bits(word, 16, 8), count, bytes == 0 || bytes > 16 || count,
                       w->memory);
}

static void note_stored(struct gp_word_walk *w, uint64_t facts)
{
    w->changed = w->changed || (facts & ~w->memory);
    w->memory |= facts;
}

static void load(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    if (is_of_thread_or_block(i->op)) {
        take_stored(w, word, i->bytes);
        return;
    }
    check_address(w, word, 32, false);
    take_loaded(w, word, i->bytes);
}

static void store(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    if (!is_of_thread_or_block(i->op))
        check_address(w, word, 64, true);
    if (is_of_thread_or_block(i->op) || i->op == GP_OP_ST)
        note_stored(w, gp_registers(w, gp_bits(word, 32, 8), MOST_IN_ROW));
}

static void change(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    if (!is_of_thread_or_block(i->op)) {
        check_address(w, word, 64, true);
        check_address(w, word, 32, true);
    }
    if (i->op != GP_OP_RED)
        gp_write_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW, 0, ANY);
    note_stored(w, ANSWER | LOADED | HIGH);
}

/* Copies between the GPU's memory and that of a block: the descriptor or the address stands in
 * uniform registers. */
static void move_past_registers(struct gp_word_walk *w, const uint64_t word[2], enum gp_op op)
{
    const unsigned opcode = gp_bits(word, 0, 9);
    const uint64_t facts = gp_all_operands(w, word, opcode);
    check(w, facts, facts, op != GP_OP_TMA_LOAD && op != GP_OP_LDGSTS);
    note_stored(w, LOADED | HIGH);
}

static void load_constants(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode,
                           bool to_uniform)
{
    static const uint8_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 16};
    const unsigned width = bytes[gp_bits(word, 73, 3)], bank = gp_bits(word, 54, 5);
    const unsigned count = width < 4 ? 1 : width / 4;
    const bool of_host = opcode == ULDC_BY_ADDRESS || (bank != 0 && bank != 2 && bank != 4);
    const uint64_t facts = of_host ? LOADED | HIGH : 0;
    const unsigned surely = count;
    if (to_uniform)
        gp_write_uniform(w, word, count, surely, facts);
    else
        gp_write_registers(w, gp_bits(word, 16, 8), count, surely, facts);
}

/* The constants of a module as an operand: bits 9 to 11 say that one is a constant, 54 to 58 the
 * bank. */
static uint64_t operand_of_module(const struct gp_word_walk *w, const uint64_t word[2])
{
    const unsigned form = gp_bits(word, 9, 3), bank = gp_bits(word, 54, 5);
    const bool constant = (form == 3 || form == 5) && w->cc < 100;
    return constant && bank != 0 && bank != 2 && bank != 4 ? LOADED | HIGH : 0;
}

static void multiply_wide(struct gp_word_walk *w, const uint64_t word[2])
{
    const bool elsewhere = gp_third_is_elsewhere(word);
    const unsigned form = gp_bits(word, 9, 3);
    const uint64_t all = gp_operands(w, word, 1, 2) | operand_of_module(w, word);
    const unsigned first = elsewhere ? gp_bits(word, 32, 8) : gp_bits(word, 64, 8);
    uint64_t upper = 0;
    /* The two that are added: a constant or a number has no facts but those of its module. */
    if (!elsewhere || form == 1)
        upper = gp_registers(w, first, 2);
    else if (form == 7 || form == 6)
        upper = gp_uniform(w, word, 32, 2);
    else
        upper = operand_of_module(w, word);
    const unsigned to = gp_bits(word, 16, 8), surely = 1;
    gp_write_registers(w, to, 1, surely, all);
    gp_write_registers(w, to + 1, 1, surely, (all & ~(uint64_t)HIGH) | (upper & HIGH));
}

static void compute(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i,
                    enum gp_word_kind kind)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    const unsigned count = kind == ARITHMETIC ? 1 : 2;
    uint64_t facts = gp_operands(w, word, count, count) | operand_of_module(w, word);
    if (is_float(i->op, opcode))
        facts &= ~(uint64_t)HIGH;
    gp_write_registers(w, gp_bits(word, 16, 8), count, 1, facts);
}

static bool is_uniform(unsigned opcode)
{
    return is_between(opcode, FIRST_UNIFORM, LAST_UNIFORM);
}

/* Bits 9 to 11 say where the operand of bits 32 to 39 is no register. */
static void compute_uniform(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    const unsigned form = gp_bits(word, 9, 3), count = opcode == UIMAD_WIDE ? 2 : 1;
    const bool middle = form == 1 || form == 6 || form == 7;
    const uint64_t facts = gp_uniform(w, word, 24, 1) | gp_uniform(w, word, 64, count) |
                           (middle ? gp_uniform(w, word, 32, count) : 0);
    gp_write_uniform(w, word, count, count, facts | operand_of_module(w, word));
}

/* The results of plain arithmetic, and of instructions of no known kind. Those that direct threads
 * have none. */
static void do_other(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    const bool is_plain =
        opcode < FIRST_OF_MEMORY && (opcode == F2FP || !gp_is_matrix(opcode, w->cc));
    if (is_product_of_matrices(i->op) || is_between(opcode, BSYNC, RET) || opcode == ENDCOLLECTIVE)
        return;
    if (opcode == LOAD_OF_MATRICES)
        gp_write_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW, 0, w->memory);
    else if (is_uniform(opcode))
        compute_uniform(w, word, opcode);
    else if (opcode == R2UR || opcode == R2UR_BY_PORT)
        gp_write_uniform(w, word, 1, 1, gp_registers(w, gp_bits(word, 24, 8), 1));
    else if (is_plain)
        gp_write_registers(w, gp_bits(word, 16, 8), 1, 1,
                           gp_operands(w, word, 2, 2) | operand_of_module(w, word));
    else
        gp_write_registers(w, gp_bits(word, 16, 8), opcode == SHFL ? 1 : 2, 0,
                           gp_all_operands(w, word, opcode));
}

static bool is_known_all_the_same(enum gp_op op, unsigned opcode)
{
    return is_product_of_matrices(op) || opcode == TMA_PREFETCH || opcode == BULK_PREFETCH ||
           is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE);
}

static void step(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    switch (i->op) {
    case GP_OP_LDGSTS:
    case GP_OP_TMA_LOAD:
    case GP_OP_TMA_STORE:
    case GP_OP_TMA_REDUCE:
    case GP_OP_TMA_COPY:
        move_past_registers(w, word, i->op);
        return;
    case GP_OP_UNKNOWN:
    case GP_OP_LDGMC:
        w->lost = true;
        return;
    default:
        break;
    }
    const enum gp_word_kind kind = gp_word_kind_of(word, i, w->cc);
    switch (kind) {
    case NOTHING:
    case COMPARISON:
        break;
    case SPECIAL:
        gp_write_registers(w, gp_bits(word, 16, 8), 1, 1, 0);
        break;
    case SPECIAL_UNIFORM:
        gp_write_uniform(w, word, 1, 1, 0);
        break;
    case WIDE:
        if (opcode == IMAD_WIDE)
            multiply_wide(w, word);
        else
            compute(w, word, i, DOUBLE);
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
        if (opcode == CONSTANTS_BY_REGISTER || opcode == ULDC_BY_ADDRESS)
            load_constants(w, word, ULDC_BY_ADDRESS, true);
        else if (is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE))
            gp_write_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW, 0, LOADED | HIGH);
        else
            w->lost = w->lost || !is_known_all_the_same(i->op, opcode);
        break;
    }
}

bool gp_address_flow(const void *code, size_t size, int cc, bool words_apart, unsigned *found)
{
    struct gp_word_walk *w = calloc(1, sizeof(*w));
    if (!w)
        return false;
    w->step = step;
    w->words_apart = words_apart;
    w->first = UINT32_MAX; /* words of parameters are no facts here */
    const bool known = gp_word_walk_through(w, code, size, cc);
    *found = (unsigned)w->found;
    free(w);
    return known;
}
