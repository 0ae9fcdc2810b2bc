/* As ptxas writes them since compute capability 7.0:
 *
 *     I2F.RP R5, R2                      a reciprocal that is too large by nothing
 *     MUFU.RCP R5, R5
 *     IADD3 R9, R5, 0xffffffe            and made a little smaller, by its bits
 *     F2I.FTZ.U32.TRUNC R9, R9
 *     IMAD.HI.U32 R3, R9, R3, R8         better by one step; all of this may stand before a loop
 *
 *     IMAD.HI.U32 R11, R3, R17, RZ       the quotient
 *     IMAD R3, R12, R3, R17              the remainder, and the corrections of both */
#include "code/divisions.h"

#include "code/registers.h"
#include "code/word_flow.h"

#include <string.h>

/* Added to the bits of a reciprocal, of 32 bits and of 64. */
#define LESS 0x0ffffffeu
#define LESS_64 0x1ffffffeu

/* A division's last instruction comes so many behind its quotient at most, among others that the
 * compiler puts between; so many are its own. */
#define REACH 32
#define MOST_OF_ONE 12

/* A register's writer is searched so far back. */
#define BACK 64

#define PREDICATES 8u

struct code {
    const unsigned char *bytes;
    size_t count;
    int cc;
    bool *marks;
    bool reciprocal[256]; /* registers that hold one, in the order of the code */
};

static void read_word(const struct code *c, size_t n, uint64_t word[2])
{
    memcpy(word, c->bytes + n * GP_INSTRUCTION_BYTES, GP_INSTRUCTION_BYTES);
}

static bool holds(struct gp_register_range range, unsigned reg)
{
    return reg >= range.first && reg < range.first + range.count;
}

/* The last instruction before n that writes the register; n where there is none near. */
static size_t writer_of(const struct code *c, size_t n, unsigned reg)
{
    for (size_t at = n; at > 0 && n - at < BACK;) {
        uint64_t word[2];
        read_word(c, --at, word);
        if (holds(gp_registers_written(word, c->cc), reg))
            return at;
    }
    return n;
}

/* Moves *n to the writer of the only operand of number *n; its word is read. */
static bool go_back(const struct code *c, size_t *n, unsigned reg, uint64_t word[2])
{
    const size_t writer = writer_of(c, *n, reg);
    if (reg == NO_REGISTER || writer == *n)
        return false;
    *n = writer;
    read_word(c, writer, word);
    return true;
}

static bool makes_less(const uint64_t word[2])
{
    const unsigned opcode = gp_bits(word, 0, 9);
    const uint32_t number = (uint32_t)(word[0] >> 32);
    return (opcode == IADD3 || opcode == VIADD || opcode == IADD) && gp_bits(word, 9, 3) == 4 &&
           (number == LESS || number == LESS_64);
}

/* Number n is a F2I; marks its chain where it is the reciprocal of an integer. */
static bool mark_reciprocal(struct code *c, size_t n)
{
    uint64_t word[2];
    size_t less = n, inverse, from;
    read_word(c, n, word);
    if (!go_back(c, &less, gp_bits(word, 32, 8), word) || !makes_less(word))
        return false;
    inverse = less;
    if (!go_back(c, &inverse, gp_bits(word, 24, 8), word) || gp_bits(word, 0, 9) != MUFU)
        return false;
    from = inverse;
    c->marks[n] = c->marks[less] = c->marks[inverse] = true;
    if (go_back(c, &from, gp_bits(word, 32, 8), word) &&
        (gp_bits(word, 0, 9) == I2F || gp_bits(word, 0, 9) == I2F_64))
        c->marks[from] = true;
    return true;
}

/* ---- quotients ------------------------------------------------------------------------------- */

/* The numbers that come from a quotient. */
struct results {
    bool registers[256], predicates[PREDICATES];
};

static bool reads_any(const struct results *r, const uint64_t word[2], int cc)
{
    struct gp_register_range operands[GP_MOST_OPERANDS];
    const unsigned count = gp_registers_read(word, cc, operands);
    const unsigned condition = gp_bits(word, 12, 3);
    if (condition != NO_PREDICATE && r->predicates[condition])
        return true;
    for (unsigned o = 0; o < count; o++)
        for (unsigned i = 0; i < operands[o].count && operands[o].first + i < NO_REGISTER; i++)
            if (r->registers[operands[o].first + i])
                return true;
    return false;
}

static void write_results(struct results *r, const uint64_t word[2], int cc, bool are_results)
{
    const struct gp_register_range written = gp_registers_written(word, cc);
    for (unsigned i = written.first; i < written.first + written.count && i < NO_REGISTER; i++)
        if (are_results || !gp_is_predicated(word))
            r->registers[i] = are_results;
    if (gp_bits(word, 0, 9) == ISETP && gp_bits(word, 81, 3) != NO_PREDICATE)
        r->predicates[gp_bits(word, 81, 3)] = are_results;
}

