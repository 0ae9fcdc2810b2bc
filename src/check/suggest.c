#include "check/suggest.h"

#include "base/escape.h"
#include "base/glob.h"
#include "check/quantity.h"
#include "check/statistics.h"
#include "check/suggest_bounds.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Kernels with less of the time than this are left out, and all but the first so many. */
#define LEAST_SHARE 0.02
#define MOST_KERNELS 50
#define LONGEST_NAME 32000 /* letters: a pattern holds them, each with a backslash */
#define SMALL_MARGIN 0.05

struct suggesting {
    const struct gp_suggest_values *values;
    const struct gp_suggest_asked *asked;
    struct gp_bounds_asked bounds;
    bool tick_is_shown;
    double seconds; /* of all kernels in a run */
    struct gp_text *out;
};

static int by_seconds(const void *x, const void *y)
{
    const struct gp_suggest_kernel *a = *(const struct gp_suggest_kernel *const *)x;
    const struct gp_suggest_kernel *b = *(const struct gp_suggest_kernel *const *)y;
    double of_a = gp_suggest_seconds(a), of_b = gp_suggest_seconds(b);
    if (of_a != of_b)
        return of_a < of_b ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* NULL when out of memory. */
static const struct gp_suggest_kernel **sorted_kernels(const struct gp_suggest_values *values,
                                                       double *seconds)
{
    size_t count = 0;
    const struct gp_suggest_kernel **kernels =
        calloc(HASH_COUNT(values->kernels) + 1, sizeof(struct gp_suggest_kernel *));
    for (const struct gp_suggest_kernel *k = values->kernels; kernels && k; k = k->hh.next) {
        kernels[count++] = k;
        *seconds += gp_suggest_seconds(k);
    }
    if (count > 1)
        qsort(kernels, count, sizeof(struct gp_suggest_kernel *), by_seconds);
    return kernels;
}

/* ---- numbers ---- */

/* pow of glibc is newer than all else that is used of it: 2.29. */
static double power_of_ten(int exponent)
{
    double power = 1;
    for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--)
        power *= 10;
    return exponent < 0 ? 1 / power : power;
}

/* A bound that people would write: three digits, four with a small margin, and never stricter. */
static void round_bound(struct gp_suggested_bound *b)
{
    if (b->bound == 0 || b->exact)
        return;
    int digits = b->margin < SMALL_MARGIN ? 4 : 3;
    double unit = power_of_ten((int)floor(log10(fabs(b->bound))) + 1 - digits);
    double parts = b->bound / unit;
    if (!isfinite(parts))
        return; /* it is next to nothing */
    b->bound = (b->at_most ? ceil(parts - 1e-9) : floor(parts + 1e-9)) * unit;
    double margin = fabs(b->bound - b->middle) / fabs(b->middle);
    b->finds += margin - b->margin;
    b->margin = margin;
}

static void add_quantity(double value, const char *unit, struct gp_text *out)
{
    char text[64];
    gp_quantity_format(value, unit, text, sizeof(text));
    gp_text_add(out, text);
}

/* All digits where the bound is exact. */
static void add_bound(const struct gp_suggested_bound *b, const char *unit, struct gp_text *out)
{
    if (b->exact && strcmp(unit, "bytes") == 0)
        gp_text_addf(out, "%.17g B", b->bound);
    else if (b->exact)
        gp_text_addf(out, "%.17g", b->bound);
    else
        add_quantity(b->bound, unit, out);
}

/* Upwards, so that none is less than it says. */
static void add_percent(double share, struct gp_text *out)
{
    gp_text_addf(out, "%.0f %%", ceil(100 * share - 1e-6));
}

/* ---- a rule ---- */

static void add_values(const struct gp_suggested_bound *b, const char *unit, struct gp_text *out)
{
    add_quantity(b->least, unit, out);
    if (b->most != b->least) {
        gp_text_add(out, " to ");
        add_quantity(b->most, unit, out);
    }
    if (b->runs == 1)
        gp_text_add(out, " in one run");
    else
        gp_text_addf(out, " in %zu runs", b->runs);
}

/* "7.9 us to 8.1 us in 5 runs, margin 10 %, finds 13 %" */
static void explain(const struct gp_suggested_bound *b, const char *unit, struct gp_text *out)
{
    add_values(b, unit, out);
    if (b->margin > 0) {
        gp_text_add(out, ", margin ");
        add_percent(b->margin, out);
        gp_text_add(out, ", finds ");
        add_percent(b->finds, out);
    }
    gp_text_add(out, "\n");
}

