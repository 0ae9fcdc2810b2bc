#include "report/stalls_json.h"

#include "code/instruction.h"
#include "code/mnemonic.h"
#include "report/by_line.h"
#include "report/own_line.h"
#include "report/stalls.h"

#include <stdlib.h>

#define MOST_LINES 200
#define MOST_INSTRUCTIONS 50
#define LEAST_SHARE 0.01 /* of a line, with the code inlined there */

static json_t *share(const struct gp_stalls *s, uint64_t samples)
{
    return json_real((double)samples / (double)s->samples);
}

static json_t *reasons_of(struct gp_object *o, const struct gp_stalls *s,
                          const uint64_t counts[GP_COUNT_KINDS])
{
    json_t *all = json_array();
    size_t order[GP_STALL_COUNT], count = gp_stalls_order(counts, order);
    for (size_t i = 0; i < count; i++) {
        json_t *one = json_object();
        gp_object_put(o, one, "name", json_string(gp_stall_reasons[order[i]].name));
        gp_object_put(o, one, "share", share(s, gp_samples_by(counts, order[i])));
        gp_object_append(o, all, one);
    }
    return all;
}

/* ---- reasons --------------------------------------------------------------------------------- */

static json_t *reasons(struct gp_object *o, const struct gp_stalls *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->order_count; i++) {
        const struct gp_stall_reason *r = &gp_stall_reasons[s->order[i]];
        struct gp_text where = {0};
        json_t *one = json_object();
        uint64_t samples = gp_samples_by(s->counts, s->order[i]);
        double part = gp_stalls_where(s, s->order[i], &where);
        gp_object_put(o, one, "name", json_string(r->name));
        gp_object_put(o, one, "meaning", json_string(r->meaning));
        gp_object_put(o, one, "waits", json_boolean(r->waits));
        gp_object_put(o, one, "samples", gp_object_whole(samples));
        gp_object_put(o, one, "share", share(s, samples));
        gp_object_put(o, one, "where", gp_object_text(gp_text_string(&where)));
        gp_object_put(o, one, "where_share", json_real(part));
        gp_object_append(o, all, one);
        o->failed |= where.failed;
        gp_text_free(&where);
    }
    return all;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int compare_samples(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static int by_heat(const void *x, const void *y)
{
    const struct gp_line_counts *const *a = x, *const *b = y;
    int order = compare_samples(gp_samples_of((*a)->own), gp_samples_of((*b)->own));
    if (order == 0)
        order = compare_samples(gp_samples_of((*a)->inclusive), gp_samples_of((*b)->inclusive));
    return order ? order : (*a > *b) - (*a < *b);
}

static json_t *file_of(const struct gp_lines *lines, const struct gp_line_counts *line)
{
    struct gp_text path = {0};
    bool within = *line->directory && line->file[0] != '/';
    if (lines->hidden)
        gp_text_add(&path, gp_base_name(line->file));
    else
        gp_text_addf(&path, "%s%s%s", within ? line->directory : "", within ? "/" : "", line->file);
    json_t *text = path.failed ? NULL : gp_object_text(gp_text_string(&path));
    gp_text_free(&path);
    return text;
}

static json_t *line_object(struct gp_object *o, const struct gp_stalls *s,
                           const struct gp_line_counts *line)
{
    json_t *one = json_object(), *chains = json_array();
    gp_object_put(o, one, "file", file_of(s->lines, line));
    gp_object_put(o, one, "line", json_integer(line->line));
    gp_object_put(o, one, "samples", gp_object_whole(gp_samples_of(line->own)));
    gp_object_put(o, one, "share", share(s, gp_samples_of(line->own)));
    gp_object_put(o, one, "share_with_inlined", share(s, gp_samples_of(line->inclusive)));
    gp_object_put(o, one, "reasons", reasons_of(o, s, line->own));
    gp_object_put(o, one, "reasons_with_inlined", reasons_of(o, s, line->inclusive));
    for (size_t i = 0; i < line->chain_count; i++)
        gp_object_append(o, chains, gp_object_text(line->chains[i]));
    gp_object_put(o, one, "inlined_at", chains);
    return one;
}

static json_t *lines_array(struct gp_object *o, const struct gp_stalls *s)
{
    json_t *all = json_array();
    struct gp_by_line by_line = {0};
    if (!s->lines->table)
        return all;
    bool made = gp_by_line_make(&by_line, s->lines);
    const struct gp_line_counts **hot = calloc(by_line.count + 1, sizeof(*hot));
    size_t count = 0;
    o->failed |= !made || !hot;
    for (size_t i = 0; hot && i < by_line.count; i++) {
        const struct gp_line_counts *line = &by_line.list[i];
        if (*line->file &&
            (double)gp_samples_of(line->inclusive) >= LEAST_SHARE * (double)s->samples)
            hot[count++] = line;
    }
    if (count > 0)
        qsort(hot, count, sizeof(*hot), by_heat);
    for (size_t i = 0; i < count && i < MOST_LINES; i++)
        gp_object_append(o, all, line_object(o, s, hot[i]));
    free(hot);
    gp_by_line_free(&by_line);
    return all;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static int by_heat_of_instruction(const void *x, const void *y)
{
    const struct gp_instruction_counts *const *a = x, *const *b = y;
    int order = compare_samples(gp_samples_of((*a)->values), gp_samples_of((*b)->values));
    return order ? order : (*a > *b) - (*a < *b);
}

static json_t *instruction_object(struct gp_object *o, const struct gp_stalls *s,
                                  const struct gp_instruction_counts *c)
{
    json_t *one = json_object();
    const char *function = s->lines->source.functions[c->function], *mnemonic = NULL;
    size_t size;
    const char *code = gp_lines_code(s->lines, function, &size);
    if (code && size >= GP_INSTRUCTION_BYTES && c->offset <= size - GP_INSTRUCTION_BYTES)
        mnemonic = gp_mnemonic(code + c->offset, s->lines->source.cc);
    gp_object_put(o, one, "function", gp_object_text(function));
    gp_object_put(o, one, "offset", json_integer(c->offset));
    gp_object_put(o, one, "mnemonic", mnemonic ? json_string(mnemonic) : json_null());
    gp_object_put(o, one, "samples", gp_object_whole(gp_samples_of(c->values)));
    gp_object_put(o, one, "share", share(s, gp_samples_of(c->values)));
    gp_object_put(o, one, "reasons", reasons_of(o, s, c->values));
    return one;
}

static json_t *instructions_array(struct gp_object *o, const struct gp_stalls *s)
{
    json_t *all = json_array();
    const struct gp_code_counts *source = &s->lines->source;
    const struct gp_instruction_counts **hot = calloc(source->instruction_count + 1, sizeof(*hot));
    size_t count = 0;
    o->failed |= !hot;
    for (size_t i = 0; hot && i < source->instruction_count; i++)
        if (gp_samples_of(source->instructions[i].values) > 0)
            hot[count++] = &source->instructions[i];
    if (count > 0)
        qsort(hot, count, sizeof(*hot), by_heat_of_instruction);
    for (size_t i = 0; i < count && i < MOST_INSTRUCTIONS; i++)
        gp_object_append(o, all, instruction_object(o, s, hot[i]));
    free(hot);
    return all;
}

json_t *gp_stalls_json(struct gp_object *o, const struct gp_lines *lines)
{
    struct gp_stalls s;
    json_t *answer = NULL;
    o->failed |= !gp_stalls_make(&s, lines);
    if (s.samples > 0) {
        answer = json_object();
        gp_object_put(o, answer, "runs", gp_object_whole(lines->source.sampled));
        gp_object_put(o, answer, "samples", gp_object_whole(s.samples));
        gp_object_put(o, answer, "error", json_real(gp_stalls_error(s.samples)));
        gp_object_put(o, answer, "reasons", reasons(o, &s));
        gp_object_put(o, answer, "lines", lines_array(o, &s));
        gp_object_put(o, answer, "instructions", instructions_array(o, &s));
    }
    gp_stalls_free(&s);
    return answer ? answer : json_null();
}
