/* The counts of each machine instruction of a launch, through CUPTI's SASS metrics: one launch at a
 * time, without starting and stopping the counters of the hardware, and beside a session of theirs.
 *
 * To count threads at every instruction makes a kernel a hundred times slower. So there are two
 * kinds of session. One only compares launches: by warps at each branch, sectors and wavefronts at
 * each access to memory. The other has counters computed, from threads at each instruction and from
 * its opcode.
 *
 * CUPTI needs its Range Profiler enabled on the context meanwhile, but nothing started in it, and
 * no free counters of the hardware. */
#include "counters/code_counts.h"
#include "counters/inside.h"

#include "code/retries.h"
#include "code/swaps.h"
#include "cuda/cupti.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gp_sass_session {
    struct gp_instrumented *counters;
    size_t count;
    const struct gp_sass_config *config;
    struct gp_own *own; /* NULL: none of its counters are wanted */
    bool has[GP_OWN_RECORDS];
    size_t own_base[GP_OWN_RECORDS]; /* where each kind of record stands among the metrics */
    bool counts_everything;          /* a metric of every instruction is among the bases */
    bool enabled;                    /* CUPTI's code is in place */
    bool tells_lanes;
    uint64_t questions; /* of the last launch: branches, by warps */
    bool copies;        /* it has asynchronous copies */
    bool swaps;         /* it went round loops of swaps */

    CUpti_SassMetrics_Data *records; /* room for `capacity`, each with its one value */
    CUpti_SassMetrics_InstanceValue *values;
    size_t capacity;
};

/* ---- open and close -------------------------------------------------------------------------- */

/* The counts of a fingerprint, which cost little. */
static const char *const telling[] = {"smsp__sass_inst_executed_op_branch",
                                      "smsp__sass_sectors_mem_global",
                                      "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared"};
#define TELLING (sizeof(telling) / sizeof(telling[0]))

/* The further counts that show in which lines accesses waste sectors and branches part warps; that
 * of the L1's lines, as accesses to as many sectors may differ there; and those of lanes. At the
 * same instructions as those above; a CUPTI without them does without. */
static const char *const showing[] = {"smsp__sass_l1tex_tags_mem_global",
                                      "smsp__sass_sectors_mem_global_ideal",
                                      "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
                                      "smsp__sass_branch_targets_threads_divergent",
                                      "smsp__sass_thread_inst_executed_op_branch",
                                      "smsp__sass_thread_inst_executed_op_global_pred_on",
                                      "smsp__sass_thread_inst_executed_op_shared_pred_on"};
#define SHOWING (sizeof(showing) / sizeof(showing[0]))
#define FIRST_OF_LANES 4

/* The counts that show in which lines instructions run, and with how many lanes; at every
 * instruction. */
static const char *const counting[] = {"smsp__sass_inst_executed",
                                       "smsp__sass_thread_inst_executed",
                                       "smsp__sass_thread_inst_executed_pred_on"};
#define COUNTING (sizeof(counting) / sizeof(counting[0]))
static bool instructions_wanted;

void gp_sass_sessions_count_instructions(void)
{
    instructions_wanted = true;
}

bool sass_session_tells_lanes(const struct gp_sass_session *s)
{
    return s && s->tells_lanes;
}

bool sass_session_copies(const struct gp_sass_session *s)
{
    return s->copies;
}

bool sass_session_swaps(const struct gp_sass_session *s)
{
    return s->swaps;
}

uint64_t sass_session_questions(const struct gp_sass_session *s)
{
    return s->questions;
}

bool sass_session_is_set_up(const struct gp_sass_session *s)
{
    return s->config->context != NULL;
}

bool sass_session_counts_instructions(const struct gp_sass_session *s)
{
    return s && s->counts_everything;
}

/* The metrics of the session, configured now or by an earlier session. */
static bool configure(struct gp_sass_session *s, const struct gp_device *device,
                      const char *const *bases, size_t count, struct gp_reason *why)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t r = 0; s->own && r < GP_OWN_RECORDS; r++) {
            if (strcmp(bases[i], own_records[r]) != 0)
                continue;
            s->has[r] = true;
            s->own_base[r] = i;
        }
        s->counts_everything = s->counts_everything ||
                               strcmp(bases[i], "smsp__sass_thread_inst_executed_pred_on") == 0 ||
                               strcmp(bases[i], "smsp__sass_inst_executed") == 0;
    }
    s->config = sass_config_set(device, bases, count, why);
    return s->config != NULL;
}

