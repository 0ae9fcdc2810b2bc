#include "report/kernel_table.h"

#include "report/layout.h"
#include "report/row_cells.h"
#include "report/stalls.h"
#include "report/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_GRIDS 6 /* lines for single grids, of all kernels */
#define GRIDS_OF_A_KERNEL 3
#define COMPARED_GRIDS 64 /* grids of a kernel */
#define WORTH_A_LINE 0.1  /* of the kernel's time */
#define WAITS_INDENT "   "

/* The rows, names and widths that a table prints. */
struct table {
    const struct gp_rows *rows;
    const struct gp_findings *findings;
    const struct gp_row_names *names;
    const struct gp_sources *sources;
    size_t count, width;
    int launches_width;
};

/* Columns of all numbers but the launches, of the next limit, and the least of a name. */
#define NUMBERS_WIDTH 98
#define NEXT_WIDTH 20
#define LEAST_NAME 40
#define WIDEST_NAME 90 /* on a line of its own: the next limit stands behind it */

static bool is_narrow(const struct table *t)
{
    return t->width < NUMBERS_WIDTH + (size_t)t->launches_width;
}

/* The columns of all that stands in front of a name; 0 where that leaves too few. */
static size_t before_name(size_t width, int launches_width)
{
    size_t before = NUMBERS_WIDTH + (size_t)launches_width + NEXT_WIDTH + 2;
    return width >= before + LEAST_NAME ? before : 0;
}

static bool has_name_behind(const struct table *t)
{
    return before_name(t->width, t->launches_width) > 0;
}

size_t gp_kernel_table_name_width(const struct gp_rows *rows, size_t count, size_t width)
{
    size_t before = before_name(width, gp_cell_launches_width(rows, count));
    if (before > 0)
        return width - before;
    return width < WIDEST_NAME ? width : WIDEST_NAME;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* "0.9%", "12%", "97%": as little as fits in a column. Sums in another order differ in their last
 * digits, which decide over 12.5: it is always 12. */
static void format_share(double percent, char *out, size_t size)
{
    percent *= 1 - 1e-9;
    if (!isfinite(percent))
        snprintf(out, size, "-");
    else
        snprintf(out, size, percent < 0.95 && percent >= 0.05 ? "%.1f%%" : "%.0f%%", percent);
}

/* Bound by a unit: how much of it is used. */
static void add_bound(const struct gp_bound *b, struct gp_text *out)
{
    char used[16] = "", both[48];
    if (b->kind == GP_BOUND_UNIT)
        format_share(100 * b->utilization, used, sizeof(used));
    snprintf(both, sizeof(both), "%s%s%s%s", b->title, used[0] ? " " : "", used,
             b->at_roof ? "*" : "");
    gp_text_addf(out, "  %-20.20s", both);
}

/* The next busiest unit behind the one that bounds the kernel; else the busiest of all. */
static void format_next(const struct gp_bound *b, char *out, size_t size)
{
    bool by_unit = b->kind == GP_BOUND_UNIT;
    const char *title = by_unit ? b->next_title : b->unit;
    char share[16];
    format_share(100 * (by_unit ? b->next_utilization : b->utilization), share, sizeof(share));
    if (title)
        snprintf(out, size, "%.13s %s", title, share);
    else
        snprintf(out, size, "-");
}

static void add_percent(const struct table *t, const struct gp_row *row, const char *metric,
                        double factor, int width, struct gp_text *out)
{
    double value;
    char text[32] = "-";
    if (gp_rows_mean(t->rows, row, metric, &value))
        format_share(factor * value, text, sizeof(text));
    gp_text_addf(out, "%*s", width, text);
}

/* "81.8 G" of 81.8 GFLOP/s. */
static void add_flops(const struct table *t, const struct gp_row *row, int width,
                      struct gp_text *out)
{
    static const char prefixes[] = " kMGTP";
    double value;
    char text[32] = "-";
    if (gp_rows_mean(t->rows, row, "flops", &value) && isfinite(value)) {
        size_t step = 0;
        while (fabs(value) >= 999.5 && prefixes[step + 1]) {
            value /= 1000;
            step++;
        }
        gp_unit_format(value, "ratio", text, sizeof(text));
        if (step > 0)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), " %c", prefixes[step]);
    }
    gp_text_addf(out, "%*s", width, text);
}

