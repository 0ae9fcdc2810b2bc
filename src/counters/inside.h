/* counters/ from within: the declarations that its own files alone use, each section behind those
 * that it needs. The first lines of a file that a section names say more. */
#ifndef GPUPROF_COUNTERS_INSIDE_H
#define GPUPROF_COUNTERS_INSIDE_H

#include "base/cause.h"
#include "code/instruction.h"
#include "counters/batch.h"
#include "counters/collector.h"
#include "counters/counter_list.h"
#include "counters/range_config.h"
#include "counters/run.h"
#include "counters/states.h"
#include "cuda/cupti.h"
#include "cuda/driver.h"
#include "profile/code_counts.h"
#include "profile/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- states of launches (states.c) ----------------------------------------------------------- */

/* The state after the event; false where the table has no such move. */
bool launch_state_after(enum gp_launch_state state, enum gp_launch_event event,
                        enum gp_launch_state *after);

/* True where the hardware's counters are still to say whether the launch is like others. */
static inline bool launch_awaits_hardware(enum gp_launch_state state)
{
    return state == GP_LAUNCH_ASSUMED || state == GP_LAUNCH_ALIKE;
}

/* True where an instrumented pass is to be made of the launch. */
static inline bool launch_is_to_be_measured(enum gp_launch_state state)
{
    return state == GP_LAUNCH_NEW || state == GP_LAUNCH_UNIDENTIFIED;
}

/* True where the instrumented counters are the launch's own. */
static inline bool launch_is_measured(enum gp_launch_state state)
{
    return state == GP_LAUNCH_MEASURED || state == GP_LAUNCH_LEARNABLE;
}

/* True where nothing is decided of the launch's instrumented counters yet. */
static inline bool launch_is_undecided(enum gp_launch_state state)
{
    return state < GP_LAUNCH_HARDWARE_ONLY;
}

/* ---- batches and their steps (batch.c) ------------------------------------------------------- */

/* True for steps in which the kernel runs, or its copy is put in place. */
static inline bool step_runs(enum gp_step_kind kind)
{
    return kind == GP_STEP_IDENTIFY || (kind >= GP_STEP_COUNT && kind <= GP_STEP_MEASURE);
}

/* The next step of the launches that wait (GP_RUN_LATER); false where there is none any more. Each
 * step is followed by batch_stepped. */
bool batch_next(const struct gp_batch *batch, const struct gp_batch_facts *facts,
                struct gp_step *step);
/* The next step of one launch that cannot wait. The same. */
bool batch_next_of(struct gp_member *member, const struct gp_batch_facts *facts,
                   struct gp_step *step);

/* Such a step was made, and ended well or not. The moves of one that ended well in which a launch
 * ran were made at its end. */
void batch_stepped(struct gp_batch *batch, const struct gp_step *step, bool well);

/* The launch makes its steps in the next round, and alone. */
void batch_put_off(const struct gp_batch *batch, struct gp_member *member);

/* True where there are steps to be made of a launch that waits. */
bool member_is_open(const struct gp_member *member, const struct gp_batch_facts *facts);

/* The facts of a launch when the shares are decided. */
struct gp_share_facts {
    bool counted;  /* it is to be decided how the hardware counts it; else the rest says nothing */
    bool complete; /* its fingerprint tells how often each instruction ran, and with which lanes */
    unsigned measured; /* launches of that fingerprint, in earlier batches, that stand for others */
    bool blank_known;  /* that of the layout of its copy */
    struct gp_fingerprint fingerprint; /* with its work */
    double fingerprint_ms;             /* to take it, as far as is known */
};

/* Decides the shares of all launches with `counted`, by their facts, and makes bundles of launches
 * that are counted together. `may_share`: the hardware's counters take one pass,
 * and sums can be relied on. `ranges`: so many are left. */
void batch_share(struct gp_batch *batch, const struct gp_share_facts *facts, bool may_share,
                 unsigned ranges);

/* True where it is quicker to take the fingerprints of all that were assumed than to start the
 * hardware's counters for them: no other launch wants these. The shares are decided. */
bool batch_is_to_be_identified(const struct gp_batch *batch, const struct gp_share_facts *facts);

/* Enters a launch; its number. The batch has room. */
unsigned batch_enter(struct gp_batch *batch, struct gp_member *member);

/* ---- recalled counters (recall.c) ------------------------------------------------------------ */

/* The fingerprint of a launch of that kernel (its mangled name); `shape` tells its grid, its blocks
 * and its code from others. */
struct gp_fingerprint fingerprint_of(const char *kernel, uint64_t shape);

/* Makes the kind of a launch with `size` bytes of parameters; `work` is a hash of the parameters
 * that are no addresses. */
void launch_kind_of(struct gp_launch_kind *kind, const char *kernel, uint64_t shape, uint64_t work,
                    const void *parameters, size_t size);

/* A function, by its mangled name. With templates that has hundreds of characters: to be made once
 * for all counts of a function. */
