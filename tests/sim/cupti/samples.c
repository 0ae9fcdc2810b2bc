/*
 * PC sampling: launches between a start and a stop have samples at the instructions where their
 * warps would wait in the model. As the real one does, it gives no sample of a module once a
 * session of the Range Profiler was started, until cuptiFinalize.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/cupti_sim.h"

#include <cupti_pcsampling.h>

#define INSTRUCTION_BYTES 16
#define MOST_INSTRUCTIONS 4096
#define FIRST_PERIOD 5
#define LAST_PERIOD 31

enum reason { BARRIER, LONG_SCOREBOARD, SHORT_SCOREBOARD, SELECTED, WAIT, REASONS };

#define STALLED "smsp__pcsamp_warps_issue_stalled_"

/* Each reason but the first two has a second one with the samples in which nothing was issued. */
static const char *const names[] = {"smsp__pcsamp_sample_count", STALLED "barrier",
                                    STALLED "long_scoreboard",   STALLED "short_scoreboard",
                                    STALLED "selected",          STALLED "wait",
                                    STALLED "wait_not_issued",   STALLED "made_up_for_tests"};
#define NAMES (sizeof(names) / sizeof(names[0]))
enum { FIRST_REASON = 1, WAIT_NOT_ISSUED = 6, UNKNOWN_REASON = 7 };

