/* The contents of divided memory in the course of a batch. Each launch has saved the parts that it
 * writes, and only these. So memory is as it was before a launch where each part has the copy of
 * the first launch from that one on that saved it, and the present contents where none did. Memory
 * that the launch only read needs no copy of its own, also where nobody knows which memory that is.
 *
 * Only parts are put in place whose contents are not the ones that are wanted. */
#include "memory/inside.h"

#include <stdlib.h>

/* Copies in the log. Much of a batch that is spoilt is lost: so after one few are logged, and twice
 * as many behind each batch that was verified. */
#define MOST_LOGGED 1024

void held_copy_free(struct gp_held_copy *copy)
{
    segments_free(&copy->segments, false);
    segments_free(&copy->guarded, false);
    free(copy->divided);
    free(copy->addresses);
    free(copy);
}

/* A kernel may write to memory that it guards now and then, which spoils a batch. */
static size_t most_logged(const struct gp_snapshot *s, const struct gp_held_copy *copy)
{
    const bool is_doubtful =
        copy->guarded.count && !writes_keep_to_parts(&s->learned, copy->addresses);
    return is_doubtful || !s->versions.most ? GP_FEW_LOGGED : s->versions.most;
}

bool versions_enter(struct gp_snapshot *s, struct gp_held_copy *copy)
{
    struct gp_versions *v = &s->versions;
    if (v->log_count >= most_logged(s, copy))
        return false;
    if (v->log_count == v->log_capacity) {
        size_t capacity = v->log_capacity ? 2 * v->log_capacity : 64;
        struct gp_held_copy **log = realloc(v->log, capacity * sizeof(struct gp_held_copy *));
        if (!log)
            return false;
        v->log = log;
        v->log_capacity = capacity;
    }
    for (size_t i = 0; i < copy->guarded.count; i++) {
        const struct gp_segment *g = &copy->guarded.list[i];
        if (!cover_add(&v->guarded, g->live, g->live + g->bytes))
            return false;
    }
    copy->order = copy->number;
    v->log[v->log_count++] = copy;
    v->bytes += s->reached.needed;
    for (size_t i = 0; i < copy->divided_count; i++)
        divided_set_pending(copy->divided[i], true);
    return true;
}

static void forget_runs(struct gp_versions *v)
{
    free(v->runs);
    free(v->versions);
    v->runs = NULL;
    v->versions = NULL;
    v->run_count = 0;
    v->kept = false;
    v->unchecked = NULL;
}

void versions_clear(struct gp_snapshot *s)
{
    struct gp_versions *v = &s->versions;
    for (size_t i = 0; i < v->log_count; i++) {
        for (size_t k = 0; k < v->log[i]->divided_count; k++)
            divided_set_pending(v->log[i]->divided[k], false);
        held_copy_free(v->log[i]);
    }
    v->log_count = 0;
    v->bytes = 0;
    v->guarded.count = 0;
    v->spoilt_count = 0;
    v->batch++;
    forget_runs(v);
}

void versions_free(struct gp_snapshot *s)
{
    versions_clear(s);
    cover_free(&s->versions.guarded);
    free(s->versions.log);
    s->versions.log = NULL;
    s->versions.log_capacity = 0;
}

void versions_verified(struct gp_snapshot *s)
{
    struct gp_versions *v = &s->versions;
    const size_t most = 2 * (v->most ? v->most : GP_FEW_LOGGED);
    v->most = most < MOST_LOGGED ? most : MOST_LOGGED;
}

bool suspects_hold(const struct gp_suspects *of, const struct gp_held_copy *copy)
{
    return copy->number > of->after && copy->number < of->before;
}

static void widen(struct gp_suspects *of, struct gp_suspects by)
{
    if (by.after < of->after)
        of->after = by.after;
    if (by.before > of->before)
        of->before = by.before;
}