static bool is_integer_arithmetic(const uint64_t word[2])
{
    switch (gp_bits(word, 0, 9)) {
    case MOV:
    case SEL:
    case ISETP:
    case IADD3:
    case LOP3:
    case IABS:
    case IADD:
    case VIADD:
    case IMAD:
    case IMAD_HI:
        return true;
    default:
        return false;
    }
}

/* Marks the quotient at n and the arithmetic behind it that depends on it. */
static void mark_quotient(struct code *c, size_t n)
{
    struct results r = {0};
    uint64_t word[2];
    unsigned marked = 0;
    read_word(c, n, word);
    write_results(&r, word, c->cc, true);
    c->marks[n] = true;
    for (size_t at = n + 1; at < c->count && at <= n + REACH && marked < MOST_OF_ONE; at++) {
        read_word(c, at, word);
        if (gp_instruction_flow(word) != GP_FLOW_ON)
            return;
        const bool of_it = is_integer_arithmetic(word) && reads_any(&r, word, c->cc);
        write_results(&r, word, c->cc, of_it);
        c->marks[at] |= of_it;
        marked += of_it;
    }
}

/* A product's upper half with a reciprocal as a factor: a better reciprocal, or a quotient. */
static bool is_product_of_reciprocal(const struct code *c, const uint64_t word[2])
{
    const unsigned first = gp_bits(word, 24, 8), second = gp_bits(word, 32, 8);
    return gp_bits(word, 0, 9) == IMAD_HI &&
           ((first != NO_REGISTER && c->reciprocal[first]) ||
            (gp_bits(word, 9, 3) == 1 && second != NO_REGISTER && c->reciprocal[second]));
}

static bool is_move_of_reciprocal(const struct code *c, const uint64_t word[2])
{
    const unsigned opcode = gp_bits(word, 0, 9);
    const unsigned from = opcode == MOV ? gp_bits(word, 32, 8) : gp_bits(word, 64, 8);
    return ((opcode == MOV && gp_bits(word, 9, 3) == 1) ||
            (opcode == IMAD && gp_bits(word, 24, 8) == NO_REGISTER)) &&
           from != NO_REGISTER && c->reciprocal[from];
}

static void mark_inlined(struct code *c)
{
    for (size_t n = 0; n < c->count; n++) {
        uint64_t word[2];
        read_word(c, n, word);
        const unsigned opcode = gp_bits(word, 0, 9);
        const bool product = is_product_of_reciprocal(c, word);
        const bool is_quotient = product && gp_bits(word, 64, 8) == NO_REGISTER;
        const bool is_reciprocal = ((opcode == F2I || opcode == F2I_64) && mark_reciprocal(c, n)) ||
                                   (product && !is_quotient) || is_move_of_reciprocal(c, word);
        const struct gp_register_range written = gp_registers_written(word, c->cc);
        for (unsigned r = written.first; r < written.first + written.count && r < NO_REGISTER; r++)
            if (is_reciprocal || !gp_is_predicated(word))
                c->reciprocal[r] = is_reciprocal;
        if (product)
            c->marks[n] = true;
        if (is_quotient)
            mark_quotient(c, n);
    }
}

/* ---- subroutines ----------------------------------------------------------------------------- */

/* The last instruction of the subroutine that begins at n, or count. */
static size_t end_of(const struct code *c, size_t n)
{
    for (; n < c->count; n++) {
        uint64_t word[2];
        read_word(c, n, word);
        if (gp_bits(word, 0, 9) == RET)
            break;
    }
    return n;
}

/* Subroutines that hold a reciprocal are divisions as a whole, with their calls. */
static void mark_calls(struct code *c)
{
    int64_t last = -1; /* target: calls of one subroutine follow each other */
    bool last_divides = false;
    for (size_t n = 0; n < c->count; n++) {
        uint64_t word[2];
        read_word(c, n, word);
        const int64_t jump = gp_instruction_jump(word, c->cc);
        const int64_t to = (int64_t)n + jump / GP_INSTRUCTION_BYTES;
        if (gp_bits(word, 0, 9) != CALL_RELATIVE || to < 0 || to >= (int64_t)c->count)
            continue;
        if (to == last) {
            c->marks[n] |= last_divides;
            continue;
        }
        const size_t end = end_of(c, (size_t)to);
        bool divides = false;
        for (size_t i = (size_t)to; i < end && !divides; i++) {
            read_word(c, i, word);
            divides = c->marks[i] && (gp_bits(word, 0, 9) == F2I || gp_bits(word, 0, 9) == F2I_64);
        }
        for (size_t i = (size_t)to; divides && i <= end && i < c->count; i++)
            c->marks[i] = true;
        c->marks[n] |= divides;
        last = to;
        last_divides = divides;
    }
}

void gp_divisions_mark(const void *code, size_t size, int cc, bool *marks)
{
    struct code c = {.bytes = code, .count = size / GP_INSTRUCTION_BYTES, .cc = cc, .marks = marks};
    mark_inlined(&c);
    mark_calls(&c);
}

bool gp_is_division(const char *function)
{
    return strstr(function, "__cuda_sm") &&
           (strstr(function, "_div_s") || strstr(function, "_div_u") ||
            strstr(function, "_rem_s") || strstr(function, "_rem_u"));
}
