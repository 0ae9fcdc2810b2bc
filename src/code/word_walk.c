/* A walk through a function: the facts of each register go from instruction to instruction, and are
 * joined where branches meet, until nothing changes. Each branch is taken to go on, too. */
#include "code/word_flow.h"

#include <stdlib.h>
#include <string.h>

/* Walks through the function, bytes of it, and targets of branches: else nothing is known. */
#define MOST_WALKS 16
#define MOST_CODE ((size_t)256 << 10)
#define MOST_TARGETS 512

/* True where there is news in it. */
static bool join(struct gp_word_state *to, const struct gp_word_state *from)
{
    uint64_t news = 0;
    for (unsigned r = 0; r < 256; r++) {
        news |= from->of[r] & ~to->of[r];
        to->of[r] |= from->of[r];
    }
    for (unsigned r = 0; r < UNIFORM_REGISTERS; r++) {
        news |= from->uniform[r] & ~to->uniform[r];
        to->uniform[r] |= from->uniform[r];
    }
    return news != 0;
}

/* Where a branch leads. */
static struct gp_word_state *target_of(const struct gp_word_walk *w, size_t n)
{
    const int64_t jump = gp_instruction_jump(w->code + n * GP_INSTRUCTION_BYTES, w->cc);
    const int64_t to = (int64_t)n + jump / GP_INSTRUCTION_BYTES;
    return jump && to >= 0 && to < (int64_t)w->count ? w->at[to] : NULL;
}

static void walk_once(struct gp_word_walk *w)
{
    memset(&w->now, 0, sizeof(w->now));
    for (size_t n = 0; n < w->count && !w->lost; n++) {
        uint64_t word[2];
        memcpy(word, w->code + n * GP_INSTRUCTION_BYTES, sizeof(word));
        const struct gp_instruction i = gp_instruction_decode(word, w->cc);
        const unsigned opcode = i.opcode & OPCODE_MASK;
        if (w->at[n]) {
            w->changed |= join(w->at[n], &w->now);
            w->now = *w->at[n];
        }
        if (w->any_synced)
            join(&w->now, &w->synced);
        w->step(w, word, &i);
        if ((opcode == BSYNC || opcode == BREAK || opcode == WARPSYNC) && join(&w->synced, &w->now))
            w->any_synced = w->changed = true;
        struct gp_word_state *target = target_of(w, n);
        if (target)
            w->changed |= join(target, &w->now);
    }
}

static bool mark_targets(struct gp_word_walk *w)
{
    const size_t size = w->count * GP_INSTRUCTION_BYTES;
    unsigned targets = 0;
    for (size_t n = 0; n < w->count; n++) {
        const unsigned char *word = w->code + n * GP_INSTRUCTION_BYTES;
        const unsigned opcode = gp_instruction_decode(word, w->cc).opcode & OPCODE_MASK;
        const int64_t jump = gp_instruction_jump(word, w->cc);
        if (opcode == CALL_RELATIVE || opcode == RET ||
            gp_instruction_leaves(word, n * GP_INSTRUCTION_BYTES, size, w->cc))
            return false;
        const size_t to = (size_t)((int64_t)n + jump / GP_INSTRUCTION_BYTES);
        if (!jump || w->at[to])
            continue;
        w->at[to] = targets++ < MOST_TARGETS ? calloc(1, sizeof(struct gp_word_state)) : NULL;
        if (!w->at[to])
            return false;
    }
    return true;
}

static bool walk_until_known(struct gp_word_walk *w)
{
    bool known = mark_targets(w);
    w->changed = true;
    for (int walks = 0; known && w->changed && walks < MOST_WALKS; walks++) {
        w->changed = false;
        walk_once(w);
    }
    return known && !w->changed && !w->lost;
}

bool gp_word_walk_through(struct gp_word_walk *w, const void *code, size_t size, int cc)
{
    if (size > MOST_CODE)
        return false;
    w->code = code;
    w->count = size / GP_INSTRUCTION_BYTES;
    w->cc = cc;
    w->at = calloc(w->count + 1, sizeof(struct gp_word_state *));
    const bool known = w->at && walk_until_known(w);
    for (size_t n = 0; w->at && n < w->count; n++)
        free(w->at[n]);
    free(w->at);
    w->at = NULL;
    return known;
}
