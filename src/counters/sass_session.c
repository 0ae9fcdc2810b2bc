#include "counters/sass_session.h"

#include "code/retries.h"
#include "counters/code_counts.h"
#include "counters/instrumented.h"
#include "counters/run_code.h"
#include "cuda/cupti.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CUPTI takes one list of metrics for a device, for as long as the process lasts: to unset it and
 * set another was seen to fail. */
struct configuration {
    uint64_t *ids;             /* by the position of the base among those of the session */
    enum gp_count_kind *kinds; /* of each: where it shows which line counted it */
    size_t count;
    CUcontext context; /* that was current: CUPTI's allocations lie there */
};
static struct configuration configurations[GP_MAX_DEVICES];

struct gp_sass_session {
    struct gp_instrumented *counters;
    size_t count;
    const struct configuration *configuration;
    struct gp_own *own; /* NULL: none of its counters are wanted */
    bool has[GP_OWN_RECORDS];
    size_t own_base[GP_OWN_RECORDS]; /* where each kind of record stands among the metrics */
    bool counts_everything;          /* a metric of every instruction is among the bases */
    bool retries;                    /* the last launch's kernel */

    CUpti_SassMetrics_Data *records; /* room for `capacity`, each with its one value */
    CUpti_SassMetrics_InstanceValue *values;
    size_t capacity;
};

/* ---- open and close -------------------------------------------------------------------------- */

static bool find_metric(const char *chip, const char *name, uint64_t *id)
{
    GP_CUPTI_PARAMS(CUpti_SassMetrics_GetProperties, p);
    p->pChipName = chip;
    p->pMetricName = name;
    if (gp_cupti.cuptiSassMetricsGetProperties(p) != CUPTI_SUCCESS)
        return false;
    *id = p->metric.metricId;
    return true;
}

static bool has_metric(const char *name, void *chip)
{
    uint64_t id;
    return find_metric(chip, name, &id);
}

