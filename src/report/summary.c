#include "report/summary.h"

#include "base/hash.h"
#include "metrics/program.h"
#include "metrics/weight.h"
#include "profile/devices.h"
#include "profile/kinds.h"
#include "report/confidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_REASONS 1024
/* Seconds that the shortest kernels take, about. */
#define SHORTEST_TIME 2e-6
struct reason {
    UT_hash_handle hh;
    char text[];
};

struct hashed_group {
    struct gp_group group; /* first: a struct gp_group * is a struct hashed_group * */
    UT_hash_handle hh;
    size_t key_length;
    char *key; /* the shape, then the kernel's name with its NUL */
};

struct hashed_skip {
    struct gp_skip skip;
    UT_hash_handle hh;
    size_t key_length;
    char *key; /* the kernel's name, NUL, the reason, NUL */
};

struct gp_summary {
    const struct gp_metrics *metrics;
    size_t metric_count;
    struct gp_settings settings;
    char *sample;            /* the settings' string */
    char *overhead, *window; /* the same, of the first process that has it */
    struct gp_devices devices;
    struct gp_program *programs[GP_MAX_DEVICES];
    struct gp_wanted wanted[GP_MAX_DEVICES]; /* where launches are counted in part */
    struct hashed_group *groups;             /* hash and, in order of insertion, list */
    struct hashed_group **group_list;
    size_t group_count;
    struct hashed_skip *skips;
    struct hashed_skip **skip_list;
    size_t skip_count;
    struct reason *reasons;
    struct gp_text key;   /* scratch */
    struct gp_group rest; /* launches that found no group: how many were measured, and how */
    uint64_t ungrouped_recorded, ungrouped_counted, other_skips;
    double added_seconds;      /* of processes whose end is known */
    struct gp_running running; /* of the processes that began and of those whose end is known: */
    unsigned begun, ended;
    struct gp_windows windows; /* the same, without the rule: */
    unsigned windows_begun, windows_ended;
    struct gp_limits limits; /* without the rule and the launches */
    struct gp_host host;     /* of processes that have it at their end: */
    unsigned hosts_ended;
    bool used[GP_MAX_DEVICES];        /* by the process whose lines come */
    uint64_t streams[GP_MAX_DEVICES]; /* its first of each device, plus 1 */
    bool has_streams;
    struct gp_whole_times graphs; /* without the kernel */
    char *graph_kernel;           /* of the graph that took most time */
    double most_of_graph;         /* seconds of that one */
    struct gp_followed *followed;
    size_t followed_count, followed_capacity;
};

/* Two groups each. */
#define MOST_FOLLOWED ((size_t)4096)

/* The key by which launches of one kernel are alike. No padding: it is compared bytewise. */
struct shape {
    int device;
    struct gp_configuration configuration;
};

struct gp_summary *gp_summary_new(const struct gp_metrics *m)
{
    struct gp_summary *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->metrics = m;
    s->metric_count = gp_metrics_selected_count(m);
    s->group_list = calloc(GP_SUMMARY_MAX_GROUPS, sizeof(*s->group_list));
    s->skip_list = calloc(GP_SUMMARY_MAX_SKIPS, sizeof(*s->skip_list));
    if (s->group_list && s->skip_list)
        return s;
    gp_summary_free(s);
    return NULL;
}

static void free_group(struct hashed_group *g)
{
    free(g->group.stats);
    free(g->group.means);
    free(g->key);
    free(g);
}

void gp_summary_free(struct gp_summary *s)
{
    if (!s)
        return;
    HASH_CLEAR(hh, s->groups);
    for (size_t i = 0; i < s->group_count; i++)
        free_group(s->group_list[i]);
    HASH_CLEAR(hh, s->skips);
    for (size_t i = 0; i < s->skip_count; i++) {
        free(s->skip_list[i]->key);
        free(s->skip_list[i]);
    }
    struct reason *r, *next;
    HASH_ITER(hh, s->reasons, r, next)
    {
        HASH_DEL(s->reasons, r);
        free(r);
    }
    for (size_t i = 0; i < GP_MAX_DEVICES; i++) {
        gp_wanted_free(&s->wanted[i]);
        gp_program_free(s->programs[i]);
    }
    free(s->sample);
    free(s->overhead);
    free(s->window);
    free(s->graph_kernel);
    free(s->followed);
    free(s->group_list);
    free(s->skip_list);
    gp_text_free(&s->key);
    free(s);
}

