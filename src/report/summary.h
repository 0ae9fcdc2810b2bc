/* Launches folded into groups as they come, in bounded memory. Owns the groups.
 *
 * A group is one kernel on one device with one grid, block, cluster and size of dynamic shared
 * memory. Not locked: the caller lets one thread in at a time. */
#ifndef GPUPROF_REPORT_SUMMARY_H
#define GPUPROF_REPORT_SUMMARY_H

#include "metrics/metrics.h"
#include "metrics/occupancy.h"
#include "report/means.h"

#define GP_SUMMARY_MAX_GROUPS 4096
#define GP_SUMMARY_MAX_SKIPS 256
/* The metric that is a launch's time in seconds. */
#define GP_DURATION_METRIC "duration"

/* One metric over the launches of a group. */
struct gp_stat {
    uint64_t count;          /* launches that gave a value; 0: the numbers below mean nothing */
    double min, max, sum;    /* each launch counts alike */
    double squares;          /* sum of squared distances from the mean of the group */
    double weighted, weight; /* sums of value times weight, and of weights (metrics/weight.h), over
                              * the launches whose weight is known */
    double doubt;  /* the sum of weight times distance, by which the values of launches that were
                    * left out may be off (report/left_out.h); NAN: nothing is known of some */
    bool combined; /* from the means of counters of several launches; it has no min and max */
    uint64_t absent_count;
    struct gp_reason absent; /* of those for having no value the first by its letters, or none */
    size_t named;            /* bytes of its text that name the missing counter */
};

/* The mean over the launches, weighted where weights are known. Returns true, or false where no
 * launch has a value. */
bool gp_stat_mean(const struct gp_stat *stat, double *mean);

/* Half of the confidence interval (95 %) of the mean, in its unit; NAN where fewer than two
 * launches have a value of their own, or nothing is known of some that were left out. */
double gp_stat_error(const struct gp_stat *stat);

/* Why launches have no value; NOT_MEASURED where none was evaluated. */
struct gp_reason gp_stat_absence(const struct gp_stat *stat);
/* The reason of gp_stat_absence without the name of the missing counter: other values lack other
 * counters for the same reason. */
struct gp_reason gp_stat_plain_absence(const struct gp_stat *stat);

/* True where other launches, or all, were not to have the counters: the diagnosis counts them of
 * few. */
bool gp_stat_is_of_few(const struct gp_stat *stat);

/* Adds the launches of `from` to those of `into`, where each of them stands for `times` launches.
 */
void gp_stat_merge(struct gp_stat *into, const struct gp_stat *from, double times);

struct gp_group {
    struct gp_record launch; /* the launch with the lowest index: kernel, device, grid, ... */
    uint64_t launches;       /* that the program made, as far as is known */
    uint64_t recorded;       /* launches that have a record each */
    uint64_t counted;        /* launches by gp_summary_count */
    uint64_t counted_so_far; /* by sums of the process at hand, as long as it has no count */
    /* As in struct gp_count, the widest of all processes that have one; these are hashed. */
    uint64_t first_reading, last_reading, behind_reading, processes;
    unsigned last_process;
    uint64_t measured;     /* launches with a value of more than their time, where more was asked */
    uint64_t hardware;     /* launches with a value of a counter of the hardware */
    uint64_t instrumented; /* launches with a value that instrumented code counted */
    uint64_t recalled;     /* of those, launches for which another one's values stand */
    uint64_t recalled_all; /* of those, launches for which its hardware's stand, too */
    uint64_t of_graphs;    /* launches with a record, in CUDA graphs */
    uint64_t passed_over;  /* launches without a value, for another reason than the limit */
    uint64_t replays;      /* times the kernel ran more than the program asked for */
    double overhead_ms;
    struct gp_stat *stats; /* one per selected metric, in the selection's order */
    bool only_doubtful;    /* its time is of launches whose times are in doubt */
    double doubtless;      /* the sum of these times, each without its doubt */
    /* The first launches with a time, one of each process: their number, and the sum of their
     * times; the last one's process, index and time. Some times may be in sums of launches: then
     * the first one may be among these. */
    struct {
        uint64_t count, index;
        unsigned process;
        double sum, seconds;
        bool in_sums;
    } firsts;
    struct gp_mean *means; /* where nothing is replayed and the device is known, else NULL */
};

/* Launches of one kernel that could not (fully) be measured for one reason. */
struct gp_skip {
    const char *kernel; /* mangled */
    struct gp_reason reason;
    uint64_t launches;
};

struct gp_summary;

/* Summarises the metrics selected in `m`, which must outlive the summary and not be selected anew.
 * NULL when out of memory. */
struct gp_summary *gp_summary_new(const struct gp_metrics *m);
void gp_summary_free(struct gp_summary *s);

/* How a process was measured; called before the others of that process. Where nothing was replayed,
 * metrics that no launch alone has the counters for are computed from the means of counters over
 * launches. */
void gp_summary_settings(struct gp_summary *s, const struct gp_settings *settings);

/* The facts of a device; the first ones of an ordinal count. */
void gp_summary_device(struct gp_summary *s, const struct gp_device *device);

/* Folds one launch in. Everything needed of it is copied. */
void gp_summary_launch(struct gp_summary *s, const struct gp_record *launch);

