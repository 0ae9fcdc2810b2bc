#include "code/scoreboards.h"

#include "code/word_flow.h"

/* Opcodes by their nine bits, beside those of word_flow.h. */
enum {
    FIRST_SPECIAL = 0x100, /* FLO, BREV, FCHK, conversions, MUFU, POPC */
    FIRST_CONVERSION = 0x104,
    LAST_CONVERSION = 0x107,
    LAST_SPECIAL = 0x109,
    FIRST_WIDE_CONVERSION = 0x110,
    LAST_WIDE_CONVERSION = 0x113,
    B2R = 0x11c,
    FIRST_OF_SURFACES = 0x193,
    LAST_OF_SURFACES = 0x1a0,
    MATCH = 0x1a1,
    ARRIVES = 0x1b0,
};

#define SCOREBOARDS 6u

static enum gp_awaited kind_of_other(const uint64_t word[2], unsigned opcode)
{
    if (is_between(opcode, FIRST_SPECIAL, LAST_SPECIAL))
        return GP_AWAITED_SPECIAL;
    if (is_between(opcode, FIRST_WIDE_CONVERSION, LAST_WIDE_CONVERSION))
        return GP_AWAITED_DOUBLE;
    if (is_between(opcode, FIRST_TEXTURE, LAST_TEXTURE) ||
        is_between(opcode, FIRST_OF_SURFACES, LAST_OF_SURFACES) || opcode == SUQUERY)
        return GP_AWAITED_TEXTURE;
    switch (opcode) {
    case S2R:
    case S2UR:
    case B2R:
        return GP_AWAITED_REGISTER;
    case SHFL:
    case MATCH:
    case REDUX:
        return GP_AWAITED_EXCHANGE;
    case LDC:
        return gp_bits(word, 24, 8) == NO_REGISTER ? GP_AWAITED_PARAMETER : GP_AWAITED_CONSTANT;
    case LDCU:
        return GP_AWAITED_PARAMETER;
    case SYNCS:
    case LDGDEPBAR:
    case ARRIVES:
    case LAST_SYNCS - 1:
    case LAST_SYNCS:
        return GP_AWAITED_COPY;
    default:
        return GP_AWAITED_OTHER;
    }
}

enum gp_awaited gp_awaited_kind(const uint64_t word[2], int cc)
{
    const struct gp_instruction i = gp_instruction_decode(word, cc);
    switch (i.op) {
    case GP_OP_LD:
    case GP_OP_LDG:
    case GP_OP_LDGMC:
        return GP_AWAITED_LOAD;
    case GP_OP_ST:
    case GP_OP_STG:
        return GP_AWAITED_STORE;
    case GP_OP_LDL:
    case GP_OP_STL:
        return GP_AWAITED_LOCAL;
    case GP_OP_ATOM:
    case GP_OP_ATOMG:
    case GP_OP_RED:
        return GP_AWAITED_ATOMIC;
    case GP_OP_LDGSTS:
    case GP_OP_TMA_LOAD:
    case GP_OP_TMA_STORE:
    case GP_OP_TMA_REDUCE:
    case GP_OP_TMA_COPY:
        return GP_AWAITED_COPY;
    case GP_OP_LDS:
    case GP_OP_STS:
    case GP_OP_LDSM:
    case GP_OP_STSM:
    case GP_OP_STAS:
        return GP_AWAITED_SHARED;
    case GP_OP_ATOMS:
    case GP_OP_REDAS:
        return GP_AWAITED_SHARED_ATOMIC;
    case GP_OP_DADD:
    case GP_OP_DMUL:
    case GP_OP_DFMA:
        return GP_AWAITED_DOUBLE;
    case GP_OP_OTHER:
    case GP_OP_UNKNOWN:
        return kind_of_other(word, i.opcode & OPCODE_MASK);
    default:
        return i.op >= GP_OP_HMMA && i.op <= GP_OP_UTCMMA ? GP_AWAITED_MATRIX : GP_AWAITED_OTHER;
    }
}

bool gp_is_conversion(const uint64_t word[2])
{
    return is_between(gp_bits(word, 0, 9), FIRST_CONVERSION, LAST_CONVERSION);
}

/* ---- scoreboards ----------------------------------------------------------------------------- */

/* Bits 116 to 121; of DEPBAR, bits 44 to 46 of its operand. */
unsigned gp_scoreboards_awaited(const uint64_t word[2])
{
    unsigned mask = gp_bits(word, 116, SCOREBOARDS);
    if (gp_bits(word, 0, 9) == DEPBAR)
        mask |= 1u << gp_bits(word, 44, 3);
    return mask & ((1u << SCOREBOARDS) - 1);
}

