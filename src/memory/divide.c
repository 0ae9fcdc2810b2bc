/* Divided memory in a snapshot: the parts of it that a launch saves, and its writes, which the
 * digests show. */

#include "base/mix.h"
#include "memory/inside.h"

#include <stdlib.h>
#include <string.h>

/* Batches with alarms of launches in several streams; then launches are waited for. */
#define MOST_MIXED_BATCHES 2

/* Bytes of a launch whose allocations are saved whole where its writes are only guessed: no launch
 * like it has shown them, or none can, as the order of threads says where they are, or its kernel
 * is verified one by one; and how many times as much the budget has room for. Pieces end where some
 * launch has had an address, and may have grown since: an allocator divides freed memory anew. To
 * copy so much takes a fraction of a millisecond, and a write beside a piece costs the counters of
 * a batch. */
#define MOST_WHOLE ((uint64_t)512 << 20)
#define WHOLE_TIMES 8
/* Bytes behind all addresses of a launch that are saved with the pieces there, where the
 * allocations are larger: of one that is verified by itself, of others, and where numbers in
 * memory, or the order of threads, may say where it writes; less than so many behind each of them
 * are not worth it. */
#define MOST_UNKNOWN ((uint64_t)1 << 30)
#define MOST_WIDE ((uint64_t)256 << 20)
#define MOST_BY_INPUT ((uint64_t)32 << 20)
#define LEAST_WIDE ((uint64_t)256 << 10)
/* Bytes of a piece behind the near part that are planned where the order of threads may say where
 * it writes: nothing would show the write of a replay there before the memory is lost. */
#define MOST_BY_ORDER ((uint64_t)1 << 30)

void divide_begin(struct gp_snapshot *s)
{
    for (size_t i = 0; i < s->divided_count; i++)
        s->divided[i]->reached = false;
    s->divided_count = 0;
    s->addresses.count = 0;
    s->addresses.kernel = s->addresses.work = s->addresses.shape = 0; /* no launch's, as yet */
    s->plan.count = s->led.count = s->guard.count = 0;
    s->divides = s->saves_parts = s->saves_whole = s->saves_wide = s->leads_known = s->parts_known =
        s->near_will_do = s->verified = s->guards = false;
}

static bool add(struct gp_snapshot *s, struct gp_divided *d)
{
    if (d->reached)
        return true;
    if (s->divided_count == s->divided_capacity) {
        size_t capacity = s->divided_capacity ? 2 * s->divided_capacity : 16;
        struct gp_divided **list = realloc(s->divided, capacity * sizeof(struct gp_divided *));
        if (!list)
            return false;
        s->divided = list;
        s->divided_capacity = capacity;
    }
    s->divided[s->divided_count++] = d;
    d->reached = true;
    return true;
}

/* Memory of the device alone, that nobody else writes, at least until the launch is over. */
static bool may_be_divided(const struct gp_reached *r, const struct gp_range_facts *facts)
{
    return (facts->kind == GP_BUFFER_DEVICE || facts->kind == GP_BUFFER_POOLED ||
            facts->kind == GP_BUFFER_MAPPED) &&
           !facts->managed && (!facts->not_ours.cause || (facts->of_gpus && r->others_rest));
}

/* NULL where the range is not to be divided. */
static struct gp_divided *divided_of_range(const struct gp_snapshot *s, size_t range)
{
    const struct gp_ranges *ranges = &s->reached.ranges;
    return may_be_divided(&s->reached, &ranges->facts[range])
               ? divided_of(s, &ranges->ranges[range])
               : NULL;
}

bool divide_add(struct gp_snapshot *s, size_t range, struct gp_divided **added)
{
    struct gp_divided *d = divided_of_range(s, range);
    *added = d && divided_is(d) ? d : NULL;
    return !*added || add(s, d);
}

struct gp_divided *divide_find(const struct gp_snapshot *s, const struct gp_range *range)
{
    for (size_t i = 0; i < s->divided_count; i++)
        if (s->divided[i]->start == range->start && s->divided[i]->end == range->end)
            return s->divided[i];
    return NULL;
}

static bool is_known(const struct gp_addresses *a, uint64_t address)
{
    for (unsigned i = 0; i < a->count; i++)
        if (a->of[i].value == address)
            return true;
    return false;
}

