#include "report/view_markdown.h"

#include "base/markdown.h"
#include "gpuprof_version.h"
#include "report/layout.h"
#include "report/remedies.h"
#include "report/row_cells.h"
#include "report/row_names.h"
#include "report/skips.h"
#include "report/stalls.h"
#include "report/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_ROWS 50 /* where nothing else is said */
#define NAME_WIDTH 120
#define CUT "\n_More would exceed the limit of the text._\n"

/* The text while it is made. */
struct page {
    const struct gp_rows *rows;
    const struct gp_findings *findings;
    const struct gp_markdown_options *options;
    struct gp_row_names names;
    struct gp_text *out;
    size_t begin;
    bool cut;
};

/* Adds a part if there is room for it, and for the line that says that something was left out. */
static bool add_part(struct page *p, struct gp_text *part)
{
    size_t used = p->out->length - p->begin, most = p->options->bytes;
    bool fits = !p->cut && (most == 0 || used + part->length + strlen(CUT) <= most);
    if (fits)
        gp_text_add(p->out, gp_text_string(part));
    p->cut = p->cut || !fits;
    p->out->failed |= part->failed;
    gp_text_free(part);
    return fits;
}

static size_t most_rows(const struct page *p)
{
    size_t most = p->options->kernels ? p->options->kernels : MOST_ROWS;
    return p->rows->count < most ? p->rows->count : most;
}

/* ---- the head -------------------------------------------------------------------------------- */

static void add_devices(const struct gp_summary *s, struct gp_text *out)
{
    for (int i = 0; i < GP_MAX_DEVICES; i++) {
        const struct gp_device *d = gp_summary_get_device(s, i);
        if (!d)
            continue;
        gp_text_addf(out, "- GPU %d: ", d->ordinal);
        gp_text_add_markdown(out, d->name);
        gp_text_addf(out, ", compute capability %d.%d, %d SMs%s\n", d->cc_major, d->cc_minor,
                     d->sm_count, d->simulated ? " (simulated: numbers of a model)" : "");
    }
}

/* Each line by itself: an item of a list, a quotation. */
static void add_lines(const char *mark, const char *lines, struct gp_text *out)
{
    for (const char *line = lines; *line;) {
        size_t length = strcspn(line, "\n");
        struct gp_text one = {0};
        gp_text_add_bytes(&one, line, length);
        gp_text_add(out, mark);
        gp_text_add_markdown(out, gp_text_string(&one));
        gp_text_add(out, "\n");
        out->failed |= one.failed;
        gp_text_free(&one);
        line += length + (line[length] == '\n');
    }
}

