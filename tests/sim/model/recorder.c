#include "model/recorder.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "model/account.h"
#include "model/code.h"
#include "model/schedule.h"

#define MAX_THREADS 1024
#define L1_WAYS 4
#define BUCKETS 4096

/* The cost of a kernel launch before its first and after its last block, as seen by its timer. */
#define LAUNCH_CYCLES 1400

struct site_counts {
    const struct gpusim_site *site;
    uint32_t repeat; /* instructions in a row that the site stands for */
    struct gpusim_counters counts;
};

/* An instruction that some lanes of the warp have in common, while lanes are being lined up. */
struct pending {
    struct gpusim_warp_op op;
    uint64_t iteration;
    int32_t next; /* in the same bucket */
};

struct gpusim_recorder {
    const struct gpusim_chip *chip;
    uint64_t l1_bytes;
    struct gpusim_result *result;
    struct gpusim_memory memory;
    struct gpusim_cache *l1[GPUSIM_MAX_SMS];
    struct gpusim_schedule schedule;
    struct gpusim_lane lanes[MAX_THREADS];
    unsigned threads;  /* of the block */
    uint64_t resident; /* blocks an SM holds in this launch */
    uint64_t busy_sms;
    struct gpusim_counters block;
    uint64_t warp_cycles[MAX_THREADS / GPUSIM_WARP];
    struct site_counts *sites;
    size_t site_count, site_capacity;
    struct pending *pending;
    uint32_t pending_count, pending_capacity;
    int32_t bucket[BUCKETS];
    bool lost;
};

/* One that no launch uses: its memory is not asked for, and cleared by the kernel, at each launch.
 */
static _Atomic(struct gpusim_recorder *) spare;

static void free_whole(struct gpusim_recorder *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < MAX_THREADS; i++)
        free(r->lanes[i].events);
    for (unsigned i = 0; i < GPUSIM_MAX_SMS; i++)
        gpusim_cache_free(r->l1[i]);
    free(r->sites);
    free(r->pending);
    gpusim_result_free(r->result);
    free(r);
}

/* The spare one, where its L1 is like this chip's; it forgets all but its memory. */
static struct gpusim_recorder *take_spare(const struct gpusim_chip *chip)
{
    struct gpusim_recorder *r = atomic_exchange(&spare, NULL);

    if (!r || r->l1_bytes != chip->l1_bytes) {
        free_whole(r);
        return NULL;
    }
    for (unsigned i = 0; i < MAX_THREADS; i++) {
        r->lanes[i].count = 0;
        r->lanes[i].lost = false;
    }
    for (unsigned i = 0; i < GPUSIM_MAX_SMS; i++)
        if (r->l1[i])
            gpusim_cache_clear(r->l1[i]);
    gpusim_result_free(r->result);
    r->memory = (struct gpusim_memory){0};
    r->site_count = 0;
    r->lost = false;
    return r;
}

struct gpusim_recorder *gpusim_recorder_new(const struct gpusim_chip *chip,
                                            const struct gpusim_grid *grid, struct gpusim_cache *l2)
{
    struct gpusim_recorder *r = take_spare(chip);
    unsigned threads = grid->block.x * grid->block.y * grid->block.z;
    uint64_t blocks = (uint64_t)grid->grid.x * grid->grid.y * grid->grid.z;
    unsigned slots =
        gpusim_chip_resident_blocks(chip, threads, grid->registers, grid->shared_bytes);

    if (!r)
        r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->result = calloc(1, sizeof(*r->result));
    if (!r->result) {
        free_whole(r);
        return NULL;
    }
    r->chip = chip;
    r->l1_bytes = chip->l1_bytes;
    r->memory.chip = chip;
    r->memory.l2 = l2;
    r->result->kernel = grid->kernel->name;
    r->result->sms = chip->sms;
    r->busy_sms = blocks < chip->sms ? blocks : chip->sms;
    r->result->busy_sms = (unsigned)r->busy_sms;
    r->resident = (blocks + chip->sms - 1) / chip->sms;
    if (r->resident > slots)
        r->resident = slots;
    memset(r->bucket, 0xff, sizeof(r->bucket));
    gpusim_schedule_init(&r->schedule, chip, slots);
    return r;
}

