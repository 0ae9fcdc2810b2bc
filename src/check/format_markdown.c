/* A table in Markdown, for the summary of a job. */
#include "check/format.h"

/* Letters that Markdown would read as more than letters are escaped, so that a kernel's name is
 * shown as it is. */
static void add_escaped(struct gp_text *out, const char *s)
{
    struct gp_text clean = {0};
    gp_add_clean(&clean, s ? s : "");
    for (const char *p = gp_text_string(&clean); *p; p++) {
        if (*p == '<')
            gp_text_add(out, "&lt;");
        else if (*p == '>')
            gp_text_add(out, "&gt;");
        else if (*p == '&')
            gp_text_add(out, "&amp;");
        else if (*p == '|' || *p == '*' || *p == '_' || *p == '`' || *p == '[' || *p == ']' ||
                 *p == '\\' || *p == '~')
            gp_text_addf(out, "\\%c", *p);
        else
            gp_text_add_bytes(out, p, 1);
    }
    out->failed |= clean.failed;
    gp_text_free(&clean);
}

static void add_row(struct gp_text *out, const struct gp_outcome *o)
{
    static const char *const words[] = {
        [GP_VIOLATED] = "violated", [GP_SKIPPED] = "not judged", [GP_NOTED] = "note"};
    gp_text_addf(out, "| %s | ", words[o->status]);
    add_escaped(out, o->kernel);
    if (o->configuration) {
        gp_text_add(out, " (");
        add_escaped(out, o->configuration);
        gp_text_add(out, ")");
    }
    gp_text_add(out, " | ");
    add_escaped(out, o->rule);
    gp_text_add(out, " | ");
    add_escaped(out, o->value);
    gp_text_add(out, " | ");
    add_escaped(out, o->message);
    gp_text_add(out, " |\n");
}

void gp_write_markdown(const struct gp_verdict *v, const struct gp_occasion *occasion,
                       struct gp_text *out)
{
    bool any = false;
    gp_text_add(out, "### ");
    add_escaped(out, occasion->title);
    gp_text_add(out, ": ");
    gp_verdict_summary(v, out);
    gp_text_add(out, "\n\n");
    for (size_t i = 0; i < v->count; i++) {
        if (v->outcomes[i].status == GP_HELD)
            continue;
        if (!any)
            gp_text_add(out, "| | kernel | rule | value | |\n| --- | --- | --- | --- | --- |\n");
        any = true;
        add_row(out, &v->outcomes[i]);
    }
    if (v->unjudged.length > 0) {
        gp_text_add(out, any ? "\n" : "");
        add_escaped(out, gp_text_string(&v->unjudged));
        gp_text_add(out, "\n");
    }
}
