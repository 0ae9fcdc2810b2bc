/* A walk through a function: the facts of each register go from instruction to instruction, and are
 * joined where branches meet, until nothing changes. A call
 * within the function is a branch, behind which the facts at any return of the called one are
 * joined. Functions of
 * the driver, of which the host writes the addresses into bank 4 of the constants, are left out:
 * they print, allocate, or end the kernel. */
#include "code/driver_calls.h"
#include "code/word_flow.h"

#include <stdlib.h>
#include <string.h>

/* Walks through the function, bytes of it, and targets of branches: else nothing is known. */
#define MOST_WALKS 16
/* Facts take a walk for each call of a row. After so many walks the facts at any return are those
 * behind each call, which takes few more. */
#define WALKS_APART 8
#define MOST_CODE ((size_t)256 << 10)

/* True where there is news in it. */
static bool join(struct gp_word_state *to, const struct gp_word_state *from)
{
    uint64_t news = from->reached && !to->reached;
    to->reached |= from->reached;
    for (unsigned r = 0; r < 256; r++) {
        news |= from->of[r] & ~to->of[r];
        to->of[r] |= from->of[r];
        if (to->condition[r] != from->condition[r])
            to->condition[r] = NO_CONDITION;
        if (to->condition[r] != NO_CONDITION)
            news |= from->of_if[r] & ~to->of_if[r];
        to->of_if[r] |= from->of_if[r];
    }
    to->any_condition |= from->any_condition;
    for (unsigned r = 0; r < UNIFORM_REGISTERS; r++) {
        news |= from->uniform[r] & ~to->uniform[r];
        to->uniform[r] |= from->uniform[r];
    }
    for (unsigned b = 0; b < 16; b++) {
        const uint16_t before = to->parting[b], other = from->parting[b];
        if (other)
            to->parting[b] = before && before != other ? MANY : other;
        news |= to->parting[b] != before;
    }
    return news != 0;
}

/* Where a branch leads; w->count where it is none. */
static size_t number_of_target(const struct gp_word_walk *w, size_t n)
{
    const int64_t jump = gp_instruction_jump(w->code + n * GP_INSTRUCTION_BYTES, w->cc);
    const int64_t to = (int64_t)n + jump / GP_INSTRUCTION_BYTES;
    return jump && to >= 0 && to < (int64_t)w->count ? (size_t)to : w->count;
}

static struct gp_word_state *target_of(const struct gp_word_walk *w, size_t n)
{
    return w->at[number_of_target(w, n)];
}

static unsigned opcode_at(const struct gp_word_walk *w, size_t n)
{
    uint64_t low;
    memcpy(&low, w->code + n * GP_INSTRUCTION_BYTES, sizeof(low));
    return (unsigned)low & OPCODE_MASK;
}

/* The instruction at which threads meet again that part behind this one, a BSSY: as far from the
 * next one as its upper half says, in bytes. */
static size_t meeting_of(const struct gp_word_walk *w, size_t n)
{
    int32_t bytes;
    memcpy(&bytes, w->code + n * GP_INSTRUCTION_BYTES + sizeof(bytes), sizeof(bytes));
    const int64_t to = (int64_t)n + 1 + bytes / GP_INSTRUCTION_BYTES;
    return bytes % GP_INSTRUCTION_BYTES == 0 && to >= 0 && to < (int64_t)w->count ? (size_t)to
                                                                                  : w->count;
}

/* The threads go on where those meet that parted at the BSSY of this register: at any, where it may
 * have been moved there. */
static void join_at_meeting(struct gp_word_walk *w, const uint64_t word[2])
{
    const uint16_t parting = w->now.parting[gp_bits(word, 16, 4)];
    for (size_t i = 0; i < w->parting_count; i++) {
        const size_t n = w->partings[i];
        if (parting == 0 || parting == MANY || parting == n + 1)
            w->changed |= join(w->at[meeting_of(w, n)], &w->now);
    }
}

/* Its bits 81 to 86 name no conditions that it makes. */
static bool makes_no_condition(enum gp_op op, unsigned opcode)
{
    switch (opcode) {
    case MOV:
    case SEL:
    case FSEL:
    case PRMT:
    case SHF:
    case FMUL:
    case FADD:
    case FFMA:
    case VIADD:
    case I2FP:
    case MUFU:
    case S2R:
    case S2UR:
    case R2UR:
    case CS2R:
    case LDC:
    case ULDC:
    case LDCU:
    case BSSY:
    case BSYNC:
    case BAR:
    case BRA:
    case EXIT:
        return true;
    default:
        return is_between(opcode, F2F, FRND) || is_between(opcode, HADD2, HMUL2) ||
               is_between(op, GP_OP_ST, GP_OP_LDGSTS) || op == GP_OP_LD;
    }
}