uint64_t fingerprint_function(const char *name);
/* Adds a count of one instruction of that function; the order does not matter. */
void fingerprint_add(struct gp_fingerprint *f, uint64_t function, uint32_t offset, uint64_t metric,
                     uint64_t value);

struct gp_recall;

/* For `count` counters, and `hardware` of the hardware. NULL when out of memory. */
struct gp_recall *recall_new(size_t count, size_t hardware);
void recall_free(struct gp_recall *r);

/* The counters of a launch of that fingerprint; NULL where they are to be measured. Counts the
 * launch. */
const double *recall_values(struct gp_recall *r, const struct gp_fingerprint *f);

/* The counters of that fingerprint, also where they are to be measured again; NULL where they never
 * were measured. Counts no launch. */
const double *recall_find(const struct gp_recall *r, const struct gp_fingerprint *f);

/* Launches of that kernel with one fingerprint are not all alike. */
void recall_bar(struct gp_recall *r, const struct gp_fingerprint *f);
bool recall_is_barred(const struct gp_recall *r, const struct gp_fingerprint *f);

/* True where to count the instructions of a launch of that kind may spare it to be measured: its
 * kernel is not barred, and the last ones of the kind were not all new. Asked once for each
 * launch: of those it is false for, one in 16 is counted all the same. */
bool recall_compares(struct gp_recall *r, const struct gp_launch_kind *kind);
/* True when a launch of that kind will be like none that was measured, as far as is known: there
 * was none of the kind, or the last ones were all new. */
bool recall_expects_new(const struct gp_recall *r, const struct gp_launch_kind *kind);
/* They were compared; is_new: there was none like it. */
void recall_compared(struct gp_recall *r, const struct gp_launch_kind *kind, bool is_new);

/* The fingerprint of a launch of that kind was found to be f; whether the hardware's counters were
 * those of its like. */
void recall_found(struct gp_recall *r, const struct gp_launch_kind *kind,
                  const struct gp_fingerprint *f, bool confirmed);

/* True where the next launch of that kind may be assumed to be as all others. */
bool recall_is_familiar(const struct gp_recall *r, const struct gp_launch_kind *kind);

/* Where the next launch of that kind may be assumed to be as all others, or as all others with the
 * same work: true, with their fingerprint in *f. Counts the launch. Those that are compared all the
 * same lie `apart` launches apart at least, but not more than 256. */
bool recall_assume(struct gp_recall *r, struct gp_launch_kind *kind, unsigned apart,
                   struct gp_fingerprint *f);

/* Where the last launch with the same work was measured: true, with its fingerprint in *f, which
 * had the launch's own. Counts the launch. */
bool recall_same_work(struct gp_recall *r, const struct gp_launch_kind *kind,
                      struct gp_fingerprint *f);

/* A launch was taken for others with the same work, though its own fingerprint is another one. */
void recall_differed_by_chance(struct gp_recall *r, const struct gp_launch_kind *kind);

/* A launch that was assumed to be like the others was, as the hardware says, or was not: then no
 * more of the kind are assumed. */
void recall_assumed(struct gp_recall *r, const struct gp_launch_kind *kind, bool confirmed);
/* A launch with that fingerprint is not as the one that was measured. True where its counters are
 * not to be learned: not too many in a row were not. And one that is. */
bool recall_is_outlier(struct gp_recall *r, const struct gp_fingerprint *f);
void recall_agreed(struct gp_recall *r, const struct gp_fingerprint *f);
/* A launch was assumed to be like the others in a bundle, and is not. Where that happens often no
 * more of the kind are assumed. */
void recall_assumed_wrongly(struct gp_recall *r, const struct gp_launch_kind *kind);

/* A launch of that kind was counted in instrumented code; whether one was. */
void recall_note_counted(struct gp_recall *r, const struct gp_launch_kind *kind);
bool recall_has_counted(const struct gp_recall *r, const struct gp_launch_kind *kind);

/* The counters of a launch of that fingerprint have been measured. `exact`: others than before bar
 * the kernel. */
void recall_learn(struct gp_recall *r, const struct gp_fingerprint *f, const double *values,
                  bool exact);

/* A launch may find its data in a cache, another one with the same fingerprint not: that depends on
 * parameters that no count of instructions shows. So the hardware's counters are those of launches
 * with the same work as well, which have this fingerprint. */
struct gp_fingerprint fingerprint_with_work(const struct gp_fingerprint *f,
                                            const struct gp_launch_kind *kind);

/* The hardware's counters of a launch of that fingerprint, which is known, and kind were measured.
 * How many of these stand for the next launch (measured_count); and those that it takes, NULL
 * where there are none. */
void recall_note_hardware(struct gp_recall *r, const struct gp_fingerprint *f,
                          const struct gp_launch_kind *kind, const double *values);
