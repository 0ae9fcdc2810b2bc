/* Where loaded numbers get to. The facts of a register:
 *
 * - HIGH: it may be the upper half of an address that was loaded from memory. A load of eight bytes
 * has it in every second register. Where words side by side are loaded one by one any of them may
 * be one, and a byte may be a part of one.
 * - LOADED: it depends on loaded numbers; an index, say.
 * - ANSWER: it depends on the answer of an atomic operation, on the multiprocessor, or on a clock,
 * which are others in each run.
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

enum { HIGH = 1, LOADED = 2, ANSWER = 4 };

enum {
    LANE = 0x00,
    FIRST_POSITION = 0x20,
    LAST_POSITION = 0x3f,
    FIRST_OF_CLUSTER = 0x80,
    LAST_OF_CLUSTER = 0x9f,
    SPECIAL_ZERO = 0xff,
};

/* Special registers, by bits 72 to 79: the position of a thread, block or cluster, sizes, masks,
 * and zero. Others say where and when a thread runs. */
static bool tells_position(const uint64_t word[2])
{
    const unsigned special = gp_bits(word, 72, 8);
    return special == LANE || is_between(special, FIRST_POSITION, LAST_POSITION) ||
           is_between(special, FIRST_OF_CLUSTER, LAST_OF_CLUSTER) || special == SPECIAL_ZERO;
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
 * the bit that is given; bit 91 says that there are such. */
static void check_address(struct gp_word_walk *w, const uint64_t word[2], unsigned uniform_at,
                          bool writes)
{
    const unsigned first = gp_bits(word, 24, 8);
    const uint64_t uniform = gp_bits(word, 91, 1) ? gp_uniform(w, word, uniform_at, 2) : 0;
    const uint64_t upper = first < NO_REGISTER - 1 ? gp_registers(w, first + 1, 1) : 0;
    check(w, gp_registers(w, first, 2) | uniform, upper | uniform, writes);
}

static bool is_of_thread_or_block(enum gp_op op)
{
    return op == GP_OP_LDS || op == GP_OP_STS || op == GP_OP_LDL || op == GP_OP_STL ||
           op == GP_OP_ATOMS;
}

/* The facts of the i-th register of a number that was loaded. */
static uint64_t loaded(const struct gp_word_walk *w, unsigned bytes, unsigned i)
{
    const bool any = bytes < 4 || bytes > 16 || (bytes == 4 && !w->words_apart);
    return LOADED | (any || (bytes >= 8 && i % 2) ? HIGH : 0);
}

static void take_loaded(struct gp_word_walk *w, const uint64_t word[2], unsigned bytes)
{
    const unsigned first = gp_bits(word, 16, 8);
    const unsigned count = bytes == 0 || bytes > 16 ? MOST_IN_ROW : bytes < 4 ? 1 : bytes / 4;
    const bool sure = bytes != 0 && bytes <= 16;
    for (unsigned i = 0; i < count; i++)
        gp_write_registers(w, first + i, 1, sure, loaded(w, bytes, i));
    if (bytes > 16)
        gp_write_registers(w, gp_bits(word, 64, 8), MOST_IN_ROW, 0, LOADED | HIGH);
}

/* A number of the thread's or the block's memory: as it was stored there, one way or the other. */
static void take_stored(struct gp_word_walk *w, const uint64_t word[2], unsigned bytes)
{
    const unsigned count = bytes == 0 || bytes > 16 ? MOST_IN_ROW : bytes < 4 ? 1 : bytes / 4;
    const bool sure = bytes != 0 && bytes <= 16;
    for (unsigned i = 0; i < count; i++)
        gp_write_registers(w, gp_bits(word, 16, 8) + i, 1, sure,
                           w->memory & (loaded(w, bytes, i) | ANSWER));
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
    const unsigned count = i->bytes == 0 || i->bytes > 16 ? MOST_IN_ROW : (i->bytes + 3u) / 4;
    const unsigned to = gp_bits(word, 16, 8);
    note_stored(w, LOADED | ANSWER | gp_registers(w, gp_bits(word, 32, 8), count));
    for (unsigned k = 0; k < count && i->op != GP_OP_RED; k++)
        gp_write_registers(w, to + k, 1, i->bytes ? 1 : 0, ANSWER | loaded(w, i->bytes, k));
}

/* Copies between the GPU's memory and that of a block. A descriptor's address stands in uniform
 * registers, as do the coordinates in it, of up to five dimensions. */
static void move_past_registers(struct gp_word_walk *w, const uint64_t word[2], enum gp_op op)
{
    const uint64_t all = gp_all_operands(w, word, gp_bits(word, 0, 9));
    if (op == GP_OP_LDGSTS)
        check_address(w, word, 64, false);
    else if (op == GP_OP_TMA_COPY)
        check(w, all, all, true);
    else
        check(w, gp_uniform(w, word, 24, 2) | gp_uniform(w, word, 32, 6),
              gp_uniform(w, word, 24, 2), op != GP_OP_TMA_LOAD);
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
    if (to_uniform)
        gp_write_uniform(w, word, count, count, facts);
    else
        gp_write_registers(w, gp_bits(word, 16, 8), count, count, facts);
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
    const unsigned to = gp_bits(word, 16, 8);
    gp_write_registers(w, to, 1, 1, all);
    gp_write_registers(w, to + 1, 1, 1, (all & ~(uint64_t)HIGH) | (upper & HIGH));
}

static void compute(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i,
                    enum gp_word_kind kind)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    const unsigned count = kind == ARITHMETIC ? 1 : 2;
    uint64_t facts = gp_operands(w, word, count, count) | operand_of_module(w, word);
    if (gp_is_float(i->op, opcode))
        facts &= ~(uint64_t)HIGH;
    gp_write_registers(w, gp_bits(word, 16, 8), count, 1, facts);
}

