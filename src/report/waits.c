#include "report/waits.h"

#include "code/accurate.h"
#include "code/address_origins.h"
#include "code/divisions.h"
#include "code/instruction.h"
#include "code/scoreboards.h"
#include "report/lines.h"
#include "report/own_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Instructions that one is taken to wait for; the causes of one kernel's samples. */
#define MOST_PRODUCERS 8
#define MOST_CAUSES ((size_t)1 << 16)

#define BAR 0x11d
#define NANOSLEEP 0x15d
#define OPCODE_MASK 0x1ff

/* The reasons by the kinds of samples; GP_WAIT_COUNT for those that are no waits. */
static const enum gp_wait wait_of[GP_COUNT_KINDS] = {
    [GP_STALL_SELECTED] = GP_WAIT_COUNT,
    [GP_STALL_NOT_SELECTED] = GP_WAIT_COUNT,
#define REASON(NAME, name, help) [GP_STALL_##NAME] = GP_WAIT_##NAME,
#define CAUSE(NAME, name, help)
#include "report/waits.def"
#undef CAUSE
#undef REASON
};

/* A function of the kernel's code. */
struct function {
    struct gp_paths *paths; /* NULL: its code is not known */
    bool *divisions;        /* the instructions of them; NULL: not known */
    uint8_t *origins;       /* of the addresses of instructions, as far as they are known */
    bool divides;           /* it is a subroutine that does nothing else */
    const struct gp_instruction_counts **counts; /* by instruction; NULL: nothing was counted */
};

struct finding {
    struct gp_waits *waits;
    const struct gp_lines *lines;
    const struct gp_code_counts *source;
    struct function *functions;
    /* the instruction at hand */
    struct function *f;
    uint32_t function;
    uint32_t n;
    uint64_t issued, issued_as[GP_WAIT_COUNT]; /* samples */
    struct at_list *angles;                    /* lines with a sine, a cosine or a tangent */
    bool failed;
};

static void add(struct finding *g, enum gp_wait wait, uint32_t cause, uint32_t waiting,
                uint64_t parts)
{
    struct gp_waits *w = g->waits;
    if (w->count == MOST_CAUSES || parts == 0)
        return;
    if (w->count == w->capacity) {
        const size_t capacity = w->capacity ? 2 * w->capacity : 64;
        struct gp_caused *more = realloc(w->list, capacity * sizeof(*more));
        if (!more) {
            g->failed = true;
            return;
        }
        w->list = more;
        w->capacity = capacity;
    }
    w->list[w->count++] = (struct gp_caused){.wait = wait,
                                             .function = g->function,
                                             .cause = cause * GP_INSTRUCTION_BYTES,
                                             .waiting = waiting * GP_INSTRUCTION_BYTES,
                                             .at = g->n * GP_INSTRUCTION_BYTES,
                                             .parts = parts};
}

/* ---- one instruction ------------------------------------------------------------------------- */

enum { ORIGINS_KNOWN = 1, IS_LOADED = 2, DIFFERS_IN_LANES = 4 };

static unsigned origins_of(const struct function *f, size_t n)
{
    if (!f->origins[n]) {
        const struct gp_address_origins o = gp_address_origins_of(f->paths, n);
        f->origins[n] = (uint8_t)(ORIGINS_KNOWN | (o.is_loaded ? IS_LOADED : 0) |
                                  (o.differs_in_lanes ? DIFFERS_IN_LANES : 0));
    }
    return f->origins[n];
}

/* The wait of instructions that need the result of this one; GP_WAIT_COUNT: none that rules name.
 */