/* Notes the launch's addresses in the range, each once. False where there are too many. */
static bool note_addresses(struct gp_snapshot *s, const struct gp_reach *launch,
                           struct gp_divided *d)
{
    struct gp_addresses *a = &s->addresses;
    uint64_t word;
    for (size_t at = 0; at + sizeof(word) <= launch->parameters_size; at++) {
        memcpy(&word, (const char *)launch->parameters + at, sizeof(word));
        if (word < d->start || word >= d->end || is_known(a, word) ||
            !gp_reach_may_be_address(launch, at, word))
            continue;
        if (a->count == GP_MOST_ADDRESSES)
            return false;
        divided_cut(d, word);
        a->of[a->count++] = (struct gp_address){(uint32_t)at, word, d};
    }
    return true;
}

/* Addresses in divided memory stay in the list. */
static void keep_addresses_of_divided(struct gp_addresses *a)
{
    unsigned count = 0;
    for (unsigned i = 0; i < a->count; i++)
        if (divided_is(a->of[i].in))
            a->of[count++] = a->of[i];
    a->count = count;
}

/* Launches are like each other where the same parameters lead to divided memory: of other writes
 * nothing was seen. */
static void name_launch(struct gp_addresses *a, const struct gp_reach *launch)
{
    a->kernel = launch->kernel;
    a->work = launch->work;
    a->shape = launch->shape;
    uint64_t offsets = 0; /* in any order */
    for (unsigned i = 0; i < a->count; i++)
        offsets += gp_mix(0, a->of[i].offset);
    a->work = gp_mix(a->work, offsets);
    a->shape = gp_mix(a->shape, offsets);
}

/* The parts are copied, in place of the whole. */
static bool take_room(struct gp_snapshot *s, uint64_t from, uint64_t to, CUdeviceptr digests,
                      void *data)
{
    (void)digests;
    (void)data;
    s->reached.bytes += to - from;
    s->reached.needed += arena_need(to - from);
    return true;
}

static void count_parts(struct gp_snapshot *s, const struct gp_divided *d)
{
    s->reached.bytes -= d->end - d->start;
    s->reached.needed -= arena_need(d->end - d->start);
    divide_each_part(s, d, take_room, NULL);
}

/* All memory of the launch counts: parts may fit beside large other arrays, where the whole does
 * not. */
static bool whole_is_cheap(const struct gp_snapshot *s)
{
    return s->reached.bytes <= MOST_WHOLE &&
           arena_may_have(&s->arena, &s->final.arena, WHOLE_TIMES * s->reached.needed);
}

/* Bytes from each address on that are saved. */
static uint64_t wide_bytes(const struct gp_snapshot *s, uint64_t most)
{
    const unsigned count = s->addresses.count + s->led.count;
    uint64_t bytes = most / (count ? count : 1);
    while (bytes >= LEAST_WIDE &&
           !arena_may_have(&s->arena, &s->final.arena, WHOLE_TIMES * count * bytes))
        bytes /= 2;
    return bytes >= LEAST_WIDE ? bytes : 0;
}

static uint64_t bytes_by_order(const struct gp_snapshot *s)
{
    const unsigned count = s->addresses.count ? s->addresses.count : 1;
    if (arena_may_have(&s->arena, &s->final.arena, WHOLE_TIMES * MOST_BY_ORDER))
        return MOST_BY_ORDER / count;
    return arena_most(&s->arena, &s->final.arena) / WHOLE_TIMES / count;
}

/* `most`: bytes that are saved behind all addresses in any case. */
static bool plan_parts(struct gp_snapshot *s, uint64_t most, struct gp_plan *plan)
{
    return writes_plan(&s->learned, &s->addresses, &s->led, most ? wide_bytes(s, most) : 0, plan);
}

/* Plans the parts. With little room less of the pieces is planned of which nobody has shown more: a
 * guess that is too small costs a launch its counters, and then its parts are known. But not where
 * a replay alone may write. */
static bool plan_in_room(struct gp_snapshot *s)
{
    struct gp_addresses *a = &s->addresses;
    a->unknown = GP_MOST_OF_UNKNOWN;
    bool planned = plan_parts(s, 0, &s->plan);
    while (planned && a->unknown > GP_FIRST_PART && !a->by_order && !a->anywhere &&
           !arena_may_have(&s->arena, &s->final.arena, GP_LEAST_BATCH * plan_bytes(&s->plan))) {
        a->unknown /= 2;
        planned = plan_parts(s, 0, &s->plan);
    }
    return planned;
}

/* Where writes were seen their parts are known, but not where contents of memory, or the order of
 * threads, say where they are: then they lie in an array, and that may go on behind its piece. */
