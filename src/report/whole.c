#include "report/whole.h"

#include "base/demangle.h"
#include "metrics/peaks.h"
#include "report/layout.h"
#include "report/lines.h"
#include "report/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARTS 5 /* of one line */
#define LABEL_WIDTH 15
#define WINDOW_LABEL "Window"
/* Less is no word worth. */
#define LEAST_SHARE 0.005

static const struct {
    const char *metric, *title;
} precisions[GP_PRECISIONS] = {
    {"flop_count_sp", "FP32"},
    {"flop_count_dp", "FP64"},
    {"half_operations", "FP16"},
    {"flop_count_tensor_fp16", "FP16 on tensor cores"},
    {"flop_count_tensor_bf16", "BF16 on tensor cores"},
    {"flop_count_tensor_tf32", "TF32 on tensor cores"},
    {"flop_count_tensor_fp64", "FP64 on tensor cores"},
    {"flop_count_tensor_fp8", "FP8 on tensor cores"},
    {"flop_count_tensor_fp4", "FP4 on tensor cores"},
};

#define HALF 2 /* of these, that of FP16 */

static int by_size(const void *x, const void *y)
{
    const struct gp_whole_part *a = x, *b = y;
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

/* Adds to the part of that title, or to the first that has none yet. */
static void add_to(struct gp_whole_part *parts, size_t count, const char *title, double seconds)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].title && strcmp(parts[i].title, title) != 0)
            continue;
        parts[i].title = title;
        parts[i].seconds += seconds;
        return;
    }
}

/* One group: its time, and the sums of its launches. */
static double mean_of(const struct gp_rows *rows, const struct gp_row *one, const char *metric)
{
    double mean;
    return gp_rows_mean(rows, one, metric, &mean) ? mean : (double)NAN;
}

/* The share of the half precision peak that so many operations in a launch are. */
static double use_of_halves(const struct gp_rows *rows, const struct gp_row *one, double flop)
{
    const struct gp_device *device = gp_summary_get_device(rows->summary, one->launch->device);
    char why[GP_WHY_SIZE];
    double peak;
    if (!device || !gp_peak_flops(device, GP_HALF, &peak, why, sizeof(why)))
        return (double)NAN;
    return flop / (one->seconds / (double)one->launches) / peak;
}

/* FLOP by precision. Those on tensor cores are known by type, or not at all. Takes constants
 * out of *use, the share of the peak. */
static bool add_flop(struct gp_whole *w, const struct gp_rows *rows, const struct gp_row *one,
                     const struct gp_lines *lines, double *use)
{
    double values[GP_PRECISIONS];
    for (size_t i = 0; i < GP_PRECISIONS; i++) {
        values[i] = mean_of(rows, one, precisions[i].metric);
        if (isnan(values[i]))
            return false;
    }
    /* The count has constants that HFMA2 loads, where the record does not say that the code has no
     * arithmetic in half precision: those of earlier versions do not. */
    if (values[HALF] > 0 && lines && gp_lines_total(lines, GP_WEIGHT_HALVES) == 0) {
        *use -= use_of_halves(rows, one, values[HALF]);
        values[HALF] = 0;
    }
    for (size_t i = 0; i < GP_PRECISIONS; i++) {
        double value = values[i] * (double)one->launches;
        add_to(w->precisions, GP_PRECISIONS, precisions[i].title, value);
        w->flop.value += value;
    }
    return true;
}

static void add_sum(struct gp_whole_sum *sum, double seconds, double use)
{
    sum->covered += seconds;
    sum->share += use * seconds;
}

static void add_group(struct gp_whole *w, const struct gp_rows *rows, const struct gp_row *one,
                      const struct gp_bound *bound, const struct gp_lines *lines)
{
    /* Work without its time would make the rates too high. */
    if (rows->timed && !(one->seconds > 0))
        return;
    if (bound)
        add_to(w->bounds, GP_WHOLE_BOUNDS, bound->title, one->seconds);
    double use = mean_of(rows, one, "flop_utilization");
    if (add_flop(w, rows, one, lines, &use))
        add_sum(&w->flop, one->seconds, use);
    double bytes = mean_of(rows, one, "dram_read_bytes") + mean_of(rows, one, "dram_write_bytes");
    if (isnan(bytes))
        return;
    w->dram_bytes.value += bytes * (double)one->launches;
    add_sum(&w->dram_bytes, one->seconds, mean_of(rows, one, "dram_utilization"));
}