static enum gp_wait wait_for(const struct finding *g, const uint64_t word[2], uint32_t n)
{
    static const enum gp_wait waits[] = {
        [GP_AWAITED_OTHER] = GP_WAIT_COUNT,
        [GP_AWAITED_LOAD] = GP_WAIT_LOADS,
        [GP_AWAITED_STORE] = GP_WAIT_COUNT,
        [GP_AWAITED_LOCAL] = GP_WAIT_LOCAL,
        [GP_AWAITED_ATOMIC] = GP_WAIT_ATOMICS,
        [GP_AWAITED_TEXTURE] = GP_WAIT_TEXTURES,
        [GP_AWAITED_COPY] = GP_WAIT_COPIES,
        [GP_AWAITED_SHARED] = GP_WAIT_SHARED,
        [GP_AWAITED_SHARED_ATOMIC] = GP_WAIT_SHARED_ATOMICS,
        [GP_AWAITED_CONSTANT] = GP_WAIT_CONSTANTS,
        [GP_AWAITED_PARAMETER] = GP_WAIT_COUNT,
        [GP_AWAITED_SPECIAL] = GP_WAIT_SPECIAL,
        [GP_AWAITED_EXCHANGE] = GP_WAIT_EXCHANGES,
        [GP_AWAITED_REGISTER] = GP_WAIT_COUNT,
        [GP_AWAITED_DOUBLE] = GP_WAIT_DOUBLES,
        [GP_AWAITED_MATRIX] = GP_WAIT_MATRICES,
    };
    return g->f->divisions[n] ? GP_WAIT_DIVISIONS : waits[gp_awaited_kind(word, g->source->cc)];
}

/* An instruction is the cause of that many samples at the one at hand, which may be itself. */
static void blame(struct finding *g, uint32_t cause, uint64_t parts)
{
    uint64_t word[2];
    gp_paths_word(g->f->paths, cause, word);
    const enum gp_wait wait = wait_for(g, word, cause);
    if (wait == GP_WAIT_COUNT)
        return;
    add(g, wait, cause, g->n, parts);
    if (wait == GP_WAIT_LOADS && origins_of(g->f, cause) & IS_LOADED)
        add(g, GP_WAIT_CHAINS, cause, g->n, parts);
    if (wait == GP_WAIT_CONSTANTS && origins_of(g->f, cause) & DIFFERS_IN_LANES)
        add(g, GP_WAIT_LANE_CONSTANTS, cause, g->n, parts);
    if (wait == GP_WAIT_SPECIAL && gp_is_conversion(word))
        add(g, GP_WAIT_CONVERSIONS, cause, g->n, parts);
}

/* Samples that wait for results. False where nothing is found that brings one. */
static bool blame_producers(struct finding *g, enum gp_queue queue, uint64_t samples)
{
    uint32_t found[MOST_PRODUCERS];
    const size_t count = gp_producers_find(g->f->paths, g->n, queue, found, MOST_PRODUCERS);
    for (size_t i = 0; i < count; i++)
        blame(g, found[i], samples * GP_SAMPLE_PARTS / count);
    return count > 0;
}

static bool is_barrier(const struct gp_paths *p, size_t n)
{
    uint64_t word[2];
    gp_paths_word(p, n, word);
    return (word[0] & OPCODE_MASK) == BAR;
}

/* The instruction at which most samples of warps stand that have not come to a barrier yet. */
struct slowest {
    const struct function *f;
    size_t barrier, hottest;
    uint64_t samples;
};

static bool visit_before_barrier(void *user, size_t n)
{
    struct slowest *s = user;
    const struct gp_instruction_counts *c = s->f->counts[n];
    const uint64_t all = c ? c->values[GP_COUNT_SAMPLES] : 0;
    const uint64_t at_barrier = c ? c->values[GP_STALL_BARRIER] : 0;
    const uint64_t samples = all > at_barrier ? all - at_barrier : 0;
    if (samples > s->samples) {
        s->samples = samples;
        s->hottest = n;
    }
    return !is_barrier(s->f->paths, n);
}

static bool visit_to_barrier(void *user, size_t n)
{
    struct slowest *s = user;
    if (s->barrier == SIZE_MAX && is_barrier(s->f->paths, n))
        s->barrier = n;
    return s->barrier == SIZE_MAX;
}