static void add_intensity(const struct table *t, const struct gp_row *row, int width,
                          struct gp_text *out)
{
    double value;
    char text[32] = "-";
    if (gp_rows_mean(t->rows, row, "flop_per_byte", &value)) {
        if (value > 0 && value < 0.0005)
            snprintf(text, sizeof(text), "<.001");
        else
            gp_unit_format(value, "ratio", text, sizeof(text));
    }
    gp_text_addf(out, "%*s", width, text);
}

/* ORDER: the heads and add_time_cells, add_class_cells have the same columns. */
static void add_time_heads(const struct table *t, struct gp_text *out)
{
    gp_text_addf(out, "   time%*s  avg time  %-20s", t->launches_width, "launches", "bound by");
    if (has_name_behind(t))
        gp_text_addf(out, "  %-18s", "next limit");
    gp_text_add(out, "  occupancy");
}

static void add_class_heads(struct gp_text *out)
{
    gp_text_add(out, "   gld   gst shared  warp   FLOP/s  FLOP/B  DRAM");
}

static void add_time_cells(const struct table *t, const struct gp_row *row,
                           const struct gp_bound *bound, struct gp_text *out)
{
    gp_cells_time(t->rows, row, t->launches_width, out);
    add_bound(bound, out);
    if (has_name_behind(t)) {
        char next[40];
        format_next(bound, next, sizeof(next));
        gp_text_addf(out, "  %-18s", next);
    }
    gp_cell_occupancy(t->rows, row, 11, out);
}

