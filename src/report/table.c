#include "report/table.h"

#include "base/demangle.h"
#include "report/advice.h"
#include "report/layout.h"
#include "report/plain_numbers.h"
#include "report/row_cells.h"
#include "report/row_names.h"
#include "report/rows.h"
#include "report/screen.h"
#include "report/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_REASONS 64 /* kept, why metrics have no value */
#define MOST_SKIPS 40   /* lines on values that were not measured */

static size_t shown(const struct gp_rows *r, const struct gp_table_options *options)
{
    return options->top > 0 && options->top < r->count ? options->top : r->count;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- overview ---- */

static void add_scaled(const struct gp_rows *r, const struct gp_row *row, const char *metric,
                       double factor, const char *format, int width, struct gp_text *out)
{
    double value;
    char text[32] = "-";
    if (gp_rows_mean(r, row, metric, &value))
        snprintf(text, sizeof(text), format, value * factor);
    gp_text_addf(out, "%*s", width, text);
}

#define COLUMNS_BEFORE_NAME 75 /* and those of the launches */

/* ORDER OVERVIEW: the heading and add_overview_line have the same columns. */
static void add_overview_heading(int width, struct gp_text *out)
{
    gp_text_addf(out,
                 "   time%*s  avg time  occupancy    gld    gst shared   warp   GFLOP/s   DRAM  "
                 "kernel [block]\n",
                 width, "launches");
}

static void add_overview_line(const struct gp_rows *r, const struct gp_row *row,
                              const struct gp_row_names *names, int width, struct gp_text *out)
{
    gp_cells_time(r, row, width, out);
    gp_text_add(out, " ");
    gp_cell_occupancy(r, row, 10, out);
    add_scaled(r, row, "gld_efficiency", 1, "%.1f%%", 7, out);
    add_scaled(r, row, "gst_efficiency", 1, "%.1f%%", 7, out);
    add_scaled(r, row, "shared_efficiency", 1, "%.1f%%", 7, out);
    add_scaled(r, row, "warp_execution_efficiency", 1, "%.1f%%", 7, out);
    add_scaled(r, row, "flops", 1e-9, "%.1f", 10, out);
    add_scaled(r, row, "dram_utilization", 100, "%.1f%%", 7, out);

    char name[GP_COLUMNS + 1];
    gp_row_names_format(names, row, name);
    gp_text_addf(out, "  %s\n", name);
}

/* Whether DETAILS tell of everything that the overview has a column for. */
static bool has_all_columns(const struct gp_rows *r)
{
    static const char *const metrics[] = {
        "duration",          "achieved_occupancy",        "gld_efficiency", "gst_efficiency",
        "shared_efficiency", "warp_execution_efficiency", "flops",          "dram_utilization",
    };
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        if (!gp_rows_stat(r, &r->rows[0], metrics[i]))
            return false;
    return true;
}

static void add_overview(const struct gp_rows *r, const struct gp_table_options *options,
                         struct gp_text *out)
{
    gp_text_add(out, "\nOVERVIEW");
    if (r->timed) {
        char total[32];
        gp_unit_format(r->seconds, "s", total, sizeof(total));
        gp_text_addf(out, ", kernels by their share of %s on the GPU", total);
    }
    gp_text_add(out, "\n");
    size_t count = shown(r, options);
    int estimated = 0, width = gp_cell_launches_width(r, count);
    add_overview_heading(width, out);
    struct gp_row_names names;
    size_t before = COLUMNS_BEFORE_NAME + (size_t)width;
    if (!gp_row_names_make(&names, r, count, before < GP_COLUMNS ? GP_COLUMNS - before : 0))
        out->failed = true;
    for (size_t i = 0; i < count && !out->failed; i++) {
        const struct gp_stat *duration = gp_rows_stat(r, &r->rows[i], "duration");
        estimated |= duration && duration->count > 0 && duration->count < r->rows[i].launches;
        add_overview_line(r, &r->rows[i], &names, width, out);
    }
    gp_row_names_free(&names);
    gp_rows_add_rest(r, count, out);
    gp_text_addf(out,
                 "occupancy is achieved/theoretical; gld, gst, shared, warp are efficiencies; -: "
                 "%s the end says why\n",
                 has_all_columns(r) ? "no value," : "not asked for, or");
    if (estimated)
        gp_text_add(out, "~: the time of the measured launches stands for all launches\n");
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

/* Why metrics have no value, each reason once, by number from 1. */
struct reasons {
    char *texts[MOST_REASONS];
    size_t count;
};

/* The number of a reason; 0 where there are too many. Its part on the one counter that a metric
 * lacks is left out, as others lack others for the same reason. */
static size_t number_of(struct reasons *r, const char *why)
{
    const char *colon = strstr(why, ": ");
    const char *reason = strncmp(why, "counter ", 8) == 0 && colon ? colon + 2 : why;
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->texts[i], reason) == 0)
            return i + 1;
    if (r->count == MOST_REASONS || !(r->texts[r->count] = strdup(reason)))
        return 0;
    return ++r->count;
}

static void add_reasons(struct reasons *r, struct gp_text *out)
{
    if (r->count > 0)
        gp_text_add(out, "\nAbsent because\n");
    for (size_t i = 0; i < r->count; i++) {
        gp_text_addf(out, "   [%zu] ", i + 1);
        gp_wrap(out, 7, r->texts[i]);
        free(r->texts[i]);
    }
}

static const char *reason_of(const struct gp_stat *stat)
{
    return stat->absent ? stat->absent : "not measured";
}