void gpusim_recorder_free(struct gpusim_recorder *r)
{
    if (r)
        free_whole(atomic_exchange(&spare, r));
}

bool gpusim_lane_grow(struct gpusim_lane *lane)
{
    uint32_t capacity = lane->capacity ? lane->capacity * 2 : 64;
    struct gpusim_event *more = realloc(lane->events, capacity * sizeof(*more));

    if (!more) {
        lane->lost = true;
        return false;
    }
    lane->events = more;
    lane->capacity = capacity;
    return true;
}

struct gpusim_lane *gpusim_recorder_lane(struct gpusim_recorder *r, unsigned thread)
{
    return &r->lanes[thread];
}

void gpusim_recorder_block_begin(struct gpusim_recorder *r, unsigned threads)
{
    unsigned sm;

    gpusim_schedule_add_block(&r->schedule);
    sm = r->schedule.sm;
    if (!r->l1[sm])
        r->l1[sm] = gpusim_cache_new(r->chip->l1_bytes, L1_WAYS);
    r->lost = r->lost || !r->l1[sm];
    r->memory.l1 = r->l1[sm];
    r->threads = threads;
    memset(&r->block, 0, sizeof(r->block));
    memset(r->warp_cycles, 0, sizeof(r->warp_cycles));
    r->block.blocks = 1;
    r->block.threads = threads;
    r->block.warps = (threads + GPUSIM_WARP - 1) / GPUSIM_WARP;
}

static struct gpusim_counters *counts_of_site(struct gpusim_recorder *r,
                                              const struct gpusim_warp_op *op)
{
    for (size_t i = 0; i < r->site_count; i++)
        if (r->sites[i].site == op->site)
            return &r->sites[i].counts;
    if (r->site_count == r->site_capacity) {
        size_t capacity = r->site_capacity ? r->site_capacity * 2 : 32;
        struct site_counts *more = realloc(r->sites, capacity * sizeof(*more));
        if (!more)
            return NULL;
        r->sites = more;
        r->site_capacity = capacity;
    }
    r->sites[r->site_count] = (struct site_counts){.site = op->site, .repeat = op->count};
    return &r->sites[r->site_count++].counts;
}

static void execute(struct gpusim_recorder *r, unsigned warp, const struct gpusim_warp_op *op)
{
    struct gpusim_counters counts;
    struct gpusim_counters *site = counts_of_site(r, op);

    r->warp_cycles[warp] += gpusim_account(op, &r->memory, &counts);
    gpusim_counters_add(&r->block, &counts);
    if (site)
        gpusim_counters_add(site, &counts);
    else
        r->lost = true;
}

static void join(struct gpusim_warp_op *op, unsigned lane, const struct gpusim_event *e)
{
    uint32_t bit = 1u << lane;

    op->active |= bit;
    if (e->taken)
        op->taken |= bit;
    if (e->on)
        op->access.lanes |= bit;
    op->access.address[lane] = e->address;
}

static struct gpusim_warp_op op_of(const struct gpusim_event *e)
{
    return (struct gpusim_warp_op){.site = e->site, .count = e->count, .access.size = e->size};
}

/* All lanes did the same in the same order: the common case, read straight across. */
static bool uniform(const struct gpusim_lane *lanes, unsigned count)
{
    for (unsigned lane = 1; lane < count; lane++) {
        if (lanes[lane].count != lanes[0].count)
            return false;
        for (uint32_t i = 0; i < lanes[0].count; i++)
            if (lanes[lane].events[i].site != lanes[0].events[i].site ||
                lanes[lane].events[i].iteration != lanes[0].events[i].iteration ||
                lanes[lane].events[i].count != lanes[0].events[i].count)
                return false;
    }
    return true;
}

static void read_across(struct gpusim_recorder *r, unsigned warp, struct gpusim_lane *lanes,
                        unsigned count)
{
    for (uint32_t i = 0; i < lanes[0].count; i++) {
        struct gpusim_warp_op op = op_of(&lanes[0].events[i]);
        for (unsigned lane = 0; lane < count; lane++)
            join(&op, lane, &lanes[lane].events[i]);
        execute(r, warp, &op);
    }
}