static char *copy_of(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* A process that has come to no end counts its launches no more. */
static void keep_counts(struct gp_summary *s)
{
    for (size_t i = 0; i < s->group_count; i++) {
        struct gp_group *group = &s->group_list[i]->group;
        group->counted += group->counted_so_far;
        group->counted_so_far = 0;
    }
}

void gp_summary_settings(struct gp_summary *s, const struct gp_settings *settings)
{
    free(s->sample);
    s->sample = copy_of(settings->sample);
    if (!s->window)
        s->window = copy_of(settings->window);
    if (!s->overhead)
        s->overhead = copy_of(settings->overhead);
    s->windows_begun += settings->window != NULL;
    s->settings = *settings;
    s->settings.sample = s->sample;
    s->settings.overhead = s->overhead;
    s->settings.window = s->window;
    s->begun++;
    for (size_t i = 0; i < GP_MAX_DEVICES; i++)
        if (s->programs[i])
            gp_program_forget_names(s->programs[i]);
    keep_counts(s);
    memset(s->used, 0, sizeof(s->used));
    memset(s->streams, 0, sizeof(s->streams));
}

void gp_summary_device(struct gp_summary *s, const struct gp_device *device)
{
    gp_devices_add(&s->devices, device);
}

const struct gp_device *gp_summary_get_device(const struct gp_summary *s, int ordinal)
{
    return gp_devices_get(&s->devices, ordinal);
}

/* Every text is kept once, and no more than so many; NULL beyond. */
static const char *keep_text(struct gp_summary *s, const char *text)
{
    size_t length = strlen(text);
    struct reason *r = NULL;
    HASH_FIND(hh, s->reasons, text, length, r);
    if (r)
        return r->text;
    if (HASH_COUNT(s->reasons) >= MOST_REASONS)
        return NULL;
    r = calloc(1, sizeof(*r) + length + 1);
    if (!r)
        return NULL;
    memcpy(r->text, text, length);
    HASH_ADD_KEYPTR(hh, s->reasons, r->text, length, r);
    if (r->hh.tbl)
        return r->text;
    free(r);
    return NULL;
}

static struct gp_reason keep_reason(struct gp_summary *s, struct gp_reason reason)
{
    const char *text = keep_text(s, reason.text);
    return text ? (struct gp_reason){reason.cause, text} : GP_REASON(OTHER);
}

static struct gp_reason keep_in(void *summary, struct gp_reason reason)
{
    return keep_reason(summary, reason);
}

/* The counters that launches have in turns; NULL where there is nothing to combine. */
static const struct gp_wanted *wanted_on(struct gp_summary *s, int ordinal)
{
    const struct gp_device *device = gp_summary_get_device(s, ordinal);
    if (!device)
        return NULL;
    struct gp_wanted *wanted = &s->wanted[ordinal];
    if (!wanted->names && !gp_wanted_find(wanted, s->metrics, device))
        gp_wanted_free(wanted);
    return wanted->count > 0 ? wanted : NULL;
}

/* Returns a copy of the key in s->key, NULL when out of memory. */
static char *copy_key(const struct gp_summary *s)
{
    char *copy = s->key.failed ? NULL : malloc(s->key.length);
    return copy ? memcpy(copy, s->key.data, s->key.length) : NULL;
}

static void keep_launch(struct hashed_group *g, const struct gp_record *launch)
{
    g->group.launch = *launch;
    g->group.launch.kernel = g->key + sizeof(struct shape);
    g->group.launch.skipped = GP_NO_REASON;
    g->group.launch.counters = NULL;
    g->group.launch.counter_count = 0;
}

static struct hashed_group *new_group(struct gp_summary *s, const struct gp_record *launch)
{
    struct hashed_group *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    g->key_length = s->key.length;
    g->key = copy_key(s);
    g->group.stats = calloc(s->metric_count + 1, sizeof(*g->group.stats));
    if (g->key && g->group.stats) {
        keep_launch(g, launch);
        HASH_ADD_KEYPTR(hh, s->groups, g->key, g->key_length, g);
        if (g->hh.tbl) {
            s->group_list[s->group_count++] = g;
            return g;
        }
    }
    free_group(g);
    return NULL;
}

static struct gp_group *group_of(struct gp_summary *s, const struct gp_record *launch)
{
    const struct shape shape = {.device = launch->device, .configuration = launch->configuration};
    gp_text_clear(&s->key);
    gp_text_add_bytes(&s->key, (const char *)&shape, sizeof(shape));
    gp_text_add_bytes(&s->key, launch->kernel, strlen(launch->kernel) + 1);
    if (s->key.failed)
        return NULL;

    struct hashed_group *g = NULL;
    HASH_FIND(hh, s->groups, s->key.data, s->key.length, g);
    if (!g && s->group_count < GP_SUMMARY_MAX_GROUPS)
        g = new_group(s, launch);
    else if (g && launch->index < g->group.launch.index)
        keep_launch(g, launch);
    return g ? &g->group : NULL;
}

static struct gp_group *known_group(const struct gp_summary *s, const struct gp_record *l)
{
    const struct shape shape = {.device = l->device, .configuration = l->configuration};
    struct gp_text key = {0};
    struct hashed_group *g = NULL;
    gp_text_add_bytes(&key, (const char *)&shape, sizeof(shape));
    gp_text_add_bytes(&key, l->kernel, strlen(l->kernel) + 1);
    if (!key.failed)
        HASH_FIND(hh, s->groups, key.data, key.length, g);
    gp_text_free(&key);
    return g ? &g->group : NULL;
}

static void count_skips(struct gp_summary *s, const char *kernel, struct gp_reason reason,
                        uint64_t launches)
{
    size_t kernel_length = strlen(kernel) + 1;
    gp_text_clear(&s->key);
    gp_text_add_bytes(&s->key, kernel, kernel_length);
    gp_text_add_bytes(&s->key, reason.text, strlen(reason.text) + 1);
    struct hashed_skip *k = NULL;
    if (!s->key.failed)
        HASH_FIND(hh, s->skips, s->key.data, s->key.length, k);
    if (!k && !s->key.failed && s->skip_count < GP_SUMMARY_MAX_SKIPS) {
        k = calloc(1, sizeof(*k));
        if (k && (k->key = copy_key(s))) {
            k->key_length = s->key.length;
            k->skip.kernel = k->key;
            k->skip.reason = (struct gp_reason){reason.cause, k->key + kernel_length};
            HASH_ADD_KEYPTR(hh, s->skips, k->key, k->key_length, k);
        }
        if (k && k->hh.tbl) {
            s->skip_list[s->skip_count++] = k;
        } else if (k) {
            free(k->key);
            free(k);
            k = NULL;
        }
    }
    if (k)
        k->skip.launches += launches;
    else
        s->other_skips += launches;
}

/* The limit leaves launches out by choice. */
static void count_passed_over(struct gp_group *group, enum gp_cause why, uint64_t launches)
{
    if (group && why != GP_CAUSE_ADDED_LIMIT)
        group->passed_over += launches;
}

static void count_work(struct gp_group *group, const struct gp_record *launch)
{
    const struct gp_kinds kinds = gp_launch_kinds(launch);
    group->measured += kinds.measured;
    group->hardware += kinds.hardware;
    group->instrumented += kinds.instrumented;
    group->recalled += kinds.recalled;
    group->recalled_all += kinds.recalled_all;
    group->of_graphs += launch->graph != 0;
    group->replays += launch->passes > 1 ? launch->passes - 1 : 0;
    group->overhead_ms += launch->overhead_ms;
}

struct gp_reason gp_stat_absence(const struct gp_stat *stat)
{
    return gp_reason_or(stat->absent, GP_REASON(NOT_MEASURED));
}

struct gp_reason gp_stat_plain_absence(const struct gp_stat *stat)
{
    struct gp_reason reason = gp_stat_absence(stat);
    reason.text += stat->absent.cause ? stat->named : 0;
    return reason;
}

bool gp_stat_is_of_few(const struct gp_stat *stat)
{
    return stat->absent_count > 0 && stat->absent.cause == GP_CAUSE_NOT_MEASURED;
}

bool gp_stat_mean(const struct gp_stat *stat, double *mean)
{
    if (stat->count == 0)
        return false;
    *mean = stat->weight > 0 ? stat->weighted / stat->weight : stat->sum / (double)stat->count;
    return true;
}

static bool comes_first(struct gp_reason reason, struct gp_reason other)
{
    return reason.cause && (!other.cause || strcmp(reason.text, other.text) < 0);
}

void gp_stat_merge(struct gp_stat *into, const struct gp_stat *from, double times)
{
    if (from->count > 0) {
        if (into->count == 0 || from->min < into->min)
            into->min = from->min;
        if (into->count == 0 || from->max > into->max)
            into->max = from->max;
        into->squares += from->squares;
        into->sum += from->sum;
        into->count += from->count;
        into->weighted += times * from->weighted;
        into->weight += times * from->weight;
        into->combined |= from->combined;
    }
    into->absent_count += from->absent_count;
    if (comes_first(from->absent, into->absent)) {
        into->absent = from->absent;
        into->named = from->named;
    }
}

/* Its values are forgotten; the launches without one stay. */
static void drop_values(struct gp_stat *stat)
{
    *stat = (struct gp_stat){
        .absent_count = stat->absent_count, .absent = stat->absent, .named = stat->named};
}

/* A weight of NAN is not known. */
static void add_value(struct gp_stat *stat, double value, double weight)
{
    struct gp_stat one = {.count = 1, .min = value, .max = value, .sum = value};
    if (isfinite(weight)) {
        one.weighted = value * weight;
        one.weight = weight;
    }
    if (stat->combined)
        drop_values(stat);
    if (stat->count > 0) {
        const double n = (double)stat->count, off = value - stat->sum / n;
        one.squares = off * off * n / (n + 1);
    }
    gp_stat_merge(stat, &one, 1);
}

double gp_stat_error(const struct gp_stat *stat)
{
    if (stat->combined || stat->count < 2)
        return NAN;
    const double n = (double)stat->count;
    const double chance = gp_confidence_factor(n - 1) * sqrt(stat->squares / (n - 1) / n);
    return stat->doubt == 0 ? chance : hypot(chance, stat->doubt / stat->weight);
}

static void keep_absence(struct gp_summary *s, struct gp_stat *stat,
                         const struct gp_absence *absence)
{
    const char *text = keep_text(s, absence->text);
    stat->absent = text ? (struct gp_reason){absence->cause, text} : GP_REASON(OTHER);
    stat->named = text ? absence->named : 0;
}

static void add_absence(struct gp_summary *s, struct gp_stat *stat,
                        const struct gp_absence *absence)
{
    const struct gp_reason reason = {absence->cause, absence->text};
    /* Before the first there may be a reason of combine, which holds as long as there is no other.
     */
    if (stat->absent_count++ == 0 || comes_first(reason, stat->absent))
        keep_absence(s, stat, absence);
}

/* One value stands for all launches of the group that have a part of its counters. */
static struct gp_stat combined_stat(double value, double weight, uint64_t launches)
{
    struct gp_stat stat = {.combined = true,
                           .count = launches,
                           .min = value,
                           .max = value,
                           .sum = value * (double)launches};
    if (isfinite(weight)) {
        stat.weight = weight * (double)launches;
        stat.weighted = value * stat.weight;
    }
    return stat;
}

/* Computes the metrics that no launch of the group has all counters for. */
static void combine(struct gp_summary *s, struct gp_group *group, const struct gp_record *launch)
{
    const struct gp_wanted *wanted = wanted_on(s, launch->device);
    const struct gp_device *device = gp_summary_get_device(s, launch->device);
    if (gp_launch_is_in_part(launch))
        gp_means_add(group->means, wanted, launch, keep_in, s);
    struct gp_record mean = gp_means_launch(group->means, wanted, &group->launch);
    for (size_t i = 0; i < s->metric_count; i++) {
        struct gp_stat *stat = &group->stats[i];
        const struct gp_metric *metric = gp_metrics_selected(s->metrics, i);
        double value, weight;
        struct gp_absence absence;
        if (stat->count > 0 && !stat->combined)
            continue;
        stat->count = 0;
        stat->combined = false;
        if (gp_metric_evaluate(metric, device, &mean, &value, &absence)) {
            if (!gp_metric_weight(s->metrics, metric, device, &mean, &weight))
                weight = (double)NAN;
            *stat = combined_stat(value, weight, group->measured);
        } else if (stat->absent_count == 0) {
            keep_absence(s, stat, &absence);
        }
    }
}

/* Begins the means of launches that are counted in part: other launches have all values by
 * themselves. */
static void begin_means(struct gp_summary *s, struct gp_group *group,
                        const struct gp_record *launch)
{
    const struct gp_wanted *wanted = wanted_on(s, launch->device);
    if (wanted)
        group->means = calloc(wanted->count, sizeof(*group->means));
}

/* The index of the duration among the metrics; their count where it is not selected. */
static size_t duration_of(const struct gp_summary *s)
{
    size_t i = 0;
    while (i < s->metric_count &&
           strcmp(gp_metrics_selected(s->metrics, i)->name, GP_DURATION_METRIC) != 0)
        i++;
    return i;
}

/* Where the values of a launch go. */
struct adding {
    struct gp_summary *summary;
    struct gp_group *group;
    double doubt;    /* seconds by which its time may be too long */
    size_t duration; /* the index of that among the metrics */
    uint64_t index;  /* of the launch */
};

/* A time that may be less than half as long: of a first launch, say, at which the host took
 * milliseconds. Where others of the group are known it tells nothing; until then it is the best
 * there is. True where it is not to be added. */
static bool is_doubtful(struct gp_group *group, struct gp_stat *stat, double value, double doubt)
{
    const bool doubtful = doubt > value / 2;
    if (stat->count == 0)
        group->only_doubtful = doubtful;
    else if (group->only_doubtful && !doubtful) {
        drop_values(stat);
        group->only_doubtful = false;
        group->firsts.count = 0;
        group->firsts.sum = 0;
    }
    if (group->only_doubtful)
        group->doubtless += fmax(value - doubt, fmin(value, SHORTEST_TIME));
    return doubtful && !group->only_doubtful;
}

/* The launch with the least index of its process, in any order of launches. */
static void note_first(const struct adding *a, double seconds)
{
    const unsigned process = a->summary->begun;
    struct gp_group *group = a->group;
    const bool is_new = group->firsts.count == 0 || group->firsts.process != process;
    if (!is_new && a->index >= group->firsts.index)
        return;
    group->firsts.count += is_new;
    group->firsts.sum += seconds - (is_new ? 0 : group->firsts.seconds);
    group->firsts.process = process;
    group->firsts.index = a->index;
    group->firsts.seconds = seconds;
}

static void take_value(void *user, size_t i, double value, double weight,
                       const struct gp_absence *absence)
{
    struct adding *a = user;
    struct gp_stat *stat = &a->group->stats[i];
    if (!absence && i == a->duration && is_doubtful(a->group, stat, value, a->doubt))
        return;
    if (!absence && i == a->duration)
        note_first(a, value);
    if (!absence)
        add_value(stat, value, weight);
    else if (!a->group->means || !gp_cause_is_elsewhere(absence->cause))
        add_absence(a->summary, stat, absence);
}

static void evaluate(struct gp_summary *s, const struct gp_device *device,
                     const struct gp_record *launch, struct adding *adding)
{
    static const struct gp_absence no_memory = {.cause = GP_CAUSE_NO_MEMORY,
                                                .text = "out of memory"};
    struct gp_program **program = &s->programs[launch->device];
    if (!*program)
        *program = gp_program_new(s->metrics, device);
    if (*program)
        gp_program_run(*program, launch, take_value, adding);
    for (size_t i = 0; !*program && i < s->metric_count; i++)
        add_absence(s, &adding->group->stats[i], &no_memory);
}

static void add_metrics(struct gp_summary *s, struct gp_group *group,
                        const struct gp_record *launch)
{
    if (!group->means && gp_launch_is_in_part(launch))
        begin_means(s, group, launch);
    const struct gp_device *device = gp_summary_get_device(s, launch->device);
    struct adding adding = {.summary = s,
                            .group = group,
                            .doubt = launch->doubt_ms / 1e3,
                            .duration = duration_of(s),
                            .index = launch->index};
    if (device)
        evaluate(s, device, launch, &adding);
    for (size_t i = 0; !device && i < s->metric_count; i++)
        add_absence(s, &group->stats[i], &gp_no_device_facts);
    if (group->means)
        combine(s, group, launch);
}

/* Counts come at the end, or never; until then there are as many launches as were recorded, or as
 * sums say. */
static void note_launches(struct gp_group *group)
{
    const uint64_t counted = group->counted + group->counted_so_far;
    group->launches = counted > group->recorded ? counted : group->recorded;
}

static void note_device(struct gp_summary *s, int device)
{
    if (device >= 0 && device < GP_MAX_DEVICES)
        s->used[device] = true;
}

static void note_stream(struct gp_summary *s, const struct gp_record *launch)
{
    if (launch->device < 0 || launch->device >= GP_MAX_DEVICES)
        return;
    uint64_t *first = &s->streams[launch->device];
    *first = *first ? *first : launch->stream + 1;
    s->has_streams = s->has_streams || *first != launch->stream + 1;
}

void gp_summary_launch(struct gp_summary *s, const struct gp_record *launch)
{
    if (launch->skipped.cause)
        count_skips(s, launch->kernel, launch->skipped, 1);
    note_device(s, launch->device);
    note_stream(s, launch);
    struct gp_group *group = group_of(s, launch);
    count_work(group ? group : &s->rest, launch);
    if (!group) {
        s->ungrouped_recorded++;
        return;
    }
    group->recorded++;
    note_launches(group);
    /* A launch that was passed over has its line among the skipped; the metrics are of the others.
     */
    if (launch->counter_count > 0 || !launch->skipped.cause)
        add_metrics(s, group, launch);
    else
        count_passed_over(group, launch->skipped.cause, 1);
}

/* ORDER: the least mean that a deviation is held to. */
static const struct {
    const char *name;
    double least;
} first_values[] = {{"achieved_occupancy", 0.1},
                    {"gld_efficiency", 10},
                    {"gst_efficiency", 10},
                    {"shared_efficiency", 10},
                    {"warp_execution_efficiency", 10},
                    {"dram_utilization", 0.1}};

static bool has_value(const struct gp_record *launch)
{
    for (size_t i = 0; i < launch->counter_count; i++)
        if (!launch->counters[i].absent.cause && !gp_counter_is_time(launch->counters[i].name))
            return true;
    return false;
}

double gp_stats_widest(const struct gp_metrics *m, const struct gp_stat *stats,
                       double (*deviation)(const struct gp_stat *stat))
{
    double most = 0, mean;
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++) {
        const char *name = gp_metrics_selected(m, i)->name;
        for (size_t k = 0; k < sizeof(first_values) / sizeof(first_values[0]); k++) {
            if (stats[i].count < 2 || strcmp(name, first_values[k].name) != 0 ||
                !gp_stat_mean(&stats[i], &mean))
                continue;
            const double off = deviation(&stats[i]);
            if (isfinite(off))
                most = fmax(most, off / fmax(fabs(mean), first_values[k].least));
        }
    }
    return most;
}