static void add_metric(const struct gp_metric *metric, const struct gp_stat *stat,
                       struct reasons *reasons, struct gp_text *out)
{
    char min[40], max[40], avg[40];
    double mean;
    if (!gp_stat_mean(stat, &mean))
        return;
    gp_unit_format(stat->min, metric->unit, min, sizeof(min));
    gp_unit_format(stat->max, metric->unit, max, sizeof(max));
    gp_unit_format(mean, metric->unit, avg, sizeof(avg));
    if (stat->combined) {
        strcpy(min, "-");
        strcpy(max, "-");
    }
    gp_text_addf(out, "   %-34s %17s %17s %17s%s", metric->name, min, max, avg,
                 stat->combined ? " *" : "");
    if (stat->absent_count > 0 && !stat->combined) {
        gp_text_addf(out, "  absent in %" PRIu64, stat->absent_count);
        size_t number = number_of(reasons, reason_of(stat));
        if (number)
            gp_text_addf(out, " [%zu]", number);
    }
    gp_text_add(out, "\n");
}

/* Metrics without a value, those of one reason on one line. */
static void add_absent(const struct gp_rows *r, const struct gp_row *row, struct reasons *reasons,
                       struct gp_text *out)
{
    const struct gp_metrics *m = gp_summary_metrics(r->summary);
    size_t count = gp_metrics_selected_count(m);
    for (size_t first = 0; first < count; first++) {
        struct gp_text line = {0};
        size_t number =
            row->stats[first].count ? 0 : number_of(reasons, reason_of(&row->stats[first]));
        bool said = row->stats[first].count > 0;
        for (size_t i = 0; i < first && !said; i++)
            said =
                row->stats[i].count == 0 && number_of(reasons, reason_of(&row->stats[i])) == number;
        if (said)
            continue;
        gp_text_addf(&line, "   absent [%zu]: ", number);
        const char *separator = "";
        for (size_t i = first; i < count; i++) {
            if (row->stats[i].count > 0 || number_of(reasons, reason_of(&row->stats[i])) != number)
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

static void add_details_of(const struct gp_rows *r, const struct gp_row *row,
                           struct reasons *reasons, struct gp_text *out)
{
    gp_text_add(out, "\n");
    gp_wrap(out, 3, row->full_name);
    add_shape(r, row, out);
    if (row->recorded > 0)
        add_resources(row, out);

    const struct gp_metrics *m = gp_summary_metrics(r->summary);
    size_t evaluated = 0;
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++)
        evaluated += row->stats[i].count + row->stats[i].absent_count > 0;
    if (evaluated == 0) {
        gp_text_add(out, has_reasons(r->summary, row->launch->kernel)
                             ? "   no launch was measured: see NOT MEASURED\n"
                             : "   no launch was measured\n");
        return;
    }
    gp_text_addf(out, "   %-34s %17s %17s %17s\n", "metric", "min", "max", "avg");
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++)
        add_metric(gp_metrics_selected(m, i), &row->stats[i], reasons, out);
    add_absent(r, row, reasons, out);
    add_turns(r, row, out);
}

static void add_details(const struct gp_rows *r, const struct gp_table_options *options,
                        struct gp_text *out)
{
    struct reasons reasons = {.count = 0};
    gp_text_add(out, "\nDETAILS\n");
    for (size_t i = 0; i < shown(r, options); i++)
        add_details_of(r, &r->rows[i], &reasons, out);
    add_reasons(&reasons, out);
}

/* ---- missing values ---- */

static void add_not_measured(const struct gp_rows *r, struct gp_text *out)
{
    size_t count = gp_summary_skip_count(r->summary);
    if (count == 0)
        return;
    gp_text_add(out, "\nNOT MEASURED, or not completely\n");
    uint64_t rest = gp_summary_other_skips(r->summary);
    for (size_t i = 0; i < count; i++) {
        const struct gp_skip *skip = gp_summary_skip(r->summary, i);
        if (i >= MOST_SKIPS) {
            rest += skip->launches;
            continue;
        }
        char *full = gp_demangle(skip->kernel, GP_NAME_BRIEF);
        char name[61];
        gp_shorten(full ? full : skip->kernel, name, sizeof(name) - 1);
        free(full);
        gp_text_addf(out, "   %s, %" PRIu64 " launch%s: ", name, skip->launches,
                     skip->launches == 1 ? "" : "es");
        gp_wrap(out, 6, skip->reason);
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
    bool answer =
        rules ? gp_findings_make(&findings, rules, r, lines_of, (void *)options->sources) : false;
    if (answer)
        gp_screen(r, &findings, options->details ? NULL : options->profile, options->kernels, out);
    if (answer && options->details) {
        add_overview(r, options, out);
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
void gp_table_headline(const struct gp_summary *s, struct gp_text *out)
{
    struct gp_plain_numbers plain;
    gp_plain_numbers_begin(&plain);
    gp_screen_headline(s, out);
    gp_plain_numbers_end(&plain);
}

void gp_table_report(const struct gp_summary *s, const struct gp_table_options *options,
                     struct gp_text *out)
{
    struct gp_plain_numbers plain;
    gp_plain_numbers_begin(&plain);
    struct gp_rows rows;
    if (!gp_rows_make(&rows, s))
        out->failed = true;
    else if (rows.count == 0)
        gp_screen_headline(s, out);
    else if (!add_report(&rows, options, out))
        out->failed = true;
    gp_rows_free(&rows);
    gp_plain_numbers_end(&plain);
}
