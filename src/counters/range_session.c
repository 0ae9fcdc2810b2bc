/* A session of CUPTI's Range Profiler that stays armed: ranges are pushed and popped in it, one
 * launch each, and kernels outside of them run at their own speed. Starting and stopping costs
 * milliseconds, a range one; the counts come out only when the session is stopped, so that is done
 * for many ranges at once.
 *
 * The counters take one or several passes. In each a range is pushed again under its number; going
 * on to another pass stops the session and starts it again, and past the last one the counts can be
 * read. A range may be in the last pass of one round and in the first ones of the next. */
#include "counters/inside.h"

#include "base/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fewer are not tried, however large the image is. */
#define LEAST_RANGES 6u

struct gp_range_session {
    CUpti_RangeProfiler_Object *profiler;
    struct gp_range_config config;
    unsigned ranges;
    uint8_t *empty; /* the image as it is before anything was counted; NULL: not made yet */
    uint8_t *data; /* CUPTI's counter data image: one for many starts and stops, as all are added */
    size_t data_size;
    bool used_up; /* it is to be emptied before it takes more */
    bool started;
    unsigned pass;   /* that is started, or that the next start makes */
    bool counting;   /* some range was pushed and not read yet */
    bool only_whole; /* it can be decoded after its last pass only */
    struct pushed {
        bool hardware, instrumented;
    } * pushed;       /* by range: in which passes since it was read */
    double *values;   /* ranges x counters */
    bool *has_values; /* by range */
};

/* ---- open and close -------------------------------------------------------------------------- */

static bool enable(struct gp_range_session *s, CUcontext context, struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_Enable, p);
    p->ctx = context;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerEnable, p, why))
        return false;
    s->profiler = p->pRangeProfilerObject;
    return true;
}

static bool ask_image_size(struct gp_range_session *s, struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, p);
    p->pRangeProfilerObject = s->profiler;
    p->pMetricNames = s->config.names;
    p->numMetrics = s->config.count;
    p->maxNumOfRanges = s->ranges;
    p->maxNumRangeTreeNodes = s->ranges;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerGetCounterDataSize, p, why))
        return false;
    s->data_size = p->counterDataSize;
    return true;
}

/* Without counters there is nothing to make room for: the session is open for its own sake. */
static bool make_data_image(struct gp_range_session *s, size_t most, struct gp_reason *why)
{
    if (!s->config.count)
        return true;
    if (!ask_image_size(s, why))
        return false;
    while (s->data_size > most && s->ranges > LEAST_RANGES) {
        s->ranges /= 2;
        if (!ask_image_size(s, why))
            return false;
    }
    s->used_up = true;
    s->data = gp_pages_take(s->data_size); /* CUPTI wants it to be zero */
    s->pushed = calloc(s->ranges, sizeof(*s->pushed));
    s->values = calloc(s->ranges * s->config.count, sizeof(*s->values));
    s->has_values = calloc(s->ranges, sizeof(*s->has_values));
    *why = GP_REASON(NO_MEMORY);
    return s->data && s->pushed && s->values && s->has_values;
}

struct gp_range_session *range_session_open(CUcontext context, struct gp_range_config *config,
                                            unsigned ranges, size_t most, struct gp_reason *why)
{
    struct gp_range_session *s = calloc(1, sizeof(*s));
    *why = GP_REASON(NO_MEMORY);
    if (!s) {
        gp_range_config_free(config);
        return NULL;
    }
    s->config = *config;
    s->ranges = ranges;
    if (enable(s, context, why) && make_data_image(s, most, why))
        return s;
    range_session_close(s, true);
    return NULL;
}

void range_session_close(struct gp_range_session *s, bool context_alive)
{
    if (!s)
        return;
    if (s->profiler && context_alive) {
        GP_CUPTI_PARAMS(CUpti_RangeProfiler_Disable, p);
        p->pRangeProfilerObject = s->profiler;
        gp_cupti.cuptiRangeProfilerDisable(p);
    }
    gp_range_config_free(&s->config);
    gp_pages_give(s->data, s->data_size);
    gp_pages_give(s->empty, s->data_size);
    free(s->pushed);
    free(s->values);
    free(s->has_values);
    free(s);
}

unsigned range_session_ranges(const struct gp_range_session *s)
{
    return s->ranges;
}

unsigned range_session_hardware_passes(const struct gp_range_session *s)
{
    return s->config.hardware_passes;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* To have CUPTI make an empty image takes 0.2 ms and more for each range; to copy one takes much
 * less. Without room for a copy CUPTI makes it each time. */
static bool initialize_image(struct gp_range_session *s, struct gp_reason *why)
{
    if (s->empty) {
        memcpy(s->data, s->empty, s->data_size);
        return true;
    }
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, image);
    image->pRangeProfilerObject = s->profiler;
    image->counterDataSize = s->data_size;
    image->pCounterData = s->data;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerCounterDataImageInitialize, image, why))
        return false;
    s->empty = gp_pages_take(s->data_size);
    if (s->empty)
        memcpy(s->empty, s->data, s->data_size);
    return true;
}

static bool empty_image(struct gp_range_session *s, struct gp_reason *why)
{
    if (!initialize_image(s, why))
        return false;
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, p);
    p->pRangeProfilerObject = s->profiler;
    p->configSize = s->config.image_size;
    p->pConfig = s->config.image;
    p->counterDataImageSize = s->data_size;
    p->pCounterDataImage = s->data;
    p->range = CUPTI_UserRange;
    p->replayMode = CUPTI_UserReplay;
    p->maxRangesPerPass = s->ranges;
    p->numNestingLevels = 1;
    p->minNestingLevel = 1;
    p->targetNestingLevel = 1;
    return !GP_CUPTI_FAILED(cuptiRangeProfilerSetConfig, p, why);
}

