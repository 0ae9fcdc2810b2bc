#include "report/operands.h"

#include "report/advice.h"
#include "report/bounds.h"
#include "report/host.h"
#include "report/lines.h"
#include "report/origin.h"
#include "report/sequences.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The seconds of a launch whose threads do nothing, or next to nothing: that of a single block
 * takes 1.8 to 2.5 us on an H200. */
#define LAUNCH_OF_NO_WORK 2e-6

enum operand {
    SHARE,
    BUSIEST,
    CLOSENESS,
    NEXT_CLOSENESS,
    HEADROOM,
    LAUNCHES,
    SHORT_LAUNCHES,
    SHORT_SECONDS,
    SHORT_BUSY_SECONDS,
    GPU_SECONDS,
    GPU_SHARE,
    LAUNCH_INTERVAL,
    PROCESSES,
    HOST_COPIES,
    HOST_COPY_BYTES,
    HOST_COPY_SHARE,
    HOST_WAITS,
    HOST_WAIT_SHARE,
    HOST_ALLOCATIONS,
    HOST_ALLOCATION_SHARE,
    IS_LIBRARY,
    BLOCK_IMBALANCE,
    SAMPLES,
    MEMORY_WAITS,
    IN_SEQUENCE,
    SEQUENCE_KERNELS,
    SEQUENCE_SHARE,
    SEQUENCE_BYTES,
    SEQUENCE_SECONDS,
    SEQUENCE_READY_MADE,
    SEQUENCE_OF_PRODUCT,
    FIXED,
};

static const struct operand_text {
    const char *name, *help;
} fixed_ones[FIXED] = {
    [SHARE] = {"share", "share of the GPU time of the whole program, 0 to 1"},
    [BUSIEST] = {"busiest", "how much of the peak of its busiest unit is used, 0 to 1"},
    [CLOSENESS] = {"closeness", "that over the ceiling of the unit"},
    [NEXT_CLOSENESS] = {"next_closeness", "closeness of the unit that is busiest but for that"},
    [HEADROOM] = {"headroom", "1 - closeness, without the 2 us that a launch of no work lasts; not "
                              "known where a unit was not measured"},
    [LAUNCHES] = {"launches", "how often the program launched it; of the program: all launches"},
    [SHORT_LAUNCHES] = {"short_launches",
                        "of the program: launches below 5 us, but for kernels of CUDA graphs"},
    [SHORT_SECONDS] = {"short_seconds", "of the program: the mean time of these"},
    [SHORT_BUSY_SECONDS] =
        {"short_busy_seconds",
         "of the program: the time that the busiest units of these need at their ceilings"},
    [GPU_SECONDS] = {"gpu_seconds", "of the program: the GPU time of all kernels"},
    [GPU_SHARE] = {"gpu_share", "of the program: the share of the run in which kernels ran"},
    [LAUNCH_INTERVAL] = {"launch_interval",
                         "of the program: the time from a launch to the next, where "
                         "the host is at them all the time and the GPU rests; else 0"},
    [PROCESSES] = {"processes", "of the program: how many there are"},
    [HOST_COPIES] = {"host_copies",
                     "of the program: copies that the host waited for, behind the first launch"},
    [HOST_COPY_BYTES] = {"host_copy_bytes", "of the program: the mean size of these"},
    [HOST_COPY_SHARE] = {"host_copy_share", "of the program: the share of the run that went by in "
                                            "these, or at most went by, and at most that in "
                                            "which no kernel ran"},
    [HOST_WAITS] = {"host_waits", "of the program: waits for a context, a stream or an event, "
                                  "behind the first launch"},
    [HOST_WAIT_SHARE] = {"host_wait_share", "of the program: the same of these"},
    [HOST_ALLOCATIONS] = {"host_allocations",
                          "of the program: allocations and frees behind the first launch, but for "
                          "those in the order of a stream"},
    [HOST_ALLOCATION_SHARE] = {"host_allocation_share", "of the program: the same of these"},
    [IS_LIBRARY] = {"is_library",
                    "1: a kernel of a library (cuBLAS, cuDNN, CUTLASS, NCCL, ...) or a "
                    "framework (PyTorch, XLA, CuPy); else 0"},
    [BLOCK_IMBALANCE] = {"block_imbalance", "the sm_imbalance that follows from the number of "
                                            "blocks alone, were all blocks alike"},
    [SAMPLES] = {"samples", "samples of its instructions; 0: none were taken, or too few"},
    [MEMORY_WAITS] = {"memory_waits",
                      "share of samples: warps wait for global, local or texture memory, for room "
                      "in its queues, or for other warps, which may do so; 1: no samples"},
    [IN_SEQUENCE] = {"in_sequence", "1: its launches and those of other kernels follow each other "
                                    "and share arrays, and one kernel could do their work; else 0"},
    [SEQUENCE_KERNELS] = {"sequence_kernels", "of such a sequence: its kernels"},
    [SEQUENCE_SHARE] = {"sequence_share",
                        "of a sequence: the share of launches that follow so, 0 to 1"},
    [SEQUENCE_BYTES] = {"sequence_bytes", "of a sequence: bytes that need not come from memory "
                                          "again, in one round"},
    [SEQUENCE_SECONDS] = {"sequence_seconds", "of a sequence: the GPU time that would go, at most"},
    [SEQUENCE_READY_MADE] = {"sequence_ready_made",
                             "of a sequence: its kernels of libraries and frameworks"},
    [SEQUENCE_OF_PRODUCT] = {"sequence_of_product",
                             "of a sequence: 1 where its first kernel is a library's product of "
                             "matrices; else 0"},
};

