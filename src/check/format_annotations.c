/* Workflow commands of GitHub Actions: ::error file=...,line=...,title=...::message. */
#include "check/format.h"

static void add_escaped(struct gp_text *out, const char *s, bool property)
{
    struct gp_text clean = {0};
    gp_add_clean(&clean, s);
    for (const char *p = gp_text_string(&clean); *p; p++) {
        if (*p == '%')
            gp_text_add(out, "%25");
        else if (property && *p == ':')
            gp_text_add(out, "%3A");
        else if (property && *p == ',')
            gp_text_add(out, "%2C");
        else
            gp_text_add_bytes(out, p, 1);
    }
    out->failed |= clean.failed;
    gp_text_free(&clean);
}

static void add_annotation(struct gp_text *out, const struct gp_outcome *o)
{
    int line;
    const char *file = gp_outcome_file(o, &line);
    gp_text_add(out, o->status == GP_VIOLATED ? "::error " : "::notice ");
    if (file) {
        gp_text_add(out, "file=");
        add_escaped(out, file, true);
        gp_text_addf(out, ",line=%d,", line);
    }
    gp_text_add(out, "title=");
    add_escaped(out, o->rule ? o->rule : "gpuprof", true);
    gp_text_add(out, "::");
    if (o->kernel) {
        add_escaped(out, o->kernel, false);
        if (o->configuration) {
            gp_text_add(out, " [");
            add_escaped(out, o->configuration, false);
            gp_text_add(out, "]");
        }
        gp_text_add(out, ": ");
    }
    add_escaped(out, o->message ? o->message : "", false);
    gp_text_add(out, "\n");
}

void gp_write_annotations(const struct gp_verdict *v, const struct gp_occasion *occasion,
                          struct gp_text *out)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->outcomes[i].status == GP_VIOLATED || v->outcomes[i].status == GP_NOTED)
            add_annotation(out, &v->outcomes[i]);
    if (v->unjudged.length > 0) {
        gp_text_add(out, "::error title=");
        add_escaped(out, occasion->title, true);
        gp_text_add(out, "::");
        add_escaped(out, gp_text_string(&v->unjudged), false);
        gp_text_add(out, "\n");
    }
}