/* The largest of these, relative to the mean, among the values that the first screen of a report
 * has: occupancy, efficiencies, DRAM. Means are held to a tenth of the most that they can be, at
 * least. 0 where none of them is known. */
double gp_stats_widest(const struct gp_metrics *m, const struct gp_stat *stats,
                       double (*deviation)(const struct gp_stat *stat));

/* The relative standard deviation of the value that scatters most among the launches of this one's
 * group, as gp_stats_widest. 0 where there is one launch with a value, less where there is none. */
double gp_summary_scatter(const struct gp_summary *s, const struct gp_record *launch);

/* Tells how often a kernel was launched, launches folded in one by one included; several counts of
 * the same kernel add up. Or how many of these were passed over, for one reason. */
void gp_summary_count(struct gp_summary *s, const struct gp_count *count);

/* Folds launches in of which the profile has no line, but sums: their number, the way in which they
 * were measured, their times. Of other values the launches with a line stand for them. */
void gp_summary_sum(struct gp_summary *s, const struct gp_sum *sum);

/* Adds the launches of a graph that was timed as a whole: no kernel has their time. */
void gp_summary_graph(struct gp_summary *s, const struct gp_whole_times *times);
/* The launches of all graphs; `kernel` and `kernels` are of the one that took most time. */
struct gp_whole_times gp_summary_graphs(const struct gp_summary *s);

/* Launches of a group that came right behind launches of another. */
struct gp_followed {
    const struct gp_group *group;
    const struct gp_group *before; /* NULL: something else came before, or it is not known */
    struct gp_succession sums;     /* its numbers alone */
};
/* Adds them, where their kernels have launches here. */
void gp_summary_succession(struct gp_summary *s, const struct gp_succession *succession);
const struct gp_followed *gp_summary_followed(const struct gp_summary *s, size_t *count);

/* Adds the values of a process's end; of several processes times add up. */
void gp_summary_end(struct gp_summary *s, const struct gp_end *end);

/* How long processes run without measuring; where they have a window, while it was open. */
struct gp_running {
    double seconds;     /* of all processes together */
    double gpu_seconds; /* the same, each process counted once for each GPU on which it launched */
    unsigned processes;
};

/* Returns true, or false where it is not known, as some process did not come to its end. */
bool gp_summary_running(const struct gp_summary *s, struct gp_running *running);

/* The part of the processes that was to be measured, as GPUPROF_WINDOW has it; `running` is of it
 * alone. */
struct gp_windows {
    const char *rule;  /* NULL: all was */
    bool known;        /* the members below: each process that has one came to its end */
    uint64_t launches; /* outside */
    double seconds;    /* outside, without measuring */
};
struct gp_windows gp_summary_windows(const struct gp_summary *s);

/* The limit to the time that measuring adds (GPUPROF_OVERHEAD), in all processes. */
struct gp_limits {
    const char *rule;  /* NULL: none was given; the default one may have been reached */
    uint64_t left_out; /* launches that it left out, which were counted or timed only */
    bool known;        /* the members below: some process had one at its end */
    double seconds, spent, wanted, start_up; /* as in struct gp_end */
};
struct gp_limits gp_summary_limits(const struct gp_summary *s);

/* The calls of the program's host, in all processes (struct gp_end). */
struct gp_host {
    bool known; /* the members below: each process has them at its end */
    unsigned processes;
    uint64_t launches;
    struct gp_host_calls calls[GP_HOST_KINDS];
};
struct gp_host gp_summary_host(const struct gp_summary *s);

/* Whether launches of a process on one device went into several streams, so that kernels may run
 * side by side. */
bool gp_summary_has_streams(const struct gp_summary *s);

const struct gp_metrics *gp_summary_metrics(const struct gp_summary *s);
const struct gp_settings *gp_summary_get_settings(const struct gp_summary *s);
const struct gp_device *gp_summary_get_device(const struct gp_summary *s,
                                              int ordinal); /* or NULL */
uint64_t gp_summary_launches(const struct gp_summary *s);   /* of the program, as far as known */
size_t gp_summary_group_count(const struct gp_summary *s);
const struct gp_group *gp_summary_group(const struct gp_summary *s, size_t i);
size_t gp_summary_skip_count(const struct gp_summary *s);
const struct gp_skip *gp_summary_skip(const struct gp_summary *s, size_t i);

/* Launches that are in no group: of kernels beyond GP_SUMMARY_MAX_GROUPS, and of reasons
 * beyond GP_SUMMARY_MAX_SKIPS. */
uint64_t gp_summary_ungrouped(const struct gp_summary *s);
uint64_t gp_summary_other_skips(const struct gp_summary *s);

/* The share of the GPU time of all launches that measured ones have, by the mean time of each
 * group; NAN where no time is known. */
double gp_summary_measured_share(const struct gp_summary *s);

/* Totals of all launches, those in no group included. */
struct gp_totals {
    uint64_t launches, measured, replays;
    /* By how much measuring made the processes longer. Where no process's end is known, the sum
     * over launches, which leaves out all that is between them. */
    double added_seconds;
};
struct gp_totals gp_summary_totals(const struct gp_summary *s);

#endif