/* "lines_" and the name of each weight follow. */
static const struct operand_text of_lines[] = {
    [GP_WEIGHT_WASTED_SECTORS] = {"lines_wasted_sectors", "32-byte sectors of global memory that "
                                                          "lanes did not ask for"},
    [GP_WEIGHT_BANK_CONFLICTS] = {"lines_bank_conflicts", "repeated wavefronts of shared memory"},
    [GP_WEIGHT_DIVERGENCE] = {"lines_divergent_branches", "branches that part a warp"},
    [GP_WEIGHT_SECTORS] = {"lines_sectors", "32-byte sectors of global memory"},
    [GP_WEIGHT_WAVEFRONTS] = {"lines_wavefronts", "wavefronts of shared memory"},
    [GP_WEIGHT_ATOMICS] = {"lines_atomics", "sectors of atomic operations on global memory"},
    [GP_WEIGHT_LOCAL] = {"lines_local", "instructions in the code: accesses to local memory"},
    [GP_WEIGHT_FP64] = {"lines_fp64", "instructions in the code: double precision"},
    [GP_WEIGHT_MATRIX] = {"lines_matrix", "instructions in the code: tensor cores"},
    [GP_WEIGHT_BRANCHES] = {"lines_branches", "branches that warps executed"},
    [GP_WEIGHT_CONVERSIONS] = {"lines_conversions",
                               "instructions in the code: between float and double"},
    [GP_WEIGHT_WARPS] = {"lines_warps", "instructions of warps (--lines instructions)"},
    [GP_WEIGHT_IDLE_LANES] = {"lines_idle_lanes",
                              "lanes that did nothing in these (--lines instructions)"},
    [GP_WEIGHT_OFF_LANES] = {"lines_off_lanes",
                             "of these, switched off by a predicate (--lines instructions)"},
    [GP_WEIGHT_BARRIERS] = {"lines_barriers", "instructions in the code: barriers of blocks"},
    [GP_WEIGHT_FENCES] = {"lines_fences", "instructions in the code: memory fences"},
    [GP_WEIGHT_TWO_SIDES] = {"lines_two_sides", "instructions in the code: predicated, near others "
                                                "with the opposite predicate"},
    [GP_WEIGHT_MULTIPLY_ADDS] = {"lines_multiply_adds",
                                 "instructions in the code: multiply-adds of FP32 and FP16"},
    [GP_WEIGHT_PRODUCTS] = {"lines_products", "instructions in the code: multiply-adds of a "
                                              "product of matrices"},
    [GP_WEIGHT_PLAIN_PRODUCTS] = {"lines_plain_products",
                                  "instructions in the code: of these, such that load both "
                                  "factors from global memory, for themselves alone"},
    [GP_WEIGHT_HALVES] = {"lines_halves", "instructions in the code: arithmetic with numbers of 16 "
                                          "bits; to load or widen one is none"},
    [GP_WEIGHT_SCALAR_HALVES] = {"lines_scalar_halves",
                                 "instructions in the code: of these, with one number at a time"},
#define REASON(NAME, name, help)                                                         \
    [GP_WEIGHT_FIRST_WAIT + GP_WAIT_##NAME] = {"waits_" name, "share of samples: warps " \
                                                              "wait " help},
#define CAUSE(NAME, name, help) REASON(NAME, name, help)
#include "report/waits.def"
#undef CAUSE
#undef REASON
};

