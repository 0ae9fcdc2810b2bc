#include "report/advice.h"

#include <math.h>
#include <string.h>

/* Below these a number is worth a sentence. */
#define LOW_OCCUPANCY 0.5
#define LOW_SHARE_OF_THEORETICAL 0.6
#define LOW_EFFICIENCY 85.0
#define LOW_SHARED_EFFICIENCY 95.0
#define MUCH_TRAFFIC 0.1 /* of the sectors of both directions */
#define LARGE_PREDICATION 10.0
#define LITTLE_DIVERGENCE 5.0
#define FEW_FLOP_PER_BYTE 1.0
#define SOME_TENSOR_WORK 0.001

struct subject {
    const struct gp_rows *rows;
    const struct gp_row *row;
    const struct gp_device *device;
};

static int mean(const struct subject *s, const char *metric, double *value)
{
    return gp_rows_mean(s->rows, s->row, metric, value) == 0;
}

static int is_low(const struct subject *s, const char *metric, double limit, double *value)
{
    return mean(s, metric, value) && *value < limit;
}

static unsigned threads_of(const struct gp_row *row)
{
    return row->launch->block[0] * row->launch->block[1] * row->launch->block[2];
}

/* Occupancy hides the time that memory takes: it matters less where there is much to compute. */
static void add_whether_it_matters(const struct subject *s, struct gp_text *out)
{
    double intensity;
    if (mean(s, "flop_per_byte", &intensity) && intensity < FEW_FLOP_PER_BYTE)
        gp_text_addf(out, "; at %.2g flop/byte it waits for memory, which more warps would hide",
                     intensity);
}

static void theoretical_occupancy(const struct subject *s, struct gp_text *out)
{
    const struct gp_occupancy *o = &s->row->occupancy;
    const struct gp_launch *l = s->row->launch;
    if (!s->row->occupancy_known || o->ratio > LOW_OCCUPANCY)
        return;
    gp_text_addf(out,
                 "at most %d of %d warps fit on an SM (%.0f %%), limited by %s: ", o->warps_per_sm,
                 o->max_warps_per_sm, 100 * o->ratio, o->limiter);
    const char *separator = "";
    if (strstr(o->limiter, "blocks")) {
        gp_text_addf(out, "blocks of %u threads are too small", threads_of(s->row));
        separator = "; ";
    }
    if (strstr(o->limiter, "warps")) {
        gp_text_addf(out, "%sanother block of %u threads does not fit, smaller ones might",
                     separator, threads_of(s->row));
        separator = "; ";
    }
    if (strstr(o->limiter, "registers")) {
        gp_text_addf(out, "%s%u registers per thread are too many (see __launch_bounds__)",
                     separator, l->registers);
        separator = "; ";
    }
    if (strstr(o->limiter, "shared"))
        gp_text_addf(out, "%s%.1f KiB of shared memory per block are too much", separator,
                     ((double)l->shared_static + l->shared_dynamic) / 1024);
    add_whether_it_matters(s, out);
}

static void achieved_occupancy(const struct subject *s, struct gp_text *out)
{
    const struct gp_occupancy *o = &s->row->occupancy;
    double achieved;
    if (!s->row->occupancy_known || !mean(s, "achieved_occupancy", &achieved) ||
        achieved >= LOW_SHARE_OF_THEORETICAL * o->ratio)
        return;
    gp_text_addf(out, "occupancy reaches %.2f of the %.2f that fit: ", achieved, o->ratio);
    const unsigned *grid = s->row->largest_grid;
    double blocks = (double)grid[0] * grid[1] * grid[2];
    double room = s->device ? (double)o->blocks_per_sm * s->device->sm_count : 0;
    if (blocks < room)
        gp_text_addf(out, "%.0f block%s few for %d SMs with room for %.0f", blocks,
                     blocks == 1 ? " is" : "s are", s->device->sm_count, room);
    else
        gp_text_add(out, "blocks end at different times, or are too short to keep all SMs busy");
    add_whether_it_matters(s, out);
}

