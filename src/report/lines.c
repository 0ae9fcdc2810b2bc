#include "report/lines.h"

#include "code/cubin.h"
#include "code/halves.h"
#include "code/instruction.h"
#include "code/two_sides.h"
#include "report/own_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are searched for the heaviest line. */
#define MOST_LINES 4096

/* F2F with a number of 64 bits, by the nine bits that name an instruction. */
#define F2F_64 0x110
#define BAR 0x11d
#define MEMBAR 0x192

static uint64_t excess(uint64_t actual, uint64_t ideal)
{
    return actual > ideal ? actual - ideal : 0;
}

uint64_t gp_lines_weigh(const struct gp_instruction_counts *c, enum gp_weight weight)
{
    switch (weight) {
    case GP_WEIGHT_WASTED_SECTORS:
        return excess(c->values[GP_COUNT_SECTORS], c->values[GP_COUNT_SECTORS_IDEAL]);
    case GP_WEIGHT_BANK_CONFLICTS:
        return excess(c->values[GP_COUNT_WAVEFRONTS], c->values[GP_COUNT_WAVEFRONTS_IDEAL]);
    case GP_WEIGHT_DIVERGENCE:
        return c->values[GP_COUNT_DIVERGENT];
    case GP_WEIGHT_SECTORS:
    case GP_WEIGHT_ATOMICS:
        return c->values[GP_COUNT_SECTORS];
    case GP_WEIGHT_WAVEFRONTS:
        return c->values[GP_COUNT_WAVEFRONTS];
    case GP_WEIGHT_BRANCHES:
        return c->values[GP_COUNT_BRANCHES];
    case GP_WEIGHT_WARPS:
        return c->values[GP_COUNT_WARPS];
    case GP_WEIGHT_IDLE_LANES:
        return excess(32 * c->values[GP_COUNT_WARPS], c->values[GP_COUNT_THREADS_ON]);
    case GP_WEIGHT_OFF_LANES:
        return excess(c->values[GP_COUNT_THREADS], c->values[GP_COUNT_THREADS_ON]);
    default:
        return 0;
    }
}

/* The counts that a weight is made of; 0: it is found in the code. */
static unsigned kinds_of(enum gp_weight weight)
{
    switch (weight) {
    case GP_WEIGHT_WASTED_SECTORS:
        return 1u << GP_COUNT_SECTORS | 1u << GP_COUNT_SECTORS_IDEAL;
    case GP_WEIGHT_BANK_CONFLICTS:
        return 1u << GP_COUNT_WAVEFRONTS | 1u << GP_COUNT_WAVEFRONTS_IDEAL;
    case GP_WEIGHT_DIVERGENCE:
        return 1u << GP_COUNT_DIVERGENT;
    case GP_WEIGHT_SECTORS:
    case GP_WEIGHT_ATOMICS:
        return 1u << GP_COUNT_SECTORS;
    case GP_WEIGHT_WAVEFRONTS:
        return 1u << GP_COUNT_WAVEFRONTS;
    case GP_WEIGHT_BRANCHES:
        return 1u << GP_COUNT_BRANCHES;
    case GP_WEIGHT_WARPS:
        return 1u << GP_COUNT_WARPS;
    case GP_WEIGHT_IDLE_LANES:
        return 1u << GP_COUNT_WARPS | 1u << GP_COUNT_THREADS_ON;
    case GP_WEIGHT_OFF_LANES:
        return 1u << GP_COUNT_THREADS | 1u << GP_COUNT_THREADS_ON;
    default:
        return 0;
    }
}

static bool is_one_of(const struct gp_instruction *i, enum gp_weight weight)
{
    switch (weight) {
    case GP_WEIGHT_LOCAL:
        return i->op == GP_OP_LDL || i->op == GP_OP_STL;
    case GP_WEIGHT_FP64:
        return i->op == GP_OP_DADD || i->op == GP_OP_DMUL || i->op == GP_OP_DFMA;
    case GP_WEIGHT_MATRIX:
        return i->op >= GP_OP_HMMA && i->op <= GP_OP_UTCMMA;
    case GP_WEIGHT_ATOMICS:
        return i->op == GP_OP_ATOM || i->op == GP_OP_ATOMG || i->op == GP_OP_RED;
    case GP_WEIGHT_CONVERSIONS:
        return (i->opcode & 0x1ff) == F2F_64;
    case GP_WEIGHT_BARRIERS:
        return (i->opcode & 0x1ff) == BAR;
    case GP_WEIGHT_FENCES:
        return (i->opcode & 0x1ff) == MEMBAR;
    default:
        return true;
    }
}

