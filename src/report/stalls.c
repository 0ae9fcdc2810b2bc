#include "report/stalls.h"

#include "base/demangle.h"
#include "base/escape.h"
#include "code/instruction.h"
#include "code/mnemonic.h"
#include "report/layout.h"
#include "report/own_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reasons with a smaller share are left out: of the brief line, of the full list. */
#define BRIEF_SHARE 0.1
#define FULL_SHARE 0.01
#define BRIEF_REASONS 3
#define BRIEF_ERROR 0.05 /* with a greater one the brief line has it */
#define FULL_LINES 10
#define REASONS_OF_A_LINE 3
#define NEARLY_ALL 0.995

#define SLOT(kind) [GP_STALL_##kind - GP_FIRST_STALL]

const struct gp_stall_reason gp_stall_reasons[GP_STALL_COUNT] = {
    SLOT(BARRIER) = {"barrier", "at a barrier", "waits at a barrier for other warps of its block",
                     true},
    SLOT(BRANCH_RESOLVING) = {"branch_resolving", "for a branch",
                              "waits until the target of a branch is computed", true},
    SLOT(DISPATCH) = {"dispatch_stall", "for the dispatcher",
                      "waits as the dispatcher holds its instruction back, because of a conflict "
                      "of registers, say",
                      true},
    SLOT(DRAIN) = {"drain", "for stores at its end",
                   "has ended, and waits until its stores have left the SM", true},
    SLOT(CONSTANT_MISS) = {"imc_miss", "for constant memory",
                           "waits for a constant that is not in the cache of constants", true},
    SLOT(LG_THROTTLE) = {"lg_throttle", "to queue a load or store",
                         "waits as the queue for global and local memory is full", true},
    SLOT(LONG_SCOREBOARD) = {"long_scoreboard", "for a load from memory",
                             "waits for the result of a load from global, local, surface or "
                             "texture memory",
                             true},
    SLOT(MATH_THROTTLE) = {"math_pipe_throttle", "for a busy arithmetic unit",
                           "waits until the arithmetic unit of its instruction is free", true},
    SLOT(MEMBAR) = {"membar", "at a memory fence",
                    "waits until its stores before a memory fence can be seen by others", true},
    SLOT(MIO_THROTTLE) = {"mio_throttle", "to queue for shared memory or special functions",
                          "waits as the queue for shared memory, special functions and dynamic "
                          "branches is full",
                          true},
    SLOT(MISC) = {"misc", "for other reasons",
                  "waits for a reason that the hardware has no name "
                  "for",
                  true},
    SLOT(NO_INSTRUCTIONS) = {"no_instructions", "for its next instruction",
                             "waits until its next instruction is fetched: after a jump, or as the "
                             "code is larger than the cache",
                             true},
    SLOT(NOT_SELECTED) = {"not_selected", "are ready, and another warp is picked",
                          "is ready, and another warp was picked in this cycle", false},
    SLOT(SELECTED) = {"selected", "issue an instruction", "issues its instruction", false},
    SLOT(SHORT_SCOREBOARD) = {"short_scoreboard", "for shared memory or a special function",
                              "waits for the result of shared memory, of a special function, or of "
                              "another unit beside the arithmetic ones",
                              true},
    SLOT(SLEEPING) = {"sleeping", "asleep", "sleeps, as its code asks for it", true},
    SLOT(TEX_THROTTLE) = {"tex_throttle", "to queue for textures",
                          "waits as the queue for textures is full", true},
    SLOT(WAIT) = {"wait", "for a fixed delay",
                  "waits for the fixed number of cycles that the instruction before takes", true},
    SLOT(WARPGROUP_ARRIVE) = {"warpgroup_arrive", "for warps of its group",
                              "waits for the other warps of its group, before they multiply "
                              "matrices together",
                              true},
};

/* ---- samples --------------------------------------------------------------------------------- */

uint64_t gp_samples_by(const uint64_t counts[GP_COUNT_KINDS], size_t reason)
{
    return counts[GP_FIRST_STALL + reason];
}

uint64_t gp_samples_of(const uint64_t counts[GP_COUNT_KINDS])
{
    uint64_t sum = 0;
    for (size_t r = 0; r < GP_STALL_COUNT; r++)
        sum += gp_samples_by(counts, r);
    return sum > counts[GP_COUNT_SAMPLES] ? sum : counts[GP_COUNT_SAMPLES];
}

