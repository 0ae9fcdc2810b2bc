#include "check/suggest.h"

#include "base/escape.h"
#include "base/glob.h"
#include "check/kinds.h"
#include "check/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Kernels with less of the time than this are left out, and all but the first so many. */
#define LEAST_SHARE 0.02
#define MOST_KERNELS 50
#define LONGEST_NAME 32000 /* letters: a pattern holds them, each with a backslash */

/* The metrics that say most of a kernel, in the order of the file. */
static const char *const metrics[] = {
    "duration",         "achieved_occupancy", "gld_efficiency",
    "gst_efficiency",   "shared_efficiency",  "warp_execution_efficiency",
    "gld_transactions", "gst_transactions",   "tensor_utilization",
};

/* The configurations of one kernel. */
struct kernel {
    const char *name;
    size_t first, count; /* of the side's subjects, which are sorted by name */
    double seconds;      /* in all runs */
    uint64_t launches;
};

static double seconds_of(const struct gp_side *side, const struct gp_subject *s)
{
    double median;
    int index = gp_side_metric(side, "duration");
    return index >= 0 && gp_series_median(&s->series[index], &median) ? median * (double)s->launches
                                                                      : 0;
}

static int by_seconds(const void *x, const void *y)
{
    const struct kernel *a = x, *b = y;
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

static size_t find_kernels(const struct gp_side *side, struct kernel *kernels, double *seconds)
{
    size_t count = 0;
    for (size_t i = 0; i < side->count; i++) {
        const struct gp_subject *s = &side->subjects[i];
        if (count == 0 || strcmp(kernels[count - 1].name, s->name) != 0)
            kernels[count++] = (struct kernel){.name = s->name, .first = i};
        kernels[count - 1].count++;
        kernels[count - 1].launches += s->launches;
        kernels[count - 1].seconds += seconds_of(side, s);
        *seconds += seconds_of(side, s);
    }
    if (count > 1)
        qsort(kernels, count, sizeof(*kernels), by_seconds);
    return count;
}

/* pow of glibc is newer than all else that is used of it: 2.29. */
static double power_of_ten(int exponent)
{
    double power = 1;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 10;
    return exponent < 0 ? 1 / power : power;
}

/* A bound that people would write: three digits, and never stricter. */
static double rounded(double value, bool up)
{
    if (value == 0)
        return 0;
    double unit = power_of_ten((int)floor(log10(fabs(value))) - 2);
    return (up ? ceil(value / unit - 1e-9) : floor(value / unit + 1e-9)) * unit;
}

static void add_bound(double bound, const char *unit, struct gp_text *out)
{
    char text[64];
    gp_quantity_format(bound, unit, text, sizeof(text));
    gp_text_add(out, text);
}

/* The worst launch, and the bound for it. */
static void add_rule(const struct gp_side *side, const struct kernel *k, const char *name,
                     const struct gp_metrics *m, double margin, struct gp_text *out)
{
    const struct gp_metric *metric = gp_metrics_find(m, name);
    int index = gp_side_metric(side, name);
    bool any = false, partly = false;
    double worst = 0;
    if (!metric || index < 0)
        return;
    struct gp_nature n = gp_nature_of(metric, &side->origin.device);
    bool less = n.better == GP_BETTER_LESS;
    for (size_t i = k->first; i < k->first + k->count; i++) {
        const struct gp_series *s = &side->subjects[i].series[index];
        partly |= s->absent != NULL;
        if (s->runs == 0)
            continue;
        double value = less ? s->max : s->min;
        if (!any || (less ? value > worst : value < worst))
            worst = value;
        any = true;
    }
    /* A bound of 0 from below says nothing. */
    if (!any || (worst == 0 && !less))
        return;
    bool exact = n.kind == GP_KIND_COUNT && strcmp(metric->unit, "count") == 0;
    double share = exact ? 0 : margin;
    double bound = exact ? worst : rounded(less ? worst * (1 + share) : worst * (1 - share), less);
    gp_text_addf(out, "%s %s ", name, less ? "<=" : ">=");
    add_bound(bound, metric->unit, out);
    gp_text_addf(out, "%s  ; was ", partly ? " if present" : "");
    add_bound(worst, metric->unit, out);
    gp_text_add(out, "\n");
}

/* Whether the name, read as a glob, is for another kernel as well: "f(int*)" for "f(int*, int)". */
static bool is_ambiguous(const struct gp_side *side, const char *name)
{
    bool ambiguous = false, too_hard = false;
    for (size_t i = 0; i < side->count && !ambiguous; i++) {
        const char *other = side->subjects[i].name;
        ambiguous = strcmp(other, name) != 0 && gp_glob_matches(name, other, &too_hard);
    }
    return ambiguous || too_hard;
}

static void add_pattern(const struct gp_side *side, const char *name, struct gp_text *out)
{
    bool escaped = is_ambiguous(side, name);
    for (const char *p = name; *p; p++) {
        if (escaped && strchr("*?[\\", *p))
            gp_text_add(out, "\\");
        gp_text_add_bytes(out, p, 1);
    }
}

static void add_section(const struct gp_side *side, const struct kernel *k, double all,
                        const struct gp_metrics *m, double margin, struct gp_text *out)
{
    double launches = (double)k->launches / (side->runs ? (double)side->runs : 1);
    gp_text_addf(out, "\n; %.1f %% of the time, %.6g launch%s in a run, %zu configuration%s\n",
                 all > 0 ? 100 * k->seconds / all : 0, launches, launches == 1 ? "" : "es",
                 k->count, k->count == 1 ? "" : "s");
    if (strlen(k->name) > LONGEST_NAME) {
        gp_text_addf(out, "; left out: %.80s... has more than %d letters\n", k->name, LONGEST_NAME);
        return;
    }
    gp_text_add(out, "[");
    add_pattern(side, k->name, out);
    gp_text_add(out, "]\nrequired\n");
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        add_rule(side, k, metrics[i], m, margin, out);
}

void gp_suggest_thresholds(const struct gp_side *side, const struct gp_metrics *m, double margin,
                           const char *from, struct gp_text *out)
{
    double seconds = 0;
    struct kernel *kernels = calloc(side->count + 1, sizeof(*kernels));
    if (!kernels) {
        out->failed = true;
        return;
    }
    size_t count = find_kernels(side, kernels, &seconds), written = 0;
    gp_text_add(out, "; Thresholds for 'gpuprof check --thresholds', a first proposal.\n");
    gp_text_add_linef(out, "; From %s, on %s, gpuprof %s.", from, side->origin.device.name,
                      side->origin.gpuprof);
    gp_text_addf(out,
                 "; Each bound is the worst launch, %.3g %% worse; counts stay as they are.\n"
                 "; Loosen the bounds of values that vary, delete those that do not matter.\n",
                 100 * margin);
    for (size_t i = 0; i < count && written < MOST_KERNELS; i++) {
        if (seconds > 0 && kernels[i].seconds < LEAST_SHARE * seconds)
            break;
        add_section(side, &kernels[i], seconds, m, margin, out);
        written++;
    }
    if (written < count)
        gp_text_addf(out, "\n; %zu more kernel%s left out: less than %.0f %% of the time each.\n",
                     count - written, count - written == 1 ? " is" : "s are", 100 * LEAST_SHARE);
    free(kernels);
}
