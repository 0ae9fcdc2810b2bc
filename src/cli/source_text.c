#include "cli/source_text.h"

#include "base/demangle.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/disassemble.h"
#include "cli/source_columns.h"
#include "cli/source_files.h"
#include "cli/source_heat.h"
#include "cli/source_heaviest.h"
#include "code/instruction.h"
#include "report/by_line.h"
#include "report/layout.h"
#include "report/stalls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines of a file that are shown around those with code. */
#define CONTEXT 2

/* The part of a kernel to print. */
struct printing {
    const struct gp_lines *lines;
    struct gp_by_line by_line;
    struct gp_stalls stalls;
    struct cli_source_columns columns;
    const char *folder;
    struct gp_text *out;
};

/* ---- annotated source ------------------------------------------------------------------------ */

static bool counts_more(const struct gp_line_counts *line)
{
    return memcmp(line->own, line->inclusive, sizeof(line->own)) != 0;
}

static void add_source_line(const struct printing *p, const struct cli_source_text *text,
                            unsigned number, const struct gp_line_counts *line)
{
    cli_source_columns_line(&p->columns, line, p->out);
    gp_text_addf(p->out, "%7u  ", number);
    cli_source_text_add(text, number, p->out);
    gp_text_add(p->out, "\n");
    if (line && counts_more(line)) {
        cli_source_columns_counts(&p->columns, line->inclusive, p->out);
        gp_text_addf(p->out, "%7s  ^ with the code inlined here\n", "");
    }
    for (size_t i = 0; line && i < line->chain_count; i++) {
        struct gp_text where = {0};
        gp_text_addf(&where, "   ^ inlined at %s", line->chains[i]);
        if (i + 1 == line->chain_count && line->has_more_chains)
            gp_text_add(&where, "; and through more calls");
        gp_wrap(p->out, 8, gp_text_string(&where));
        p->out->failed |= where.failed;
        gp_text_free(&where);
    }
}

/* The lines of one file: list[first] to list[end - 1]. */
static void add_file(const struct printing *p, size_t first, size_t end)
{
    const struct gp_line_counts *list = p->by_line.list;
    struct cli_source_text text = {0};
    cli_source_text_read(&text, list[first].directory, list[first].file, p->folder);
    gp_text_add(p->out, "\n");
    if (text.source.count > 0)
        gp_wrap(p->out, 3, text.path);
    else
        gp_text_addf(p->out, "%s%s%s (not found here: --source-path DIR says where)\n",
                     list[first].directory, *list[first].directory ? "/" : "", list[first].file);
    cli_source_columns_heads(&p->columns, p->out);
    gp_text_addf(p->out, "%7s\n", "line");
    unsigned next = 0; /* line to be printed, where the last one went on */
    for (size_t i = first; i < end; i++) {
        unsigned line = list[i].line, from = line > CONTEXT ? line - CONTEXT : 1;
        if (next && from > next)
            gp_text_add(p->out, "...\n");
        for (unsigned n = from > next ? from : next; text.source.count > 0 && n < line; n++)
            add_source_line(p, &text, n, NULL);
        add_source_line(p, &text, line, &list[i]);
        next = line + 1;
        unsigned to = i + 1 < end ? list[i + 1].line : line + CONTEXT + 1;
        for (; text.source.count > 0 && next < to && next <= line + CONTEXT &&
               next <= text.source.count;
             next++)
            add_source_line(p, &text, next, NULL);
    }
    cli_source_text_free(&text);
}

static void add_files(const struct printing *p)
{
    const struct gp_line_counts *list = p->by_line.list;
    size_t first = 0;
    while (first < p->by_line.count && !*list[first].file)
        first++;
    while (first < p->by_line.count) {
        size_t end = first + 1;
        while (end < p->by_line.count && strcmp(list[first].file, list[end].file) == 0 &&
               strcmp(list[first].directory, list[end].directory) == 0)
            end++;
        add_file(p, first, end);
        first = end;
    }
}

/* ---- instructions ---------------------------------------------------------------------------- */

