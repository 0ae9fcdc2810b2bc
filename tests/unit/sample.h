/* A launch of an H200 whose counters each test changes: one row of 1 ms, bound by nothing. */
#ifndef GPUPROF_TESTS_SAMPLE_H
#define GPUPROF_TESTS_SAMPLE_H

#include "profile/record.h"

#include "h200.h"
#include "shipped.h"

#include <string.h>

struct sample {
    struct gp_counter counters[112];
    struct gp_record launch;
};

static double *counter(struct sample *s, const char *name)
{
    for (size_t i = 0; i < s->launch.counter_count; i++)
        if (strcmp(s->counters[i].name, name) == 0)
            return &s->counters[i].value;
    fail_msg("no counter %s", name);
    return NULL;
}

static void set(struct sample *s, const char *name, double value)
{
    *counter(s, name) = value;
}

/* One that its list has not. */
static inline void add(struct sample *s, const char *name, double value)
{
    assert_true(s->launch.counter_count < sizeof(s->counters) / sizeof(s->counters[0]));
    s->counters[s->launch.counter_count++] = (struct gp_counter){.name = name, .value = value};
}

#define CYCLES 1.8e6 /* of a millisecond */
#define SMS 132.0

/* The shipped definitions with these metrics selected. */
static struct gp_metrics *selected(const char *list)
{
    struct gp_text problems = {0};
    struct gp_metrics *m = shipped();
    assert_true(gp_metrics_select(m, list, &problems));
    return m;
}

/* Every counter of these metrics is 0 but those that cannot be. */
static void make_sample_of(struct sample *s, const char *kernel, const char *list)
{
    static struct gp_metrics *metrics[2]; /* keep the names, for all tests */
    bool is_default = strcmp(list, "default") == 0;
    if (!metrics[is_default])
        metrics[is_default] = selected(list);
    const char **names;
    size_t count;
    *s = (struct sample){.launch = {.kernel = kernel,
                                    .grid = {132 * 80, 1, 1},
                                    .block = {256, 1, 1},
                                    .registers = 32,
                                    .shared_carveout = -1,
                                    .passes = 2,
                                    .counters = s->counters}};
    assert_true(gp_metrics_counters(metrics[is_default], &h200, &names, &count));
    assert_true(count <= sizeof(s->counters) / sizeof(s->counters[0]));
    for (size_t i = 0; i < count; i++)
        s->counters[i] = (struct gp_counter){.name = names[i]};
    s->launch.counter_count = count;
    free(names);
    set(s, "gpu__time_duration.sum", 1e6);
    set(s, "gpc__cycles_elapsed.max", CYCLES);
    set(s, "gpc__cycles_elapsed.avg.per_second", CYCLES * 1e3);
    set(s, "sm__cycles_active.avg", CYCLES);
    set(s, "sm__cycles_active.max", CYCLES);
    set(s, "sm__warps_active.avg.pct_of_peak_sustained_active", 90);
    set(s, "smsp__inst_executed.sum", 0.2 * 4 * SMS * CYCLES);
    set(s, "smsp__thread_inst_executed.sum", 32 * 0.2 * 4 * SMS * CYCLES);
    set(s, "smsp__thread_inst_executed_pred_on.sum", 32 * 0.2 * 4 * SMS * CYCLES);
}

static void make_sample(struct sample *s, const char *kernel)
{
    make_sample_of(s, kernel, "default");
}

#endif
