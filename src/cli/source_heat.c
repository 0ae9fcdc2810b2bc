#include "cli/source_heat.h"

#include "base/demangle.h"
#include "base/escape.h"
#include "cli/disassemble.h"
#include "cli/source_files.h"
#include "code/instruction.h"
#include "report/layout.h"
#include "report/own_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ----------------------------------------------------------------------------------- */

struct hot_line {
    const struct gp_line_counts *line;
    struct gp_text text; /* of the source */
};

static int compare(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static int by_samples(const void *x, const void *y)
{
    const struct hot_line *a = x, *b = y;
    const int order = compare(gp_samples_of(a->line->own), gp_samples_of(b->line->own));
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Reads the texts in the order of files, each of which is read once. */
static size_t gather(const struct gp_by_line *by_line, const char *folder, struct hot_line *hot)
{
    const struct gp_line_counts *last = NULL;
    struct cli_source_text text = {0};
    size_t count = 0;
    for (size_t i = 0; i < by_line->count; i++) {
        const struct gp_line_counts *line = &by_line->list[i];
        if (!*line->file || gp_samples_of(line->own) == 0)
            continue;
        if (!last || strcmp(last->file, line->file) != 0 ||
            strcmp(last->directory, line->directory) != 0) {
            cli_source_text_free(&text);
            cli_source_text_read(&text, line->directory, line->file, folder);
        }
        last = line;
        hot[count].line = line;
        cli_source_text_add(&text, line->line, &hot[count++].text);
    }
    cli_source_text_free(&text);
    return count;
}

static void add_hot_line(const struct cli_source_columns *columns, const struct hot_line *hot,
                         struct gp_text *out)
{
    const char *name = gp_base_name(hot->line->file);
    cli_source_columns_line(columns, hot->line, out);
    gp_text_add(out, "  ");
    gp_text_add_escaped(out, name, strlen(name));
    gp_text_addf(out, ":%u  %s\n", hot->line->line, gp_text_string(&hot->text));
    for (size_t i = 0; i < hot->line->chain_count; i++) {
        struct gp_text where = {0};
        gp_text_addf(&where, "   ^ inlined at %s", hot->line->chains[i]);
        if (i + 1 == hot->line->chain_count && hot->line->has_more_chains)
            gp_text_add(&where, "; and through more calls");
        gp_wrap(out, 8, gp_text_string(&where));
        out->failed |= where.failed;
        gp_text_free(&where);
    }
}

void cli_add_hot_lines(const struct cli_source_columns *columns, const struct gp_by_line *by_line,
                       const char *folder, struct gp_text *out)
{
    struct hot_line *hot = calloc(by_line->count + 1, sizeof(*hot));
    if (!hot) {
        out->failed = true;
        return;
    }
    const size_t count = gather(by_line, folder, hot);
    if (count > 0) {
        qsort(hot, count, sizeof(*hot), by_samples);
        gp_text_add(out, "\nlines with samples, the most first\n");
        cli_source_columns_heads(columns, out);
        gp_text_add(out, "  line\n");
    }
    for (size_t i = 0; i < count; i++) {
        add_hot_line(columns, &hot[i], out);
        out->failed |= hot[i].text.failed;
        gp_text_free(&hot[i].text);
    }
    free(hot);
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* The machine code of the kernel itself, as text. */
struct texts {
    char **list; /* NULL: not there */
    size_t size;
    const char *by;
};

static int by_samples_of_instruction(const void *x, const void *y)
{
    const struct gp_instruction_counts *const *a = x, *const *b = y;
    const int order = compare(gp_samples_of((*a)->values), gp_samples_of((*b)->values));
    return order ? order : (*a > *b) - (*a < *b);
}

static void add_code(const struct gp_lines *lines, const struct texts *texts, const char *function,
                     uint32_t offset, struct gp_text *out)
{
    size_t size;
    if (texts->list && strcmp(function, lines->source.kernel) == 0 &&
        offset + (uint64_t)GP_INSTRUCTION_BYTES <= texts->size) {
        const char *text = texts->list[offset / GP_INSTRUCTION_BYTES];
        gp_text_add(out, text ? text : "");
        return;
    }
    const char *code = gp_lines_code(lines, function, &size);
    if (code && offset + (uint64_t)GP_INSTRUCTION_BYTES <= size)
        cli_add_instruction(code + offset, lines->source.cc, out);
}

static void add_hot_instruction(const struct cli_source_columns *columns, const struct texts *texts,
                                const struct gp_instruction_counts *c, struct gp_text *out)
{
    const struct gp_lines *lines = columns->lines;
    const char *function = lines->source.functions[c->function];
    struct gp_frame frames[GP_MOST_FRAMES];
    char offset[16];
    snprintf(offset, sizeof(offset), "+0x%" PRIx32, c->offset);
    cli_source_columns_counts(columns, c->values, out);
    gp_text_addf(out, "  %8s  ", offset);
    add_code(lines, texts, function, c->offset, out);
    if (strcmp(function, lines->source.kernel) != 0) {
        char *name = gp_demangle(function, GP_NAME_BRIEF);
        gp_text_add(out, "  ; in ");
        gp_text_add_escaped(out, name ? name : function, strlen(name ? name : function));
        free(name);
    }
    const size_t count =
        lines->table ? gp_line_table_find(lines->table, function, c->offset, frames, GP_MOST_FRAMES)
                     : 0;
    if (count > 0) {
        gp_text_add(out, "  ; ");
        gp_own_line_text(gp_own_frame(frames, count), &frames[0], out);
    }
    gp_text_add(out, "\n");
}

static bool has_line(const struct gp_lines *lines, const struct gp_instruction_counts *c)
{
    struct gp_frame frame;
    return lines->table && gp_line_table_find(lines->table, lines->source.functions[c->function],
                                              c->offset, &frame, 1) > 0;
}

void cli_add_hot_instructions(const struct cli_source_columns *columns, bool all,
                              struct gp_text *out)
{
    const struct gp_lines *lines = columns->lines;
    const struct gp_code_counts *source = &lines->source;
    const struct gp_instruction_counts **hot = calloc(source->instruction_count + 1, sizeof(*hot));
    size_t count = 0;
    if (!hot) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < source->instruction_count; i++)
        if (gp_samples_of(source->instructions[i].values) > 0 &&
            (all || !has_line(lines, &source->instructions[i])))
            hot[count++] = &source->instructions[i];
    struct texts texts = {0};
    const void *code = count > 0 ? gp_lines_code(lines, source->kernel, &texts.size) : NULL;
    if (code)
        texts.list = cli_disassemble(code, texts.size, source->cc, &texts.by);
    if (count > 0) {
        qsort(hot, count, sizeof(*hot), by_samples_of_instruction);
        gp_text_addf(out, "\ninstructions with samples%s, the most first%s%s\n",
                     all ? "" : " and without a line", texts.list ? "; machine code by " : "",
                     texts.list ? texts.by : "");
        cli_source_columns_heads(columns, out);
        gp_text_addf(out, "  %8s\n", "offset");
    }
    for (size_t i = 0; i < count; i++)
        add_hot_instruction(columns, &texts, hot[i], out);
    if (texts.list)
        cli_forget_texts(texts.list, texts.size);
    free(hot);
}