static double deviation_of(const struct gp_stat *stat)
{
    return sqrt(stat->squares / ((double)stat->count - 1));
}

double gp_summary_scatter(const struct gp_summary *s, const struct gp_record *launch)
{
    const struct gp_group *g = has_value(launch) ? known_group(s, launch) : NULL;
    return g ? gp_stats_widest(s->metrics, g->stats, deviation_of) : -1;
}

/* Sums of these are different for different processes. */
static uint64_t hash_of_process(uint64_t number)
{
    return (number + 1) * (number + 1) * 0x9e3779b97f4a7c15u;
}

static void add_readings(const struct gp_summary *s, struct gp_group *group,
                         const struct gp_count *count)
{
    const bool later = !group->processes || count->last_reading > group->last_reading;
    if (!group->processes || count->first_reading < group->first_reading)
        group->first_reading = count->first_reading;
    if (later || (count->last_reading == group->last_reading &&
                  count->behind_reading > group->behind_reading))
        group->behind_reading = count->behind_reading;
    if (later)
        group->last_reading = count->last_reading;
    if (!group->processes || group->last_process != s->begun)
        group->processes += hash_of_process(s->begun);
    group->last_process = s->begun;
}

void gp_summary_count(struct gp_summary *s, const struct gp_count *count)
{
    struct gp_record launch = {
        .index = UINT64_MAX, /* behind those that were recorded */
        .kernel = count->kernel,
        .device = count->device,
        .configuration = count->configuration,
        .shared_carveout = -1,
    };
    if (count->reason.cause) {
        count_skips(s, count->kernel, count->reason, count->launches);
        count_passed_over(known_group(s, &launch), count->reason.cause, count->launches);
        return;
    }
    note_device(s, count->device);
    struct gp_group *group = group_of(s, &launch);
    if (!group) {
        s->ungrouped_counted += count->launches;
        return;
    }
    group->counted += count->launches;
    add_readings(s, group, count);
    group->counted_so_far = 0; /* the process counts all its launches now */
    note_launches(group);
}