/* For each wait that has causes; NULL names for the others. */
static const struct operand_text at_lines[GP_WAIT_COUNT] = {
#define REASON(NAME, name, help)
#define CAUSE(NAME, name, help)                                                                 \
    [GP_WAIT_##NAME] = {"at_" name, "share of samples: all in lines with causes of waits_" name \
                                    ", and those that wait elsewhere"},
#include "report/waits.def"
#undef CAUSE
#undef REASON
};

static const struct operand_text issued[GP_WAIT_COUNT] = {
#define REASON(NAME, name, help)
#define CAUSE(NAME, name, help)                                                               \
    [GP_WAIT_##NAME] = {"issued_" name, "share of the instructions that its warps issue, by " \
                                        "samples: those of waits_" name},
#include "report/waits.def"
#undef CAUSE
#undef REASON
};
_Static_assert(sizeof(of_lines) / sizeof(of_lines[0]) == GP_WEIGHT_COUNT, "one for each");

/* Causes come behind the reasons. */
#define FIRST_CAUSE GP_WAIT_LOADS

static const struct operand_text *operand_at(size_t i)
{
    if (i < FIXED)
        return &fixed_ones[i];
    i = i - FIXED + 1; /* GP_WEIGHT_NONE has no name */
    if (i < GP_WEIGHT_COUNT)
        return &of_lines[i];
    i = i - GP_WEIGHT_COUNT + FIRST_CAUSE;
    if (i < GP_WAIT_COUNT)
        return &at_lines[i];
    i = i - GP_WAIT_COUNT + FIRST_CAUSE;
    return i < GP_WAIT_COUNT ? &issued[i] : NULL;
}

const char *gp_operand_name(size_t i)
{
    const struct operand_text *text = operand_at(i);
    return text ? text->name : NULL;
}

const char *gp_operand_help(size_t i)
{
    const struct operand_text *text = operand_at(i);
    return text ? text->help : NULL;
}

static bool unknown(const char *what, char *why, size_t why_size)
{
    snprintf(why, why_size, "%s is not known", what);
    return false;
}

static bool known(double found, const char *name, double *value, char *why, size_t why_size)
{
    *value = found;
    return isfinite(found) ? true : unknown(name, why, why_size);
}

/* Launches that the host launched one by one and that are over before it can launch the next. */
struct short_launches {
    double launches, seconds, busy;
};

/* The share of a group's launches that are in no CUDA graph. */
static double single_share(const struct gp_group *group)
{
    return group->recorded > 0 ? 1 - (double)group->of_graphs / (double)group->recorded : 1;
}

/* `busy` is the part of the time that the busiest units of these launches need at their ceilings.
 * Launches whose units were not measured are sure to need none of it: it is a lower bound. */