static unsigned bucket_of(const struct gpusim_event *e)
{
    uint64_t x = (uintptr_t)e->site / sizeof(struct gpusim_site) * 31 + e->iteration;

    return (unsigned)((x ^ x >> 17) % BUCKETS);
}

/*
 * The instruction that this lane's event belongs to: the same line of the text in the same
 * iteration of the same loops, and not yet executed by this lane. A new one if there is none.
 */
static struct pending *line_up(struct gpusim_recorder *r, unsigned lane,
                               const struct gpusim_event *e)
{
    int32_t *bucket = &r->bucket[bucket_of(e)];
    int32_t last = -1; /* of the chain, by number: the array may move */
    struct pending *p;

    for (int32_t i = *bucket; i >= 0; i = r->pending[i].next) {
        p = &r->pending[i];
        if (p->op.site == e->site && p->iteration == e->iteration && p->op.count == e->count &&
            !(p->op.active >> lane & 1))
            return p;
        last = i;
    }
    if (r->pending_count == r->pending_capacity) {
        uint32_t capacity = r->pending_capacity ? r->pending_capacity * 2 : 1024;
        struct pending *more = realloc(r->pending, capacity * sizeof(*more));
        if (!more)
            return NULL;
        r->pending = more;
        r->pending_capacity = capacity;
    }
    p = &r->pending[r->pending_count];
    *p = (struct pending){.op = op_of(e), .iteration = e->iteration, .next = -1};
    *(last < 0 ? bucket : &r->pending[last].next) = (int32_t)r->pending_count++;
    return p;
}

/* Lanes that went different ways: common instructions are executed once, the rest apart. */
static void read_diverged(struct gpusim_recorder *r, unsigned warp, struct gpusim_lane *lanes,
                          unsigned count)
{
    r->pending_count = 0;
    for (unsigned lane = 0; lane < count; lane++)
        for (uint32_t i = 0; i < lanes[lane].count; i++) {
            struct pending *p = line_up(r, lane, &lanes[lane].events[i]);
            if (p)
                join(&p->op, lane, &lanes[lane].events[i]);
            else
                r->lost = true;
        }
    for (unsigned lane = 0; lane < count; lane++)
        for (uint32_t i = 0; i < lanes[lane].count; i++)
            r->bucket[bucket_of(&lanes[lane].events[i])] = -1;
    for (uint32_t i = 0; i < r->pending_count; i++)
        execute(r, warp, &r->pending[i].op);
}