unsigned recall_hardware_count(const struct gp_recall *r, const struct gp_fingerprint *with_work);
const double *recall_hardware(struct gp_recall *r, const struct gp_fingerprint *with_work);

/* ---- rows of measured counters (measured_rows.c) --------------------------------------------- */

/* So many launches are measured before others take their counters. */
#define GP_LEAST_MEASURED 4

/* Begins as all zero. */
struct gp_measured_rows {
    double *values; /* GP_LEAST_MEASURED rows */
    unsigned measured;
    unsigned taken; /* since the last one was measured */
    unsigned most;  /* that may be */
};

/* Adds a row of `count` values; where there are enough it replaces the oldest. */
void measured_add(struct gp_measured_rows *rows, const double *values, size_t count);

/* So many rows stand for the next launch: one less than enough where it is time to measure one
 * more. */
unsigned measured_count(const struct gp_measured_rows *rows);

/* The next row; NULL where there is none. */
const double *measured_take(struct gp_measured_rows *rows, size_t count);

void measured_free(struct gp_measured_rows *rows);

/* The rows of many launches, by a fingerprint; when there are more fingerprints all are forgotten.
 * Begins as all zero but for `count`. */
#define GP_MOST_MEASURED 16384
struct gp_measured_table {
    size_t count; /* of the values of a row */
    struct gp_measured_of *of;
};

/* NULL where there are none, or when out of memory. */
struct gp_measured_rows *measured_find(const struct gp_measured_table *table,
                                       const struct gp_fingerprint *which);
struct gp_measured_rows *measured_find_or_make(struct gp_measured_table *table,
                                               const struct gp_fingerprint *which);
void measured_forget(struct gp_measured_table *table);

/* ---- the code of a launch (run_code.c) ------------------------------------------------------- */

/* The launch's shape with its kernel's code: equal for two launches of kernels of one name only
 * where the code is the same, for compute capability cc / 10. Where that cannot be found out, only
 * for launches of one loaded kernel. */
uint64_t run_shape_and_code(const struct gp_run *run, int cc);
/* True where that is known, and it calls no other function. */
bool run_code_is_whole(const struct gp_run *run, int cc);

/* The instructions of a launch, those of one function after the other. Begins with the run and cc
 * set, and all else 0. */
struct gp_code_reading {
    const struct gp_run *run;
    int cc;
    const char *function; /* the last one; it stays the caller's */
    const unsigned char *code;
    size_t size;
    struct gp_reason why; /* there is none */
};

/* The instruction at this offset of a function, in *instruction too; NULL where it is not known,
 * with the reason in r->why. A function of NULL is "". */
const struct gp_instruction *read_instruction(struct gp_code_reading *r, const char *function,
                                              uint32_t offset, struct gp_instruction *instruction);

/* ---- counts of instructions, by kernel (code_counts.c) --------------------------------------- */

/* A launch of the run's kernel was counted, and these kinds of it (a bit mask). False where nothing
 * is to be added: there are too many kernels, or no memory. */
bool code_counts_begin(const struct gp_run *run, int cc, unsigned kinds);

/* A run of the run's kernel was sampled. The same. */
bool code_counts_begin_samples(const struct gp_run *run, int cc);

/* Adds the counts of one instruction of that launch. */
void code_counts_add(const char *function, uint32_t offset, enum gp_count_kind kind,
                     uint64_t value);

/* The kind that a base metric counts, or whose samples a name of CUPTI's has; GP_COUNT_KINDS for
 * all others. */
enum gp_count_kind count_kind_of(const char *base_metric);

/* ---- our own counters (own.c) ---------------------------------------------------------------- */

/* Which one the name is, GP_OWN_COUNT for none. */
enum gp_own_counter own_find(const char *name);

/* The kinds of records that are of use, by CUPTI's names. */
enum gp_own_record {
    GP_OWN_BRANCHES,       /* warps at each branch */
    GP_OWN_GROUPS,         /* warps at each instruction that four warps share */
    GP_OWN_GLOBAL_THREADS, /* threads at each access to global memory */
    GP_OWN_THREADS, /* threads at every instruction; then nothing has to follow from branches */
    GP_OWN_RECORDS
};
extern const char *const own_records[GP_OWN_RECORDS];

struct gp_own;

/* NULL when out of memory. */
struct gp_own *own_open(void);
void own_close(struct gp_own *own);

/* True where the kernel's code has no instruction with matrices and calls nothing outside of it, so
 * that its tensor counters are always 0. */
bool own_has_no_matrices(struct gp_own *own, const struct gp_run *run, int cc);

/* Around the records of a launch; `record` says of which kind. `has` says which kinds there are at
 * all. */
void own_begin(struct gp_own *own, const struct gp_run *run, int cc,
               const bool has[GP_OWN_RECORDS]);
void own_add(struct gp_own *own, enum gp_own_record record, const char *function, uint32_t offset,
             uint64_t value);