static struct gp_sass_session *new_session(struct gp_reason *why)
{
    *why = GP_REASON_TEXT(OTHER_CUPTI, "this CUPTI has no SASS metrics");
    if (!gp_cupti_has_sass())
        return NULL;
    *why = GP_REASON(NO_MEMORY);
    return calloc(1, sizeof(struct gp_sass_session));
}

static bool is_listed(const char *const *names, size_t count, const char *name)
{
    while (count > 0 && strcmp(names[count - 1], name) != 0)
        count--;
    return count > 0;
}

struct gp_sass_session *sass_session_tell(const struct gp_device *device, struct gp_own *own,
                                          struct gp_reason *why)
{
    struct gp_sass_session *s = new_session(why);
    const char *names[TELLING + SHOWING + COUNTING + GP_OWN_RECORDS];
    size_t count = TELLING;
    memcpy(names, telling, sizeof(telling));
    size_t lanes = 0;
    for (size_t i = 0; s && i < SHOWING; i++) {
        if (!sass_config_knows(showing[i], (void *)device->chip))
            continue;
        names[count++] = showing[i];
        lanes += i >= FIRST_OF_LANES;
    }
    for (size_t i = 0; s && instructions_wanted && i < COUNTING; i++)
        if (sass_config_knows(counting[i], (void *)device->chip))
            names[count++] = counting[i];
    /* Threads at every instruction would cost too much. */
    for (size_t r = GP_OWN_GROUPS; s && own && r < GP_OWN_THREADS; r++)
        if (!is_listed(names, count, own_records[r]) &&
            sass_config_knows(own_records[r], (void *)device->chip))
            names[count++] = own_records[r];
    if (s) {
        s->own = own;
        s->tells_lanes = lanes == SHOWING - FIRST_OF_LANES;
    }
    if (s && configure(s, device, names, count, why)) {
        s->has[GP_OWN_THREADS] = false; /* those at accesses to memory would count twice */
        return s;
    }
    sass_session_close(s, true);
    return NULL;
}

struct gp_sass_session *sass_session_count(const struct gp_device *device, const char *const *names,
                                           size_t count, struct gp_own *own,
                                           struct gp_reason no_hardware,
                                           struct gp_reason *unavailable, struct gp_reason *why)
{
    struct gp_sass_session *s = new_session(why);
    if (!s)
        return NULL;
    s->count = count;
    s->own = own;
    /* The count for our own counters is one more of the names. */
    const char **all = calloc(count + 1, sizeof(*all));
    if (all) {
        memcpy(all, names, count * sizeof(*all));
        all[count] = "smsp__sass_thread_inst_executed_pred_on.sum";
        s->counters = instrumented_open(all, own ? count + 1 : count, sass_config_knows,
                                        (void *)device->chip);
        free(all);
    }
    *why = GP_REASON(NO_MEMORY);
    size_t base_count = 0;
    const char *const *bases = s->counters ? instrumented_bases(s->counters, &base_count) : NULL;
    if (!bases || !configure(s, device, bases, base_count, why)) {
        sass_session_close(s, true);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        unavailable[i] = instrumented_unavailable(s->counters, i);
        if (instrumented_shares_addresses(s->counters, i))
            unavailable[i] = no_hardware;
    }
    return s;
}

static bool left_code;

bool sass_sessions_left_code(void)
{
    return left_code;
}

void sass_session_close(struct gp_sass_session *s, bool context_alive)
{
    if (!s)
        return;
    left_code = left_code || (s->enabled && context_alive);
    instrumented_close(s->counters);
    free(s->records);
    free(s->values);
    free(s);
}

/* ---- one launch ------------------------------------------------------------------------------ */

bool sass_session_begin(struct gp_sass_session *s, CUcontext context, struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_SassMetricsEnable, p);
    p->ctx = context;
    p->enableLazyPatching = 1;
    if (!s->enabled)
        s->enabled = !GP_CUPTI_FAILED(cuptiSassMetricsEnable, p, why);
    return s->enabled;
}

static bool disable(struct gp_sass_session *s, CUcontext context, struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_SassMetricsDisable, p);
    p->ctx = context;
    s->enabled = GP_CUPTI_FAILED(cuptiSassMetricsDisable, p, why);
    return !s->enabled;
}