static struct short_launches short_ones(const struct gp_subject *s)
{
    struct short_launches all = {0};
    for (size_t i = 0; s->bounds && i < s->rows->count; i++) {
        const struct gp_row *row = &s->rows->rows[i];
        for (size_t g = 0; g < row->grids; g++) {
            const struct gp_bound *b = &s->bounds[row->first_group + g];
            const struct gp_group *group = s->rows->groups[row->first_group + g];
            if (b->kind != GP_BOUND_LAUNCH)
                continue;
            double seconds = gp_rows_of_group(s->rows, row, g).seconds * single_share(group);
            all.launches += (double)group->launches * single_share(group);
            all.seconds += seconds;
            if (isfinite(b->closeness))
                all.busy += fmin(1, b->closeness) * seconds;
        }
    }
    return all;
}

static double mean_of(double sum, double launches)
{
    return launches > 0 ? sum / launches : (double)NAN;
}

static double all_launches(const struct gp_rows *rows)
{
    double launches = 0;
    for (size_t i = 0; i < rows->count; i++)
        launches += (double)rows->rows[i].launches;
    return launches;
}

/* Blocks of the SM that has most of them over the mean of all SMs, where they are dealt out evenly:
 * at once while the SMs have room for all, else in waves. */
static double block_imbalance(const struct gp_subject *s)
{
    const struct gp_device *device =
        s->row ? gp_summary_get_device(s->rows->summary, s->row->launch->device) : NULL;
    if (!device || device->sm_count <= 0 || !s->row->occupancy_known)
        return (double)NAN;
    const unsigned *grid = s->row->launch->grid;
    double for_each = gp_blocks_of(grid) / device->sm_count;
    double waves = for_each / s->row->occupancy.blocks_per_sm;
    return waves > 1 ? ceil(waves) / waves : ceil(for_each) / for_each;
}

/* A kernel with fewer blocks than SMs leaves the others idle: among the SMs that have blocks, a
 * unit of each SM is busier than in the mean of all. */
static double among_working_sms(const struct gp_subject *s, size_t unit)
{
    double closeness = s->bound->units[unit];
    const struct gp_device *device =
        s->row ? gp_summary_get_device(s->rows->summary, s->row->launch->device) : NULL;
    if (isnan(closeness) || !device || s->bound->kind != GP_BOUND_SMALL ||
        !s->rules->units[unit].each_sm)
        return closeness;
    const unsigned *grid = s->row->launch->grid;
    double blocks = gp_blocks_of(grid);
    return blocks > 0 ? fmin(fmax(1, closeness), closeness * device->sm_count / blocks) : closeness;
}

/* The closeness of the busiest unit, NAN where it is not known. */
static double busiest(const struct gp_subject *s)
{
    const struct gp_bound *b = s->bound;
    double most = (double)NAN;
    if (!b || (!b->complete && b->kind != GP_BOUND_UNIT))
        return most;
    if (b->kind != GP_BOUND_SMALL)
        return b->closeness;
    for (size_t i = 0; i < s->rules->unit_count; i++)
        most = fmax(most, among_working_sms(s, i));
    return most;
}

/* How many of these kinds there were. */
static double host_calls(const struct gp_subject *s, enum gp_host_kind first,
                         enum gp_host_kind last)
{
    const struct gp_host host = gp_summary_host(s->rows->summary);
    double calls = host.known ? 0 : (double)NAN;
    for (enum gp_host_kind kind = first; kind <= last; kind++)
        calls += (double)host.calls[kind].calls;
    return calls;
}

/* The share of a launch's time in which its work has not begun, or has ended. */
static double idle_share(const struct gp_subject *s)
{
    const double seconds = s->row ? mean_of(s->row->seconds, (double)s->row->launches) : 0;
    return seconds > 0 ? LAUNCH_OF_NO_WORK / seconds : 0;
}

