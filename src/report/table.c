#include "report/table.h"

#include "base/demangle.h"
#include "report/advice.h"
#include "report/alike.h"
#include "report/layout.h"
#include "report/left_out.h"
#include "report/plain_numbers.h"
#include "report/rows.h"
#include "report/screen.h"
#include "report/stalls.h"
#include "report/units.h"
#include "report/view_markdown.h"
#include "report/whole.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_REASONS 64 /* kept, why metrics have no value */
#define MOST_SKIPS 40   /* reasons why launches were not measured */
#define MOST_SKIPPED 8  /* kernels of one of these */

static size_t shown(const struct gp_rows *r, const struct gp_table_options *options)
{
    return options->top > 0 && options->top < r->count ? options->top : r->count;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- details ---- */

static void add_shape(const struct gp_rows *r, const struct gp_row *row, struct gp_text *out)
{
    char smallest[48], largest[48], block[48], cluster[48];
    struct gp_text line = {0};
    gp_extent(row->smallest_grid, smallest, sizeof(smallest));
    gp_extent(row->largest_grid, largest, sizeof(largest));
    gp_extent(row->launch->block, block, sizeof(block));
    if (row->grids == 1)
        gp_text_addf(&line, "   grid %s, block %s", smallest, block);
    else
        gp_text_addf(&line, "   %zu grids from %s to %s, block %s", row->grids, smallest, largest,
                     block);
    if (row->launch->cluster[0] > 0) {
        gp_extent(row->launch->cluster, cluster, sizeof(cluster));
        gp_text_addf(&line, ", cluster %s", cluster);
    }
    gp_text_addf(&line, "; %" PRIu64 " launch%s, %" PRIu64 " measured", row->launches,
                 row->launches == 1 ? "" : "es", row->measured);
    if (gp_summary_get_settings(r->summary)->replay_off)
        gp_text_addf(&line, " (%" PRIu64 " with hardware counters, %" PRIu64 " instrumented)",
                     row->hardware, row->instrumented);
    if (row->recalled > 0) {
        gp_text_addf(&line, " (instrumented counters of %" PRIu64, row->recalled);
        if (row->recalled_all > 0)
            gp_text_addf(&line, ", and the hardware's of %" PRIu64 ",", row->recalled_all);
        gp_text_add(&line, " are those of launches alike)");
    }
    gp_text_addf(&line, "; GPU %d", row->launch->device);
    out->failed |= line.failed;
    gp_wrap(out, 6, gp_text_string(&line));
    gp_text_free(&line);
}

static void add_resources(const struct gp_row *row, struct gp_text *out)
{
    const struct gp_record *l = row->launch;
    if (l->registers > 0)
        gp_text_addf(out, "   %u registers per thread, ", l->registers);
    else
        gp_text_add(out, "   registers per thread not known, ");
    gp_text_addf(out, "shared memory per block %u B static + %u B dynamic\n", l->shared_static,
                 l->shared_dynamic);

    const struct gp_occupancy *o = &row->occupancy;
    if (!row->occupancy_known) {
        gp_text_add(out, "   theoretical occupancy not known: ");
        gp_wrap(out, 6, row->occupancy_why);
        return;
    }
    char line[256];
    int full = o->warps_per_sm >= o->max_warps_per_sm;
    snprintf(line, sizeof(line),
             "   theoretical occupancy %.2f: %d block%s, %d of %d warps per SM%s%s", o->ratio,
             o->blocks_per_sm, plural((uint64_t)o->blocks_per_sm), o->warps_per_sm,
             o->max_warps_per_sm, full ? "" : ", limited by ", full ? "" : o->limiter);
    gp_wrap(out, 6, line);
}

/* A law that is further off is not shown. */
#define MOST_LAW_ERROR 0.05

static void add_law(const struct gp_law *law, const struct gp_metric *metric, struct gp_text *line)
{
    char base[40], each[40];
    if (law->kind != GP_LAW_LINEAR || law->error > MOST_LAW_ERROR || law->factor <= 0)
        return;
    gp_unit_format(fabs(law->base), metric->unit, base, sizeof(base));
    gp_unit_format(law->factor, metric->unit, each, sizeof(each));
    gp_text_addf(line, "%s %s = %s a block %c %s",
                 line->length > 0 ? "," : "   over its grids:", metric->name, each,
                 law->base < 0 ? '-' : '+', base);
    if (law->error > 0)
        gp_text_addf(line, " (\302\261%.2g%%)", 100 * law->error);
}

/* How time and bytes follow from the number of blocks, where they do. */
static bool add_laws(const struct gp_rows *r, const struct gp_row *row, struct gp_text *out)
{
    static const char *const amounts[] = {GP_DURATION_METRIC, "dram_read_bytes",
                                          "dram_write_bytes"};
    const struct gp_metrics *m = gp_summary_metrics(r->summary);
    struct gp_law_point *points = calloc(row->grids, sizeof(*points));
    struct gp_text line = {0};
    for (size_t i = 0; points && i < gp_metrics_selected_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_selected(m, i);
        bool is_amount = false;
        for (size_t k = 0; k < sizeof(amounts) / sizeof(amounts[0]); k++)
            is_amount = is_amount || strcmp(metric->name, amounts[k]) == 0;
        if (!is_amount)
            continue;
        const struct gp_law law = gp_law_of(r->groups + row->first_group, row->grids, i, points);
        add_law(&law, metric, &line);
    }
    if (line.length > 0)
        gp_wrap(out, 6, gp_text_string(&line));
    const bool added = points && !line.failed;
    gp_text_free(&line);
    free(points);
    return added;
}

/* Why metrics have no value, reasons that are alike once, by number from 1. */
struct reasons {
    struct gp_alike list[MOST_REASONS];
    size_t count;
};

/* The number of a metric's reason; 0 where there are too many. */
static size_t number_of(struct reasons *r, const struct gp_stat *stat)
{
    const struct gp_reason reason = gp_stat_plain_absence(stat);
    for (size_t i = 0; i < r->count; i++)
        if (gp_alike_has(&r->list[i], reason)) {
            gp_alike_add(&r->list[i], reason);
            return i + 1;
        }
    if (r->count == MOST_REASONS)
        return 0;
    r->list[r->count] = gp_alike_of(reason);
    return ++r->count;
}

static void add_reasons(const struct reasons *r, struct gp_text *out)
{
    if (r->count > 0)
        gp_text_add(out, "\nAbsent because\n");
    for (size_t i = 0; i < r->count; i++) {
        gp_text_addf(out, "   [%zu] ", i + 1);
        struct gp_text text = {0};
        gp_alike_write(&r->list[i], &text);
        gp_wrap(out, 7, gp_text_string(&text));
        out->failed |= text.failed;
        gp_text_free(&text);
    }
}

/* Whether the details have a line for a value: of metrics that nobody asked for by name no helpers
 * of other metrics, no zeros of units that the kernel does not use, and no names of nvprof's events
 * for counters of the diagnosis. */
static bool is_shown(const struct gp_table_options *options, const struct gp_metric *metric,
                     const struct gp_stat *stat)
{
    if (stat->count == 0)
        return false;
    const bool is_event = strcmp(metric->metric_class, "event") == 0 && gp_stat_is_of_few(stat);
    return options->every_metric ||
           (!metric->hidden && !is_event && (stat->min != 0 || stat->max != 0));
}

/* A larger doubt says that nothing is known, a smaller one is of rounding. */
#define MOST_DOUBT 10
#define LEAST_DOUBT 1e-5

static void add_doubt(double error, struct gp_text *out)
{
    if (error > MOST_DOUBT)
        gp_text_addf(out, "  \302\261>%d%%", 100 * MOST_DOUBT);
    else if (error >= 0.1)
        gp_text_addf(out, "  \302\261%.0f%%", 100 * error);
    else
        gp_text_addf(out, "  \302\261%.2g%%", error < LEAST_DOUBT ? 0 : 100 * error);
}

/* How sure the mean is that stands for all launches of the row, where they were not all measured.
 */
static void add_certainty(const struct gp_row *row, const struct gp_stat *stat, double mean,
                          struct gp_text *out)
{
    if (row->measured >= row->launches || stat->combined)
        return;
    if (stat->count == 1)
        gp_text_add(out, "  measured once");
    else if (mean != 0 && isfinite(gp_stat_error(stat)))
        add_doubt(gp_stat_error(stat) / fabs(mean), out);
}

static void add_metric(const struct gp_row *row, const struct gp_metric *metric,
                       const struct gp_stat *stat, struct reasons *reasons, struct gp_text *out)
{
    char min[40] = "", max[40] = "", avg[40];
    double mean;
    if (!gp_stat_mean(stat, &mean))
        return;
    gp_unit_format(mean, metric->unit, avg, sizeof(avg));
    if (stat->count > 1 && stat->combined) {
        strcpy(min, "-");
        strcpy(max, "-");
    } else if (stat->count > 1) {
        gp_unit_format(stat->min, metric->unit, min, sizeof(min));
        gp_unit_format(stat->max, metric->unit, max, sizeof(max));
    }
    gp_text_addf(out, "     %-32s %17s %17s %17s%s", metric->name, min, max, avg,
                 stat->combined ? " *" : "");
    if (gp_stat_is_of_few(stat))
        gp_text_addf(out, "  of %" PRIu64 " launch%s", stat->count, stat->count == 1 ? "" : "es");
    else
        add_certainty(row, stat, mean, out);
    if (stat->absent_count > 0 && !stat->combined && !gp_stat_is_of_few(stat)) {
        gp_text_addf(out, "  absent in %" PRIu64, stat->absent_count);
        size_t number = number_of(reasons, stat);
        if (number)
            gp_text_addf(out, " [%zu]", number);
    }
    gp_text_add(out, "\n");
}

/* The metrics of one class, below its name. */
static void add_class(const struct gp_rows *r, const struct gp_row *row,
                      const struct gp_table_options *options, const char *metric_class,
                      struct reasons *reasons, struct gp_text *out)
{
    const struct gp_metrics *m = gp_summary_metrics(r->summary);
    bool headed = false;
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_selected(m, i);
        if (strcmp(metric->metric_class, metric_class) != 0 ||
            !is_shown(options, metric, &row->stats[i]))
            continue;
        if (!headed)
            gp_text_addf(out, "   %s\n", metric_class[0] ? metric_class : "other metrics");
        headed = true;
        add_metric(row, metric, &row->stats[i], reasons, out);
    }
}

