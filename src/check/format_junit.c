/* JUnit XML, as Jenkins, GitLab and others read it: one test case for each rule and kernel. */
#include "check/format.h"

static void add_escaped(struct gp_text *out, const char *s)
{
    struct gp_text clean = {0};
    gp_add_clean(&clean, s);
    for (const char *p = gp_text_string(&clean); *p; p++) {
        switch (*p) {
        case '&':
            gp_text_add(out, "&amp;");
            break;
        case '<':
            gp_text_add(out, "&lt;");
            break;
        case '>':
            gp_text_add(out, "&gt;");
            break;
        case '"':
            gp_text_add(out, "&quot;");
            break;
        default:
            gp_text_add_bytes(out, p, 1);
        }
    }
    out->failed |= clean.failed;
    gp_text_free(&clean);
}

static void add_attribute(struct gp_text *out, const char *name, const char *value)
{
    gp_text_addf(out, " %s=\"", name);
    add_escaped(out, value);
    gp_text_add(out, "\"");
}

static void add_kernel(struct gp_text *out, const struct gp_outcome *o)
{
    struct gp_text name = {0};
    gp_text_add(&name, o->kernel ? o->kernel : "all kernels");
    if (o->configuration)
        gp_text_addf(&name, " [%s]", o->configuration);
    add_attribute(out, "classname", gp_text_string(&name));
    out->failed |= name.failed;
    gp_text_free(&name);
}

static void add_failure(struct gp_text *out, const struct gp_outcome *o)
{
    gp_text_add(out, "<failure");
    add_attribute(out, "message", o->message ? o->message : "violated");
    gp_text_add(out, " type=\"threshold\">");
    int line;
    const char *file = gp_outcome_file(o, &line);
    if (file) {
        add_escaped(out, file);
        gp_text_addf(out, ":%d: ", line);
    }
    add_escaped(out, o->message ? o->message : "violated");
    gp_text_add(out, "</failure>");
}

static void add_case(struct gp_text *out, const struct gp_outcome *o)
{
    gp_text_add(out, "    <testcase");
    add_attribute(out, "name", o->rule ? o->rule : "");
    add_kernel(out, o);
    gp_text_add(out, " time=\"0\">");
    if (o->status == GP_VIOLATED) {
        add_failure(out, o);
    } else if (o->status == GP_SKIPPED) {
        gp_text_add(out, "<skipped");
        add_attribute(out, "message", o->message ? o->message : "");
        gp_text_add(out, "/>");
    } else if (o->message) {
        gp_text_add(out, "<system-out>");
        add_escaped(out, o->message);
        gp_text_add(out, "</system-out>");
    }
    gp_text_add(out, "</testcase>\n");
}

void gp_write_junit(const struct gp_verdict *v, const struct gp_occasion *occasion,
                    struct gp_text *out)
{
    bool unjudged = v->unjudged.length > 0;
    gp_text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    add_attribute(out, "name", occasion->title);
    gp_text_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\" time=\"0\"",
                 v->count + (size_t)unjudged, v->violated, unjudged, v->skipped);
    add_attribute(out, "timestamp", occasion->time);
    add_attribute(out, "hostname", occasion->host);
    gp_text_add(out, ">\n");
    for (size_t i = 0; i < v->count; i++)
        add_case(out, &v->outcomes[i]);
    if (unjudged) {
        gp_text_add(out, "    <testcase name=\"judgement\"");
        add_attribute(out, "classname", occasion->title);
        gp_text_add(out, " time=\"0\"><error");
        add_attribute(out, "message", gp_text_string(&v->unjudged));
        gp_text_add(out, " type=\"unjudged\"/></testcase>\n");
    }
    if (v->notes.length > 0) {
        gp_text_add(out, "    <system-out>");
        add_escaped(out, gp_text_string(&v->notes));
        gp_text_add(out, "</system-out>\n");
    }
    gp_text_add(out, "  </testsuite>\n</testsuites>\n");
}