void versions_spoil(struct gp_snapshot *s, struct gp_suspects those)
{
    struct gp_versions *v = &s->versions;
    v->most = GP_FEW_LOGGED;
    for (unsigned i = 0; i < v->spoilt_count; i++)
        if (v->spoilt[i].after < those.before && those.after < v->spoilt[i].before) {
            widen(&v->spoilt[i], those);
            return;
        }
    if (v->spoilt_count < GP_MOST_SPOILT)
        v->spoilt[v->spoilt_count++] = those;
    else
        widen(&v->spoilt[GP_MOST_SPOILT - 1], those);
}

void versions_spoil_all(struct gp_snapshot *s)
{
    versions_spoil(s, (struct gp_suspects){0, versions_next_number(s)});
}

bool gp_held_copy_is_spoilt(const struct gp_snapshot *s, const struct gp_held_copy *copy)
{
    for (unsigned i = 0; i < s->versions.spoilt_count; i++)
        if (suspects_hold(&s->versions.spoilt[i], copy))
            return true;
    return false;
}

uint64_t versions_next_number(const struct gp_snapshot *s)
{
    return s->versions.made + 1;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool is_divided(const struct gp_segment *segment)
{
    return segment->digests != 0;
}

static size_t count_segments(const struct gp_versions *v)
{
    size_t count = 0;
    for (size_t i = 0; i < v->log_count; i++) {
        for (size_t k = 0; k < v->log[i]->segments.count; k++)
            count += is_divided(&v->log[i]->segments.list[k]);
        count += v->log[i]->guarded.count;
    }
    return count;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t add_edges(const struct gp_segments *list, uint64_t *edges, size_t count)
{
    for (size_t k = 0; k < list->count; k++) {
        const struct gp_segment *g = &list->list[k];
        if (!is_divided(g))
            continue;
        edges[count++] = g->live;
        edges[count++] = g->live + g->bytes;
    }
    return count;
}

/* The addresses at which segments begin or end, each once. */
static size_t list_edges(const struct gp_versions *v, uint64_t *edges)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < v->log_count; i++) {
        count = add_edges(&v->log[i]->segments, edges, count);
        count = add_edges(&v->log[i]->guarded, edges, count);
    }
    qsort(edges, count, sizeof(*edges), by_number);
    for (size_t i = 0; i < count; i++)
        if (!kept || edges[kept - 1] != edges[i])
            edges[kept++] = edges[i];
    return kept;
}

static size_t run_at(const struct gp_versions *v, uint64_t live)
{
    size_t low = 0, high = v->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v->runs[middle].live < live)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

typedef void visit_run(struct gp_version_run *run, const struct gp_held_copy *copy,
                       const struct gp_segment *segment, struct gp_versions *v);

static void each_run_in(struct gp_versions *v, const struct gp_held_copy *copy,
                        const struct gp_segments *list, visit_run *visit)
{
    for (size_t k = 0; k < list->count; k++) {
        const struct gp_segment *g = &list->list[k];
        if (!is_divided(g))
            continue;
        for (size_t r = run_at(v, g->live);
             r < v->run_count && v->runs[r].live < g->live + g->bytes; r++)
            visit(&v->runs[r], copy, g, v);
    }
}

static void each_run(struct gp_versions *v, const struct gp_held_copy *copy, visit_run *visit)
{
    each_run_in(v, copy, &copy->segments, visit);
}

static void each_guarded_run(struct gp_versions *v, const struct gp_held_copy *copy,
                             visit_run *visit)
{
    each_run_in(v, copy, &copy->guarded, visit);
}

static void note_guarded(struct gp_version_run *run, const struct gp_held_copy *copy,
                         const struct gp_segment *segment, struct gp_versions *v)
{
    (void)copy;
    (void)segment;
    (void)v;
    run->guarded = true;
}

static void count_version(struct gp_version_run *run, const struct gp_held_copy *copy,
                          const struct gp_segment *segment, struct gp_versions *v)
{
    (void)copy;
    (void)segment;
    (void)v;
    run->count++;
}

static void enter_version(struct gp_version_run *run, const struct gp_held_copy *copy,
                          const struct gp_segment *segment, struct gp_versions *v)
{
    v->versions[run->first + run->count++] =
        (struct gp_version){copy->order, segment->saved + (run->live - segment->live)};
}