static void add_head(struct page *p, const struct gp_whole *whole)
{
    struct gp_text part = {0}, lines = {0};
    struct gp_totals t = gp_summary_totals(p->rows->summary);
    gp_text_add(&part, "## gpuprof");
    if (p->options->command) {
        gp_text_add(&part, ": ");
        gp_text_add_markdown_code(&part, p->options->command, false);
    }
    gp_text_addf(
        &part, "\n\n- %" PRIu64 " kernel launch%s, %" PRIu64 " measured (gpuprof " GP_VERSION ")\n",
        t.launches, t.launches == 1 ? "" : "es", t.measured);
    add_devices(p->rows->summary, &part);
    gp_whole_text(whole, SIZE_MAX, &lines);
    add_lines("- ", gp_text_string(&lines), &part);
    gp_text_free(&lines);
    if (p->options->notes && p->options->notes[0]) {
        gp_text_add(&part, "\n");
        add_lines("> ", p->options->notes, &part);
    }
    add_part(p, &part);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void add_cell(const struct page *p, const struct gp_row *row, const char *metric,
                     double factor, const char *unit, struct gp_text *out)
{
    double value;
    char text[40] = "-";
    if (gp_rows_mean(p->rows, row, metric, &value))
        gp_unit_format(factor * value, unit, text, sizeof(text));
    gp_text_addf(out, " %s |", text);
}

static void add_bound(const struct gp_bound *b, struct gp_text *out)
{
    char used[32] = "";
    if (b->kind == GP_BOUND_UNIT)
        gp_unit_format(100 * b->utilization, "%", used, sizeof(used));
    gp_text_add(out, " ");
    gp_text_add_markdown(out, b->title);
    gp_text_addf(out, "%s%s%s |", used[0] ? " " : "", used, b->at_roof ? ", at its roof" : "");
}

static void add_kernel(const struct page *p, size_t i, struct gp_text *out)
{
    const struct gp_row *row = &p->rows->rows[i];
    char name[GP_ROW_NAME_SIZE], launches[GP_CELL_LAUNCHES_SIZE],
        share[32] = "-", average[32] = "-", used[16] = "-", occupancy[48] = "-";
    double seconds, achieved;
    gp_row_names_format(&p->names, row, name);
    if (p->rows->seconds > 0 && row->seconds > 0)
        gp_unit_format(100 * row->seconds / p->rows->seconds, "%", share, sizeof(share));
    if (gp_rows_average_time(row, &seconds))
        gp_unit_format(seconds, "s", average, sizeof(average));
    if (gp_rows_mean(p->rows, row, "achieved_occupancy", &achieved))
        snprintf(used, sizeof(used), "%.2f", achieved);
    if (row->occupancy_known)
        snprintf(occupancy, sizeof(occupancy), "%s of %.2f", used, row->occupancy.ratio);
    gp_text_add(out, "| ");
    gp_text_add_markdown_code(out, name, true);
    gp_cell_launches(row, launches);
    gp_text_addf(out, " | %s", gp_cell_is_estimated(p->rows, row) ? "\\~" : "");
    gp_text_addf(out, "%s | %s | %s |", share, launches, average);
    add_bound(&p->findings->bounds[i], out);
    gp_text_addf(out, " %s |", occupancy);
    add_cell(p, row, "gld_efficiency", 1, "%", out);
    add_cell(p, row, "gst_efficiency", 1, "%", out);
    add_cell(p, row, "shared_efficiency", 1, "%", out);
    add_cell(p, row, "warp_execution_efficiency", 1, "%", out);
    add_cell(p, row, "flops", 1, "flop/s", out);
    add_cell(p, row, "flop_per_byte", 1, "ratio", out);
    add_cell(p, row, "dram_utilization", 100, "%", out);
    gp_text_add(out, "\n");
}

static void add_kernels(struct page *p)
{
    struct gp_text head = {0};
    size_t most = most_rows(p), shown = 0;
    gp_text_add(
        &head, "\n### Kernels\n\n"
               "| kernel [block] | time | launches | mean | bound by | occupancy | gld | gst | "
               "shared | warp | FLOP/s | FLOP/byte | DRAM |\n"
               "| --- | --: | --: | --: | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n");
    bool room = add_part(p, &head);
    while (room && shown < most) {
        struct gp_text row = {0};
        add_kernel(p, shown, &row);
        room = add_part(p, &row);
        shown += room;
    }
    struct gp_text rest = {0};
    if (room && shown < p->rows->count) {
        size_t more = p->rows->count - shown;
        gp_text_addf(&rest, "\n%zu more kernel%s not shown.\n", more, more == 1 ? " is" : "s are");
        add_part(p, &rest);
    }
}

/* ---- waiting warps --------------------------------------------------------------------------- */

/* A kernel's samples are those of its first row. */
static bool is_first_of_kernel(const struct gp_rows *r, size_t index)
{
    size_t i = 0;
    while (strcmp(r->rows[i].launch->kernel, r->rows[index].launch->kernel) != 0)
        i++;
    return i == index;
}

static void add_waits_of(struct page *p, size_t index, bool *begun)
{
    const struct gp_row *row = &p->rows->rows[index];
    struct gp_stalls stalls;
    struct gp_text part = {0}, line = {0};
    if (!(row->seconds >= GP_ADVISED_SHARE * p->rows->seconds) ||
        !is_first_of_kernel(p->rows, index))
        return;
    p->out->failed |=
        !gp_stalls_make(&stalls, gp_sources_of(p->options->sources, row->launch->kernel));
    gp_stalls_brief(&stalls, SIZE_MAX, &line);
    gp_stalls_free(&stalls);
    if (line.length > 0) {
        char name[GP_ROW_NAME_SIZE];
        gp_row_names_format_kernel(&p->names, row, name);
        gp_text_add(&part, *begun ? "- " : "\n### Why warps wait\n\n- ");
        gp_text_add_markdown_code(&part, name, false);
        gp_text_add(&part, ": ");
        gp_text_add_markdown(&part, gp_text_string(&line));
        gp_text_add(&part, "\n");
        *begun = true;
    }
    part.failed |= line.failed;
    gp_text_free(&line);
    if (part.length > 0)
        add_part(p, &part);
    gp_text_free(&part);
}

static void add_waits(struct page *p)
{
    bool begun = false;
    for (size_t i = 0; i < most_rows(p); i++)
        add_waits_of(p, i, &begun);
}

/* ---- advice ---------------------------------------------------------------------------------- */

/* Metrics that a rule's evidence speaks of, at most so many, for the command that compares. */
#define MOST_METRICS 4

struct named {
    const struct gp_metrics *metrics;
    const char *names[MOST_METRICS];
    size_t count;
};

static bool note_metric(void *user, struct gp_node *operand)
{
    struct named *n = user;
    const struct gp_metric *metric =
        operand->kind == GP_NODE_METRIC ? gp_metrics_find(n->metrics, operand->name) : NULL;
    for (size_t i = 0; metric && i < n->count; i++)
        if (strcmp(n->names[i], metric->name) == 0)
            metric = NULL;
    if (metric && n->count < MOST_METRICS)
        n->names[n->count++] = metric->name;
    return true;
}

static void add_check(const struct page *p, const struct gp_advice *a, struct gp_text *out)
{
    struct named n = {.metrics = gp_summary_metrics(p->rows->summary)};
    struct gp_text command = {0};
    for (const struct gp_piece *piece = a->rule->evidence; piece; piece = piece->next)
        if (piece->value)
            gp_formula_walk(piece->value, note_metric, &n);
    /* A comparison has the time of kernels, and not that of the run. */
    gp_text_add(&command,
                a->rule->of_run ? "gpuprof report" : "gpuprof compare --metrics duration");
    for (size_t i = 0; i < n.count && !a->rule->of_run; i++)
        gp_text_addf(&command, ",%s", n.names[i]);
    gp_text_addf(&command, " %s AFTER.jsonl",
                 p->options->profile ? p->options->profile : "BEFORE.jsonl");
    gp_text_add(out,
                "   - check: profile the changed program with `gpuprof -o AFTER.jsonl`, then ");
    gp_text_add_markdown_code(out, gp_text_string(&command), false);
    gp_text_add(out, a->rule->of_run ? ": how long each ran (`Program`)\n" : "\n");
    out->failed |= command.failed;
    gp_text_free(&command);
}

/* Each kernel; where they are several with its part of the gain. */
static void add_subject(const struct page *p, const struct gp_remedy *change, struct gp_text *out)
{
    const struct gp_advice *a = change->first;
    for (; a; a = gp_remedy_next(change, &p->findings->advice, a)) {
        char name[GP_ROW_NAME_SIZE] = "the program", gain[GP_GAIN_SIZE];
        if (a->row)
            gp_row_names_format(&p->names, a->row, name);
        gp_text_add(out, a == change->first ? "" : ", ");
        gp_text_add_markdown_code(out, name, false);
        gp_gain_format(a->gain, a->up_to, gain);
        if (change->kernels > 1)
            gp_text_addf(out, " %s", gain);
    }
}

static void add_item(struct page *p, size_t number, const struct gp_remedy *change)
{
    const struct gp_advice *a = change->first;
    struct gp_text part = {0}, evidence = {0};
    char gain[GP_GAIN_SIZE];
    gp_gain_format(change->gain, a->up_to, gain);
    gp_text_addf(&part, "%zu. **%s of %s**: ", number, gain, gp_gain_of(a));
    add_subject(p, change, &part);
    if (a->where) {
        gp_text_add(&part, ", ");
        gp_text_add_markdown_code(&part, a->where, false);
    }
    gp_text_addf(&part, " (%s%s)\n", a->rule->name, a->rule->guess ? ", a guess" : "");
    if (change->kernels == 1)
        gp_advice_grids(p->rows, a, &evidence);
    gp_text_add(&evidence, a->evidence);
    gp_text_add(&part, "   - evidence: ");
    gp_text_add_markdown(&part, gp_text_string(&evidence));
    gp_text_add(&part, "\n   - change: ");
    gp_text_add_markdown(&part, a->text);
    gp_text_add(&part, "\n");
    add_check(p, a, &part);
    gp_text_free(&evidence);
    add_part(p, &part);
}

static void add_tunings(struct page *p)
{
    size_t count = p->findings->tunings.count, kernels = p->options->kernels;
    for (size_t i = 0; i < count && (kernels == 0 || i < kernels); i++) {
        const struct gp_tuning *tuning = &p->findings->tunings.list[i];
        struct gp_text line = {0}, part = {0};
        char name[GP_ROW_NAME_SIZE];
        if (!(tuning->seconds >= GP_ADVISED_SHARE * p->rows->seconds))
            break;
        gp_row_names_format_kernel(&p->names, tuning->tried[0].row, name);
        gp_tuning_text(p->rows, tuning, name, &line);
        gp_text_add(&part, "\n");
        gp_text_add_markdown(&part, gp_text_string(&line));
        gp_text_add(&part, "\n");
        gp_text_free(&line);
        add_part(p, &part);
    }
}

static void add_advice(struct page *p)
{
    struct gp_text head = {0};
    const struct gp_advice_list *list = &p->findings->advice;
    size_t most = p->options->kernels ? p->options->kernels : list->count;
    struct gp_remedies changes;
    gp_text_add(&head, "\n### Worth changing\n\n");
    if (gp_findings_assume_fastest(p->findings, p->rows))
        gp_text_add(&head, "Shares are of the GPU time with the fastest configurations, which are "
                           "named below.\n\n");
    if (list->count == 0)
        gp_text_add(&head, "No rule of advice applies to these kernels.\n");
    add_part(p, &head);
    p->out->failed |= !gp_remedies_make(&changes, list);
    for (size_t i = 0; i < changes.count && i < most; i++)
        add_item(p, i + 1, &changes.list[i]);
    gp_remedies_free(&changes);
}

/* ---- missing values -------------------------------------------------------------------------- */

static void add_not_measured(struct page *p)
{
    const struct gp_summary *s = p->rows->summary;
    struct gp_text head = {0};
    size_t next = 0;
    bool more = gp_summary_skip_count(s) > 0;
    gp_text_add(&head, "\n### Not measured, or not completely\n\n");
    if (more)
        add_part(p, &head);
    gp_text_free(&head);
    while (more) {
        struct gp_text line = {0}, part = {0};
        more = gp_skips_next(s, &next, 0, &line) > 0;
        gp_text_add(&part, "- ");
        gp_text_add_markdown(&part, gp_text_string(&line));
        gp_text_add(&part, "\n");
        part.failed |= line.failed;
        gp_text_free(&line);
        if (more)
            add_part(p, &part);
        gp_text_free(&part);
    }
}

void gp_report_markdown(const struct gp_rows *rows, const struct gp_findings *findings,
                        const struct gp_whole *whole, const struct gp_markdown_options *options,
                        struct gp_text *out)
{
    struct page p = {
        .rows = rows, .findings = findings, .options = options, .out = out, .begin = out->length};
    if (!gp_row_names_make(&p.names, rows, rows->count, NAME_WIDTH)) {
        out->failed = true;
    } else {
        add_head(&p, whole);
        if (rows->count > 0) {
            add_advice(&p);
            add_tunings(&p);
            add_kernels(&p);
            add_waits(&p);
        }
        add_not_measured(&p);
        if (p.cut)
            gp_text_add(out, CUT);
    }
    gp_row_names_free(&p.names);
}
