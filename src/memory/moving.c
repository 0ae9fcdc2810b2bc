/* Our own kernels copy memory, and check it, as lists of segments say: a few of them come with a
 * launch, more in a table on the device. Where CUPTI's code is in place our kernels would be
 * instrumented: then the driver copies, piece by piece. Nothing here waits but snapshot_wait. */
#include "memory/inside.h"

#include <string.h>

/* Launches that move whole units, each with a few segments, instead of one with a table of them. */
#define MOST_BY_FEW 8

/* Each copy becomes the memory to be copied. It lies as its original modulo 16, so the units stay.
 */
void segments_reverse(struct gp_segments *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct gp_segment *segment = &list->list[i];
        uint64_t live = segment->live;
        segment->live = segment->saved;
        segment->saved = live;
        segment->start += segment->live - live;
    }
}

static CUresult move_by_driver(const struct gp_segments *moves, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < moves->count && result == CUDA_SUCCESS; i++) {
        const struct gp_segment *m = &moves->list[i];
        result = gp_cuda.cuMemcpyDtoDAsync_v2(m->saved, m->live, m->bytes, stream);
    }
    return result;
}

static unsigned blocks_for(const struct gp_own_kernel *kernel, uint64_t units)
{
    return units < kernel->blocks ? (unsigned)units : kernel->blocks;
}

/* Starts a kernel of few segments; the last of its arguments are not for each of them. */
static CUresult start_few(const struct gp_own_kernel *kernel, const struct gp_segments *list,
                          CUdeviceptr answer, uint64_t number, CUstream stream, bool per_thread)
{
    struct gp_few_segments few = {0};
    uint32_t count = (uint32_t)list->count;
    uint64_t units = list->units;
    void *arguments[] = {&few, &count, &units, &answer, &number};
    if (!count)
        return CUDA_SUCCESS;
    memcpy(few.of, list->list, count * sizeof(*few.of));
    return own_kernel_start_on(stream, per_thread, kernel->function, blocks_for(kernel, units),
                               GP_UNIT_THREADS, arguments);
}

CUresult snapshot_copy_few(const struct gp_snapshot *s, const struct gp_segments *list,
                           CUstream stream, bool per_thread)
{
    return start_few(&s->own.copy_few, list, 0, 0, stream, per_thread);
}

CUresult snapshot_save_few(const struct gp_snapshot *s, const struct gp_segments *list,
                           uint64_t number, CUstream stream, bool per_thread)
{
    return start_few(&s->own.save_few, list, s->digests.answer, number, stream, per_thread);
}

/* Segments from *at on, as many as one launch of a kernel takes; only those with digests, or all.
 */
struct few {
    struct gp_few_segments segments;
    uint32_t count;
    uint64_t units;
};

static struct few take_few(const struct gp_segments *list, size_t *at, bool all)
{
    struct few few = {.count = 0};
    for (; *at < list->count && few.count < GP_FEW_SEGMENTS; ++*at) {
        const struct gp_segment *segment = &list->list[*at];
        if (!all && !segment->digests)
            continue;
        few.segments.of[few.count] = *segment;
        few.segments.of[few.count++].first_unit = few.units;
        few.units += segment->bytes / GP_UNIT_BYTES;
    }
    return few;
}

/* The last of the kernel's arguments is not for each of them. */
static CUresult start_units(const struct gp_own_kernel *kernel, const struct gp_segments *list,
                            bool all, CUstream stream, bool per_thread, uint64_t of_copy)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < list->count && result == CUDA_SUCCESS;) {
        struct few few = take_few(list, &i, all);
        void *arguments[] = {&few.segments, &few.count, &few.units, &of_copy};
        if (few.count)
            result = own_kernel_start_on(stream, per_thread, kernel->function,
                                         blocks_for(kernel, few.units), GP_UNIT_THREADS, arguments);
    }
    return result;
}

CUresult snapshot_start_units(const struct gp_own_kernel *kernel, const struct gp_segments *list,
                              CUstream stream, bool per_thread)
{
    return start_units(kernel, list, false, stream, per_thread, 0);
}

static CUresult move_many(const struct gp_snapshot *s, struct gp_segments *moves)
{
    uint32_t count = (uint32_t)moves->count;
    uint64_t begin = 0;
    void *arguments[] = {&moves->table, &count, &begin, &moves->units};
    return own_kernel_start(&s->own, &s->own.copy, moves->units, arguments);
}

/* Does not wait. Where there is no room for a table of many, the driver does it as well. */
CUresult snapshot_move(const struct gp_snapshot *s, struct gp_segments *moves, bool by_driver)
{
    bool few = moves->count <= GP_FEW_SEGMENTS;
    if (!moves->count)
        return CUDA_SUCCESS;
    if (by_driver || (!few && segments_upload(moves, s->own.stream) != CUDA_SUCCESS))
        return move_by_driver(moves, s->own.stream);
    return few ? snapshot_copy_few(s, moves, s->own.stream, false) : move_many(s, moves);
}

CUresult snapshot_wait(struct gp_snapshot *s, CUresult result)
{
    CUresult waited = gp_cuda.cuStreamSynchronize(s->own.stream);
    return result == CUDA_SUCCESS ? waited : result;
}

/* ---- whole units ------------------------------------------------------------------------------
 */

/* Whether some launches move these units, each of which has its segments with it. */
bool units_go_by_few(const struct gp_segments *units)
{
    return units->count <= MOST_BY_FEW * GP_FEW_SEGMENTS;
}

void units_add_work(uint64_t amounts[GP_PUT_AMOUNTS / 2], const struct gp_own_kernel *kernel,
                    const struct gp_segments *list)
{
    for (size_t i = 0; i < list->count;) {
        const struct few few = take_few(list, &i, true);
        amounts[0] += blocks_for(kernel, few.units);
        amounts[1] += few.units;
        amounts[2] += few.count;
    }
}

CUresult snapshot_move_units(const struct gp_snapshot *s, struct gp_segments *units, bool by_driver)
{
    if (by_driver || !units_go_by_few(units))
        return snapshot_move(s, units, by_driver);
    return start_units(&s->own.copy_few, units, true, s->own.stream, false, 0);
}

CUresult snapshot_put_right(const struct gp_snapshot *s, const struct gp_segments *checks,
                            bool of_copies)
{
    return start_units(&s->own.put_right, checks, true, s->own.stream, false,
                       of_copies ? UINT64_MAX : 0);
}