/* A warp waits at the barrier, or at the instruction behind it. */
static void blame_barrier(struct finding *g, uint64_t samples)
{
    struct slowest s = {.f = g->f, .barrier = SIZE_MAX};
    if (is_barrier(g->f->paths, g->n))
        s.barrier = g->n;
    else
        gp_paths_walk_back(g->f->paths, g->n, visit_to_barrier, &s);
    if (s.barrier == SIZE_MAX)
        return;
    s.hottest = s.barrier;
    gp_paths_walk_back(g->f->paths, s.barrier, visit_before_barrier, &s);
    add(g, GP_WAIT_BARRIERS, (uint32_t)s.hottest, (uint32_t)s.barrier, samples * GP_SAMPLE_PARTS);
}

struct to_sleep {
    const struct gp_paths *paths;
    size_t at;
};

static bool visit_to_sleep(void *user, size_t n)
{
    struct to_sleep *s = user;
    uint64_t word[2];
    gp_paths_word(s->paths, n, word);
    if (s->at == SIZE_MAX && (word[0] & OPCODE_MASK) == NANOSLEEP)
        s->at = n;
    return s->at == SIZE_MAX;
}

/* A warp sleeps at the instruction behind the one that sends it to sleep. */
static void blame_sleep(struct finding *g, uint64_t samples)
{
    struct to_sleep s = {.paths = g->f->paths, .at = SIZE_MAX};
    gp_paths_walk_back(g->f->paths, g->n, visit_to_sleep, &s);
    if (s.at != SIZE_MAX)
        add(g, GP_WAIT_SLEEPS, (uint32_t)s.at, g->n, samples * GP_SAMPLE_PARTS);
}

/* Samples in a division, but for those that wait for the load of a number, or in front of it for
 * other warps. */
static void blame_division(struct finding *g, enum gp_count_kind reason, uint64_t samples)
{
    if (g->f->paths && reason == GP_STALL_LONG_SCOREBOARD &&
        blame_producers(g, GP_QUEUE_LONG, samples))
        return;
    if (g->f->paths && reason == GP_STALL_BARRIER)
        blame_barrier(g, samples);
    else
        add(g, GP_WAIT_DIVISIONS, g->n, g->n, samples * GP_SAMPLE_PARTS);
}

static void find_cause(struct finding *g, enum gp_count_kind reason, uint64_t samples)
{
    if (g->f->divides || (g->f->divisions && g->f->divisions[g->n])) {
        blame_division(g, reason, samples);
        return;
    }
    if (!g->f->paths)
        return;
    switch (reason) {
    case GP_STALL_LONG_SCOREBOARD:
        (void)blame_producers(g, GP_QUEUE_LONG, samples);
        break;
    case GP_STALL_SHORT_SCOREBOARD:
        (void)blame_producers(g, GP_QUEUE_SHORT, samples);
        break;
    case GP_STALL_CONSTANT_MISS:
    case GP_STALL_LG_THROTTLE:
    case GP_STALL_MIO_THROTTLE:
    case GP_STALL_TEX_THROTTLE:
    case GP_STALL_MATH_THROTTLE: {
        uint64_t word[2];
        gp_paths_word(g->f->paths, g->n, word);
        /* A load has no result to wait for yet: the queue is the reason, not the load. */
        if (gp_awaited_kind(word, g->source->cc) != GP_AWAITED_LOAD)
            blame(g, g->n, samples * GP_SAMPLE_PARTS);
        break;
    }
    case GP_STALL_BARRIER:
        blame_barrier(g, samples);
        break;
    case GP_STALL_SLEEPING:
        blame_sleep(g, samples);
        break;
    default:
        break;
    }
}

/* ---- the code -------------------------------------------------------------------------------- */