/* Runs from edge to edge; those that no launch has saved or guards are left out. */
static bool make_runs(struct gp_versions *v)
{
    const size_t segments = count_segments(v);
    size_t versions = 0, kept = 0;
    uint64_t *edges = malloc(2 * segments * sizeof(*edges) + 1);
    v->runs = calloc(2 * segments + 1, sizeof(*v->runs));
    if (!edges || !v->runs) {
        free(edges);
        return false;
    }
    const size_t count = list_edges(v, edges);
    for (size_t i = 0; i + 1 < count; i++)
        v->runs[v->run_count++] =
            (struct gp_version_run){.live = edges[i], .bytes = edges[i + 1] - edges[i]};
    free(edges);
    for (size_t i = 0; i < v->log_count; i++) {
        each_run(v, v->log[i], count_version);
        each_guarded_run(v, v->log[i], note_guarded);
    }
    for (size_t r = 0; r < v->run_count; r++) {
        if (!v->runs[r].count && !v->runs[r].guarded)
            continue;
        v->runs[kept] = v->runs[r];
        v->runs[kept].first = versions;
        versions += v->runs[kept].count;
        v->runs[kept++].count = 0;
    }
    v->run_count = kept;
    v->versions = calloc(versions + 1, sizeof(*v->versions));
    for (size_t i = 0; v->versions && i < v->log_count; i++)
        each_run(v, v->log[i], enter_version);
    return v->versions != NULL;
}

/* ---- contents -------------------------------------------------------------------------------- */

uint64_t versions_need(struct gp_snapshot *s)
{
    struct gp_versions *v = &s->versions;
    uint64_t bytes = 0;
    if (v->kept || !v->log_count)
        return 0;
    forget_runs(v);
    if (!make_runs(v)) {
        forget_runs(v);
        return 0;
    }
    for (size_t r = 0; r < v->run_count; r++)
        bytes += arena_need(v->runs[r].bytes);
    return bytes;
}

static CUresult copy_to(struct gp_snapshot *s, uint64_t to, uint64_t from, uint64_t bytes)
{
    return gp_cuda.cuMemcpyDtoDAsync_v2(to, from, bytes, s->own.stream);
}

bool versions_keep(struct gp_snapshot *s, struct gp_reason *why)
{
    struct gp_versions *v = &s->versions;
    if (v->kept || !v->log_count)
        return true;
    *why = GP_REASON(NO_MEMORY);
    if (!v->runs)
        return false;
    for (size_t r = 0; r < v->run_count; r++) {
        struct gp_version_run *run = &v->runs[r];
        uint64_t bytes = run->bytes;
        run->present = arena_take(&s->final.arena, run->live, &bytes);
        *why = GP_REASON(NO_ROOM);
        if (!run->present || bytes != run->bytes || s->final.arena.host_used ||
            !driver_worked(copy_to(s, run->present, run->live, run->bytes), why))
            return false;
        run->current = run->present;
    }
    v->kept = true;
    return true;
}

static bool is_reached(const struct gp_held_copy *copy, uint64_t address)
{
    for (size_t i = 0; i < copy->divided_count; i++)
        if (address - copy->divided[i]->start < copy->divided[i]->end - copy->divided[i]->start)
            return true;
    return false;
}

/* The copy with the contents before that launch. */
static uint64_t wanted(const struct gp_versions *v, const struct gp_version_run *run,
                       uint64_t order)
{
    for (size_t i = 0; i < run->count; i++)
        if (v->versions[run->first + i].order >= order)
            return v->versions[run->first + i].saved;
    return run->present;
}

/* The launch will write it. */
static void lose(struct gp_version_run *run, const struct gp_held_copy *copy,
                 const struct gp_segment *segment, struct gp_versions *v)
{
    (void)copy;
    (void)segment;
    (void)v;
    run->current = 0;
}

bool versions_list(const struct gp_snapshot *s, const struct gp_held_copy *copy,
                   struct gp_segments *moves)
{
    const struct gp_versions *v = &s->versions;
    bool listed = true;
    for (size_t r = 0; copy->order && r < v->run_count && listed; r++) {
        const struct gp_version_run *run = &v->runs[r];
        const uint64_t from = wanted(v, run, copy->order);
        if (from != run->current && is_reached(copy, run->live))
            listed = segments_add_units(moves, from, run->live, run->bytes, 0);
    }
    return listed;
}