/* The classes of metrics of Zheng, Zhai, Li, Chen 2016 but for occupancy. */
static void add_class_cells(const struct table *t, const struct gp_row *row, struct gp_text *out)
{
    add_percent(t, row, "gld_efficiency", 1, 6, out);
    add_percent(t, row, "gst_efficiency", 1, 6, out);
    add_percent(t, row, "shared_efficiency", 1, 7, out);
    add_percent(t, row, "warp_execution_efficiency", 1, 6, out);
    add_flops(t, row, 9, out);
    add_intensity(t, row, 8, out);
    add_percent(t, row, "dram_utilization", 100, 6, out);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_numbers(const struct table *t, const struct gp_row *row,
                        const struct gp_bound *bound, struct gp_text *out)
{
    add_time_cells(t, row, bound, out);
    if (is_narrow(t))
        gp_text_add(out, "\n       ");
    add_class_cells(t, row, out);
}

/* The grids with the most time, where their bounds differ. */
static size_t choose_grids(const struct table *t, const struct gp_row *row,
                           size_t chosen[GRIDS_OF_A_KERNEL])
{
    const struct gp_bound *bounds = t->findings->group_bounds + row->first_group, *first = NULL;
    double seconds[GRIDS_OF_A_KERNEL];
    size_t count = 0;
    bool differ = false;
    for (size_t g = 0; row->grids > 1 && g < row->grids && g < COMPARED_GRIDS; g++) {
        const struct gp_row one = gp_rows_of_group(t->rows, row, g);
        const double own = one.seconds;
        if (!(own >= WORTH_A_LINE * row->seconds) || one.timed == 0)
            continue;
        differ = differ || (first && strcmp(first->name, bounds[g].name) != 0);
        first = first ? first : &bounds[g];
        size_t rank = count < GRIDS_OF_A_KERNEL ? count++ : count;
        for (; rank > 0 && seconds[rank - 1] < own; rank--) {
            if (rank < GRIDS_OF_A_KERNEL) {
                seconds[rank] = seconds[rank - 1];
                chosen[rank] = chosen[rank - 1];
            }
        }
        if (rank < GRIDS_OF_A_KERNEL) {
            seconds[rank] = own;
            chosen[rank] = g;
        }
    }
    return differ ? count : 0;
}

/* The answer is how many lines were added. */
static size_t add_grids(const struct table *t, const struct gp_row *row, size_t room,
                        struct gp_text *out)
{
    size_t grids[GRIDS_OF_A_KERNEL], count = choose_grids(t, row, grids);
    for (size_t i = 0; i < count && count <= room; i++) {
        struct gp_row one = gp_rows_of_group(t->rows, row, grids[i]);
        char grid[48], which[80];
        const size_t begin = out->length;
        gp_extent(one.launch->grid, grid, sizeof(grid));
        snprintf(which, sizeof(which), "of these, grid %s", grid);
        add_time_cells(t, &one, &t->findings->group_bounds[one.first_group], out);
        if (has_name_behind(t))
            add_class_cells(t, &one, out);
        if (out->length - begin + 2 + strlen(which) > t->width)
            gp_text_add(out, "\n     ");
        gp_text_addf(out, "  %s\n", which);
    }
    return count <= room ? count : 0;
}

/* "   values ±1.2%" behind the name, where not all launches were measured: as sure as the value is
 * that scatters most. */
static void format_certainty(const struct table *t, const struct gp_row *row, char *out,
                             size_t size)
{
    const struct gp_metrics *m = gp_summary_metrics(t->rows->summary);
    char error[16];
    out[0] = '\0';
    if (row->measured == 0 || row->measured >= row->launches)
        return;
    if (row->grids > 1 && row->measured_grids == 1) {
        snprintf(out, size, "   measured at 1 of %zu grids", row->grids);
        return;
    }
    if (row->measured == 1) {
        snprintf(out, size, "   measured once");
        return;
    }
    const double widest = gp_stats_widest(m, row->stats, gp_stat_error);
    format_share(100 * widest, error, sizeof(error));
    if (widest > 1) /* a few launches that differ: the number says no more */
        snprintf(out, size, "   values not sure");
    else
        snprintf(out, size, "   values \302\261%s", error);
}

static void add_kernel(const struct table *t, size_t i, struct gp_text *out)
{
    const struct gp_row *row = &t->rows->rows[i];
    const struct gp_bound *bound = &t->findings->bounds[i];
    char name[GP_ROW_NAME_SIZE], next[40], certainty[48];
    gp_row_names_format(t->names, row, name);
    format_certainty(t, row, certainty, sizeof(certainty));
    if (has_name_behind(t)) {
        add_numbers(t, row, bound, out);
        gp_text_addf(out, "  %s%s\n", name, certainty);
        return;
    }
    format_next(bound, next, sizeof(next));
    gp_text_add(out, name);
    if (next[0] != '-' && strlen(name) + strlen(next) + 16 <= t->width)
        gp_text_addf(out, "   next limit %s", next);
    gp_text_addf(out, "%s\n", certainty);
    add_numbers(t, row, bound, out);
    gp_text_add(out, "\n");
}

/* The samples of the kernel of row `i`, NULL where it has none that matter. Samples are of a
 * kernel, so its first row has them. */
static const struct gp_lines *waits_of(const struct table *t, size_t i)
{
    const struct gp_row *row = &t->rows->rows[i];
    const struct gp_lines *lines = gp_sources_of(t->sources, row->launch->kernel);
    if (!lines || lines->source.sampled == 0 ||
        !(row->seconds >= GP_ADVISED_SHARE * t->rows->seconds))
        return NULL;
    for (size_t k = 0; k < i; k++)
        if (strcmp(t->rows->rows[k].launch->kernel, row->launch->kernel) == 0)
            return NULL;
    return lines;
}

/* Returns whether there is one. */
static bool add_waits(const struct table *t, size_t i, struct gp_text *out)
{
    struct gp_text line = {0};
    struct gp_stalls stalls;
    const size_t begin = out->length;
    out->failed |= !gp_stalls_make(&stalls, waits_of(t, i));
    gp_text_add(&line, WAITS_INDENT);
    gp_stalls_brief(&stalls, t->width - strlen(WAITS_INDENT), &line);
    if (line.length > strlen(WAITS_INDENT))
        gp_wrap_to(out, t->width, strlen(WAITS_INDENT) + 3, gp_text_string(&line));
    out->failed |= line.failed;
    gp_text_free(&line);
    gp_stalls_free(&stalls);
    return out->length > begin;
}

/* How many kernels have such a line. */
static size_t count_waits(const struct table *t)
{
    size_t waits = 0;
    for (size_t i = 0; i < t->count; i++)
        waits += waits_of(t, i) != NULL;
    return waits;
}

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void add_heading(const struct table *t, struct gp_text *out)
{
    gp_text_add(out, "\nKERNELS");
    if (t->rows->timed) {
        char total[32];
        gp_unit_format(t->rows->seconds, "s", total, sizeof(total));
        gp_text_addf(out, ", by their share of %s on the GPU", total);
    }
    gp_text_add(out, "\n");
    add_time_heads(t, out);
    if (is_narrow(t))
        gp_text_add(out, "\n       ");
    add_class_heads(out);
    gp_text_add(out, has_name_behind(t) ? "  kernel [block]\n" : "\n");
}

/* Why the bounds of its grids are not known: the limit left out all launches of one, or a unit of
 * another, the first of which is kept, was not measured. */
static void explain_unknown(const struct table *t, const struct gp_row *row, bool *left_out,
                            const struct gp_bound **unknown)
{
    const bool limited = gp_summary_limits(t->rows->summary).left_out > 0;
    for (size_t g = row->first_group; g < row->first_group + row->grids; g++) {
        const struct gp_bound *b = &t->findings->group_bounds[g];
        if (b->kind != GP_BOUND_UNKNOWN)
            continue;
        if (limited && t->rows->groups[g]->measured == 0)
            *left_out = true;
        else
            *unknown = *unknown ? *unknown : b;
    }
}

/* The signs that the table has, and only these. */
static void add_signs(const struct table *t, struct gp_text *out)
{
    bool estimated = false, roof = false;
    const struct gp_limits limits = gp_summary_limits(t->rows->summary);
    const struct gp_bound *unknown = NULL;
    bool left_out = false;
    for (size_t i = 0; i < t->count; i++) {
        const struct gp_bound *b = &t->findings->bounds[i];
        estimated = estimated || gp_cell_is_estimated(t->rows, &t->rows->rows[i]);
        roof = roof || b->at_roof;
        if (b->kind == GP_BOUND_UNKNOWN)
            explain_unknown(t, &t->rows->rows[i], &left_out, &unknown);
    }
    if (roof)
        gp_text_add(out, "*: at its roof, so only less work helps\n");
    if (estimated)
        gp_text_add(out, "~: the time of the timed launches stands for all launches\n");
    if (left_out)
        gp_text_addf(out, "not known, -: the limit left out all launches%s\n",
                     limits.known && limits.wanted > 0 ? "; 'Limit' says which one measures them"
                                                       : " (--overhead)");
    if (unknown) {
        struct gp_text line = {0};
        gp_text_addf(&line, "not known: a unit that was not measured may be the bound. %s",
                     unknown->why);
        gp_wrap_to(out, t->width, 3, gp_text_string(&line));
        gp_text_free(&line);
    }
}

void gp_kernel_table(const struct gp_rows *rows, const struct gp_findings *findings,
                     const struct gp_kernel_table_options *options, struct gp_text *out)
{
    const struct table t = {.rows = rows,
                            .findings = findings,
                            .names = options->names,
                            .sources = options->sources,
                            .count = options->count,
                            .width = options->width,
                            .launches_width = gp_cell_launches_width(rows, options->count)};
    size_t waits = less(count_waits(&t), options->more);
    size_t grids = less(options->more - waits, MOST_GRIDS);
    add_heading(&t, out);
    for (size_t i = 0; i < t.count; i++) {
        add_kernel(&t, i, out);
        if (waits > 0 && add_waits(&t, i, out))
            waits--;
        grids -= add_grids(&t, &rows->rows[i], grids, out);
    }
    gp_rows_add_rest(rows, t.count, out);
    add_signs(&t, out);
}
