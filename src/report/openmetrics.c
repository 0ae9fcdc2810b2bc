#include "report/openmetrics.h"

#include "report/rows.h"
#include "report/whole.h"

#include <locale.h>
#include <math.h>
#include <string.h>

/* ---- the format ------------------------------------------------------------------------------ */

struct writing {
    const struct gp_openmetrics *about;
    struct gp_text *out;
};

static void add_label(const char *value, struct gp_text *out)
{
    for (; *value; value++) {
        const char one[] = {*value, '\0'};
        gp_text_add(out, *value == '"'    ? "\\\""
                         : *value == '\\' ? "\\\\"
                         : *value == '\n' ? "\\n"
                                          : one);
    }
}

/* Infinite and undefined values are none. `unit`: the end of the name; NULL: a number of things. */
static void add(const struct writing *w, const char *name, const char *type, const char *unit,
                const char *help, double value)
{
    if (!isfinite(value))
        return;
    gp_text_addf(w->out, "# TYPE gpuprof_%s %s\n", name, type);
    if (unit)
        gp_text_addf(w->out, "# UNIT gpuprof_%s %s\n", name, unit);
    gp_text_addf(w->out, "# HELP gpuprof_%s %s\ngpuprof_%s%s{program=\"", name, help, name,
                 strcmp(type, "counter") == 0 ? "_total" : "");
    add_label(w->about->program, w->out);
    gp_text_addf(w->out, "\",pid=\"%ld\"} %.15g\n", w->about->process, value);
}

static void add_counter(const struct writing *w, const char *name, const char *unit,
                        const char *help, double value)
{
    add(w, name, "counter", unit, help, value);
}

static void add_gauge(const struct writing *w, const char *name, const char *unit, const char *help,
                      double value)
{
    add(w, name, "gauge", unit, help, value);
}

/* ---- values ---------------------------------------------------------------------------------- */

static double larger(double *total, double value)
{
    if (isfinite(value) && value > *total)
        *total = value;
    return isfinite(value) ? *total : (double)NAN;
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

/* Counted in most of the GPU time; the rest is taken to be alike. */
static double all_of(const struct gp_whole_sum *sum)
{
    return sum->covered >= GP_LEAST_COVERED ? sum->value / sum->covered : (double)NAN;
}

/* The share of the peak while kernels ran becomes that of the time in which the program ran. */
static double share_of_run(const struct gp_whole *whole, const struct gp_whole_sum *sum,
                           double base)
{
    return base > 0 ? sum->share * whole->base_seconds / base : (double)NAN;
}

static void add_work(const struct writing *w, const struct gp_rows *rows, double run)
{
    struct gp_whole whole;
    gp_whole_make(&whole, rows, NULL, NULL, NULL, NULL);
    const int devices = rows->devices > 1 ? rows->devices : 1;
    const double base = run * devices;
    struct gp_openmetrics_totals *totals = w->about->totals;
    const double gpu = rows->timed ? larger(&totals->gpu_seconds, whole.busy_seconds) : (double)NAN;
    const double flop = larger(&totals->flop, all_of(&whole.flop));
    const double bytes = larger(&totals->dram_bytes, all_of(&whole.dram_bytes));
    add_counter(w, "gpu_busy_seconds", "seconds", "Time in which the GPU ran kernels.", gpu);
    add_gauge(w, "gpu_busy_ratio", "ratio",
              "Time in which the GPU ran kernels, of the time of the program without gpuprof.",
              base > 0 && gpu > base ? 1 : ratio(gpu, base));
    add_gauge(w, "measured_ratio", "ratio",
              "GPU time of launches that were measured, of that of all launches.",
              gp_summary_measured_share(rows->summary));
    add_counter(w, "floating_point_operations", NULL, "Floating-point operations of all kernels.",
                flop);
    add_gauge(w, "flop_per_second", "per_second",
              "Floating-point operations in a second of the program without gpuprof.",
              ratio(flop, run));
    add_gauge(w, "flop_peak_ratio", "ratio",
              "These, of the peak of the GPU for the types of numbers that were used.",
              share_of_run(&whole, &whole.flop, base));
    add_counter(w, "dram_bytes", "bytes", "Bytes that kernels read from DRAM and wrote to it.",
                bytes);
    add_gauge(w, "dram_bytes_per_second", "per_second",
              "Bytes from and to DRAM in a second of the program without gpuprof.",
              ratio(bytes, run));
    add_gauge(w, "dram_bandwidth_ratio", "ratio", "These, of the bandwidth of DRAM.",
              share_of_run(&whole, &whole.dram_bytes, base));
}

static void add_all(const struct writing *w, const struct gp_rows *rows,
                    const struct gp_totals *all)
{
    const struct gp_openmetrics *about = w->about;
    const double run = fmax(0, about->seconds - about->added_seconds);
    add_counter(w, "run_seconds", "seconds", "Time of the program, with gpuprof.", about->seconds);
    add_counter(w, "added_seconds", "seconds", "Time by which gpuprof made the program longer.",
                about->added_seconds);
    add_counter(w, "launches", NULL, "Kernel launches of the program.", (double)about->launches);
    add_counter(w, "measured_launches", NULL, "Kernel launches that were measured.",
                (double)all->measured);
    add_work(w, rows, run);
    add_gauge(w, "updated_timestamp_seconds", "seconds", "When these values were written.",
              about->now);
    gp_text_add(w->out, "# EOF\n");
}

/* The program may have chosen a locale with a decimal comma. */
static void add_in_plain_locale(const struct writing *w, const struct gp_rows *rows,
                                const struct gp_totals *all)
{
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    const locale_t before = plain ? uselocale(plain) : (locale_t)0;
    add_all(w, rows, all);
    if (!plain)
        return;
    uselocale(before);
    freelocale(plain);
}

void gp_openmetrics_add(const struct gp_summary *s, const struct gp_openmetrics *about,
                        struct gp_text *out)
{
    const struct writing w = {.about = about, .out = out};
    const struct gp_totals all = gp_summary_totals(s);
    struct gp_rows rows;
    if (gp_rows_make(&rows, s))
        add_in_plain_locale(&w, &rows, &all);
    else
        out->failed = true;
    gp_rows_free(&rows);
}