static void shared_efficiency(const struct subject *s, struct gp_text *out)
{
    double efficiency;
    if (is_low(s, "shared_efficiency", LOW_SHARED_EFFICIENCY, &efficiency))
        gp_text_addf(
            out,
            "shared_efficiency is %.1f %%: lanes of a warp meet in the same banks; typical "
            "of array elements of 16 bytes and more and of strides that are a power of 2 "
            "(pad the rows, or split the structs)",
            efficiency);
}

/* Whether a direction moves enough to matter; when that was not measured, it may. */
static int is_much(const struct subject *s, const char *metric)
{
    double load, store, own;
    if (!mean(s, "gld_transactions", &load) || !mean(s, "gst_transactions", &store) ||
        !mean(s, metric, &own))
        return 1;
    return own >= MUCH_TRAFFIC * (load + store);
}

static void global_efficiency(const struct subject *s, struct gp_text *out)
{
    double load, store;
    int low_load =
        is_low(s, "gld_efficiency", LOW_EFFICIENCY, &load) && is_much(s, "gld_transactions");
    int low_store =
        is_low(s, "gst_efficiency", LOW_EFFICIENCY, &store) && is_much(s, "gst_transactions");
    if (low_load)
        gp_text_addf(out, "gld_efficiency is %.1f %%", load);
    if (low_store)
        gp_text_addf(out, "%sgst_efficiency is %.1f %%", low_load ? ", " : "", store);
    if (low_load || low_store)
        gp_text_add(out, ": lanes touch scattered or misaligned addresses; typical of arrays of "
                         "structs read member by member, of column-wise access and of an index "
                         "computed from data (use structs of arrays, shared or constant memory)");
}

static void divergence(const struct subject *s, struct gp_text *out)
{
    double efficiency;
    if (!is_low(s, "warp_execution_efficiency", LOW_EFFICIENCY, &efficiency))
        return;
    gp_text_addf(out, "warp_execution_efficiency is %.1f %%: ", efficiency);
    unsigned threads = threads_of(s->row);
    /* What it would be if all threads went the same way. */
    double best = 100.0 * threads / (32 * ceil(threads / 32.0));
    if (threads < 32)
        gp_text_addf(out, "a block of %u threads does not fill a warp", threads);
    else if (threads % 32 != 0 && efficiency > best - LITTLE_DIVERGENCE)
        gp_text_addf(out, "a block of %u threads does not fill its last warp", threads);
    else
        gp_text_add(out, "lanes of a warp go different ways (branches, loops of different length)");
}

static void predication(const struct subject *s, struct gp_text *out)
{
    double active, enabled;
    if (mean(s, "warp_execution_efficiency", &active) &&
        mean(s, "warp_nonpred_execution_efficiency", &enabled) &&
        active - enabled >= LARGE_PREDICATION)
        gp_text_addf(out,
                     "%.1f %% of the lanes are active, only %.1f %% with their predicate on: short "
                     "branches were turned into predicated instructions",
                     active, enabled);
}

static void tensor_cores(const struct subject *s, struct gp_text *out)
{
    double busy;
    if (mean(s, "tensor_utilization", &busy) && busy > SOME_TENSOR_WORK)
        gp_text_addf(out,
                     "tensor cores work %.1f %% of the time; flops, flop_per_byte and "
                     "flop_utilization do not count what they do (flop_count_tensor does)",
                     100 * busy);
}

/* Each adds its sentence, or nothing. The order is that of the report. */
static void (*const rules[])(const struct subject *s, struct gp_text *out) = {
    theoretical_occupancy, achieved_occupancy, global_efficiency, shared_efficiency, divergence,
    predication,           tensor_cores,
};

size_t gp_advice(const struct gp_rows *rows, const struct gp_row *row,
                 void (*take)(void *user, const char *sentence), void *user)
{
    const struct subject s = {
        .rows = rows,
        .row = row,
        .device = gp_summary_get_device(rows->summary, row->launch->device),
    };
    struct gp_text sentence = {0};
    size_t count = 0;
    for (size_t i = 0; row->measured > 0 && i < sizeof(rules) / sizeof(rules[0]); i++) {
        gp_text_clear(&sentence);
        rules[i](&s, &sentence);
        if (sentence.length > 0 && !sentence.failed) {
            take(user, sentence.data);
            count++;
        }
    }
    gp_text_free(&sentence);
    return count;
}
