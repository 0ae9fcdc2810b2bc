#include "memory/divided.h"

#include "base/clock.h"
#include "memory/inside.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Smaller allocations are copied whole. */
#define LEAST_BYTES GP_LARGE_BYTES
/* Addresses of the inside that are remembered; all are forgotten when there are more. */
#define MOST_CUTS 65536
/* Allocations that are remembered in a context. */
#define MOST_DIVIDED 256

/* The lock is of the list of all, and of its cuts. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_divided *all;
/* Allocations whose digests are up to date, or that a held launch reaches. */
static atomic_uint watched;
/* Writes of the program whose digests are yet to follow: until then these are not freed. */
static atomic_uint followed;
/* The whole of some allocation was checked: there may be digests of a far part. */
static atomic_bool any_checked;

static void set(struct gp_divided *d, bool known, bool pending)
{
    const bool before = d->known || d->pending, now = known || pending;
    d->known = known;
    d->pending = pending;
    if (now && !before)
        atomic_fetch_add(&watched, 1);
    else if (before && !now)
        atomic_fetch_sub(&watched, 1);
}

void divided_set_known(struct gp_divided *d, bool known)
{
    pthread_mutex_lock(&lock);
    set(d, known, d->pending);
    pthread_mutex_unlock(&lock);
}

void divided_set_pending(struct gp_divided *d, bool pending)
{
    pthread_mutex_lock(&lock);
    set(d, d->known, pending);
    pthread_mutex_unlock(&lock);
}

/* ---- the near part --------------------------------------------------------------------------- */

static uint64_t unit_of(const struct gp_divided *d, uint64_t address)
{
    return address > d->first ? (address - d->first) / GP_UNIT_BYTES : 0;
}

/* An address at the end, behind the last whole unit, is of no matter. */
static void reach_to(struct gp_divided *d, uint64_t address)
{
    const uint64_t unit = unit_of(d, address);
    if (unit < d->units && near_add(&d->near, unit))
        d->grew = true;
}

uint64_t divided_near_end(const struct gp_divided *d, uint64_t address)
{
    uint64_t from = unit_of(d, address), to;
    const uint64_t unit = from;
    pthread_mutex_lock(&lock);
    const bool near = near_next(&d->near, &from, &to) && from == unit;
    pthread_mutex_unlock(&lock);
    if (!near)
        return address;
    return to < d->units ? d->first + to * GP_UNIT_BYTES : d->end;
}

bool divided_has_far(const struct gp_divided *d)
{
    pthread_mutex_lock(&lock);
    const bool has_far = !d->grew && !near_holds(&d->near, 0, d->units);
    pthread_mutex_unlock(&lock);
    return d->far_known && has_far;
}

/* ---- writes that are no launch's ------------------------------------------------------------- */

static bool overlaps(const struct gp_divided *d, uint64_t address, uint64_t bytes)
{
    return address < d->end && d->start < address + bytes;
}

enum change { WRITTEN, WRITTEN_NEAR, FREED };

static void forget_one(struct gp_divided *d, enum change change)
{
    set(d, false, d->pending);
    d->far_known = d->far_known && change == WRITTEN_NEAR;
    if (change != FREED)
        return;
    d->cut_count = 0; /* others come to lie there */
    near_begin(&d->near, d->units);
}

/* Forgets the contents of those that are meant, where they lie; true where launches wait for the
 * next check of one of them. */
static bool forget_those(bool (*is_meant)(struct gp_divided *d, const void *of), const void *of,
                         enum change change)
{
    bool pending = false;
    struct gp_divided *d;
    pthread_mutex_lock(&lock);
    DL_FOREACH(all, d)
    {
        if (!is_meant(d, of))
            continue;
        pending = pending || d->pending;
        forget_one(d, change);
    }
    pthread_mutex_unlock(&lock);
    return pending;
}

struct span {
    uint64_t address, bytes; /* bytes 0: all memory */
};

