/* A list of pieces of memory for our kernels to work on, on the host and on the device. Owns both.
 */
#include "memory/inside.h"

#include <stdlib.h>
#include <string.h>

static uint64_t units_of(uint64_t live, uint64_t bytes)
{
    return (live % 16 + bytes + GP_UNIT_BYTES - 1) / GP_UNIT_BYTES;
}

bool segments_add(struct gp_segments *s, uint64_t live, uint64_t saved, uint64_t bytes,
                  uint64_t start)
{
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 64;
        struct gp_segment *list = realloc(s->list, capacity * sizeof(*list));
        if (!list)
            return false;
        s->list = list;
        s->capacity = capacity;
    }
    s->list[s->count++] = (struct gp_segment){
        .live = live, .saved = saved, .bytes = bytes, .start = start, .first_unit = s->units};
    s->units += units_of(live, bytes);
    return true;
}

static bool is_behind(const struct gp_segment *last, uint64_t live, uint64_t saved,
                      uint64_t digests)
{
    const uint64_t units = last->bytes / GP_UNIT_BYTES;
    return last->bytes % GP_UNIT_BYTES == 0 && last->live + last->bytes == live &&
           last->saved + last->bytes == saved &&
           digests == (last->digests ? last->digests + units * sizeof(uint64_t) : 0);
}

bool segments_add_units(struct gp_segments *s, uint64_t live, uint64_t saved, uint64_t bytes,
                        uint64_t digests)
{
    struct gp_segment *last = s->count ? &s->list[s->count - 1] : NULL;
    if (last && is_behind(last, live, saved, digests)) {
        last->bytes += bytes;
        s->units = last->first_unit + units_of(last->live, last->bytes);
        return true;
    }
    if (!segments_add(s, live, saved, bytes, live))
        return false;
    segments_note_digests(s, digests);
    return true;
}

void segments_note_digests(struct gp_segments *s, uint64_t digests)
{
    s->list[s->count - 1].digests = digests;
}

void segments_clear(struct gp_segments *s)
{
    s->count = s->on_device = 0;
    s->units = s->units_done = 0;
}

void segments_cut(struct gp_segments *s, size_t count)
{
    if (count < s->count)
        s->units = s->list[count].first_unit;
    s->count = count;
}

bool segments_reach(const struct gp_segments *s, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < s->count; i++)
        if (address < s->list[i].live + s->list[i].bytes && s->list[i].live < address + bytes)
            return true;
    return false;
}

bool segments_copy(struct gp_segments *s, const struct gp_segments *other)
{
    segments_clear(s);
    if (other->count > s->capacity) {
        struct gp_segment *list = realloc(s->list, other->count * sizeof(*list));
        if (!list)
            return false;
        s->list = list;
        s->capacity = other->count;
    }
    if (other->count)
        memcpy(s->list, other->list, other->count * sizeof(*s->list));
    s->count = other->count;
    s->units = s->units_done = other->units;
    return true;
}

CUresult segments_upload(struct gp_segments *s, CUstream stream)
{
    if (s->count > s->device_capacity) {
        if (s->table)
            gp_cuda.cuMemFree_v2(s->table);
        s->on_device = s->device_capacity = 0;
        CUresult result = own_memory(&s->table, s->capacity * sizeof(*s->list));
        if (result != CUDA_SUCCESS)
            return result;
        s->device_capacity = s->capacity;
    }
    if (s->on_device == s->count)
        return CUDA_SUCCESS;
    size_t from = s->on_device;
    s->on_device = s->count;
    return gp_cuda.cuMemcpyHtoDAsync_v2(s->table + from * sizeof(*s->list), s->list + from,
                                        (s->count - from) * sizeof(*s->list), stream);
}

void segments_free(struct gp_segments *s, bool context_alive)
{
    if (s->table && context_alive)
        gp_cuda.cuMemFree_v2(s->table);
    free(s->list);
    memset(s, 0, sizeof(*s));
}
