/* The segments of a list in order of address: hundreds of pieces are looked up for each pass. Owns
 * the order. */
#include "memory/inside.h"

#include <stdlib.h>
#include <string.h>

/* How many of them begin below the address. */
static size_t count_below(const struct gp_segment_order *order, const struct gp_segments *segments,
                          uint64_t address)
{
    size_t low = 0, high = order->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (segments->list[order->at[middle]].live < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct gp_segment *order_find(const struct gp_segment_order *order,
                                    const struct gp_segments *segments,
                                    const struct gp_segment *wanted)
{
    const size_t below = count_below(order, segments, wanted->live + wanted->bytes);
    if (below == 0)
        return NULL;
    const struct gp_segment *last = &segments->list[order->at[below - 1]];
    return last->live + last->bytes > wanted->live ? last : NULL;
}

bool order_add_last(struct gp_segment_order *order, const struct gp_segments *segments)
{
    if (order->count == order->capacity) {
        const size_t capacity = order->capacity ? 2 * order->capacity : 64;
        uint32_t *at = realloc(order->at, capacity * sizeof(*at));
        if (!at)
            return false;
        order->at = at;
        order->capacity = capacity;
    }
    const size_t last = segments->count - 1;
    const size_t index = count_below(order, segments, segments->list[last].live);
    memmove(order->at + index + 1, order->at + index, (order->count - index) * sizeof(*order->at));
    order->at[index] = (uint32_t)last;
    order->count++;
    return true;
}

void order_cut(struct gp_segment_order *order, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < order->count; i++)
        if (order->at[i] < count)
            order->at[left++] = order->at[i];
    order->count = left;
}

void order_free(struct gp_segment_order *order)
{
    free(order->at);
    *order = (struct gp_segment_order){0};
}