static bool is_in_span(struct gp_divided *d, const void *span)
{
    const struct span *s = span;
    return !s->bytes || overlaps(d, s->address, s->bytes);
}

static bool forget(uint64_t address, uint64_t bytes, enum change change)
{
    const struct span span = {address, bytes};
    return forget_those(is_in_span, &span, change);
}

bool gp_divided_any(void)
{
    return atomic_load_explicit(&watched, memory_order_relaxed) > 0;
}

bool gp_divided_is_there(CUdeviceptr address)
{
    bool there = false;
    const struct gp_divided *d;
    if (!gp_divided_any())
        return false;
    pthread_mutex_lock(&lock);
    DL_FOREACH(all, d)
    {
        there = there || ((d->known || d->pending) && overlaps(d, address, 1));
    }
    pthread_mutex_unlock(&lock);
    return there;
}

struct gp_divided *divided_around(const struct gp_snapshot *s, CUdeviceptr address)
{
    struct gp_divided *d;
    pthread_mutex_lock(&lock);
    DL_FOREACH(all, d)
    {
        if (d->owner == s && overlaps(d, address, 1))
            break;
    }
    pthread_mutex_unlock(&lock);
    return d;
}

static bool is_near(uint64_t address, uint64_t bytes)
{
    bool near = bytes > 0;
    const struct gp_divided *d;
    pthread_mutex_lock(&lock);
    DL_FOREACH(all, d)
    {
        near = near &&
               (!overlaps(d, address, 1) ||
                near_holds(&d->near, unit_of(d, address), unit_of(d, address + bytes - 1) + 1));
    }
    pthread_mutex_unlock(&lock);
    return near;
}

bool gp_divided_is_written(CUdeviceptr address, uint64_t bytes)
{
    return any_checked && forget(address, 1, is_near(address, bytes) ? WRITTEN_NEAR : WRITTEN);
}

/* A launch that writes to the far part shows in the next check of the whole. */
bool gp_divided_all_written(void)
{
    return gp_divided_any() && forget(0, 0, WRITTEN_NEAR);
}

struct words {
    const void *bytes;
    size_t size;
};

/* True where a word is an address of it, or its end: a launch may go back from there. */
static bool is_led_to(struct gp_divided *d, const void *words)
{
    const struct words *w = words;
    bool led = false;
    uint64_t word;
    if (!d->known && !d->pending)
        return false;
    for (size_t at = 0; at + sizeof(word) <= w->size; at++) {
        memcpy(&word, (const char *)w->bytes + at, sizeof(word));
        if (word < d->start || word > d->end)
            continue;
        reach_to(d, word);
        led = true;
    }
    return led;
}

bool gp_divided_led_written(const void *bytes, size_t size)
{
    const struct words words = {bytes, size};
    return gp_divided_any() && forget_those(is_led_to, &words, WRITTEN_NEAR);
}

static bool is_reached_of_others(struct gp_divided *d, const void *snapshot)
{
    const struct gp_snapshot *s = snapshot;
    const struct gp_reached *r = &s->reached;
    bool reached = false;
    if (d->owner == s || (!d->known && !d->pending))
        return false;
    for (size_t i = 0; i < r->count && !reached; i++) {
        const struct gp_range *range = &r->ranges.ranges[r->list[i]];
        reached = overlaps(d, range->start, range->end - range->start);
    }
    return reached;
}

bool gp_snapshot_writes_to_others(const struct gp_snapshot *s)
{
    return gp_divided_any() && forget_those(is_reached_of_others, s, WRITTEN_NEAR);
}

bool gp_divided_is_freed(CUdeviceptr address, uint64_t bytes)
{
    return forget(address, bytes ? bytes : 1, FREED);
}

void divided_follow_begins(void)
{
    atomic_fetch_add(&followed, 1);
}

void divided_follow_ends(void)
{
    atomic_fetch_sub(&followed, 1);
}

/* ---- the allocations of a context ------------------------------------------------------------ */

