#include "code/paths.h"

#include "code/word_flow.h"

#include <stdlib.h>
#include <string.h>

#define BRX 0x149
#define JMP 0x14a
#define JMX 0x14c
#define BRXU 0x158
#define JMXU 0x159
#define KILL 0x15b

void gp_paths_word(const struct gp_paths *p, size_t n, uint64_t word[2])
{
    memcpy(word, p->code + n * GP_INSTRUCTION_BYTES, GP_INSTRUCTION_BYTES);
}

static unsigned opcode_at(const struct gp_paths *p, size_t n)
{
    uint64_t word[2];
    gp_paths_word(p, n, word);
    return gp_bits(word, 0, 9);
}

static bool goes_by_table(unsigned opcode)
{
    return opcode == BRX || opcode == JMX || opcode == BRXU || opcode == JMXU;
}

/* It goes to the next instruction in no thread. */
static bool never_goes_on(const struct gp_paths *p, size_t n)
{
    uint64_t word[2];
    gp_paths_word(p, n, word);
    const unsigned opcode = gp_bits(word, 0, 9);
    const bool always = gp_bits(word, 12, 4) == NO_PREDICATE &&
                        gp_bits(word, 87, 4) == NO_PREDICATE &&
                        (opcode != BRA || gp_bits(word, 91, 5) == 0);
    return always && (opcode == BRA || opcode == EXIT || opcode == RET || opcode == KILL ||
                      opcode == JMP || goes_by_table(opcode));
}

/* The target of a branch or call within the function; `count` where there is none. */
static size_t target_of(const struct gp_paths *p, size_t n)
{
    const int64_t jump = gp_instruction_jump(p->code + n * GP_INSTRUCTION_BYTES, p->cc);
    const int64_t to = (int64_t)n + jump / GP_INSTRUCTION_BYTES;
    return jump != 0 && jump % GP_INSTRUCTION_BYTES == 0 && to >= 0 && to < (int64_t)p->count
               ? (size_t)to
               : p->count;
}

static bool is_call_within(const struct gp_paths *p, size_t n)
{
    return opcode_at(p, n) == CALL_RELATIVE && target_of(p, n) < p->count;
}

/* BSYNC goes on where the threads meet that parted at a BSSY of its register: at the end of the
 * innermost one around it. `count`: at the next instruction. */