static void add_time(const struct gp_summary *s, struct gp_group *group, const struct gp_sum *sum)
{
    const size_t i = duration_of(s);
    const struct gp_stat stat = {.count = sum->timed,
                                 .min = sum->shortest_ns / 1e9,
                                 .max = sum->longest_ns / 1e9,
                                 .sum = sum->time_ns / 1e9,
                                 .weighted = sum->time_ns / 1e9,
                                 .weight = (double)sum->timed}; /* it is an amount */
    group->firsts.in_sums = true;
    if (i < s->metric_count)
        gp_stat_merge(&group->stats[i], &stat, 1);
}

void gp_summary_sum(struct gp_summary *s, const struct gp_sum *sum)
{
    struct gp_record launch = {
        .index = UINT64_MAX,
        .kernel = sum->kernel,
        .device = sum->device,
        .configuration = sum->configuration,
        .shared_carveout = -1,
    };
    note_device(s, sum->device);
    struct gp_group *own = group_of(s, &launch), *group = own ? own : &s->rest;
    group->measured += sum->measured;
    group->hardware += sum->hardware;
    group->instrumented += sum->instrumented;
    group->recalled += sum->recalled;
    group->recalled_all += sum->recalled_all;
    group->of_graphs += sum->of_graphs;
    group->replays += sum->replays;
    group->overhead_ms += sum->overhead_ms;
    if (!own) {
        s->ungrouped_recorded += sum->left_out;
        return;
    }
    own->recorded += sum->left_out;
    own->counted_so_far += sum->launched;
    note_launches(own);
    add_time(s, own, sum);
}

