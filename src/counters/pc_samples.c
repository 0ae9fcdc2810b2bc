#include "counters/pc_samples.h"

#include "counters/collector.h"
#include "counters/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The hardware's buffer: to make one of 512 MB takes a third of a second. */
#define HARDWARE_BYTES ((size_t)32 << 20)
#define SCRATCH_BYTES ((size_t)16 << 20)
#define WORKER_MS 1
/* Samples disturb a launch: with one every 2^8 cycles its stores wait twice as long, with one every
 * 2^11 half as long again, where DRAM is busy; below 2^8 half of them are dropped. */
#define SHORTEST_PERIOD 12.0
#define LONGEST_PERIOD 24.0
#define WANTED_SAMPLES 20000.0

#define MOST_REASONS 128
#define MOST_OF_A_NAME CUPTI_STALL_REASON_STRING_SIZE
/* Instructions that CUPTI hands out at a time. */
#define ROOM 1024

/* The name of a reason; with this end it counts the samples among them in which the scheduler
 * issued nothing at all. */
#define STALLED "smsp__pcsamp_warps_issue_stalled_"
#define NOT_ISSUED "_not_issued"

/* Room for the data of a call. */
struct room {
    CUpti_PCSamplingData data;
    CUpti_PCSamplingPCData *instructions;
    CUpti_PCSamplingStallReason *reasons;
};

static struct {
    unsigned period;     /* that is configured; 0: none */
    size_t reason_count; /* 0: not asked yet */
    uint32_t numbers[MOST_REASONS];
    struct {
        bool counts;
        enum gp_count_kind kind; /* GP_COUNT_KINDS: a reason that is not known here */
    } reasons[MOST_REASONS];     /* by CUPTI's numbers */
    struct room taken;           /* by GetData */
    struct room last;            /* by Disable */
} all;

/* ---- rooms ----------------------------------------------------------------------------------- */

static bool make_room(struct room *r)
{
    if (!r->instructions)
        r->instructions = calloc(ROOM, sizeof(*r->instructions));
    if (!r->reasons)
        r->reasons = calloc(ROOM * MOST_REASONS, sizeof(*r->reasons));
    if (!r->instructions || !r->reasons)
        return false;
    for (size_t i = 0; i < ROOM; i++)
        r->instructions[i] = (CUpti_PCSamplingPCData){.size = sizeof(*r->instructions),
                                                      .stallReason = &r->reasons[i * MOST_REASONS]};
    r->data = (CUpti_PCSamplingData){
        .size = sizeof(r->data), .collectNumPcs = ROOM, .pPcData = r->instructions};
    return true;
}

/* ---- reasons --------------------------------------------------------------------------------- */

static void learn_reason(uint32_t number, const char *name)
{
    const size_t length = strlen(name), end = strlen(NOT_ISSUED);
    if (number >= MOST_REASONS || strncmp(name, STALLED, strlen(STALLED)) != 0 ||
        (length > end && strcmp(name + length - end, NOT_ISSUED) == 0))
        return;
    all.reasons[number].counts = true;
    all.reasons[number].kind = count_kind_of(name);
}

static bool read_reasons(CUcontext context, size_t count, char *names, struct gp_reason *why)
{
    char *each[MOST_REASONS];
    for (size_t i = 0; i < count; i++)
        each[i] = names + i * MOST_OF_A_NAME;
    CUpti_PCSamplingGetStallReasonsParams p = {.size = CUpti_PCSamplingGetStallReasonsParamsSize,
                                               .ctx = context,
                                               .numStallReasons = count,
                                               .stallReasonIndex = all.numbers,
                                               .stallReasons = each};
    if (GP_CUPTI_FAILED(cuptiPCSamplingGetStallReasons, &p, why))
        return false;
    for (size_t i = 0; i < count; i++)
        learn_reason(all.numbers[i], each[i]);
    all.reason_count = count;
    return true;
}