static bool set_config(const uint64_t *ids, size_t count, uint32_t device, const char **why)
{
    CUpti_SassMetrics_Config *list = calloc(count, sizeof(*list));
    *why = "out of memory";
    if (!list)
        return false;
    for (size_t i = 0; i < count; i++)
        list[i] = (CUpti_SassMetrics_Config){
            .metricId = ids[i], .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
    GP_CUPTI_PARAMS(CUpti_SassMetricsSetConfig, p);
    p->numOfMetricConfig = count;
    p->pConfigs = list;
    p->deviceIndex = device;
    bool set = !GP_CUPTI_FAILED(cuptiSassMetricsSetConfig, p, why);
    free(list);
    return set;
}

/* The counts of a fingerprint, which cost little. */
static const char *const telling[] = {"smsp__sass_inst_executed_op_branch",
                                      "smsp__sass_sectors_mem_global",
                                      "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared"};
#define TELLING (sizeof(telling) / sizeof(telling[0]))

/* The further counts that show in which lines accesses waste sectors and branches part warps. At
 * the same instructions as those above; a CUPTI without them does without. */
static const char *const showing[] = {"smsp__sass_sectors_mem_global_ideal",
                                      "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal",
                                      "smsp__sass_branch_targets_threads_divergent"};
#define SHOWING (sizeof(showing) / sizeof(showing[0]))

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

bool gp_sass_session_met_retries(const struct gp_sass_session *s)
{
    return s->retries;
}

bool gp_sass_session_counts_instructions(const struct gp_sass_session *s)
{
    return s && s->counts_everything;
}

/* The metrics of the session, configured now or by an earlier session. */
static bool configure(struct gp_sass_session *s, const struct gp_device *device,
                      const char *const *bases, size_t count, const char **why)
{
    *why = "instrumented code counts none of the wanted counters";
    if (!count)
        return false;
    *why = "there are too many GPUs";
    if (device->ordinal < 0 || device->ordinal >= GP_MAX_DEVICES)
        return false;
    struct configuration *c = &configurations[device->ordinal];
    for (size_t r = 0; s->own && r < GP_OWN_RECORDS; r++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(bases[i], gp_own_records[r]) == 0) {
                s->has[r] = true;
                s->own_base[r] = i;
            }
    uint64_t *ids = calloc(count, sizeof(*ids));
    enum gp_count_kind *kinds = calloc(count, sizeof(*kinds));
    *why = "out of memory";
    bool ok = ids && kinds;
    for (size_t i = 0; ok && i < count; i++) {
        ok = find_metric(device->chip, bases[i], &ids[i]);
        *why = "CUPTI does not know a metric that it named";
        kinds[i] = gp_count_kind_of(bases[i]);
        s->counts_everything = s->counts_everything ||
                               strcmp(bases[i], "smsp__sass_thread_inst_executed_pred_on") == 0 ||
                               strcmp(bases[i], "smsp__sass_inst_executed") == 0;
    }
    if (ok && c->ids && !c->context) {
        *why = "the context is gone that CUPTI's instrumented code was set up in";
        ok = false;
    } else if (ok && c->ids) {
        *why = "instrumented code counts something else in this process";
        ok = c->count == count && memcmp(c->ids, ids, count * sizeof(*ids)) == 0;
    } else if (ok && set_config(ids, count, (uint32_t)device->ordinal, why)) {
        *c = (struct configuration){.ids = ids, .kinds = kinds, .count = count};
        gp_cuda.cuCtxGetCurrent(&c->context);
        ids = NULL;
        kinds = NULL;
    } else {
        ok = false;
    }
    free(ids);
    free(kinds);
    s->configuration = c;
    return ok;
}

static struct gp_sass_session *new_session(const char **why)
{
    *why = "this CUPTI has no SASS metrics";
    if (!gp_cupti_has_sass())
        return NULL;
    *why = "out of memory";
    return calloc(1, sizeof(struct gp_sass_session));
}

struct gp_sass_session *gp_sass_session_tell(const struct gp_device *device, struct gp_own *own,
                                             const char **why)
{
    struct gp_sass_session *s = new_session(why);
    const char *names[TELLING + SHOWING + COUNTING + GP_OWN_RECORDS];
    size_t count = TELLING;
    memcpy(names, telling, sizeof(telling));
    for (size_t i = 0; s && i < SHOWING; i++)
        if (has_metric(showing[i], (void *)device->chip))
            names[count++] = showing[i];
    for (size_t i = 0; s && instructions_wanted && i < COUNTING; i++)
        if (has_metric(counting[i], (void *)device->chip))
            names[count++] = counting[i];
    /* Threads at every instruction would cost too much. */
    for (size_t r = GP_OWN_GROUPS; s && own && r < GP_OWN_THREADS; r++)
        if (has_metric(gp_own_records[r], (void *)device->chip))
            names[count++] = gp_own_records[r];
    if (s)
        s->own = own;
    if (s && configure(s, device, names, count, why)) {
        s->has[GP_OWN_THREADS] = false; /* those at accesses to memory would count twice */
        return s;
    }
    gp_sass_session_close(s);
    return NULL;
}

struct gp_sass_session *gp_sass_session_count(const struct gp_device *device,
                                              const char *const *names, size_t count,
                                              struct gp_own *own, const char **unavailable,
                                              const char **why)
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
        s->counters =
            gp_instrumented_open(all, own ? count + 1 : count, has_metric, (void *)device->chip);
        free(all);
    }
    *why = "out of memory";
    size_t base_count = 0;
    const char *const *bases = s->counters ? gp_instrumented_bases(s->counters, &base_count) : NULL;
    if (!bases || !configure(s, device, bases, base_count, why)) {
        gp_sass_session_close(s);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        unavailable[i] = gp_instrumented_unavailable(s->counters, i);
        if (gp_instrumented_shares_addresses(s->counters, i))
            unavailable[i] = "it takes the counters of the hardware besides";
    }
    return s;
}

void gp_sass_session_close(struct gp_sass_session *s)
{
    if (!s)
        return;
    gp_instrumented_close(s->counters);
    free(s->records);
    free(s->values);
    free(s);
}

static void unset(uint32_t device)
{
    GP_CUPTI_PARAMS(CUpti_SassMetricsUnsetConfig, p);
    p->deviceIndex = device;
    gp_cupti.cuptiSassMetricsUnsetConfig(p);
    configurations[device].context = NULL;
}

void gp_sass_sessions_leave(CUcontext context, bool at_rest)
{
    for (uint32_t device = 0; device < GP_MAX_DEVICES; device++) {
        if (!configurations[device].context || configurations[device].context != context)
            continue;
        /* Later it would be memory of a context that is gone. */
        if (at_rest)
            unset(device);
        configurations[device].context = NULL;
    }
}

void gp_sass_sessions_end(void)
{
    for (uint32_t device = 0; device < GP_MAX_DEVICES; device++)
        if (configurations[device].context)
            unset(device);
}

/* ---- one launch ------------------------------------------------------------------------------ */

bool gp_sass_session_begin(struct gp_sass_session *s, CUcontext context, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_SassMetricsEnable, p);
    p->ctx = context;
    p->enableLazyPatching = 1;
    (void)s;
    return !GP_CUPTI_FAILED(cuptiSassMetricsEnable, p, why);
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
static bool fetch(struct gp_sass_session *s, CUcontext context, size_t *count, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_SassMetricsGetDataProperties, p);
    p->ctx = context;
    *count = 0;
    if (GP_CUPTI_FAILED(cuptiSassMetricsGetDataProperties, p, why))
        return false;
    *why = "CUPTI's instrumented code counted nothing";
    if (!p->numOfPatchedInstructionRecords)
        return !s->counts_everything;
    *why = "CUPTI gives counts in a form that is not known";
    if (p->numOfInstances != 1)
        return false;
    *why = "out of memory";
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
        if (s->has[r] && s->configuration->ids[s->own_base[r]] == id)
            gp_own_add(s->own, (enum gp_own_record)r,
                       record->functionName ? record->functionName : "", record->pcOffset,
                       record->pInstanceValues->value);
}