/* values[i], or the reason in absent[i]. */
void own_end(struct gp_own *own, double values[GP_OWN_COUNT],
             struct gp_reason absent[GP_OWN_COUNT]);

/* ---- counters of instrumented code (instrumented.c) ------------------------------------------ */

struct gp_instrumented;

/* Whether CUPTI has this base metric for the chip. */
typedef bool gp_has_base_metric(const char *name, void *data);

/* For the named counters (strings that outlive it), of which any number may be none of these. NULL
 * when out of memory. */
struct gp_instrumented *instrumented_open(const char *const *names, size_t count,
                                          gp_has_base_metric *has, void *data);
void instrumented_close(struct gp_instrumented *c);

/* Why there will never be a value of that counter (by its index among the names); none where there
 * may be one. */
struct gp_reason instrumented_unavailable(const struct gp_instrumented *c, size_t counter);

/* True when the counter depends on which addresses threads share: the bytes that threads ask for
 * are computed, while the Range Profiler counts a byte once for all threads of a warp. */
bool instrumented_shares_addresses(const struct gp_instrumented *c, size_t counter);

/* The base metrics to enable, as few as do; `*count` of them. */
const char *const *instrumented_bases(const struct gp_instrumented *c, size_t *count);

/* True when the instruction matters for records of that base metric (by its index among the bases);
 * else it need not be looked up. */
bool instrumented_needs_instruction(const struct gp_instrumented *c, size_t base);

/* Forgets the last launch. */
void instrumented_begin(struct gp_instrumented *c);

/* Adds a record. Where the instruction is not known, `instruction` is NULL and `why` says why. */
void instrumented_add(struct gp_instrumented *c, size_t base,
                      const struct gp_instruction *instruction, struct gp_reason why,
                      uint64_t value);

/* The counter's value for the records since begin; false with the reason in *why. */
bool instrumented_value(const struct gp_instrumented *c, size_t counter, double *value,
                        struct gp_reason *why);

/* ---- the cost of an instrumented pass (instrumenting_cost.c) --------------------------------- */

/* Milliseconds, 0 where not known: the quickest seen. */
struct gp_instrumenting_cost {
    double sass_ms, range_ms;  /* a pass by the SASS metrics, and by the Range Profiler */
    double step_ms, return_ms; /* to go on to the Range Profiler's, and back */
    double long_ms;            /* spent on passes that take long */
    double not_short_ms;       /* on these, and on those that would take long if there were many */
};

/* True when the run may be counted by the SASS metrics, to be compared with others, although the
 * Range Profiler may have to count it as well. Where it is false the known cost counts a little
 * less the next time: it may have been a pass that took long by chance. */
bool fingerprint_pays(struct gp_instrumenting_cost *cost, const struct gp_run *run);

/* Launches like this one of which one may be counted by the SASS metrics, to be compared with
 * others, so that it takes a tenth of the time that all of them take to be measured. */
unsigned launches_to_one_telling(const struct gp_instrumenting_cost *cost,
                                 const struct gp_run *run);

/* Milliseconds that it is expected to take by the SASS metrics. */
double expected_fingerprint_ms(const struct gp_instrumenting_cost *cost, const struct gp_run *run);
/* Milliseconds that the run is expected to take in the Range Profiler's pass, once that is there.
 */
double expected_range_ms(const struct gp_instrumenting_cost *cost, const struct gp_run *run);

/* So much is spent on a pass, or will be; or that pass is not made. */
void cost_spend(struct gp_instrumenting_cost *cost, double ms);
void cost_give_back(struct gp_instrumenting_cost *cost, double ms);

/* True where an instrumented pass of the run is expected to take long, and those that took long
 * have together taken so many times the time that the run allows (gp_run); or where it is not
 * expected to be short, and all that were not have taken two times more of it. */
bool cost_is_too_long(const struct gp_instrumenting_cost *cost, const struct gp_run *run,
                      unsigned times);

/* A pass took so many milliseconds. */
void cost_learn_pass(struct gp_instrumenting_cost *cost, bool by_range, const struct gp_run *run,
                     double took_ms);
/* To go on to the Range Profiler's pass, or back from there, took so many. */
void cost_learn_step(struct gp_instrumenting_cost *cost, bool there, double took_ms);

/* ---- CUPTI's hold on the driver (attachment.c) ----------------------------------------------- */

/* True once CUPTI's profiler was initialized; and behind gp_collectors_detach, until it is again.
 * From any thread. */
bool profiler_is_initialized(void);
bool profiler_is_detached(void);

/* ---- the configuration of the Range Profiler (range_config.c) -------------------------------- */

/* True for counters of instrumented code. */
bool counter_is_instrumented(const char *name);

/* CUPTI refuses a whole list for one bad name and does not say which, so a list that is refused is
 * tried in parts: unavailable[i] becomes the reason, none where the chip can count the name, and
 * together with those before it. */
bool range_config_try(const char *chip, const char *const *names, size_t count,
                      struct gp_reason *unavailable, struct gp_reason *why);

