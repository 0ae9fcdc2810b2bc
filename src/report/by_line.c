#include "report/by_line.h"

#include "base/demangle.h"
#include "base/hash.h"
#include "code/instruction.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LINES 200000

struct entry {
    UT_hash_handle hh;
    struct gp_line_counts counts;
    char key[];
};

struct gathering {
    const struct gp_lines *lines;
    struct entry *entries;
    size_t count;
    bool failed;
};

static struct gp_line_counts *find(struct gathering *g, const struct gp_frame *frame)
{
    struct gp_text key = {0};
    struct entry *e = NULL;
    gp_text_addf(&key, "%s\n%s\n%u", frame->directory, frame->file, frame->line);
    if (!key.failed)
        HASH_FIND(hh, g->entries, key.data, key.length, e);
    if (!e && !key.failed && g->count < MOST_LINES)
        e = calloc(1, sizeof(*e) + key.length);
    else if (!e)
        g->failed = true;
    if (e && !e->hh.tbl) {
        memcpy(e->key, key.data, key.length);
        e->counts.directory = frame->directory;
        e->counts.file = frame->file;
        e->counts.line = frame->line;
        HASH_ADD_KEYPTR(hh, g->entries, e->key, key.length, e);
        if (e->hh.tbl)
            g->count++;
    }
    if (e && !e->hh.tbl) {
        free(e);
        e = NULL;
    }
    g->failed = g->failed || !e;
    gp_text_free(&key);
    return e ? &e->counts : NULL;
}

static size_t frames_of(const struct gp_lines *lines, const char *function, uint64_t offset,
                        struct gp_frame *frames)
{
    size_t count = lines->table
                       ? gp_line_table_find(lines->table, function, offset, frames, GP_MOST_FRAMES)
                       : 0;
    if (count == 0)
        frames[0] = (struct gp_frame){.directory = "", .file = ""};
    return count ? count : 1;
}

void gp_chain_text(const struct gp_frame *frames, size_t count, struct gp_text *out)
{
    for (size_t i = 1; i < count; i++) {
        const char *slash = strrchr(frames[i].file, '/');
        char *name = frames[i].function ? gp_demangle(frames[i].function, GP_NAME_BRIEF) : NULL;
        gp_text_addf(out, "%s%s:%u%s%s", i > 1 ? ", " : "", slash ? slash + 1 : frames[i].file,
                     frames[i].line, name ? " in " : "", name ? name : "");
        free(name);
    }
}

/* Its code was inlined through these calls; a chain that is known already is not added. */
static void note_chain(struct gathering *g, struct gp_line_counts *line,
                       const struct gp_frame *frames, size_t count)
{
    struct gp_text text = {0};
    if (count < 2 || line->has_more_chains)
        return;
    gp_chain_text(frames, count, &text);
    bool known = false;
    for (size_t i = 0; i < line->chain_count; i++)
        known = known || strcmp(line->chains[i], gp_text_string(&text)) == 0;
    if (!known && line->chain_count == GP_MOST_CHAINS) {
        line->has_more_chains = true;
    } else if (!known) {
        char *own = strdup(gp_text_string(&text));
        g->failed = g->failed || !own || text.failed;
        if (own)
            line->chains[line->chain_count++] = own;
    }
    gp_text_free(&text);
}

static void sum_up(uint64_t into[GP_COUNT_KINDS], const uint64_t values[GP_COUNT_KINDS])
{
    for (size_t k = 0; k < GP_COUNT_KINDS; k++)
        into[k] += values[k];
}

static void add_counts(struct gathering *g, const struct gp_instruction_counts *counts)
{
    struct gp_frame frames[GP_MOST_FRAMES];
    struct gp_line_counts *seen[GP_MOST_FRAMES];
    const char *function = g->lines->source.functions[counts->function];
    size_t count = frames_of(g->lines, function, counts->offset, frames);
    for (size_t i = 0; i < count; i++) {
        struct gp_line_counts *line = seen[i] = find(g, &frames[i]);
        bool again = false;
        if (!line)
            return;
        for (size_t k = 0; k < i; k++)
            again = again || seen[k] == line;
        if (i == 0) {
            sum_up(line->own, counts->values);
            note_chain(g, line, frames, count);
        }
        if (!again)
            sum_up(line->inclusive, counts->values);
    }
}

/* Lines whose instructions counted nothing are there as well. */
static void add_code(struct gathering *g)
{
    struct gp_frame frames[GP_MOST_FRAMES];
    size_t size;
    const char *kernel = g->lines->source.kernel;
    const char *code = gp_lines_code(g->lines, kernel, &size);
    if (!g->lines->table || !code)
        return;
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES) {
        size_t count = gp_line_table_find(g->lines->table, kernel, at, frames, GP_MOST_FRAMES);
        struct gp_line_counts *line = count ? find(g, &frames[0]) : NULL;
        if (!line)
            continue;
        line->instructions++;
        for (enum gp_weight w = GP_WEIGHT_NONE + 1; w < GP_WEIGHT_COUNT; w++)
            if (gp_lines_in_code(w))
                line->in_code[w] += gp_lines_code_has(g->lines, code, size, at, w);
    }
}

static int compare(const void *x, const void *y)
{
    const struct gp_line_counts *a = x, *b = y;
    int order = strcmp(a->directory, b->directory);
    if (order == 0)
        order = strcmp(a->file, b->file);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

bool gp_by_line_make(struct gp_by_line *b, const struct gp_lines *lines)
{
    struct gathering g = {.lines = lines};
    struct entry *e, *next;
    *b = (struct gp_by_line){0};
    add_code(&g);
    for (size_t i = 0; i < lines->source.instruction_count; i++)
        add_counts(&g, &lines->source.instructions[i]);
    b->list = calloc(g.count + 1, sizeof(*b->list));
    HASH_ITER(hh, g.entries, e, next)
    {
        if (b->list)
            b->list[b->count++] = e->counts;
        for (size_t c = 0; !b->list && c < e->counts.chain_count; c++)
            free(e->counts.chains[c]);
        HASH_DEL(g.entries, e);
        free(e);
    }
    if (b->count > 0)
        qsort(b->list, b->count, sizeof(*b->list), compare);
    return b->list && !g.failed;
}

void gp_by_line_free(struct gp_by_line *b)
{
    for (size_t i = 0; i < b->count; i++)
        for (size_t c = 0; c < b->list[i].chain_count; c++)
            free(b->list[i].chains[c]);
    free(b->list);
    *b = (struct gp_by_line){0};
}

double gp_weigh_counts(const uint64_t counts[GP_COUNT_KINDS], enum gp_weight weight,
                       uint64_t launches)
{
    struct gp_instruction_counts all = {0};
    memcpy(all.values, counts, sizeof(all.values));
    return launches ? (double)gp_lines_weigh(&all, weight) / (double)launches : 0;
}

double gp_line_weight(const struct gp_line_counts *line, enum gp_weight weight, uint64_t launches)
{
    return gp_lines_in_code(weight) ? line->in_code[weight]
                                    : gp_weigh_counts(line->own, weight, launches);
}