/* Bits 84 to 86 name no second one. */
static bool makes_one_condition(unsigned opcode)
{
    return opcode == LEA || opcode == LOP3 || is_between(opcode, IMAD, IMAD_HI) || opcode == SHFL;
}

/* Conditions that the instruction may have changed: of those that make any, bits 81 to 86 name up
 * to two. */
static void forget_conditions(struct gp_word_walk *w, const uint64_t word[2],
                              const struct gp_instruction *i)
{
    const unsigned opcode = i->opcode & OPCODE_MASK;
    const unsigned first = gp_bits(word, 81, 3),
                   second = makes_one_condition(opcode) ? first : gp_bits(word, 84, 3);
    if (!w->now.any_condition || makes_no_condition(i->op, opcode))
        return;
    w->now.any_condition = false;
    for (unsigned r = 0; r < NO_REGISTER; r++) {
        const unsigned condition = (w->now.condition[r] - 1u) % 8;
        if (opcode == R2P || condition == first || condition == second)
            w->now.condition[r] = NO_CONDITION;
        w->now.any_condition |= w->now.condition[r] != NO_CONDITION;
    }
}

/* It branches, returns or ends in every thread: bits 87 to 95 have another condition, or say that a
 * uniform register is one. */
static bool never_goes_on(const uint64_t word[2], unsigned opcode)
{
    return (opcode == BRA || opcode == EXIT || opcode == RET || opcode == BSYNC) &&
           gp_bits(word, 12, 4) == NO_PREDICATE && gp_bits(word, 87, 9) == NO_PREDICATE;
}

static void begin_without_facts(struct gp_word_state *s)
{
    memset(s, 0, sizeof(*s));
    s->reached = true;
}

/* Behind a call the facts are those at the returns of the called function, and of threads that do
 * not call, under a condition, those before: no call comes back before a return was reached. */
static void come_back(struct gp_word_walk *w, size_t n)
{
    uint64_t word[2];
    const size_t called = n > 0 ? number_of_target(w, n - 1) : w->count;
    if (called == w->count || opcode_at(w, n - 1) != CALL_RELATIVE)
        return;
    memcpy(word, w->code + (n - 1) * GP_INSTRUCTION_BYTES, sizeof(word));
    if (gp_bits(word, 12, 4) == NO_PREDICATE)
        memset(&w->now, 0, sizeof(w->now));
    join(&w->now, w->returned[w->begin[called]]);
}

static void walk_once(struct gp_word_walk *w)
{
    begin_without_facts(&w->now);
    for (size_t n = 0; n < w->count && !w->lost; n++) {
        uint64_t word[2];
        memcpy(word, w->code + n * GP_INSTRUCTION_BYTES, sizeof(word));
        const struct gp_instruction i = gp_instruction_decode(word, w->cc);
        const unsigned opcode = i.opcode & OPCODE_MASK;
        come_back(w, n);
        if (w->at[n]) {
            w->changed |= join(w->at[n], &w->now);
            w->now = *w->at[n];
        }
        if (!w->now.reached)
            continue;
        const unsigned condition = gp_bits(word, 12, 4);
        w->condition = condition == NO_PREDICATE ? NO_CONDITION : (uint8_t)(1 + condition);
        w->n = n;
        w->step(w, word, &i);
        forget_conditions(w, word, &i);
        if (opcode == BSYNC || opcode == BREAK)
            join_at_meeting(w, word);
        if (opcode == BSSY)
            w->now.parting[gp_bits(word, 16, 4)] = (uint16_t)(n + 1);
        if (is_between(opcode, FIRST_BMOV, LAST_BMOV))
            memset(w->now.parting, 0xff, sizeof(w->now.parting));
        if (opcode == RET)
            w->changed |= join(w->returned[w->begin[n]], &w->now);
        struct gp_word_state *target = target_of(w, n);
        if (target)
            w->changed |= join(target, &w->now);
        if (never_goes_on(word, opcode))
            begin_without_facts(&w->now);
    }
}

static bool mark(struct gp_word_walk *w, size_t to)
{
    if (to >= w->count)
        return false;
    if (!w->at[to])
        w->at[to] = w->targets++ < MOST_TARGETS ? calloc(1, sizeof(struct gp_word_state)) : NULL;
    return w->at[to] != NULL;
}

