/* launch/ from within: the declarations that its own files alone use, each section behind those
 * that it needs. The first lines of a file that a section names say more. */
#ifndef GPUPROF_LAUNCH_INSIDE_H
#define GPUPROF_LAUNCH_INSIDE_H

#include "base/configuration.h"
#include "base/hash.h"
#include "base/overhead.h"
#include "base/sample.h"
#include "base/text.h"
#include "code/address_words.h"
#include "code/addresses.h"
#include "code/data_words.h"
#include "code/parameter_uses.h"
#include "counters/batch.h"
#include "counters/collector.h"
#include "counters/run.h"
#include "cuda/driver.h"
#include "gate/blocking.h"
#include "launch/again.h"
#include "launch/contexts.h"
#include "launch/launch.h"
#include "launch/selection.h"
#include "memory/pause.h"
#include "memory/snapshot.h"
#include "metrics/metrics.h"
#include "profile/record.h"
#include "report/sources.h"
#include "report/summary.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_measurement;
struct gp_timed_stream;

/* ---- why launches are not measured ----------------------------------------------------------- */

/* Why no launch of a kernel is measured: one was waited for in vain, or its name tells. */
#define GP_DOES_NOT_END GP_REASON(DOES_NOT_END)
#define GP_COMMUNICATES GP_REASON(COMMUNICATES)

/* Why a launch is only timed of which the limit to the added time permits no passes. */
#define GP_LEFT_IN_DRAIN                                                                         \
    GP_REASON_TEXT(ADDED_LIMIT, "only timed, as its passes would have added more time than the " \
                                "limit (GPUPROF_OVERHEAD)")

/* Why a launch has the hardware's counters alone. */
#define GP_CODE_LEFT_OUT                                                                          \
    GP_REASON_TEXT(ADDED_LIMIT, "to instrument the kernel would have added more time than it is " \
                                "worth within the limit (GPUPROF_OVERHEAD)")

/* Why a launch is only timed that could not wait for the session of its GPU. */
#define GP_COUNTERS_AWAY                                                                       \
    GP_REASON_TEXT(COUNTERS_AWAY,                                                              \
                   "only timed, as the GPU's counters were at work in another context of the " \
                   "program")

/* Why a kernel of a graph has no time of its own where launches are only timed. */
#define GP_WHOLE_GRAPH               \
    GP_REASON_TEXT(GRAPH_AS_A_WHOLE, \
                   "the kernel's graph was launched as it is, and timed as a whole")

/* ---- the user's settings (settings.c) -------------------------------------------------------- */

struct gp_user_settings {
    bool flush_caches;  /* before a pass of the hardware (GPUPROF_CACHE=flush, the default) */
    bool verify_always; /* every launch, beside verify_is_due (GPUPROF_VERIFY=always) */
    bool at_once;       /* no launch is held: all its passes come at once (GPUPROF_REPLAY=now) */
    bool timeout_set;   /* GPUPROF_TIMEOUT is given */
    enum gp_diagnosis {
        GP_DIAGNOSIS_AUTO,
        GP_DIAGNOSIS_OFF,
        GP_DIAGNOSIS_FULL
    } diagnosis;            /* GPUPROF_DIAGNOSIS */
    bool details;           /* the report at the end has them (GPUPROF_REPORT) */
    bool metrics_named;     /* other metrics than the default ones (GPUPROF_METRICS) */
    bool few_queues;        /* of the hardware: streams share them (CUDA_DEVICE_MAX_CONNECTIONS) */
    uint64_t profile_limit; /* bytes (GPUPROF_LIMIT_PROFILE); 0: none */
    /* The settings that readers of the profile need. With `replay_off` no kernel runs more often
     * than the program runs it: launches of a kernel are counted in turns. */
    struct gp_settings recorded;
};
extern struct gp_user_settings user_settings;

/* Reads the settings that are recorded, and then the others. Mistakes are reported. */
void settings_read_recorded(void);
void settings_read(void);

/* The number of the word that the environment variable has, among `words`, which end with NULL; -1
 * where it is not set, or has another one, which is said, with the words in `all`. */
int setting_word(const char *variable, const char *const *words, const char *all);

/* ---- the profiled process (session.c) -------------------------------------------------------- */

/* True once the program has used CUDA, in this process or before it was forked. */
bool session_began(void);

/* True in the process that started the session, false in its children. Exit handlers ask: a child
 * that calls exit has inherited them. */
bool session_is_here(void);

/* Stops measuring for the rest of the process, without a word. */
void session_stop(void);

/* Stops measuring for the rest of the process, after one line that says why. */
void session_give_up(const char *why);

/* Counts a launch that is measured, while it has the gate locked or entered; its number among all.
 */
uint64_t session_next_launch(void);
/* Launches so far, at least so many. From any thread. */
uint64_t session_launches(void);

/* ---- thresholds: GPUPROF_CHECK (checks.c) ---------------------------------------------------- */

/* Reads the file that GPUPROF_CHECK names. The metrics of its rules are selected beside the others.
 * After a message on a mistake nothing is checked. */
void checks_open(struct gp_metrics *m);

/* True where `gpuprof --check` judges by a profile that the user did not ask for. */
bool checks_need_profile(void);

void checks_device(const struct gp_device *device);
void checks_launch(const struct gp_record *launch);
void checks_count(const struct gp_count *count);
void checks_give_up(const char *why);

/* Appends the verdict. Once, at the end. The sources (may be NULL) say where kernels begin. */
void checks_report(const struct gp_sources *sources, struct gp_text *out);

/* ---- the command that started the program (command.c) ---------------------------------------- */

/* Adds the name of the profile that the command reads where this process is killed, and the user
 * asked for none; false where it wants none. */
bool command_profile(struct gp_text *path);

/* Tells the command that a profile was asked for and could not be written. */
void command_note_unwritten(void);

/* Tells the command that this process has come to its end, and reported, where its profile cannot
 * say so. */
void command_note_ended(void);

/* ---- the profile (recording.c) --------------------------------------------------------------- */

struct gp_writer;

/* Finds out where it is to be written (GPUPROF_OUTPUT), a relative name from here. The summary has
 * the devices that come before the first launch. Mistakes are reported. */
void recording_prepare(const struct gp_summary *summary);

/* The writer, for the lines of the process's end; NULL where nobody will read them: the user asked
 * for no profile, or it cannot be written. The file is opened for it if it was not, where the
 * process has `launched` a kernel. */
struct gp_writer *recording_at_end(bool launched);
/* Writes the last line. */
void recording_end(const struct gp_end *end);
/* The name, if the user asked for it and it stays; else NULL. */
const char *recording_name(void);
/* A name with the present folder, where it has none: the program may change that later. To be
 * freed; NULL when out of memory. */
char *recording_path_from_here(const char *path);

void recording_device(const struct gp_device *device);
/* The two below: `noted`: an early line of the launch stands there already. */
void recording_launch(const struct gp_record *launch, bool noted);
/* duration_ns as in launch/measurement.c. */
void recording_early(const struct gp_record *launch, double duration_ns, bool noted);
void recording_ended(uint64_t index, double duration_ns);
/* The process has made so many launches: said where some have no line, and again where it changes.
 */
void recording_so_far(uint64_t launches);
/* Takes launches of a configuration that were not counted before; whether it is time to write the
 * sums of launches that have no line of their own, and that. */
void recording_count_so_far(const struct gp_count *more);
bool recording_sums_are_due(void);
void recording_sums(void);
/* Writes the profile anew where it is long: as gp_writer_thin. */
void recording_thin(void (*lock)(void), void (*unlock)(void), bool (*goes_on)(void));
void recording_give_up(const char *why);

/* ---- the results of launches (results.c) ----------------------------------------------------- */

/* Opens the file for messages that GPUPROF_LOG names; and the metrics, false when out of memory;
 * and, when settings are known that are recorded, the profile. Mistakes are reported. */
void results_open_log(void);
bool results_open(void);
void results_open_profile(void);

const struct gp_metrics *results_metrics(void);

/* Takes the facts of a device, the record of a launch (`noted`: by results_note), of which the
 * answer is gp_summary_scatter. The gate is closed or the caller is alone. */
void results_device(const struct gp_device *device);
double results_launch(const struct gp_record *launch, bool noted);
/* Writes the known part of a launch that will be recorded later, in case the process ends before;
 * `noted`: once more. duration_ns: its time, 0 or less where that is not known. */
void results_note(const struct gp_record *launch, double duration_ns, bool noted);
/* Writes the times of launches that were noted without, and how many launches there are so far.
 * From any thread. */
struct gp_ended_launch {
    uint64_t index;
    double duration_ns;
};
void results_ended(const struct gp_ended_launch *list, size_t count, uint64_t launches);

/* Between two rounds of a thread that has time: writes sums and totals that are due, and keeps the
 * profile within its limit. Ends early where `goes_on` says false. */
void results_upkeep(bool (*goes_on)(void));

/* No launch is measured from here on: the profile and the rules get the reason. */
void results_give_up(const char *why);

/* The process ends: prints the report, unless it has launched nothing, or nothing was measured as
 * measuring was given up; and finishes the profile. Waits for other threads no longer than two
 * seconds. */
void results_end(bool gave_up, uint64_t launches);
/* True where the process has launched nothing, so that no word was said at its end. */
bool results_are_silent(void);

/* ---- times of the program's own copies (copies.c) -------------------------------------------- */

/* Reads GPUPROF_COPIES, and reports a mistake in it. Before the first copy. */
void copies_start(void);

/* The copies up to now; GP_COPY_KINDS of them. False where it is not wanted. */
bool copies_read(struct gp_copies *totals);

/* ---- launches right behind others (successions.c) -------------------------------------------- */

/* The launch that is noted next has these parameters, and memory was found for it
 * (gp_snapshot_find_memory); then it is noted, with its index, as one that is about to be made. The
 * gate is locked for both. */
void succession_gather(const struct gp_measurement *m, const void *parameters, size_t size);
void succession_note(const struct gp_measurement *m);

