#include "report/nvprof.h"

#include "base/demangle.h"
#include "base/estimate.h"
#include "report/copies.h"
#include "report/left_out.h"
#include "report/nvprof_values.h"
#include "report/plain_numbers.h"
#include "report/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All launches of one kernel on one device, with any grid. */
struct kernel {
    const struct gp_record *launch; /* the first */
    uint64_t launches;
    struct gp_stat *stats;
    struct gp_estimate time;
    char *name;
};

struct tables {
    const struct gp_summary *summary;
    const struct gp_metrics *metrics;
    const struct gp_view *view;
    const struct gp_nvprof_run *run;
    struct kernel *kernels;
    size_t count;
    struct gp_text *out;
};

/* ---- kernels --------------------------------------------------------------------------------- */

static int by_kernel(const void *x, const void *y)
{
    const struct gp_record *a = &(*(const struct gp_group *const *)x)->launch;
    const struct gp_record *b = &(*(const struct gp_group *const *)y)->launch;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    int order = strcmp(a->kernel, b->kernel);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int by_first_launch(const void *x, const void *y)
{
    const struct gp_record *a = ((const struct kernel *)x)->launch;
    const struct gp_record *b = ((const struct kernel *)y)->launch;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static struct kernel *kernel_of(struct tables *t, const struct gp_record *launch)
{
    struct kernel *k = t->count > 0 ? &t->kernels[t->count - 1] : NULL;
    if (k && k->launch->device == launch->device && strcmp(k->launch->kernel, launch->kernel) == 0)
        return k;
    k = &t->kernels[t->count++];
    k->launch = launch;
    k->stats = calloc(gp_metrics_selected_count(t->metrics) + 1, sizeof(*k->stats));
    k->name = t->view->mangled ? strdup(launch->kernel) : gp_demangle(launch->kernel, GP_NAME_FULL);
    return k->stats && k->name ? k : NULL;
}

/* The index of the metric `duration`, -1 where it is not selected. */
static int duration_of(const struct tables *t)
{
    for (size_t m = 0; m < gp_metrics_selected_count(t->metrics); m++)
        if (strcmp(gp_metrics_selected(t->metrics, m)->name, "duration") == 0)
            return (int)m;
    return -1;
}

static void add_group(const struct tables *t, struct kernel *k, const struct gp_group *group,
                      int duration)
{
    k->launches += group->launches;
    for (size_t m = 0; m < gp_metrics_selected_count(t->metrics); m++)
        gp_stat_merge(&k->stats[m], &group->stats[m], 1);
    if (duration >= 0)
        gp_estimate_add(&k->time, gp_left_out_total(group, (size_t)duration),
                        group->stats[duration].count > 0 ? group->launches : 0, group->launches);
}

static bool find_kernels(struct tables *t)
{
    int duration = duration_of(t);
    size_t count = gp_summary_group_count(t->summary);
    const struct gp_group **groups = calloc(count + 1, sizeof(*groups));
    t->kernels = calloc(count + 1, sizeof(*t->kernels));
    bool complete = groups && t->kernels;
    for (size_t i = 0; complete && i < count; i++)
        groups[i] = gp_summary_group(t->summary, i);
    if (complete)
        qsort(groups, count, sizeof(*groups), by_kernel);
    for (size_t i = 0; complete && i < count; i++) {
        struct kernel *k = kernel_of(t, &groups[i]->launch);
        complete = k != NULL;
        if (!k)
            break;
        add_group(t, k, groups[i], duration);
    }
    free(groups);
    if (complete)
        qsort(t->kernels, t->count, sizeof(*t->kernels), by_first_launch);
    return complete;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void add_title(const struct tables *t, const char *title)
{
    gp_text_addf(t->out, "==%ld== %s:\n", t->run->pid, title);
}

static void device_name(const struct tables *t, int ordinal, char *name, size_t size)
{
    const struct gp_device *device = gp_summary_get_device(t->summary, ordinal);
    snprintf(name, size, "%s (%d)", device && device->name[0] ? device->name : "GPU", ordinal);
}

static bool is_shown(const struct tables *t, size_t metric, bool events)
{
    const struct gp_metric *m = gp_metrics_selected(t->metrics, metric);
    /* inst_executed is a metric and an event of nvprof's. */
    bool is_event = t->view->events || gp_nvprof_is_event(m);
    if (t->view->times && strcmp(m->name, "duration") == 0)
        return false; /* the table of times has it */
    return is_event == events;
}

static bool any_shown(const struct tables *t, bool events)
{
    for (size_t i = 0; i < gp_metrics_selected_count(t->metrics); i++)
        if (is_shown(t, i, events))
            return true;
    return false;
}

/* min, max, avg and, of events, total. */
static void values_of(const struct tables *t, const struct gp_stat *stat, const char *unit,
                      char text[4][40])
{
    const double values[] = {stat->min, stat->max, stat->sum / (double)stat->count, stat->sum};
    for (int i = 0; i < 4; i++)
        gp_nvprof_value(values[i], unit, t->view->csv, t->view->unit, text[i], 40);
    if (stat->combined)
        strcpy(text[0], strcpy(text[1], "-"));
}

static void add_metric_line(const struct tables *t, const struct kernel *k, size_t m, bool events)
{
    const struct gp_metric *metric = gp_metrics_selected(t->metrics, m);
    const struct gp_stat *stat = &k->stats[m];
    char text[4][40];
    gp_text_addf(t->out, "%11" PRIu64 "  %40s  ", stat->count ? stat->count : k->launches,
                 metric->name);
    if (!events)
        gp_text_addf(t->out, "%44.44s  ", gp_nvprof_title(metric));
    if (stat->count == 0) {
        gp_text_addf(t->out, "not measured: %s\n",
                     stat->absent.cause ? stat->absent.text : "no launch was");
        return;
    }
    values_of(t, stat, metric->unit, text);
    gp_text_addf(t->out, "%12s %12s %12s", text[0], text[1], text[2]);
    if (events)
        gp_text_addf(t->out, " %14s", text[3]);
    gp_text_add(t->out, "\n");
}

static void add_results(const struct tables *t, bool events)
{
    add_title(t, events ? "Event result" : "Metric result");
    gp_text_addf(t->out, "%-11s  %40s  ", "Invocations", events ? "Event Name" : "Metric Name");
    if (!events)
        gp_text_addf(t->out, "%44s  ", "Metric Description");
    gp_text_addf(t->out, "%12s %12s %12s", "Min", "Max", "Avg");
    if (events)
        gp_text_addf(t->out, " %14s", "Total");
    gp_text_add(t->out, "\n");
    int device = -1;
    for (size_t i = 0; i < t->count; i++) {
        const struct kernel *k = &t->kernels[i];
        if (k->launch->device != device) {
            char name[160];
            device = k->launch->device;
            device_name(t, device, name, sizeof(name));
            gp_text_addf(t->out, "Device \"%s\"\n", name);
        }
        gp_text_addf(t->out, "    Kernel: %s\n", k->name);
        for (size_t m = 0; m < gp_metrics_selected_count(t->metrics); m++)
            if (is_shown(t, m, events))
                add_metric_line(t, k, m, events);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void add_results_csv(const struct tables *t, bool events)
{
    add_title(t, events ? "Event result" : "Metric result");
    gp_text_add(t->out, events ? "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\","
                                 "\"Max\",\"Avg\",\"Total\"\n"
                               : "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric "
                                 "Description\",\"Min\",\"Max\",\"Avg\"\n");
    for (size_t i = 0; i < t->count; i++) {
        const struct kernel *k = &t->kernels[i];
        char device[160], text[4][40] = {"", "", "", ""};
        device_name(t, k->launch->device, device, sizeof(device));
        for (size_t m = 0; m < gp_metrics_selected_count(t->metrics); m++) {
            const struct gp_metric *metric = gp_metrics_selected(t->metrics, m);
            const struct gp_stat *stat = &k->stats[m];
            if (!is_shown(t, m, events))
                continue;
            gp_csv_text(device, t->out);
            gp_text_add(t->out, ",");
            gp_csv_text(k->name, t->out);
            gp_text_addf(t->out, ",%" PRIu64 ",\"%s\"", stat->count ? stat->count : k->launches,
                         metric->name);
            if (!events) {
                gp_text_add(t->out, ",");
                gp_csv_text(gp_nvprof_title(metric), t->out);
            }
            memset(text, 0, sizeof(text)); /* a value that was not measured is empty */
            if (stat->count > 0)
                values_of(t, stat, metric->unit, text);
            gp_text_addf(t->out, ",%s,%s,%s", text[0], text[1], text[2]);
            gp_text_addf(t->out, events ? ",%s\n" : "\n", text[3]);
        }
    }
}

/* ---- time by kernel -------------------------------------------------------------------------- */

/* A row of times: a kernel, or copies of one kind. */
struct activity {
    char *name;
    uint64_t calls;
    bool timed;
    double seconds, mean, min, max; /* where timed; those that were timed stand for all */
};

static struct activity activity_of(const struct kernel *k, int duration)
{
    const struct gp_stat *stat = &k->stats[duration];
    struct activity a = {.name = k->name, .calls = k->launches, .timed = stat->count > 0};
    if (!a.timed)
        return a;
    a.seconds = gp_estimate_total(&k->time);
    a.mean = a.seconds / (double)k->launches;
    a.min = stat->min;
    a.max = stat->max;
    return a;
}

static struct activity activity_of_copies(const struct gp_copies *c, char *name)
{
    struct activity a = {.name = name, .calls = c->calls, .timed = c->timed > 0};
    if (!a.timed)
        return a;
    a.mean = c->seconds / (double)c->timed;
    a.seconds = a.mean * (double)c->calls;
    a.min = c->shortest;
    a.max = c->longest;
    return a;
}

static void add_time_line(const struct tables *t, const struct activity *a, double total,
                          bool first)
{
    char text[4][32] = {"-", "-", "-", "-"}, share[16] = "-";
    if (a->timed) {
        const double values[] = {a->seconds, a->mean, a->min, a->max};
        for (int i = 0; i < 4; i++)
            gp_nvprof_time(values[i], t->view->unit, text[i], sizeof(text[i]));
        if (total > 0)
            snprintf(share, sizeof(share), "%.2f%%", 100 * a->seconds / total);
    }
    gp_text_addf(t->out, "%16s %8s %9s %9" PRIu64 " %9s %9s %9s  %s\n",
                 first ? "GPU activities:" : "", share, text[0], a->calls, text[1], text[2],
                 text[3], a->name);
}

static void add_time_csv(const struct tables *t, const struct activity *a, double total)
{
    const char *of_all = t->view->unit ? t->view->unit : "ms";
    const char *of_one = t->view->unit ? t->view->unit : "us";
    gp_text_add(t->out, "\"GPU activities\",");
    if (a->timed && total > 0)
        gp_text_addf(t->out, "%.6f", 100 * a->seconds / total);
    if (a->timed)
        gp_text_addf(t->out, ",%.6f,%" PRIu64 ",%.6f,%.6f,%.6f,",
                     gp_nvprof_time_in(a->seconds, of_all), a->calls,
                     gp_nvprof_time_in(a->mean, of_one), gp_nvprof_time_in(a->min, of_one),
                     gp_nvprof_time_in(a->max, of_one));
    else
        gp_text_addf(t->out, ",,%" PRIu64 ",,,,", a->calls);
    gp_csv_text(a->name, t->out);
    gp_text_add(t->out, "\n");
}

static void add_time_heading(const struct tables *t)
{
    add_title(t, "Profiling result");
    if (!t->view->csv) {
        gp_text_addf(t->out, "%16s %8s %9s %9s %9s %9s %9s  %s\n", "Type", "Time(%)", "Time",
                     "Calls", "Avg", "Min", "Max", "Name");
        return;
    }
    const char *of_all = t->view->unit ? t->view->unit : "ms";
    const char *of_one = t->view->unit ? t->view->unit : "us";
    gp_text_add(t->out, "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\","
                        "\"Name\"\n");
    gp_text_addf(t->out, ",%%,%s,,%s,%s,%s,\n", of_all, of_one, of_one, of_one);
}

static int by_time(const void *x, const void *y)
{
    const struct activity *a = x, *b = y;
    if (a->seconds != b->seconds)
        return a->seconds < b->seconds ? 1 : -1;
    return strcmp(a->name, b->name);
}

static void add_times(const struct tables *t)
{
    int duration = duration_of(t);
    struct activity *all = calloc(t->count + GP_COPY_KINDS + 1, sizeof(*all));
    char names[GP_COPY_KINDS][32];
    double total = 0;
    size_t count = 0;
    if (!all) {
        t->out->failed = true;
        return;
    }
    for (size_t i = 0; duration >= 0 && i < t->count; i++)
        all[count++] = activity_of(&t->kernels[i], duration);
    for (int i = 0; t->run->copies && i < GP_COPY_KINDS; i++) {
        snprintf(names[i], sizeof(names[i]), "[CUDA %s]", gp_copies_name(i));
        if (t->run->copies[i].calls > 0)
            all[count++] = activity_of_copies(&t->run->copies[i], names[i]);
    }
    for (size_t i = 0; i < count; i++)
        total += all[i].seconds;
    if (count > 0) {
        qsort(all, count, sizeof(*all), by_time);
        add_time_heading(t);
    }
    for (size_t i = 0; i < count; i++) {
        if (t->view->csv)
            add_time_csv(t, &all[i], total);
        else
            add_time_line(t, &all[i], total, i == 0);
    }
    free(all);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void add_tables(const struct tables *t)
{
    if (t->run->command) {
        gp_text_addf(t->out, "==%ld== Profiling application: ", t->run->pid);
        if (t->view->csv)
            gp_csv_line(t->run->command, t->out);
        else
            gp_text_add(t->out, t->run->command);
        gp_text_add(t->out, "\n");
    }
    if (t->view->times)
        add_times(t);
    if (t->count == 0) {
        gp_text_addf(t->out, "==%ld== No kernels were profiled.\n", t->run->pid);
        return;
    }
    for (int events = 1; t->view->metrics && events >= 0; events--) {
        if (!any_shown(t, events))
            continue;
        if (t->view->csv)
            add_results_csv(t, events);
        else
            add_results(t, events);
    }
}

void gp_nvprof_tables(const struct gp_summary *s, const struct gp_view *view,
                      const struct gp_nvprof_run *run, struct gp_text *out)
{
    struct tables t = {
        .summary = s, .metrics = gp_summary_metrics(s), .view = view, .run = run, .out = out};
    struct gp_plain_numbers plain;
    gp_plain_numbers_begin(&plain);
    if (find_kernels(&t))
        add_tables(&t);
    else
        out->failed = true;
    for (size_t i = 0; t.kernels && i < t.count; i++) {
        free(t.kernels[i].stats);
        free(t.kernels[i].name);
    }
    free(t.kernels);
    gp_plain_numbers_end(&plain);
}
