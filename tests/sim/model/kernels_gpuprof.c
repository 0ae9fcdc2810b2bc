/* gpuprof's own device code, in C: the same as its embedded fatbin on a real GPU. One block per
 * unit there; here the grid's size does not matter, all units are done in order.
 *
 * The assumptions of the real code are checked here: a mistake that a GPU would only answer with
 * wrong results ends the launch with an error. */
#include <stdlib.h>
#include <string.h>

#include "memory/work.h"
#include "model/kernel.h"

static uint64_t param64(const struct gpusim_grid *grid, unsigned i)
{
    uint64_t value;

    memcpy(&value, grid->params + grid->param_at[i], sizeof(value));
    return value;
}

static uint32_t param32(const struct gpusim_grid *grid, unsigned i)
{
    uint32_t value;

    memcpy(&value, grid->params + grid->param_at[i], sizeof(value));
    return value;
}

/* Where the bytes at an address are, and how many of them lie side by side there: neighbours for a
 * kernel may be kept in different positions. */
static unsigned char *stretch(struct gpusim_grid *grid, uint64_t address, uint64_t *bytes)
{
    struct gpusim_stretch s;

    if (!grid->space.find(grid->space.self, address, &s))
        return NULL;
    if (*bytes > s.end - address)
        *bytes = s.end - address;
    return (unsigned char *)(s.host + (uintptr_t)(address - s.start));
}

/* ---- segments ---- */

/* A piece of a segment; saved is NULL where it has no copy. */
typedef enum gpusim_outcome visit(struct gpusim_grid *grid, const struct gp_segment *segment,
                                  uint64_t address, unsigned char *live, unsigned char *saved,
                                  uint64_t bytes, void *data);

static enum gpusim_outcome visit_segment(struct gpusim_grid *grid, const struct gp_segment *s,
                                         uint64_t from, uint64_t to, visit *visit, void *data)
{
    while (from < to) {
        uint64_t bytes = to - from;
        unsigned char *saved = NULL, *live = stretch(grid, from, &bytes);
        enum gpusim_outcome outcome;
        if (live && s->saved)
            saved = stretch(grid, s->saved + (from - s->live), &bytes);
        if (!live || (s->saved && !saved))
            return GPUSIM_ILLEGAL_ADDRESS;
        outcome = visit(grid, s, from, live, saved, bytes, data);
        if (outcome != GPUSIM_RAN)
            return outcome;
        from += bytes;
    }
    return GPUSIM_RAN;
}

/* The units from begin to before end: the part of each segment that they are. */
static enum gpusim_outcome each_piece_of(struct gpusim_grid *grid,
                                         const struct gp_segment *segments, uint32_t count,
                                         uint64_t begin, uint64_t end, visit *visit, void *data)
{
    enum gpusim_outcome outcome = GPUSIM_RAN;
    uint64_t units = 0;

    if (!count || !segments)
        return GPUSIM_ILLEGAL_ADDRESS;
    if (grid->block.x != GP_UNIT_THREADS || begin >= end)
        return GPUSIM_TRAPPED;
    for (uint32_t i = 0; i < count && outcome == GPUSIM_RAN; i++) {
        struct gp_segment s = segments[i];
        uint64_t base = s.live / 16 * 16, last = s.live + s.bytes;
        uint64_t own = (s.live % 16 + s.bytes + GP_UNIT_BYTES - 1) / GP_UNIT_BYTES;
        if (s.bytes == 0 || s.first_unit != units || s.start > s.live)
            return GPUSIM_TRAPPED;
        if (s.saved && (s.saved - s.live) % GP_COPY_ALIGNMENT != 0)
            return GPUSIM_MISALIGNED_ADDRESS;
        for (uint64_t u = 0; u < own && outcome == GPUSIM_RAN; u++) {
            uint64_t from = base + u * GP_UNIT_BYTES, to = from + GP_UNIT_BYTES;
            if (units + u < begin || units + u >= end)
                continue;
            outcome = visit_segment(grid, &segments[i], from < s.live ? s.live : from,
                                    to < last ? to : last, visit, data);
        }
        units += own;
    }
    return end > units ? GPUSIM_TRAPPED : outcome;
}

