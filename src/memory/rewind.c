#include "memory/inside.h"

static CUresult compare_watched(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->watched.count;
    void *arguments[] = {&s->watched.table, &count, &s->watched.units, &s->own.answer};
    return count ? own_kernel_start(&s->own, &s->own.compare, s->watched.units, arguments)
                 : CUDA_SUCCESS;
}

/* Our kernels check themselves whether they may; the driver's copies cannot. */
static CUresult may_restore_arrays(struct gp_snapshot *s, bool *may)
{
    *may = s->arrays.count > 0;
    if (!*may || !s->watched.count)
        return CUDA_SUCCESS;
    CUresult result = answer_fetch(&s->own);
    *may = result == CUDA_SUCCESS && !s->own.host_answer->watched;
    return result;
}

static CUresult restore_arrays(struct gp_snapshot *s, bool first)
{
    bool may;
    CUresult result = may_restore_arrays(s, &may);
    if (result == CUDA_SUCCESS && may && first)
        result = arrays_save(&s->arrays, GP_AFTER, s->own.stream);
    if (result == CUDA_SUCCESS && may)
        result = arrays_restore(&s->arrays, GP_BEFORE, s->own.stream);
    return result;
}

static CUresult restore(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->restored.count;
    void *arguments[] = {&s->restored.table, &count, &s->restored.units, &s->own.answer};
    return count ? own_kernel_start(&s->own, &s->own.rewind, s->restored.units, arguments)
                 : CUDA_SUCCESS;
}

static CUresult keep(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->restored.count;
    struct gp_final *f = &s->final;
    void *arguments[] = {&s->restored.table, &count,        &s->restored.units,
                         &s->own.answer,     &f->positions, &f->arena.device,
                         &f->arena.host,     &f->on_device, &f->capacity};
    return count ? own_kernel_start(&s->own, &s->own.keep, s->restored.units, arguments)
                 : CUDA_SUCCESS;
}

static CUresult restore_kept(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->restored.count;
    void *arguments[] = {&s->restored.table,  &count,
                         &s->restored.units,  &s->own.answer,
                         &s->final.positions, &s->final.capacity};
    return count ? own_kernel_start(&s->own, &s->own.rewind_kept, s->restored.units, arguments)
                 : CUDA_SUCCESS;
}

/* Makes memory as the program's own run left it. */
static CUresult put_back(struct gp_snapshot *s)
{
    uint32_t count = (uint32_t)s->restored.count;
    struct gp_final *f = &s->final;
    void *arguments[] = {&s->restored.table, &count,         &s->restored.units, &f->positions,
                         &f->arena.device,   &f->arena.host, &f->on_device};
    return count ? own_kernel_start(&s->own, &s->own.put_back, s->restored.units, arguments)
                 : CUDA_SUCCESS;
}

/* Keeps the changes of the program's own run, and puts back the memory before it, if there is room
 * for `kept` units or as many as there are. The answer says so. */
static bool keep_and_rewind(struct gp_snapshot *s, uint32_t kept, struct gp_reason *why)
{
    if (!final_prepare(&s->final, &s->arena, s->restored.units, kept, s->own.stream, why))
        return false;
    CUresult result = answer_clear(&s->own);
    if (result == CUDA_SUCCESS)
        result = compare_watched(s);
    if (result == CUDA_SUCCESS)
        result = keep(s);
    s->rewound =
        result == CUDA_SUCCESS; /* parts of the rest that were started may have been done */
    if (result == CUDA_SUCCESS)
        result = restore_kept(s);
    CUresult asked = answer_fetch(&s->own);
    if (!driver_worked(result, why) || !driver_worked(asked, why))
        return false;
    s->rewound = !s->own.host_answer->watched && s->own.host_answer->kept <= s->final.capacity;
    return !s->rewound || (driver_worked(restore_arrays(s, true), why) &&
                           driver_worked(answer_fetch(&s->own), why));
}

/* The first time: the changes of the program's own run are kept. */
static bool rewind_first(struct gp_snapshot *s, struct gp_reason *why)
{
    if (!keep_and_rewind(s, s->kept, why))
        return false;
    s->kept = s->own.host_answer->kept;
    if (s->rewound || s->own.host_answer->watched)
        return true;
    /* How much room it takes is known now. */
    if (!keep_and_rewind(s, s->kept, why))
        return false;
    *why = GP_REASON(NO_ROOM);
    return s->rewound || s->own.host_answer->watched;
}

static bool rewind_again(struct gp_snapshot *s, struct gp_reason *why)
{
    /* Parts of it that are started are waited for. */
    CUresult result = answer_clear(&s->own);
    if (result == CUDA_SUCCESS)
        result = compare_watched(s);
    if (result == CUDA_SUCCESS)
        result = restore_arrays(s, false);
    if (result == CUDA_SUCCESS)
        result = restore(s);
    CUresult asked = answer_fetch(&s->own);
    return driver_worked(result, why) && driver_worked(asked, why);
}

bool gp_snapshot_rewind(struct gp_snapshot *s, struct gp_reason *why)
{
    return s->rewound ? rewind_again(s, why) : rewind_first(s, why);
}

bool gp_snapshot_finish(struct gp_snapshot *s, struct gp_reason *why)
{
    if (!s->rewound)
        return true;
    CUresult result = put_back(s);
    if (result == CUDA_SUCCESS)
        result = arrays_restore(&s->arrays, GP_AFTER, s->own.stream);
    CUresult waited = gp_cuda.cuStreamSynchronize(s->own.stream);
    s->rewound = !driver_worked(result, why) || !driver_worked(waited, why);
    return !s->rewound;
}

bool gp_snapshot_host_changed(const struct gp_snapshot *s)
{
    return s->own.host_answer->watched != 0;
}

uint64_t gp_snapshot_changed_bytes(const struct gp_snapshot *s)
{
    return s->own.host_answer->changed_bytes + s->arrays.bytes;
}
