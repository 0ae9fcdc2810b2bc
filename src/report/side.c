#include "report/side.h"

#include "base/demangle.h"
#include "base/escape.h"
#include "base/estimate.h"
#include "base/hash.h"
#include "profile/number.h"
#include "report/left_out.h"
#include "report/names.h"
#include "report/nvprof_values.h"
#include "report/rows.h"
#include "report/units.h"

#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 44
#define CELL_WIDTH 14

/* One kernel in one profile, all devices and configurations together. */
struct cell {
    uint64_t launches;
    struct gp_estimate time;
    struct gp_stat *stats; /* one for each metric, NULL where the profile has no such kernel */
};

struct line {
    UT_hash_handle hh; /* while lines are made; later they are sorted */
    const char *kernel;
    char *full, *brief; /* demangled, where that is wanted */
    char *shown;        /* in its column */
    double seconds;     /* in all profiles */
    struct cell *cells;
};

struct side {
    const struct gp_metrics *metrics;
    const struct gp_view *view;
    const char *const *names;
    size_t profiles, metric_count;
    struct line *lines, *by_kernel;
    size_t count;
    int duration; /* its index among the metrics, -1: not selected */
    struct gp_text *out;
};

static bool add_to(struct side *s, struct cell *cell, const struct gp_group *group)
{
    if (!cell->stats)
        cell->stats = calloc(s->metric_count + 1, sizeof(*cell->stats));
    if (!cell->stats)
        return false;
    cell->launches += group->launches;
    gp_stats_add_group(cell->stats, s->metric_count, group);
    if (s->duration >= 0)
        gp_estimate_add(&cell->time, gp_left_out_total(group, (size_t)s->duration),
                        group->stats[s->duration].count > 0 ? group->launches : 0, group->launches);
    return true;
}

/* The line of the kernel, NULL when out of memory; there is room for it. */
static struct line *line_of(struct side *s, const char *kernel)
{
    struct line *line = NULL;
    HASH_FIND_STR(s->by_kernel, kernel, line);
    if (line)
        return line;
    line = &s->lines[s->count];
    line->kernel = kernel;
    line->cells = calloc(s->profiles, sizeof(*line->cells));
    if (!line->cells)
        return NULL;
    s->count++;
    HASH_ADD_KEYPTR(hh, s->by_kernel, line->kernel, strlen(line->kernel), line);
    return line->hh.tbl ? line : NULL;
}

static bool fill_lines(struct side *s, const struct gp_summary *const *summaries)
{
    size_t most = 1;
    for (size_t p = 0; p < s->profiles; p++)
        most += gp_summary_group_count(summaries[p]);
    s->lines = calloc(most, sizeof(*s->lines));
    if (!s->lines)
        return false;
    for (size_t p = 0; p < s->profiles; p++) {
        for (size_t i = 0; i < gp_summary_group_count(summaries[p]); i++) {
            const struct gp_group *group = gp_summary_group(summaries[p], i);
            struct line *line = line_of(s, group->launch.kernel);
            if (!line || !add_to(s, &line->cells[p], group))
                return false;
        }
    }
    return true;
}

static bool fill(struct side *s, const struct gp_summary *const *summaries)
{
    bool filled = fill_lines(s, summaries);
    HASH_CLEAR(hh, s->by_kernel);
    return filled;
}

static int by_time(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    return a->seconds < b->seconds   ? 1
           : a->seconds > b->seconds ? -1
                                     : strcmp(a->kernel, b->kernel);
}

/* Different names for different kernels, in the width of their column. */
static bool name_lines(struct side *s, size_t count)
{
    struct gp_kernel_spelling *kernels = calloc(count + 1, sizeof(*kernels));
    char **names = calloc(count + 1, sizeof(*names));
    bool answer = kernels && names;
    for (size_t i = 0; i < count && answer; i++) {
        struct line *line = &s->lines[i];
        line->full =
            s->view->mangled ? strdup(line->kernel) : gp_demangle(line->kernel, GP_NAME_FULL);
        line->brief =
            s->view->mangled ? strdup(line->kernel) : gp_demangle(line->kernel, GP_NAME_BRIEF);
        answer = line->full && line->brief;
        kernels[i] = (struct gp_kernel_spelling){line->kernel, line->full, line->brief};
    }
    answer = answer && gp_names_distinct(kernels, count, names) &&
             gp_names_fit(names, count, NAME_WIDTH);
    for (size_t i = 0; names && i < count; i++)
        s->lines[i].shown = names[i];
    free(kernels);
    free(names);
    return answer;
}