static const struct gp_instruction_counts *counts_at(const struct gp_lines *lines,
                                                     const char *function, uint64_t offset)
{
    const struct gp_code_counts *s = &lines->source;
    for (size_t i = 0; i < s->instruction_count; i++)
        if (s->instructions[i].offset == offset &&
            strcmp(s->functions[s->instructions[i].function], function) == 0)
            return &s->instructions[i];
    return NULL;
}

static void add_chain(const struct printing *p, const struct gp_frame *frames, size_t count)
{
    struct gp_text line = {0};
    const char *slash = strrchr(frames[0].file, '/');
    char *name = frames[0].function ? gp_demangle(frames[0].function, GP_NAME_BRIEF) : NULL;
    gp_text_addf(&line, "   ; %s:%u%s%s", slash ? slash + 1 : frames[0].file, frames[0].line,
                 name ? " in " : "", name ? name : "");
    free(name);
    if (count > 1)
        gp_text_add(&line, ", inlined at ");
    gp_chain_text(frames, count, &line);
    gp_wrap(p->out, 6, gp_text_string(&line));
    gp_text_free(&line);
}

static void add_instruction(const struct printing *p, const char *function, uint64_t offset,
                            const char *text)
{
    const struct gp_instruction_counts *counts = counts_at(p->lines, function, offset);
    cli_source_columns_counts(&p->columns, counts ? counts->values : NULL, p->out);
    gp_text_addf(p->out, "  %6" PRIx64 "  %s\n", offset, text ? text : "");
}

static bool is_same_chain(const struct gp_frame *a, size_t a_count, const struct gp_frame *b,
                          size_t b_count)
{
    bool same = a_count == b_count;
    for (size_t i = 0; same && i < a_count; i++)
        same = a[i].line == b[i].line && strcmp(a[i].file, b[i].file) == 0;
    return same;
}

/* False where its machine code is not there. */
static bool add_sass(const struct printing *p, const char *function)
{
    size_t size;
    const char *by, *code = gp_lines_code(p->lines, function, &size);
    char **texts = code ? cli_disassemble(code, size, p->lines->source.cc, &by) : NULL;
    struct gp_frame frames[GP_MOST_FRAMES], before[GP_MOST_FRAMES];
    size_t before_count = 0;
    if (!texts) {
        gp_text_addf(p->out, "\nthe machine code is not there: %s\n",
                     code ? "out of memory" : p->lines->no_lines);
        return false;
    }
    gp_text_addf(p->out, "\nmachine code, by %s\n", by);
    cli_source_columns_heads(&p->columns, p->out);
    gp_text_addf(p->out, "  %6s\n", "offset");
    for (uint64_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES) {
        size_t count = p->lines->table ? gp_line_table_find(p->lines->table, function, at, frames,
                                                            GP_MOST_FRAMES)
                                       : 0;
        if (count && !is_same_chain(frames, count, before, before_count)) {
            add_chain(p, frames, count);
            memcpy(before, frames, count * sizeof(*frames));
            before_count = count;
        }
        add_instruction(p, function, at, texts[at / GP_INSTRUCTION_BYTES]);
    }
    cli_forget_texts(texts, size);
    return true;
}

/* A function with code of its own, which the kernel calls. */
static void add_called(const struct printing *p, const char *function)
{
    char *name = gp_demangle(function, GP_NAME_FULL);
    gp_text_add(p->out, "called: ");
    gp_wrap(p->out, 3, name ? name : function);
    free(name);
}

/* The head of the instructions of one function. */
static void add_function(const struct printing *p, const char *function)
{
    if (strcmp(function, p->lines->source.kernel) != 0)
        add_called(p, function);
    cli_source_columns_heads(&p->columns, p->out);
    gp_text_addf(p->out, "  %8s\n", "offset");
}

static bool has_line(const struct printing *p, const struct gp_instruction_counts *c)
{
    struct gp_frame frame;
    const char *function = p->lines->source.functions[c->function];
    return p->lines->table &&
           gp_line_table_find(p->lines->table, function, c->offset, &frame, 1) > 0;
}

/* Instructions that counted something and were not shown: those without a line, and behind the
 * kernel's machine code those of functions that it calls. */