bool gp_lines_is_wait(enum gp_weight weight)
{
    return weight >= GP_WEIGHT_FIRST_WAIT && weight < GP_WEIGHT_COUNT;
}

const void *gp_lines_code(const struct gp_lines *lines, const char *function, size_t *size)
{
    static const char prefix[] = ".text.";
    struct gp_cubin cubin;
    *size = 0;
    if (!lines->cubin || !gp_cubin_open(&cubin, lines->cubin, lines->cubin_size))
        return NULL;
    for (unsigned i = 0; i < cubin.count; i++) {
        const char *name = gp_cubin_section_name(&cubin, i);
        const Elf64_Shdr section = gp_cubin_section(&cubin, i);
        if (strncmp(name, prefix, strlen(prefix)) == 0 &&
            strcmp(name + strlen(prefix), function) == 0 && section.sh_type == SHT_PROGBITS &&
            gp_cubin_holds(&cubin, &section)) {
            *size = section.sh_size;
            return cubin.base + section.sh_offset;
        }
    }
    return NULL;
}

static bool instruction_at(const struct gp_lines *lines, const char *function, uint64_t offset,
                           struct gp_instruction *instruction)
{
    size_t size;
    const char *code = gp_lines_code(lines, function, &size);
    if (!code || size < GP_INSTRUCTION_BYTES || offset > size - GP_INSTRUCTION_BYTES)
        return false;
    *instruction = gp_instruction_decode(code + offset, lines->source.cc);
    return true;
}

bool gp_lines_in_code(enum gp_weight weight)
{
    return weight != GP_WEIGHT_NONE && !gp_lines_is_wait(weight) && kinds_of(weight) == 0;
}

static bool is_product(const struct gp_lines *lines, const void *code, size_t at, bool plain)
{
    const enum gp_product product = lines->products && lines->products->code == code
                                        ? gp_products_at(lines->products, at)
                                        : GP_NO_PRODUCT;
    return plain ? product == GP_PLAIN_PRODUCT : product != GP_NO_PRODUCT;
}

bool gp_lines_code_has(const struct gp_lines *lines, const void *code, size_t size, size_t at,
                       enum gp_weight weight)
{
    if (weight == GP_WEIGHT_TWO_SIDES)
        return gp_is_of_two_sides(code, size, at);
    if (weight == GP_WEIGHT_MULTIPLY_ADDS)
        return gp_is_multiply_add(code, at, lines->source.cc);
    if (weight == GP_WEIGHT_PRODUCTS || weight == GP_WEIGHT_PLAIN_PRODUCTS)
        return is_product(lines, code, at, weight == GP_WEIGHT_PLAIN_PRODUCTS);
    if (weight == GP_WEIGHT_HALVES)
        return gp_is_half_arithmetic(code, at, lines->source.cc);
    if (weight == GP_WEIGHT_SCALAR_HALVES)
        return gp_is_scalar_half_arithmetic(code, at, lines->source.cc);
    const struct gp_instruction i =
        gp_instruction_decode((const char *)code + at, lines->source.cc);
    return is_one_of(&i, weight);
}

/* How many instructions of the kernel's own code are such. */
static double count_in_code(const struct gp_lines *lines, enum gp_weight weight)
{
    size_t size;
    const char *code = gp_lines_code(lines, lines->source.kernel, &size);
    const bool of_products = weight == GP_WEIGHT_PRODUCTS || weight == GP_WEIGHT_PLAIN_PRODUCTS;
    double count = 0;
    if (!code || (of_products && !lines->products))
        return (double)NAN;
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES)
        count += gp_lines_code_has(lines, code, size, at, weight);
    return count;
}

/* Atomic operations are counted with all other accesses to memory. */
static bool is_weighed(const struct gp_lines *lines, const struct gp_instruction_counts *c,
                       enum gp_weight weight)
{
    struct gp_instruction i;
    return weight != GP_WEIGHT_ATOMICS ||
           (instruction_at(lines, lines->source.functions[c->function], c->offset, &i) &&
            is_one_of(&i, weight));
}

double gp_lines_total(const struct gp_lines *lines, enum gp_weight weight)
{
    const struct gp_code_counts *s = &lines->source;
    unsigned kinds = kinds_of(weight);
    double total = 0;
    if (gp_lines_is_wait(weight))
        return lines->waits ? lines->waits->shares[weight - GP_WEIGHT_FIRST_WAIT] : (double)NAN;
    if (!kinds)
        return count_in_code(lines, weight);
    if ((s->kinds & kinds) != kinds || s->launches == 0)
        return (double)NAN;
    for (size_t i = 0; i < s->instruction_count; i++) {
        const struct gp_instruction_counts *c = &s->instructions[i];
        if (is_weighed(lines, c, weight))
            total += (double)gp_lines_weigh(c, weight);
    }
    return total / (double)s->launches;
}