/* Other work of the program than launches has come between these. From any thread. */
void succession_broken(void);

/* Gives the sums of each two. */
void successions_visit(void (*visit)(void *user, const struct gp_succession *s), void *user);

/* Writes its line of a profile, of type "succession". */
struct gp_writer;
void succession_write(const struct gp_succession *s, struct gp_writer *writer);

/* ---- times of whole graphs (whole_times.c) --------------------------------------------------- */

/* One launch took so long; 0: that is not known. */
void whole_times_add(struct gp_whole_times *times, double seconds);

/* Gives each in the order of first launches. */
void whole_times_visit(void (*visit)(void *user, const struct gp_whole_times *times), void *user);

/* Writes its line of a profile, of type "graph". */
struct gp_writer;
void whole_times_write(const struct gp_whole_times *times, struct gp_writer *writer);

/* ---- the program's own tool (tool.c) --------------------------------------------------------- */

/* True while the tool is at work: counters of launches are absent, with the cause PROGRAMS_TOOL. */
bool tool_at_work(void);
/* True once it has asked our copy of CUPTI for anything. */
bool tool_has_come(void);

/* ---- the worth of measurements (worth.c) ----------------------------------------------------- */

/* Groups that differ in their grid alone, and were measured, by the size of that: in each class
 * grids have up to a tenth more blocks than in the class before. */
#define GP_SIZE_CLASSES 512
struct gp_relatives {
    unsigned measured;
    uint64_t classes[GP_SIZE_CLASSES / 64]; /* a bit each: one was */
    uint64_t wanted[GP_SIZE_CLASSES / 64];  /* one would be, with enough money */
};

/* A group. All zero: no launch of it is known. */
struct gp_worth {
    uint64_t launches;    /* that the program made */
    uint64_t taken;       /* of these, measured or about to be */
    uint64_t timed;       /* of which the time is known */
    double seconds;       /* that those took on the GPU */
    uint64_t values;      /* measurements that came to their end with a value */
    double scatter;       /* relative standard deviation of the value that scatters most; of two or
                           * more */
    uint64_t first, last; /* numbers of launches among all: its first and its last one */
    double beginning;     /* gp_prices.first, as it was at the last one */
    double on_timing;     /* money that went into times which are not known yet */
    bool poor;            /* there was not even the money for a time, when it was asked for */
    unsigned size_class;
    struct gp_relatives *relatives;    /* NULL: it has none */
    struct gp_offer {                  /* to the rule, when the price was found */
        double again;                  /* how likely more launches come */
        double first_cost, first_gain; /* of the first measurement; no cost: it was made */
        double wanted, enough;         /* values at a price of 1, and at any price */
    } offer;
};

/* The cost of the next step, as it is predicted. */
struct gp_prices {
    bool begins;   /* the kernel is instrumented with it; else it was before, or is not worth it */
    double first;  /* to read the kernel's code, and to instrument it, where that is done */
    double launch; /* to measure one launch, in the mean */
    double now;    /* the most that it may take, if it is begun now, `first` included */
    double timing; /* to take the time of a launch, and no more */
    double timing_beside; /* and the first times of others that come with it */
};

/* The money: seconds that may be added up to now, and the part that is neither spent nor promised
 * to launches that wait for their measurement. */
struct gp_money {
    double all, left;
};

/* Groups beyond so many do not count for the price. */
#define GP_MOST_WORTHS 4096

struct gp_worth_rule {
    struct gp_worth *groups[GP_MOST_WORTHS]; /* each with a launch */
    unsigned count;
    uint64_t launches;                   /* all of them */
    uint64_t once, twice;                /* groups with exactly one launch, two launches */
    uint64_t timed;                      /* launches of which the time is known */
    double seconds;                      /* that those took */
    double on_firsts;                    /* money that went into first measurements */
    double on_first_timings, on_timings; /* and into the first times of groups, and further ones */
    double scatters; /* sum of the groups' scatter, and the number of those groups */
    unsigned scattering;
    double dearest;       /* first measurement that is still to be made */
    double price;         /* error for a second; a purchase that takes away less is not made */
    double less_at_price; /* factor of the values that are wanted at a price of 1 */
    uint64_t planned_at;  /* launches, when the price was found */
    double planned_left;  /* money then */
};

/* The class of grids with so many blocks. */
unsigned worth_size_class(double blocks);

/* The part of its launches so far that need not be asked for next, as 1 / that number. */
unsigned worth_skip_part(const struct gp_worth *group);

/* A launch of the group is about to be made. *skips becomes the number of further launches of it
 * that need not be asked for: they are only counted, and worth_count adds them later. */
enum gp_choice worth_choose(struct gp_worth_rule *rule, struct gp_worth *group,
                            const struct gp_prices *prices, const struct gp_money *money,
                            unsigned *skips);

/* A launch that was not chosen to be measured is measured all the same; one that was chosen could
 * not be measured. */
void worth_take(struct gp_worth_rule *rule, struct gp_worth *group, const struct gp_prices *prices);
void worth_in_vain(struct gp_worth *group);
/* One that was chosen to be measured, which takes so many seconds beside its beginning, or to be
 * timed, is left out after all: the money for it is there again. */
void worth_left_out(struct gp_worth_rule *rule, struct gp_worth *group, double launch);
void worth_not_timed(struct gp_worth_rule *rule, struct gp_worth *group);

/* Whether the code of a kernel may be read for its time, which takes so many seconds: out of the
 * money for first times, where they are taken off. */
bool worth_reading(struct gp_worth_rule *rule, const struct gp_money *money, double seconds);

/* At the end, of a group without a value: whether enough money would have led to one. It stands
 * beside no grid that was measured, and none of which this was said before. */
bool worth_would_be_measured(struct gp_worth *group);

/* Counts launches of the group for which the rule was not asked. */
void worth_count(struct gp_worth_rule *rule, struct gp_worth *group, uint64_t launches,
                 enum gp_choice choice, const struct gp_prices *prices);

/* The time of a launch is known; a measurement has ended, and the values so far scatter so. */
void worth_time(struct gp_worth_rule *rule, struct gp_worth *group, double seconds);
void worth_value(struct gp_worth_rule *rule, struct gp_worth *group, double scatter);

/* The mean of the seconds of launches, a guess before any is known. */
double worth_usual_seconds(const struct gp_worth_rule *rule);

/* Whether a kernel that takes so many seconds of the GPU's time is worth so many for its
 * instrumentation, which shows half of the values: hardware shows the rest. */
bool worth_code(const struct gp_worth_rule *rule, double gpu_seconds, double cost);

/* Half of the confidence interval (95 %) of a mean of so many values, relative to it; 1 where there
 * is no value, or it would be more. */
double worth_error(double scatter, double values);

/* ---- the limit to the added time (limit.c) --------------------------------------------------- */

/* The seconds that a step takes, as learned of those before: a mean in which newer ones count more,
 * and the mean distance from it. All zero is no prediction. */
struct gp_prediction {
    double mean, distance;
    unsigned count;
};
void prediction_learn(struct gp_prediction *p, double seconds);
/* The most that the next step may take, as far as that can be known. */
double prediction_most(const struct gp_prediction *p);

/* The steps that cannot be divided. */
enum gp_limit_step {
    GP_LIMIT_LAUNCH, /* a launch: its copies and waits, and its passes in a drain */
    GP_LIMIT_KERNEL, /* the first passes of a kernel: it is instrumented */
    GP_LIMIT_DRAIN,  /* a drain, but for the passes of its launches */
    GP_LIMIT_SWITCH, /* the session goes to another context */
    GP_LIMIT_GRAPH,  /* a graph is launched by nodes, for each node */
    GP_LIMIT_WAIT,   /* before that the GPU is waited for, where it is at work */
    GP_LIMIT_TIMING, /* two events around a launch */
    GP_LIMIT_READ,   /* the same around the first one of a kernel, whose code is read */
    GP_LIMIT_STEPS
};

/* Until this is said there is no limit. Before the first launch. */
void limit_start(const struct gp_overhead *overhead);

/* True where there is a limit. */
bool limit_is_set(void);
/* True while all is measured that can be: there is no limit, or the default one was not reached. */
bool limit_takes_all(void);
/* The default limit is reached: from here on it is a share. Says so, once. */
void limit_is_reached(void);

/* The money for worth_choose; and that for launches that join a batch, which goes beyond the limit
 * by as much as a drain may: a batch that took long to begin is not left with one launch. */
struct gp_money limit_money(void);
struct gp_money limit_money_in_batch(void);
/* Whether so many seconds may be spent now, beside the drains to come. */
bool limit_permits(double seconds);
/* Predictions by means answer here, not the most that steps may take: for the default limit, until
 * it is reached. */
bool limit_permits_as_usual(double seconds);
/* Kernels of a graph are chosen before the first of them is launched: whether one may be measured
 * still, by the time that those before it took. */
bool limit_permits_chosen(void);
/* Whether a drain may go on, which has begun, with a step that takes so long. */
bool limit_permits_in_drain(double seconds);
/* Whether a drain may go on with a step that instruments a kernel: the launches that wait keep the
 * money for their hardware's counters, which a kernel that takes long to instrument would have
 * lost. */
bool limit_permits_code_in_drain(double seconds);
/* The session comes. Launches that wait for one that was detached have paid for it. */
bool limit_permits_switch(void);

double limit_predicts(enum gp_limit_step step);
double limit_usual(enum gp_limit_step step);
void limit_took(enum gp_limit_step step, double seconds);

/* Launches wait for a drain, or do not any more; and a kernel of one is to be instrumented there.
 */
void limit_promise(int launches);
void limit_promise_kernel(void);
/* A drain of so many launches took so long, beside their passes. */
void limit_drained(unsigned launches, double seconds);
/* Launches that share a drain, in the mean. */
double limit_usual_batch(void);

/* A launch is made into that stream. */
void limit_notes_stream(const void *stream);

/* Fills in the members of the limit, where there is one that was given, or was reached. The first
 * answer stands: the report that comes behind it is no step. */
void limit_sum_up(struct gp_end *end);