static void drop(struct gp_divided *d, bool context_alive)
{
    set(d, false, false);
    DL_DELETE(all, d);
    if (context_alive)
        free_device_memory(&d->digests);
    free(d->cuts);
    free(d);
}

void divided_close(const struct gp_snapshot *s, bool context_alive)
{
    struct gp_divided *d, *next;
    pthread_mutex_lock(&lock);
    DL_FOREACH_SAFE(all, d, next)
    {
        if (d->owner == s)
            drop(d, context_alive);
    }
    pthread_mutex_unlock(&lock);
}

/* Locked. */
static unsigned count_of(const struct gp_snapshot *s)
{
    unsigned count = 0;
    const struct gp_divided *d;
    DL_FOREACH(all, d)
    {
        count += d->owner == s;
    }
    return count;
}

/* The program has freed it; where others lie there now, no launch has had an address in them. */
static bool is_gone(const struct gp_divided *d)
{
    return d->digests && !d->cut_count;
}

void divided_make_room(const struct gp_snapshot *s)
{
    struct gp_divided *d, *next;
    if (atomic_load(&followed))
        return;
    pthread_mutex_lock(&lock);
    const unsigned count = count_of(s);
    unsigned too_many = count < MOST_DIVIDED ? 0 : count / 2;
    DL_FOREACH_SAFE(all, d, next) /* the oldest ones come first */
    {
        if (d->owner != s || d->pending || d->reached || (too_many == 0 && !is_gone(d)))
            continue;
        drop(d, true);
        too_many -= too_many > 0;
    }
    pthread_mutex_unlock(&lock);
}

uint64_t divided_free_bytes(const struct gp_snapshot *s)
{
    uint64_t bytes = 0;
    const struct gp_divided *d;
    pthread_mutex_lock(&lock);
    DL_FOREACH(all, d)
    {
        if (d->owner == s && d->digests && !atomic_load(&followed))
            bytes += own_memory_takes(d->units * sizeof(uint64_t));
    }
    pthread_mutex_unlock(&lock);
    return bytes;
}

void divided_free_digests(const struct gp_snapshot *s)
{
    struct gp_divided *d;
    if (atomic_load(&followed))
        return;
    pthread_mutex_lock(&lock);
    DL_FOREACH(all, d)
    {
        if (d->owner != s)
            continue;
        forget_one(d, WRITTEN);
        free_device_memory(&d->digests);
    }
    pthread_mutex_unlock(&lock);
}

static struct gp_divided *find(const struct gp_snapshot *s, const struct gp_range *range)
{
    struct gp_divided *d;
    DL_FOREACH(all, d)
    {
        if (d->owner == s && d->start == range->start && d->end == range->end)
            return d;
    }
    return NULL;
}

static struct gp_divided *add(const struct gp_snapshot *s, const struct gp_range *range)
{
    struct gp_divided *d = count_of(s) < MOST_DIVIDED ? calloc(1, sizeof(*d)) : NULL;
    if (!d)
        return NULL;
    d->owner = s;
    d->start = range->start;
    d->end = range->end;
    d->first = (range->start + GP_UNIT_BYTES - 1) / GP_UNIT_BYTES * GP_UNIT_BYTES;
    d->units = (range->end - d->first) / GP_UNIT_BYTES;
    near_begin(&d->near, d->units);
    DL_APPEND(all, d);
    return d;
}

struct gp_divided *divided_of(const struct gp_snapshot *s, const struct gp_range *range)
{
    if (range->end - range->start < LEAST_BYTES)
        return NULL;
    pthread_mutex_lock(&lock);
    struct gp_divided *d = find(s, range);
    if (!d)
        d = add(s, range);
    pthread_mutex_unlock(&lock);
    return d;
}

bool divided_is(struct gp_divided *d)
{
    if (!d->owner->held)
        d->active = d->cut_count >= 2 || (d->cut_count == 1 && d->cuts[0] != d->start);
    return d->active;
}