static enum gpusim_outcome each_piece(struct gpusim_grid *grid, uint64_t begin, uint64_t end,
                                      visit *visit, void *data)
{
    uint32_t count = param32(grid, 1);
    const struct gp_segment *segments =
        gpusim_grid_memory(grid, param64(grid, 0), count * sizeof(*segments));

    return each_piece_of(grid, segments, count, begin, end, visit, data);
}

/* ---- pointers ---- */

struct search {
    const struct gp_table *table;
    const struct gp_range *ranges;
    uint32_t *marks, *list;
    const uint32_t *high;
    uint64_t *led;
    struct gp_answer *answer;
    uint32_t round;
    bool wrong_index, wrong_count;
};

static enum gpusim_outcome open_search(struct gpusim_grid *grid, struct search *s)
{
    s->table = gpusim_grid_memory(grid, param64(grid, 4), sizeof(*s->table));
    s->answer = gpusim_grid_memory(grid, param64(grid, 5), sizeof(*s->answer));
    s->round = param32(grid, 6);
    s->wrong_index = grid->wrong_index;
    s->wrong_count = grid->wrong_count;
    if (!s->table || !s->answer || !s->table->count)
        return GPUSIM_ILLEGAL_ADDRESS;
    s->ranges = gpusim_grid_memory(grid, s->table->ranges, s->table->count * sizeof(*s->ranges));
    s->marks = gpusim_grid_memory(grid, s->table->marks, s->table->count * sizeof(*s->marks));
    s->list = gpusim_grid_memory(grid, s->table->list, s->table->count * sizeof(*s->list));
    s->high = gpusim_grid_memory(grid, s->table->high, GP_HIGH_HALVES / 8);
    s->led = NULL;
    if (s->table->led)
        s->led = gpusim_grid_memory(grid, s->table->led, GP_MOST_LED * sizeof(*s->led));
    if (!s->ranges || !s->marks || !s->list || !s->high || (s->table->led && !s->led))
        return GPUSIM_ILLEGAL_ADDRESS;
    for (uint64_t i = 0; i < s->table->count; i++) {
        const struct gp_range *r = &s->ranges[i];
        if (r->end <= r->start || (i > 0 && r->start < r[-1].end))
            return GPUSIM_TRAPPED;
    }
    if (s->table->first != s->ranges[0].start ||
        s->table->end != s->ranges[s->table->count - 1].end)
        return GPUSIM_TRAPPED;
    return GPUSIM_RAN;
}

static void found(const struct search *s, uint64_t range)
{
    if (s->marks[range] == s->round)
        return;
    uint32_t index = s->wrong_index ? 0x7fffffffu : (uint32_t)range;
    s->marks[range] = s->round;
    if (s->wrong_count) {
        s->answer->found = 0x7fffffffu;
        return;
    }
    if (s->answer->found < GP_FOUND_AT_ONCE)
        s->answer->at_once[s->answer->found] = index;
    s->list[s->answer->found++] = index;
}

static void note_led(const struct search *s, uint64_t address)
{
    if (!s->led || s->answer->led > GP_MOST_LED)
        return;
    if (s->answer->led < GP_MOST_LED)
        s->led[s->answer->led] = address;
    s->answer->led++;
}

static void look_up(const struct search *s, uint64_t address)
{
    uint64_t low = 0, high = s->table->count;
    uint32_t half = (uint32_t)(address >> 32);

    if (address < s->table->first || address > s->table->end)
        return;
    if (half < GP_HIGH_HALVES && !(s->high[half / 32] >> half % 32 & 1))
        return;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (s->ranges[middle].start <= address)
            low = middle;
        else
            high = middle;
    }
    if (address <= s->ranges[low].end)
        found(s, low);
    if (address < s->ranges[low].end && s->ranges[low].end - s->ranges[low].start >= GP_LARGE_BYTES)
        note_led(s, address);
    if (low > 0 && s->ranges[low].start == address && s->ranges[low - 1].end == address)
        found(s, low - 1);
}