/* The counters of one range of a counter data image, those of the hardware, of instrumented code or
 * both: `count` values, NAN for a counter that was not counted or not asked for. To evaluate one
 * counter takes microseconds. */
bool range_config_evaluate(const struct gp_range_config *config, const uint8_t *data,
                           size_t data_size, size_t range, bool hardware, bool instrumented,
                           double *values, struct gp_reason *why);

/* ---- a session of the Range Profiler (range_session.c) --------------------------------------- */

struct gp_range_session;

/* A session for ranges numbered from 0, `ranges` of them or, where CUPTI's image would take more
 * than `most` bytes, fewer. The configuration becomes the session's, also when that fails: NULL
 * with the reason in *why. Nothing is started yet. */
struct gp_range_session *range_session_open(CUcontext context, struct gp_range_config *config,
                                            unsigned ranges, size_t most, struct gp_reason *why);
void range_session_close(struct gp_range_session *s, bool context_alive);

unsigned range_session_ranges(const struct gp_range_session *s);

unsigned range_session_hardware_passes(const struct gp_range_session *s);

/* True when the session need not be stopped or started to stand in that pass. */
bool range_session_stands_in(const struct gp_range_session *s, unsigned pass);

/* True when to advance to that pass begins a new round. The counts of the round before have to be
 * read first: settle, and take the values. */
bool range_session_is_past(const struct gp_range_session *s, unsigned pass);

/* Takes the GPU's counters now, not at the first push. */
bool range_session_start(struct gp_range_session *s, struct gp_reason *why);

/* Makes the session stand in a pass, by stops and starts. False with the reason, as for a push. */
bool range_session_advance(struct gp_range_session *s, unsigned pass, struct gp_reason *why);

/* Around one launch, in the pass in which the session stands. The pop waits for the kernel. False
 * with the reason: the session is then of no more use, except that values of earlier batches can be
 * read. */
bool range_session_push(struct gp_range_session *s, unsigned range, struct gp_reason *why);
bool range_session_pop(struct gp_range_session *s, struct gp_reason *why);

/* Stops the session behind its last pass of the hardware, so that their counts can be read; the
 * next start makes the pass of instrumented code, as a part of the same round. */
bool range_session_settle_hardware(struct gp_range_session *s, struct gp_reason *why);

/* Stops the session, so that all that was counted can be read. The next push starts it again. */
bool range_session_settle(struct gp_range_session *s, struct gp_reason *why);

/* The counts of a range, in the order of the configuration's names, NAN where a counter's pass was
 * not made; NULL where the range was not settled. Valid until forgotten. */
const double *range_session_values(const struct gp_range_session *s, unsigned range);
void range_session_forget_values(struct gp_range_session *s);

/* All ranges have been read: their numbers are given out again. Settled. */
void range_session_reuse_ranges(struct gp_range_session *s);

/* ---- the list of SASS metrics of a device (sass_config.c) ------------------------------------ */

struct gp_sass_config {
    uint64_t *ids;             /* by the position of the base among those of the session */
    enum gp_count_kind *kinds; /* of each: where it shows which line counted it */
    enum gp_at_branch { GP_NOT_AT_BRANCH, GP_WARPS_AT_BRANCH, GP_OTHERS_AT_BRANCH } * at_branches;
    size_t count;
    CUcontext context; /* that was current: CUPTI's allocations lie there */
};

/* True where CUPTI has a metric of that name for the chip. */
bool sass_config_knows(const char *name, void *chip);

/* The device's list, which is that of these bases from now on. NULL with the reason in *why where
 * it is another one already, or cannot be had. */
const struct gp_sass_config *sass_config_set(const struct gp_device *device,
                                             const char *const *bases, size_t count,
                                             struct gp_reason *why);

/* The context is about to be destroyed, and no session is open in it. If CUPTI was set up in it for
 * sessions there can be no more of them on its device: it was seen to crash at the end of the
 * process else, and to refuse another time. */
void sass_sessions_leave(CUcontext context, bool at_rest);

/* The process ends: CUPTI frees its configuration of the sessions, while the driver is there. No
 * session can be opened afterwards. */
void sass_sessions_end(void);

/* ---- a session of SASS metrics (sass_session.c) ---------------------------------------------- */

struct gp_sass_session;

/* False where the context has gone that CUPTI was set up in for it. */
bool sass_session_is_set_up(const struct gp_sass_session *s);

/* True where the session counts every instruction beside. */
bool sass_session_counts_instructions(const struct gp_sass_session *s);

/* A session that compares launches. NULL with the reason in *why where it cannot be had; the two
 * kinds cannot both be had in one process. With `own`, which stays the caller's, both kinds also
 * count the instructions that its counters need. */
struct gp_sass_session *sass_session_tell(const struct gp_device *device, struct gp_own *own,
                                          struct gp_reason *why);