/* ---- how often each kernel was launched (tallies.c) ------------------------------------------ */

/* Memory is bounded: kernels and configurations beyond so many share one count. */
#define GP_MAX_TALLIES 65536

/* A kernel in all its configurations. */
struct gp_kernel_worth {
    bool begun;        /* a launch of it was chosen that is counted in instrumented code */
    bool learned;      /* the time that this took */
    bool reading;      /* a launch of it was chosen that is timed: its code is read there */
    bool wanted;       /* a group of it has no measurement */
    uint64_t launches; /* of which the rule knows */
    uint64_t timed;    /* launches of which the time is known */
    double seconds;    /* that those took */
};

struct gp_tally {
    struct gp_count what; /* but for the launches, which are here */
    atomic_ulong launches, taken, passed_over[GP_PASSED_OVER_KINDS];
    atomic_ulong last_reading, before_reading; /* the launches before the first with that number */
    uint64_t noted;                            /* launches that tallies_visit_new has visited */
    struct gp_kernel_worth *kernel;            /* NULL: of the shared count */
    /* For the limit, locked there (within_limit.c). */
    struct gp_worth worth;
    struct gp_prediction cost; /* of a measurement */
    unsigned in_vain;          /* launches that were chosen, and could not be measured */
    struct gp_tally *_Atomic next;
};

/* Notes between which readings a launch was made, behind `before` others of its count. From any
 * thread; it costs three loads. */
void tally_launched(struct gp_tally *tally, uint64_t before);

/* The counts of launches like this one, never NULL. */
struct gp_tally *tally_of_kernel(const char *kernel, int device,
                                 const struct gp_configuration *configuration);

/* Visits every count but the shared one, in the order of first launches, and behind each how many
 * of its launches were passed over. Waits for nobody: it is for the end of the process. */
void tallies_visit(void (*visit)(void *user, const struct gp_count *count), void *user);

/* Visits each count that has grown since the visit before it, with the launches that are new. One
 * thread at a time. */
void tallies_visit_new(void (*visit)(void *user, const struct gp_count *count), void *user);

/* The kernels that have a count. */
unsigned tallies_kernels(void);

/* The sum of all counts so far. From any thread. */
uint64_t tallies_launches(void);

/* Notes of a kernel, on any GPU: a launch of it was counted; one was chosen for samples. Of a
 * kernel without a tally both are true. */
enum gp_kernel_note { GP_KERNEL_COUNTED, GP_KERNEL_SAMPLED, GP_KERNEL_NOTES };
void tally_kernel_note(const char *kernel, enum gp_kernel_note note);
bool tally_kernel_is(const char *kernel, enum gp_kernel_note note);

/* A launch of the kernel in that configuration was chosen for the counters of the diagnosis. The
 * same. */
void tally_note_diagnosed(const char *kernel, int device,
                          const struct gp_configuration *configuration);
bool tally_is_diagnosed(const char *kernel, int device,
                        const struct gp_configuration *configuration);

/* ---- sampling (sampling.c) ------------------------------------------------------------------- */

/* Until this is said, every launch is measured. Before the first launch. */
void sampling_start(const struct gp_sample *sample);

/* ---- the choice of launches within the limit (within_limit.c) ---------------------------------
 */

/* Chooses for a launch of the count, and counts it for the rule. *skips becomes the number of
 * further launches of it that are left out in any case. */
enum gp_choice within_limit_choose(struct gp_tally *tally, const struct gp_launch *call,
                                   unsigned *skips);
/* Why a launch of the kernel that was chosen has no instrumented pass; none: it may have one. */
struct gp_reason within_limit_code(const char *kernel, int device,
                                   const struct gp_configuration *configuration);
/* A launch that was left out in any case. */
void within_limit_skipped(struct gp_tally *tally, uint64_t launches);
/* True where the GPU is at work before the launch of the graph, of which the thread asks: it would
 * be waited for. Not before the default limit is reached. */
bool within_limit_graph_waits(void);
/* The part of its launches so far that need not be asked for next, as 1 / that number. */
unsigned within_limit_skip_part(struct gp_tally *tally);
/* A launch that was chosen has no measurement. */
void within_limit_in_vain(struct gp_tally *tally);
/* It was left out after all, so its kernel is still to be begun, or to be read. */
void within_limit_left_out(struct gp_tally *tally, enum gp_choice choice);
/* Whether the code of a kernel may be read now; and for its time alone, for which it need not be.
 */
bool within_limit_permits_code(CUfunction function);
bool within_limit_permits_code_for_time(CUfunction function);

/* The seconds that first measurements of all groups take which have none, as predicted; 0 where
 * all have one. */
double within_limit_wanted(void);

/* A launch has its record: its time and values count for the rule. `cost`: seconds that it took to
 * measure, without its own run, and the part that launches of its batch share. `scatter`: as of
 * gp_summary_scatter. */
void within_limit_learn(const struct gp_record *launch, bool only_timed, double cost,
                        double scatter);

/* Handles of functions or contexts are about to be given to others. The counts stay. */
void sampling_forget(void);
/* A kernel cannot be measured from here on: threads that left it out for a while ask again. */
void sampling_asks_again(void);
uint64_t sampling_times_asked(void); /* how often they did */
/* True where the calling thread knows that the limit to the added time leaves this launch out: then
 * it is counted. No lock is taken. */
bool sampling_leaves_out(const struct gp_launch *call);
/* The tally of its kernel and configuration. */
struct gp_tally *sampling_tally_of(const struct gp_launch *call);
/* Counts of kernels in graphs that were counted as a whole follow (graphs_left_out.c). */
void left_out_graphs_count(void);

/* ---- the window (window.c) ------------------------------------------------------------------- */

struct gp_window_rule;

/* Until this is said, it is all of the program. Before the first launch. */
void window_start(const struct gp_window_rule *rule);

/* Acts as gp_window_takes_graph, for one launch of a kernel. */
bool window_takes(const struct gp_launch *call);

/* True where a launch now would lie in the window. Counts nothing. */
bool window_is_open(void);

/* Launches so far that lay outside. */
uint64_t window_outside(void);

/* Fills in the members of the window, where there is one. */
void window_sum_up(struct gp_end *end);

/* At the end: says so where launches were made, and none lay in the window, which has that text. */
void window_end(const char *text);

/* ---- calls of the program's host (host_calls.c) ---------------------------------------------- */

/* Counts a launch of one kernel in the window, after it was made. One that was captured is none. */
void host_calls_note_launch(const struct gp_launch *call);

/* Fills in the members of the host. */
void host_calls_sum_up(struct gp_end *end);

/* ---- the choice of launches (selection.c) ---------------------------------------------------- */

/* True where the user chooses launches by their numbers, so that each is to be counted. */
bool selection_counts(void);

/* Reads GPUPROF_KERNELS, GPUPROF_DEVICES and GPUPROF_LAUNCHES, and reports mistakes in them. Until
 * this is called every launch is taken. Before the first launch. */
void selection_read(void);

/* True when the user wants this kernel (its mangled or its demangled name matches GPUPROF_KERNELS).
 */
bool selection_wants(const char *kernel);

/* At the end: says so where no kernel was wanted of those that were launched. */
void selection_end(void);

/* ---- facts of a GPU (device_facts.c) --------------------------------------------------------- */

/* Fills it in. 0 and an empty name stand for facts that the driver does not tell. */
void device_describe(CUdevice device, struct gp_device *facts);

/* ---- least times of a kernel (times.c) ------------------------------------------------------- */

/* Configurations of one kernel that are known; launches with others are not timed again. */
#define GP_TIMED_SHAPES 64

struct gp_times {
    unsigned count;
    struct gp_least_time {
        uint64_t shape; /* gp_configuration_hash */
        double ms;
        unsigned in_vain; /* launches that were timed again and took as long */
    } of[GP_TIMED_SHAPES];
};

/* True where a launch that took so long is to be timed again. */
bool times_doubt(const struct gp_times *times, uint64_t shape, double ms);
/* The least time of a configuration, in milliseconds; 0 where none is known. */
double times_least(const struct gp_times *times, uint64_t shape);

/* A launch took `first` milliseconds, and `ms` at the last: less where it was timed again. */
void times_count(struct gp_times *times, uint64_t shape, double first, double ms);

/* ---- when to verify a launch (verify_schedule.c) --------------------------------------------- */

/* The first launches of a kernel are verified in any case. */
#define GP_VERIFY_FIRST 3

/* True when a launch with that grid, if it is the next, is to be verified: the first three of a
 * kernel, its 10th, 30th, 100th, 300th and so on, and the first few whose grid is not that of the
 * last. */
bool verify_is_due(const struct gp_verify_schedule *schedule, const unsigned grid[3]);
/* True when a launch with that grid is among the first three, or among the first few whose grid is
 * not that of the last: it may do something else than the launches before it. */
bool verify_is_needed(const struct gp_verify_schedule *schedule, const unsigned grid[3]);
/* A launch with that grid has ended, and was verified if it was to be. */
void verify_count(struct gp_verify_schedule *schedule, const unsigned grid[3]);

/* ---- parameters of a launch (parameters.c) --------------------------------------------------- */

/* Where each parameter of a kernel lies in the block. Zeroed, it is not asked for yet. */
struct gp_parameter_layout {
    atomic_bool asked;
    bool known;
    struct gp_parameter {
        uint32_t offset, size; /* bytes */
    } * list;
    size_t count;
};

/* Asks the driver for the layout of a kernel, once; it stays unknown where the driver cannot answer
 * (before CUDA 12.4). `handle` is the program's, `function` the same as a function. */
void parameter_layout_ask(struct gp_parameter_layout *layout, CUfunction handle,
                          CUfunction function);
void parameter_layout_free(struct gp_parameter_layout *layout);

/* Writes a launch's parameters to `bytes`, which has room for GP_MOST_PARAMETER_BYTES; *size
 * becomes how many they are. False where they are not known. */
bool parameters_read(const struct gp_launch *call, const struct gp_parameter_layout *layout,
                     void *bytes, size_t *size);
