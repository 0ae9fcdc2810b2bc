#include "check/fold.h"

#include "base/demangle.h"
#include "base/hash.h"
#include "check/counters.h"
#include "check/values.h"
#include "profile/devices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The run at hand of one subject. */
struct group {
    UT_hash_handle hh;
    size_t subject;             /* its index in the side */
    uint64_t recorded, counted; /* of the process at hand */
    uint64_t launches;          /* of the run's processes that are over */
    uint64_t seen, stride;      /* one in `stride` launches is evaluated */
    size_t evaluated;
    struct gp_values *values; /* one per metric; NULL while the run has none */
    size_t key_length;
    char key[];
};

struct gp_fold {
    const struct gp_metrics *metrics;
    struct gp_side *side;
    struct gp_devices devices; /* of the process at hand */
    struct gp_renaming renaming;
    struct group *groups;
    bool in_run, failed;
    uint64_t left_out;
    char *key; /* scratch */
    size_t key_capacity;
};

struct gp_fold *gp_fold_new(const struct gp_metrics *m, struct gp_side *side)
{
    struct gp_fold *f = calloc(1, sizeof(*f));
    size_t count = gp_metrics_selected_count(m);
    const char **names = calloc(count + 1, sizeof(*names));
    for (size_t i = 0; names && i < count; i++)
        names[i] = gp_metrics_selected(m, i)->name;
    bool made = f && names && gp_side_set_metrics(side, names, count);
    free(names);
    if (!made) {
        free(f);
        return NULL;
    }
    f->metrics = m;
    f->side = side;
    return f;
}

/* ---- groups ---- */

static bool make_key(struct gp_fold *f, const struct gp_configuration *c, const char *kernel,
                     size_t *length)
{
    *length = sizeof(*c) + strlen(kernel);
    if (*length > f->key_capacity) {
        char *key = realloc(f->key, *length * 2);
        if (!key)
            return false;
        f->key = key;
        f->key_capacity = *length * 2;
    }
    memcpy(f->key, c, sizeof(*c));
    memcpy(f->key + sizeof(*c), kernel, *length - sizeof(*c));
    return true;
}

static bool new_subject(struct gp_fold *f, const struct gp_configuration *c, const char *kernel)
{
    char *name = gp_demangle(kernel, GP_NAME_FULL);
    struct gp_side_kernel *s = name ? gp_side_add(f->side, name) : NULL;
    free(name);
    if (!s)
        return false;
    s->configuration = *c;
    return true;
}

static struct group *new_group(struct gp_fold *f, const struct gp_configuration *c,
                               const char *kernel, size_t length)
{
    struct group *g = calloc(1, sizeof(*g) + length);
    if (!g || !new_subject(f, c, kernel)) {
        free(g);
        return NULL;
    }
    g->subject = f->side->count - 1;
    g->stride = 1;
    g->key_length = length;
    memcpy(g->key, f->key, length);
    HASH_ADD_KEYPTR(hh, f->groups, g->key, length, g);
    if (g->hh.tbl)
        return g;
    free(g);
    return NULL;
}

static struct group *group_of(struct gp_fold *f, const struct gp_configuration *c,
                              const char *kernel)
{
    size_t length;
    struct group *g = NULL;
    if (!make_key(f, c, kernel, &length)) {
        f->failed = true;
        return NULL;
    }
    HASH_FIND(hh, f->groups, f->key, length, g);
    if (g)
        return g;
    if (f->side->count >= GP_MOST_SUBJECTS) {
        f->left_out++;
        return NULL;
    }
    g = new_group(f, c, kernel, length);
    f->failed |= !g;
    return g;
}

/* ---- launches ---- */

static void note_absence(struct gp_series *series, const struct gp_absence *absence)
{
    if (series->absent)
        return;
    series->absent = strdup(absence->text);
    series->absent_cause = absence->cause;
    series->absent_named = absence->named;
}

static void add_values(struct gp_fold *f, struct group *g, const struct gp_record *launch)
{
    struct gp_side_kernel *s = &f->side->subjects[g->subject];
    const struct gp_device *device = gp_devices_get(&f->devices, launch->device);
    for (size_t i = 0; i < f->side->metric_count; i++) {
        struct gp_absence absence = gp_no_device_facts;
        double value;
        if (device && gp_metric_evaluate(gp_metrics_selected(f->metrics, i), device, launch, &value,
                                         &absence))
            gp_values_add(&g->values[i], value);
        else
            note_absence(&s->series[i], &absence);
    }
    g->evaluated++;
}

/* Once so many are evaluated, every second one of them is forgotten, and of those to come half as
 * many are evaluated. */
static void thin_out(struct gp_fold *f, struct group *g)
{
    for (size_t i = 0; i < f->side->metric_count; i++)
        gp_values_halve(&g->values[i]);
    g->evaluated /= 2;
    g->stride *= 2;
}

static bool begin_values(struct gp_fold *f, struct group *g)
{
    if (g->values)
        return true;
    g->values = calloc(f->side->metric_count + 1, sizeof(*g->values));
    for (size_t i = 0; g->values && i < f->side->metric_count; i++)
        g->values[i].most = 2 * GP_FOLD_LAUNCHES;
    return g->values != NULL;
}

static void note_facts(struct gp_side_kernel *s, const struct gp_record *launch)
{
    s->shared_static = launch->shared_static;
    s->registers = launch->registers;
    s->local_bytes = launch->local_bytes;
}