/* ---- the heaviest line ----------------------------------------------------------------------- */

struct line {
    const char *file; /* NULL: none, the offset itself */
    unsigned number;
    const char *caller; /* the program's own line that it came through (report/own_line.h) */
    unsigned caller_number;
    const char *function;
    uint64_t offset, weight;
};

struct line_list {
    struct line *lines;
    size_t count;
};

static bool is_same_line(const struct line *a, const struct line *b)
{
    return a->file && b->file && a->number == b->number && a->caller_number == b->caller_number &&
           strcmp(a->file, b->file) == 0 && strcmp(a->caller, b->caller) == 0;
}

static void add_to_line(struct line_list *list, const struct gp_lines *lines, const char *function,
                        uint64_t offset, uint64_t weight)
{
    struct gp_frame frames[GP_MOST_FRAMES];
    struct line line = {.function = function, .offset = offset, .weight = weight};
    if (weight == 0)
        return;
    size_t count = lines->table
                       ? gp_line_table_find(lines->table, function, offset, frames, GP_MOST_FRAMES)
                       : 0;
    if (count > 0) {
        line.file = frames[0].file;
        line.number = frames[0].line;
        const struct gp_frame *own = gp_own_frame(frames, count);
        line.caller = own->file;
        line.caller_number = own->line;
    }
    for (size_t i = 0; line.file && i < list->count; i++) {
        struct line *known = &list->lines[i];
        if (is_same_line(known, &line)) {
            known->weight += weight;
            return;
        }
    }
    if (list->count < MOST_LINES)
        list->lines[list->count++] = line;
}

static void add_from_counts(struct line_list *list, const struct gp_lines *lines,
                            enum gp_weight weight)
{
    const struct gp_code_counts *s = &lines->source;
    for (size_t i = 0; i < s->instruction_count; i++) {
        const struct gp_instruction_counts *c = &s->instructions[i];
        if (is_weighed(lines, c, weight))
            add_to_line(list, lines, s->functions[c->function], c->offset,
                        gp_lines_weigh(c, weight));
    }
}

static void add_from_code(struct line_list *list, const struct gp_lines *lines,
                          enum gp_weight weight)
{
    size_t size;
    const char *kernel = lines->source.kernel, *code = gp_lines_code(lines, kernel, &size);
    for (size_t at = 0; code && at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES)
        add_to_line(list, lines, kernel, at, gp_lines_code_has(lines, code, size, at, weight));
}

/* The kind of samples that has the reason; GP_COUNT_KINDS for a wait with causes. */
static enum gp_count_kind reason_of(enum gp_wait wait)
{
    switch (wait) {
#define REASON(NAME, name, help) \
    case GP_WAIT_##NAME:         \
        return GP_STALL_##NAME;
#define CAUSE(NAME, name, help)
#include "report/waits.def"
#undef CAUSE
#undef REASON
    default:
        return GP_COUNT_KINDS;
    }
}

/* A barrier is the line of its wait, and the last warps to come are the cause. */
static bool is_named_by_wait(enum gp_wait wait)
{
    return wait == GP_WAIT_BARRIERS;
}

static void add_from_waits(struct line_list *list, const struct gp_lines *lines, enum gp_wait wait)
{
    const struct gp_code_counts *s = &lines->source;
    const enum gp_count_kind reason = reason_of(wait);
    for (size_t i = 0; reason != GP_COUNT_KINDS && i < s->instruction_count; i++)
        add_to_line(list, lines, s->functions[s->instructions[i].function],
                    s->instructions[i].offset, s->instructions[i].values[reason]);
    for (size_t i = 0; i < lines->waits->count; i++) {
        const struct gp_caused *c = &lines->waits->list[i];
        if (c->wait == wait)
            add_to_line(list, lines, s->functions[c->function],
                        is_named_by_wait(wait) ? c->waiting : c->cause, c->parts);
    }
}

/* The first of the heaviest; NULL where there is none. *equals: how many others are as heavy. */
static const struct line *heaviest_of(const struct line_list *list, size_t *equals)
{
    const struct line *heaviest = NULL;
    *equals = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct line *line = &list->lines[i];
        if (heaviest && line->weight < heaviest->weight)
            continue;
        bool is_equal = heaviest && line->weight == heaviest->weight;
        *equals = is_equal ? *equals + 1 : 0;
        heaviest = is_equal ? heaviest : line;
    }
    return heaviest;
}