/* Calls visit with each parameter, or with the block of all, where it lies. False where they are
 * not known; then some may have been visited. */
typedef void parameter_visit(const void *bytes, size_t size, void *data);
bool parameters_each(const struct gp_launch *call, const struct gp_parameter_layout *layout,
                     parameter_visit *visit, void *data);

/* A hash of the parameters on which a launch's work depends: of numbers but for those that are data
 * only (a bit for each word of four bytes, code/data_words.h), of the alignment of addresses, and
 * of which of these lead to the same data; is_address says which they are, of the words of eight
 * bytes at an offset. */
typedef bool gp_is_address(const void *data, size_t at, uint64_t value);
uint64_t parameters_hash_work(const void *bytes, size_t size, gp_is_address *is_address,
                              const void *data, uint64_t data_words);

/* ---- kernels (kernels.c, kernel_facts.c) ----------------------------------------------------- */

/* An answer that is searched for once. */
enum gp_maybe { GP_NOT_ASKED, GP_NEVER, GP_MAYBE };

struct gp_kernel {
    CUfunction handle;   /* as the program launches it: the key */
    CUfunction function; /* the same as a function, where the handle is a CUkernel */
    CUcontext loaded_in; /* the last context in which its code was loaded */
    char *name;          /* mangled */
    char *shown;         /* for people; NULL until asked for */
    bool selected;
    const void *module;         /* its module or library, NULL where the driver does not tell */
    struct gp_reason runs_once; /* why (it prints, say); none: it may run more often */
    bool ended;                 /* by itself; one that cannot be replayed is measured only then */
    bool collected;        /* it ran in a pass of a collection: CUPTI may have patched its code */
    bool timed;            /* in a run that was not its first */
    unsigned host_changes; /* launches in a row in which host memory changed */
    struct gp_times times;
    double longest;     /* seconds that a launch took which has ended, as the host saw it */
    double shortest_ms; /* that it took on the GPU; 0: not known */
    /* It is not measured, and why. Asked at every launch, said while the gate is locked. */
    atomic_bool is_refused;
    struct gp_reason refused;
    atomic_bool waits_for_host; /* single warps of it, by all that is known: launch/polls.c */
    bool unending; /* that is why: it did not end by itself, and is not waited for either */
    /* Whether it reaches memory that its parameters do not lead to but other memory does. */
    enum { GP_REACH_UNKNOWN, GP_REACH_DIRECT, GP_REACH_FURTHER } reach;
    unsigned direct; /* launches of which it is known that they did not */
    enum gp_maybe launches_graphs, uses_textures, waits, polls, spins, loads_addresses, halves;
    atomic_bool is_compiled; /* kernel_compile has done its work */
    bool data_words_known;
    uint64_t data_words; /* code/data_words.h */
    enum gp_maybe address_words_known;
    struct gp_address_words address_words; /* code/address_words.h */
    bool uses_known;
    struct gp_parameter_uses uses; /* code/parameter_uses.h */
    bool writes_known;
    enum gp_write_addresses writes;         /* code/addresses.h */
    _Atomic enum gp_maybe writes_elsewhere; /* kernel_each_root */
    struct gp_pass_cost cost;               /* learned by the collector */
    bool announced;                         /* that instrumented code may take long */
    uint64_t code;                          /* the collector's number for it */
    atomic_bool is_read;                    /* its machine code was asked for */
    struct gp_parameter_layout layout;
    struct gp_verify_schedule schedule; /* how far its reach can be relied upon */
    UT_hash_handle hh;
};

/* True where the calling thread has learned before that the user has not selected the function: no
 * more is to be asked. Takes no lock. */
bool kernel_is_left_out(CUfunction function);

/* True where a launch of the function was not waited for, as it may read the host's memory in a
 * loop. */
bool kernel_polls(CUfunction function);

/* The seconds that it takes, as predicted, to unpack the image that the kernel's code lies in,
 * where nothing was asked of that yet. */
double kernel_reading_seconds(CUfunction function);

/* True where the handle, of a function or of a kernel, is one of its. */
bool kernel_is(const struct gp_kernel *kernel, CUfunction handle);

/* True where it goes with the context, or may, as it is not known to be of a module of another one.
 */
bool kernel_goes_with(const struct gp_kernel *kernel, CUcontext context);

/* Its name in messages. */
const char *kernel_shown(struct gp_kernel *kernel);

/* It did not end by itself. */
void kernel_refuse(struct gp_kernel *kernel, struct gp_reason why);

/* A launch of it reached memory to which only other memory led, or did not. Once is enough. */
void kernel_reached(struct gp_kernel *kernel, bool further);

/* It has ended by itself, after so long. */
void kernel_ended(struct gp_kernel *kernel, double seconds);
/* A run without instrumented code took so long on the GPU. The shortest is in seconds; the longest
 * that the host saw where none is known. */
void kernel_took(struct gp_kernel *kernel, double ms);
double kernel_shortest(const struct gp_kernel *kernel);

/* Has the driver load the kernel's code into the context, the current one: else it does so at the
 * first launch, between the events that time it. */
void kernel_load(struct gp_kernel *kernel, CUcontext context);

/* Says whether page-locked host memory changed while the kernel ran, so that this launch could not
 * be replayed. A kernel of which that is the rule runs once from then on. */
void kernel_host_changed(struct gp_kernel *kernel, bool changed);

/* The machine code of a function of the kernel's module, for the collector: a gp_find_code. */
const void *kernel_find_code(void *kernel, const char *function, size_t *size,
                             struct gp_reason *why);
/* True when it may read memory through textures or surfaces, on a device of compute capability
 * cc / 10: the program has made a texture, and the kernel's code holds such an access, or is not
 * known. */
bool kernel_may_use_textures(struct gp_kernel *kernel, int cc);
/* Machine code is had where its module has PTX alone (compiled.c); not while a stream is captured,
 * nor before CUPTI is there. */
void kernel_compile(struct gp_kernel *kernel);
/* As predicted; 0 where it is done. */
double kernel_compiling_seconds(const struct gp_kernel *kernel);
unsigned kernel_registers(const struct gp_kernel *kernel);
/* The words of its parameters that are data only, by its code: a bit for each. */
uint64_t kernel_data_words(struct gp_kernel *kernel, const struct gp_device *device);
/* The words of its parameters, so many bytes, that may be upper halves of addresses, by its code;
 * NULL: any may be. */
const struct gp_address_words *kernel_address_words(struct gp_kernel *kernel, size_t bytes,
                                                    const struct gp_device *device);
/* The words of its parameters through which it reads and writes, by its code. */
struct gp_parameter_uses kernel_parameter_uses(struct gp_kernel *kernel,
                                               const struct gp_device *device);
/* True when it may read addresses from memory, by its code; also where that is not known. */
bool kernel_may_load_addresses(struct gp_kernel *kernel, const struct gp_device *device);
/* The things on which the addresses depend that its code writes to; anywhere where they are not
 * known. */
enum gp_write_addresses kernel_write_addresses(struct gp_kernel *kernel,
                                               const struct gp_device *device);
/* Calls visit with each parameter of the launch, or with all in one block. False where the kernel
 * may write memory to which these do not lead, or they are not known. From any thread, with the
 * gate locked or not; the code and the layout are asked once, in the current context. */
bool kernel_each_root(const struct gp_launch *call, parameter_visit *visit, void *data);
/* Asks for the layout of its parameters. */
void kernel_ask_layout(struct gp_kernel *kernel);
/* True when its code reads memory in a loop, as one that waits for the host does; false where the
 * code is not known. */
bool kernel_may_poll(struct gp_kernel *kernel, const struct gp_device *device);
/* True when its code reads memory in a loop, as blocks do that wait for each other; false where the
 * code is not known. */
bool kernel_may_spin(struct gp_kernel *kernel, const struct gp_device *device);
/* True when it may compute in half precision (code/halves.h), by its code; also where that was not
 * read for another question before. */
bool kernel_may_compute_halves(const struct gp_kernel *kernel);
/* The cubin for its source lines: a gp_find_cubin. */
void *kernel_find_cubin(void *kernel, size_t most, size_t *size);

/* The facts of a kernel for launches that are only timed (launch/timed.h). */
struct gp_kernel_facts {
    char *name;          /* mangled; to be freed */
    CUfunction function; /* in the current context */
    bool code_read;      /* else it may do all that code can */
    bool may_wait;       /* by its code */
    bool may_poll;       /* the host's memory, the same */
};
/* Asks for them, once for each kernel and context; reads the machine code where that is wanted, and
 * notes it for its source lines. False when out of memory. With the gate entered; no two threads at
 * a time. */
bool kernel_ask_facts(CUfunction handle, const struct gp_device *device, bool reads,
                      struct gp_kernel_facts *facts);
/* Fills in the driver's facts of a function, but for its name. */
void function_describe(CUfunction function, struct gp_record *launch);
/* Rises when functions are forgotten: then their handles may be others'. */
unsigned long kernels_forgotten(void);

/* Fills in the driver's facts of the function: registers, shared memory, limits. */
void kernel_describe(const struct gp_kernel *kernel, struct gp_record *launch);
/* How much of the L1 it wants to be shared memory, in percent; negative: as the driver likes. */
int kernel_carveout(const struct gp_kernel *kernel);

/* A pass goes on while the program does: any kernel may run in it. */
void kernels_all_collected(void);

/* CUPTI keeps the code of all that ran in a pass so far, or will, as it cannot be made to free it.
 */
void kernels_hold(void);

/* ---- a launch that can be made again (kept_launch.c) ----------------------------------------- */

/* A copy of the call with `size` bytes of parameters as the device sees them; to be freed. NULL
 * where it has an attribute that cannot be repeated later (an event of the program's, say), or
 * out of memory. */
struct gp_launch *launch_keep(const struct gp_launch *call, const void *parameters, size_t size);

/* Adds the attributes on which it depends how much a launch finds in the caches. */
uint64_t launch_hash_caches(const struct gp_launch *call, uint64_t hash);

/* ---- times of launches that are not waited for (clocks.c) ------------------------------------ */