void sass_session_rest(struct gp_sass_session *s, CUcontext context)
{
    struct gp_reason why;
    if (s->enabled)
        disable(s, context, &why);
}

void sass_session_leave(struct gp_sass_session *s, CUcontext context)
{
    sass_session_rest(s, context);
    left_code = left_code || s->enabled;
}

static bool make_room(struct gp_sass_session *s, size_t count)
{
    if (count <= s->capacity)
        return true;
    size_t capacity = count + count / 2;
    free(s->records);
    free(s->values);
    s->records = calloc(capacity, sizeof(*s->records));
    s->values = calloc(capacity, sizeof(*s->values));
    s->capacity = s->records && s->values ? capacity : 0;
    return s->capacity > 0;
}

/* Takes the records from CUPTI; how many in *count. */
static bool fetch(struct gp_sass_session *s, CUcontext context, size_t *count,
                  struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_SassMetricsGetDataProperties, p);
    p->ctx = context;
    *count = 0;
    if (GP_CUPTI_FAILED(cuptiSassMetricsGetDataProperties, p, why))
        return false;
    *why = GP_REASON_TEXT(CUPTI_FAILED, "CUPTI's instrumented code counted nothing");
    if (!p->numOfPatchedInstructionRecords)
        return !s->counts_everything;
    *why = GP_REASON_TEXT(CUPTI_FAILED, "CUPTI gives counts in a form that is not known");
    if (p->numOfInstances != 1)
        return false;
    *why = GP_REASON(NO_MEMORY);
    if (!make_room(s, p->numOfPatchedInstructionRecords))
        return false;
    for (size_t i = 0; i < p->numOfPatchedInstructionRecords; i++)
        s->records[i] = (CUpti_SassMetrics_Data){.structSize = sizeof(*s->records),
                                                 .pInstanceValues = &s->values[i]};
    GP_CUPTI_PARAMS(CUpti_SassMetricsFlushData, f);
    f->ctx = context;
    f->numOfPatchedInstructionRecords = p->numOfPatchedInstructionRecords;
    f->numOfInstances = 1;
    f->pMetricsData = s->records;
    if (GP_CUPTI_FAILED(cuptiSassMetricsFlushData, f, why))
        return false;
    *count = p->numOfPatchedInstructionRecords;
    return true;
}

static void add_own(struct gp_sass_session *s, const CUpti_SassMetrics_Data *record)
{
    const uint64_t id = record->pInstanceValues->metricId;
    for (size_t r = 0; r < GP_OWN_RECORDS; r++)
        if (s->has[r] && s->config->ids[s->own_base[r]] == id)
            own_add(s->own, (enum gp_own_record)r, record->functionName ? record->functionName : "",
                    record->pcOffset, record->pInstanceValues->value);
}

static unsigned kinds_of(const struct gp_sass_config *c)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->kinds[i] != GP_COUNT_KINDS)
            kinds |= 1u << c->kinds[i];
    return kinds;
}

/* The base that the record counts, by its position among those of the configuration. */
static size_t base_of(const struct gp_sass_config *c, const CUpti_SassMetrics_Data *record)
{
    size_t base = 0;
    while (base < c->count && c->ids[base] != record->pInstanceValues->metricId)
        base++;
    return base;
}

/* The count as a part of the fingerprint; 0: it is none, as it differs from run to run of the same
 * work. At asynchronous copies instrumented code misses some sectors and wavefronts. A branch of a
 * question that is asked until the answer is yes runs as often as time has it: in nearly all
 * kernels of cuBLAS and cuDNN for a GH100. So does each instruction in a loop around a swap, but
 * for whether it ran at all. */
static uint64_t lasting_value(struct gp_sass_session *s, struct gp_code_reading *r,
                              const CUpti_SassMetrics_Data *record, enum gp_at_branch at_branch)
{
    const uint64_t value = record->pInstanceValues->value;
    struct gp_instruction instruction;
    const struct gp_instruction *known =
        read_instruction(r, record->functionName, record->pcOffset, &instruction);
    if (!known || !value)
        return value;
    if (at_branch && gp_code_retries(r->code, r->size, record->pcOffset, r->cc)) {
        if (at_branch == GP_WARPS_AT_BRANCH)
            s->questions += value;
        return 0;
    }
    if (gp_code_retries_swap(r->code, r->size, record->pcOffset, r->cc)) {
        s->swaps = true;
        return 1;
    }
    s->copies = s->copies || known->op == GP_OP_LDGSTS;
    return known->op == GP_OP_LDGSTS ? 0 : value;
}