/* Each class where the first metric of it stands. */
static void add_classes(const struct gp_rows *r, const struct gp_row *row,
                        const struct gp_table_options *options, struct reasons *reasons,
                        struct gp_text *out)
{
    const struct gp_metrics *m = gp_summary_metrics(r->summary);
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++) {
        const char *metric_class = gp_metrics_selected(m, i)->metric_class;
        size_t k = 0;
        while (k < i && strcmp(gp_metrics_selected(m, k)->metric_class, metric_class) != 0)
            k++;
        if (k == i)
            add_class(r, row, options, metric_class, reasons, out);
    }
}

static bool is_absent(const struct gp_rows *r, const struct gp_row *row,
                      const struct gp_table_options *options, size_t i)
{
    const struct gp_metric *metric = gp_metrics_selected(gp_summary_metrics(r->summary), i);
    const struct gp_stat *stat = &row->stats[i];
    const bool is_shown = !metric->hidden && (metric->in_default_set || !gp_stat_is_of_few(stat));
    return stat->count == 0 && (options->every_metric || is_shown);
}

/* Metrics without a value, those of one reason on one line. */
static void add_absent(const struct gp_rows *r, const struct gp_row *row,
                       const struct gp_table_options *options, struct reasons *reasons,
                       struct gp_text *out)
{
    const struct gp_metrics *m = gp_summary_metrics(r->summary);
    size_t count = gp_metrics_selected_count(m);
    for (size_t first = 0; first < count; first++) {
        struct gp_text line = {0};
        bool said = !is_absent(r, row, options, first);
        size_t number = said ? 0 : number_of(reasons, &row->stats[first]);
        for (size_t i = 0; i < first && !said; i++)
            said = is_absent(r, row, options, i) && number_of(reasons, &row->stats[i]) == number;
        if (said)
            continue;
        gp_text_addf(&line, "   absent [%zu]: ", number);
        const char *separator = "";
        for (size_t i = first; i < count; i++) {
            if (!is_absent(r, row, options, i) || number_of(reasons, &row->stats[i]) != number)
                continue;
            gp_text_addf(&line, "%s%s", separator, gp_metrics_selected(m, i)->name);
            separator = ", ";
        }
        out->failed |= line.failed;
        gp_wrap(out, 6, gp_text_string(&line));
        gp_text_free(&line);
    }
}