/* From seconds to shares. */
static void finish(struct gp_whole_sum *sum, const struct gp_whole *w)
{
    sum->covered = w->gpu_seconds > 0 ? sum->covered / w->gpu_seconds : 0;
    sum->share = w->base_seconds > 0 && sum->covered >= GP_LEAST_COVERED
                     ? sum->share / w->base_seconds
                     : (double)NAN;
}

static void add_row(struct gp_whole *w, const struct gp_rows *rows, const struct gp_row *row,
                    const struct gp_findings *f, const struct gp_lines *lines)
{
    const struct gp_stat *duration = gp_rows_stat(rows, row, "duration");
    w->estimated = w->estimated || (duration && duration->count < row->launches);
    for (size_t g = 0; g < row->grids; g++) {
        const struct gp_row one = gp_rows_of_group(rows, row, g);
        if (one.seconds == 0)
            w->untimed += one.launches;
        if (one.measured > 0)
            w->covered += one.seconds;
        w->launches += one.launches;
        w->measured += one.measured;
        add_group(w, rows, &one, f ? &f->group_bounds[row->first_group + g] : NULL, lines);
    }
    enum gp_origin origin = gp_origin_of(row->launch->kernel, row->full_name, lines);
    add_to(w->origins, GP_ORIGINS, gp_origin_title(origin), row->seconds);
}