static void add_other_instructions(const struct printing *p, bool has_code)
{
    const struct gp_code_counts *s = &p->lines->source;
    const char *last = NULL;
    for (size_t i = 0; i < s->instruction_count; i++) {
        const struct gp_instruction_counts *c = &s->instructions[i];
        const char *function = s->functions[c->function];
        size_t size;
        if (has_code ? strcmp(function, s->kernel) == 0 : has_line(p, c))
            continue;
        if (!last && !has_code)
            gp_text_addf(p->out, "\nwithout a line in the source%s%s\n",
                         p->lines->table ? "" : ": ", p->lines->table ? "" : p->lines->no_lines);
        if (!last || strcmp(last, function) != 0)
            add_function(p, function);
        last = function;
        const char *code = gp_lines_code(p->lines, function, &size);
        char offset[16];
        snprintf(offset, sizeof(offset), "+0x%" PRIx32, c->offset);
        cli_source_columns_counts(&p->columns, c->values, p->out);
        gp_text_addf(p->out, "  %8s  ", offset);
        if (code && c->offset + (uint64_t)GP_INSTRUCTION_BYTES <= size)
            cli_add_instruction(code + c->offset, p->lines->source.cc, p->out);
        gp_text_add(p->out, "\n");
    }
}

/* ---- one kernel ------------------------------------------------------------------------------ */

/* "counts of one launch, the mean of 8; [i]: instructions in the code; sm_90" */
static void add_about(const struct printing *p, bool sass)
{
    const struct gp_code_counts *s = &p->lines->source;
    const char *in_code = p->columns.has_code ? "; [i]: instructions in the code" : "";
    if (s->kinds & ~GP_SAMPLE_COUNTS)
        gp_text_addf(p->out, "   counts of one launch, the mean of %" PRIu64 "%s; sm_%d\n",
                     s->launches, in_code, s->cc);
    else if (p->stalls.samples == 0)
        gp_text_addf(p->out, "   its code alone%s, as nothing was counted%s; sm_%d\n",
                     sass ? "" : " (--sass shows it)", in_code, s->cc);
    else
        gp_text_addf(p->out, "   samples alone, as nothing was counted%s; sm_%d\n", in_code, s->cc);
}

/* The most samples first. */
static void add_by_heat(const struct printing *p, bool sass)
{
    if (!sass)
        cli_add_hot_lines(&p->columns, &p->by_line, p->folder, p->out);
    cli_add_hot_instructions(&p->columns, sass, p->out);
}

static void add_all(const struct printing *p, bool sass)
{
    bool has_code = sass && add_sass(p, p->lines->source.kernel);
    if (!sass)
        add_files(p);
    add_other_instructions(p, has_code);
}

static void print_kernel(struct printing *p, const struct cli_source_options *options)
{
    char *full = gp_demangle(p->lines->source.kernel, GP_NAME_FULL);
    p->columns = cli_source_columns_choose(p->lines, &p->stalls, options->sass);
    gp_wrap(p->out, 3, full ? full : p->lines->source.kernel);
    free(full);
    add_about(p, options->sass);
    if (p->stalls.samples > 0) {
        gp_text_add(p->out, "\n");
        gp_stalls_full(&p->stalls, p->out);
    }
    cli_add_heaviest(p->lines, &p->by_line, p->out);
    if (options->by_heat)
        add_by_heat(p, options->sass);
    else
        add_all(p, options->sass);
}

int cli_print_source(const struct gp_lines *lines, const struct cli_source_options *options)
{
    struct gp_text out = {0};
    struct printing p = {.lines = lines, .folder = options->folder, .out = &out};
    const bool made = gp_stalls_make(&p.stalls, lines) && gp_by_line_make(&p.by_line, lines);
    const bool can_sort = !options->by_heat || p.stalls.samples > 0;
    out.failed = !made;
    if (made && can_sort)
        print_kernel(&p, options);
    else if (made)
        gp_say("--sort heat needs samples, and no launch of this kernel was sampled");
    gp_by_line_free(&p.by_line);
    gp_stalls_free(&p.stalls);
    const int answer = cli_print(&out);
    return can_sort ? answer : CLI_FAILED;
}