struct gp_clock {
    CUevent before, start, end; /* before our own work in front of the launch, and behind that */
    bool begun, started, stopped, ended;
    bool charged; /* our own work is, to us */
    struct gp_clock *next;
};

/* One of the list, or a new one; NULL where there can be none. */
struct gp_clock *clock_take(struct gp_clock **list);
void clock_give_back(struct gp_clock **list, struct gp_clock *clock);

/* Before our own work, and around the launch, in its stream. From any thread; the clock is that of
 * this launch. */
void clock_begin(struct gp_clock *clock, const struct gp_launch *call);
void clock_start(struct gp_clock *clock, const struct gp_launch *call);
void clock_stop(struct gp_clock *clock, const struct gp_launch *call);

/* True where the launch has ended; false also where that is not known. */
bool clock_has_stopped(struct gp_clock *clock);
/* True where the work in front of the launch in its stream has ended; false also where that is not
 * known. */
bool clock_has_started(const struct gp_clock *clock);
/* Milliseconds between the two events; 0 where that is not known. */
float clock_read(const struct gp_clock *clock);

/* Milliseconds that our own work took, once; 0 where that is not known. */
float clock_charge(struct gp_clock *clock);

/* Frees the list; the events too, where the context is alive. */
void clocks_free(struct gp_clock **list, bool context_alive);

/* ---- the stays of a GPU's session with contexts (stays.c) ------------------------------------ */

/* The session of a GPU counts in one context at a time, and to move it to another one, a switch,
 * takes a third of a second. All times are seconds of the clock. */
struct gp_stays {
    double began;       /* the GPU is in use since then */
    double came;        /* the session, to the context that has it */
    double used;        /* the last launch of that context */
    bool read;          /* launches of that context were read since */
    double spent, last; /* that all switches took, and the last one */
};

/* The GPU is used from now on; the session has come to a context; a launch is made there; a switch
 * took so long. */
void stays_begin(struct gp_stays *stays, double now);
void stays_came(struct gp_stays *stays, double now);
void stays_used(struct gp_stays *stays, double now);
void stays_switched(struct gp_stays *stays, double seconds);
/* The end of the stay, for a context whose launches wait since then: once others were read, or
 * after a second; at once where the context with the session has made no launch since. */
double stays_end(const struct gp_stays *stays, double since);
/* The time from which on one more switch is permitted, so that all of them together take a tenth of
 * the time; at once where that does not matter (`in_any_case`). */
double stays_permit(const struct gp_stays *stays, bool in_any_case);

/* ---- contexts (contexts.c, context_rest.c, disturbed.c) -------------------------------------- */

struct gp_gpu {
    int ordinal;
    struct gp_stays stays;
    struct gp_context *holder; /* its session is there; NULL: nowhere, or sessions do not exclude */
    struct gp_context *last;   /* the last holder, while it is there */
    unsigned contexts, most_contexts; /* that are there, and that were at one time */
    unsigned first_stays;             /* of contexts */
    struct gp_collection_facts facts; /* of collections on it; no collector: not known yet */
    struct gp_gpu *next;
};

/* Events that mark the start of a launch. */
#define GP_STARTS 4

struct gp_context {
    CUcontext handle;
    struct gp_gpu *gpu;
    bool had_session; /* the session was there, and not cut short */
    enum { GP_LATER_STAY, GP_FIRST_STAY, GP_OF_ROUND } stay; /* the last one; in the first round */
    double unheld_since;       /* a launch could not wait for the session; 0: none since it left */
    bool no_room;              /* for one more copy, beside those that wait for the session */
    struct gp_reason not_come; /* the session could not be had, for that reason */
    struct gp_device device;   /* CUPTI's part once it is `described`: the context was idle then */
    bool described;
    bool time_limited;                /* the GPU drives a display: it ends kernels that take long */
    struct gp_collection *collection; /* NULL: nothing is collected there at present */
    struct gp_snapshot *snapshot;     /* NULL until a launch is to be replayed */
    struct gp_snapshot *graph_snapshot; /* of a whole graph (launch/again.h); the same */
    struct gp_reason no_snapshot;       /* why there can be none; none while there may be */
    struct gp_measurement *launches;    /* of its batch, in their order */
    struct gp_measurement *unwritten;   /* given up, and their copies are still to be written */
    double amended;                     /* seconds that passes of launches took, in this drain */
    unsigned lost;                      /* so many of them were, which is still to be said */
    struct gp_reason why_lost;
    bool counts_hardware;      /* there is a session, since the first of those */
    bool wait_failed;          /* the last wait for those, or for work in front of them */
    double deferred_backoff;   /* as `backoff`, of these waits */
    double start_backoff;      /* of waits for the next of those to start */
    double others_backoff;     /* of waits for it before launches of other contexts are counted */
    bool deferred_stuck;       /* such launches took too long, and are not waited for any more */
    double deferred_seconds;   /* that those took which were not waited for, as expected */
    struct gp_clock *clocks;   /* of launches that were not waited for; free at present */
    CUevent event;             /* after a launch: for waiting; it takes no time */
    CUevent asked;             /* to ask whether the context is at rest; nor does it */
    CUevent end;               /* after a launch: its time */
    CUevent starts[GP_STARTS]; /* before a launch, one right after the other */
    float empty_ms;            /* least time seen between two of these; 0: none yet */
    bool tail;                 /* `event` marks the end of our own work for the last launch */
    bool busy; /* a wait for the context ran out: until `event` happens nothing is measured */
    uint64_t common_turns; /* taken by launches of all kernels, see launch/measure.c */
    double
        backoff; /* seconds: the last wait for it was in vain, the next is shorter; 0: it was not */
    unsigned held_up; /* waits in vain, one after the other, for kernels that wait for the host */
    bool in_pass;     /* whose kernel was abandoned: the pass is ended once the context is idle */
    struct gp_step open_pass;
    struct gp_reason
        on_trial; /* why the hardware counts nothing; whether more is counted shows soon */
    bool dead;    /* a kernel failed: nothing works in it any more */
    struct gp_context *prev, *next;
};

/* The context, which is current; NULL with the reason in *why, which is none for a context that has
 * failed and of which that was said. */
struct gp_context *context_enter(CUcontext handle, struct gp_reason *why);
/* The lists of contexts, and of GPUs that had some, through `next`. */
struct gp_context *contexts_first(void);
const struct gp_gpu *gpus_first(void);
/* Makes the context current for a while; false where it is dead or gone. */
bool context_push(const struct gp_context *context);

/* Reads and records all launches of a context that collects, and then ends its collection. The
 * context is current while it is alive. */
void context_read_all(struct gp_context *context, bool alive);
void context_close_collection(struct gp_context *context, bool alive);

/* Ends the pass in which a kernel was abandoned, if there is one: the context is idle now. */
void context_end_pass(struct gp_context *context);

/* Says once that the hardware counts nothing, and the measurements that are made all the same. */
void say_without_hardware(bool instrumented, struct gp_reason why);

/* True where something can be replayed there: no kernel has failed, or was abandoned and runs on.
 */
static inline bool context_goes_on(const struct gp_context *context)
{
    return !context->dead && !context->busy;
}
/* True where a kernel was abandoned in it, or is known not to end by itself, and has not ended. */
bool context_is_held_up(const struct gp_context *context);
/* Waits for the context, which is current: CUPTI ends a pass by waiting for all there is in it, and
 * that must come to an end. CUDA_ERROR_NOT_READY where it does not. Where the program goes on, and
 * launches behind blocked work are deferred, only the first wait is long. */
CUresult context_rests(struct gp_context *context, bool goes_on);
/* Waits as context_rests, also where a stream may be captured, which our own wait would
 * invalidate: then it is left to CUPTI to wait, or, at the end of the process, the collection as it
 * is. */
CUresult context_comes_to_rest(struct gp_context *context, bool goes_on, bool at_end);

/* gp_wait_for_rest, `most` seconds at most, and less where the last such wait was in vain. */
CUresult context_wait(struct gp_context *context, double most, double *waited);
/* How long to wait, and a note of how that went; *backoff is 0 at first. */
double backoff_limit(double most, double backoff);
void backoff_note(double *backoff, CUresult result, double waited);
/* Waits for our own work for the last launch that was measured: the time that it takes is added,
 * and that of the program's work is not. */
void context_wait_for_tail(struct gp_context *context);

/* The context's snapshot of launches, and the one of a whole graph; made when first
 * asked for. NULL with the reason in *why. */
struct gp_snapshot *context_snapshot(struct gp_context *context, struct gp_reason *why);
struct gp_snapshot *context_graph_snapshot(struct gp_context *context, struct gp_reason *why);

/* Why memory of the context may change while a launch is replayed there: none where nobody else can
 * write it, or all others that can are idle. */
struct gp_reason context_disturbed(const struct gp_context *context);
/* Why memory that is every context's may change while a launch is replayed in this one: none where
 * nobody else can write it, or all others that can are idle. */
struct gp_reason others_disturb(const struct gp_context *context);

/* The memory at that address is about to be freed, with the gate locked: true where it was retired
 * instead (memory/retired.h), and all launches stay held. Where the GPU was waited for in vain
 * *may_replay becomes false. */
bool contexts_retire(const struct gp_program_change *change, bool *may_replay);

/* The memory is about to be freed, and was not retired: true where a copy of it is still to be
 * made, and it is kept until that is over. With the gate locked, or queued for it. */
bool contexts_keep(const struct gp_program_change *change);

/* ---- CUPTI is detached (detach.c) ------------------------------------------------------------ */

/* A session has come, which took so long. The gate is locked. */
void detach_session_came(double seconds);
/* A launch is measured. */
void detach_launch_measured(void);
/* At each launch of a kernel, as gp_detach_counts_graph. */
void detach_counts_launch(void);
/* Whether the launch that passes is one of which the driver's time is to be known; and that. */
bool detach_times_launch(void);
void detach_launch_took(uint64_t ns);
/* True where CUPTI has gone, and comes again with the next session. From any thread. */
bool detached(void);
/* The seconds that launches took longer so far as CUPTI was there, as far as is known. */
double detach_seconds(void);