static uint64_t most_wide(const struct gp_snapshot *s, bool known)
{
    const bool seen = writes_were_seen(&s->learned, &s->addresses);
    if (!known || !seen)
        return known || seen ? MOST_WIDE : MOST_UNKNOWN;
    return s->led.count || writes_may_be_elsewhere(&s->learned, &s->addresses) ? MOST_BY_INPUT : 0;
}

/* Memory beside the planned parts, where the order of threads may say that a replay writes, is
 * guarded where launches like this one have written to these parts alone; else it is saved. */
static bool plan_with_guard(struct gp_snapshot *s, bool sure, bool whole)
{
    struct gp_addresses *a = &s->addresses;
    const bool same_parts = sure && writes_have_settled(&s->learned, a);
    a->guarded = false;
    const bool planned = same_parts && (whole || plan_parts(s, MOST_BY_INPUT, &s->wide));
    s->guards = planned && guard_plan(s, whole ? NULL : &s->wide);
    a->guarded = s->guards;
    return s->guards || plan_parts(s, 0, &s->plan);
}

bool divide(struct gp_snapshot *s, const struct gp_reach *launch, bool known_only)
{
    struct gp_reached *r = &s->reached;
    bool all_noted = true, led_known = launch->leads_no_further;
    s->divides = true;
    s->leads_known = launch->leads_no_further;
    if (!known_only)
        divided_make_room(s);
    for (size_t i = 0; i < r->count; i++) {
        struct gp_divided *d = divided_of_range(s, r->list[i]);
        if (!d)
            continue;
        all_noted = note_addresses(s, launch, d) && all_noted;
        if (divided_is(d) && !add(s, d))
            return false;
    }
    if (!led_known && all_noted && !known_only && divided_any(s))
        led_known = led_find(s, &s->leads_known); /* from the addresses that are noted */
    if (s->divided_count)
        s->arena.halved = true; /* the present contents take as much room as the copies */
    keep_addresses_of_divided(&s->addresses);
    name_launch(&s->addresses, launch);
    s->addresses.by_input = launch->writes_by_input;
    s->addresses.by_order = launch->writes_by_order;
    s->addresses.anywhere = launch->writes_anywhere;
    const bool by_order = launch->writes_by_order && s->divided_count;
    const bool whole = by_order && whole_is_cheap(s);
    s->addresses.guarded =
        by_order && launch->may_be_held && !writes_are_unguarded(&s->learned, &s->addresses);
    s->addresses.whole = whole ? s->reached.bytes : 0;
    s->addresses.behind = by_order && !whole ? bytes_by_order(s) : 0;
    bool plans = s->divided_count && all_noted && led_known &&
                 !(launch->writes_anywhere && known_only) && plan_in_room(s);
    const bool known = !launch->writes_anywhere && writes_are_known(&s->learned, &s->addresses);
    const bool sure = known && writes_were_seen(&s->learned, &s->addresses);
    if (plans && s->addresses.guarded)
        plans = plan_with_guard(s, sure, whole);
    s->saves_whole = plans && !s->guards && (!sure || by_order) && (known || !known_only) &&
                     (by_order ? whole : whole_is_cheap(s));
    const uint64_t wide = s->guards ? 0 : most_wide(s, known);
    s->saves_wide = plans && !s->saves_whole && wide && plan_parts(s, wide, &s->wide);
    s->saves_parts = plans && !s->saves_whole;
    /* A write to the far part shows at once where that is saved. */
    s->near_will_do =
        launch->may_be_held && !s->saves_whole && !writes_are_suspect(&s->learned, &s->addresses);
    /* Memory that is followed while it is copied is not compared with its digests then. */
    s->parts_known = s->divided_count && !launch->verify && (known_only || s->leads_known) &&
                     (!plans || (known && (sure || !s->saves_whole)));
    for (size_t i = 0; i < s->divided_count; i++) {
        count_parts(s, s->divided[i]);
        s->parts_known = s->parts_known && s->divided[i]->known;
    }
    return !known_only || !s->divided_count ||
           (s->parts_known && s->versions.alarms < MOST_MIXED_BATCHES);
}

void divide_rest(struct gp_snapshot *s, const struct gp_reach *launch)
{
    const struct gp_reached *r = &s->reached;
    if (!launch->parameters_known || !launch->leads_no_further || launch->everything) {
        divided_rest(s, 0, UINT64_MAX);
        return;
    }
    for (size_t i = 0; i < r->count; i++) {
        const struct gp_range *range = &r->ranges.ranges[r->list[i]];
        divided_rest(s, range->start, range->end);
    }
}