static bool are_of_one_function(const CUpti_SassMetrics_Data *a, const CUpti_SassMetrics_Data *b)
{
    return a->functionName == b->functionName ||
           (a->cubinCrc == b->cubinCrc && a->functionIndex == b->functionIndex && a->functionName &&
            b->functionName && strcmp(a->functionName, b->functionName) == 0);
}

/* The end of the records of one function, which follow each other; whether it is the kernel, or ran
 * at all. In a row of launches CUPTI has records of functions of earlier ones as well. */
static size_t end_of_function(const struct gp_sass_session *s, size_t begin, size_t count,
                              const char *kernel, bool *runs)
{
    const CUpti_SassMetrics_Data *first = &s->records[begin];
    size_t end = begin;
    *runs = !first->functionName || strcmp(first->functionName, kernel) == 0;
    for (; end < count && are_of_one_function(first, &s->records[end]); end++)
        *runs = *runs || s->records[end].pInstanceValues->value;
    return end;
}

/* The records of one function, from `begin` to before `end`. They get one pointer to its name, as
 * these are long and compared again and again. */
static void add_function(struct gp_sass_session *s, struct gp_code_reading *r, bool shows,
                         size_t begin, size_t end, struct gp_fingerprint *fingerprint)
{
    const struct gp_sass_config *c = s->config;
    const char *function = s->records[begin].functionName ? s->records[begin].functionName : "";
    const uint64_t hash = fingerprint_function(function);
    for (size_t i = begin; i < end; i++) {
        CUpti_SassMetrics_Data *record = &s->records[i];
        const CUpti_SassMetrics_InstanceValue *value = record->pInstanceValues;
        struct gp_instruction instruction;
        const struct gp_instruction *known = NULL;
        const size_t base = base_of(c, record);
        record->functionName = function;
        const uint64_t lasting =
            base == c->count ? value->value : lasting_value(s, r, record, c->at_branches[base]);
        if (lasting)
            fingerprint_add(fingerprint, hash, record->pcOffset, value->metricId, lasting);
        if (s->own)
            add_own(s, record);
        if (!value->value || base == c->count)
            continue;
        if (shows && c->kinds[base] != GP_COUNT_KINDS)
            code_counts_add(function, record->pcOffset, c->kinds[base], value->value);
        if (!s->counters)
            continue;
        if (instrumented_needs_instruction(s->counters, base))
            known = read_instruction(r, function, record->pcOffset, &instruction);
        instrumented_add(s->counters, base, known, r->why, value->value);
    }
}

static void add_records(struct gp_sass_session *s, const struct gp_run *run, int cc, size_t count,
                        struct gp_fingerprint *fingerprint)
{
    struct gp_code_reading r = {.run = run, .cc = cc};
    if (s->counters)
        instrumented_begin(s->counters);
    if (s->own)
        own_begin(s->own, run, cc, s->has);
    const bool shows = code_counts_begin(run, cc, kinds_of(s->config));
    bool runs;
    s->questions = 0;
    s->copies = s->swaps = false;
    for (size_t begin = 0, end; begin < count; begin = end) {
        end = end_of_function(s, begin, count, run->kernel, &runs);
        if (runs)
            add_function(s, &r, shows, begin, end, fingerprint);
    }
}

bool sass_session_end(struct gp_sass_session *s, CUcontext context, const struct gp_sass_run *run,
                      double *values, struct gp_reason *absent, struct gp_fingerprint *fingerprint,
                      struct gp_reason *why)
{
    const struct gp_run *launch = run->launch;
    size_t count;
    *why = GP_REASON_TEXT(LAUNCH_FAILED, "the launch was refused");
    bool fetched = !run->refused && fetch(s, context, &count, why);
    struct gp_reason disable_why;
    if (!(fetched && run->in_row) && !disable(s, context, &disable_why)) {
        *why = fetched ? disable_why : *why;
        return false;
    }
    if (!fetched)
        return false;
    *fingerprint = fingerprint_of(launch->kernel, run_shape_and_code(launch, run->cc));
    add_records(s, launch, run->cc, count, fingerprint);
    for (size_t i = 0; i < s->count; i++) {
        values[i] = NAN;
        if (instrumented_value(s->counters, i, &values[i], &absent[i]))
            absent[i] = GP_NO_REASON;
    }
    return true;
}