/* Out of memory for its name the graph has none. */
void gp_summary_graph(struct gp_summary *s, const struct gp_whole_times *times)
{
    s->graphs.launches += times->launches;
    s->graphs.timed += times->timed;
    s->graphs.seconds += times->seconds;
    if (!(times->seconds > s->most_of_graph))
        return;
    s->most_of_graph = times->seconds;
    s->graphs.kernels = times->kernels;
    free(s->graph_kernel);
    s->graph_kernel = strdup(times->kernel);
}

struct gp_whole_times gp_summary_graphs(const struct gp_summary *s)
{
    struct gp_whole_times graphs = s->graphs;
    graphs.kernel = s->graph_kernel ? s->graph_kernel : "";
    return graphs;
}

/* NULL where it has no launch here. */
static const struct gp_group *group_if_known(const struct gp_summary *s, const char *kernel,
                                             int device,
                                             const struct gp_configuration *configuration)
{
    const struct gp_record launch = {
        .kernel = kernel, .device = device, .configuration = *configuration};
    return known_group(s, &launch);
}

/* NULL when out of memory, or where there are too many. */
static struct gp_followed *followed_of(struct gp_summary *s, const struct gp_group *group,
                                       const struct gp_group *before)
{
    for (size_t i = 0; i < s->followed_count; i++)
        if (s->followed[i].group == group && s->followed[i].before == before)
            return &s->followed[i];
    if (s->followed_count == s->followed_capacity) {
        const size_t capacity = s->followed_capacity ? 2 * s->followed_capacity : 64;
        struct gp_followed *more =
            capacity <= MOST_FOLLOWED ? realloc(s->followed, capacity * sizeof(*more)) : NULL;
        if (!more)
            return NULL;
        s->followed = more;
        s->followed_capacity = capacity;
    }
    struct gp_followed *f = &s->followed[s->followed_count++];
    *f = (struct gp_followed){.group = group, .before = before};
    return f;
}