/* ---- the session goes from context to context (moves.c) -------------------------------------- */

/* Makes the current context, which is idle (CUPTI waits for it), ready to collect: its launches can
 * be measured, or wait for the session, which is away. False with the reason in *why. */
bool context_collects(struct gp_context *context, struct gp_reason *why);

/* True where the context collects, and the session is with another one. */
bool context_is_away(const struct gp_context *context);
/* True where its launches have waited long enough to be read. */
bool context_is_due(const struct gp_context *context);
/* True where no more launches may wait for the session there. */
bool context_is_full(const struct gp_context *context);
/* True where the session is there, or may come now: the stay with another context is over, or does
 * not matter (`in_need`), and switches have not taken too long. */
bool context_may_have_session(const struct gp_context *context, bool in_need);
/* Has it come where it may: then true. The context is current, and idle. */
bool context_fetches_session(struct gp_context *context, bool in_need);
/* The session comes to the context at that time at the earliest, as far as is known. */
double context_awaits_session(const struct gp_context *context);

/* Ends the stays of the session with all contexts that have it. False where something is at work in
 * any context; unless it may wait, also where launches wait there to be read. */
bool contexts_leave_sessions(bool may_wait);

/* A launch is made there. */
void context_notes_launch(struct gp_context *context);

/* The session has been closed with its collection, or the context goes. */
void context_loses_session(struct gp_context *context);

/* Waits until other contexts of the GPU are at rest, as their work would be counted: a tenth of a
 * second at most, and less where the last wait for one was in vain. */
void context_awaits_others(const struct gp_context *context);

/* Reads launches that have waited for long enough in all other contexts that are at rest: their own
 * next launch may be far. */
void contexts_read_others(const struct gp_context *context);
/* Launches on parts of divided memory that are held in contexts of other GPUs make their passes,
 * where these are at rest. The gate is locked, and no pass has begun. */
void contexts_drain_other_gpus(const struct gp_context *beside);

/* Measures the launches that are held in contexts that come to rest within the bounded wait, and
 * may have the session; others stay held. With the gate locked, and nothing captured. */
void contexts_drain_at_rest(void);

/* Ends collecting everywhere, for good: the process ends. The counts are read and recorded;
 * where they cannot be read, as the gate cannot be locked while somebody waits for the GPU, it
 * is absent. */
void contexts_end(bool read);

/* ---- writes that are not replayed (program_writes.c) ----------------------------------------- */

/* Before a launch that is not replayed, or whose copies know of no digests: divided memory
 * (memory/divided.h) that it may write counts as written. Where its code says so that is memory to
 * which its parameters lead; else, and for NULL, all of it. True where held launches reach some of
 * that: these are to be drained before. */
bool launch_writes_held(const struct gp_launch *call);
/* Acts as gp_launch_before_write and gp_launch_after_write, with the gate locked. False where the
 * write is not followed: then launches that need the memory are to be drained. */
bool launch_follows_write(CUdeviceptr to, uint64_t bytes, CUstream stream);
void launch_followed_write(void);
/* Makes the passes of held launches that need memory as it is: divided memory is about to be
 * written, maybe that of another GPU. The gate is locked. (measure.c) */
void drain_before_write(struct gp_context *c);

/* ---- kernels that wait for the host (polls.c) ------------------------------------------------ */

/* Blocks that wait for each other read their flags in the same way: cuDNN's do, in kernels that get
 * memory of the host besides. For the host a single warp waits. */
static inline bool is_one_warp(const struct gp_configuration *c)
{
    const unsigned *g = c->grid, *b = c->block;
    return (uint64_t)g[0] * g[1] * g[2] == 1 && (uint64_t)b[0] * b[1] * b[2] <= 32;
}

/* True where the launch is a single warp, one of its parameters is an address that the host can
 * write, and the kernel's code reads such memory in a loop, as one that waits for a flag does. The
 * gate is locked. */
bool launch_polls(struct gp_kernel *kernel, const struct gp_launch *call,
                  const struct gp_context *context);

/* ---- whether a launch can be measured now (ready.c) ------------------------------------------ */

/* A stream other than the default ones knows its context; a launch goes there, current or not. */
bool stream_is_in_context(CUstream stream, CUcontext context);

/* The current context, if launches into the stream go there and are measured; NULL where not, and
 * why. */
struct gp_context *stream_context(CUstream stream, enum gp_passed_over *why);

/* The context that the launch can be measured in; NULL where it cannot be, and why. True in
 * *held_up where a wait for other work ran out. */
struct gp_context *ready_for(const struct gp_launch *call, struct gp_kernel *kernel, bool *held_up,
                             enum gp_passed_over *why);

/* True where any launch into the stream can be measured now; else *why says why not. */
bool ready_in(CUstream stream, enum gp_passed_over *why);
/* True when all that was launched in the stream's context ends within the bounded wait. */
bool rests_in(CUstream stream);

/* ---- launches that stand for one of the program's (launch.c) ----------------------------------
 */

/* True while such launches are made, by any thread; and with other work between them that writes
 * unseen. */
bool launch_is_in_series(void);
bool launch_writes_come_unseen(void);

/* ---- the measurement of a launch (measurement.c) --------------------------------------------- */

/* Seconds that a kernel is waited for at least when it runs again, however impatient the user is:
 * its memory would be lost. */
#define GP_LEAST_REPLAY_LIMIT 30

struct gp_measurement {
    struct gp_member member;      /* its state, and its counters */
    const struct gp_launch *call; /* the program's, and from its end on the kept one, if any */
    struct gp_kernel *kernel;
    struct gp_context *context;
    uint64_t index; /* among the launches of the process */
    double started; /* by the host's clock */
    double drained; /* seconds of drains up to then: those that it makes are other launches' */

    /* Its runs. */
    struct gp_snapshot *snapshot;  /* taken; NULL: the kernel runs once */
    struct gp_reason not_replayed; /* why it cannot run again */
    struct gp_reason broken_off;   /* why a pass could not be made */
    double not_ours; /* seconds of its record's: its own run, its batch's work, unpacking of code */
    unsigned runs;   /* of the kernel */
    double most_ms;  /* the kernel took no longer in a pass; 0: not known */
    double launching;  /* seconds that the call of the program's own launch took */
    double seconds;    /* the program's own run took, as the host saw it; 0: not known */
    bool time_is_late; /* its end was marked when the host saw it, in any state */
    uint64_t restored_bytes;

    /* Its wait for the batch. */
    struct gp_launch *kept; /* the call, with its parameters */
    void *parameters;
    struct gp_held_copy *copy;  /* that it runs again from; NULL: the snapshot's */
    struct gp_held_copy *parts; /* held before its own run, for the launches before it */
    bool not_to_be_held;        /* before its own run that is known */
    bool unverified; /* its batch will show whether it wrote to other parts: no replay before */
    struct gp_clock *clock; /* of its own run, where that was not waited for */
    atomic_bool under_way;  /* its thread is about to launch it: set beside the gate */
    bool searched; /* its copy leads to no other memory: found at any time before it ends */

    /* Its record. */
    struct gp_record record; /* without its counters */
    char *kernel_name; /* the kernel may be unloaded by the time it is read; NULL: no record */
    struct gp_reason not_run, not_run_at_first; /* why a pass was not made */
    double duration_ns;                         /* of the kernel alone; 0: it was not timed */
    struct gp_counter *more_counters; /* of the diagnosis, `more_count` of them; NULL: none */
    size_t more_count;
    double since;        /* seconds: the record waits to be read */
    double added_before; /* seconds that we had added by then */
    enum { GP_EARLY_NONE, GP_EARLY_WRITTEN, GP_EARLY_AGAIN } early; /* its early line */

    struct gp_measurement *prev, *next;
};

/* The duration of a launch of which other launches of its kernel are timed. */
#define GP_DURATION_ELSEWHERE (-1.0)

static inline struct gp_measurement *measurement_of(struct gp_member *member)
{
    return (struct gp_measurement *)((char *)member - offsetof(struct gp_measurement, member));
}

/* A launch that is measured together with others of its batch, later. */
static inline bool measurement_waits(const struct gp_measurement *m)
{
    return m->copy && m->member.state != GP_LAUNCH_GIVEN_UP;
}

/* A new measurement of a launch, in no batch yet; NULL when out of memory. And the end of one that
 * is in no list. */
struct gp_measurement *measurement_new(const struct gp_launch *call, struct gp_kernel *kernel,
                                       struct gp_context *c);
void measurement_free(struct gp_measurement *m);

/* Enters the launch into its context's batch, which has room. */
void measurement_enter(struct gp_measurement *m);

/* The facts that tell its reach. Its parameters are noted, which stay until the next launch, and a
 * hash of those on which its work depends. The context has a snapshot. */
struct gp_reach measurement_reach(struct gp_measurement *m);

/* ---- its own run (own_run.c) ----------------------------------------------------------------- */

/* The program's own launch, as it is: in a pass, even to come back from a kernel that waits for the
 * host could take for ever. Its result is the program's. True in *ended when the kernel has run to
 * its end. */
CUresult own_run(struct gp_measurement *m, bool *ended);
/* The program's own launch, in a pass. A launch that is refused there, where the code may need more
 * than there is, is made plainly. */
CUresult own_run_in_pass(struct gp_measurement *m, const struct gp_step *step);

/* Marks the start of the kernel's time on the GPU; false where it cannot be taken. And takes it,
 * when the kernel has ended. */
bool start_launch_clock(struct gp_measurement *m);
void read_launch_clock(struct gp_measurement *m);

/* The kernel took so long: the program would have waited for it, and have launched others
 * meanwhile. */
void leave_to_program(struct gp_measurement *m, double seconds);

/* Records an event behind the launch, in its stream. */
CUresult record_launch_event(const struct gp_launch *call, CUevent event);
/* Waits for the kernel that was launched last, `seconds` at most, and longer where its code cannot
 * wait for anybody (gp_wait_computing_limit). CUDA_ERROR_NOT_READY when it has not ended by then.
 */