/* Where nothing is replayed: which launches the metrics are from. */
static void add_turns(const struct gp_rows *r, const struct gp_row *row, struct gp_text *out)
{
    size_t combined = 0;
    for (size_t i = 0; i < gp_metrics_selected_count(gp_summary_metrics(r->summary)); i++)
        combined += row->stats[i].count > 0 && row->stats[i].combined;
    if (combined == 0)
        return;
    gp_text_addf(out,
                 "   * from the means of counters of %" PRIu64 " launch%s with hardware counters "
                 "and %" PRIu64 " instrumented\n",
                 row->hardware, row->hardware == 1 ? "" : "es", row->instrumented);
}

/* True where launches of the kernel are listed as not measured. */
static bool has_reasons(const struct gp_summary *s, const char *kernel)
{
    size_t i = 0, count = gp_summary_skip_count(s);
    while (i < count && strcmp(gp_summary_skip(s, i)->kernel, kernel) != 0)
        i++;
    return i < count;
}

/* Samples are of a kernel, so its first row has them. */
static void add_stalls(const struct gp_rows *r, const struct gp_row *row,
                       const struct gp_sources *sources, struct gp_text *out)
{
    struct gp_stalls stalls;
    for (const struct gp_row *before = r->rows; before < row; before++)
        if (strcmp(before->launch->kernel, row->launch->kernel) == 0)
            return;
    out->failed |= !gp_stalls_make(&stalls, gp_sources_of(sources, row->launch->kernel));
    gp_stalls_full(&stalls, out);
    gp_stalls_free(&stalls);
}