size_t gp_stalls_order(const uint64_t counts[GP_COUNT_KINDS], size_t order[GP_STALL_COUNT])
{
    size_t count = 0;
    for (size_t r = 0; r < GP_STALL_COUNT; r++) {
        size_t rank = count;
        if (gp_samples_by(counts, r) == 0)
            continue;
        for (; rank > 0 && gp_samples_by(counts, order[rank - 1]) < gp_samples_by(counts, r);
             rank--)
            order[rank] = order[rank - 1];
        order[rank] = r;
        count++;
    }
    return count;
}

static void add_samples(uint64_t into[GP_COUNT_KINDS], const uint64_t counts[GP_COUNT_KINDS])
{
    for (size_t k = GP_COUNT_SAMPLES; k < GP_COUNT_KINDS; k++)
        into[k] += counts[k];
}

double gp_stalls_error(uint64_t samples)
{
    return samples > 0 ? 1.96 * 0.5 / sqrt((double)samples) : 1;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int compare_names(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static int compare_frames(const struct gp_frame *a, const struct gp_frame *b)
{
    int order = compare_names(a->directory, b->directory);
    if (order == 0)
        order = compare_names(a->file, b->file);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Lines that are one for the program's author. */
static int compare_own(const struct gp_stall_line *a, const struct gp_stall_line *b)
{
    if (!a->own.file != !b->own.file)
        return a->own.file ? -1 : 1;
    if (a->own.file)
        return compare_frames(&a->own, &b->own);
    int order = compare_names(a->function, b->function);
    return order ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare_lines(const void *x, const void *y)
{
    const struct gp_stall_line *a = x, *b = y;
    int order = compare_own(a, b);
    return order || !a->own.file ? order : compare_frames(&a->innermost, &b->innermost);
}

static void add_instruction(struct gp_stalls *s, const struct gp_instruction_counts *c)
{
    struct gp_frame frames[GP_MOST_FRAMES];
    struct gp_stall_line *line = &s->list[s->count++];
    const struct gp_line_table *table = s->lines->table;
    line->function = s->lines->source.functions[c->function];
    line->offset = c->offset;
    add_samples(line->counts, c->values);
    add_samples(s->counts, c->values);
    size_t count =
        table ? gp_line_table_find(table, line->function, c->offset, frames, GP_MOST_FRAMES) : 0;
    if (count > 0) {
        line->innermost = frames[0];
        line->own = *gp_own_frame(frames, count);
    }
}

static void merge_equal_lines(struct gp_stalls *s)
{
    size_t kept = 0;
    for (size_t i = 1; i < s->count; i++) {
        struct gp_stall_line *last = &s->list[kept];
        if (compare_lines(last, &s->list[i]) == 0)
            add_samples(last->counts, s->list[i].counts);
        else
            s->list[++kept] = s->list[i];
    }
    s->count = s->count > 0 ? kept + 1 : 0;
}

bool gp_stalls_make(struct gp_stalls *s, const struct gp_lines *lines)
{
    *s = (struct gp_stalls){.lines = lines};
    size_t sampled = 0;
    for (size_t i = 0; lines && i < lines->source.instruction_count; i++)
        sampled += gp_samples_of(lines->source.instructions[i].values) > 0;
    if (sampled == 0)
        return true;
    s->list = calloc(sampled, sizeof(*s->list));
    if (!s->list)
        return false;
    for (size_t i = 0; i < lines->source.instruction_count; i++)
        if (gp_samples_of(lines->source.instructions[i].values) > 0)
            add_instruction(s, &lines->source.instructions[i]);
    qsort(s->list, s->count, sizeof(*s->list), compare_lines);
    merge_equal_lines(s);
    s->samples = gp_samples_of(s->counts);
    s->order_count = gp_stalls_order(s->counts, s->order);
    return true;
}

void gp_stalls_free(struct gp_stalls *s)
{
    free(s->list);
    *s = (struct gp_stalls){0};
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void add_where(const struct gp_stalls *s, const struct gp_stall_line *line,
                      struct gp_text *out)
{
    if (line->own.file) {
        gp_own_line_text(&line->own, &line->innermost, out);
        return;
    }
    size_t size;
    const char *code = gp_lines_code(s->lines, line->function, &size), *mnemonic = NULL;
    if (code && size >= GP_INSTRUCTION_BYTES && line->offset <= size - GP_INSTRUCTION_BYTES)
        mnemonic = gp_mnemonic(code + line->offset, s->lines->source.cc);
    gp_text_addf(out, "+0x%" PRIx64, line->offset);
    if (mnemonic)
        gp_text_addf(out, " (%s)", mnemonic);
    if (strcmp(line->function, s->lines->source.kernel) != 0) {
        char *name = gp_demangle(line->function, GP_NAME_BRIEF);
        gp_text_add(out, " of ");
        gp_text_add_escaped(out, name ? name : line->function,
                            strlen(name ? name : line->function));
        free(name);
    }
}

/* The samples of one reason, or all where `reason` is GP_STALL_COUNT. */
static uint64_t samples_for(const struct gp_stall_line *line, size_t reason)
{
    return reason < GP_STALL_COUNT ? gp_samples_by(line->counts, reason)
                                   : gp_samples_of(line->counts);
}

/* A line of the program's own with all code that was inlined there. */
struct own_line {
    size_t first, end; /* in the list */
    uint64_t samples;
};

/* The next one behind `end` of the last; false: there is none. */
static bool next_own(const struct gp_stalls *s, size_t reason, struct own_line *own)
{
    own->first = own->end;
    own->samples = 0;
    while (own->end < s->count && compare_own(&s->list[own->first], &s->list[own->end]) == 0)
        own->samples += samples_for(&s->list[own->end++], reason);
    return own->end > own->first;
}

/* The part of it that has the most samples; the own line itself where none has half of them. */
static struct gp_stall_line heaviest_part(const struct gp_stalls *s, size_t reason,
                                          const struct own_line *own)
{
    const struct gp_stall_line *part = &s->list[own->first];
    for (size_t i = own->first; i < own->end; i++)
        if (samples_for(&s->list[i], reason) > samples_for(part, reason))
            part = &s->list[i];
    struct gp_stall_line answer = *part;
    if (2 * samples_for(part, reason) < own->samples)
        answer.innermost = answer.own;
    return answer;
}

double gp_stalls_where(const struct gp_stalls *s, size_t reason, struct gp_text *out)
{
    const uint64_t all = gp_samples_by(s->counts, reason);
    struct own_line own = {0}, most = {0};
    while (next_own(s, reason, &own))
        if (own.samples > most.samples)
            most = own;
    if (most.samples == 0)
        return 0;
    const struct gp_stall_line part = heaviest_part(s, reason, &most);
    add_where(s, &part, out);
    /* A profile by hand may have more samples than there are numbers. */
    return all > 0 ? fmin(1, (double)most.samples / (double)all) : 1;
}

static double share_of(const struct gp_stalls *s, uint64_t samples)
{
    return (double)samples / (double)s->samples;
}

static void add_share(double share, struct gp_text *out)
{
    gp_text_addf(out, share < 0.095 ? "%.1f %%" : "%.0f %%", 100 * share);
}

/* "61 % for a load from memory (long_scoreboard), most at train.cu:42" */
static void add_clause(const struct gp_stalls *s, size_t reason, struct gp_text *out)
{
    const struct gp_stall_reason *r = &gp_stall_reasons[reason];
    struct gp_text where = {0};
    double part = gp_stalls_where(s, reason, &where);
    add_share(share_of(s, gp_samples_by(s->counts, reason)), out);
    gp_text_addf(out, " %s", r->brief);
    if (!strstr(r->brief, r->name))
        gp_text_addf(out, " (%s)", r->name);
    if (part >= NEARLY_ALL)
        gp_text_add(out, ", at ");
    else if (part > 0.5)
        gp_text_add(out, ", most at ");
    else
        gp_text_addf(out, ", %.0f %% of it at ", 100 * part);
    gp_text_add(out, gp_text_string(&where));
    out->failed |= where.failed;
    gp_text_free(&where);
}

static void add_clause_if_room(const struct gp_stalls *s, size_t reason, bool first, size_t width,
                               size_t begin, struct gp_text *out)
{
    struct gp_text clause = {0};
    gp_text_add(&clause, first ? "" : "; ");
    add_clause(s, reason, &clause);
    if (first || out->length - begin + clause.length <= width)
        gp_text_add(out, gp_text_string(&clause));
    out->failed |= clause.failed;
    gp_text_free(&clause);
}

void gp_stalls_brief(const struct gp_stalls *s, size_t width, struct gp_text *out)
{
    const size_t begin = out->length;
    size_t said = 0;
    if (s->samples < GP_LEAST_SAMPLES)
        return;
    for (size_t i = 0; i < s->order_count && said < BRIEF_REASONS; i++) {
        size_t reason = s->order[i];
        if (!gp_stall_reasons[reason].waits ||
            share_of(s, gp_samples_by(s->counts, reason)) < BRIEF_SHARE)
            continue;
        gp_text_add(out, said == 0 ? "warps wait: " : "");
        add_clause_if_room(s, reason, said++ == 0, width, begin, out);
    }
    if (said == 0)
        gp_text_addf(out, "warps hardly wait for any one reason: %.0f %% issue, %.0f %% are ready",
                     100 * share_of(s, s->counts[GP_STALL_SELECTED]),
                     100 * share_of(s, s->counts[GP_STALL_NOT_SELECTED]));
    const double error = gp_stalls_error(s->samples);
    if (error > BRIEF_ERROR)
        gp_text_addf(out, " (%" PRIu64 " samples: ±%.0f points)", s->samples, 100 * error);
}

static void add_reasons(const struct gp_stalls *s, struct gp_text *out)
{
    for (size_t i = 0; i < s->order_count; i++) {
        const size_t reason = s->order[i];
        const struct gp_stall_reason *r = &gp_stall_reasons[reason];
        struct gp_text line = {0}, where = {0};
        const double share = share_of(s, gp_samples_by(s->counts, reason));
        if (share < FULL_SHARE)
            break;
        const double part = gp_stalls_where(s, reason, &where);
        gp_text_addf(out, "   %5.1f %%  %-19s", 100 * share, r->name);
        gp_text_addf(&line, "%s; %.0f %% of it at %s", r->meaning, 100 * part,
                     gp_text_string(&where));
        gp_wrap(out, 32, gp_text_string(&line));
        out->failed |= line.failed || where.failed;
        gp_text_free(&line);
        gp_text_free(&where);
    }
}

/* The program's own lines with the most samples. Returns how many. */
static size_t choose_lines(const struct gp_stalls *s, struct own_line chosen[FULL_LINES])
{
    struct own_line own = {0};
    size_t count = 0;
    while (next_own(s, GP_STALL_COUNT, &own)) {
        if (share_of(s, own.samples) < FULL_SHARE)
            continue;
        size_t rank = count < FULL_LINES ? count++ : count;
        for (; rank > 0 && chosen[rank - 1].samples < own.samples; rank--)
            if (rank < FULL_LINES)
                chosen[rank] = chosen[rank - 1];
        if (rank < FULL_LINES)
            chosen[rank] = own;
    }
    return count;
}

static void add_line(const struct gp_stalls *s, const struct own_line *own, struct gp_text *out)
{
    uint64_t counts[GP_COUNT_KINDS] = {0};
    size_t order[GP_STALL_COUNT];
    struct gp_text line = {0};
    for (size_t i = own->first; i < own->end; i++)
        add_samples(counts, s->list[i].counts);
    const size_t count = gp_stalls_order(counts, order);
    const struct gp_stall_line part = heaviest_part(s, GP_STALL_COUNT, own);
    add_where(s, &part, &line);
    for (size_t i = 0; i < count && i < REASONS_OF_A_LINE; i++) {
        const double share = share_of(s, gp_samples_by(counts, order[i]));
        if (i > 0 && share < FULL_SHARE)
            break;
        gp_text_addf(&line, "%s%s ", i > 0 ? ", " : ": ", gp_stall_reasons[order[i]].name);
        add_share(share, &line);
    }
    gp_text_addf(out, "   %5.1f %%  ", 100 * share_of(s, own->samples));
    gp_wrap(out, 12, gp_text_string(&line));
    out->failed |= line.failed;
    gp_text_free(&line);
}

void gp_stalls_full(const struct gp_stalls *s, struct gp_text *out)
{
    struct own_line chosen[FULL_LINES];
    if (s->samples == 0)
        return;
    const uint64_t runs = s->lines->source.sampled;
    gp_text_addf(out,
                 "   why warps were at their instructions: %" PRIu64 " samples in %" PRIu64
                 " run%s, so shares are sure to ±%.1f points at best\n",
                 s->samples, runs, runs == 1 ? "" : "s", 100 * gp_stalls_error(s->samples));
    add_reasons(s, out);
    const size_t count = choose_lines(s, chosen);
    if (count > 0)
        gp_text_addf(out, "   the %s with most samples%s%s\n",
                     s->lines->table ? "lines" : "instructions",
                     s->lines->table ? ", with the code inlined there" : ": ",
                     s->lines->table ? "" : s->lines->no_lines);
    for (size_t i = 0; i < count; i++)
        add_line(s, &chosen[i], out);
}