static bool start(struct gp_range_session *s, struct gp_reason *why)
{
    /* Not between two passes: CUPTI goes on where it is, in spite of the configuration. */
    if (s->used_up && s->pass == 0) {
        if (!empty_image(s, why))
            return false;
        s->used_up = false;
    }
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_Start, p);
    p->pRangeProfilerObject = s->profiler;
    s->started = !GP_CUPTI_FAILED(cuptiRangeProfilerStart, p, why);
    return s->started;
}

/* The number of the range that stands at a index of the image. */
static bool range_at(const struct gp_range_session *s, size_t index, unsigned *range)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo, p);
    p->pCounterDataImage = s->data;
    p->counterDataImageSize = s->data_size;
    p->rangeIndex = index;
    p->rangeDelimiter = "/";
    struct gp_reason why;
    return !GP_CUPTI_FAILED(cuptiRangeProfilerCounterDataGetRangeInfo, p, &why) && p->rangeName &&
           sscanf(p->rangeName, "%u", range) == 1 && *range < s->ranges;
}

/* Takes the values of the ranges that were pushed since the last time out of the image. */
static bool decode(struct gp_range_session *s, struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, p);
    p->pRangeProfilerObject = s->profiler;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerDecodeData, p, why))
        return false;
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
    info->pCounterDataImage = s->data;
    info->counterDataImageSize = s->data_size;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerGetCounterDataInfo, info, why))
        return false;
    for (size_t index = 0; index < info->numTotalRanges; index++) {
        unsigned range;
        if (!range_at(s, index, &range))
            continue;
        struct pushed pushed = s->pushed[range];
        s->pushed[range] = (struct pushed){0};
        if (pushed.hardware || pushed.instrumented)
            s->has_values[range] = range_config_evaluate(&s->config, s->data, s->data_size, index,
                                                         pushed.hardware, pushed.instrumented,
                                                         &s->values[range * s->config.count], why);
    }
    s->counting = false;
    return true;
}

/* Ends the pass that is started; after the last one all is decoded. */
static bool stop(struct gp_range_session *s, struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_Stop, p);
    p->pRangeProfilerObject = s->profiler;
    s->started = false;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerStop, p, why))
        return false;
    s->pass = (s->pass + 1) % s->config.passes;
    return s->pass != 0 || !s->counting || decode(s, why);
}

/* Passes on the way are submitted empty. */
bool range_session_advance(struct gp_range_session *s, unsigned pass, struct gp_reason *why)
{
    *why = GP_REASON_TEXT(CUPTI_FAILED, "the counters have no such pass");
    if (pass >= s->config.passes)
        return false;
    while (!s->started || s->pass != pass || s->used_up)
        if (s->started ? !stop(s, why) : !start(s, why))
            return false;
    return true;
}

bool range_session_stands_in(const struct gp_range_session *s, unsigned pass)
{
    return s->started && s->pass == pass;
}

bool range_session_is_past(const struct gp_range_session *s, unsigned pass)
{
    return s->pass > pass;
}

bool range_session_start(struct gp_range_session *s, struct gp_reason *why)
{
    return !s->config.passes || range_session_advance(s, 0, why);
}

bool range_session_push(struct gp_range_session *s, unsigned range, struct gp_reason *why)
{
    *why = GP_REASON_TEXT(CUPTI_FAILED, "the session has no such range");
    if (range >= s->ranges)
        return false;
    char name[16];
    snprintf(name, sizeof(name), "%u", range);
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_PushRange, p);
    p->pRangeProfilerObject = s->profiler;
    p->pRangeName = name;
    s->counting = true;
    if (s->pass < s->config.hardware_passes)
        s->pushed[range].hardware = true;
    else
        s->pushed[range].instrumented = true;
    return !GP_CUPTI_FAILED(cuptiRangeProfilerPushRange, p, why);
}

bool range_session_pop(struct gp_range_session *s, struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_PopRange, p);
    p->pRangeProfilerObject = s->profiler;
    return !GP_CUPTI_FAILED(cuptiRangeProfilerPopRange, p, why);
}

/* Not in every session can the hardware's counters be decoded alone: where an earlier session of
 * the context has instrumented code, CUPTI decodes nothing before that pass, which is then made
 * without a launch. */
bool range_session_settle_hardware(struct gp_range_session *s, struct gp_reason *why)
{
    const unsigned instrumented = s->config.hardware_passes;
    if (s->only_whole || (s->started && s->pass >= instrumented))
        return range_session_settle(s, why);
    while (s->started)
        if (!stop(s, why) || (s->pass && s->pass < instrumented && !start(s, why)))
            return false;
    if (s->pass != instrumented || !s->counting)
        return true;
    s->only_whole = !decode(s, why);
    return !s->only_whole || range_session_settle(s, why);
}

bool range_session_settle(struct gp_range_session *s, struct gp_reason *why)
{
    while (s->started || s->counting)
        if (s->started ? !stop(s, why) : !start(s, why))
            return false;
    return true;
}

const double *range_session_values(const struct gp_range_session *s, unsigned range)
{
    return s->has_values && s->has_values[range] ? &s->values[range * s->config.count] : NULL;
}

void range_session_forget_values(struct gp_range_session *s)
{
    for (unsigned range = 0; s->has_values && range < s->ranges; range++)
        s->has_values[range] = false;
}

void range_session_reuse_ranges(struct gp_range_session *s)
{
    s->used_up = s->config.count > 0;
}
