#include "metrics/occupancy.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The toolkit's header compares int with size_t all over. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "cuda_occupancy.h"
#pragma GCC diagnostic pop

static void name_limiters(unsigned factors, char *out, size_t size)
{
    static const struct {
        unsigned factor;
        const char *word;
    } words[] = {
        {OCC_LIMIT_WARPS, "threads/warps"},         {OCC_LIMIT_REGISTERS, "registers"},
        {OCC_LIMIT_SHARED_MEMORY, "shared memory"}, {OCC_LIMIT_BLOCKS, "blocks"},
        {OCC_LIMIT_BARRIERS, "barriers"},
    };
    /* Barriers are handed out per block: where both limits are met, blocks are the cause. */
    if (factors & OCC_LIMIT_BLOCKS)
        factors &= ~(unsigned)OCC_LIMIT_BARRIERS;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if ((factors & words[i].factor) && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " and " : "",
                                     words[i].word);
}

static const char *missing_fact(const struct gp_device *d, const struct gp_record *l)
{
    const struct {
        bool known;
        const char *name;
    } facts[] = {
        {d->cc_major > 0, "device.cc"},
        {d->sm_count > 0, "device.sm_count"},
        {d->warp_size > 0, "device.warp_size"},
        {d->max_threads_per_sm > 0, "device.max_threads_per_sm"},
        {d->max_threads_per_block > 0, "device.max_threads_per_block"},
        {d->registers_per_sm > 0, "device.registers_per_sm"},
        {d->registers_per_block > 0, "device.registers_per_block"},
        {d->shared_per_sm > 0, "device.shared_per_sm"},
        {d->shared_per_block > 0, "device.shared_per_block"},
        {l->registers > 0, "launch.registers"},
        {l->block[0] > 0 && l->block[1] > 0 && l->block[2] > 0, "launch.threads_per_block"},
    };
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        if (!facts[i].known)
            return facts[i].name;
    return NULL;
}

/* Beyond the limits of any GPU, and small enough that the header's products of ints stay ints. */
#define MOST_THREADS 65536
#define MOST_REGISTERS 1024
#define MOST_WARP_SIZE 1024
#define MOST_SHARED ((size_t)1 << 24)

/* A profile may say anything. */
static bool is_some_gpu(const struct gp_device *d, const struct gp_record *l)
{
    for (int i = 0; i < 3; i++)
        if (l->block[i] > MOST_THREADS)
            return false;
    return (uint64_t)l->block[0] * l->block[1] * l->block[2] <= MOST_THREADS &&
           l->registers <= MOST_REGISTERS && d->warp_size <= MOST_WARP_SIZE &&
           d->reserved_shared_per_block <= MOST_SHARED && l->shared_static <= MOST_SHARED &&
           l->shared_dynamic <= MOST_SHARED;
}

bool gp_occupancy_of(const struct gp_device *d, const struct gp_record *l, struct gp_occupancy *o,
                     char *why, size_t why_size)
{
    const char *missing = missing_fact(d, l);
    if (missing) {
        snprintf(why, why_size, "%s is not known", missing);
        return false;
    }
    const cudaOccDeviceProp properties = {
        .computeMajor = d->cc_major,
        .computeMinor = d->cc_minor,
        .maxThreadsPerBlock = d->max_threads_per_block,
        .maxThreadsPerMultiprocessor = d->max_threads_per_sm,
        .regsPerBlock = d->registers_per_block,
        .regsPerMultiprocessor = d->registers_per_sm,
        .warpSize = d->warp_size,
        .sharedMemPerBlock = d->shared_per_block,
        .sharedMemPerMultiprocessor = d->shared_per_sm,
        .numSms = d->sm_count,
        .sharedMemPerBlockOptin = d->shared_per_block_optin,
        .reservedSharedMemPerBlock = d->reserved_shared_per_block,
    };
    /* The launch was accepted, so the kernel may use the dynamic shared memory of the launch, even
     * if its attribute was smaller when it was read. */
    const size_t dynamic = l->shared_dynamic;
    const cudaOccFuncAttributes attributes = {
        .maxThreadsPerBlock = l->max_threads_per_block ? (int)l->max_threads_per_block : INT_MAX,
        .numRegs = (int)l->registers,
        .sharedSizeBytes = l->shared_static,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes =
            l->max_shared_dynamic > dynamic ? l->max_shared_dynamic : dynamic,
        .numBlockBarriers = 1,
    };
    const cudaOccDeviceState state = {
        .cacheConfig = CACHE_PREFER_NONE,
        .carveoutConfig = l->shared_carveout,
    };
    const uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    cudaOccResult result;
    memset(&result, 0, sizeof(result));
    cudaOccError error = CUDA_OCC_ERROR_INVALID_INPUT;
    if (is_some_gpu(d, l))
        error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                        (int)threads, dynamic);
    if (error == CUDA_OCC_ERROR_UNKNOWN_DEVICE) {
        snprintf(why, why_size, "cuda_occupancy.h does not know compute capability %d.%d",
                 d->cc_major, d->cc_minor);
        return false;
    }
    int blocks = result.activeBlocksPerMultiprocessor;
    if (error != CUDA_OCC_SUCCESS || blocks <= 0) {
        snprintf(why, why_size, "cuda_occupancy.h finds no room for this block on the device");
        return false;
    }
    unsigned factors = result.limitingFactors;
    if (d->max_blocks_per_sm > 0 && blocks > d->max_blocks_per_sm) {
        blocks = d->max_blocks_per_sm;
        factors = OCC_LIMIT_BLOCKS;
    }
    o->blocks_per_sm = blocks;
    o->max_warps_per_sm = d->max_threads_per_sm / d->warp_size;
    o->warps_per_sm =
        blocks * (int)((threads + (uint64_t)d->warp_size - 1) / (uint64_t)d->warp_size);
    o->ratio = (double)o->warps_per_sm / o->max_warps_per_sm;
    o->by_warps = result.blockLimitWarps;
    o->by_registers = result.blockLimitRegs;
    o->by_shared = result.blockLimitSharedMem;
    o->by_blocks = d->max_blocks_per_sm > 0 && d->max_blocks_per_sm < result.blockLimitBlocks
                       ? d->max_blocks_per_sm
                       : result.blockLimitBlocks;
    name_limiters(factors, o->limiter, sizeof(o->limiter));
    return true;
}