static double fixed_value(const struct gp_subject *s, enum operand operand)
{
    const struct gp_bound *b = s->bound;
    switch (operand) {
    case SHARE:
        return s->row && s->rows->seconds > 0 ? s->row->seconds / s->rows->seconds : (double)NAN;
    case BUSIEST:
        return b && (b->complete || b->kind == GP_BOUND_UNIT) ? b->utilization : (double)NAN;
    case CLOSENESS:
        return busiest(s);
    case NEXT_CLOSENESS:
        return b && b->next_title ? b->next_closeness : (double)NAN;
    case HEADROOM:
        return b && b->complete ? fmax(0, 1 - busiest(s) - idle_share(s)) : (double)NAN;
    case LAUNCHES:
        return s->row ? (double)s->row->launches : all_launches(s->rows);
    case SHORT_LAUNCHES:
        return short_ones(s).launches;
    case SHORT_SECONDS:
        return mean_of(short_ones(s).seconds, short_ones(s).launches);
    case SHORT_BUSY_SECONDS:
        return mean_of(short_ones(s).busy, short_ones(s).launches);
    case BLOCK_IMBALANCE:
        return block_imbalance(s);
    case GPU_SECONDS:
        return s->rows->timed ? s->rows->seconds : (double)NAN;
    case SAMPLES:
        return s->lines && s->lines->waits ? (double)s->lines->waits->samples : 0;
    case MEMORY_WAITS:
        return s->lines && s->lines->waits ? s->lines->waits->memory : 1;
    case GPU_SHARE:
        return 1 - gp_host_idle_share(s->rows);
    case LAUNCH_INTERVAL:
        return gp_host_launch_interval(s->rows);
    case PROCESSES:
        return gp_summary_host(s->rows->summary).processes;
    case HOST_COPIES:
        return host_calls(s, GP_HOST_COPY, GP_HOST_COPY);
    case HOST_COPY_BYTES:
        return mean_of((double)gp_summary_host(s->rows->summary).calls[GP_HOST_COPY].bytes,
                       host_calls(s, GP_HOST_COPY, GP_HOST_COPY));
    case HOST_COPY_SHARE:
        return gp_host_share(s->rows, GP_HOST_COPY, GP_HOST_COPY);
    case HOST_WAITS:
        return host_calls(s, GP_HOST_WAIT, GP_HOST_WAIT);
    case HOST_WAIT_SHARE:
        return gp_host_share(s->rows, GP_HOST_WAIT, GP_HOST_WAIT);
    case HOST_ALLOCATIONS:
        return host_calls(s, GP_HOST_ALLOCATION, GP_HOST_FREE);
    case HOST_ALLOCATION_SHARE:
        return gp_host_share(s->rows, GP_HOST_ALLOCATION, GP_HOST_FREE);
    case IS_LIBRARY:
        return s->row && gp_subject_is_ready_made(s);
    case IN_SEQUENCE:
        return s->row && s->sequences ? s->sequences->has[s->row->first_group] : (double)NAN;
    case SEQUENCE_KERNELS:
        return s->sequence ? (double)s->sequence->count : (double)NAN;
    case SEQUENCE_SHARE:
        return s->sequence ? s->sequence->share : (double)NAN;
    case SEQUENCE_BYTES:
        return s->sequence ? s->sequence->bytes : (double)NAN;
    case SEQUENCE_SECONDS:
        return s->sequence ? s->sequence->saved : (double)NAN;
    case SEQUENCE_READY_MADE:
        return s->sequence ? (double)s->sequence->ready_made : (double)NAN;
    case SEQUENCE_OF_PRODUCT:
        return s->sequence ? s->sequence->of_product : (double)NAN;
    case FIXED:
        break;
    }
    return (double)NAN;
}

static bool is_memory(const char *unit)
{
    return strcmp(unit, "dram") == 0 || strcmp(unit, "l2") == 0 || strcmp(unit, "l1") == 0 ||
           strcmp(unit, "tex") == 0;
}