static bool visit_units(struct gp_snapshot *s, const struct gp_divided *d, uint64_t from,
                        uint64_t to, divide_part *visit, void *data)
{
    const uint64_t digests = d->digests + (from - d->first) / GP_UNIT_BYTES * sizeof(uint64_t);
    return from >= to || visit(s, from, to, digests, data);
}

bool divide_each_part(struct gp_snapshot *s, const struct gp_divided *d, divide_part *visit,
                      void *data)
{
    const uint64_t last = d->first + d->units * GP_UNIT_BYTES;
    bool well = d->start == d->first || visit(s, d->start, d->first, 0, data);
    if (!s->saves_parts)
        well = well && visit_units(s, d, d->first, last, visit, data);
    const struct gp_plan *plan = s->saves_wide ? &s->wide : &s->plan;
    for (unsigned i = 0; s->saves_parts && i < plan->count && well; i++)
        if (plan->of[i].in == d)
            well = visit_units(s, d, plan->of[i].from, plan->of[i].to, visit, data);
    return well && (last == d->end || visit(s, last, d->end, 0, data));
}

/* Contents of memory have led there: all of it is saved. Where a launch divides none, as others
 * write unseen behind it, held launches alone need its digests. */
bool divide_found(struct gp_snapshot *s, size_t range, struct gp_reason *why)
{
    struct gp_divided *d = divided_of_range(s, range);
    if (!d || d->reached || (!d->pending && (!s->divides || !divided_is(d))))
        return true;
    *why = GP_REASON(NO_MEMORY);
    if (!add(s, d) ||
        (s->saves_parts && !writes_plan_whole(s->saves_wide ? &s->wide : &s->plan, d)))
        return false;
    count_parts(s, d);
    return divide_check_before(s, why);
}

static bool near_will_do(const struct gp_snapshot *s, const struct gp_divided *d)
{
    return s->near_will_do && divided_has_far(d);
}

/* A write to the far part that nobody expects is found with the batch, if not before. */
static bool check_part(struct gp_snapshot *s, struct gp_divided *d, bool near, bool *changed,
                       struct gp_reason *why)
{
    return near ? divided_check_near(s, d, changed, why) : divided_check(s, d, changed, why);
}

/* Where a launch is held already the digests have to be right; else they begin here. */
bool divide_check_before(struct gp_snapshot *s, struct gp_reason *why)
{
    if (s->parts_known)
        return true;
    for (size_t i = 0; i < s->divided_count; i++) {
        struct gp_divided *d = s->divided[i];
        bool changed;
        if (d->known && !d->pending)
            continue;
        if (!check_part(s, d, near_will_do(s, d), &changed, why)) {
            versions_spoil_all(s); /* digests may have followed a change already */
            return false;
        }
        if (changed && d->pending)
            spoil_by_check(s, d);
        divided_set_known(d, true);
    }
    return true;
}

bool divide_note_copy(struct gp_snapshot *s, struct gp_held_copy *copy)
{
    if (!s->divided_count)
        return true;
    copy->divided = malloc(s->divided_count * sizeof(struct gp_divided *));
    copy->addresses = malloc(sizeof(*copy->addresses));
    if (!copy->divided || !copy->addresses)
        return false;
    memcpy(copy->divided, s->divided, s->divided_count * sizeof(struct gp_divided *));
    copy->divided_count = s->divided_count;
    *copy->addresses = s->addresses;
    return true;
}

/* ---- after a launch -------------------------------------------------------------------------- */

struct changes {
    struct gp_snapshot *s;
    bool outside;    /* of the copies */
    bool unexpected; /* outside of the plan, which whole allocations were saved instead of */
};

static const struct gp_segment *segment_around(const struct gp_segments *saved, uint64_t address)
{
    for (size_t i = 0; i < saved->count; i++)
        if (address - saved->list[i].live < saved->list[i].bytes)
            return &saved->list[i];
    return NULL;
}

static uint64_t next_saved(const struct gp_segments *saved, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < saved->count; i++)
        if (saved->list[i].live > from && saved->list[i].live < to)
            to = saved->list[i].live;
    return to;
}

/* The launch at hand has written it: others of its batch may have read the rest
 * that it did not save as it was. False where it saved all. */
