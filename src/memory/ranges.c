/* The buffers that kernels of one context can write, in order of address, to find that of a
 * pointer. Follows the list of buffers from change to change. Owns the table.
 *
 * A range is a buffer, except that mappings side by side are one: memory that grows by mapping more
 * of it behind is used across the borders. Where one of them is not ours, none of them is. Not for
 * several threads at once. */
#include "memory/inside.h"

#include <stdlib.h>
#include <string.h>

/* A variable: where, and of which module. In order of module. */
struct gp_owner {
    const void *owner;
    uint64_t start;
};

/* The number of ranges that begin at or before the address. */
static size_t count_before(const struct gp_ranges *r, uint64_t address)
{
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

unsigned ranges_find(const struct gp_ranges *r, uint64_t address, size_t found[2])
{
    unsigned count = 0;
    if (!r->count || address < r->ranges[0].start || address > r->ranges[r->count - 1].end)
        return 0;
    size_t before = count_before(r, address);
    if (before > 0 && address <= r->ranges[before - 1].end)
        found[count++] = before - 1;
    if (before > 1 && r->ranges[before - 1].start == address &&
        r->ranges[before - 2].end == address)
        found[count++] = before - 2;
    return count;
}

static void changed_at(struct gp_ranges *r, size_t index)
{
    if (index < r->changed_from)
        r->changed_from = index;
}

static void note_high(struct gp_ranges *r, const struct gp_range *range)
{
    for (uint64_t high = range->start >> 32; high <= range->end >> 32 && high < GP_HIGH_HALVES;
         high++) {
        uint32_t bit = 1u << high % 32;
        r->high_changed = r->high_changed || !(r->high[high / 32] & bit);
        r->high[high / 32] |= bit;
    }
}

static void remove_at(struct gp_ranges *r, size_t index)
{
    size_t behind = r->count - index - 1;
    r->bytes -= r->ranges[index].end - r->ranges[index].start;
    r->owners_known = r->owners_known && r->facts[index].kind != GP_BUFFER_GLOBAL;
    memmove(&r->ranges[index], &r->ranges[index + 1], behind * sizeof(*r->ranges));
    memmove(&r->facts[index], &r->facts[index + 1], behind * sizeof(*r->facts));
    r->count--;
    changed_at(r, index);
}

static bool make_room(struct gp_ranges *r)
{
    if (r->count < r->capacity)
        return true;
    size_t capacity = r->capacity ? 2 * r->capacity : 256;
    struct gp_range *ranges = realloc(r->ranges, capacity * sizeof(*ranges));
    if (!ranges)
        return false;
    r->ranges = ranges;
    struct gp_range_facts *facts = realloc(r->facts, capacity * sizeof(*facts));
    if (!facts)
        return false;
    r->facts = facts;
    r->capacity = capacity;
    return true;
}

static void insert_at(struct gp_ranges *r, size_t index, struct gp_range range,
                      struct gp_range_facts facts)
{
    if (!make_room(r)) {
        r->complete = false;
        return;
    }
    size_t behind = r->count - index;
    memmove(&r->ranges[index + 1], &r->ranges[index], behind * sizeof(*r->ranges));
    memmove(&r->facts[index + 1], &r->facts[index], behind * sizeof(*r->facts));
    r->ranges[index] = range;
    r->facts[index] = facts;
    r->count++;
    r->bytes += range.end - range.start;
    r->owners_known = r->owners_known && facts.kind != GP_BUFFER_GLOBAL;
    note_high(r, &range);
    changed_at(r, index);
}

static bool is_mapping(const struct gp_ranges *r, size_t index)
{
    return r->facts[index].kind == GP_BUFFER_MAPPED;
}

static void join(struct gp_ranges *r, size_t index, struct gp_range_facts *facts)
{
    const struct gp_range_facts *other = &r->facts[index];
    const bool barred = facts->not_ours.cause && !facts->of_gpus;
    facts->of_gpus = facts->not_ours.cause
                         ? facts->of_gpus && (other->of_gpus || !other->not_ours.cause)
                         : other->of_gpus;
    if (other->not_ours.cause && !barred)
        facts->not_ours = other->not_ours;
    facts->direct = facts->direct || r->facts[index].direct;
    remove_at(r, index);
}

/* A mapping joins those it touches. */
static void join_neighbours(struct gp_ranges *r, size_t index, struct gp_range *range,
                            struct gp_range_facts *facts)
{
    if (index < r->count && is_mapping(r, index) && r->ranges[index].start == range->end) {
        range->end = r->ranges[index].end;
        join(r, index, facts);
    }
    if (index > 0 && is_mapping(r, index - 1) && r->ranges[index - 1].end == range->start) {
        range->start = r->ranges[index - 1].start;
        join(r, index - 1, facts);
    }
}

/* The address behind memory that is never copied may be that of other memory, and need not
 * count. */
static bool is_of_gpus(const struct gp_buffer *buffer)
{
    return buffer->not_ours.cause && !buffer->shared.cause && !buffer->host_writes;
}

static struct gp_range range_of(const struct gp_buffer *buffer)
{
    size_t size = buffer->size;
    if (buffer->not_ours.cause && !is_of_gpus(buffer) && buffer->kind != GP_BUFFER_MAPPED &&
        size > 1)
        size--;
    return (struct gp_range){buffer->device_address, buffer->device_address + size};
}

static struct gp_range_facts facts_of(const struct gp_buffer *buffer)
{
    return (struct gp_range_facts){.kind = buffer->kind,
                                   .managed = buffer->managed,
                                   .direct = buffer->direct,
                                   .owner = buffer->owner,
                                   .not_ours = buffer->not_ours,
                                   .of_gpus = is_of_gpus(buffer)};
}

static void add(struct gp_ranges *r, struct gp_range range, struct gp_range_facts facts)
{
    size_t index = count_before(r, range.start);
    /* The buffer at the same address is there no more: its free passed us by. */
    if (index > 0 && r->ranges[index - 1].end > range.start)
        remove_at(r, --index);
    while (index < r->count && r->ranges[index].start < range.end)
        remove_at(r, index);
    if (facts.kind == GP_BUFFER_MAPPED) {
        join_neighbours(r, index, &range, &facts);
        index = count_before(r, range.start);
    }
    insert_at(r, index, range, facts);
}

/* Takes a buffer out; the neighbours of a mapping, which are in one range with it, remain. */
static void take(struct gp_ranges *r, const struct gp_buffer *buffer)
{
    struct gp_range gone = range_of(buffer);
    size_t index = count_before(r, gone.start);
    if (index == 0 || r->facts[index - 1].kind != buffer->kind)
        return; /* something else came to lie here */
    struct gp_range whole = r->ranges[--index];
    struct gp_range_facts facts = r->facts[index];
    bool all = whole.start == gone.start && whole.end == gone.end;
    if (!all && (buffer->kind != GP_BUFFER_MAPPED || gone.end > whole.end))
        return;
    /* Which of the neighbours was it that is not ours? */
    r->complete = r->complete && (all || !facts.not_ours.cause);
    remove_at(r, index);
    if (gone.end < whole.end)
        insert_at(r, index, (struct gp_range){gone.end, whole.end}, facts);
    if (whole.start < gone.start)
        insert_at(r, index, (struct gp_range){whole.start, gone.start}, facts);
}

static void follow(const struct gp_buffer *buffer, bool added, void *data)
{
    if (added)
        add(data, range_of(buffer), facts_of(buffer));
    else
        take(data, buffer);
}

/* ---- all anew -------------------------------------------------------------------------------- */

struct item {
    struct gp_range range;
    struct gp_range_facts facts;
    size_t order; /* in which it was allocated */
};

struct items {
    struct item *items;
    size_t count, capacity;
    bool out_of_memory;
};

static void collect(const struct gp_buffer *buffer, void *data)
{
    struct items *all = data;
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 256;
        struct item *items = realloc(all->items, capacity * sizeof(*items));
        if (!items) {
            all->out_of_memory = true;
            return;
        }
        all->items = items;
        all->capacity = capacity;
    }
    all->items[all->count] = (struct item){range_of(buffer), facts_of(buffer), all->count};
    all->count++;
}