/* Words whose upper half begins in this piece. */
static void follow(struct gpusim_grid *grid, const struct gp_segment *segment, uint64_t address,
                   const unsigned char *live, uint64_t bytes, const struct search *s)
{
    uint32_t least = (uint32_t)(s->table->first >> 32), most = (uint32_t)(s->table->end >> 32);

    for (uint64_t at = (address + 3) / 4 * 4; at + 4 <= address + bytes; at += 4) {
        uint32_t low, high;
        uint64_t four = 4;
        const unsigned char *before;
        memcpy(&high, live + (at - address), 4);
        if (high < least || high > most || at - segment->start < 4)
            continue;
        before = stretch(grid, at - 4, &four);
        if (!before || four != 4)
            continue;
        memcpy(&low, before, 4);
        look_up(s, (uint64_t)high << 32 | low);
    }
}

/* ---- the kernels ---- */

static enum gpusim_outcome copy_piece(struct gpusim_grid *grid, const struct gp_segment *segment,
                                      uint64_t address, unsigned char *live, unsigned char *saved,
                                      uint64_t bytes, void *search)
{
    if (!saved)
        return GPUSIM_ILLEGAL_ADDRESS;
    if (saved != live) /* memory that is its own copy is only searched */
        memmove(saved, live, bytes);
    grid->moved_bytes += bytes;
    if (search)
        follow(grid, segment, address, live, bytes, search);
    return GPUSIM_RAN;
}

static enum gpusim_outcome copy(struct gpusim_grid *grid)
{
    return each_piece(grid, param64(grid, 2), param64(grid, 3), copy_piece, NULL);
}

static enum gpusim_outcome copy_few(struct gpusim_grid *grid)
{
    struct gp_few_segments few;
    uint32_t count = param32(grid, 1);

    memcpy(&few, grid->params + grid->param_at[0], sizeof(few));
    if (count > GP_FEW_SEGMENTS)
        return GPUSIM_TRAPPED;
    return each_piece_of(grid, few.of, count, 0, param64(grid, 2), copy_piece, NULL);
}

static enum gpusim_outcome copy_and_follow(struct gpusim_grid *grid)
{
    struct search search;
    enum gpusim_outcome outcome = open_search(grid, &search);

    if (outcome != GPUSIM_RAN)
        return outcome;
    return each_piece(grid, param64(grid, 2), param64(grid, 3), copy_piece, &search);
}

struct rewinding {
    bool restore;
    uint64_t changed;
};

static enum gpusim_outcome rewind_piece(struct gpusim_grid *grid, const struct gp_segment *segment,
                                        uint64_t address, unsigned char *live, unsigned char *saved,
                                        uint64_t bytes, void *data)
{
    struct rewinding *r = data;

    (void)segment;
    (void)address;
    if (!saved)
        return GPUSIM_ILLEGAL_ADDRESS;
    for (uint64_t at = 0; at < bytes; at += 16) {
        uint64_t size = bytes - at < 16 ? bytes - at : 16;
        if (memcmp(live + at, saved + at, size) == 0)
            continue;
        r->changed += size;
        if (r->restore && !grid->broken_restore) /* switched on to prove that tests notice */
            memcpy(live + at, saved + at, size);
    }
    return GPUSIM_RAN;
}

static enum gpusim_outcome compare(struct gpusim_grid *grid)
{
    struct rewinding r = {.restore = false};
    struct gp_answer *answer = gpusim_grid_memory(grid, param64(grid, 3), sizeof(*answer));
    enum gpusim_outcome outcome;

    if (!answer)
        return GPUSIM_ILLEGAL_ADDRESS;
    outcome = each_piece(grid, 0, param64(grid, 2), rewind_piece, &r);
    if (r.changed)
        answer->watched = 1;
    return outcome;
}

static enum gpusim_outcome rewind_all(struct gpusim_grid *grid)
{
    struct rewinding r = {.restore = true};
    struct gp_answer *answer = gpusim_grid_memory(grid, param64(grid, 3), sizeof(*answer));
    enum gpusim_outcome outcome;

    if (!answer)
        return GPUSIM_ILLEGAL_ADDRESS;
    if (answer->watched)
        return GPUSIM_RAN;
    outcome = each_piece(grid, 0, param64(grid, 2), rewind_piece, &r);
    answer->changed_bytes += r.changed;
    return outcome;
}

/* ---- changes by the program's own run ---- */

struct keeping {
    struct gpusim_grid *grid;
    struct gp_answer *answer;
    uint32_t *positions; /* by unit */
    uint64_t device, host;
    uint32_t on_device, capacity;
    uint64_t changed;
};