bool divided_any(const struct gp_snapshot *s)
{
    bool any = false;
    const struct gp_divided *d;
    pthread_mutex_lock(&lock);
    DL_FOREACH(all, d)
    {
        any = any || (d->owner == s && d->active);
    }
    pthread_mutex_unlock(&lock);
    return any;
}

void divided_rest(const struct gp_snapshot *s, uint64_t start, uint64_t end)
{
    struct gp_divided *d;
    pthread_mutex_lock(&lock);
    DL_FOREACH(all, d)
    {
        d->active = d->active && (d->owner != s || d->end <= start || end <= d->start);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* The first cut beyond the address. */
static size_t cut_beyond(const struct gp_divided *d, uint64_t address)
{
    size_t low = 0, high = d->cut_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (d->cuts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t divided_piece_end(const struct gp_divided *d, uint64_t address)
{
    size_t next = cut_beyond(d, address);
    return next < d->cut_count ? d->cuts[next] : d->end;
}

uint64_t divided_piece_start(const struct gp_divided *d, uint64_t address)
{
    size_t next = cut_beyond(d, address);
    return next > 0 ? d->cuts[next - 1] : d->start;
}

static bool make_room_for_cut(struct gp_divided *d)
{
    if (d->cut_count == MOST_CUTS)
        d->cut_count = 0;
    if (d->cut_count < d->cut_capacity)
        return true;
    size_t capacity = d->cut_capacity ? 2 * d->cut_capacity : 16;
    uint64_t *cuts = realloc(d->cuts, capacity * sizeof(*cuts));
    if (!cuts)
        return false;
    d->cuts = cuts;
    d->cut_capacity = capacity;
    return true;
}

void divided_cut(struct gp_divided *d, uint64_t address)
{
    pthread_mutex_lock(&lock);
    reach_to(d, address);
    size_t at = cut_beyond(d, address);
    if ((at == 0 || d->cuts[at - 1] != address) && make_room_for_cut(d)) {
        at = cut_beyond(d, address);
        memmove(d->cuts + at + 1, d->cuts + at, (d->cut_count - at) * sizeof(*d->cuts));
        d->cuts[at] = address;
        d->cut_count++;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- digests --------------------------------------------------------------------------------- */

static CUresult make_digests(struct gp_divided *d)
{
    return d->digests ? CUDA_SUCCESS : own_memory(&d->digests, d->units * sizeof(uint64_t));
}

/* The bits of changed units, on the device and on the host. */
static CUresult make_bits(struct gp_digests *g, uint64_t units)
{
    const size_t words = (units + 31) / 32;
    if (words <= g->words)
        return CUDA_SUCCESS;
    g->words = 0;
    free_device_memory(&g->bits);
    free(g->host_bits);
    g->host_bits = malloc(words * sizeof(*g->host_bits));
    if (!g->host_bits)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = own_memory(&g->bits, words * sizeof(*g->host_bits));
    if (result == CUDA_SUCCESS)
        g->words = words;
    return result;
}

static CUresult make_answer(struct gp_digests *g)
{
    if (g->answer)
        return CUDA_SUCCESS;
    CUresult result = own_memory(&g->answer, sizeof(struct gp_digests_answer));
    return result == CUDA_SUCCESS
               ? gp_cuda.cuMemsetD32_v2(g->answer, 0, sizeof(struct gp_digests_answer) / 4)
               : result;
}

void digests_free(struct gp_digests *g, bool context_alive)
{
    if (context_alive) {
        free_device_memory(&g->bits);
        free_device_memory(&g->answer);
    }
    free(g->host_bits);
    memset(g, 0, sizeof(*g));
}

/* The units that a check reads. */
struct stretch {
    uint64_t from, to;
};

static CUresult check_stretch(struct gp_snapshot *s, const struct gp_divided *d, struct stretch of)
{
    uint64_t first = d->first + of.from * GP_UNIT_BYTES, units = of.to - of.from;
    CUdeviceptr digests = d->digests + of.from * sizeof(uint64_t);
    CUdeviceptr bits = s->digests.bits + of.from / 32 * sizeof(uint32_t);
    void *arguments[] = {&first, &units, &digests, &bits, &s->digests.answer};
    return own_kernel_start(&s->own, &s->own.check_digests, units, arguments);
}

/* The next stretch of the near part, or of all. */
static bool next_stretch(const struct gp_divided *d, bool near, struct stretch *at)
{
    const bool is_first = at->to == 0;
    at->from = at->to;
    at->to = d->units;
    if (!near)
        return is_first && d->units > 0;
    pthread_mutex_lock(&lock);
    const bool any = near_next(&d->near, &at->from, &at->to);
    pthread_mutex_unlock(&lock);
    return any;
}

/* Stretches that are checked: a word of bits holds 32 units. */
#define UNITS_A_WORD 32

struct checking {
    const struct gp_divided *of;
    CUresult result;
};

/* A part that is saved and lies in the far part, or some of it: writes of others show before the
 * launch, as its digests are brought up to date behind it. */
static bool check_far_part(struct gp_snapshot *s, uint64_t from, uint64_t to, CUdeviceptr digests,
                           void *checking)
{
    struct checking *c = checking;
    const struct gp_divided *d = c->of;
    if (!digests)
        return true; /* an edge of the allocation */
    struct stretch part = {unit_of(d, from), unit_of(d, to - 1) + 1};
    pthread_mutex_lock(&lock);
    const bool near = near_holds(&d->near, part.from, part.to);
    pthread_mutex_unlock(&lock);
    if (near)
        return true;
    part.from = part.from / UNITS_A_WORD * UNITS_A_WORD;
    part.to = (part.to + UNITS_A_WORD - 1) / UNITS_A_WORD * UNITS_A_WORD;
    part.to = part.to < d->units ? part.to : d->units;
    c->result = check_stretch(s, d, part);
    return c->result == CUDA_SUCCESS;
}

static CUresult start_check(struct gp_snapshot *s, const struct gp_divided *d, bool near)
{
    struct gp_digests *g = &s->digests;
    struct stretch at = {0, 0};
    const size_t words = (d->units + 31) / 32;
    const CUdeviceptr changed = g->answer + offsetof(struct gp_digests_answer, changed);
    CUresult result = gp_cuda.cuMemsetD32Async(g->bits, 0, words, s->own.stream);
    if (result == CUDA_SUCCESS)
        result = gp_cuda.cuMemsetD32Async(changed, 0, 1, s->own.stream);
    while (result == CUDA_SUCCESS && next_stretch(d, near, &at))
        result = check_stretch(s, d, at);
    struct checking c = {d, result};
    if (result == CUDA_SUCCESS && near && s->saves_parts)
        divide_each_part(s, d, check_far_part, &c);
    return c.result;
}

/* A part of the answer of the kernels so far. */
static CUresult fetch(const struct gp_snapshot *s, void *to, size_t at, size_t bytes)
{
    CUresult result =
        gp_cuda.cuMemcpyDtoHAsync_v2(to, s->digests.answer + at, bytes, s->own.stream);
    CUresult waited = gp_cuda.cuStreamSynchronize(s->own.stream);
    return result != CUDA_SUCCESS ? result : waited;
}

static CUresult fetch_check(struct gp_snapshot *s, uint32_t *changed)
{
    struct gp_digests *g = &s->digests;
    CUresult result =
        fetch(s, changed, offsetof(struct gp_digests_answer, changed), sizeof(*changed));
    if (result != CUDA_SUCCESS || !*changed)
        return result;
    result = gp_cuda.cuMemcpyDtoHAsync_v2(
        g->host_bits, g->bits, (g->checked + 31) / 32 * sizeof(*g->host_bits), s->own.stream);
    CUresult waited = gp_cuda.cuStreamSynchronize(s->own.stream);
    return result != CUDA_SUCCESS ? result : waited;
}

/* Before the first check all units differ from digests that nobody has made. */
static void take_far_changes(const struct gp_snapshot *s, struct gp_divided *d)
{
    const uint32_t *bits = s->digests.host_bits;
    pthread_mutex_lock(&lock);
    for (uint64_t u = 0; u < d->units; u++) {
        if (u % 32 == 0 && !bits[u / 32])
            u += 31;
        else if (bits[u / 32] >> u % 32 & 1)
            near_add_changed(&d->near, u);
    }
    pthread_mutex_unlock(&lock);
}

static bool check(struct gp_snapshot *s, struct gp_divided *d, bool near, bool *changed,
                  struct gp_reason *why)
{
    uint32_t units = 0;
    const double began = gp_clock_seconds();
    *changed = false;
    s->digests.checked = d->units;
    if (!driver_worked(make_digests(d), why) ||
        !driver_worked(make_bits(&s->digests, s->digests.checked), why) ||
        !driver_worked(make_answer(&s->digests), why) ||
        !driver_worked(start_check(s, d, near), why) || !driver_worked(fetch_check(s, &units), why))
        return false;
    *changed = units != 0;
    s->digests.seconds += gp_clock_seconds() - began;
    return true;
}

bool divided_check(struct gp_snapshot *s, struct gp_divided *d, bool *changed,
                   struct gp_reason *why)
{
    const bool was_known = d->far_known;
    d->far_known = true; /* as of now: a write may come beside the check */
    any_checked = true;
    if (!check(s, d, false, changed, why)) {
        d->far_known = false;
        return false;
    }
    if (*changed && was_known)
        take_far_changes(s, d);
    return true;
}

void divided_grew_no_more(struct gp_divided *d)
{
    pthread_mutex_lock(&lock);
    d->grew = false;
    pthread_mutex_unlock(&lock);
}

bool divided_check_near(struct gp_snapshot *s, struct gp_divided *d, bool *changed,
                        struct gp_reason *why)
{
    return check(s, d, true, changed, why);
}

/* Seconds that checks may take: at first, and for each launch that asks, which is as many as ncu
 * takes for one. */
#define FIRST_SECONDS 10.0
#define SECONDS_A_LAUNCH 0.1

bool gp_snapshot_affords_parts(struct gp_snapshot *s)
{
    s->digests.launches++;
    return s->digests.seconds <= FIRST_SECONDS + SECONDS_A_LAUNCH * (double)s->digests.launches;
}

CUresult digests_alarms(struct gp_snapshot *s, struct gp_alarm **list, uint32_t *count)
{
    const size_t at = offsetof(struct gp_digests_answer, alarms);
    *list = NULL;
    *count = 0;
    if (!s->digests.answer)
        return CUDA_SUCCESS;
    CUresult result = fetch(s, count, at, sizeof(*count));
    if (result != CUDA_SUCCESS || !*count)
        return result;
    result = gp_cuda.cuMemsetD32Async(s->digests.answer + at, 0, 1, s->own.stream);
    if (result != CUDA_SUCCESS || *count > GP_MOST_ALARMS)
        return result;
    struct gp_alarm *alarms = malloc(*count * sizeof(*alarms));
    result = alarms ? fetch(s, alarms, offsetof(struct gp_digests_answer, alarm),
                            *count * sizeof(*alarms))
                    : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        *list = alarms;
    else
        free(alarms);
    return result;
}

void divided_each_change(const struct gp_snapshot *s, const struct gp_divided *d,
                         divided_change *visit, void *data)
{
    const uint32_t *bits = s->digests.host_bits;
    const uint64_t units = s->digests.checked;
    for (uint64_t u = 0; u < units;) {
        if (!bits[u / 32]) {
            u = (u / 32 + 1) * 32;
            continue;
        }
        if (!(bits[u / 32] >> u % 32 & 1)) {
            u++;
            continue;
        }
        uint64_t end = u + 1;
        while (end < units && (bits[end / 32] >> end % 32 & 1))
            end++;
        visit(d, d->first + u * GP_UNIT_BYTES, d->first + end * GP_UNIT_BYTES, data);
        u = end;
    }
}