void gpusim_recorder_warp(struct gpusim_recorder *r, unsigned warp)
{
    unsigned first = warp * GPUSIM_WARP;
    unsigned count = r->threads - first < GPUSIM_WARP ? r->threads - first : GPUSIM_WARP;
    struct gpusim_lane *lanes = &r->lanes[first];

    if (!r->memory.l1)
        return;
    if (uniform(lanes, count))
        read_across(r, warp, lanes, count);
    else
        read_diverged(r, warp, lanes, count);
    for (unsigned lane = 0; lane < count; lane++) {
        r->lost = r->lost || lanes[lane].lost;
        lanes[lane].count = 0;
    }
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/*
 * How long a block takes when its SM is full of blocks like it: the wait of its slowest warp, or
 * the wait for the schedulers, the pipes, the banks or the memory, if that is more.
 */
static uint64_t block_cycles(const struct gpusim_recorder *r, uint64_t slowest)
{
    const struct gpusim_chip *chip = r->chip;
    const struct gpusim_counters *b = &r->block;
    uint64_t n = r->resident ? r->resident : 1;
    uint64_t cycles = slowest;
    double dram_per_cycle =
        2.0 * chip->memory_clock_khz * chip->bus_bits / 8 / (double)chip->clock_khz;
    double moved = (double)(b->dram_read_sectors + b->dram_write_sectors) * GPUSIM_SECTOR;
    double through_l2 = (double)(b->l2_read_sectors + b->l2_write_sectors) * GPUSIM_SECTOR;
    double everywhere = (double)(n * r->busy_sms);

    cycles = most(cycles, b->inst * n / chip->subpartitions);
    cycles = most(cycles, b->inst_fp32 * GPUSIM_WARP * n / chip->fp32_lanes);
    cycles = most(cycles, b->inst_fp64 * GPUSIM_WARP * n / chip->fp64_lanes);
    cycles = most(cycles, b->inst_fp16 * GPUSIM_WARP * n / chip->fp16_lanes);
    cycles = most(cycles, b->inst_int * GPUSIM_WARP * n / chip->int_lanes);
    cycles = most(cycles, b->inst_sfu * GPUSIM_WARP * n / chip->sfu_lanes);
    cycles = most(cycles, b->tensor_cycles * n / chip->subpartitions);
    cycles = most(cycles, (b->shared_ld_wavefronts + b->shared_st_wavefronts +
                           b->shared_atom_wavefronts + b->global_ld_lines + b->global_st_lines) *
                              n);
    cycles = most(cycles, (uint64_t)(moved * everywhere / dram_per_cycle));
    /* L2 moves some three times as much as DRAM. */
    return most(cycles, (uint64_t)(through_l2 * everywhere / (3 * dram_per_cycle)));
}

void gpusim_recorder_block_end(struct gpusim_recorder *r)
{
    unsigned warps = (unsigned)r->block.warps;
    uint64_t slowest = 1;
    uint64_t cycles, last = 0;

    for (unsigned w = 0; w < warps; w++)
        slowest = most(slowest, r->warp_cycles[w]);
    cycles = block_cycles(r, slowest);
    for (unsigned w = 0; w < warps; w++) {
        uint64_t own = (uint64_t)((double)r->warp_cycles[w] * (double)cycles / (double)slowest);
        r->block.warp_cycles += own;
        last = most(last, w + own); /* one warp of a block starts each cycle */
    }
    r->block.active_cycles = gpusim_schedule_finish(&r->schedule, last);
    gpusim_counters_add(&r->result->sm[r->schedule.sm], &r->block);
    gpusim_counters_add(&r->result->total, &r->block);
}

static int by_order(const void *a, const void *b)
{
    const struct site_counts *x = a;
    const struct site_counts *y = b;

    return x->site->order - y->site->order;
}

/* One of `repeat` instructions that did the same. */
static struct gpusim_counters part_of(const struct gpusim_counters *all, uint32_t repeat)
{
    struct gpusim_counters part;

#define GPUSIM_COUNTER(name) part.name = all->name / repeat;
#include "model/counters.def"
#undef GPUSIM_COUNTER
    return part;
}

static bool list_instructions(struct gpusim_recorder *r, struct gpusim_result *result)
{
    size_t count = 0;

    for (size_t i = 0; i < r->site_count; i++)
        count += r->sites[i].repeat;
    result->instructions = calloc(count + 1, sizeof(*result->instructions));
    if (!result->instructions)
        return false;
    for (size_t i = 0; i < r->site_count; i++)
        for (uint32_t k = 0; k < r->sites[i].repeat; k++) {
            struct gpusim_instruction_counts *one =
                &result->instructions[result->instruction_count];
            one->offset = gpusim_code_offset(r->sites[i].site) + k * GPUSIM_INSTRUCTION_BYTES;
            result->instruction_count++;
            one->counts = part_of(&r->sites[i].counts, r->sites[i].repeat);
        }
    return true;
}

struct gpusim_result *gpusim_recorder_result(struct gpusim_recorder *r)
{
    struct gpusim_result *result = r->result;

    if (r->lost)
        return NULL;
    if (r->site_count)
        qsort(r->sites, r->site_count, sizeof(*r->sites), by_order);
    if (!list_instructions(r, result))
        return NULL;
    result->cycles = r->schedule.end + LAUNCH_CYCLES;
    result->duration_ns = (double)result->cycles * 1e6 / r->chip->clock_khz;
    r->result = NULL;
    return result;
}
