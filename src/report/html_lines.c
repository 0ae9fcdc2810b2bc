#include "report/html_lines.h"

#include "report/by_line.h"
#include "report/json.h"
#include "report/source_file.h"
#include "report/stalls.h"

#include <stdio.h>
#include <string.h>

#define MOST_LINES 150
#define FEW_LINES 10 /* of a kernel behind which there is no room */
/* A line is worth one of the page where it has so much of something; more where there are many. */
#define LEAST_SHARE 0.01
#define LONGEST_LINE 400
#define MOST_REASONS 4 /* of a line */

static const struct column {
    enum gp_weight weight;
    const char *name;
} columns[] = {
    {GP_WEIGHT_WARPS, "warps"},           {GP_WEIGHT_WASTED_SECTORS, "wasted sectors"},
    {GP_WEIGHT_SECTORS, "sectors"},       {GP_WEIGHT_BANK_CONFLICTS, "bank conflicts"},
    {GP_WEIGHT_WAVEFRONTS, "wavefronts"}, {GP_WEIGHT_DIVERGENCE, "divergent"},
    {GP_WEIGHT_BRANCHES, "branches"},     {GP_WEIGHT_IDLE_LANES, "idle lanes"},
    {GP_WEIGHT_OFF_LANES, "off lanes"},   {GP_WEIGHT_LOCAL, "local [i]"},
    {GP_WEIGHT_FP64, "fp64 [i]"},         {GP_WEIGHT_CONVERSIONS, "convert [i]"},
    {GP_WEIGHT_MATRIX, "matrix [i]"},     {GP_WEIGHT_BARRIERS, "barrier [i]"},
    {GP_WEIGHT_FENCES, "fences [i]"},     {GP_WEIGHT_TWO_SIDES, "sides [i]"},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* ---- text of source files ---- */

/* The file of the last line. */
struct source_text {
    const char *directory, *file; /* NULL: none yet */
    struct gp_source_file source;
};

/* A profile names files, and a page is passed on: nothing but source is put into it. */
static bool is_source(const char *file)
{
    static const char *const ends[] = {".cu",  ".cuh", ".h",   ".hpp", ".hh", ".c",
                                       ".cpp", ".cc",  ".cxx", ".inl", ".py", ".ptx"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof(ends) / sizeof(ends[0]); i++)
        if (strcmp(dot, ends[i]) == 0)
            return true;
    return false;
}

static void open_source(struct source_text *t, const char *directory, const char *file)
{
    char path[4096];
    gp_source_file_free(&t->source);
    t->directory = directory;
    t->file = file;
    bool within = *directory && file[0] != '/';
    snprintf(path, sizeof(path), "%s%s%s", within ? directory : "", within ? "/" : "", file);
    if (is_source(path))
        gp_source_file_read(&t->source, path);
}

/* The text of a line, cut where it is long; NULL: not there. */
static const char *text_of(struct source_text *t, const struct gp_line_counts *line)
{
    if (!t->file || strcmp(t->file, line->file) != 0 || strcmp(t->directory, line->directory) != 0)
        open_source(t, line->directory, line->file);
    if (line->line < 1 || line->line > t->source.count)
        return NULL;
    char *text = t->source.lines[line->line - 1];
    if (strnlen(text, LONGEST_LINE + 1) > LONGEST_LINE)
        text[LONGEST_LINE] = '\0';
    return text;
}

/* ---- lines ---- */

/* The counts of the whole kernel. */
struct totals {
    double counts[COLUMNS];
    uint64_t samples;
};

static double heat_of(const struct totals *totals, const uint64_t counts[GP_COUNT_KINDS])
{
    return totals->samples > 0 ? (double)gp_samples_of(counts) / (double)totals->samples : 0;
}

static bool is_worth_it(const struct gp_lines *lines, const struct gp_line_counts *line,
                        const struct totals *totals, double least)
{
    if (heat_of(totals, line->inclusive) >= least)
        return true;
    for (size_t c = 0; c < COLUMNS; c++)
        if (totals->counts[c] > 0 &&
            gp_line_weight(line, columns[c].weight, lines->source.launches) >=
                least * totals->counts[c])
            return true;
    return false;
}

/* The share that at most `most` lines have: the heaviest ones, wherever they stand. */
static double least_share(const struct gp_lines *lines, const struct gp_by_line *by_line,
                          const struct totals *totals, size_t most)
{
    double least = LEAST_SHARE;
    for (;; least *= 1.5) {
        size_t count = 0;
        for (size_t i = 0; i < by_line->count; i++)
            count += is_worth_it(lines, &by_line->list[i], totals, least);
        if (count <= most)
            return least;
    }
}

static void add_chains(const struct gp_line_counts *line, struct gp_text *out)
{
    gp_json_key(out, "chains");
    gp_text_add(out, "[");
    for (size_t i = 0; i < line->chain_count; i++) {
        gp_json_next(out);
        gp_json_string(out, line->chains[i]);
    }
    gp_text_addf(out, "],\"more_chains\":%s", line->has_more_chains ? "true" : "false");
}

/* The share of the samples, and that with the code inlined there; the reasons of its own. */
static void add_heat(const struct gp_line_counts *line, const struct totals *totals,
                     struct gp_text *out)
{
    size_t order[GP_STALL_COUNT], count = gp_stalls_order(line->own, order);
    gp_json_key(out, "heat");
    gp_json_number(out, heat_of(totals, line->own));
    gp_json_key(out, "heat_inlined");
    gp_json_number(out, heat_of(totals, line->inclusive));
    gp_json_key(out, "reasons");
    gp_text_add(out, "[");
    for (size_t i = 0; i < count && i < MOST_REASONS; i++) {
        gp_json_next(out);
        gp_text_addf(out, "[\"%s\",", gp_stall_reasons[order[i]].name);
        gp_json_number(out, (double)gp_samples_by(line->own, order[i]) / (double)totals->samples);
        gp_text_add(out, "]");
    }
    gp_text_add(out, "]");
}

/* The counts of the whole kernel. Without them a remainder would be taken for all: wasted sectors,
 * say, where the best number of sectors is not known. */
static void add_line(const struct gp_lines *lines, const struct gp_line_counts *line,
                     const struct totals *totals, struct source_text *text, struct gp_text *out)
{
    gp_json_next(out);
    gp_text_addf(out, "{\"line\":%u", line->line);
    const char *slash = lines->hidden ? strrchr(line->file, '/') : NULL;
    gp_json_member(out, "file", slash ? slash + 1 : line->file);
    gp_json_member(out, "text", *line->file && !lines->hidden ? text_of(text, line) : NULL);
    if (line->chain_count > 0)
        add_chains(line, out);
    if (gp_samples_of(line->inclusive) > 0)
        add_heat(line, totals, out);
    gp_json_key(out, "counts");
    gp_text_add(out, "{");
    for (size_t c = 0; c < COLUMNS; c++) {
        double count = gp_line_weight(line, columns[c].weight, lines->source.launches);
        if (totals->counts[c] > 0 && count > 0) {
            gp_json_key(out, columns[c].name);
            gp_json_number(out, count);
        }
    }
    gp_text_add(out, "}}");
}

void gp_html_lines(const struct gp_lines *lines, size_t *room, struct gp_text *out)
{
    const size_t begin = out->length;
    struct gp_by_line by_line = {0};
    struct source_text text = {0};
    struct totals totals = {.samples = 0};
    gp_json_key(out, "source");
    if (!lines) {
        gp_text_add(out, "null");
        return;
    }
    if (!gp_by_line_make(&by_line, lines))
        out->failed = true;
    for (size_t c = 0; c < COLUMNS; c++)
        totals.counts[c] = gp_lines_total(lines, columns[c].weight);
    for (size_t i = 0; i < lines->source.instruction_count; i++)
        totals.samples += gp_samples_of(lines->source.instructions[i].values);
    double least = least_share(lines, &by_line, &totals, *room > 0 ? MOST_LINES : FEW_LINES);
    gp_text_add(out, "[");
    for (size_t i = 0; i < by_line.count; i++)
        if (is_worth_it(lines, &by_line.list[i], &totals, least))
            add_line(lines, &by_line.list[i], &totals, &text, out);
    gp_text_add(out, "]");
    gp_json_key(out, "source_share");
    gp_json_number(out, least);
    gp_source_file_free(&text.source);
    gp_by_line_free(&by_line);
    const size_t used = out->length - begin;
    *room -= used < *room ? used : *room;
}