static void add_rule(const struct suggesting *s, struct gp_suggested_bound *b, const char *name)
{
    const struct gp_metric *metric = gp_metrics_find(s->bounds.metrics, name);
    const char *blank = b->aggregate[0] ? " " : "";
    if (!metric || b->kind == GP_SUGGESTED_NONE)
        return;
    if (b->kind == GP_SUGGESTED_LEFT_OUT) {
        gp_text_addf(s->out, "; left out: %s%s%s, ", b->aggregate, blank, name);
        add_values(b, metric->unit, s->out);
        if (isfinite(b->margin))
            gp_text_addf(s->out, ", needs a margin of %.0f %%", 100 * b->margin);
        gp_text_add(s->out, "\n");
        return;
    }
    round_bound(b);
    gp_text_addf(s->out, "%s%s%s %s ", b->aggregate, blank, name, b->at_most ? "<=" : ">=");
    add_bound(b, metric->unit, s->out);
    gp_text_addf(s->out, "%s  ; ", b->if_present ? " if present" : "");
    explain(b, metric->unit, s->out);
}

/* ---- a section ---- */

/* Whether the name, read as a glob, is for another kernel as well: "f(int*)" for "f(int*, int)". */
static bool is_ambiguous(const struct gp_suggest_values *values, const char *name)
{
    bool ambiguous = false, too_hard = false;
    for (const struct gp_suggest_kernel *k = values->kernels; k && !ambiguous; k = k->hh.next)
        ambiguous = strcmp(k->name, name) != 0 && gp_glob_matches(name, k->name, &too_hard);
    return ambiguous || too_hard;
}

static void add_pattern(const struct suggesting *s, const char *name)
{
    bool escaped = is_ambiguous(s->values, name);
    for (const char *p = name; *p; p++) {
        if (escaped && strchr("*?[\\", *p))
            gp_text_add(s->out, "\\");
        gp_text_add_bytes(s->out, p, 1);
    }
}

/* Whether the file can hold the name as a pattern: check/lines.h cuts blanks and comments off. */
static bool is_pattern(const char *name)
{
    size_t length = strlen(name);
    bool whole = length > 0 && length <= LONGEST_NAME && strncmp(name, "regex:", 6) != 0 &&
                 !isspace((unsigned char)name[0]) && !isspace((unsigned char)name[length - 1]);
    for (size_t i = 1; whole && i < length; i++)
        whole = !((name[i] == ';' || name[i] == '#') && isspace((unsigned char)name[i - 1]));
    return whole;
}

/* A number of each run: "20", or "18 to 20". */
static void add_span(uint64_t least, uint64_t most, struct gp_text *out)
{
    gp_text_addf(out, "%llu", (unsigned long long)least);
    if (most != least)
        gp_text_addf(out, " to %llu", (unsigned long long)most);
}

struct span {
    uint64_t least, most;
};

static void widen(struct span *span, uint64_t number, bool first)
{
    if (first || number < span->least)
        span->least = number;
    if (first || number > span->most)
        span->most = number;
}

/* How much the values of the section stand on. */
static void add_foundation(const struct suggesting *s, const struct gp_suggest_kernel *k)
{
    struct span launches = {0}, measured = {0}, configurations = {0};
    for (size_t i = 0; i < k->run_count; i++) {
        widen(&launches, k->runs[i].launches, i == 0);
        widen(&measured, k->runs[i].of[GP_SUGGEST_TIME].count, i == 0);
        widen(&configurations, k->runs[i].configurations, i == 0);
    }
    gp_text_addf(s->out, "\n; %.1f %% of the time, ",
                 s->seconds > 0 ? 100 * gp_suggest_seconds(k) / s->seconds : 0);
    add_span(launches.least, launches.most, s->out);
    gp_text_addf(s->out, " launch%s in a run, ", launches.most == 1 ? "" : "es");
    if (measured.least != launches.least || measured.most != launches.most) {
        add_span(measured.least, measured.most, s->out);
        gp_text_add(s->out, " of them measured, ");
    }
    add_span(configurations.least, configurations.most, s->out);
    gp_text_addf(s->out, " configuration%s\n", configurations.most == 1 ? "" : "s");
    if (configurations.most > 1)
        gp_text_add(s->out, gp_suggest_repeats(k)
                                ? ";   each is launched equally often in all runs\n"
                                : ";   how often each is launched differs from run to run, or is "
                                  "known of one run alone: a\n"
                                  ";   baseline compares each by itself\n");
    if (k->run_count < s->asked->runs)
        gp_text_addf(s->out, ";   in %zu of %zu runs, so it is not required\n", k->run_count,
                     s->asked->runs);
}