/* A session for the named counters. Those that cannot be computed have their reason in
 * unavailable[i], none else. Those that depend on which addresses threads share are among them:
 * only the hardware counts them, which it does not for the reason no_hardware. */
struct gp_sass_session *sass_session_count(const struct gp_device *device, const char *const *names,
                                           size_t count, struct gp_own *own,
                                           struct gp_reason no_hardware,
                                           struct gp_reason *unavailable, struct gp_reason *why);
void sass_session_close(struct gp_sass_session *s, bool context_alive);
/* True where a session was closed while CUPTI's code was in kernels, and could not be taken away.
 */
bool sass_sessions_left_code(void);

/* One run of a launch on a GPU of compute capability cc / 10. */
struct gp_sass_run {
    const struct gp_run *launch;
    int cc;
    bool refused; /* its launch failed: it counts for nothing */
    bool in_row;  /* others follow */
};

/* Around one launch in the context, which is current.
 * Between begin and end only that launch may run. It has ended when the end is called, which gives
 * the counters: values[i], or the reason in absent[i] (where they are counted), and the
 * fingerprint. */
bool sass_session_begin(struct gp_sass_session *s, CUcontext context, struct gp_reason *why);
bool sass_session_end(struct gp_sass_session *s, CUcontext context, const struct gp_sass_run *run,
                      double *values, struct gp_reason *absent, struct gp_fingerprint *fingerprint,
                      struct gp_reason *why);

/* Where the run says that others follow in a row, CUPTI's code stays in place: to put it
 * there and to take it away takes milliseconds where a process has many kernels. Until this takes
 * it away nothing runs in the context but those launches, and copies of the driver. */
void sass_session_rest(struct gp_sass_session *s, CUcontext context);
/* Takes the code away, as the Range Profiler is about to be disabled there. */
void sass_session_leave(struct gp_sass_session *s, CUcontext context);

/* True where fingerprints have the lanes at branches and at accesses to global and shared memory.
 */
bool sass_session_tells_lanes(const struct gp_sass_session *s);

/* Branches, by warps, of questions that launch has asked until it got an answer (code/retries.h):
 * the number of its instructions depends on time. */
uint64_t sass_session_questions(const struct gp_sass_session *s);

/* Whether that launch swapped values of memory until no other thread came between. */
bool sass_session_swaps(const struct gp_sass_session *s);
/* Whether that launch made asynchronous copies, of which instrumented code misses some. */
bool sass_session_copies(const struct gp_sass_session *s);

/* ---- the list of counters (counter_list.c) --------------------------------------------------- */

/* It asks, and is taken for others with the same work whose fingerprint differs by chance. So the
 * hardware's counts have to agree more closely. */
/* Whether time changes some of its counts. */
static inline bool member_depends_on_time(const struct gp_member *m)
{
    return m->questions || m->swaps;
}

static inline bool member_is_by_work(const struct gp_member *m)
{
    return m->by_work || (m->questions && m->identity == GP_ASSUMED_IDENTITY && m->kind.by_chance);
}

/* So much a check counter of the launch, by its number, may differ from that of one that was
 * measured. */
double check_tolerance(const struct gp_member *m, size_t check, double wanted);

/* ---- ways of counting ------------------------------------------------------------------------ */

/* CUPTI's Range Profiler and SASS metrics: compute capability 7.0 and later, CUDA 12.6 and later.
 */
extern const struct gp_collector range_collector;
/* CUPTI's event groups: compute capability up to 7.2, as long as CUPTI knows the chip. */
extern const struct gp_collector event_collector;

/* Counters of event groups are named event__NAME, NAME being CUPTI's name for the event. */
#define GP_EVENT_PREFIX "event__"

/* ---- counts of blank passes (blank_law.c) ---------------------------------------------------- */

/* The counts of blank passes (counters/bundles.c) as a law of the work in them: each count is the
 * sum of the amounts of work, times a number for each that is the same in all passes. The numbers
 * are learned from passes that were counted, and used once others have confirmed them to the digit.
 * Pure. */
/* Amounts of the law: beside those of whole units the copies of each layout. */
#define GP_BLANK_LAYOUTS 26
#define GP_BLANK_AMOUNTS (GP_PUT_AMOUNTS + GP_BLANK_LAYOUTS)

struct gp_blank_law {
    uint64_t layouts[GP_BLANK_LAYOUTS];
    unsigned layout_count;
    /* Equations that do not follow from each other: amounts and counts, the amount at the pivot 1
     * and those at the pivots of others 0. */
    struct gp_blank_equation {
        double amounts[GP_BLANK_AMOUNTS];
        double counts[GP_ALL_CHECKS];
        unsigned pivot;
    } equations[GP_BLANK_AMOUNTS];
    unsigned count;
    unsigned confirmed; /* passes since the last equation whose counts were as the law says */
    unsigned broken;    /* times that a pass was not */
};

