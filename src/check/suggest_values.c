#include "check/suggest_values.h"

#include <stdlib.h>
#include <string.h>

/* Launches of one kernel and run of which the times are kept. */
#define MOST_TIMES 128

/* One number a run where launches vary: a single odd launch breaks no bound then. */
const struct gp_suggested_rule gp_suggested_rules[] = {
    [GP_SUGGEST_TIME] = {"median", "duration"},
    [GP_SUGGEST_TOTAL_TIME] = {"total", "duration"},
    [GP_SUGGEST_OTHERS] = {"avg", "achieved_occupancy"},
    {"", "gld_efficiency"},
    {"", "gst_efficiency"},
    {"", "shared_efficiency"},
    {"", "warp_execution_efficiency"},
    {"", "gld_transactions"},
    {"", "gst_transactions"},
    {"", "gld_requested_bytes"},
    {"", "gst_requested_bytes"},
    {"avg", "dram_read_bytes"},
    {"avg", "dram_write_bytes"},
    {"avg", "tensor_utilization"},
    {NULL, NULL},
};
_Static_assert(sizeof(gp_suggested_rules) / sizeof(gp_suggested_rules[0]) <= GP_SUGGEST_MOST,
               "a run has values of each");

static bool parse_rules(struct gp_suggest_values *v, struct gp_text *problems)
{
    struct gp_text text = {0};
    gp_text_add(&text, "[*]\n");
    for (size_t i = 0; gp_suggested_rules[i].metric; i++) {
        const struct gp_metric *metric = gp_metrics_find(v->metrics, gp_suggested_rules[i].metric);
        gp_text_addf(&text, "%s %s <= 0 %s\n", gp_suggested_rules[i].aggregate,
                     gp_suggested_rules[i].metric, metric ? metric->unit : "");
    }
    if (!text.failed)
        v->rules =
            gp_thresholds_parse("proposed rules", text.data, text.length, v->metrics, problems);
    gp_text_free(&text);
    return v->rules != NULL;
}

static struct gp_suggest_kernel *kernel_of(struct gp_suggest_values *v, const char *name)
{
    struct gp_suggest_kernel *k = NULL;
    HASH_FIND_STR(v->kernels, name, k);
    if (k)
        return k;
    k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->name = strdup(name);
    if (k->name) {
        HASH_ADD_KEYPTR(hh, v->kernels, k->name, strlen(k->name), k);
        if (k->hh.tbl)
            return k;
    }
    free(k->name);
    free(k);
    return NULL;
}

static struct gp_kernel_run *begin_run(struct gp_suggest_kernel *k, const struct gp_summed *s)
{
    /* Room for 1, 2, 4, ... */
    if ((k->run_count & (k->run_count - 1)) == 0) {
        size_t more = k->run_count ? k->run_count * 2 : 1;
        struct gp_kernel_run *runs = realloc(k->runs, more * sizeof(*runs));
        if (!runs)
            return NULL;
        k->runs = runs;
    }
    struct gp_kernel_run *run = &k->runs[k->run_count++];
    *run = (struct gp_kernel_run){.launches = s->launches,
                                  .configurations = s->configurations,
                                  .composition = s->composition};
    return run;
}

/* The middle of each of so many equal parts where there are more. */
static bool keep_seconds(struct gp_kernel_run *run, const struct gp_values *values)
{
    size_t count = values->kept_count < MOST_TIMES ? values->kept_count : MOST_TIMES;
    if (count == 0)
        return true;
    run->seconds = malloc(count * sizeof(*run->seconds));
    if (!run->seconds)
        return false;
    for (size_t i = 0; i < count; i++)
        run->seconds[i] = values->kept[(2 * i + 1) * values->kept_count / (2 * count)];
    run->seconds_count = count;
    return true;
}

static struct gp_rule_values values_of(const struct gp_summed *s)
{
    const struct gp_values *values = s->values;
    if (values->count == 0)
        return (struct gp_rule_values){.absent = s->absent};
    return (struct gp_rule_values){
        .count = values->count,
        .value = s->value,
        .least = values->min,
        .most = values->max,
        .spread = gp_values_deviation(values),
        .absent = s->absent,
    };
}

/* The rules of a kernel come in their order. */
static void take(void *user, const struct gp_summed *s)
{
    struct gp_suggest_values *v = user;
    size_t rule = (size_t)(s->rule - v->rules->sections[0].rules);
    struct gp_suggest_kernel *k = kernel_of(v, s->kernel);
    struct gp_kernel_run *run = !k                 ? NULL
                                : rule == 0        ? begin_run(k, s)
                                : k->run_count > 0 ? &k->runs[k->run_count - 1]
                                                   : NULL;
    if (!run) {
        v->failed = true;
        return;
    }
    run->of[rule] = values_of(s);
    if (rule == GP_SUGGEST_TIME && !keep_seconds(run, s->values))
        v->failed = true;
}

bool gp_suggest_values_open(struct gp_suggest_values *v, struct gp_metrics *m,
                            struct gp_text *problems)
{
    *v = (struct gp_suggest_values){.metrics = m};
    if (parse_rules(v, problems))
        v->judge = gp_judge_new(v->rules, m);
    if (v->judge)
        gp_judge_observe(v->judge, take, v);
    else if (problems->length == 0)
        gp_text_add(problems, "out of memory\n");
    return v->judge != NULL;
}

bool gp_suggest_values_finish(struct gp_suggest_values *v)
{
    v->failed |= !gp_judge_end(v->judge);
    return !v->failed;
}

static void free_kernel(struct gp_suggest_kernel *k)
{
    for (size_t i = 0; i < k->run_count; i++)
        free(k->runs[i].seconds);
    free(k->runs);
    free(k->name);
    free(k);
}

void gp_suggest_values_free(struct gp_suggest_values *v)
{
    struct gp_suggest_kernel *k, *next;
    HASH_ITER(hh, v->kernels, k, next)
    {
        HASH_DEL(v->kernels, k);
        free_kernel(k);
    }
    gp_judge_free(v->judge);
    gp_thresholds_free(v->rules);
    *v = (struct gp_suggest_values){0};
}