static void add_details_of(const struct gp_rows *r, const struct gp_row *row,
                           const struct gp_table_options *options, struct reasons *reasons,
                           struct gp_text *out)
{
    gp_text_add(out, "\n");
    gp_wrap(out, 3, row->full_name);
    add_shape(r, row, out);
    out->failed |= !add_laws(r, row, out);
    if (row->recorded > 0)
        add_resources(row, out);

    const struct gp_metrics *m = gp_summary_metrics(r->summary);
    size_t evaluated = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++) {
        evaluated += row->stats[i].count + row->stats[i].absent_count > 0;
        most = row->stats[i].count > most ? row->stats[i].count : most;
    }
    if (evaluated == 0) {
        gp_text_add(out, has_reasons(r->summary, row->launch->kernel)
                             ? "   no launch was measured: see NOT MEASURED\n"
                             : "   no launch was measured\n");
        add_stalls(r, row, options->sources, out);
        return;
    }
    gp_text_addf(out, "   %-34s %17s %17s %17s\n", "metric", most > 1 ? "min" : "",
                 most > 1 ? "max" : "", most > 1 ? "avg" : "value");
    add_classes(r, row, options, reasons, out);
    add_absent(r, row, options, reasons, out);
    add_turns(r, row, out);
    add_stalls(r, row, options->sources, out);
}

static void add_details(const struct gp_rows *r, const struct gp_table_options *options,
                        struct gp_text *out)
{
    struct reasons reasons = {.count = 0};
    gp_text_add(out, "\nDETAILS\n");
    for (size_t i = 0; i < shown(r, options); i++)
        add_details_of(r, &r->rows[i], options, &reasons, out);
    if (r->apart.rows > 0 && shown(r, options) == r->count)
        gp_text_add(out, "\nKEPT APART, as autotuning\n");
    for (size_t i = r->count; i < gp_rows_all(r) && shown(r, options) == r->count; i++)
        add_details_of(r, &r->rows[i], options, &reasons, out);
    add_reasons(&reasons, out);
}

/* ---- missing values ---- */

static void add_skipped_name(const struct gp_skip *skip, struct gp_text *out)
{
    char *full = gp_demangle(skip->kernel, GP_NAME_BRIEF);
    char name[61];
    gp_shorten(full ? full : skip->kernel, name, sizeof(name) - 1);
    free(full);
    gp_text_addf(out, "%s, %" PRIu64 " launch%s", name, skip->launches,
                 skip->launches == 1 ? "" : "es");
}

/* The next skip from `i` on whose reason has this text; the count where there is none. */
static size_t next_skip(const struct gp_summary *s, size_t i, const char *reason)
{
    const size_t count = gp_summary_skip_count(s);
    while (i < count && strcmp(gp_summary_skip(s, i)->reason.text, reason) != 0)
        i++;
    return i;
}

