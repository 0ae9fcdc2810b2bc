#include "cupti/metrics.h"

#include <math.h>
#include <string.h>

enum way { HARDWARE, INSTRUMENTED };

struct base {
    const char *name;
    enum gpusim_unit unit;
    enum way way;
    bool ratio;
};

static const struct base bases[] = {
#define GPUSIM_METRIC(name, unit, way, peak, dimension, value, description) \
    {#name, GPUSIM_UNIT_##unit, way, false},
#define GPUSIM_RATIO(name, way, full, dimension, over, under, description) \
    {#name, GPUSIM_UNIT_SMSP, way, true},
#include "cupti/metrics.def"
#undef GPUSIM_METRIC
#undef GPUSIM_RATIO
};

#define BASES (sizeof(bases) / sizeof(bases[0]))

enum base_index {
#define GPUSIM_METRIC(name, unit, way, peak, dimension, value, description) INDEX_##name,
#define GPUSIM_RATIO(name, way, full, dimension, over, under, description) INDEX_##name,
#include "cupti/metrics.def"
#undef GPUSIM_METRIC
#undef GPUSIM_RATIO
};

static const struct {
    double per_chip; /* instances; 0: so many per SM as below */
    double per_sm;
} units[GPUSIM_UNITS] = {
    [GPUSIM_UNIT_GPU] = {1, 0},   [GPUSIM_UNIT_SM] = {0, 1},   [GPUSIM_UNIT_SMSP] = {0, 4},
    [GPUSIM_UNIT_L1TEX] = {0, 1}, [GPUSIM_UNIT_LTS] = {96, 0}, [GPUSIM_UNIT_DRAM] = {48, 0},
};

enum gpusim_unit gpusim_metric_unit(unsigned base)
{
    return bases[base].unit;
}

bool gpusim_metric_is_instrumented(unsigned base)
{
    return bases[base].way == INSTRUMENTED;
}

static bool find_base(const char *name, size_t length, unsigned *base)
{
    for (unsigned i = 0; i < BASES; i++)
        if (strncmp(bases[i].name, name, length) == 0 && bases[i].name[length] == '\0') {
            *base = i;
            return true;
        }
    return false;
}

/* The word at `text`, up to the next dot, among these; its index, or -1. */
static int next_word(const char **at, const char *const *words, int count)
{
    size_t length = strcspn(*at, ".");

    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == length && strncmp(*at, words[i], length) == 0) {
            *at += length + ((*at)[length] == '.');
            return i;
        }
    return -1;
}

bool gpusim_metric_parse(const char *name, struct gpusim_metric *metric)
{
    static const char *const rollups[] = {"sum", "avg", "min", "max", "pct", "ratio"};
    static const char *const rates[] = {"",
                                        "per_second",
                                        "per_cycle_active",
                                        "per_cycle_elapsed",
                                        "pct_of_peak_sustained_active",
                                        "pct_of_peak_sustained_elapsed",
                                        "peak_sustained"};
    size_t length = strcspn(name, ".");
    const char *at = name + length + 1;
    int rollup, rate = GPUSIM_PLAIN;

    if (name[length] != '.' || !find_base(name, length, &metric->base))
        return false;
    rollup = next_word(&at, rollups, 6);
    if (rollup < 0 || bases[metric->base].ratio != (rollup >= GPUSIM_PCT))
        return false;
    if (*at) {
        rate = next_word(&at, rates, 7);
        if (rate < 0 || *at || bases[metric->base].ratio)
            return false;
    }
    metric->rollup = (enum gpusim_rollup)rollup;
    metric->rate = (enum gpusim_rate)rate;
    return true;
}

/* ---- values ---- */

/* A count that every SM has: for all together it is so many times as much. */
#define EACH(value) ((c == &r->total ? (double)r->sms : 1.0) * (double)(value))
/* Bytes that one of the DRAM channels moves in one cycle of the SMs' clock. */
#define DRAM_PEAK (2.0 * chip->memory_clock_khz * chip->bus_bits / 8 / chip->clock_khz / 48)
/* Requests to L1, also for data that it does not keep. */
#define L1_SECTORS                                                          \
    (c->global_ld_sectors + c->global_st_sectors + c->global_atom_sectors + \
     c->global_red_sectors + c->local_ld_sectors + c->local_st_sectors)

/* Cycles in which warps wait, as in samples.c, as parts of the cycles that they are resident. */
#define LONG_CYCLES (500 * (c->global_ld + c->global_atom + c->local_ld))
#define SHORT_CYCLES (30 * (c->shared_ld + c->inst_sfu))
#define BARRIER_CYCLES (60 * c->barriers)
#define ALL_CYCLES (4 * c->inst + BARRIER_CYCLES + LONG_CYCLES + SHORT_CYCLES)
#define STALLED(cycles) \
    (ALL_CYCLES > 0 ? (double)c->warp_cycles * (double)(cycles) / (double)ALL_CYCLES : 0.0)

static double count_of(unsigned base, const struct gpusim_counters *c,
                       const struct gpusim_result *r)
{
    switch (base) {
#define GPUSIM_METRIC(name, unit, way, peak, dimension, value, description) \
    case INDEX_##name:                                                      \
        return (double)(value);
#define GPUSIM_RATIO(name, way, full, dimension, over, under, description) \
    case INDEX_##name:                                                     \
        return (double)(over);
#include "cupti/metrics.def"
#undef GPUSIM_METRIC
#undef GPUSIM_RATIO
    default:
        return NAN;
    }
}

static double divisor_of(unsigned base, const struct gpusim_counters *c)
{
    switch (base) {
#define GPUSIM_METRIC(name, unit, way, peak, dimension, value, description)
#define GPUSIM_RATIO(name, way, full, dimension, over, under, description) \
    case INDEX_##name:                                                     \
        return (double)(under);
#include "cupti/metrics.def"
#undef GPUSIM_METRIC
#undef GPUSIM_RATIO
    default:
        return NAN;
    }
}

/* The most that one instance counts in a cycle; of a ratio, the value that is 100 %. */
static double peak_of(unsigned base, const struct gpusim_chip *chip)
{
    switch (base) {
#define GPUSIM_METRIC(name, unit, way, peak, dimension, value, description) \
    case INDEX_##name:                                                      \
        return (double)(peak);
#define GPUSIM_RATIO(name, way, full, dimension, over, under, description) \
    case INDEX_##name:                                                     \
        return (double)(full);
#include "cupti/metrics.def"
#undef GPUSIM_METRIC
#undef GPUSIM_RATIO
    default:
        return 0;
    }
}

struct gpusim_sample gpusim_metric_sample(unsigned base, const struct gpusim_result *r,
                                          const struct gpusim_chip *chip)
{
    struct gpusim_sample s = {.present = 1};
    double per_sm = units[bases[base].unit].per_sm;
    double instances = per_sm > 0 ? per_sm * r->sms : units[bases[base].unit].per_chip;

    s.sum = count_of(base, &r->total, r);
    s.elapsed_cycles = (double)r->cycles;
    s.active_cycles = per_sm > 0 ? (double)r->total.active_cycles / r->sms : (double)r->cycles;
    s.seconds = r->duration_ns * 1e-9;
    if (bases[base].ratio) {
        s.avg = divisor_of(base, &r->total);
        s.full = peak_of(base, chip);
        return s;
    }
    s.peak = peak_of(base, chip);
    s.avg = s.sum / instances;
    s.min = s.max = s.avg;
    if (per_sm > 0) {
        s.min = INFINITY;
        s.max = 0;
        /* Within an SM the work is taken to be spread evenly. */
        for (unsigned i = 0; i < r->sms; i++) {
            double value = count_of(base, &r->sm[i], r) / per_sm;
            s.min = fmin(s.min, value);
            s.max = fmax(s.max, value);
        }
    }
    return s;
}

void gpusim_sample_add(struct gpusim_sample *sum, const struct gpusim_sample *more)
{
    if (!sum->present) {
        *sum = *more;
        return;
    }
    sum->sum += more->sum;
    sum->avg += more->avg;
    sum->min += more->min;
    sum->max += more->max;
    sum->active_cycles += more->active_cycles;
    sum->elapsed_cycles += more->elapsed_cycles;
    sum->seconds += more->seconds;
}

static double rolled_up(enum gpusim_rollup rollup, const struct gpusim_sample *s)
{
    switch (rollup) {
    case GPUSIM_SUM:
        return s->sum;
    case GPUSIM_AVG:
        return s->avg;
    case GPUSIM_MIN:
        return s->min;
    case GPUSIM_MAX:
        return s->max;
    /* With nothing to divide by CUPTI gives 0, as if that had been counted. */
    case GPUSIM_RATIO_OF:
        return s->avg > 0 ? s->sum / s->avg : 0;
    case GPUSIM_PCT:
        return s->avg > 0 ? 100 * s->sum / s->avg / s->full : 0;
    }
    return NAN;
}

double gpusim_metric_value(const struct gpusim_metric *metric, const struct gpusim_sample *s)
{
    /* How many instances a sum is spread over, where a peak is that of one. */
    double many = metric->rollup == GPUSIM_SUM && s->avg > 0 ? s->sum / s->avg : 1;
    double value;

    if (!s->present)
        return NAN;
    value = rolled_up(metric->rollup, s);
    switch (metric->rate) {
    case GPUSIM_PLAIN:
        return value;
    case GPUSIM_PER_SECOND:
        return value / s->seconds;
    case GPUSIM_PER_CYCLE_ACTIVE:
        return value / s->active_cycles;
    case GPUSIM_PER_CYCLE_ELAPSED:
        return value / s->elapsed_cycles;
    case GPUSIM_PCT_OF_PEAK_ACTIVE:
        return 100 * value / s->active_cycles / (s->peak * many);
    case GPUSIM_PCT_OF_PEAK_ELAPSED:
        return 100 * value / s->elapsed_cycles / (s->peak * many);
    case GPUSIM_PEAK:
        return s->peak * many;
    }
    return NAN;
}