/* A pass with that work was counted. */
void blank_law_learn(struct gp_blank_law *law, const struct gp_put_work *work,
                     const double counts[GP_ALL_CHECKS]);

/* It may be wrong: it is learned anew, a few times. */
void blank_law_break(struct gp_blank_law *law);

/* False where they are not known. */
bool blank_law_tells(const struct gp_blank_law *law, const struct gp_put_work *work,
                     double counts[GP_ALL_CHECKS]);

/* ---- a collection of the Range Profiler (range.c) -------------------------------------------- */

/* A collection of the Range Profiler from within. range.c makes its passes, session_upkeep.c opens
 * the session that counts them; values.c fills in and reads the values of launches, bundles.c has
 * the sums of those that are counted together, likeness.c finds launches that are alike. */
struct gp_range_collection {
    struct gp_collection base; /* first: range_collection_of */
    CUcontext context;
    struct gp_device device;

    struct gp_counter_list list;
    struct gp_counter *counters; /* the answer of read: as many as were named, in that order */

    struct gp_range_session *session; /* NULL: it is away, or cannot be had */
    bool came;                        /* there was one, or it could not be had */
    struct gp_reason no_session;      /* why there is none */
    double retry_at, retry_after;     /* seconds */

    struct gp_sass_session *sass;
    unsigned counted, uncounted; /* launches by that; in a row in vain */
    struct gp_reason no_sass;
    bool tells;                         /* it compares launches; else it counts */
    struct gp_reason *sass_unavailable; /* by name, where it counts: why it does not */
    struct gp_recall *recall;           /* of instrumented counters, where it tells */
    struct gp_own *own;                 /* our own counters; NULL where none is wanted */

    unsigned ranges;                    /* of the session, that were taken since all were read */
    struct gp_share_facts *share_facts; /* of a batch */
    double sums[GP_MOST_BUNDLES][GP_ALL_CHECKS];       /* of the bundles that were read */
    double blank_sums[GP_MOST_BUNDLES][GP_ALL_CHECKS]; /* and of their blanks */
    struct gp_blank *blanks;                           /* by layout */
    struct gp_blank_law blank_law;                     /* where parts are put in place */
    unsigned bundles_denied;                           /* their sum was wrong; of the last ones: */
    struct gp_denied_bundle {
        unsigned number, members;
        unsigned left; /* to be counted by themselves */
        bool others;   /* some of them were not like those that they were taken for */
        bool by_law;   /* its blank was not counted */
    } denied[GP_MOST_BUNDLES];
    unsigned contradictions; /* of bundles, in launches, beyond those of right bundles */
    struct gp_instrumenting_cost cost;

    double *values;           /* members x width */
    struct gp_reason *absent; /* the same */
    double *row;              /* scratch: used + our own + all check counters */
    double *hardware_row;     /* scratch: the hardware's */
};

static inline struct gp_range_collection *range_collection_of(struct gp_collection *c)
{
    return (struct gp_range_collection *)c;
}

int range_collection_cc(const struct gp_range_collection *c);

/* ---- the session (session_upkeep.c) ---------------------------------------------------------- */

/* False with the reason in *why. Nothing is started yet. */
bool range_collection_open_session(struct gp_range_collection *c, struct gp_reason *why);

/* The session could not be had, or has failed. Counters that are busy become free some time;
 * permissions do not. */
void range_collection_lose_session(struct gp_range_collection *c, struct gp_reason why);

/* True where there is a session: one that was lost is opened anew when it is time. */
bool range_collection_has_session(struct gp_range_collection *c);

/* Copies the session's counts of launches, blanks and bundles: the session need keep none. */
void range_collection_take(struct gp_range_collection *c);
/* Reads all that was counted; then its ranges can be taken again. */
void range_collection_settle(struct gp_range_collection *c, bool context_alive);
void range_collection_reuse_ranges(struct gp_range_collection *c);
/* Ranges that are left. */
unsigned range_collection_ranges(const struct gp_range_collection *c);

/* Has the SASS metrics compare launches where there is a session, and else count. */
void range_collection_open_sass(struct gp_range_collection *c);
/* A launch was to be counted by the SASS metrics, in vain for that reason; they are given up where
 * they count nothing. */
void range_collection_note_sass(struct gp_range_collection *c, bool counted, struct gp_reason why);
/* Whether they count without the right to read counters is not known yet. */
bool range_collection_is_on_trial(const struct gp_range_collection *c);

/* ---- values (values.c) ----------------------------------------------------------------------- */

/* Nothing of the launch is counted yet. */
void values_clear(struct gp_range_collection *c, const struct gp_member *m);

/* The values of a launch, `width` of them, and why those that are NAN are absent. */
double *values_of_member(const struct gp_range_collection *c, const struct gp_member *m);
struct gp_reason *absent_of_member(const struct gp_range_collection *c, const struct gp_member *m);

/* The instrumented counters of a launch, our own, and the hardware's that are check counters, in
 * one row. */