/* Bits 110 to 112 have the one that counts results, 113 to 115 that of operands that were read. */
unsigned gp_scoreboards_set(const uint64_t word[2])
{
    const unsigned result = gp_bits(word, 110, 3), operands = gp_bits(word, 113, 3);
    return ((result < SCOREBOARDS ? 1u << result : 0) |
            (operands < SCOREBOARDS ? 1u << operands : 0));
}

static bool is_of_queue(enum gp_awaited kind, enum gp_queue queue)
{
    switch (kind) {
    case GP_AWAITED_COPY:
        return true;
    case GP_AWAITED_LOAD:
    case GP_AWAITED_STORE:
    case GP_AWAITED_LOCAL:
    case GP_AWAITED_ATOMIC:
    case GP_AWAITED_TEXTURE:
        return queue == GP_QUEUE_LONG;
    default:
        return queue == GP_QUEUE_SHORT;
    }
}

/* ---- producers ------------------------------------------------------------------------------- */

struct search {
    const struct gp_paths *p;
    unsigned scoreboard; /* a bit */
    enum gp_queue queue;
    bool any_queue, copies;
    uint32_t *found;
    size_t count, most;
};

static void add(struct search *s, size_t n)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->found[i] == n)
            return;
    if (s->count < s->most)
        s->found[s->count++] = (uint32_t)n;
}

static bool visit_setter(void *user, size_t n)
{
    struct search *s = user;
    uint64_t word[2];
    gp_paths_word(s->p, n, word);
    const enum gp_awaited kind = gp_awaited_kind(word, s->p->cc);
    if (gp_scoreboards_set(word) & s->scoreboard && (s->any_queue || is_of_queue(kind, s->queue)))
        add(s, n);
    return !(gp_scoreboards_awaited(word) & s->scoreboard);
}

/* The copies that a LDGDEPBAR stands for: those between it and the one before. */
static bool visit_copy(void *user, size_t n)
{
    struct search *s = user;
    uint64_t word[2];
    gp_paths_word(s->p, n, word);
    const unsigned opcode = gp_bits(word, 0, 9);
    if (opcode == LDGSTS)
        add(s, n);
    return opcode != LDGDEPBAR;
}

static void replace_by_copies(struct search *s, struct gp_paths *p)
{
    const size_t before = s->count;
    for (size_t i = 0; i < before; i++) {
        uint64_t word[2];
        gp_paths_word(p, s->found[i], word);
        if (gp_bits(word, 0, 9) == LDGDEPBAR)
            gp_paths_walk_back(p, s->found[i], visit_copy, s);
    }
    if (s->count == before)
        return;
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        uint64_t word[2];
        gp_paths_word(p, s->found[i], word);
        if (gp_bits(word, 0, 9) != LDGDEPBAR)
            s->found[kept++] = s->found[i];
    }
    s->count = kept;
}

static void find_setters(struct search *s, struct gp_paths *p, size_t n, unsigned awaited)
{
    for (unsigned b = 0; b < SCOREBOARDS; b++) {
        s->scoreboard = 1u << b;
        if (awaited & s->scoreboard)
            gp_paths_walk_back(p, n, visit_setter, s);
    }
}

/* An instruction in a loop waits for those before the loop once, and for those in it each time. */
static void prefer_loop(struct search *s, size_t n)
{
    size_t first, last, kept = 0;
    if (!gp_paths_loop(s->p, n, &first, &last))
        return;
    for (size_t i = 0; i < s->count; i++)
        if (s->found[i] >= first && s->found[i] <= last)
            s->found[kept++] = s->found[i];
    if (kept > 0)
        s->count = kept;
}

/* Warps issue a DEPBAR and wait behind it: their samples stand at the next instruction. */
static unsigned awaited_by_depbar(const struct gp_paths *p, size_t n)
{
    uint64_t word[2];
    if (n == 0)
        return 0;
    gp_paths_word(p, n - 1, word);
    return gp_bits(word, 0, 9) == DEPBAR ? gp_scoreboards_awaited(word) : 0;
}

size_t gp_producers_find(struct gp_paths *p, size_t n, enum gp_queue queue, uint32_t *found,
                         size_t most)
{
    struct search s = {.p = p, .queue = queue, .found = found, .most = most};
    uint64_t word[2];
    if (n >= p->count)
        return 0;
    gp_paths_word(p, n, word);
    const unsigned awaited = gp_scoreboards_awaited(word), by_depbar = awaited_by_depbar(p, n);
    find_setters(&s, p, n, awaited);
    if (by_depbar)
        find_setters(&s, p, n - 1, by_depbar);
    if (s.count == 0) {
        s.any_queue = true;
        find_setters(&s, p, n, awaited);
        if (by_depbar)
            find_setters(&s, p, n - 1, by_depbar);
    }
    prefer_loop(&s, n);
    replace_by_copies(&s, p);
    return s.count;
}