CUresult wait_for_kernel(struct gp_measurement *m, double seconds, double *waited);
/* The kernel has not ended: nobody waits for it any more, and it is never measured again. */
void abandon_kernel(struct gp_measurement *m, double seconds);
/* The kernel has failed: nothing works in the context any more. */
void context_died(struct gp_measurement *m, CUresult error);

/* ---- its replays (replay.c) ------------------------------------------------------------------ */

/* True where the limit to the added time permits the step of the launch. Else its reason says so.
 */
bool step_is_permitted(struct gp_measurement *m, const struct gp_step *step);
/* Makes a step of the launch: a replay. False where it did not end well; m->broken_off says why. */
bool replay_step(struct gp_measurement *m, const struct gp_step *step);
/* Makes all steps of a launch that cannot wait, a replay each. */
void replay_at_once(struct gp_measurement *m);
/* How long it took is known: whether it is to be seen first that it ends. */
void measurement_note_unsure(struct gp_measurement *m);
/* Puts memory back to where the program's own run started from. False where that must not be, with
 * the reason in the measurement. `by_driver`: as put_in_place. */
bool rewind_memory(struct gp_measurement *m, bool by_driver);
/* Runs the launch once more, plainly: nothing is counted, and memory is in place. The same. */
bool rehearse_launch(struct gp_measurement *m);
/* Runs the kernel once more, plainly, for its time. False where it does not end, or has failed. */
bool time_replay(struct gp_measurement *m);
/* Takes the kernel's time once more, in a plain replay, where it is in doubt. */
void check_time(struct gp_measurement *m);
/* Takes the kernel's time once more in a drain, where it was longer than in a pass. True where the
 * time is another one now. */
bool check_time_again(struct gp_measurement *m);
/* Puts the copy of a held launch in place. `by_driver`: where CUPTI's code is. False where that
 * must not be. */
bool put_in_place(struct gp_measurement *m, bool by_driver);
/* Makes memory as the program's own run left it, unless a kernel is still writing it. */
void put_back_final_state(struct gp_measurement *m);
/* Memory could not be put back, behind a replay or a graph, say: nothing is measured any more. */
void not_put_back(const char *behind, struct gp_reason why);
/* Waits for the kernel that was launched in a pass. CUDA_ERROR_NOT_READY when it was abandoned. */
CUresult wait_in_pass(struct gp_measurement *m, const struct gp_step *step);
/* Runs the kernel in a pass that has begun. The launch's result in *result; true when the pass
 * ended well. */
bool begin_pass(struct gp_measurement *m, const struct gp_step *step);
bool run_launch_pass(struct gp_measurement *m, const struct gp_step *step, CUresult *result);
/* Why the pass is not to be made, where the GPU might end the kernel in it, and the program's
 * context with it, or it might hold the program up for minutes; else no reason. */
struct gp_reason pass_is_too_slow(const struct gp_measurement *m, enum gp_step_kind kind);
/* Whether the kernel's duration is among the counters, which we take ourselves. */
bool wants_time(const struct gp_measurement *m);

/* ---- one measurement (measure.c) ------------------------------------------------------------- */

/* Makes the launch, the index-th of the process, and measures it; the result is that of the
 * program's own run. turn: how many launches of this kernel and configuration were measured before.
 */
CUresult measure_launch(const struct gp_launch *call, struct gp_kernel *kernel,
                        struct gp_context *context, uint64_t index, uint64_t turn);

/* ---- launches that are counted together (together.c) ----------------------------------------- */

/* Makes a step of the bundle of which this launch is the first, or its blank. False where it was
 * not made; the reason is in that launch. */
bool count_together(struct gp_measurement *first, const struct gp_step *step);

/* ---- records of launches (records.c) --------------------------------------------------------- */

/* Makes the launch's record, or makes it anew; it waits to be read. `goes_on`: passes are still to
 * be made. */
void record_make(struct gp_measurement *m, bool goes_on);

/* The launch, which is not recorded yet, was replayed later and took so long for it; or it could
 * not be, and the reason becomes that of every missing value (none: it was). */
void record_amend(struct gp_measurement *m, double added_ms, struct gp_reason broken_off);
/* The kernel's time is known, or another one. */
void record_time(struct gp_measurement *m);

/* Writes down a launch whose own run has ended, before its passes; `again`: records_note does so
 * as well. */
void record_note_own_run(struct gp_measurement *m, bool again);

/* True when it is time to read the context's launches: there is no room for more, or one has waited
 * for a second. */
bool records_are_due(const struct gp_context *c);
/* True where a launch waits to be read; the first one; NULL: none does. */
bool records_wait(const struct gp_context *c);
/* True where its record has been written for good. */
bool record_is_written(const struct gp_measurement *m);
const struct gp_measurement *records_first(const struct gp_context *c);

/* Records launches that were read already, as the session went from one pass to the next, and
 * writes down the known part of the others, in case the process ends before they are read. */
void records_note(struct gp_context *c);

/* Reads and records all, and empties the batch. With the context gone the hardware's counters are
 * lost. */
void records_settle(struct gp_context *c, bool context_alive);

/* ---- launches that wait for their batch (held.c) --------------------------------------------- */

/* Keeps the call and its parameters, for later; false where that cannot be. */
bool held_keep(struct gp_measurement *m);

/* The launch waits for the next drain of its context, with that copy. */
void held_enter(struct gp_measurement *m, struct gp_held_copy *copy);

/* The first launch that waits in the context; the next one after it. NULL where there is none. */
struct gp_measurement *held_first(const struct gp_context *c);
struct gp_measurement *held_next(const struct gp_measurement *m);

/* Nothing more is to be had of it. Where its copy is still to be written, as its stream has not
 * come there, it is given up, and the room of the copy stays taken until then. */
void held_release(struct gp_measurement *m);
/* The launch has left the batch: it is freed, or waits for its copy to be written. */
void held_leave(struct gp_measurement *m);
/* Releases launches that were given up and whose copy is written by now; all that their threads
 * have launched, where the context is idle. */
void held_release_written(struct gp_context *c, bool idle);
/* True where the copy of a launch that was given up is still to be written. */
bool held_any_unwritten(const struct gp_context *c);

/* True where a copy of some of these bytes is still to be made. */
bool held_to_be_written(const struct gp_context *c, CUdeviceptr address, uint64_t bytes);

/* ---- launches that are not waited for (deferred.c) ------------------------------------------- */

/* To drain a batch is to wait for all of its launches: they may take so many seconds together, as
 * far as is known. */
#define GP_MOST_DEFERRED 0.1

/* Holds a launch that is about to be made; NULL where it is to be measured at the launch. The GPU
 * may be at work. The gate is locked. To be followed by launch_with_copies. */
struct gp_measurement *launch_defer(const struct gp_launch *call, struct gp_kernel *kernel);

/* Makes that launch, the program's own, with the copies in front of it in its stream. The gate is
 * passed, and not closed: a full stream holds the call up. */
CUresult launch_with_copies(struct gp_measurement *m, const struct gp_launch *call);

/* Waits for deferred launches as long as one after the other runs, and returns how many seconds:
 * they end by themselves, however long they take. All together get the limit of one such kernel.
 * Those that do not begin, as their stream is blocked, are not waited for. The context is current,
 * and nothing is being captured in it. */
double deferred_wait(struct gp_context *c);

/* A wait of so many seconds for the context, which is idle now, was the program's, but for the work
 * of ours in front of its launches: that is added, and where the program itself has waited for it
 * counts as work beside. */
void leave_wait_to_program(struct gp_context *c, double waited);

/* The first passes of the launch, in a drain: others make them at the launch. */
void measure_in_drain(struct gp_measurement *m);
/* No pass of it will be made: takes the time of its own run, if that has ended. */
void time_deferred(struct gp_measurement *m);
/* Only finds out whether its copy leads to other memory. False where it does; then there is nothing
 * to measure. */
bool search_deferred(struct gp_measurement *m);

/* ---- the steps of a batch (drain.c) ---------------------------------------------------------- */

/* True where the launch, whose memory was just copied, can be held. */
bool launch_may_be_held(struct gp_measurement *m);

/* Holds a launch that has passes to come; its record is amended then. False where that cannot be:
 * then these are to be made now. */
bool hold_launch(struct gp_measurement *m);

/* Drains the context's launches, and reads and records all that waits for it. Where it is not
 * alive, or something runs in it that does not end, held launches are given up. The context is
 * current while it is alive, and idle. */
void drain_context(struct gp_context *c, bool alive);
/* Seconds that all drains have taken; with the gate locked. */
double drain_seconds(void);

/* Makes the further passes of the launches that a change concerns. The same. */
void drain_before_change(struct gp_context *c, const struct gp_program_change *change, bool alive);
/* True where it is quicker to drain all that are held: one of these is, as far as is known, like
 * none before it, or to compare them one by one takes longer. */
bool is_batch_quicker(const struct gp_context *c, const struct gp_program_change *change);
/* True where the change concerns a held launch of the context. */
bool context_is_concerned(const struct gp_context *c, const struct gp_program_change *change);

/* Deferred launches of the kernel of which that is not known. */
unsigned held_unsearched(const struct gp_context *c, const struct gp_kernel *kernel);
/* Finds out whether copies of deferred launches lead to other memory: then the kernel's next ones
 * are waited for. False where one is under way. */
bool search_held(struct gp_context *c);
/* Notes memory that is freed: copies that were not searched yet may lead to it. */
void held_note_freed(const struct gp_context *c, const struct gp_program_change *change);

/* ---- launches that pass unmeasured (passing.c) ----------------------------------------------- */

/* The program makes a launch, on this thread. */
void passing_begins(void);
/* Whether the time of the launch is wanted, and so the driver's part of it. */
bool passing_is_timed(void);
/* The driver's part took so long; of each try, where the first one was out of memory. */
void passing_driver_took(uint64_t ns);
/* It passed unmeasured; the host's time goes into the account. */
void passing_ends(void);

