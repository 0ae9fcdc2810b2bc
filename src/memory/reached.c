/* The ranges that a launch reaches, each once: those that its parameters, its module's variables
 * and the contents of these point into. Owns the table of ranges and the list. */
#include "memory/inside.h"

#include "code/address_words.h"
#include "memory/modules.h"

#include <stdlib.h>
#include <string.h>

/* Addresses below this are not taken for pointers to the host's own memory: an executable that is
 * not position-independent lies among the numbers that kernels are given as sizes. */
#define LEAST_PAGEABLE ((uint64_t)1 << 32)

static bool make_marks(struct gp_reached *r)
{
    if (r->ranges.count <= r->marks_capacity)
        return true;
    size_t capacity = r->ranges.capacity;
    uint32_t *marks = realloc(r->marks, capacity * sizeof(*marks));
    if (!marks)
        return false;
    memset(marks + r->marks_capacity, 0, (capacity - r->marks_capacity) * sizeof(*marks));
    r->marks = marks;
    r->marks_capacity = capacity;
    return true;
}

void reached_clear(struct gp_reached *r)
{
    r->round++;
    r->count = r->roots = 0;
    r->seen = SIZE_MAX; /* so far it is all of them */
    r->out_of_memory = false;
    r->not_ours = GP_NO_REASON;
    r->others_rest = r->of_gpus = r->barred = false;
    r->bytes = r->needed = 0;
}

bool reached_update(struct gp_reached *r, CUcontext context, CUdevice device)
{
    return ranges_update(&r->ranges, context, device) && make_marks(r);
}

void reached_free(struct gp_reached *r)
{
    ranges_free(&r->ranges);
    free(r->list);
    free(r->marks);
}

static void note_not_ours(struct gp_reached *r, const struct gp_range_facts *facts)
{
    const bool barred = facts->not_ours.cause && !facts->of_gpus;
    r->of_gpus = r->of_gpus || facts->of_gpus;
    r->barred = r->barred || barred;
    if (barred || (facts->of_gpus && !r->others_rest && !r->barred))
        r->not_ours = facts->not_ours;
}

void reach_range(size_t range, void *reached)
{
    struct gp_reached *r = reached;
    if (r->marks[range] == r->round)
        return;
    const struct gp_range_facts *facts = &r->ranges.facts[range];
    note_not_ours(r, facts);
    if (facts->not_ours.cause && !(facts->of_gpus && r->others_rest))
        return;
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 64;
        size_t *list = realloc(r->list, capacity * sizeof(*list));
        if (!list) {
            r->out_of_memory = true;
            return;
        }
        r->list = list;
        r->capacity = capacity;
    }
    r->marks[range] = r->round;
    r->list[r->count++] = range;
    uint64_t bytes = r->ranges.ranges[range].end - r->ranges.ranges[range].start;
    r->bytes += bytes;
    r->needed += arena_need(bytes);
}

void reach_all(struct gp_reached *r)
{
    for (size_t i = 0; i < r->ranges.count; i++)
        reach_range(i, r);
}

bool reached_is_ours(const struct gp_reached *r, struct gp_reason *why)
{
    if (r->not_ours.cause)
        *why = r->not_ours;
    return !r->not_ours.cause;
}

bool reached_all_is_ours(struct gp_reached *r, struct gp_reason *why)
{
    for (size_t i = 0; i < r->ranges.count; i++)
        note_not_ours(r, &r->ranges.facts[i]);
    return reached_is_ours(r, why);
}

bool gp_reach_may_be_address(const struct gp_reach *launch, size_t at, uint64_t value)
{
    return !gp_is_low_address(value) || !launch->address_words ||
           gp_address_words_may(launch->address_words, at);
}

bool reach_from_parameters(struct gp_reached *r, const struct gp_reach *launch, bool pageable,
                           struct gp_reason *why)
{
    const char *bytes = launch->parameters;
    uint64_t word;
    for (size_t at = 0; at + sizeof(word) <= launch->parameters_size; at++) {
        memcpy(&word, bytes + at, sizeof(word));
        if (!gp_reach_may_be_address(launch, at, word))
            continue;
        size_t found[2];
        unsigned count = ranges_find(&r->ranges, word, found);
        for (unsigned i = 0; i < count; i++)
            reach_range(found[i], r);
        if (pageable && !count && at % 4 == 0 && word >= LEAST_PAGEABLE && host_is_readable(word)) {
            *why = GP_REASON_TEXT(HOST_MEMORY,
                                  "a parameter points to host memory that is not page-locked");
            return false;
        }
    }
    return true;
}

static bool reach_from_module(struct gp_reached *r, const void *module)
{
    return ranges_of(&r->ranges, gp_module_is_loaded(module) ? module : NULL, reach_range, r);
}

bool reach_from_modules(struct gp_reached *r, const struct gp_reach *launch)
{
    bool listed = reach_from_module(r, launch->module);
    for (unsigned i = 0; listed && i < launch->more_module_count; i++)
        listed = reach_from_module(r, launch->more_modules[i]);
    return listed;
}

/* The ranges after the seen reach are there in case the launch reaches more; the host may well be
 * using managed memory of that kind. */
bool reached_is_watched(const struct gp_reached *r, size_t index)
{
    enum gp_buffer_kind kind = r->ranges.facts[r->list[index]].kind;
    return kind == GP_BUFFER_HOST || (kind == GP_BUFFER_MANAGED && index >= r->seen);
}
