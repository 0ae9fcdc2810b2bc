/* Copies of held launches are put in place, one after the other, before they run again. To put
 * copies of one layout there is always the same work; where memory is divided it is other work each
 * time, as only parts are put there whose contents are others (memory/versions.c): the kernels'
 * instructions follow from its amounts. */
#include "base/mix.h"
#include "memory/inside.h"

/* Copies lie as their originals modulo this, so the work to copy them depends on no more. */
static uint64_t layout_of(const struct gp_segments *copy)
{
    uint64_t layout = 1;
    for (size_t i = 0; i < copy->count; i++) {
        layout = gp_mix(layout, copy->list[i].live % GP_COPY_ALIGNMENT);
        layout = gp_mix(layout, copy->list[i].bytes);
    }
    return layout ? layout : 1;
}

uint64_t gp_held_copy_layout(const struct gp_held_copy *copy)
{
    return copy->divided_count ? 0 : layout_of(&copy->segments);
}

uint64_t gp_snapshot_layout(const struct gp_snapshot *s)
{
    return s->divided_count ? 0 : layout_of(&s->restored);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static bool list_undivided(struct gp_segments *list, const struct gp_held_copy *copy)
{
    bool listed = true;
    segments_clear(list);
    for (size_t i = 0; i < copy->segments.count && listed; i++) {
        const struct gp_segment *g = &copy->segments.list[i];
        listed = g->digests || segments_add(list, g->live, g->saved, g->bytes, g->start);
    }
    return listed;
}

enum put { ONTO_MEMORY, BY_DRIVER, ONTO_ITSELF, ONLY_LISTED };

static void add_layout(struct gp_put_work *work, uint64_t layout)
{
    unsigned i = 0;
    while (i < work->layout_count && work->layouts[i].layout != layout)
        i++;
    if (i == GP_PUT_LAYOUTS) {
        work->irregular = true;
        return;
    }
    if (i == work->layout_count)
        work->layouts[work->layout_count++].layout = layout;
    work->layouts[i].times++;
}

/* Moves of memory that is not divided, and of units; and units to be checked. */
struct put_lists {
    struct gp_segments *undivided, *units, checks;
};

static void note_work(const struct gp_snapshot *s, const struct put_lists *lists,
                      struct gp_put_work *work)
{
    work->irregular = work->irregular || !units_go_by_few(lists->units);
    if (lists->undivided->count)
        add_layout(work, layout_of(lists->undivided));
    units_add_work(work->amounts, &s->own.copy_few, lists->units);
    units_add_work(work->amounts + GP_PUT_AMOUNTS / 2, &s->own.put_right, &lists->checks);
}

static void copy_to_itself(struct gp_segments *moves)
{
    for (size_t i = 0; i < moves->count; i++)
        moves->list[i].saved = moves->list[i].live;
}

static CUresult start_moves(const struct gp_snapshot *s, struct put_lists *lists, enum put how)
{
    const bool by_driver = how == BY_DRIVER;
    if (how == ONTO_ITSELF) {
        copy_to_itself(lists->undivided);
        copy_to_itself(lists->units);
    }
    CUresult result = snapshot_put_right(s, &lists->checks, how == ONTO_ITSELF);
    if (result == CUDA_SUCCESS)
        result = snapshot_move(s, lists->undivided, by_driver);
    return result == CUDA_SUCCESS ? snapshot_move_units(s, lists->units, by_driver) : result;
}

/* Starts to put it there, and adds that work; the memory that the launch will write counts as
 * unknown from then on. Each copy can be copied to itself, and checked instead of memory: the same
 * work without an effect. */
static CUresult start_put(struct gp_snapshot *s, struct gp_held_copy *copy, enum put how,
                          struct gp_put_work *work)
{
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    struct put_lists lists = {.undivided = &s->moves, .units = &s->unit_moves};
    segments_clear(lists.units);
    if (!list_undivided(lists.undivided, copy))
        return result;
    segments_reverse(lists.undivided);
    if (how == BY_DRIVER)
        versions_leave_unchecked(s);
    if (versions_list_unchecked(s, copy, &lists.checks) && versions_list(s, copy, lists.units)) {
        note_work(s, &lists, work);
        result = how == ONLY_LISTED ? CUDA_SUCCESS : start_moves(s, &lists, how);
    }
    segments_free(&lists.checks, false);
    versions_put(s, copy, result == CUDA_SUCCESS);
    return result;
}

bool gp_snapshot_put_in_place(struct gp_snapshot *s, struct gp_held_copy *copy, bool by_driver,
                              struct gp_reason *why)
{
    if (!gp_snapshot_keep(s, &copy, 1, by_driver, why))
        return false;
    *why = GP_REASON(NO_MEMORY);
    /* The first so that it is known which memory the launch reaches. */
    if (!segments_copy(&s->restored, &copy->segments))
        return false;
    struct gp_put_work work = {.irregular = false};
    const CUresult result =
        snapshot_wait(s, start_put(s, copy, by_driver ? BY_DRIVER : ONTO_MEMORY, &work));
    if (result != CUDA_SUCCESS)
        versions_put(s, copy, false);
    return driver_worked(result, why);
}

/* Does that for all copies, one after the other; memory stays as it is. */
static bool put_each(struct gp_snapshot *s, struct gp_held_copy *const *copies, size_t count,
                     enum put how, struct gp_put_work *work, struct gp_reason *why)
{
    struct gp_versions_state before;
    *work = (struct gp_put_work){.irregular = false};
    if (!gp_snapshot_keep(s, copies, count, false, why))
        return false;
    *why = GP_REASON(NO_MEMORY);
    if (!versions_remember(s, &before))
        return false;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = start_put(s, copies[i], how, work);
    if (how != ONLY_LISTED)
        result = snapshot_wait(s, result);
    versions_restore(s, &before);
    return driver_worked(result, why);
}

bool gp_snapshot_put_work(struct gp_snapshot *s, struct gp_held_copy *const *copies, size_t count,
                          struct gp_put_work *work, struct gp_reason *why)
{
    return put_each(s, copies, count, ONLY_LISTED, work, why);
}

bool gp_snapshot_put_blank(struct gp_snapshot *s, struct gp_held_copy *const *copies, size_t count,
                           struct gp_reason *why)
{
    struct gp_put_work work;
    return put_each(s, copies, count, ONTO_ITSELF, &work, why);
}