static bool spoil_unsaved(struct gp_snapshot *s, uint64_t from, uint64_t to)
{
    bool any = false;
    while (from < to) {
        const struct gp_segment *saved = segment_around(&s->restored, from);
        const uint64_t end =
            saved ? saved->live + saved->bytes : next_saved(&s->restored, from, to);
        if (!saved)
            spoil_readers(s, from, end);
        any = any || !saved;
        from = end;
    }
    return any;
}

/* Writes to which contents of memory led say nothing of the parameters. */
static void take_change(const struct gp_divided *d, uint64_t from, uint64_t to, void *data)
{
    struct changes *c = data;
    const bool guessed = c->s->saves_whole || c->s->saves_wide;
    if (!plan_holds(&c->s->led, d, from, to))
        writes_learn(&c->s->learned, &c->s->addresses, d, from, to);
    c->outside = spoil_unsaved(c->s, from, to) || c->outside;
    c->unexpected =
        c->unexpected || c->outside || (guessed && !plan_holds(&c->s->plan, d, from, to));
}

/* The parts may have any contents now. */
static bool note_parts(struct gp_snapshot *s, struct gp_reason *why)
{
    CUresult result = snapshot_start_units(&s->own.digest_few, &s->restored, s->own.stream, false);
    CUresult waited = gp_cuda.cuStreamSynchronize(s->own.stream);
    return driver_worked(result, why) && driver_worked(waited, why);
}

bool gp_snapshot_wrote_outside(struct gp_snapshot *s, bool later, bool *outside,
                               struct gp_reason *why)
{
    struct changes changes = {.s = s};
    *outside = false;
    if (later && s->parts_known)
        return note_parts(s, why);
    s->verified = true;
    for (size_t i = 0; i < s->divided_count; i++) {
        const bool near = later && near_will_do(s, s->divided[i]);
        bool changed;
        s->verified = s->verified && !near;
        if (!check_part(s, s->divided[i], near, &changed, why)) {
            versions_spoil_all(s);
            divided_set_known(s->divided[i], false);
            return false;
        }
        if (changed)
            divided_each_change(s, s->divided[i], take_change, &changes);
        if (!near)
            divided_grew_no_more(s->divided[i]);
    }
    if (s->divided_count)
        writes_seen(&s->learned, &s->addresses, changes.unexpected);
    if (changes.outside && s->guards)
        writes_strayed(&s->learned, &s->addresses, s->versions.batch);
    *outside = changes.outside;
    return true;
}

/* ---- held launches --------------------------------------------------------------------------- */

/* Checks all divided memory of held launches; *any becomes true where some of it has changed. */
static bool check_held(struct gp_snapshot *s, bool *any, struct gp_reason *why)
{
    const struct gp_versions *v = &s->versions;
    bool well = true;
    for (size_t i = 0; i < v->log_count; i++)
        for (size_t k = 0; k < v->log[i]->divided_count; k++)
            v->log[i]->divided[k]->reached = true;
    for (size_t i = 0; i < v->log_count; i++)
        for (size_t k = 0; k < v->log[i]->divided_count; k++) {
            struct gp_divided *d = v->log[i]->divided[k];
            bool changed = false;
            if (!d->reached)
                continue;
            d->reached = false;
            well = well && divided_check(s, d, &changed, why);
            if (!well) /* else they stay known or not: a write may be about to come */
                divided_set_known(d, false);
            if (changed)
                spoil_by_check(s, d);
            divided_grew_no_more(d);
            *any = *any || changed;
        }
    return well;
}

bool gp_snapshot_verify_held(struct gp_snapshot *s, struct gp_reason *why)
{
    struct gp_alarm *alarms = NULL;
    uint32_t count = 0;
    bool any = false;
    if (!s->versions.log_count || s->versions.kept)
        return true;
    const bool listed = driver_worked(digests_alarms(s, &alarms, &count), why);
    spoil_by_alarms(s, alarms, count);
    free(alarms);
    const bool checked = check_held(s, &any, why);
    /* Launches that run at the same time may write one unit: its digest is right for none. */
    if (count && !any && !versions_are_in_order(&s->versions))
        s->versions.alarms++;
    if (!listed || !checked) {
        versions_spoil_all(s);
    } else if (!count && !any) {
        versions_verified(s);
        guard_kept(s);
    }
    return listed && checked;
}

bool gp_snapshot_holds_parts(const struct gp_snapshot *s)
{
    for (size_t i = 0; i < s->versions.log_count; i++)
        if (!s->versions.log[i]->released)
            return true;
    return false;
}

bool gp_snapshot_is_verified(const struct gp_snapshot *s)
{
    return s->verified;
}