void gp_fold_launch(struct gp_fold *f, const struct gp_record *launch)
{
    struct group *g = group_of(f, &launch->configuration, launch->kernel);
    if (!g)
        return;
    if (g->recorded++ == 0)
        note_facts(&f->side->subjects[g->subject], launch);
    /* Launches that were passed over say nothing of the kernel. */
    if ((launch->counter_count == 0 && launch->skipped.cause) || g->seen++ % g->stride != 0)
        return;
    struct gp_record renamed;
    if (!begin_values(f, g) || !gp_rename_counters(&f->renaming, f->metrics, launch, &renamed)) {
        f->failed = true;
        return;
    }
    add_values(f, g, &renamed);
    size_t most = f->side->count > GP_FOLD_MANY ? GP_FOLD_LAUNCHES_OF_MANY : GP_FOLD_LAUNCHES;
    while (g->evaluated >= most)
        thin_out(f, g);
}

void gp_fold_count(struct gp_fold *f, const struct gp_count *count)
{
    struct group *g =
        count->reason.cause ? NULL : group_of(f, &count->configuration, count->kernel);
    if (g)
        g->counted += count->launches;
}

void gp_fold_device(struct gp_fold *f, const struct gp_device *device)
{
    if (!gp_devices_add(&f->devices, device))
        return;
    struct gp_device *known = &f->side->origin.device;
    if (!known->name[0])
        *known = *device;
    else if (strcmp(known->name, device->name) != 0)
        f->side->several_models = true;
}

static bool is_of_kernel(const struct group *g, const char *kernel, size_t length)
{
    return g->key_length == sizeof(struct gp_configuration) + length &&
           memcmp(g->key + sizeof(struct gp_configuration), kernel, length) == 0;
}

void gp_fold_source(struct gp_fold *f, const char *kernel, const char *file, int line)
{
    size_t length = strlen(kernel);
    for (struct group *g = f->groups; g; g = g->hh.next) {
        struct gp_side_kernel *s = &f->side->subjects[g->subject];
        if (s->source || !is_of_kernel(g, kernel, length))
            continue;
        s->source = strdup(file);
        s->source_line = line;
    }
}

void gp_fold_code(struct gp_fold *f, const char *kernel, const struct gp_code_mark *code)
{
    size_t length = strlen(kernel);
    for (struct group *g = f->groups; g; g = g->hh.next) {
        struct gp_side_kernel *s = &f->side->subjects[g->subject];
        if (!s->code.hash[0] && is_of_kernel(g, kernel, length))
            s->code = *code;
    }
}

/* ---- the ends of processes and runs ---- */

static void end_process(struct gp_fold *f)
{
    for (struct group *g = f->groups; g; g = g->hh.next) {
        g->launches += g->counted > g->recorded ? g->counted : g->recorded;
        g->counted = g->recorded = 0;
    }
    gp_devices_forget(&f->devices);
}

/* 1.4826 times the median distance from the median: the standard deviation, were they normal. */
static double robust_deviation(double *sorted, size_t count, double median)
{
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(sorted[i] - median);
    gp_sort_numbers(sorted, count);
    return 1.4826 * gp_median(sorted, count);
}

static bool end_series(struct gp_series *series, struct gp_values *values)
{
    gp_values_sort(values);
    double median = gp_median(values->kept, values->kept_count);
    double spread = robust_deviation(values->kept, values->kept_count, median);
    if (series->runs == 0 || values->min < series->min)
        series->min = values->min;
    if (series->runs == 0 || values->max > series->max)
        series->max = values->max;
    /* The mean over the runs. */
    series->spread += (spread - series->spread) / (double)(series->runs + 1);
    series->launches += values->count;
    return gp_series_add_run(series, median);
}

static void end_group(struct gp_fold *f, struct group *g)
{
    struct gp_side_kernel *s = &f->side->subjects[g->subject];
    s->launches += g->launches;
    s->runs += g->launches > 0;
    for (size_t i = 0; g->values && i < f->side->metric_count; i++) {
        if (g->values[i].kept_count > 0 && !end_series(&s->series[i], &g->values[i]))
            f->failed = true;
        gp_values_free(&g->values[i]);
    }
    free(g->values);
    g->values = NULL;
    g->launches = g->seen = 0;
    g->evaluated = 0;
    g->stride = 1;
}

static void end_run(struct gp_fold *f)
{
    end_process(f);
    if (!f->in_run)
        return;
    for (struct group *g = f->groups; g; g = g->hh.next)
        end_group(f, g);
    f->in_run = false;
}

void gp_fold_run(struct gp_fold *f)
{
    end_run(f);
    f->in_run = true;
    f->side->runs++;
}

void gp_fold_process(struct gp_fold *f, const char *gpuprof_version)
{
    end_process(f);
    snprintf(f->side->origin.gpuprof, sizeof(f->side->origin.gpuprof), "%s", gpuprof_version);
}

void gp_fold_window(struct gp_fold *f, const char *window)
{
    struct gp_side_origin *origin = &f->side->origin;
    char now[sizeof(origin->window)];
    snprintf(now, sizeof(now), "%s", window ? window : "");
    if (origin->window_known && strcmp(origin->window, now) != 0)
        snprintf(now, sizeof(now), "%s", GP_SEVERAL_WINDOWS);
    memcpy(origin->window, now, sizeof(now));
    origin->window_known = true;
}

bool gp_fold_finish(struct gp_fold *f, char *why, size_t why_size)
{
    end_run(f);
    bool whole = !f->failed && f->left_out == 0;
    if (f->failed)
        snprintf(why, why_size, "out of memory");
    else if (f->left_out > 0)
        snprintf(why, why_size, "more than %d kernels and configurations", GP_MOST_SUBJECTS);
    struct group *g, *next;
    HASH_ITER(hh, f->groups, g, next)
    {
        HASH_DEL(f->groups, g);
        free(g);
    }
    gp_side_sort(f->side);
    gp_renaming_free(&f->renaming);
    free(f->key);
    free(f);
    return whole;
}
