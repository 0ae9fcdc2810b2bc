#include "memory/inside.h"

static bool list_rest(struct gp_snapshot *s)
{
    segments_clear(&s->hashed);
    for (size_t i = 0; i < s->reached.ranges.count; i++) {
        const struct gp_range *range = &s->reached.ranges.ranges[i];
        /* Others may write meanwhile memory that is not ours, and the host its own. */
        if (s->reached.marks[i] == s->reached.round ||
            s->reached.ranges.facts[i].kind == GP_BUFFER_HOST ||
            s->reached.ranges.facts[i].not_ours.cause)
            continue;
        if (!segments_add(&s->hashed, range->start, 0, range->end - range->start, range->start))
            return false;
    }
    return true;
}

static CUresult make_hashes(struct gp_snapshot *s)
{
    if (s->hashed.count <= s->hashes_capacity)
        return CUDA_SUCCESS;
    s->hashes_capacity = 0;
    free_device_memory(&s->hashes);
    CUresult result = own_memory(&s->hashes, 2 * s->hashed.capacity * sizeof(uint64_t));
    if (result == CUDA_SUCCESS)
        s->hashes_capacity = s->hashed.capacity;
    return result;
}

/* Hashes the rest into the first half of the hashes, or the second. */
static CUresult hash_rest(struct gp_snapshot *s, bool after)
{
    uint32_t count = (uint32_t)s->hashed.count;
    CUdeviceptr hashes = s->hashes + (after ? count * sizeof(uint64_t) : 0);
    CUresult result = gp_cuda.cuMemsetD32Async(hashes, 0, 2 * (size_t)count, s->own.stream);
    if (result != CUDA_SUCCESS)
        return result;
    void *arguments[] = {&s->hashed.table, &count, &s->hashed.units, &hashes};
    return own_kernel_start(&s->own, &s->own.hash, s->hashed.units, arguments);
}

bool snapshot_hash_rest(struct gp_snapshot *s, struct gp_reason *why)
{
    *why = GP_REASON(NO_MEMORY);
    if (!list_rest(s))
        return false;
    if (s->hashed.count == 0)
        return true;
    s->verifies = true;
    return driver_worked(make_hashes(s), why) &&
           driver_worked(segments_upload(&s->hashed, s->own.stream), why) &&
           driver_worked(hash_rest(s, false), why);
}

bool gp_snapshot_verify(struct gp_snapshot *s, bool *elsewhere, struct gp_reason *why)
{
    *elsewhere = false;
    if (!s->verifies)
        return true;
    s->verifies = false;
    uint32_t count = (uint32_t)s->hashed.count;
    CUdeviceptr after = s->hashes + count * sizeof(uint64_t);
    void *arguments[] = {&s->hashes, &after, &count, &s->own.answer};
    if (!driver_worked(hash_rest(s, true), why) ||
        !driver_worked(own_kernel_start(&s->own, &s->own.compare_hashes,
                                        (count + GP_UNIT_THREADS - 1) / GP_UNIT_THREADS, arguments),
                       why) ||
        !driver_worked(answer_fetch(&s->own), why))
        return false;
    *elsewhere = s->own.host_answer->elsewhere != 0;
    return true;
}