void gp_snapshot_is_not_held(struct gp_snapshot *s)
{
    writes_unguard(&s->learned, &s->addresses);
}

bool gp_snapshot_guards(const struct gp_snapshot *s)
{
    return s->guards;
}

bool gp_snapshot_is_divided(const struct gp_snapshot *s)
{
    return s->divided_count > 0;
}

bool gp_held_copy_has_parts(const struct gp_held_copy *copy)
{
    return copy->order != 0;
}

bool gp_held_copy_is_of_gpus(const struct gp_held_copy *copy)
{
    return copy->of_gpus;
}

CUresult gp_held_copy_note_on(struct gp_snapshot *s, const struct gp_held_copy *copy,
                              CUstream stream, bool per_thread)
{
    return snapshot_start_units(&s->own.digest_few, &copy->segments, stream, per_thread);
}

/* ---- copies and fills of the program --------------------------------------------------------- */

static void set_edges(const struct gp_divided *d, CUdeviceptr to, uint64_t bytes, uint64_t *from,
                      uint64_t *end)
{
    *from = to / GP_UNIT_BYTES * GP_UNIT_BYTES;
    *end = (to + bytes + GP_UNIT_BYTES - 1) / GP_UNIT_BYTES * GP_UNIT_BYTES;
    if (*from < d->first)
        *from = 0;
    if (*end > d->first + d->units * GP_UNIT_BYTES)
        *end = 0;
}

/* Saves units for the launches that are held, as a launch would. */
static bool save_units(struct gp_snapshot *s, struct gp_divided *d, uint64_t from, uint64_t end,
                       CUstream stream)
{
    const CUdeviceptr digests = d->digests + (from - d->first) / GP_UNIT_BYTES * sizeof(uint64_t);
    uint64_t bytes = end - from, saved = 0;
    divide_begin(s);
    reached_clear(&s->reached);
    segments_clear(&s->restored);
    segments_clear(&s->watched);
    arena_clear(&s->arena);
    s->reached.bytes = bytes;
    s->reached.needed = arena_need(bytes);
    if (!add(s, d) || !held_copy_has_room(s))
        return false;
    saved = arena_take(&s->arena, from, &bytes);
    if (!saved || bytes < end - from || !segments_add(&s->restored, from, saved, bytes, from))
        return false;
    segments_note_digests(&s->restored, digests);
    struct gp_held_copy *copy = held_copy_make(s);
    if (!copy)
        return false;
    held_copy_note_stream(copy, stream, false);
    CUresult result = snapshot_save_few(s, &copy->segments, copy->number, stream, false);
    if (result != CUDA_SUCCESS)
        versions_spoil_all(s);
    gp_snapshot_release(s, copy); /* the log has it, while launches are held */
    return true;
}

bool gp_snapshot_follow_write(struct gp_snapshot *s, CUdeviceptr to, uint64_t bytes,
                              CUstream stream, struct gp_followed_write *followed)
{
    struct gp_divided *d = divided_around(s, to);
    uint64_t from, end;
    if (!d)
        return false;
    set_edges(d, to, bytes, &from, &end);
    if (!from || !end)
        return false;
    const bool was_in_use = gp_snapshot_set_in_use(s, true);
    const bool saved =
        d->known && d->digests && (!d->pending || (s->held && save_units(s, d, from, end, stream)));
    if (saved)
        divided_follow_begins();
    gp_snapshot_set_in_use(s, was_in_use);
    if (!saved)
        return false;
    *followed = (struct gp_followed_write){
        .count = 1,
        .units = (end - from) / GP_UNIT_BYTES,
        .stream = stream,
        .digest = s->own.digest_few.function,
        .blocks = s->own.digest_few.blocks,
    };
    followed->few.of[0] = (struct gp_segment){
        .live = from,
        .bytes = end - from,
        .start = from,
        .digests = d->digests + (from - d->first) / GP_UNIT_BYTES * sizeof(uint64_t)};
    return true;
}

void gp_followed_write_ends(const struct gp_followed_write *f)
{
    struct gp_few_segments few = f->few;
    uint32_t count = f->count;
    uint64_t units = f->units;
    void *arguments[] = {&few, &count, &units};
    /* Where it does not start the digests are wrong, which shows. */
    own_kernel_start_on(f->stream, false, f->digest,
                        units < f->blocks ? (unsigned)units : f->blocks, GP_UNIT_THREADS,
                        arguments);
}

void gp_followed_write_done(void)
{
    divided_follow_ends();
}