static int by_address(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->range.start != y->range.start)
        return x->range.start < y->range.start ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Drops the older ones of items that overlap: the one allocated last is really there. */
static void drop_stale(struct items *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct item *item = &all->items[i];
        while (kept > 0 && all->items[kept - 1].range.end > item->range.start &&
               all->items[kept - 1].order < item->order)
            kept--;
        if (kept == 0 || all->items[kept - 1].range.end <= item->range.start)
            all->items[kept++] = *item;
    }
    all->count = kept;
}

static bool read_all(struct gp_ranges *r, CUcontext context, int device)
{
    struct items all = {0};
    gp_buffers_each(context, device, collect, &all);
    if (all.count)
        qsort(all.items, all.count, sizeof(*all.items), by_address);
    drop_stale(&all);
    r->count = 0;
    r->changed_from = 0;
    r->bytes = 0;
    r->owners_known = false;
    r->complete = !all.out_of_memory;
    for (size_t i = 0; i < all.count; i++)
        add(r, all.items[i].range, all.items[i].facts);
    free(all.items);
    return r->complete;
}

bool ranges_update(struct gp_ranges *r, CUcontext context, int device)
{
    bool followed = buffers_changes(&r->generation, context, device, follow, r);
    return (followed && r->complete) || read_all(r, context, device);
}