void gp_summary_succession(struct gp_summary *s, const struct gp_succession *succession)
{
    const struct gp_group *group =
        group_if_known(s, succession->kernel, succession->device, &succession->configuration);
    const struct gp_group *before = group_if_known(s, succession->before, succession->device,
                                                   &succession->configuration_before);
    struct gp_followed *f = group ? followed_of(s, group, before) : NULL;
    if (!f)
        return;
    f->sums.launches += succession->launches;
    f->sums.needing += succession->needing;
    f->sums.passed_bytes += succession->passed_bytes;
    f->sums.replaced_bytes += succession->replaced_bytes;
    f->sums.shared_bytes += succession->shared_bytes;
}

const struct gp_followed *gp_summary_followed(const struct gp_summary *s, size_t *count)
{
    *count = s->followed_count;
    return s->followed;
}

static void add_host(struct gp_summary *s, const struct gp_end *end)
{
    s->hosts_ended += end->has_host != 0;
    s->host.launches += end->host_launches;
    for (int kind = 0; kind < GP_HOST_KINDS; kind++) {
        struct gp_host_calls *sum = &s->host.calls[kind];
        sum->calls += end->host[kind].calls;
        sum->bytes += end->host[kind].bytes;
        sum->timed += end->host[kind].timed;
        sum->disturbed += end->host[kind].disturbed;
        sum->seconds += end->host[kind].seconds;
        sum->disturbed_seconds += end->host[kind].disturbed_seconds;
    }
}