/* The kernels of one reason, whose first is `i`: "NAME, 2 launches; NAME, 1 launch: reason". */
static void add_skips(const struct gp_summary *s, size_t i, struct gp_text *out)
{
    const char *reason = gp_summary_skip(s, i)->reason.text;
    const size_t count = gp_summary_skip_count(s);
    struct gp_text line = {0};
    uint64_t kernels = 0, rest = 0;
    gp_text_add(&line, "   ");
    for (; i < count; i = next_skip(s, i + 1, reason)) {
        if (kernels++ >= MOST_SKIPPED) {
            rest += gp_summary_skip(s, i)->launches;
            continue;
        }
        gp_text_add(&line, kernels > 1 ? "; " : "");
        add_skipped_name(gp_summary_skip(s, i), &line);
    }
    if (kernels > MOST_SKIPPED)
        gp_text_addf(&line, "; %" PRIu64 " more kernel%s, %" PRIu64 " launches",
                     kernels - MOST_SKIPPED, plural(kernels - MOST_SKIPPED), rest);
    gp_text_addf(&line, ": %s", reason);
    gp_wrap(out, 6, gp_text_string(&line));
    out->failed |= line.failed;
    gp_text_free(&line);
}

static void add_not_measured(const struct gp_rows *r, struct gp_text *out)
{
    const struct gp_summary *s = r->summary;
    const size_t count = gp_summary_skip_count(s);
    uint64_t rest = gp_summary_other_skips(s);
    size_t reasons = 0;
    if (count == 0 && rest == 0)
        return;
    gp_text_add(out, "\nNOT MEASURED, or not completely\n");
    for (size_t i = 0; i < count; i++) {
        const struct gp_skip *skip = gp_summary_skip(s, i);
        const bool is_first = next_skip(s, 0, skip->reason.text) == i;
        reasons += is_first;
        if (reasons > MOST_SKIPS)
            rest += skip->launches;
        else if (is_first)
            add_skips(s, i, out);
    }
    if (rest > 0)
        gp_text_addf(out, "   and %" PRIu64 " more launches for further reasons\n", rest);
}

/* ---- the report ---- */

static const struct gp_lines *lines_of(void *sources, const struct gp_row *row)
{
    return sources ? gp_sources_of(sources, row->launch->kernel) : NULL;
}

/* Screen, and details where they are asked for; false when out of memory. */
static bool add_report(const struct gp_rows *r, const struct gp_table_options *options,
                       struct gp_text *out)
{
    struct gp_text problems = {0};
    struct gp_rules *rules = gp_rules_open(gp_summary_metrics(r->summary), &problems);
    struct gp_findings findings = {0};
    void *sources = (void *)options->sources;
    bool answer = rules ? gp_findings_make(&findings, rules, r, lines_of, sources) : false;
    struct gp_whole whole;
    if (answer)
        gp_whole_make(&whole, r, &findings, options->copies, lines_of, sources);
    if (answer && options->markdown) {
        const struct gp_markdown_options markdown = {.command = options->command,
                                                     .profile = options->profile,
                                                     .notes = options->notes,
                                                     .kernels = options->kernels,
                                                     .bytes = options->most_bytes,
                                                     .sources = options->sources};
        gp_report_markdown(r, &findings, &whole, &markdown, out);
    } else if (answer) {
        const struct gp_screen_options screen = {
            .profile = options->details ? NULL : options->profile,
            .kernels = options->details && !options->kernels ? shown(r, options) : options->kernels,
            .width = options->width,
            .sources = options->sources};
        gp_screen(r, &findings, &whole, &screen, out);
    }
    if (answer && options->details && !options->markdown) {
        add_details(r, options, out);
        add_not_measured(r, out);
    }
    gp_text_add(out, gp_text_string(&problems));
    gp_findings_free(&findings);
    gp_rules_close(rules);
    gp_text_free(&problems);
    return answer;
}

/* A report is the same with any decimal sign of the program's locale. */
void gp_table_headline(const struct gp_summary *s, size_t width, struct gp_text *out)
{
    struct gp_plain_numbers plain;
    gp_plain_numbers_begin(&plain);
    gp_screen_headline(s, gp_screen_width(width), out);
    gp_plain_numbers_end(&plain);
}

static void add_no_rows(const struct gp_summary *s, size_t width, struct gp_text *out)
{
    const struct gp_windows window = gp_summary_windows(s);
    gp_screen_headline(s, width, out);
    gp_whole_window_text(&window, width, out);
}

void gp_table_report(const struct gp_summary *s, const struct gp_table_options *options,
                     struct gp_text *out)
{
    struct gp_plain_numbers plain;
    gp_plain_numbers_begin(&plain);
    struct gp_rows rows;
    if (!gp_rows_make(&rows, s))
        out->failed = true;
    else if (rows.count == 0 && !options->markdown)
        add_no_rows(s, gp_screen_width(options->width), out);
    else if (!add_report(&rows, options, out))
        out->failed = true;
    gp_rows_free(&rows);
    gp_plain_numbers_end(&plain);
}
