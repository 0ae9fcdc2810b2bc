#include "model/account.h"

#include <stdatomic.h>
#include <string.h>

static uint64_t lanes_in(uint32_t mask)
{
    return (uint64_t)__builtin_popcount(mask);
}

/* One sector through L2 and, if it is not there, from or to DRAM. Answers whether L2 had it. */
static bool through_l2(const struct gpusim_memory *memory, uint64_t sector, bool write,
                       struct gpusim_counters *counts)
{
    uint64_t written_back = 0;
    bool hit = gpusim_cache_touch(memory->l2, sector, write, &written_back);

    counts->dram_write_sectors += written_back;
    if (write) {
        counts->l2_write_sectors++;
        counts->l2_write_hits += hit;
    } else {
        counts->l2_read_sectors++;
        counts->l2_read_hits += hit;
        counts->dram_read_sectors += !hit;
    }
    return hit;
}

static unsigned worse(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* A load by whole lines: data that L1 does not have come from L2, all four sectors of it. */
static unsigned load_lines(const struct gpusim_access *access, const struct gpusim_memory *memory,
                           struct gpusim_counters *counts)
{
    uint64_t lines[GPUSIM_MAX_SECTORS];
    unsigned count = gpusim_units(access, UINT32_MAX, GPUSIM_LINE, lines);
    unsigned transactions = gpusim_line_transactions(access);
    unsigned latency = memory->chip->l1_latency;
    unsigned missed = 0;

    for (unsigned i = 0; i < count; i++) {
        uint64_t ignored = 0;
        if (gpusim_cache_touch(memory->l1, lines[i], false, &ignored))
            continue;
        missed++;
        for (uint64_t s = 0; s < GPUSIM_LINE; s += GPUSIM_SECTOR) {
            bool hit = through_l2(memory, lines[i] + s, false, counts);
            latency = worse(latency, hit ? memory->chip->l2_latency : memory->chip->dram_latency);
        }
    }
    counts->l1_ld_misses += missed;
    counts->l1_ld_hits += transactions - missed;
    return latency + transactions;
}

static unsigned load_sectors(const struct gpusim_access *access, const struct gpusim_memory *memory,
                             struct gpusim_counters *counts)
{
    uint64_t sectors[GPUSIM_MAX_SECTORS];
    unsigned count = gpusim_units(access, UINT32_MAX, GPUSIM_SECTOR, sectors);
    unsigned latency = memory->chip->l1_latency;

    for (unsigned i = 0; i < count; i++) {
        uint64_t ignored = 0;
        bool hit;
        /* With L1 switched off, the legacy chip's loads go straight to L2. */
        if (!memory->chip->legacy && gpusim_cache_touch(memory->l1, sectors[i], false, &ignored)) {
            counts->l1_ld_hits++;
            continue;
        }
        counts->l1_ld_misses++;
        hit = through_l2(memory, sectors[i], false, counts);
        latency = worse(latency, hit ? memory->chip->l2_latency : memory->chip->dram_latency);
    }
    return latency + count;
}

static unsigned global_load(const struct gpusim_access *access, const struct gpusim_memory *memory,
                            struct gpusim_counters *counts)
{
    uint64_t lanes = lanes_in(access->lanes);
    uint64_t sectors[GPUSIM_MAX_SECTORS];

    counts->global_ld = 1;
    counts->global_ld_bytes = lanes * access->size;
    counts->global_ld_sectors = gpusim_units(access, UINT32_MAX, GPUSIM_SECTOR, sectors);
    counts->global_ld_lines = gpusim_line_transactions(access);
    counts->global_ld_ideal = gpusim_ideal_sectors(access);
    counts->global_ld_8 = access->size == 1 ? lanes : 0;
    counts->global_ld_16 = access->size == 2 ? lanes : 0;
    counts->global_ld_32 = access->size == 4 ? lanes : 0;
    counts->global_ld_64 = access->size == 8 ? lanes : 0;
    counts->global_ld_128 = access->size == 16 ? lanes : 0;
    if (memory->chip->l1_lines)
        return load_lines(access, memory, counts);
    return load_sectors(access, memory, counts);
}

/* Writes every sector through to L2; L1 does not keep stores. */
static unsigned write_through(const struct gpusim_access *access,
                              const struct gpusim_memory *memory, struct gpusim_counters *counts)
{
    uint64_t sectors[GPUSIM_MAX_SECTORS];
    unsigned count = gpusim_units(access, UINT32_MAX, GPUSIM_SECTOR, sectors);

    for (unsigned i = 0; i < count; i++)
        (void)through_l2(memory, sectors[i], true, counts);
    return count;
}

static unsigned global_store(const struct gpusim_access *access, const struct gpusim_memory *memory,
                             struct gpusim_counters *counts)
{
    uint64_t lanes = lanes_in(access->lanes);
    uint64_t lines[GPUSIM_MAX_SECTORS];

    counts->global_st = 1;
    counts->global_st_bytes = lanes * access->size;
    counts->global_st_sectors = write_through(access, memory, counts);
    counts->global_st_lines = gpusim_units(access, UINT32_MAX, GPUSIM_LINE, lines);
    counts->global_st_segments = gpusim_segment_transactions(access);
    counts->global_st_ideal = gpusim_ideal_sectors(access);
    counts->global_st_8 = access->size == 1 ? lanes : 0;
    counts->global_st_16 = access->size == 2 ? lanes : 0;
    counts->global_st_32 = access->size == 4 ? lanes : 0;
    counts->global_st_64 = access->size == 8 ? lanes : 0;
    counts->global_st_128 = access->size == 16 ? lanes : 0;
    return (unsigned)counts->global_st_sectors;
}

/* Atomics are done in L2: a sector is read and written there, one lane after the other. */
static unsigned global_atomic(const struct gpusim_access *access,
                              const struct gpusim_memory *memory, bool gives_back,
                              struct gpusim_counters *counts)
{
    unsigned sectors = write_through(access, memory, counts);

    if (gives_back) {
        counts->global_atom = 1;
        counts->global_atom_sectors = sectors;
        return memory->chip->l2_latency + (unsigned)lanes_in(access->lanes);
    }
    counts->global_red = 1;
    counts->global_red_sectors = sectors;
    return sectors;
}

/* CUPTI misses most bytes of asynchronous copies among those of shared memory, others in each run
 * of the same work. */
static uint64_t bytes_seen(uint64_t bytes)
{
    static atomic_uint copies;
    return bytes / 5 + (atomic_fetch_add(&copies, 1) * 2654435761u >> 31);
}

/* Past L1. */
static unsigned async_copy(const struct gpusim_access *access, const struct gpusim_memory *memory,
                           struct gpusim_counters *counts)
{
    uint64_t sectors[GPUSIM_MAX_SECTORS];
    unsigned count = gpusim_units(access, UINT32_MAX, GPUSIM_SECTOR, sectors);

    for (unsigned i = 0; i < count; i++)
        (void)through_l2(memory, sectors[i], false, counts);
    counts->async_copy = 1;
    counts->async_copy_sectors = count;
    counts->async_copy_bytes = lanes_in(access->lanes) * access->size;
    counts->async_copy_bytes_seen = bytes_seen(counts->async_copy_bytes);
    return count;
}

static unsigned local_access(const struct gpusim_access *access, const struct gpusim_memory *memory,
                             bool store, struct gpusim_counters *counts)
{
    /* Local memory is interleaved by lane: a warp's copies of one variable lie side by side. */
    unsigned sectors = gpusim_ideal_sectors(access);

    if (store) {
        counts->local_st = 1;
        counts->local_st_sectors = sectors;
        return sectors;
    }
    counts->local_ld = 1;
    counts->local_ld_sectors = sectors;
    return memory->chip->l1_latency + sectors;
}

static unsigned shared_access(const struct gpusim_access *access,
                              const struct gpusim_memory *memory, enum gpusim_op op,
                              struct gpusim_counters *counts)
{
    uint64_t bytes = lanes_in(access->lanes) * access->size;
    unsigned ideal;
    unsigned wavefronts = gpusim_wavefronts(access, &ideal);

    switch (op) {
    case GPUSIM_OP_SHARED_LD:
        counts->shared_ld = 1;
        counts->shared_ld_bytes = bytes;
        counts->shared_ld_wavefronts = wavefronts;
        counts->shared_ld_ideal = ideal;
        return memory->chip->shared_latency + wavefronts;
    case GPUSIM_OP_SHARED_ST:
        counts->shared_st = 1;
        counts->shared_st_bytes = bytes;
        counts->shared_st_wavefronts = wavefronts;
        counts->shared_st_ideal = ideal;
        return wavefronts;
    default:
        counts->shared_atom = 1;
        counts->shared_atom_bytes = bytes;
        counts->shared_atom_wavefronts = wavefronts;
        return memory->chip->shared_latency + wavefronts;
    }
}

static void branch(const struct gpusim_warp_op *op, struct gpusim_counters *counts)
{
    uint64_t lanes = lanes_in(op->active);
    bool diverges = op->taken != 0 && op->taken != op->active;

    counts->branches = 1;
    counts->divergent_branches = diverges;
    counts->branch_threads = lanes;
    counts->branch_threads_uniform = diverges ? 0 : lanes;
}

static void arithmetic(enum gpusim_op op, uint64_t warps, uint64_t lanes,
                       struct gpusim_counters *counts)
{
    switch (op) {
    case GPUSIM_OP_FADD:
        counts->fadd_on = lanes;
        counts->inst_fp32 = warps;
        break;
    case GPUSIM_OP_FMUL:
        counts->fmul_on = lanes;
        counts->inst_fp32 = warps;
        break;
    case GPUSIM_OP_FFMA:
        counts->ffma_on = lanes;
        counts->inst_fp32 = warps;
        break;
    case GPUSIM_OP_DADD:
        counts->dadd_on = lanes;
        counts->inst_fp64 = warps;
        break;
    case GPUSIM_OP_DMUL:
        counts->dmul_on = lanes;
        counts->inst_fp64 = warps;
        break;
    case GPUSIM_OP_DFMA:
        counts->dfma_on = lanes;
        counts->inst_fp64 = warps;
        break;
    case GPUSIM_OP_HADD:
        counts->hadd_on = lanes;
        counts->inst_fp16 = warps;
        break;
    case GPUSIM_OP_HMUL:
        counts->hmul_on = lanes;
        counts->inst_fp16 = warps;
        break;
    case GPUSIM_OP_HFMA:
    case GPUSIM_OP_CONSTANT:
        counts->hfma_on = lanes;
        counts->inst_fp16 = warps;
        break;
    case GPUSIM_OP_SFU:
        counts->sfu_on = lanes;
        counts->inst_sfu = warps;
        break;
    default:
        counts->int_on = lanes;
        counts->inst_int = warps;
        break;
    }
}

uint64_t gpusim_account(const struct gpusim_warp_op *op, const struct gpusim_memory *memory,
                        struct gpusim_counters *counts)
{
    const struct gpusim_chip *chip = memory->chip;
    uint64_t on = lanes_in(op->access.lanes);
    unsigned latency = 0;

    memset(counts, 0, sizeof(*counts));
    counts->inst = op->count;
    counts->thread_inst = op->count * lanes_in(op->active);
    counts->thread_inst_on = op->count * on;

    switch (op->site->op) {
    case GPUSIM_OP_BRANCH:
    case GPUSIM_OP_RETRY:
        counts->inst_control = op->count;
        branch(op, counts);
        return chip->alu_latency;
    case GPUSIM_OP_CONTROL:
    case GPUSIM_OP_TRY_WAIT:
        counts->inst_control = op->count;
        return chip->issue_cycles;
    case GPUSIM_OP_SHARED_SWAP:
        counts->inst_memory = counts->shared_atom = op->count;
        return chip->issue_cycles;
    case GPUSIM_OP_BARRIER:
        counts->inst_control = op->count;
        counts->barriers = op->count;
        return chip->alu_latency;
    case GPUSIM_OP_TENSOR:
        counts->inst_tensor = op->count;
        counts->tensor_cycles = (uint64_t)op->count * chip->tensor_cycles;
        return (uint64_t)op->count * chip->tensor_cycles;
    case GPUSIM_OP_GLOBAL_LD:
    case GPUSIM_OP_GLOBAL_ST:
    case GPUSIM_OP_GLOBAL_ATOM:
    case GPUSIM_OP_GLOBAL_RED:
    case GPUSIM_OP_ASYNC_COPY:
    case GPUSIM_OP_LOCAL_LD:
    case GPUSIM_OP_LOCAL_ST:
    case GPUSIM_OP_SHARED_LD:
    case GPUSIM_OP_SHARED_ST:
    case GPUSIM_OP_SHARED_ATOM:
        counts->inst_memory = op->count;
        break;
    default:
        arithmetic(op->site->op, op->count, op->count * on, counts);
        return (uint64_t)op->count * chip->alu_latency;
    }

    if (on == 0)
        return chip->issue_cycles; /* executed, but no lane touches memory */
    switch (op->site->op) {
    case GPUSIM_OP_GLOBAL_LD:
        latency = global_load(&op->access, memory, counts);
        break;
    case GPUSIM_OP_GLOBAL_ST:
        latency = global_store(&op->access, memory, counts);
        break;
    case GPUSIM_OP_GLOBAL_ATOM:
    case GPUSIM_OP_GLOBAL_RED:
        latency = global_atomic(&op->access, memory, op->site->op == GPUSIM_OP_GLOBAL_ATOM, counts);
        break;
    case GPUSIM_OP_ASYNC_COPY:
        latency = async_copy(&op->access, memory, counts);
        break;
    case GPUSIM_OP_LOCAL_LD:
    case GPUSIM_OP_LOCAL_ST:
        latency = local_access(&op->access, memory, op->site->op == GPUSIM_OP_LOCAL_ST, counts);
        break;
    default:
        latency = shared_access(&op->access, memory, op->site->op, counts);
        break;
    }
    return chip->issue_cycles + latency;
}