struct instruction {
    const char *kernel;
    uint32_t offset;
    uint64_t samples[NAMES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    CUcontext context; /* NULL: it is not enabled */
    bool configured, started, blind;
    unsigned period;
    struct gpusim_watcher watcher;
    struct instruction list[MOST_INSTRUCTIONS];
    size_t count, given;
    uint64_t samples;
} sampling;
static atomic_bool ranges_began;

void gpusim_samples_ranges_begin(void)
{
    atomic_store(&ranges_began, true);
}

void gpusim_samples_finalize(void)
{
    atomic_store(&ranges_began, false);
}

bool gpusim_samples_enabled(void)
{
    return sampling.context != NULL;
}

/* ---- samples --------------------------------------------------------------------------------- */

static void add(const char *kernel, uint32_t offset, unsigned name, uint64_t samples)
{
    size_t i = 0;

    while (i < sampling.count &&
           (sampling.list[i].offset != offset || strcmp(sampling.list[i].kernel, kernel) != 0))
        i++;
    if (i == MOST_INSTRUCTIONS || samples == 0)
        return;
    if (i == sampling.count)
        sampling.list[sampling.count++] = (struct instruction){.kernel = kernel, .offset = offset};
    sampling.list[i].samples[name] += samples;
}

/* Cycles that the warps spend at an instruction, or behind it for its result. */
static uint64_t cycles_at(const struct gpusim_counters *c)
{
    return 4 * c->inst + 60 * c->barriers;
}

static uint64_t cycles_behind(const struct gpusim_counters *c)
{
    return 500 * (c->global_ld + c->global_atom + c->local_ld) + 30 * (c->shared_ld + c->inst_sfu);
}

static void launched(void *self, const struct gpusim_result *result)
{
    uint64_t all = 0, wanted;
    char note[128];

    (void)self;
    (void)snprintf(note, sizeof(note), "sampled %s", result->kernel);
    if (sampling.started)
        gpusim_note(note, sampling.period);
    pthread_mutex_lock(&lock);
    wanted = (result->cycles * result->busy_sms) >> sampling.period;
    if (gpusim_driver()->fault("manysamples"))
        wanted *= 10;
    for (size_t i = 0; i < result->instruction_count; i++)
        all += cycles_at(&result->instructions[i].counts) +
               cycles_behind(&result->instructions[i].counts);
    for (size_t i = 0; sampling.started && all > 0 && i < result->instruction_count; i++) {
        const struct gpusim_instruction_counts *at = &result->instructions[i];
        const struct gpusim_counters *c = &at->counts;
        const uint64_t here = cycles_at(c) * wanted / all, behind = cycles_behind(c) * wanted / all;
        sampling.samples += here + behind;
        if (sampling.blind)
            continue;
        add(result->kernel, at->offset, FIRST_REASON + (c->barriers ? BARRIER : WAIT), here / 2);
        add(result->kernel, at->offset, WAIT_NOT_ISSUED, here / 4);
        add(result->kernel, at->offset, FIRST_REASON + SELECTED, here - here / 2);
        add(result->kernel, at->offset + INSTRUCTION_BYTES,
            FIRST_REASON + (c->shared_ld + c->inst_sfu ? SHORT_SCOREBOARD : LONG_SCOREBOARD),
            behind);
    }
    pthread_mutex_unlock(&lock);
}

static void forget(void)
{
    sampling.count = sampling.given = 0;
    sampling.samples = 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

#define CHECK(type)                                  \
    do {                                             \
        GPUSIM_MAY_FAIL();                           \
        if (!pParams || pParams->size != type##Size) \
            return CUPTI_ERROR_INVALID_PARAMETER;    \
        if (gpusim_cupti_fault("nosamples"))         \
            return CUPTI_ERROR_NOT_SUPPORTED;        \
    } while (0)

static CUptiResult enabled(CUcontext context)
{
    return sampling.context && sampling.context == context ? CUPTI_SUCCESS
                                                           : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult CUPTIAPI cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *pParams)
{
    int device;
    CUptiResult result;

    CHECK(CUpti_PCSamplingEnableParams);
    result = gpusim_attach(false);
    if (result != CUPTI_SUCCESS)
        return result;
    if (!gpusim_driver()->device_of(pParams->ctx, &device))
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (gpusim_driver()->fault("noprivileges"))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    if (sampling.context)
        return CUPTI_ERROR_INVALID_OPERATION;
    sampling.context = pParams->ctx;
    sampling.configured = sampling.started = false;
    sampling.blind = atomic_load(&ranges_began);
    sampling.watcher = (struct gpusim_watcher){.launched = launched};
    forget();
    gpusim_takes_ms(90);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *pParams)
{
    CHECK(CUpti_PCSamplingDisableParams);
    if (enabled(pParams->ctx) != CUPTI_SUCCESS)
        return CUPTI_ERROR_INVALID_OPERATION;
    if (sampling.started)
        gpusim_driver()->unwatch(sampling.context, &sampling.watcher);
    sampling.context = NULL;
    gpusim_takes_ms(40);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *pParams)
{
    CHECK(CUpti_PCSamplingConfigurationInfoParams);
    if (enabled(pParams->ctx) != CUPTI_SUCCESS || sampling.started)
        return CUPTI_ERROR_INVALID_OPERATION;
    for (size_t i = 0; i < pParams->numAttributes; i++) {
        const CUpti_PCSamplingConfigurationInfo *a = &pParams->pPCSamplingConfigurationInfo[i];
        const unsigned period = a->attributeData.samplingPeriodData.samplingPeriod;
        if (a->attributeType != CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
            continue;
        if (period < FIRST_PERIOD || period > LAST_PERIOD)
            return CUPTI_ERROR_INVALID_OPERATION;
        sampling.period = period;
        sampling.configured = true;
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *pParams)
{
    CHECK(CUpti_PCSamplingGetNumStallReasonsParams);
    *pParams->numStallReasons = NAMES;
    return enabled(pParams->ctx);
}

CUptiResult CUPTIAPI cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *pParams)
{
    CHECK(CUpti_PCSamplingGetStallReasonsParams);
    for (size_t i = 0; i < NAMES && i < pParams->numStallReasons; i++) {
        const unsigned number = (unsigned)(NAMES - 1 - i); /* in no order, as the real one */
        pParams->stallReasonIndex[i] = number;
        (void)snprintf(pParams->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE, "%s",
                       names[number]);
    }
    return enabled(pParams->ctx);
}

CUptiResult CUPTIAPI cuptiPCSamplingStart(CUpti_PCSamplingStartParams *pParams)
{
    CHECK(CUpti_PCSamplingStartParams);
    if (enabled(pParams->ctx) != CUPTI_SUCCESS || sampling.started || !sampling.configured)
        return CUPTI_ERROR_INVALID_OPERATION;
    if (gpusim_ranges_enabled(pParams->ctx))
        return CUPTI_ERROR_INVALID_PARAMETER;
    forget();
    if (!gpusim_driver()->watch(sampling.context, &sampling.watcher))
        return CUPTI_ERROR_INVALID_PARAMETER;
    sampling.started = true;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiPCSamplingStop(CUpti_PCSamplingStopParams *pParams)
{
    CHECK(CUpti_PCSamplingStopParams);
    if (enabled(pParams->ctx) != CUPTI_SUCCESS || !sampling.started)
        return CUPTI_ERROR_INVALID_OPERATION;
    (void)gpusim_driver()->synchronize(sampling.context);
    gpusim_driver()->unwatch(sampling.context, &sampling.watcher);
    sampling.started = false;
    gpusim_takes_ms(3);
    return CUPTI_SUCCESS;
}

static void give(const struct instruction *from, CUpti_PCSamplingPCData *to)
{
    to->pcOffset = from->offset;
    to->functionName = (char *)(uintptr_t)from->kernel;
    to->functionIndex = 0;
    to->stallReasonCount = 0;
    for (unsigned n = FIRST_REASON; n < NAMES; n++)
        if (from->samples[n] > 0)
            to->stallReason[to->stallReasonCount++] =
                (CUpti_PCSamplingStallReason){n, (uint32_t)from->samples[n]};
}

CUptiResult CUPTIAPI cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *pParams)
{
    CUpti_PCSamplingData *data;

    CHECK(CUpti_PCSamplingGetDataParams);
    if (enabled(pParams->ctx) != CUPTI_SUCCESS)
        return CUPTI_ERROR_INVALID_OPERATION;
    data = pParams->pcSamplingData;
    data->totalNumPcs = 0;
    while (data->totalNumPcs < data->collectNumPcs && sampling.given < sampling.count)
        give(&sampling.list[sampling.given++], &data->pPcData[data->totalNumPcs++]);
    data->remainingNumPcs = sampling.count - sampling.given;
    data->totalSamples = sampling.samples;
    data->nonUsrKernelsTotalSamples = sampling.blind ? sampling.samples : 0;
    data->droppedSamples = 0;
    data->hardwareBufferFull = 0;
    return CUPTI_SUCCESS;
}