static size_t meeting_of(const struct gp_paths *p, size_t n)
{
    uint64_t own[2], word[2];
    gp_paths_word(p, n, own);
    for (size_t b = n; b-- > 0;) {
        gp_paths_word(p, b, word);
        if (gp_bits(word, 0, 9) != BSSY || gp_bits(word, 16, 4) != gp_bits(own, 16, 4))
            continue;
        const int32_t bytes = (int32_t)(word[0] >> 32);
        const int64_t to = (int64_t)b + 1 + bytes / GP_INSTRUCTION_BYTES;
        if (to >= (int64_t)n && to < (int64_t)p->count)
            return (size_t)to;
    }
    return p->count;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Counts in the first pass, fills in the second. */
struct filling {
    struct gp_paths *p;
    uint32_t *ends; /* of each instruction's part of the list */
    bool fills;
    bool reached; /* whether the one at hand is a target */
};

static void join(struct filling *f, size_t from, size_t to)
{
    if (to >= f->p->count)
        return;
    if (f->fills)
        f->p->list[f->ends[to]] = (uint32_t)from;
    f->ends[to]++;
}

static void join_from(struct filling *f, size_t n)
{
    const struct gp_paths *p = f->p;
    const unsigned opcode = opcode_at(p, n);
    const size_t target = target_of(p, n);
    size_t next = n + 1;
    if (opcode == BSYNC) {
        const size_t meeting = meeting_of(p, n);
        next = meeting < p->count ? meeting : next;
    }
    if (!never_goes_on(p, n) && !is_call_within(p, n))
        join(f, n, next);
    if (opcode == BRA || opcode == CALL_RELATIVE)
        join(f, n, target);
}

static bool is_entered(const struct gp_paths *p, size_t n)
{
    return p->starts[n + 1] > p->starts[n];
}

/* Returns lead behind calls; tables to all that nothing leads to. `orphans` are these. */
static void join_far(struct filling *f, const bool *orphans)
{
    const struct gp_paths *p = f->p;
    for (size_t n = 0; n < p->count; n++) {
        const unsigned opcode = opcode_at(p, n);
        if (opcode != RET && !goes_by_table(opcode))
            continue;
        for (size_t to = 1; to < p->count; to++)
            if (opcode == RET ? is_call_within(p, to - 1) : orphans[to])
                join(f, n, to);
    }
}

static void join_all(struct filling *f, const bool *orphans)
{
    for (size_t n = 0; n < f->p->count; n++)
        join_from(f, n);
    if (orphans)
        join_far(f, orphans);
}

/* Joins that many instructions at most by returns and tables. */
#define MOST_FAR ((size_t)1 << 20)

static size_t far_joins(const struct gp_paths *p, const bool *orphans)
{
    size_t returns = 0, calls = 0, tables = 0, targets = 0;
    for (size_t n = 0; n < p->count; n++) {
        returns += opcode_at(p, n) == RET;
        calls += is_call_within(p, n);
        tables += goes_by_table(opcode_at(p, n));
        targets += orphans[n];
    }
    return returns * calls + tables * targets + (returns + tables) * p->count / 64;
}

static void sum_up(struct gp_paths *p, const uint32_t *counts)
{
    p->starts[0] = 0;
    for (size_t n = 0; n < p->count; n++)
        p->starts[n + 1] = p->starts[n] + counts[n];
}

static bool fill(struct gp_paths *p, uint32_t *ends, bool *orphans)
{
    struct filling f = {.p = p, .ends = ends};
    join_all(&f, NULL);
    sum_up(p, ends);
    for (size_t n = 1; n < p->count; n++)
        orphans[n] = !is_entered(p, n) && !is_call_within(p, n - 1);
    const bool *far = far_joins(p, orphans) <= MOST_FAR ? orphans : NULL;
    memset(ends, 0, p->count * sizeof(*ends));
    join_all(&f, far);
    sum_up(p, ends);
    p->list = malloc((p->starts[p->count] + 1) * sizeof(*p->list));
    if (!p->list)
        return false;
    memcpy(ends, p->starts, p->count * sizeof(*ends));
    f.fills = true;
    join_all(&f, far);
    return true;
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* More loops of a function are left out, the shortest ones. */
#define MOST_LOOPS 1024

struct loop {
    uint32_t first, last;
};

static int longest_first(const void *x, const void *y)
{
    const struct loop *a = x, *b = y;
    const uint32_t one = a->last - a->first, other = b->last - b->first;
    return one != other ? (one < other ? 1 : -1) : (a->first > b->first) - (a->first < b->first);
}

/* The shortest loops are written last. */
static bool find_loops(struct gp_paths *p)
{
    struct loop *list = calloc(MOST_LOOPS, sizeof(*list));
    size_t count = 0;
    p->loops = calloc(p->count + 1, 2 * sizeof(*p->loops));
    for (size_t n = 0; list && n < p->count && count < MOST_LOOPS; n++) {
        const size_t first = opcode_at(p, n) == BRA ? target_of(p, n) : p->count;
        if (first < n)
            list[count++] = (struct loop){(uint32_t)first, (uint32_t)n};
    }
    if (list && count > 0)
        qsort(list, count, sizeof(*list), longest_first);
    for (size_t l = 0; list && p->loops && l < count; l++)
        for (size_t n = list[l].first; n <= list[l].last; n++) {
            p->loops[2 * n] = list[l].first;
            p->loops[2 * n + 1] = list[l].last;
        }
    free(list);
    return list && p->loops;
}

bool gp_paths_loop(const struct gp_paths *p, size_t n, size_t *first, size_t *last)
{
    const bool found = p->loops[2 * n + 1] > p->loops[2 * n];
    *first = found ? p->loops[2 * n] : 0;
    *last = found ? p->loops[2 * n + 1] : p->count;
    return found;
}

struct gp_paths *gp_paths_open(const void *code, size_t size, int cc)
{
    if (size > GP_LONGEST_CODE)
        return NULL;
    struct gp_paths *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->code = code;
    p->count = size / GP_INSTRUCTION_BYTES;
    p->cc = cc;
    p->starts = calloc(p->count + 1, sizeof(*p->starts));
    p->visited = calloc(p->count + 1, sizeof(*p->visited));
    p->waiting = calloc(p->count + 1, sizeof(*p->waiting));
    uint32_t *ends = calloc(p->count + 1, sizeof(*ends));
    bool *orphans = calloc(p->count + 1, sizeof(*orphans));
    const bool made = p->starts && p->visited && p->waiting && ends && orphans &&
                      fill(p, ends, orphans) && find_loops(p);
    free(ends);
    free(orphans);
    if (made)
        return p;
    gp_paths_close(p);
    return NULL;
}

void gp_paths_close(struct gp_paths *p)
{
    if (!p)
        return;
    free(p->starts);
    free(p->list);
    free(p->loops);
    free(p->visited);
    free(p->waiting);
    free(p);
}

/* ---- walking --------------------------------------------------------------------------------- */

void gp_paths_walk_back(struct gp_paths *p, size_t n, bool (*visit)(void *user, size_t n),
                        void *user)
{
    if (n >= p->count)
        return;
    if (++p->walk == 0) { /* the number is used up: all walks begin anew */
        memset(p->visited, 0, p->count * sizeof(*p->visited));
        p->walk = 1;
    }
    size_t first = 0, end = 0;
    size_t at = n;
    for (;;) {
        for (uint32_t i = p->starts[at]; i < p->starts[at + 1]; i++) {
            const uint32_t before = p->list[i];
            if (p->visited[before] == p->walk)
                continue;
            p->visited[before] = p->walk;
            if (visit(user, before))
                p->waiting[end++] = before;
        }
        if (first == end)
            return;
        at = p->waiting[first++];
    }
}