static void add_line_text(const struct gp_lines *lines, const struct line *line,
                          struct gp_text *out)
{
    if (line->file) {
        gp_own_line_text(&(struct gp_frame){.file = line->caller, .line = line->caller_number},
                         &(struct gp_frame){.file = line->file, .line = line->number}, out);
    } else {
        bool own = strcmp(line->function, lines->source.kernel) == 0;
        gp_text_addf(out, "at %s+0x%" PRIx64, own ? "" : line->function, line->offset);
    }
}

/* The lines at the other end of the waits whose one end is at that line. */
static void add_from_other_ends(struct line_list *list, const struct gp_lines *lines,
                                enum gp_wait wait, const struct line *end)
{
    struct line one[1];
    for (size_t i = 0; i < lines->waits->count; i++) {
        const struct gp_caused *c = &lines->waits->list[i];
        const char *function = lines->source.functions[c->function];
        const bool by_wait = is_named_by_wait(wait);
        struct line_list at = {.lines = one};
        if (c->wait != wait)
            continue;
        add_to_line(&at, lines, function, by_wait ? c->waiting : c->cause, c->parts);
        if (at.count == 1 && (is_same_line(&one[0], end) ||
                              (!end->file && !one[0].file && one[0].offset == end->offset)))
            add_to_line(list, lines, function, by_wait ? c->cause : c->waiting, c->parts);
    }
}

/* Whether two ends of a wait are in different lines of the kernel's own file. */
static bool is_elsewhere(const struct line *a, const struct line *b)
{
    if (!a->file || !b->file)
        return a->file || b->file || a->offset != b->offset;
    return a->caller_number != b->caller_number || strcmp(a->caller, b->caller) != 0;
}

/* Appends the line at the other end of the waits at `end`, where it is another one. */
static void add_other_end(const struct gp_lines *lines, enum gp_wait wait, const struct line *end,
                          struct gp_text *out)
{
    struct line_list list = {.lines = calloc(MOST_LINES, sizeof(*list.lines))};
    size_t equals;
    if (list.lines)
        add_from_other_ends(&list, lines, wait, end);
    const struct line *other = heaviest_of(&list, &equals);
    if (other && is_elsewhere(other, end)) {
        gp_text_add(out, is_named_by_wait(wait) ? ", for warps that come from " : ", waited for ");
        if (!is_named_by_wait(wait) && other->file)
            gp_text_add(out, "at ");
        add_line_text(lines, other, out);
    }
    free(list.lines);
}

bool gp_lines_heaviest(const struct gp_lines *lines, enum gp_weight weight, struct gp_text *out)
{
    struct line_list list = {.lines = calloc(MOST_LINES, sizeof(*list.lines))};
    const bool is_wait = gp_lines_is_wait(weight);
    const enum gp_wait wait = is_wait ? weight - GP_WEIGHT_FIRST_WAIT : GP_WAIT_COUNT;
    if (list.lines && is_wait && lines->waits)
        add_from_waits(&list, lines, wait);
    else if (list.lines && !is_wait && kinds_of(weight))
        add_from_counts(&list, lines, weight);
    else if (list.lines && !is_wait)
        add_from_code(&list, lines, weight);
    size_t equals; /* which of these it is was not counted */
    const struct line *heaviest = heaviest_of(&list, &equals);
    if (heaviest)
        add_line_text(lines, heaviest, out);
    if (heaviest && is_wait && reason_of(wait) == GP_COUNT_KINDS)
        add_other_end(lines, wait, heaviest, out);
    if (equals > 0 && gp_lines_in_code(weight))
        gp_text_addf(out, " and %zu more line%s", equals, equals == 1 ? "" : "s");
    free(list.lines);
    return heaviest != NULL;
}

char *gp_lines_begin(const struct gp_lines *lines, unsigned *line)
{
    struct gp_frame frames[GP_MOST_FRAMES];
    size_t count = lines->table ? gp_line_table_find(lines->table, lines->source.kernel, 0, frames,
                                                     GP_MOST_FRAMES)
                                : 0;
    if (count == 0)
        return NULL;
    /* The last one is the kernel's own; those before it were inlined. */
    const struct gp_frame *own = &frames[count - 1];
    struct gp_text path = {0};
    gp_text_addf(&path, "%s%s%s", own->directory, own->directory[0] ? "/" : "", own->file);
    *line = own->line;
    if (!path.failed)
        return path.data;
    gp_text_free(&path);
    return NULL;
}
