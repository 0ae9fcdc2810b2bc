/* The words that each register may depend on are followed as for code/data_words.h; here it counts
 * where they are in an address. */
#include "code/parameter_uses.h"

#include "code/word_flow.h"

#include <stdlib.h>

struct uses {
    struct gp_word_walk walk; /* first: the step gets it */
    uint64_t reads, writes;
};

/* Two registers from bit 24 on, and uniform ones at the bit that is given. */
static uint64_t address(const struct gp_word_walk *w, const uint64_t word[2], unsigned uniform_at)
{
    return gp_registers(w, gp_bits(word, 24, 8), 2) |
           (gp_bits(word, 91, 1) ? gp_uniform(w, word, uniform_at, 2) : 0);
}

static void step(struct gp_word_walk *w, const uint64_t word[2], const struct gp_instruction *i)
{
    struct uses *u = (struct uses *)w;
    switch (i->op) {
    case GP_OP_LDG:
        u->reads |= address(w, word, 32);
        break;
    case GP_OP_STG:
        u->writes |= address(w, word, 64);
        break;
    case GP_OP_ATOMG:
    case GP_OP_RED: {
        const uint64_t words = address(w, word, 64);
        u->reads |= words;
        u->writes |= words;
        break;
    }
    case GP_OP_LDGSTS:
        u->reads |= address(w, word, 64) | gp_registers(w, gp_bits(word, 32, 8), 2);
        break;
    default:
        break;
    }
    gp_data_word_step(w, word, i);
}

struct gp_parameter_uses gp_code_parameter_uses(const void *code, size_t size, int cc)
{
    struct gp_parameter_uses uses = {.known = false};
    struct uses *u = calloc(1, sizeof(*u));
    if (!u)
        return uses;
    u->walk.step = step;
    u->walk.first = gp_first_parameter(cc);
    uses.known = gp_word_walk_through(&u->walk, code, size, cc);
    uses.reads = u->reads;
    uses.writes = u->writes;
    free(u);
    return uses;
}