/* ---- the diagnosis (diagnosis.c) ------------------------------------------------------------- */

/* Launches that a drain diagnoses. */
#define GP_MOST_DIAGNOSED 64

struct gp_chosen {
    struct gp_measurement *launch; /* the longest of its kernel or configuration */
    double ms;                     /* of all launches of that in the batch */
    uint64_t samples;
    bool is_sampled; /* it has enough of them, or gets no more */
};

/* No context collects any more but this one, which is about to be drained for the last time. */
void diagnosis_last_context(const struct gp_context *c);

/* Diagnoses a launch that cannot wait, behind its passes: with --diagnosis full. Memory is as a
 * replay left it. */
void diagnose_launch(struct gp_measurement *m);

/* Diagnoses launches of a batch whose steps have been made; their copies are there still. The
 * context is current. */
void diagnose_batch(struct gp_context *c);

/* ---- the counters of the diagnosis (diagnosis_counts.c) -------------------------------------- */

/* Counts them for these launches of the context, whose collection has left it: each has them in its
 * record. False with the reason in *why where CUPTI refuses. */
bool diagnosis_count(struct gp_context *c, const struct gp_chosen *list, size_t count,
                     struct gp_reason *why);

/* ---- totals for a monitoring system (metrics_file.c) ----------------------------------------- */

/* Reads GPUPROF_METRICS_FILE. */
void metrics_file_start(void);
bool metrics_file_is_wanted(void);
/* Whether the time of its next writing has come. */
bool metrics_file_is_due(void);
/* Makes the text, and writes it. */
void metrics_file_make(const struct gp_summary *summary, uint64_t launches, struct gp_text *out);
void metrics_file_write(const struct gp_text *text);

/* ---- a thread that notes ended launches (ended.c) -------------------------------------------- */

/* Starts the thread, once. */
void ended_start(void);
/* Nothing is asked of the driver any more: the process ends. Waits for the thread no longer than a
 * second. */
void ended_stop(void);

/* A deferred launch whose end is marked by the clock. `empty_ms`: the time between two events with
 * nothing between them. */
void ended_watch(CUcontext context, const struct gp_clock *clock, uint64_t index, float empty_ms);
/* Before the clock is used again: it is asked no more. False where it is asked in this moment, and
 * the driver does not answer: then it must stay as it is. */
bool ended_forget(const struct gp_clock *clock);
/* The clocks of a context that is about to go are asked no more. */
void ended_forget_context(CUcontext context);

/* ---- launches that are only timed (timed.c, timed_contexts.c) -------------------------------- */

/* Asks which counters the user wants; the driver has been started. False where none: then all
 * launches are only timed, and CUPTI is not needed. Before the first launch. */
bool timed_counters_are_wanted(void);

/* Nothing can be counted in the context (`why`): launches there are
 * only timed from now on. Where that may pass (`for_now`) it is to be tried again, after ten
 * seconds at first, and ever later: then they are not, until this is said again. */
void timed_only_in(CUcontext context, const struct gp_device *device, struct gp_reason why,
                   bool for_now);

/* The counters are with another context until then (seconds of the clock), at least: launches of
 * this one are only timed, without a word. */
void timed_only_until(CUcontext context, const struct gp_device *device, struct gp_reason why,
                      double until);

/* True once some launch was to be timed in that way. */
bool timed_any(void);

/* Records the launches of all contexts as gp_timed_leave, as the process ends. */
void timed_end(void);

/* ---- timed launches that are under way (under_way.c) ----------------------------------------- */

/* Launches of a context that are under way; more are not timed. */
#define GP_MOST_UNDER_WAY 8192u

struct gp_timed_launch {
    struct gp_record record; /* its kernel's name is its own; no counters yet */
    CUevent before, start, end;
    bool has_before; /* `before` and `start` stood in line before the GPU came there */
    bool behind;     /* it may stand behind work that may hold its stream up */
    bool shared;     /* another launch may stand between its events, from another thread */
    bool may_load;   /* the driver may have loaded its code between the events */
    bool late;       /* the GPU came to `start` before the host had launched the kernel */
    bool noted;      /* an early line has been written */
    struct gp_whole_times *whole; /* it is a graph, timed as a whole; NULL: a kernel */
    double host_ms;               /* that the host took for the launch */
    double unpacked;              /* seconds of its record's in which code was unpacked */
    struct gp_timed_launch *next;
};

struct gp_under_way {
    struct gp_timed_stream *streams, *next_asked;
    struct gp_timed_launch *unused;
    unsigned made;
};

/* The launches of a stream; a default stream that is the thread's own is another one in each. */
struct gp_timed_stream {
    struct {
        CUstream stream;
        uint64_t thread;
    } key;
    struct gp_timed_launch *first, *last;
    unsigned behind; /* launches among them that may stand behind such work */
    unsigned open;   /* launches that threads are making now */
    uint64_t met;    /* so often one of them began beside another one */
    UT_hash_handle hh;
};

/* The stream of the launch; NULL when out of memory. Valid until the next call. */
struct gp_timed_stream *timed_stream_of(struct gp_under_way *u, const struct gp_launch *call);

/* Around the calls of one launch into the stream: the answer of the first goes to the second, which
 * is true where another launch was made in between. */
uint64_t timed_stream_opens(struct gp_timed_stream *stream);
bool timed_stream_closes(struct gp_timed_stream *stream, uint64_t met);

/* A launch with its events, in no stream yet; NULL where there are too many. The context is
 * current. */
struct gp_timed_launch *timed_launch_take(struct gp_under_way *u);
void timed_launch_give_back(struct gp_under_way *u, struct gp_timed_launch *launch);
/* It was launched into that stream. */
void timed_launch_enter(struct gp_timed_stream *stream, struct gp_timed_launch *launch);

/* One of the streams, another one each time; NULL where there is none. */
struct gp_timed_stream *timed_stream_next(struct gp_under_way *u);

/* The first launch of the stream where it has ended, or can never be asked: it is in no stream from
 * then on. NULL where there is none, or it has not. *failed becomes true where an error kept it
 * from being asked. */
struct gp_timed_launch *timed_stream_ended(struct gp_timed_stream *stream, bool *failed);
/* The first launch of any stream, ended or not; NULL: none is left. */
struct gp_timed_launch *under_way_drop_first(struct gp_under_way *u);

/* A launch that is in no stream any more, and all of them, go without their context, or with it:
 * then events are destroyed. */
void timed_launch_free(struct gp_timed_launch *launch, bool context_alive);
void under_way_free(struct gp_under_way *u, bool context_alive);

/* ---- a context whose launches are only timed ------------------------------------------------- */

/* A context whose launches are only timed, from within: its list (launch/timed_contexts.c), the
 * facts of its kernels (launch/timed_facts.c), its records (launch/timed_records.c). */

/* A kernel in the context, by the handle that the program launches. */
struct gp_timed_facts {
    CUfunction handle;
    struct gp_kernel_facts kernel;
    struct gp_record described; /* by the driver */
    unsigned long changes;      /* of attributes, when it was */
    bool may_load; /* the driver may load its code at its next launch, between the events */
    UT_hash_handle hh;
};

/* Contexts are never freed, so that they can be searched without a lock; one that has gone is used
 * again for another one. */
struct gp_timed_context {
    _Atomic(CUcontext) handle; /* NULL: none */
    bool green;
    atomic_bool is_only_timed;
    atomic_ullong ask_at; /* nanoseconds of the clock: until then it is; 0: for good */
    double ask_after;     /* seconds that the last such time lasted */
    struct gp_reason why; /* nothing is counted; none: nothing is asked for */
    struct gp_device device;
    struct gp_counter *counters; /* of a record; the time is one of them */
    size_t count, time;
    pthread_mutex_t lock; /* of all below */
    uint64_t life;        /* how often it was another context before */
    struct gp_under_way under_way;
    struct gp_timed_facts *facts;
    unsigned long forgotten; /* functions, when these were found */
    bool pause_tried;
    struct gp_pause pause;
    double usual_ns; /* from a pause to the end of the launch behind it, on the host */
    unsigned pauses;
    float empty_ms; /* least time between two events with nothing between them */
    /* Blocking work (gate/blocking.h) that has ended; and before the mark, an event. */
    unsigned long ended[GP_BLOCKING_KINDS], before_mark[GP_BLOCKING_KINDS];
    CUevent mark;
    bool marked;
    struct gp_timed_context *_Atomic next;
};

/* ---- the list of contexts (timed_contexts.c) ------------------------------------------------- */

/* All of them, those that nobody has included, through `next`. */
struct gp_timed_context *timed_contexts(void);

/* The context of launches into the stream; NULL, and why, where it is another one than the current
 * one. */
struct gp_timed_context *timed_context_of(CUstream stream, enum gp_passed_over *why);

/* ---- facts of its kernels (timed_facts.c), with the context locked --------------------------- */

/* NULL where they cannot be had now. The driver may load the kernel's code meanwhile. It is read
 * where the limit permits that: out of the money for times, or, where it is needed, of all. */
struct gp_timed_facts *timed_facts_of(struct gp_timed_context *c, CUfunction handle,
                                      bool needs_code);
void timed_facts_forget(struct gp_timed_context *c);

/* ---- its records (timed_records.c), with the context locked ---------------------------------- */

/* Hands over a record without a time, for that reason. */
void timed_record_untimed(struct gp_timed_context *c, struct gp_record *record,
                          struct gp_reason no_time);

/* A launch has begun: enters it among those of its stream, and writes an early line. */
void timed_launch_begun(struct gp_timed_context *c, struct gp_timed_stream *stream,
                        struct gp_timed_launch *launch);

/* Makes the context current where it is not, to ask its events; then true: it is to be popped. */
bool timed_push(struct gp_timed_context *c);

/* Records the launches of the stream, or of the context, that have ended by now; all, after a wait
 * for them within the limit of waits. Nothing may be asked while a stream is captured. */
void timed_read_stream(struct gp_timed_context *c, struct gp_timed_stream *stream);
void timed_record_all(struct gp_timed_context *c);

#endif