static void add_section(const struct suggesting *s, const struct gp_suggest_kernel *k)
{
    struct gp_suggested_bound b;
    add_foundation(s, k);
    if (!is_pattern(k->name)) {
        gp_text_addf(s->out, "; left out: %.80s... is no name that a section can have\n", k->name);
        return;
    }
    gp_text_add(s->out, "[");
    add_pattern(s, k->name);
    gp_text_add(s->out, "]\n");
    if (k->run_count >= s->asked->runs)
        gp_text_add(s->out, "required\n");
    gp_suggest_time(&s->bounds, k, &b);
    add_rule(s, &b, gp_suggested_rules[GP_SUGGEST_TIME].metric);
    for (size_t i = GP_SUGGEST_OTHERS; gp_suggested_rules[i].metric; i++) {
        gp_suggest_bound(&s->bounds, k, i, &b);
        add_rule(s, &b, gp_suggested_rules[i].metric);
    }
}

/* ---- the file ---- */

static void add_head(const struct suggesting *s)
{
    const struct gp_suggest_asked *asked = s->asked;
    double percent = 100 * asked->margin;
    gp_text_add(s->out, "; Thresholds for 'gpuprof check --thresholds', a first proposal.\n");
    gp_text_add_linef(s->out, "; From %s (%zu run%s), on %s, gpuprof %s.", asked->from, asked->runs,
                      asked->runs == 1 ? "" : "s", asked->origin->device.name,
                      asked->origin->gpuprof);
    gp_text_addf(
        s->out,
        ";\n; Behind a bound stand the values of these runs, one number a run; the margin from "
        "their "
        "mean to the\n"
        "; bound; and the change that breaks it in 95 of 100 runs ('finds').\n"
        "; - Times and counters of the hardware vary. Their margin is %.3g %% (--margin), or as "
        "much as one in\n"
        ";   %.0f unchanged runs needs, by the distance of these runs and by the usual scatter: "
        "1 %% from run to\n"
        ";   run, 2 %% and 0.25 us from launch to launch",
        percent, 1 / GP_RARE);
    if (s->bounds.tick > 0)
        gp_text_addf(s->out, ", the clock's tick of %.0f ns%s", 1e9 * s->bounds.tick,
                     s->tick_is_shown ? "" : " (CUDA's manual; these times are too few)");
    gp_text_addf(s->out,
                 ".\n"
                 "; - Efficiencies repeat. Their margin of %.3g %% is for changes that nobody "
                 "minds.\n"
                 "; - Counts repeat as well. They have a margin only where runs differ, or where "
                 "there is one run.\n",
                 percent);
    if (asked->runs == 1)
        gp_text_add(s->out, "; One run does not show how far runs lie apart: its margins are wide. "
                            "Take five runs, each with --from.\n");
    gp_text_add(s->out,
                "; Loosen the bounds of values that vary, delete those that do not matter.\n");
}

void gp_suggest_thresholds(const struct gp_suggest_values *values,
                           const struct gp_suggest_asked *asked, struct gp_text *out)
{
    struct suggesting s = {.values = values,
                           .asked = asked,
                           .bounds = {.metrics = values->metrics,
                                      .device = &asked->origin->device,
                                      .margin = asked->margin},
                           .out = out};
    s.bounds.tick = gp_suggest_tick(values, &s.tick_is_shown);
    const struct gp_suggest_kernel **kernels = sorted_kernels(values, &s.seconds);
    if (!kernels) {
        out->failed = true;
        return;
    }
    size_t count = HASH_COUNT(values->kernels), written = 0;
    add_head(&s);
    while (written < count && written < MOST_KERNELS &&
           gp_suggest_seconds(kernels[written]) >= LEAST_SHARE * s.seconds)
        add_section(&s, kernels[written++]);
    if (written < count)
        gp_text_addf(out, "\n; %zu more kernel%s left out: less than %.0f %% of the time each.\n",
                     count - written, count - written == 1 ? " is" : "s are", 100 * LEAST_SHARE);
    free(kernels);
}