/* "close_dram": that unit's closeness; "close_compute": the busiest that is not of memory;
 * "close_pipes": of these the busiest that is no slot for all instructions. */
static double unit_value(const struct gp_subject *s, const char *unit)
{
    double most = (double)NAN;
    for (size_t i = 0; s->bound && i < s->rules->unit_count; i++) {
        const char *name = s->rules->units[i].name;
        double closeness = among_working_sms(s, i);
        if (strcmp(name, unit) == 0)
            return closeness;
        if (strcmp(unit, "compute") == 0 && !is_memory(name))
            most = fmax(most, closeness);
        if (strcmp(unit, "pipes") == 0 && !is_memory(name) && !s->rules->units[i].last)
            most = fmax(most, closeness);
    }
    return most;
}

static bool metric_value(const struct gp_subject *s, const char *name, double *value, char *why,
                         size_t why_size)
{
    if (!s->row) {
        snprintf(why, why_size, "%s is a kernel's", name);
        return false;
    }
    if (gp_rows_mean(s->rows, s->row, name, value))
        return true;
    const struct gp_stat *stat = gp_rows_stat(s->rows, s->row, name);
    snprintf(why, why_size, "%s: %s", name, stat ? gp_stat_absence(stat).text : "not asked for");
    return false;
}

/* The count in one launch of the row; of the code's instructions, how many there are. */
static double count_of_lines(const struct gp_subject *s, enum gp_weight weight)
{
    if (!s->lines)
        return (double)NAN;
    const bool is_count = !gp_lines_in_code(weight) && !gp_lines_is_wait(weight);
    return gp_lines_total(s->lines, weight) * (is_count ? s->lines_scale : 1);
}

static bool value_of(void *user, const struct gp_node *operand, double *value, char *why,
                     size_t why_size)
{
    const struct gp_subject *s = user;
    if (operand->kind == GP_NODE_FACT) {
        const struct gp_record none = {0};
        const struct gp_record *launch = s->row ? s->row->launch : &none;
        const struct gp_device *device = gp_summary_get_device(s->rows->summary, launch->device);
        if (!device)
            return unknown("the device", why, why_size);
        return operand->fact->get(operand->fact, device, launch, value, why, why_size);
    }
    for (enum operand i = 0; i < FIXED; i++)
        if (strcmp(fixed_ones[i].name, operand->name) == 0)
            return known(fixed_value(s, i), operand->name, value, why, why_size);
    for (enum gp_weight w = GP_WEIGHT_NONE + 1; w < GP_WEIGHT_COUNT; w++)
        if (strcmp(of_lines[w].name, operand->name) == 0)
            return known(count_of_lines(s, w), operand->name, value, why, why_size);
    const struct gp_waits *waits = s->lines ? s->lines->waits : NULL;
    for (enum gp_wait w = FIRST_CAUSE; w < GP_WAIT_COUNT; w++) {
        if (strcmp(at_lines[w].name, operand->name) == 0)
            return known(waits ? waits->at_lines[w] : (double)NAN, operand->name, value, why,
                         why_size);
        if (strcmp(issued[w].name, operand->name) == 0)
            return known(waits ? waits->issued[w] : (double)NAN, operand->name, value, why,
                         why_size);
    }
    if (strncmp(operand->name, "close_", 6) == 0)
        return known(unit_value(s, operand->name + 6), operand->name, value, why, why_size);
    return metric_value(s, operand->name, value, why, why_size);
}

bool gp_subject_is_ready_made(const struct gp_subject *s)
{
    return gp_origin_is_ready_made(
        gp_origin_of(s->row->launch->kernel, s->row->full_name, s->lines));
}

bool gp_subject_evaluate(const struct gp_subject *subject, const struct gp_node *formula,
                         double *value, char *why, size_t why_size)
{
    const struct gp_operands operands = {.user = (void *)subject, .value_of = value_of};
    return gp_formula_evaluate(formula, &operands, value, why, why_size);
}