void gp_summary_end(struct gp_summary *s, const struct gp_end *end)
{
    s->added_seconds += end->added_seconds;
    s->limits.known |= end->has_limit != 0;
    s->limits.seconds += end->limit_seconds;
    s->limits.spent += end->limit_spent;
    s->limits.wanted += end->limit_wanted;
    s->limits.start_up += end->start_up_seconds;
    add_host(s, end);
    if (end->seconds > 0) {
        double all = fmax(0, end->seconds - end->added_seconds), seconds = all;
        size_t devices = 0;
        for (size_t i = 0; i < GP_MAX_DEVICES; i++)
            devices += s->used[i];
        if (end->has_window) {
            seconds = fmin(all, fmax(0, end->window_seconds - end->window_added_seconds));
            s->windows.launches += end->outside_launches;
            s->windows.seconds += all - seconds;
            s->windows_ended++;
        }
        s->running.seconds += seconds;
        s->running.gpu_seconds += seconds * (double)(devices > 0 ? devices : 1);
        s->ended++;
    }
}

bool gp_summary_running(const struct gp_summary *s, struct gp_running *running)
{
    *running = s->running;
    running->processes = s->begun;
    return s->begun > 0 && s->ended == s->begun && s->running.seconds > 0;
}

struct gp_windows gp_summary_windows(const struct gp_summary *s)
{
    struct gp_windows windows = s->windows;
    windows.rule = s->window;
    windows.known = s->windows_begun > 0 && s->windows_ended == s->windows_begun;
    return windows;
}