/* Sampling is enabled. */
static bool find_reasons(CUcontext context, struct gp_reason *why)
{
    size_t count = 0;
    CUpti_PCSamplingGetNumStallReasonsParams p = {.size =
                                                      CUpti_PCSamplingGetNumStallReasonsParamsSize,
                                                  .ctx = context,
                                                  .numStallReasons = &count};
    if (all.reason_count > 0)
        return true;
    if (GP_CUPTI_FAILED(cuptiPCSamplingGetNumStallReasons, &p, why))
        return false;
    *why = GP_REASON_TEXT(CUPTI_FAILED, "CUPTI has more reasons for a stall than are known");
    if (count == 0 || count > MOST_REASONS)
        return false;
    *why = GP_REASON(NO_MEMORY);
    char *names = calloc(count, MOST_OF_A_NAME);
    const bool read = names && read_reasons(context, count, names, why);
    free(names);
    return read;
}

/* ---- sampling -------------------------------------------------------------------------------- */

static bool enable(CUcontext context, struct gp_reason *why)
{
    CUpti_PCSamplingEnableParams p = {.size = CUpti_PCSamplingEnableParamsSize, .ctx = context};
    all.period = 0;
    return !GP_CUPTI_FAILED(cuptiPCSamplingEnable, &p, why);
}

static bool configure(CUcontext context, unsigned period, struct gp_reason *why)
{
    enum { ATTRIBUTES = 8 };
    CUpti_PCSamplingConfigurationInfo list[ATTRIBUTES] = {
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD,
         .attributeData.samplingPeriodData.samplingPeriod = period},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON,
         .attributeData.stallReasonData = {.stallReasonCount = all.reason_count,
                                           .pStallReasonIndex = all.numbers}},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE,
         .attributeData.collectionModeData.collectionMode =
             CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL,
         .attributeData.enableStartStopControlData.enableStartStopControl = 1},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE,
         .attributeData.hardwareBufferSizeData.hardwareBufferSize = HARDWARE_BYTES},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE,
         .attributeData.scratchBufferSizeData.scratchBufferSize = SCRATCH_BYTES},
        {.attributeType =
             CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN,
         .attributeData.workerThreadPeriodicSleepSpanData.workerThreadPeriodicSleepSpan =
             WORKER_MS},
        {.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER,
         .attributeData.samplingDataBufferData.samplingDataBuffer = &all.last.data},
    };
    CUpti_PCSamplingConfigurationInfoParams p = {.size =
                                                     CUpti_PCSamplingConfigurationInfoParamsSize,
                                                 .ctx = context,
                                                 .numAttributes = ATTRIBUTES,
                                                 .pPCSamplingConfigurationInfo = list};
    if (period == all.period)
        return true;
    *why = GP_REASON(NO_MEMORY);
    if (!make_room(&all.last) || GP_CUPTI_FAILED(cuptiPCSamplingSetConfigurationAttribute, &p, why))
        return false;
    all.period = period;
    return true;
}

static bool start(CUcontext context, struct gp_reason *why)
{
    CUpti_PCSamplingStartParams p = {.size = CUpti_PCSamplingStartParamsSize, .ctx = context};
    return !GP_CUPTI_FAILED(cuptiPCSamplingStart, &p, why);
}

static bool stop(CUcontext context, struct gp_reason *why)
{
    CUpti_PCSamplingStopParams p = {.size = CUpti_PCSamplingStopParamsSize, .ctx = context};
    return !GP_CUPTI_FAILED(cuptiPCSamplingStop, &p, why);
}

static void disable(CUcontext context)
{
    struct gp_reason why;
    CUpti_PCSamplingDisableParams p = {.size = CUpti_PCSamplingDisableParamsSize, .ctx = context};
    all.period = 0;
    if (GP_CUPTI_FAILED(cuptiPCSamplingDisable, &p, &why))
        gp_cupti_lose(why); /* no profiler may be enabled beside it: the process would die */
}

