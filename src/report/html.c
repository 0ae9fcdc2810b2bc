#include "report/html.h"

#include "gpuprof_version.h"
#include "report/html_kernels.h"
#include "report/json.h"
#include "report/rows.h"
#include "report/whole.h"

#include <inttypes.h>

/* src/report/page, as one text before the data and one behind them (see Makefile). */
extern const char gp_page_head[], gp_page_head_end[], gp_page_tail[], gp_page_tail_end[];

bool gp_html_available(void)
{
    return gp_page_head_end - gp_page_head > 0;
}

void gp_html_begin(struct gp_text *page)
{
    gp_text_add_bytes(page, gp_page_head, (size_t)(gp_page_head_end - gp_page_head));
    gp_text_add(page, "{\"gpuprof\":\"" GP_VERSION "\",\"profiles\":[");
}

void gp_html_end(struct gp_text *page)
{
    gp_text_add(page, "]}");
    gp_text_add_bytes(page, gp_page_tail, (size_t)(gp_page_tail_end - gp_page_tail));
}

void gp_html_add_process(struct gp_text *out, const struct gp_html_process *process)
{
    gp_json_next(out);
    gp_text_addf(out, "{\"pid\":%ld", process->pid);
    gp_json_member(out, "version", process->version);
    gp_json_member(out, "host", process->host);
    gp_json_member(out, "time", process->time);
    gp_json_key(out, "command");
    gp_text_add(out, "[");
    for (size_t i = 0; i < process->argument_count; i++) {
        gp_json_next(out);
        gp_json_string(out, process->command[i]);
    }
    gp_text_add(out, "]}");
}

static void add_totals(const struct gp_rows *r, struct gp_text *out)
{
    struct gp_totals t = gp_summary_totals(r->summary);
    gp_json_key(out, "totals");
    gp_text_addf(out,
                 "{\"launches\":%" PRIu64 ",\"measured\":%" PRIu64 ",\"replays\":%" PRIu64
                 ",\"ungrouped\":%" PRIu64 ",\"timed\":%s,\"seconds\":",
                 t.launches, t.measured, t.replays, gp_summary_ungrouped(r->summary),
                 r->timed ? "true" : "false");
    gp_json_number(out, r->seconds);
    gp_json_key(out, "overhead_seconds");
    gp_json_number(out, t.added_seconds);
    gp_text_add(out, "}");
}

static void add_settings(const struct gp_settings *settings, struct gp_text *out)
{
    gp_json_member(out, "sample", settings->sample);
    gp_json_key(out, "replay_off");
    gp_text_add(out, settings->replay_off ? "true" : "false");
}

static void add_skips(const struct gp_summary *s, struct gp_text *out)
{
    gp_json_key(out, "skips");
    gp_text_add(out, "[");
    for (size_t i = 0; i < gp_summary_skip_count(s); i++) {
        const struct gp_skip *skip = gp_summary_skip(s, i);
        gp_json_next(out);
        gp_text_addf(out, "{\"launches\":%" PRIu64, skip->launches);
        gp_json_key(out, "kernel");
        gp_html_name(skip->kernel, out);
        gp_json_member(out, "reason", skip->reason.text);
        gp_text_add(out, "}");
    }
    gp_text_addf(out, "],\"other_skips\":%" PRIu64, gp_summary_other_skips(s));
}

/* The row that a launch is in, for gp_launch_columns_json. */
static int row_of(const void *user, const struct gp_record *launch)
{
    const struct gp_rows *r = user;
    for (size_t i = 0; i < gp_rows_all(r); i++)
        if (gp_rows_alike(r->rows[i].launch, launch))
            return (int)i;
    return -1;
}

static const struct gp_lines *lines_of(void *sources, const struct gp_row *row)
{
    return sources ? gp_sources_of(sources, row->launch->kernel) : NULL;
}

/* The lines that are known, as the text has them. */
static void add_summary(const struct gp_whole *whole, struct gp_text *page)
{
    struct gp_text line = {0};
    gp_json_key(page, "summary");
    gp_text_add(page, "[");
    for (size_t i = 0; i < GP_WHOLE_LINES; i++) {
        gp_text_clear(&line);
        const char *name = gp_whole_line(whole, i, &line);
        page->failed |= line.failed;
        if (line.length == 0)
            continue;
        gp_json_next(page);
        gp_text_add(page, "{");
        gp_json_member(page, "name", name);
        gp_json_member(page, "value", gp_text_string(&line));
        gp_text_add(page, "}");
    }
    gp_text_add(page, "]");
    gp_text_free(&line);
}

/* The program as a whole, the bounds of the kernels, the advice, and all that follows from them. */
static void add_kernels(const struct gp_rows *r, const struct gp_html_profile *profile,
                        struct gp_text *page)
{
    struct gp_whole whole;
    const struct gp_sources *sources = profile->sources;
    struct gp_text problems = {0};
    struct gp_findings findings = {0};
    struct gp_rules *rules = gp_rules_open(gp_summary_metrics(r->summary), &problems);
    if (rules && gp_findings_make(&findings, rules, r, lines_of, (void *)sources)) {
        gp_whole_make(&whole, r, &findings, profile->copies, lines_of, (void *)sources);
        add_summary(&whole, page);
        gp_html_kernels(r, rules, &findings, sources, page);
        gp_html_changes(r, &findings.advice, page);
    } else {
        page->failed = true;
    }
    gp_json_member(page, "problems", gp_text_string(&problems));
    gp_findings_free(&findings);
    gp_rules_close(rules);
    gp_text_free(&problems);
}

void gp_html_add_profile(struct gp_text *page, const struct gp_html_profile *profile)
{
    const struct gp_summary *summary = profile->summary;
    struct gp_rows r;
    if (!gp_rows_make(&r, summary)) {
        page->failed = true;
        gp_rows_free(&r);
        return;
    }
    gp_json_next(page);
    gp_text_add(page, "{");
    gp_json_member(page, "path", profile->path);
    gp_json_key(page, "processes");
    gp_text_addf(page, "[%s]", gp_text_string(profile->processes));
    page->failed |= profile->processes->failed;
    gp_json_member(page, "notes", profile->notes);
    add_settings(gp_summary_get_settings(summary), page);
    add_totals(&r, page);
    gp_html_devices(summary, page);
    gp_html_metrics(summary, page);
    add_kernels(&r, profile, page);
    add_skips(summary, page);
    gp_json_key(page, "launches");
    gp_launch_columns_json(profile->columns, row_of, &r, page);
    gp_text_add(page, "}");
    gp_rows_free(&r);
}