struct gp_limits gp_summary_limits(const struct gp_summary *s)
{
    struct gp_limits limits = s->limits;
    limits.rule = s->overhead;
    for (size_t i = 0; i < s->skip_count; i++)
        if (s->skip_list[i]->skip.reason.cause == GP_CAUSE_ADDED_LIMIT)
            limits.left_out += s->skip_list[i]->skip.launches;
    return limits;
}

struct gp_host gp_summary_host(const struct gp_summary *s)
{
    struct gp_host host = s->host;
    host.processes = s->hosts_ended;
    host.known = s->begun > 0 && s->hosts_ended == s->begun;
    return host;
}

bool gp_summary_has_streams(const struct gp_summary *s)
{
    return s->has_streams;
}

static double added_seconds(const struct gp_summary *s)
{
    double launches_ms = s->rest.overhead_ms;
    if (s->added_seconds > 0)
        return s->added_seconds;
    for (size_t i = 0; i < s->group_count; i++)
        launches_ms += s->group_list[i]->group.overhead_ms;
    return launches_ms / 1e3;
}

const struct gp_settings *gp_summary_get_settings(const struct gp_summary *s)
{
    return &s->settings;
}

const struct gp_metrics *gp_summary_metrics(const struct gp_summary *s)
{
    return s->metrics;
}

uint64_t gp_summary_launches(const struct gp_summary *s)
{
    uint64_t launches = gp_summary_ungrouped(s);
    for (size_t i = 0; i < s->group_count; i++)
        launches += s->group_list[i]->group.launches;
    return launches;
}

size_t gp_summary_group_count(const struct gp_summary *s)
{
    return s->group_count;
}

const struct gp_group *gp_summary_group(const struct gp_summary *s, size_t i)
{
    return &s->group_list[i]->group;
}

size_t gp_summary_skip_count(const struct gp_summary *s)
{
    return s->skip_count;
}

const struct gp_skip *gp_summary_skip(const struct gp_summary *s, size_t i)
{
    return &s->skip_list[i]->skip;
}

uint64_t gp_summary_ungrouped(const struct gp_summary *s)
{
    return s->ungrouped_counted > s->ungrouped_recorded ? s->ungrouped_counted
                                                        : s->ungrouped_recorded;
}

uint64_t gp_summary_other_skips(const struct gp_summary *s)
{
    return s->other_skips;
}

double gp_summary_measured_share(const struct gp_summary *s)
{
    const size_t duration = duration_of(s);
    double measured = 0, all = 0;
    for (size_t i = 0; i < s->group_count && duration < s->metric_count; i++) {
        const struct gp_group *g = &s->group_list[i]->group;
        const struct gp_stat *time = &g->stats[duration];
        const double mean = time->count > 0 ? time->sum / (double)time->count : 0;
        measured += mean * (double)g->measured;
        all += mean * (double)g->launches;
    }
    return all > 0 ? measured / all : (double)NAN;
}

struct gp_totals gp_summary_totals(const struct gp_summary *s)
{
    struct gp_totals t = {.launches = gp_summary_launches(s),
                          .measured = s->rest.measured,
                          .replays = s->rest.replays,
                          .added_seconds = added_seconds(s)};
    for (size_t i = 0; i < gp_summary_group_count(s); i++) {
        const struct gp_group *g = gp_summary_group(s, i);
        t.measured += g->measured;
        t.replays += g->replays;
    }
    return t;
}