static uint64_t unit_base(const struct gp_segment *s, uint64_t address)
{
    uint64_t base = s->live / 16 * 16;
    return base + (address - base) / GP_UNIT_BYTES * GP_UNIT_BYTES;
}

static uint64_t unit_number(const struct gp_segment *s, uint64_t address)
{
    return s->first_unit + (address - s->live / 16 * 16) / GP_UNIT_BYTES;
}

/* The copy of the bytes at an address of a unit that has a position. */
static unsigned char *kept_bytes(const struct keeping *k, const struct gp_segment *s,
                                 uint64_t address, uint64_t bytes)
{
    uint32_t position = k->positions[unit_number(s, address)] - 1;
    uint64_t at = position < k->on_device
                      ? k->device + (uint64_t)position * GP_UNIT_BYTES
                      : k->host + (uint64_t)(position - k->on_device) * GP_UNIT_BYTES;
    return gpusim_grid_memory(k->grid, at + (address - unit_base(s, address)), bytes);
}

static enum gpusim_outcome claim_piece(struct gpusim_grid *grid, const struct gp_segment *segment,
                                       uint64_t address, unsigned char *live, unsigned char *saved,
                                       uint64_t bytes, void *data)
{
    struct keeping *k = data;
    uint32_t *position = &k->positions[unit_number(segment, address)];

    (void)grid;
    if (!saved)
        return GPUSIM_ILLEGAL_ADDRESS;
    if (*position || memcmp(live, saved, bytes) == 0)
        return GPUSIM_RAN;
    if (k->answer->kept < k->capacity)
        *position = k->answer->kept + 1;
    k->answer->kept++;
    return GPUSIM_RAN;
}

static enum gpusim_outcome keep_piece(struct gpusim_grid *grid, const struct gp_segment *segment,
                                      uint64_t address, unsigned char *live, unsigned char *saved,
                                      uint64_t bytes, void *data)
{
    struct keeping *k = data;
    unsigned char *kept;

    (void)grid;
    (void)saved;
    if (!k->positions[unit_number(segment, address)])
        return GPUSIM_RAN;
    kept = kept_bytes(k, segment, address, bytes);
    if (!kept)
        return GPUSIM_ILLEGAL_ADDRESS;
    memcpy(kept, live, bytes);
    return GPUSIM_RAN;
}

static enum gpusim_outcome rewind_kept_piece(struct gpusim_grid *grid,
                                             const struct gp_segment *segment, uint64_t address,
                                             unsigned char *live, unsigned char *saved,
                                             uint64_t bytes, void *data)
{
    struct keeping *k = data;
    struct rewinding r = {.restore = true};
    enum gpusim_outcome outcome = GPUSIM_RAN;

    if (k->positions[unit_number(segment, address)])
        outcome = rewind_piece(grid, segment, address, live, saved, bytes, &r);
    k->changed += r.changed;
    return outcome;
}

static enum gpusim_outcome put_back_piece(struct gpusim_grid *grid,
                                          const struct gp_segment *segment, uint64_t address,
                                          unsigned char *live, unsigned char *saved, uint64_t bytes,
                                          void *data)
{
    const struct keeping *k = data;
    const unsigned char *from = saved;

    if (k->positions[unit_number(segment, address)])
        from = kept_bytes(k, segment, address, bytes);
    if (!from)
        return GPUSIM_ILLEGAL_ADDRESS;
    if (!grid->broken_restore)
        memcpy(live, from, bytes);
    return GPUSIM_RAN;
}

static enum gpusim_outcome keep(struct gpusim_grid *grid)
{
    uint64_t units = param64(grid, 2);
    struct keeping k = {.grid = grid,
                        .answer = gpusim_grid_memory(grid, param64(grid, 3), sizeof(*k.answer)),
                        .positions = gpusim_grid_memory(grid, param64(grid, 4), 4 * units),
                        .device = param64(grid, 5),
                        .host = param64(grid, 6),
                        .on_device = param32(grid, 7),
                        .capacity = param32(grid, 8)};
    enum gpusim_outcome outcome;

    if (!k.answer || !k.positions)
        return GPUSIM_ILLEGAL_ADDRESS;
    if (k.answer->watched)
        return GPUSIM_RAN;
    outcome = each_piece(grid, 0, units, claim_piece, &k);
    return outcome == GPUSIM_RAN ? each_piece(grid, 0, units, keep_piece, &k) : outcome;
}