void gp_whole_make(struct gp_whole *w, const struct gp_rows *rows, const struct gp_findings *f,
                   const struct gp_copies *copies,
                   const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                   void *user)
{
    struct gp_running running;
    bool known = gp_summary_running(rows->summary, &running);
    *w = (struct gp_whole){.processes = running.processes,
                           .run_seconds = known ? running.seconds : 0,
                           .gpu_seconds = rows->timed ? rows->seconds : 0,
                           .apart = rows->apart,
                           .gpu_share = (double)NAN,
                           .copy_share = (double)NAN,
                           .side_by_side = gp_summary_has_streams(rows->summary),
                           .window = gp_summary_windows(rows->summary),
                           .limit = gp_summary_limits(rows->summary),
                           .graphs = gp_summary_graphs(rows->summary),
                           .host = gp_summary_host(rows->summary),
                           .idle_share = gp_host_idle_share(rows)};
    w->busy_seconds = w->gpu_seconds > 0 ? w->gpu_seconds + w->apart.seconds : 0;
    w->base_seconds = known ? running.gpu_seconds : w->gpu_seconds;
    for (size_t i = 0; i < rows->count; i++)
        add_row(w, rows, &rows->rows[i], f, lines ? lines(user, &rows->rows[i]) : NULL);
    for (int kind = 0; copies && kind < GP_COPY_KINDS; kind++)
        if (copies[kind].timed > 0)
            w->copy_seconds +=
                copies[kind].seconds / (double)copies[kind].timed * (double)copies[kind].calls;
    w->covered = w->gpu_seconds > 0 ? w->covered / w->gpu_seconds : (double)NAN;
    finish(&w->flop, w);
    finish(&w->dram_bytes, w);
    if (known && w->gpu_seconds > 0)
        w->gpu_share = fmin(1, w->busy_seconds / w->base_seconds);
    if (known && w->copy_seconds > 0)
        w->copy_share = fmin(1, w->copy_seconds / w->base_seconds);
    qsort(w->precisions, GP_PRECISIONS, sizeof(w->precisions[0]), by_size);
    qsort(w->bounds, GP_WHOLE_BOUNDS, sizeof(w->bounds[0]), by_size);
    qsort(w->origins, GP_ORIGINS, sizeof(w->origins[0]), by_size);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* A program that hardly used the GPU has no more digits than that. */
#define LEAST_PERCENT 0.01

/* "~": an estimate; a bound is none. */
static void add_estimate(double share, bool estimated, struct gp_text *out)
{
    char text[32];
    gp_unit_format(100 * share, "%", text, sizeof(text));
    if (100 * share < LEAST_PERCENT && share > 0)
        gp_text_addf(out, "less than %g %%", LEAST_PERCENT);
    else
        gp_text_addf(out, "%s%s", estimated ? "~" : "", text);
}

static void add_percent(double share, struct gp_text *out)
{
    add_estimate(share, false, out);
}

/* "41.2 % latency, 22 % launch overhead"; the rest is left out where it is small. */
static void add_parts(const struct gp_whole_part *parts, size_t count, double whole,
                      struct gp_text *out)
{
    double rest = whole;
    const char *separator = "";
    for (size_t i = 0; i < count && i < MOST_PARTS && parts[i].title; i++) {
        if (parts[i].seconds < LEAST_SHARE * whole)
            break;
        gp_text_add(out, separator);
        add_percent(parts[i].seconds / whole, out);
        gp_text_addf(out, " %s", parts[i].title);
        rest -= parts[i].seconds;
        separator = ", ";
    }
    if (rest > LEAST_SHARE * whole) {
        gp_text_add(out, separator);
        add_percent(rest / whole, out);
        gp_text_add(out, " others");
    }
}

/* Whether the processes used several GPUs each: shares are of all of them. */
static bool on_several(const struct gp_whole *w)
{
    return w->base_seconds > 1.0001 * w->run_seconds;
}

/* Launches without a time make a share a lower bound, kernels side by side an upper one. */
static const char *bound_of_share(const struct gp_whole *w)
{
    if (w->untimed > 0)
        return w->side_by_side ? "" : "at least ";
    return w->side_by_side ? "at most " : "";
}

static void add_busy(const struct gp_whole *w, struct gp_text *out)
{
    char seconds[32];
    if (!(w->run_seconds > 0))
        return;
    gp_unit_format(w->run_seconds, "s", seconds, sizeof(seconds));
    if (w->processes > 1)
        gp_text_addf(out, "%u processes ran ~%s together%s without gpuprof", w->processes, seconds,
                     w->window.rule ? " in the window" : "");
    else
        gp_text_addf(out, "ran ~%s%s without gpuprof", seconds,
                     w->window.rule ? " in the window" : "");
    if (!isnan(w->gpu_share)) {
        gp_text_addf(out, "; %s ran kernels in %s",
                     on_several(w) ? "a GPU, in the mean," : "the GPU", bound_of_share(w));
        add_estimate(w->gpu_share, true, out);
        gp_text_add(out, " of it");
        if (w->untimed > 0)
            gp_text_addf(out, " (%" PRIu64 " launches have no time)", w->untimed);
    }
    if (!isnan(w->copy_share)) {
        gp_text_add(out, ", and copied in ");
        add_estimate(w->copy_share, true, out);
    }
}

/* Whether a sum is worth a word. */
static bool is_known(const struct gp_whole_sum *sum)
{
    return sum->value > 0 && sum->covered >= GP_LEAST_COVERED;
}

static const char *bound_of_sum(const struct gp_whole *w, const struct gp_whole_sum *sum)
{
    return sum->covered < GP_WELL_COVERED || w->untimed > 0 ? "at least " : "";
}

/* All else in the report is of the window. */
static void add_window(const struct gp_windows *window, struct gp_text *out)
{
    char seconds[32];
    if (!window->rule)
        return;
    if (window->known) {
        gp_unit_format(window->seconds, "s", seconds, sizeof(seconds));
        gp_text_addf(out, "%" PRIu64 " launch%s and ~%s without gpuprof lay outside, not measured",
                     window->launches, window->launches == 1 ? "" : "es", seconds);
    } else {
        gp_text_add(out, "launches that lay outside were not measured");
    }
    gp_text_addf(out, " (%s)", window->rule);
}

/* A limit in seconds, with two digits, that is not less. */
static void add_as_option(double seconds, struct gp_text *out)
{
    const double digit = pow(10, floor(log10(seconds)) - 1), most = ceil(seconds / digit) * digit;
    if (most < 1)
        gp_text_addf(out, "--overhead %.3gms", 1e3 * most);
    else
        gp_text_addf(out, "--overhead %.3gs", most);
}

/* Where launches were left out, those that were measured stand for more than themselves. */
static void add_limit(const struct gp_whole *w, struct gp_text *out)
{
    const struct gp_limits *l = &w->limit;
    char spent[32], most[32], start_up[32];
    if (l->left_out == 0)
        return;
    gp_text_addf(out, "%" PRIu64 " of %" PRIu64 " launches were measured", w->measured,
                 w->launches);
    if (w->measured > 0 && !isnan(w->covered)) {
        gp_text_add(out, ", which stand for ");
        add_estimate(w->covered, w->estimated, out);
        gp_text_add(out, " of the GPU time");
    }
    if (!l->known)
        return;
    gp_unit_format(l->spent, "s", spent, sizeof(spent));
    gp_unit_format(l->seconds, "s", most, sizeof(most));
    gp_unit_format(l->start_up, "s", start_up, sizeof(start_up));
    gp_text_addf(out, "; of %s that the limit permits (%s) %s was spent, beside %s of start-up",
                 most, l->rule ? l->rule : "default", spent, start_up);
    if (l->wanted > 0) {
        gp_text_add(out, "; to measure each kernel and configuration once takes at least ");
        add_as_option(l->spent + l->wanted, out);
        gp_text_add(out, ", as predicted");
    }
}

/* All else but the share of the GPU in the run is of the other launches. */
static void add_apart(const struct gp_whole *w, struct gp_text *out)
{
    const struct gp_apart *a = &w->apart;
    if (a->rows == 0)
        return;
    gp_text_addf(out, "%" PRIu64 " launch%s of %" PRIu64 " kernel%s and configuration%s",
                 a->launches, a->launches == 1 ? "" : "es", a->kernels, a->kernels == 1 ? "" : "s",
                 a->kernels == 1 ? "" : "s");
    if (w->busy_seconds > 0) {
        gp_text_add(out, ", ");
        add_estimate(a->seconds / w->busy_seconds, w->estimated, out);
        gp_text_add(out, " of all GPU time,");
    }
    gp_text_add(out, " are kept apart: the program, or a library, timed them, went on with others, "
                     "and launched these no more");
    if (a->of_xla)
        gp_text_add(out, "; jax_compilation_cache_dir and jax_persistent_cache_enable_xla_caches "
                         "keep XLA's choice for the next run");
}

/* Their kernels have no rows with times. */
static void add_graphs(const struct gp_whole_times *g, struct gp_text *out)
{
    char seconds[32];
    if (g->timed == 0)
        return;
    gp_unit_format(g->seconds, "s", seconds, sizeof(seconds));
    gp_text_addf(out,
                 "%" PRIu64 " launch%s of graphs took %s on the GPU, which no kernel's time holds: "
                 "they were launched as they are, and timed as a whole",
                 g->timed, g->timed == 1 ? "" : "es", seconds);
    char *name = g->kernels > 0 ? gp_demangle(g->kernel, GP_NAME_BRIEF) : NULL;
    if (name)
        gp_text_addf(out, "; most of it one of %u kernel%s, %s first", g->kernels,
                     g->kernels == 1 ? "" : "s", name);
    free(name);
}

static void add_share(const struct gp_whole *w, const struct gp_whole_sum *sum, const char *peak,
                      struct gp_text *out)
{
    if (isnan(sum->share))
        return;
    gp_text_add(out, ", ");
    add_estimate(sum->share, w->run_seconds > 0 || w->estimated, out);
    gp_text_addf(out, " of %s ", peak);
    if (w->run_seconds > 0 && w->gpu_seconds > 0) {
        gp_text_add(out, "in all that time, ");
        add_estimate(sum->share * w->base_seconds / w->gpu_seconds, w->estimated, out);
        gp_text_add(out, " ");
    }
    gp_text_add(out, "while kernels ran");
}

/* "12.34 TFLOP": the unit of a metric is FLOP alone, to the last of them. */
static void format_flop(double value, char *out, size_t size)
{
    static const char prefixes[] = " kMGTPE";
    size_t step = 0;
    for (; value >= 999.5 && prefixes[step + 1]; step++)
        value /= 1000;
    snprintf(out, size, "%.4g %.*sFLOP", value, step > 0, &prefixes[step]);
}

static void add_flop_text(const struct gp_whole *w, struct gp_text *out)
{
    char flop[32], rate[32];
    format_flop(w->flop.value, flop, sizeof(flop));
    format_flop(w->flop.value / (w->run_seconds > 0 ? w->run_seconds : w->gpu_seconds), rate,
                sizeof(rate));
    gp_text_addf(out, "%s%s (", bound_of_sum(w, &w->flop), flop);
    add_parts(w->precisions, GP_PRECISIONS, w->flop.value, out);
    gp_text_addf(out, "): %s/s%s", rate,
                 w->run_seconds > 0 && w->processes > 1 ? " of each process" : "");
    add_share(w, &w->flop, "the peak", out);
}

static void add_dram_text(const struct gp_whole *w, struct gp_text *out)
{
    char bytes[32];
    gp_unit_format(w->dram_bytes.value, "bytes", bytes, sizeof(bytes));
    gp_text_addf(out, "%s%s of DRAM traffic", bound_of_sum(w, &w->dram_bytes), bytes);
    add_share(w, &w->dram_bytes, "its bandwidth", out);
}

static void add_time_parts(const struct gp_whole *w, const struct gp_whole_part *parts,
                           size_t count, struct gp_text *out)
{
    if (w->gpu_seconds > 0)
        add_parts(parts, count, w->gpu_seconds, out);
}

const char *gp_whole_line(const struct gp_whole *w, size_t line, struct gp_text *out)
{
    switch (line) {
    case 0:
        add_busy(w, out);
        return "Program";
    case 1:
        add_window(&w->window, out);
        return WINDOW_LABEL;
    case 2:
        add_limit(w, out);
        return "Limit";
    case 3:
        add_apart(w, out);
        return "Autotuning";
    case 4:
        add_graphs(&w->graphs, out);
        return "Graphs";
    case 5:
        gp_host_text(&w->host, w->run_seconds, w->busy_seconds, w->idle_share, out);
        return "Host";
    case 6:
        if (is_known(&w->flop))
            add_flop_text(w, out);
        return "Arithmetic";
    case 7:
        if (is_known(&w->dram_bytes))
            add_dram_text(w, out);
        return "Memory";
    case 8:
        add_time_parts(w, w->bounds, GP_WHOLE_BOUNDS, out);
        return "Time bound by";
    default:
        add_time_parts(w, w->origins, GP_ORIGINS, out);
        return "Kernels of";
    }
}

/* Nothing for an empty text, which it frees. */
static void add_line(const char *label, struct gp_text *text, size_t width, struct gp_text *out)
{
    char name[32];
    snprintf(name, sizeof(name), "%s:", label);
    if (text->length > 0) {
        gp_text_addf(out, "%-*s", LABEL_WIDTH, name);
        gp_wrap_to(out, width, LABEL_WIDTH, text->data);
    }
    out->failed |= text->failed;
    gp_text_free(text);
}

void gp_whole_window_text(const struct gp_windows *window, size_t width, struct gp_text *out)
{
    struct gp_text text = {0};
    add_window(window, &text);
    add_line(WINDOW_LABEL, &text, width, out);
}

void gp_whole_text(const struct gp_whole *w, size_t width, struct gp_text *out)
{
    for (size_t i = 0; i < GP_WHOLE_LINES; i++) {
        struct gp_text text = {0};
        const char *label = gp_whole_line(w, i, &text);
        add_line(label, &text, width, out);
    }
}