/* Bits 9 to 11 say where the operand of bits 32 to 39 is no register. */
static void compute_uniform(struct gp_word_walk *w, const uint64_t word[2], unsigned opcode)
{
    const unsigned form = gp_bits(word, 9, 3);
    const unsigned count = opcode == UIMAD_WIDE || opcode == UIADD3_64 ? 2 : 1;
    if (opcode == CS2UR) {
        gp_write_uniform(w, word, 2, 1, ANSWER);
        return;
    }
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
    if (gp_is_product_of_matrices(i->op) || gp_has_no_result(opcode) ||
        gp_has_predicates_alone(opcode))
        return;
    if (i->op == GP_OP_STSM || i->op == GP_OP_STAS || i->op == GP_OP_REDAS) {
        note_stored(w, gp_all_operands(w, word, opcode));
        return;
    }
    if (opcode == LDSM)
        gp_write_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW, 0, w->memory);
    else if (gp_is_uniform(opcode, w->cc))
        compute_uniform(w, word, opcode);
    else if (opcode == R2UR || opcode == R2UR_BY_PORT || opcode == REDUX || opcode == CREDUX)
        gp_write_uniform(w, word, 1, 1, gp_registers(w, gp_bits(word, 24, 8), 1));
    else if (is_plain)
        gp_write_registers(w, gp_bits(word, 16, 8), 1, 1,
                           gp_operands(w, word, 2, 2) | operand_of_module(w, word));
    else
        gp_write_registers(w, gp_bits(word, 16, 8), opcode == SHFL ? 1 : 2, 0,
                           gp_all_operands(w, word, opcode));
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
        gp_write_registers(w, gp_bits(word, 16, 8), 1, 1, tells_position(word) ? 0 : ANSWER);
        break;
    case SPECIAL_UNIFORM:
        gp_write_uniform(w, word, 1, 1, tells_position(word) ? 0 : ANSWER);
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
        if (opcode == ULDC_BY_REGISTER || opcode == ULDC_BY_ADDRESS)
            load_constants(w, word, opcode, true);
        else if (is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE))
            gp_write_registers(w, gp_bits(word, 16, 8), MOST_IN_ROW, 0, LOADED | HIGH);
        else
            w->lost = w->lost || !gp_is_known_all_the_same(i->op, opcode);
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