static enum gpusim_outcome rewind_kept(struct gpusim_grid *grid)
{
    uint64_t units = param64(grid, 2);
    struct keeping k = {.grid = grid,
                        .answer = gpusim_grid_memory(grid, param64(grid, 3), sizeof(*k.answer)),
                        .positions = gpusim_grid_memory(grid, param64(grid, 4), 4 * units)};
    enum gpusim_outcome outcome;

    if (!k.answer || !k.positions)
        return GPUSIM_ILLEGAL_ADDRESS;
    if (k.answer->watched || k.answer->kept > param32(grid, 5))
        return GPUSIM_RAN;
    outcome = each_piece(grid, 0, units, rewind_kept_piece, &k);
    k.answer->changed_bytes += k.changed;
    return outcome;
}

static enum gpusim_outcome put_back(struct gpusim_grid *grid)
{
    uint64_t units = param64(grid, 2);
    struct keeping k = {.grid = grid,
                        .positions = gpusim_grid_memory(grid, param64(grid, 3), 4 * units),
                        .device = param64(grid, 4),
                        .host = param64(grid, 5),
                        .on_device = param32(grid, 6)};

    if (!k.positions)
        return GPUSIM_ILLEGAL_ADDRESS;
    return each_piece(grid, 0, units, put_back_piece, &k);
}

/* ---- hashes ---- */

struct hashing {
    const struct gp_segment *segments;
    uint64_t *hashes;
};