void values_make_row(const struct gp_range_collection *c, const struct gp_member *m, double *row);
/* The check counters in such a row. */
const double *checks_in_row(const struct gp_range_collection *c, const double *row);

/* True when the first `count` check counters equal those of the row of a launch whose instrumented
 * counters were taken for it; numbers of instructions that depend on time, when they are near. */
bool values_agree(const struct gp_range_collection *c, const struct gp_member *m, const double *row,
                  size_t count);

/* False for a launch that broke off between passes: its hardware's counters mean nothing. */
bool values_are_whole(const struct gp_range_collection *c, const struct gp_member *m);

/* True where the launch's own instrumented counters were read. */
bool values_are_measured(const struct gp_range_collection *c, const struct gp_member *m);

/* Copies the session's counts of all launches, and marks these as read. */
void values_take(struct gp_range_collection *c);

/* The launch has the instrumented counters of that row, but for our own that it has itself. */
void values_take_row(struct gp_range_collection *c, const struct gp_member *m, const double *row);

/* Others may take the hardware's counters of the launch, which was counted by itself; its
 * fingerprint is known. */
void values_learn_hardware(struct gp_range_collection *c, const struct gp_member *m);
/* The launch takes those of others: false where there are none. */
bool values_take_hardware(struct gp_range_collection *c, struct gp_member *m);

/* True where the hardware's counters of the launch are there, and its tensor cores did nothing. */
bool values_show_no_matrices(const struct gp_range_collection *c, const struct gp_member *m);

const struct gp_counter *values_read(struct gp_range_collection *c, const struct gp_member *m,
                                     struct gp_reason not_run, size_t *count);

/* ---- bundles (bundles.c) --------------------------------------------------------------------- */

void bundles_free(struct gp_range_collection *c);

/* True where sums can be relied on: the hardware's counters take one pass, among them all check
 * counters, and there are ranges for bundles. */
bool bundles_are_reliable(const struct gp_range_collection *c);

/* So many launches were in bundles with the right sum; or in bundles with a wrong one and are alike
 * all the same, and so were all the others. */
void bundles_confirmed(struct gp_range_collection *c, unsigned launches);
void bundles_contradicted(struct gp_range_collection *c, unsigned launches);

/* True where the blank of that layout was counted before. */
bool bundles_know_blank(const struct gp_range_collection *c, uint64_t layout);

/* The range of the step, from 1 on; 0: none yet. */
unsigned *bundles_range(struct gp_range_collection *c, const struct gp_step *step);

/* The step is the blank of a bundle, with that work. True where its counts follow from that: it
 * needs no pass. */
bool bundles_tell_blank(struct gp_range_collection *c, const struct gp_step *step,
                        const struct gp_put_work *work);
/* Copies the session's counts of blanks and bundles. */
void bundles_take(struct gp_range_collection *c);

/* The sum of a bundle (1: the first one), without the blank that is its own. False where it was not
 * read. */
bool bundles_sum(const struct gp_range_collection *c, unsigned number, double *sum);

/* Takes the launch, with its check counters, and its blank off a sum, and adds the difference that
 * time may make. False where the blank is not known. */
bool bundles_take_off(const struct gp_range_collection *c, const struct gp_member *m,
                      const double *checks, double *sum, double *may_differ);

/* ---- likeness (likeness.c) ------------------------------------------------------------------- */

/* True where launches of its kind have all been alike so far. */
bool likeness_is_familiar(struct gp_range_collection *c, struct gp_member *m);
/* True where the session stands in the pass of instrumented code, and a launch that cannot wait is
 * expected to be new. */
bool likeness_begins_with_code(struct gp_range_collection *c, struct gp_member *m);

/* Finds out as much of a launch as is known without a run of it. */
void likeness_consider(struct gp_range_collection *c, struct gp_member *m);

/* The launch of a kernel that is not compared may be known to multiply no matrices all the same. */
void likeness_note_no_matrices(struct gp_range_collection *c, const struct gp_member *m);

/* True where the launch's instrumented pass takes too long, and is left out. */
bool likeness_leaves_out(struct gp_range_collection *c, struct gp_member *m);

/* The launch was counted in instrumented code. */
void likeness_note_counted(struct gp_range_collection *c, struct gp_member *m);

/* The launch's fingerprint was taken: searches it among those of launches that were measured. */
void likeness_find(struct gp_range_collection *c, struct gp_member *m);

/* Decides how the hardware counts the launches of the batch; only which fingerprints are to be
 * taken although they were assumed (`only_identities`). */
void likeness_share(struct gp_range_collection *c, bool only_identities);

/* The hardware's counters are there, or lost: whether launches are like others shows. */
void likeness_judge(struct gp_range_collection *c);

/* Launches that are like another of the batch take its counters, now that it has been measured;
 * where it was not, they are measured themselves. */
void likeness_take(struct gp_range_collection *c);

#endif