static bool open_function(struct finding *g, uint32_t i)
{
    struct function *f = &g->functions[i];
    const char *name = g->source->functions[i];
    size_t size;
    const void *code = gp_lines_code(g->lines, name, &size);
    f->divides = gp_is_division(name);
    if (!code || size < GP_INSTRUCTION_BYTES || size > GP_LONGEST_CODE)
        return true;
    f->paths = gp_paths_open(code, size, g->source->cc);
    f->divisions = calloc(size / GP_INSTRUCTION_BYTES, sizeof(*f->divisions));
    f->origins = calloc(size / GP_INSTRUCTION_BYTES, sizeof(*f->origins));
    f->counts = calloc(size / GP_INSTRUCTION_BYTES, sizeof(struct gp_instruction_counts *));
    if (!f->paths || !f->divisions || !f->origins || !f->counts)
        return false;
    gp_divisions_mark(code, size, g->source->cc, f->divisions);
    return true;
}

static void close_functions(struct finding *g)
{
    for (size_t i = 0; g->functions && i < g->source->function_count; i++) {
        gp_paths_close(g->functions[i].paths);
        free(g->functions[i].divisions);
        free(g->functions[i].origins);
        free(g->functions[i].counts);
    }
    free(g->functions);
}

static bool open_functions(struct finding *g)
{
    g->functions = calloc(g->source->function_count + 1, sizeof(*g->functions));
    for (uint32_t i = 0; g->functions && i < g->source->function_count; i++)
        if (!open_function(g, i))
            return false;
    for (size_t i = 0; g->functions && i < g->source->instruction_count; i++) {
        const struct gp_instruction_counts *c = &g->source->instructions[i];
        const struct function *f = &g->functions[c->function];
        const size_t n = c->offset / GP_INSTRUCTION_BYTES;
        if (f->paths && n < f->paths->count)
            f->counts[n] = c;
    }
    return g->functions != NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* A line of the source, or the instruction itself where there is no line table. */
struct at {
    const char *file;
    uint32_t function;
    uint64_t number;
};

static struct at line_of(const struct gp_lines *lines, uint32_t function, uint32_t offset)
{
    struct gp_frame frames[GP_MOST_FRAMES];
    const size_t count = lines->table
                             ? gp_line_table_find(lines->table, lines->source.functions[function],
                                                  offset, frames, GP_MOST_FRAMES)
                             : 0;
    if (count == 0)
        return (struct at){.function = function, .number = offset};
    const struct gp_frame *own = gp_own_frame(frames, count);
    return (struct at){.file = own->file, .number = own->line};
}

static bool is_same(const struct at *a, const struct at *b)
{
    if (!a->file || !b->file)
        return !a->file && !b->file && a->function == b->function && a->number == b->number;
    return a->number == b->number && (a->file == b->file || strcmp(a->file, b->file) == 0);
}

/* Lines with causes of one wait. */
#define MOST_AT 256
struct at_list {
    struct at list[MOST_AT];
    size_t count;
};

static bool has(const struct at_list *l, const struct at *line)
{
    for (size_t i = 0; i < l->count; i++)
        if (is_same(&l->list[i], line))
            return true;
    return false;
}

static void add_line(struct at_list *l, struct at line)
{
    if (l->count < MOST_AT && !has(l, &line))
        l->list[l->count++] = line;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Samples at which an instruction was issued, by kind. */
static void add_issued(struct finding *g, const struct gp_instruction_counts *c)
{
    uint64_t word[2];
    const uint64_t issued = c->values[GP_STALL_SELECTED];
    if (!g->f->paths || g->n >= g->f->paths->count)
        return;
    gp_paths_word(g->f->paths, g->n, word);
    const enum gp_wait wait = wait_for(g, word, g->n);
    g->issued += issued;
    if (wait != GP_WAIT_COUNT)
        g->issued_as[wait] += issued;
    if (wait == GP_WAIT_SPECIAL && gp_is_conversion(word))
        g->issued_as[GP_WAIT_CONVERSIONS] += issued;
    if (!gp_is_accurate_function(word))
        return;
    if (gp_is_accurate_angle(word))
        add_line(g->angles, line_of(g->lines, g->function, c->offset));
    add(g, GP_WAIT_ACCURATE, g->n, g->n, c->values[GP_COUNT_SAMPLES] * GP_SAMPLE_PARTS);
    if (!gp_is_accurate_quotient(word))
        g->issued_as[GP_WAIT_ACCURATE] += issued;
}

/* Stores wait in the queue of shared memory as well. */
static bool reaches_memory(const struct finding *g)
{
    uint64_t word[2];
    if (!g->f->paths || g->n >= g->f->paths->count)
        return true;
    gp_paths_word(g->f->paths, g->n, word);
    switch (gp_awaited_kind(word, g->source->cc)) {
    case GP_AWAITED_LOAD:
    case GP_AWAITED_STORE:
    case GP_AWAITED_LOCAL:
    case GP_AWAITED_ATOMIC:
    case GP_AWAITED_TEXTURE:
    case GP_AWAITED_COPY:
        return true;
    default:
        return false;
    }
}

static void add_memory(struct finding *g, const uint64_t samples[GP_COUNT_KINDS])
{
    static const enum gp_count_kind waits[] = {
        GP_STALL_LONG_SCOREBOARD, GP_STALL_LG_THROTTLE, GP_STALL_TEX_THROTTLE, GP_STALL_MEMBAR,
        GP_STALL_DRAIN,           GP_STALL_BARRIER,     GP_STALL_SLEEPING};
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        g->waits->memory += (double)samples[waits[i]];
    if (reaches_memory(g))
        g->waits->memory += (double)samples[GP_STALL_MIO_THROTTLE];
}

static void find_causes(struct finding *g)
{
    for (size_t i = 0; i < g->source->instruction_count && !g->failed; i++) {
        const struct gp_instruction_counts *c = &g->source->instructions[i];
        g->waits->samples += c->values[GP_COUNT_SAMPLES];
        g->function = c->function;
        g->f = &g->functions[c->function];
        g->n = c->offset / GP_INSTRUCTION_BYTES;
        add_issued(g, c);
        add_memory(g, c->values);
        for (unsigned k = GP_FIRST_STALL; k < GP_COUNT_KINDS; k++) {
            if (wait_of[k] != GP_WAIT_COUNT)
                g->waits->shares[wait_of[k]] += (double)c->values[k];
            if (c->values[k] > 0 && (!g->f->paths || g->n < g->f->paths->count))
                find_cause(g, k, c->values[k]);
        }
    }
    for (size_t i = 0; i < g->waits->count; i++)
        g->waits->shares[g->waits->list[i].wait] +=
            (double)g->waits->list[i].parts / GP_SAMPLE_PARTS;
    for (enum gp_wait w = 0; w < GP_WAIT_COUNT; w++)
        g->waits->issued[w] =
            g->issued > 0 ? (double)g->issued_as[w] / (double)g->issued : (double)NAN;
}

static bool computes(enum gp_wait wait)
{
    return wait == GP_WAIT_SPECIAL || wait == GP_WAIT_CONVERSIONS || wait == GP_WAIT_ACCURATE ||
           wait == GP_WAIT_DIVISIONS;
}

/* Parts of a larger cause (chains, constants that differ between lanes) are left out. */
static bool is_of_memory_or_warps(enum gp_wait wait)
{
    return wait == GP_WAIT_LOADS || wait == GP_WAIT_LOCAL || wait == GP_WAIT_TEXTURES ||
           wait == GP_WAIT_COPIES || wait == GP_WAIT_ATOMICS || wait == GP_WAIT_SHARED ||
           wait == GP_WAIT_SHARED_ATOMICS || wait == GP_WAIT_CONSTANTS ||
           wait == GP_WAIT_BARRIERS || wait == GP_WAIT_SLEEPS;
}

/* The function reads a table of its own where an angle is large. */
static bool is_of_table(const struct finding *g, const struct gp_caused *c)
{
    const struct at load = line_of(g->lines, c->function, c->cause);
    return (c->wait == GP_WAIT_LOADS || c->wait == GP_WAIT_LOCAL) && has(g->angles, &load);
}

/* Samples at lines of causes that do not go with these, but wait for memory or warps: a function
 * needs its numbers, however it is computed. */
static double sum_of_others(const struct finding *g, enum gp_wait wait,
                            const struct at_list *causes)
{
    double sum = 0;
    for (size_t i = 0; computes(wait) && i < g->waits->count; i++) {
        const struct gp_caused *c = &g->waits->list[i];
        const struct at line = line_of(g->lines, c->function, c->at);
        if (is_of_memory_or_warps(c->wait) && has(causes, &line) && !is_of_table(g, c))
            sum += (double)c->parts / GP_SAMPLE_PARTS;
    }
    return sum;
}

/* Samples at lines with causes; besides those elsewhere that wait for one. */
static double sum_at_lines(const struct finding *g, enum gp_wait wait, const struct at *lines_of,
                           struct at_list *causes)
{
    double sum = 0;
    causes->count = 0;
    for (size_t i = 0; i < g->waits->count; i++) {
        const struct gp_caused *c = &g->waits->list[i];
        if (c->wait != wait)
            continue;
        add_line(causes, line_of(g->lines, c->function, c->cause));
    }
    if (causes->count == 0)
        return 0;
    for (size_t i = 0; i < g->source->instruction_count; i++)
        if (has(causes, &lines_of[i]))
            sum += (double)g->source->instructions[i].values[GP_COUNT_SAMPLES];
    for (size_t i = 0; i < g->waits->count; i++) {
        const struct gp_caused *c = &g->waits->list[i];
        if (c->wait != wait)
            continue;
        const struct at line = line_of(g->lines, c->function, c->at);
        if (!has(causes, &line))
            sum += (double)c->parts / GP_SAMPLE_PARTS;
    }
    return sum - sum_of_others(g, wait, causes);
}

static void sum_lines(struct finding *g)
{
    struct at *lines_of = calloc(g->source->instruction_count + 1, sizeof(*lines_of));
    struct at_list *causes = calloc(1, sizeof(*causes));
    g->failed = g->failed || !lines_of || !causes;
    for (size_t i = 0; !g->failed && i < g->source->instruction_count; i++)
        lines_of[i] = line_of(g->lines, g->source->instructions[i].function,
                              g->source->instructions[i].offset);
    for (enum gp_wait w = 0; !g->failed && w < GP_WAIT_COUNT; w++)
        g->waits->at_lines[w] = sum_at_lines(g, w, lines_of, causes);
    free(lines_of);
    free(causes);
}

struct gp_waits *gp_waits_make(const struct gp_lines *lines)
{
    struct finding g = {.lines = lines, .source = &lines->source};
    if (lines->source.sampled == 0 || !(lines->source.kinds & 1u << GP_COUNT_SAMPLES))
        return NULL;
    g.waits = calloc(1, sizeof(*g.waits));
    if (!g.waits)
        return NULL;
    g.angles = calloc(1, sizeof(*g.angles));
    g.failed = !g.angles || !open_functions(&g);
    if (!g.failed)
        find_causes(&g);
    if (!g.failed)
        sum_lines(&g);
    close_functions(&g);
    free(g.angles);
    if (g.failed || g.waits->samples < GP_LEAST_SAMPLES) {
        gp_waits_free(g.waits);
        return NULL;
    }
    g.waits->memory /= (double)g.waits->samples;
    for (enum gp_wait w = 0; w < GP_WAIT_COUNT; w++) {
        g.waits->shares[w] /= (double)g.waits->samples;
        g.waits->at_lines[w] /= (double)g.waits->samples;
    }
    return g.waits;
}

void gp_waits_free(struct gp_waits *w)
{
    if (w)
        free(w->list);
    free(w);
}