/* One-to-one for each position: a change of one word always shows. */
static uint64_t mixed(uint64_t word, uint64_t position)
{
    word = (word ^ position * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    return word ^ word >> 29;
}

static enum gpusim_outcome hash_piece(struct gpusim_grid *grid, const struct gp_segment *segment,
                                      uint64_t address, unsigned char *live, unsigned char *saved,
                                      uint64_t bytes, void *data)
{
    const struct hashing *h = data;
    uint64_t sum = 0;

    (void)grid;
    (void)saved;
    /* By words that lie at multiples of their size, and bytes beside them. */
    for (uint64_t i = 0; i < bytes;) {
        uint64_t at = address + i, word = live[i], size = 1;
        if (at % sizeof(word) == 0 && bytes - i >= sizeof(word))
            memcpy(&word, live + i, size = sizeof(word));
        sum += mixed(word, at);
        i += size;
    }
    h->hashes[segment - h->segments] += sum;
    return GPUSIM_RAN;
}

static enum gpusim_outcome hash(struct gpusim_grid *grid)
{
    uint32_t count = param32(grid, 1);
    struct hashing h;

    h.segments = gpusim_grid_memory(grid, param64(grid, 0), count * sizeof(*h.segments));
    h.hashes = gpusim_grid_memory(grid, param64(grid, 3), count * sizeof(*h.hashes));
    if (!h.segments || !h.hashes)
        return GPUSIM_ILLEGAL_ADDRESS;
    return each_piece(grid, 0, param64(grid, 2), hash_piece, &h);
}

static enum gpusim_outcome compare_hashes(struct gpusim_grid *grid)
{
    uint32_t count = param32(grid, 2);
    const uint64_t *before = gpusim_grid_memory(grid, param64(grid, 0), count * sizeof(*before));
    const uint64_t *after = gpusim_grid_memory(grid, param64(grid, 1), count * sizeof(*after));
    struct gp_answer *answer = gpusim_grid_memory(grid, param64(grid, 3), sizeof(*answer));

    if (!before || !after || !answer)
        return GPUSIM_ILLEGAL_ADDRESS;
    for (uint32_t i = 0; i < count; i++)
        answer->elsewhere += before[i] != after[i];
    return GPUSIM_RAN;
}

/* ---- digests of units ---- */

/* The hash of a whole unit at `live`, of which `from` may be a copy. False for an illegal address.
 */
static bool unit_digest(struct gpusim_grid *grid, uint64_t live, uint64_t from, uint64_t *digest)
{
    *digest = 0;
    for (uint64_t done = 0; done < GP_UNIT_BYTES;) {
        uint64_t bytes = GP_UNIT_BYTES - done;
        const unsigned char *at = stretch(grid, from + done, &bytes);
        if (!at || bytes % 8)
            return false;
        for (uint64_t i = 0; i < bytes; i += 8) {
            uint64_t word;
            memcpy(&word, at + i, sizeof(word));
            *digest += mixed(word, live + done + i);
        }
        done += bytes;
    }
    return true;
}

struct unit {
    uint64_t live, saved;
    uint64_t *digest;
};

typedef enum gpusim_outcome visit_unit(struct gpusim_grid *grid, const struct unit *unit,
                                       uint64_t now, void *data);

/* Each unit of a few segments that has a digest; with its hash, or that of its copy. */
static enum gpusim_outcome each_digest(struct gpusim_grid *grid, bool of_copy, visit_unit *visit,
                                       void *data)
{
    struct gp_few_segments few;
    uint32_t count = param32(grid, 1);

    memcpy(&few, grid->params + grid->param_at[0], sizeof(few));
    if (count > GP_FEW_SEGMENTS)
        return GPUSIM_TRAPPED;
    for (uint32_t i = 0; i < count; i++) {
        const struct gp_segment *s = &few.of[i];
        uint64_t units = s->bytes / GP_UNIT_BYTES, now;
        uint64_t *digests;
        if (!s->digests)
            continue;
        if (s->live % GP_UNIT_BYTES || s->bytes % GP_UNIT_BYTES)
            return GPUSIM_TRAPPED;
        digests = gpusim_grid_memory(grid, s->digests, units * sizeof(*digests));
        if (!digests)
            return GPUSIM_ILLEGAL_ADDRESS;
        for (uint64_t u = 0; u < units; u++) {
            const struct unit unit = {s->live + u * GP_UNIT_BYTES, s->saved + u * GP_UNIT_BYTES,
                                      &digests[u]};
            enum gpusim_outcome outcome;
            if (!unit_digest(grid, unit.live, of_copy ? unit.saved : unit.live, &now))
                return GPUSIM_ILLEGAL_ADDRESS;
            outcome = visit(grid, &unit, now, data);
            if (outcome != GPUSIM_RAN)
                return outcome;
        }
    }
    return GPUSIM_RAN;
}

static enum gpusim_outcome compare_digest(struct gpusim_grid *grid, const struct unit *unit,
                                          uint64_t now, void *data)
{
    struct gp_digests_answer *answer = data;

    if (*unit->digest == now)
        return GPUSIM_RAN;
    if (answer->alarms < GP_MOST_ALARMS)
        answer->alarm[answer->alarms] = (struct gp_alarm){unit->live, param64(grid, 4)};
    answer->alarms++;
    return GPUSIM_RAN;
}

static enum gpusim_outcome save_few(struct gpusim_grid *grid)
{
    struct gp_digests_answer *answer = gpusim_grid_memory(grid, param64(grid, 3), sizeof(*answer));
    enum gpusim_outcome outcome = answer ? copy_few(grid) : GPUSIM_ILLEGAL_ADDRESS;

    return outcome == GPUSIM_RAN ? each_digest(grid, true, compare_digest, answer) : outcome;
}

static enum gpusim_outcome set_digest(struct gpusim_grid *grid, const struct unit *unit,
                                      uint64_t now, void *data)
{
    (void)grid;
    (void)data;
    *unit->digest = now;
    return GPUSIM_RAN;
}

static enum gpusim_outcome digest_few(struct gpusim_grid *grid)
{
    return each_digest(grid, false, set_digest, NULL);
}

/* A unit that is not as its digest says is as its copy again. */
static enum gpusim_outcome put_unit_right(struct gpusim_grid *grid, const struct unit *unit,
                                          uint64_t now, void *data)
{
    void *to;
    const void *from;

    (void)data;
    grid->moved_bytes += GP_UNIT_BYTES;
    if (*unit->digest == now)
        return GPUSIM_RAN;
    grid->moved_bytes += GP_UNIT_BYTES;
    to = gpusim_grid_memory(grid, unit->live, GP_UNIT_BYTES);
    from = gpusim_grid_memory(grid, unit->saved, GP_UNIT_BYTES);
    if (!to || !from)
        return GPUSIM_ILLEGAL_ADDRESS;
    memcpy(to, from, GP_UNIT_BYTES);
    return GPUSIM_RAN;
}

static enum gpusim_outcome put_right(struct gpusim_grid *grid)
{
    return each_digest(grid, param64(grid, 3) != 0, put_unit_right, NULL);
}

static enum gpusim_outcome check_digests(struct gpusim_grid *grid)
{
    uint64_t live = param64(grid, 0), units = param64(grid, 1), now;
    uint64_t *digests = gpusim_grid_memory(grid, param64(grid, 2), units * sizeof(*digests));
    uint32_t *changed =
        gpusim_grid_memory(grid, param64(grid, 3), (units + 31) / 32 * sizeof(*changed));
    struct gp_digests_answer *answer = gpusim_grid_memory(grid, param64(grid, 4), sizeof(*answer));

    if (!digests || !changed || !answer)
        return GPUSIM_ILLEGAL_ADDRESS;
    if (live % GP_UNIT_BYTES)
        return GPUSIM_TRAPPED;
    for (uint64_t u = 0; u < units; u++) {
        uint64_t at = live + u * GP_UNIT_BYTES;
        if (!unit_digest(grid, at, at, &now))
            return GPUSIM_ILLEGAL_ADDRESS;
        if (digests[u] == now)
            continue;
        digests[u] = now;
        changed[u / 32] |= 1u << u % 32;
        answer->changed++;
    }
    return GPUSIM_RAN;
}

/* Reading changes nothing but the caches; the driver tells the model which range went through. */
static enum gpusim_outcome read_all(struct gpusim_grid *grid)
{
    uint64_t bytes = param64(grid, 1);

    if (bytes && !gpusim_grid_memory(grid, param64(grid, 0), bytes))
        return GPUSIM_ILLEGAL_ADDRESS;
    if (!gpusim_grid_memory(grid, param64(grid, 2), sizeof(uint32_t)))
        return GPUSIM_ILLEGAL_ADDRESS;
    grid->swept_address = param64(grid, 0);
    grid->swept_bytes = bytes;
    return GPUSIM_RAN;
}

/* Time passes on the GPU alone. */
static enum gpusim_outcome pause_stream(struct gpusim_grid *grid)
{
    (void)grid;
    return GPUSIM_RAN;
}

#define DEFINE_WHOLE(name_, function, ...)                   \
    extern const struct gpusim_kernel gpusim_kernel_##name_; \
    const struct gpusim_kernel gpusim_kernel_##name_ = {     \
        .name = #name_,                                      \
        .whole = function,                                   \
        .params = sizeof((uint16_t[]){__VA_ARGS__}) / 2,     \
        .param_size = {__VA_ARGS__},                         \
    }