/* ---- guarded memory -------------------------------------------------------------------------- */

/* The launch may write it. Contents that are not the present ones have no digests to be checked
 * by. */
static void doubt(struct gp_version_run *run, const struct gp_held_copy *copy,
                  const struct gp_segment *segment, struct gp_versions *v)
{
    (void)copy;
    (void)segment;
    (void)v;
    if (run->current != run->present)
        run->current = 0;
}

struct listing {
    const struct gp_held_copy *next;
    struct gp_segments *checks;
    bool well;
};

static void list_unchecked(struct gp_versions *v, const struct gp_segment *guarded,
                           struct listing *l)
{
    for (size_t r = run_at(v, guarded->live);
         r < v->run_count && v->runs[r].live < guarded->live + guarded->bytes && l->well; r++) {
        const struct gp_version_run *run = &v->runs[r];
        const bool is_replaced =
            is_reached(l->next, run->live) && wanted(v, run, l->next->order) != run->present;
        if (run->current != run->present || is_replaced)
            continue;
        const uint64_t unit = (run->live - guarded->live) / GP_UNIT_BYTES;
        l->well = segments_add_units(l->checks, run->live, run->present, run->bytes,
                                     guarded->digests + unit * sizeof(uint64_t));
    }
}

bool versions_list_unchecked(struct gp_snapshot *s, const struct gp_held_copy *copy,
                             struct gp_segments *checks)
{
    struct gp_versions *v = &s->versions;
    struct listing listing = {copy, checks, true};
    for (size_t k = 0; v->unchecked && k < v->unchecked->guarded.count; k++)
        list_unchecked(v, &v->unchecked->guarded.list[k], &listing);
    return listing.well;
}

void versions_leave_unchecked(struct gp_snapshot *s)
{
    struct gp_versions *v = &s->versions;
    if (v->unchecked)
        each_guarded_run(v, v->unchecked, lose);
    v->unchecked = NULL;
}

void versions_put(struct gp_snapshot *s, const struct gp_held_copy *copy, bool well)
{
    struct gp_versions *v = &s->versions;
    if (!well)
        versions_leave_unchecked(s);
    v->unchecked = NULL;
    for (size_t r = 0; copy->order && r < v->run_count; r++) {
        struct gp_version_run *run = &v->runs[r];
        if (is_reached(copy, run->live))
            run->current = well ? wanted(v, run, copy->order) : 0;
    }
    if (!copy->order)
        return;
    each_run(v, copy, lose);
    each_guarded_run(v, copy, doubt);
    v->unchecked = copy->guarded.count ? copy : NULL;
}

bool versions_remember(const struct gp_snapshot *s, struct gp_versions_state *state)
{
    const struct gp_versions *v = &s->versions;
    *state =
        (struct gp_versions_state){malloc((v->run_count + 1) * sizeof(uint64_t)), v->unchecked};
    for (size_t r = 0; state->currents && r < v->run_count; r++)
        state->currents[r] = v->runs[r].current;
    return state->currents != NULL;
}

void versions_restore(struct gp_snapshot *s, struct gp_versions_state *state)
{
    struct gp_versions *v = &s->versions;
    for (size_t r = 0; r < v->run_count; r++)
        v->runs[r].current = state->currents[r];
    v->unchecked = state->unchecked;
    free(state->currents);
}

CUresult versions_put_back(struct gp_snapshot *s)
{
    struct gp_versions *v = &s->versions;
    CUresult result = CUDA_SUCCESS;
    versions_leave_unchecked(s);
    for (size_t r = 0; v->kept && r < v->run_count; r++) {
        const struct gp_version_run *run = &v->runs[r];
        if (run->current == run->present)
            continue;
        CUresult copied = copy_to(s, run->live, run->present, run->bytes);
        result = result == CUDA_SUCCESS ? copied : result;
    }
    forget_runs(v);
    return result;
}
