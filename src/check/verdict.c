#include "check/verdict.h"

#include <stdlib.h>
#include <string.h>

static bool copy_string(const char **s)
{
    if (!*s)
        return true;
    *s = strdup(*s);
    return *s != NULL;
}

static void free_strings(struct gp_outcome *o)
{
    const char *const strings[] = {o->rule,   o->file,  o->kernel, o->configuration,
                                   o->source, o->value, o->bound,  o->message};
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        free((void *)strings[i]);
}

static bool copy_strings(struct gp_outcome *o)
{
    const char **const strings[] = {&o->rule,   &o->file,  &o->kernel, &o->configuration,
                                    &o->source, &o->value, &o->bound,  &o->message};
    bool copied = true;
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        copied &= copy_string(strings[i]);
    return copied;
}

static bool make_room(struct gp_verdict *v)
{
    if (v->count < v->capacity)
        return true;
    size_t more = v->capacity ? v->capacity * 2 : 64;
    struct gp_outcome *outcomes =
        v->count < GP_MOST_OUTCOMES ? realloc(v->outcomes, more * sizeof(*outcomes)) : NULL;
    if (!outcomes)
        return false;
    v->outcomes = outcomes;
    v->capacity = more;
    return true;
}

void gp_verdict_add(struct gp_verdict *v, const struct gp_outcome *outcome)
{
    size_t *const counts[] = {[GP_HELD] = &v->held,
                              [GP_VIOLATED] = &v->violated,
                              [GP_SKIPPED] = &v->skipped,
                              [GP_NOTED] = &v->noted};
    ++*counts[outcome->status];
    if (!make_room(v)) {
        v->failed = true;
        return;
    }
    struct gp_outcome *o = &v->outcomes[v->count];
    *o = *outcome;
    if (copy_strings(o)) {
        v->count++;
        return;
    }
    free_strings(o);
    v->failed = true;
}

void gp_verdict_free(struct gp_verdict *v)
{
    for (size_t i = 0; i < v->count; i++)
        free_strings(&v->outcomes[i]);
    free(v->outcomes);
    gp_text_free(&v->notes);
    gp_text_free(&v->unjudged);
    memset(v, 0, sizeof(*v));
}

void gp_verdict_sort(struct gp_verdict *v)
{
    static const enum gp_status order[] = {GP_VIOLATED, GP_NOTED, GP_SKIPPED, GP_HELD};
    struct gp_outcome *sorted = calloc(v->count + 1, sizeof(*sorted));
    size_t at = 0;
    if (!sorted)
        return;
    for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
        for (size_t i = 0; i < v->count; i++)
            if (v->outcomes[i].status == order[k])
                sorted[at++] = v->outcomes[i];
    free(v->outcomes);
    v->outcomes = sorted;
    v->capacity = v->count + 1;
}

int gp_verdict_status(const struct gp_verdict *v)
{
    if (v->violated > 0)
        return GP_CHECK_VIOLATED;
    bool whole = !v->failed && !v->notes.failed && !v->unjudged.failed;
    return v->unjudged.length > 0 || !whole ? GP_CHECK_UNJUDGED : GP_CHECK_HELD;
}

void gp_verdict_summary(const struct gp_verdict *v, struct gp_text *out)
{
    size_t judged = v->held + v->violated;
    if (v->violated > 0)
        gp_text_addf(out, "%zu of %zu checks violated", v->violated, judged);
    else if (judged > 0)
        gp_text_addf(out,
                     gp_verdict_status(v) == GP_CHECK_HELD ? "all %zu checks held"
                                                           : "%zu checks held, not all were made",
                     judged);
    else
        gp_text_add(out, "nothing was checked");
    if (v->skipped > 0)
        gp_text_addf(out, ", %zu not judged", v->skipped);
    if (v->noted > 0)
        gp_text_addf(out, ", %zu noted", v->noted);
    if (v->failed || v->notes.failed || v->unjudged.failed)
        gp_text_add(out, "; out of memory: the list is not complete");
}

const char *gp_outcome_file(const struct gp_outcome *o, int *line)
{
    if (o->source) {
        *line = o->source_line > 0 ? o->source_line : 1;
        return o->source;
    }
    *line = o->line > 0 ? o->line : 1;
    return o->file;
}