static void add_name(const struct side *s, const struct line *line, const char *what)
{
    if (s->view->csv) {
        gp_csv_text(line->full, s->out);
        gp_text_addf(s->out, ",\"%s\"", what);
    } else {
        gp_text_addf(s->out, "%-*s %-34s", NAME_WIDTH, line->shown, what);
    }
}

/* A value, or nothing where there is none. */
static void add_value(const struct side *s, bool known, double value, const char *unit)
{
    char text[64] = "-";
    gp_text_add(s->out, s->view->csv ? "," : " ");
    if (s->view->csv && known && s->view->unit && strcmp(unit, "s") == 0)
        gp_number_add(s->out, gp_nvprof_time_in(value, s->view->unit));
    else if (s->view->csv && known)
        gp_number_add(s->out, value);
    if (s->view->csv)
        return;
    if (known && s->view->unit && strcmp(unit, "s") == 0)
        gp_nvprof_time(value, s->view->unit, text, sizeof(text));
    else if (known)
        gp_unit_format(value, unit, text, sizeof(text));
    gp_text_addf(s->out, "%*s", CELL_WIDTH, text);
}

static void add_line(const struct side *s, const struct line *line)
{
    add_name(s, line, "launches");
    for (size_t p = 0; p < s->profiles; p++)
        add_value(s, line->cells[p].stats, (double)line->cells[p].launches, "count");
    gp_text_add(s->out, "\n");
    if (s->duration >= 0) {
        add_name(s, line, "time");
        for (size_t p = 0; p < s->profiles; p++) {
            double seconds = gp_estimate_total(&line->cells[p].time);
            add_value(s, seconds > 0, seconds, "s");
        }
        gp_text_add(s->out, "\n");
    }
    for (size_t m = 0; m < s->metric_count; m++) {
        const struct gp_metric *metric = gp_metrics_selected(s->metrics, m);
        add_name(s, line, metric->name);
        for (size_t p = 0; p < s->profiles; p++) {
            const struct gp_stat *stats = line->cells[p].stats;
            double mean = 0;
            bool known = stats && gp_stat_mean(&stats[m], &mean);
            add_value(s, known, mean, metric->unit);
        }
        gp_text_add(s->out, "\n");
    }
}

/* Names of files are anybody's. */
static void add_profile_name(const struct side *s, const char *name)
{
    struct gp_text text = {0};
    gp_text_add_escaped(&text, name, strlen(name));
    size_t from = text.length > CELL_WIDTH ? text.length - CELL_WIDTH : 0;
    gp_text_add(s->out, s->view->csv ? "," : " ");
    if (s->view->csv)
        gp_csv_text(gp_text_string(&text), s->out);
    else
        gp_text_addf(s->out, "%*s", CELL_WIDTH, gp_text_string(&text) + from);
    gp_text_free(&text);
}

static void add_heading(const struct side *s)
{
    if (s->view->csv)
        gp_text_add(s->out, "\"Kernel\",\"Value\"");
    else
        gp_text_addf(s->out, "%-*s %-34s", NAME_WIDTH, "kernel", "value (metrics: their mean)");
    for (size_t p = 0; p < s->profiles; p++)
        add_profile_name(s, s->names[p]);
    gp_text_add(s->out, "\n");
}

void gp_side_by_side(const struct gp_summary *const *summaries, const char *const *names,
                     size_t count, const struct gp_view *view, size_t top, struct gp_text *out)
{
    const struct gp_metrics *m = gp_summary_metrics(summaries[0]);
    struct side s = {.metrics = m,
                     .view = view,
                     .names = names,
                     .profiles = count,
                     .metric_count = gp_metrics_selected_count(m),
                     .duration = -1,
                     .out = out};
    for (size_t i = 0; i < s.metric_count; i++)
        if (strcmp(gp_metrics_selected(m, i)->name, "duration") == 0)
            s.duration = (int)i;
    if (fill(&s, summaries)) {
        for (size_t i = 0; i < s.count; i++)
            for (size_t p = 0; p < count; p++)
                s.lines[i].seconds += gp_estimate_total(&s.lines[i].cells[p].time);
        qsort(s.lines, s.count, sizeof(*s.lines), by_time);
        size_t shown = top > 0 && top < s.count ? top : s.count;
        bool named = name_lines(&s, shown);
        out->failed |= !named;
        if (named)
            add_heading(&s);
        for (size_t i = 0; i < shown && named; i++)
            add_line(&s, &s.lines[i]);
    } else {
        out->failed = true;
    }
    for (size_t i = 0; s.lines && i < s.count; i++) {
        for (size_t p = 0; p < count; p++)
            free(s.lines[i].cells[p].stats);
        free(s.lines[i].cells);
        free(s.lines[i].full);
        free(s.lines[i].brief);
        free(s.lines[i].shown);
    }
    free(s.lines);
}