static bool mark_targets(struct gp_word_walk *w)
{
    const size_t size = w->count * GP_INSTRUCTION_BYTES;
    for (size_t n = 0; n < w->count; n++) {
        const unsigned char *word = w->code + n * GP_INSTRUCTION_BYTES;
        const unsigned opcode = opcode_at(w, n);
        const int64_t jump = gp_instruction_jump(word, w->cc);
        if (opcode == RET || gp_code_calls_driver(w->code, n * GP_INSTRUCTION_BYTES))
            continue;
        if (gp_instruction_leaves(word, n * GP_INSTRUCTION_BYTES, size, w->cc))
            return false;
        if (opcode == BSSY && (!mark(w, meeting_of(w, n)) || w->parting_count == MOST_TARGETS))
            return false;
        if (opcode == BSSY)
            w->partings[w->parting_count++] = (uint16_t)n;
        if (jump && !mark(w, (size_t)((int64_t)n + jump / GP_INSTRUCTION_BYTES)))
            return false;
    }
    return true;
}

/* A caller moves the address behind its call to a register. Another call is a branch, as ptxas has
 * some loops end for compute capability 8.0 to 8.9: it leads on in the same function. */
static bool is_branch(const struct gp_word_walk *w, size_t n)
{
    const uint64_t behind = (n + 1) * GP_INSTRUCTION_BYTES;
    uint64_t low;
    if (opcode_at(w, n) != CALL_RELATIVE)
        return true;
    for (size_t before = n; before-- > 0;) {
        memcpy(&low, w->code + before * GP_INSTRUCTION_BYTES, sizeof(low));
        if ((low & OPCODE_MASK) == MOV && low >> 32 == behind)
            return false;
    }
    return true;
}

/* Functions lie one behind the other, each from where a call leads to the next such. */
static void mark_functions(struct gp_word_walk *w)
{
    for (size_t n = 0; n < w->count; n++)
        if (number_of_target(w, n) < w->count && !is_branch(w, n))
            w->begin[number_of_target(w, n)] = (uint32_t)number_of_target(w, n);
    for (size_t n = 1; n < w->count; n++)
        if (w->begin[n] == 0)
            w->begin[n] = w->begin[n - 1];
}

static bool branches_into_another(const struct gp_word_walk *w)
{
    for (size_t n = 0; n + 1 < w->count; n++) {
        uint64_t word[2];
        memcpy(word, w->code + n * GP_INSTRUCTION_BYTES, sizeof(word));
        const unsigned opcode = opcode_at(w, n);
        const size_t target = number_of_target(w, n);
        if ((target < w->count && w->begin[target] != w->begin[n] && is_branch(w, n)) ||
            (opcode == BSSY && w->begin[meeting_of(w, n)] != w->begin[n]) ||
            (w->begin[n + 1] != w->begin[n] && !never_goes_on(word, opcode)))
            return true;
    }
    return false;
}

static void join_functions(struct gp_word_walk *w)
{
    memset(w->begin, 0, w->count * sizeof(*w->begin));
}

static bool make_functions(struct gp_word_walk *w)
{
    mark_functions(w);
    if (branches_into_another(w))
        join_functions(w);
    bool made = true;
    for (size_t n = 0; n < w->count && made; n++)
        if (w->begin[n] == n)
            made = (w->returned[n] = calloc(1, sizeof(struct gp_word_state))) != NULL;
    return made;
}

static bool walk_until_known(struct gp_word_walk *w)
{
    bool known = mark_targets(w) && make_functions(w);
    w->changed = true;
    for (int walks = 0; known && w->changed && walks < MOST_WALKS; walks++) {
        w->changed = false;
        if (walks == WALKS_APART)
            join_functions(w);
        walk_once(w);
    }
    return known && !w->changed && !w->lost;
}

static void free_states(struct gp_word_state **states, size_t count)
{
    for (size_t n = 0; states && n < count; n++)
        free(states[n]);
    free(states);
}

bool gp_word_walk_through(struct gp_word_walk *w, const void *code, size_t size, int cc)
{
    if (size > MOST_CODE)
        return false;
    w->code = code;
    w->count = size / GP_INSTRUCTION_BYTES;
    w->cc = cc;
    w->at = calloc(w->count + 1, sizeof(struct gp_word_state *));
    w->returned = calloc(w->count + 1, sizeof(struct gp_word_state *));
    w->begin = calloc(w->count + 1, sizeof(*w->begin));
    const bool known = w->at && w->returned && w->begin && walk_until_known(w);
    free_states(w->at, w->count);
    free_states(w->returned, w->count);
    free(w->begin);
    w->at = w->returned = NULL;
    w->begin = NULL;
    return known;
}