/* The configuration of the SASS metrics outlives the end of CUPTI. One that was unset before it
 * cannot be set again. */
bool gp_pc_samples_open(CUcontext context, bool last, struct gp_reason *why)
{
    *why = GP_REASON_TEXT(OTHER_CUPTI, "this CUPTI has no PC sampling");
    if (!gp_cupti_has_samples())
        return false;
    if (last)
        sass_sessions_end();
    if (!gp_collectors_detach(why))
        return false;
    const bool enabled = enable(context, why);
    if (enabled && find_reasons(context, why))
        return true;
    if (enabled)
        disable(context);
    return false;
}

void gp_pc_samples_close(CUcontext context)
{
    disable(context);
}

void gp_pc_samples_abandon(void)
{
    gp_cupti_lose(GP_REASON_TEXT(BESIDE_WORK, "a kernel that was sampled did not end"));
}

/* Each SM is sampled once in a period. */
unsigned gp_pc_samples_period(double cycles, unsigned sms)
{
    const double period = log2(fmax(1, cycles) * fmax(1, sms) / WANTED_SAMPLES);
    return (unsigned)fmin(fmax(round(period), SHORTEST_PERIOD), LONGEST_PERIOD);
}

double gp_pc_samples_of_run(double cycles, unsigned sms)
{
    return cycles * sms / exp2(gp_pc_samples_period(cycles, sms));
}

bool gp_pc_samples_begin(CUcontext context, unsigned period, struct gp_reason *why)
{
    return configure(context, period, why) && start(context, why);
}

/* ---- samples --------------------------------------------------------------------------------- */

static uint64_t add_instruction(const CUpti_PCSamplingPCData *i)
{
    uint64_t samples = 0;
    for (size_t r = 0; r < i->stallReasonCount && r < MOST_REASONS; r++) {
        const CUpti_PCSamplingStallReason *reason = &i->stallReason[r];
        const uint32_t number = reason->pcSamplingStallReasonIndex;
        if (number >= MOST_REASONS || !all.reasons[number].counts)
            continue;
        samples += reason->samples;
        if (all.reasons[number].kind != GP_COUNT_KINDS)
            code_counts_add(i->functionName, (uint32_t)i->pcOffset, all.reasons[number].kind,
                            reason->samples);
    }
    code_counts_add(i->functionName, (uint32_t)i->pcOffset, GP_COUNT_SAMPLES, samples);
    return samples;
}

/* False in *more: CUPTI has no more. */
static bool take(CUcontext context, uint64_t *samples, bool *more, struct gp_reason *why)
{
    CUpti_PCSamplingGetDataParams p = {.size = CUpti_PCSamplingGetDataParamsSize,
                                       .ctx = context,
                                       .pcSamplingData = &all.taken.data};
    *why = GP_REASON(NO_MEMORY);
    if (!make_room(&all.taken) || GP_CUPTI_FAILED(cuptiPCSamplingGetData, &p, why))
        return false;
    const CUpti_PCSamplingData *d = &all.taken.data;
    for (size_t i = 0; i < d->totalNumPcs && i < ROOM; i++)
        if (d->pPcData[i].functionName && d->pPcData[i].pcOffset <= UINT32_MAX)
            *samples += add_instruction(&d->pPcData[i]);
    *more = d->totalNumPcs > 0 && d->remainingNumPcs > 0;
    return true;
}

bool gp_pc_samples_end(CUcontext context, const struct gp_run *run, int cc, uint64_t *samples,
                       struct gp_reason *why)
{
    bool more = true;
    *samples = 0;
    if (!stop(context, why))
        return false;
    *why = GP_REASON(NO_MEMORY);
    if (!code_counts_begin_samples(run, cc))
        return false;
    while (more)
        if (!take(context, samples, &more, why))
            return false;
    return true;
}