static unsigned kinds_of(const struct configuration *c)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < c->count; i++)
        if (c->kinds[i] != GP_COUNT_KINDS)
            kinds |= 1u << c->kinds[i];
    return kinds;
}

/* The base that the record counts, by its position among those of the configuration. */
static size_t base_of(const struct configuration *c, const CUpti_SassMetrics_Data *record)
{
    size_t base = 0;
    while (base < c->count && c->ids[base] != record->pInstanceValues->metricId)
        base++;
    return base;
}

/* True for counts that differ from run to run of the same work. At asynchronous copies instrumented
 * code misses some sectors and wavefronts. A branch of a question that is asked until the answer is
 * yes runs as often as time has it: in nearly all kernels of cuBLAS and cuDNN for a GH100. */
static bool differs_by_itself(struct gp_sass_session *s, struct gp_code_reading *r,
                              const CUpti_SassMetrics_Data *record, enum gp_count_kind kind)
{
    struct gp_instruction instruction;
    const struct gp_instruction *known =
        gp_read_instruction(r, record->functionName, record->pcOffset, &instruction);
    if (known && (kind == GP_COUNT_BRANCHES || kind == GP_COUNT_DIVERGENT) &&
        gp_code_retries(r->code, r->size, record->pcOffset, r->cc)) {
        s->retries = true;
        return true;
    }
    return known && known->op == GP_OP_LDGSTS;
}

/* The function of a record for a fingerprint. Records of one function follow each other. */
static uint64_t function_of(const char *name, const char **last, uint64_t *function)
{
    if (!*last || (*last != name && strcmp(*last, name) != 0))
        *function = gp_fingerprint_function(name);
    *last = name;
    return *function;
}

static void add_records(struct gp_sass_session *s, const struct gp_run *run, int cc, size_t count,
                        struct gp_fingerprint *fingerprint)
{
    struct gp_code_reading r = {.run = run, .cc = cc};
    const struct configuration *c = s->configuration;
    if (s->counters)
        gp_instrumented_begin(s->counters);
    if (s->own)
        gp_own_begin(s->own, run, cc, s->has);
    bool shows = gp_code_counts_begin(run, cc, kinds_of(c));
    const char *last = NULL;
    uint64_t last_function = 0;
    s->retries = false;
    for (size_t i = 0; i < count; i++) {
        const CUpti_SassMetrics_InstanceValue *value = s->records[i].pInstanceValues;
        const char *function = s->records[i].functionName ? s->records[i].functionName : "";
        struct gp_instruction instruction;
        const struct gp_instruction *known = NULL;
        size_t base = base_of(c, &s->records[i]);
        if (base == c->count || !differs_by_itself(s, &r, &s->records[i], c->kinds[base]))
            gp_fingerprint_add(fingerprint, function_of(function, &last, &last_function),
                               s->records[i].pcOffset, value->metricId, value->value);
        if (s->own)
            add_own(s, &s->records[i]);
        if (!value->value)
            continue;
        if (base == c->count)
            continue;
        if (shows && c->kinds[base] != GP_COUNT_KINDS)
            gp_code_counts_add(function, s->records[i].pcOffset, c->kinds[base], value->value);
        if (!s->counters)
            continue;
        if (gp_instrumented_needs_instruction(s->counters, base))
            known = gp_read_instruction(&r, function, s->records[i].pcOffset, &instruction);
        gp_instrumented_add(s->counters, base, known, r.why, value->value);
    }
}

bool gp_sass_session_end(struct gp_sass_session *s, CUcontext context, const struct gp_run *run,
                         int cc, double *values, const char **absent,
                         struct gp_fingerprint *fingerprint, const char **why)
{
    size_t count;
    *why = "its launch was refused";
    bool fetched = !run->refused && fetch(s, context, &count, why);
    GP_CUPTI_PARAMS(CUpti_SassMetricsDisable, p);
    p->ctx = context;
    const char *disable_why;
    if (GP_CUPTI_FAILED(cuptiSassMetricsDisable, p, &disable_why)) {
        *why = fetched ? disable_why : *why;
        return false;
    }
    if (!fetched)
        return false;
    *fingerprint = gp_fingerprint_of(run->kernel, gp_run_shape_and_code(run, cc));
    add_records(s, run, cc, count, fingerprint);
    for (size_t i = 0; i < s->count; i++) {
        const char *reason = NULL;
        values[i] = NAN;
        absent[i] = gp_instrumented_value(s->counters, i, &values[i], &reason) ? NULL : reason;
    }
    return true;
}
