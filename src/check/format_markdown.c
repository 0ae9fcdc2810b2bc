/* A table in Markdown, for the summary of a job. */
#include "check/format.h"

#include "base/markdown.h"

#include <string.h>

static void add_text(struct gp_text *out, const char *s)
{
    gp_text_add_markdown(out, s ? s : "");
}

/* A paragraph of all lines. */
static void add_lines(struct gp_text *out, const char *lines)
{
    for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
        struct gp_text line = {0};
        length = strcspn(lines, "\n");
        gp_text_add_bytes(&line, lines, length);
        add_text(out, gp_text_string(&line));
        gp_text_add(out, "\n");
        out->failed |= line.failed;
        gp_text_free(&line);
    }
}

static void add_row(struct gp_text *out, const struct gp_outcome *o)
{
    static const char *const words[] = {
        [GP_VIOLATED] = "violated", [GP_SKIPPED] = "not judged", [GP_NOTED] = "note"};
    gp_text_addf(out, "| %s | ", words[o->status]);
    gp_text_add_markdown_code(out, o->kernel ? o->kernel : "", true);
    if (o->configuration) {
        gp_text_add(out, " (");
        add_text(out, o->configuration);
        gp_text_add(out, ")");
    }
    gp_text_add(out, " | ");
    add_text(out, o->rule);
    gp_text_add(out, " | ");
    add_text(out, o->value);
    gp_text_add(out, " | ");
    add_text(out, o->message);
    gp_text_add(out, " |\n");
}

void gp_write_markdown(const struct gp_verdict *v, const struct gp_occasion *occasion,
                       struct gp_text *out)
{
    bool any = false;
    gp_text_add(out, "### ");
    add_text(out, occasion->title);
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
        add_lines(out, gp_text_string(&v->unjudged));
    }
}