DEFINE_WHOLE(gp_copy, copy, 8, 4, 8, 8);
DEFINE_WHOLE(gp_copy_few, copy_few, sizeof(struct gp_few_segments), 4, 8);
DEFINE_WHOLE(gp_save_few, save_few, sizeof(struct gp_few_segments), 4, 8, 8, 8);
DEFINE_WHOLE(gp_digest_few, digest_few, sizeof(struct gp_few_segments), 4, 8);
DEFINE_WHOLE(gp_put_right, put_right, sizeof(struct gp_few_segments), 4, 8, 8);
DEFINE_WHOLE(gp_check_digests, check_digests, 8, 8, 8, 8, 8);
DEFINE_WHOLE(gp_copy_and_follow, copy_and_follow, 8, 4, 8, 8, 8, 8, 4);
DEFINE_WHOLE(gp_compare, compare, 8, 4, 8, 8);
DEFINE_WHOLE(gp_rewind, rewind_all, 8, 4, 8, 8);
DEFINE_WHOLE(gp_keep, keep, 8, 4, 8, 8, 8, 8, 8, 4, 4);
DEFINE_WHOLE(gp_rewind_kept, rewind_kept, 8, 4, 8, 8, 8, 4);
DEFINE_WHOLE(gp_put_back, put_back, 8, 4, 8, 8, 8, 8, 4);
DEFINE_WHOLE(gp_hash, hash, 8, 4, 8, 8);
DEFINE_WHOLE(gp_compare_hashes, compare_hashes, 8, 8, 4, 8);
DEFINE_WHOLE(gp_read_all, read_all, 8, 8, 8);
DEFINE_WHOLE(gp_pause, pause_stream, 8);
