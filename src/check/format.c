#include "check/format.h"

#include "base/escape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

const struct gp_format gp_formats[] = {
    {"text", "for people", gp_write_text},
    {"junit", "JUnit XML", gp_write_junit},
    {"github", "annotations of GitHub Actions", gp_write_annotations},
    {"gitlab", "code quality JSON of GitLab", gp_write_code_quality},
    {"sarif", "SARIF 2.1.0", gp_write_sarif},
    {"markdown", "a table, for a job's summary", gp_write_markdown},
    {NULL, NULL, NULL},
};

const struct gp_format *gp_format_find(const char *name)
{
    for (const struct gp_format *f = gp_formats; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

/* The length of the character at `s`, 0 where there is none that XML takes. */
static size_t letter_at(const char *s)
{
    uint32_t c = 0;
    size_t length = gp_character_at(s, strnlen(s, 4), &c);
    bool is_letter = c >= 0x20 && c != 0x7f && c != 0xfffe && c != 0xffff;
    return length > 0 && is_letter ? length : 0;
}

void gp_add_clean(struct gp_text *out, const char *s)
{
    while (*s) {
        size_t length = letter_at(s);
        if (length > 0)
            gp_text_add_bytes(out, s, length);
        else
            gp_text_add(out, *s == '\n' || *s == '\t' ? " " : "?");
        s += length > 0 ? length : 1;
    }
}

void gp_fingerprint(const struct gp_outcome *o, char out[17])
{
    const char *const parts[] = {o->rule, o->kernel, o->configuration};
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        for (const char *p = parts[i] ? parts[i] : ""; *p; p++)
            hash = (hash ^ (unsigned char)*p) * 1099511628211u;
        hash = (hash ^ '\n') * 1099511628211u;
    }
    snprintf(out, 17, "%016llx", (unsigned long long)hash);
}

/* ---- for people ---- */

static void add_line(const struct gp_outcome *o, struct gp_text *out)
{
    static const char *const words[] = {[GP_HELD] = "held",
                                        [GP_VIOLATED] = "violated",
                                        [GP_SKIPPED] = "not judged",
                                        [GP_NOTED] = "note"};
    if (o->source) {
        gp_text_add_escaped(out, o->source, strlen(o->source));
        gp_text_addf(out, ":%d: ", o->source_line);
    }
    gp_text_addf(out, "%s: ", words[o->status]);
    if (o->kernel)
        gp_add_clean(out, o->kernel);
    if (o->configuration)
        gp_text_addf(out, " [%s]", o->configuration);
    gp_text_add(out, o->kernel ? ": " : "");
    gp_add_clean(out, o->message ? o->message : "");
    if (o->file && o->line > 0) {
        gp_text_add(out, " [");
        gp_text_add_escaped(out, o->file, strlen(o->file));
        gp_text_addf(out, ":%d]", o->line);
    }
    gp_text_add(out, "\n");
}

void gp_write_text(const struct gp_verdict *v, const struct gp_occasion *occasion,
                   struct gp_text *out)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->outcomes[i].status != GP_HELD)
            add_line(&v->outcomes[i], out);
    gp_text_add_escaped_lines(out, gp_text_string(&v->notes), v->notes.length);
    gp_text_add_escaped_lines(out, gp_text_string(&v->unjudged), v->unjudged.length);
    gp_text_addf(out, "%s: ", occasion->title);
    gp_verdict_summary(v, out);
    gp_text_add(out, "\n");
}