void ranges_free(struct gp_ranges *r)
{
    free(r->ranges);
    free(r->facts);
    free(r->owners);
    memset(r, 0, sizeof(*r));
}

/* ---- ranges that follow no list -------------------------------------------------------------- */

/* Takes the range's part from another one that begins at the index, if they overlap. Returns how
 * many ranges now lie there before it. */
static size_t cut_at(struct gp_ranges *r, size_t index, struct gp_range range)
{
    struct gp_range whole = r->ranges[index];
    struct gp_range_facts facts = r->facts[index];
    bool before = whole.start < range.start;
    if (whole.end <= range.start)
        return 1;
    remove_at(r, index);
    if (whole.end > range.end)
        insert_at(r, index, (struct gp_range){range.end, whole.end}, facts);
    if (before)
        insert_at(r, index, (struct gp_range){whole.start, range.start}, facts);
    return before;
}

void ranges_add(struct gp_ranges *r, struct gp_range range, struct gp_range_facts facts)
{
    size_t index = count_before(r, range.start);
    if (index > 0)
        index += cut_at(r, index - 1, range) - 1;
    while (index < r->count && r->ranges[index].start < range.end)
        cut_at(r, index, range);
    insert_at(r, index, range, facts);
}

void ranges_clear(struct gp_ranges *r)
{
    r->count = 0;
    r->bytes = 0;
    r->changed_from = 0;
    r->complete = true;
}

/* ---- variables of modules -------------------------------------------------------------------- */

static int by_owner(const void *a, const void *b)
{
    const struct gp_owner *x = a, *y = b;
    if (x->owner != y->owner)
        return (uintptr_t)x->owner < (uintptr_t)y->owner ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static bool list_owners(struct gp_ranges *r)
{
    if (r->owners_known)
        return true;
    r->owner_count = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->facts[i].kind != GP_BUFFER_GLOBAL)
            continue;
        if (r->owner_count == r->owner_capacity) {
            size_t capacity = r->owner_capacity ? 2 * r->owner_capacity : 64;
            struct gp_owner *owners = realloc(r->owners, capacity * sizeof(*owners));
            if (!owners)
                return false;
            r->owners = owners;
            r->owner_capacity = capacity;
        }
        r->owners[r->owner_count++] = (struct gp_owner){r->facts[i].owner, r->ranges[i].start};
    }
    if (r->owner_count)
        qsort(r->owners, r->owner_count, sizeof(*r->owners), by_owner);
    r->owners_known = true;
    return true;
}

bool ranges_of(struct gp_ranges *r, const void *owner, gp_range_visit *visit, void *data)
{
    if (!list_owners(r))
        return false;
    size_t low = 0, high = owner ? r->owner_count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)r->owners[middle].owner < (uintptr_t)owner)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < r->owner_count && (!owner || r->owners[i].owner == owner); i++)
        visit(count_before(r, r->owners[i].start) - 1, data);
    return true;
}
