/* The ranges of a context as our kernels see them: a table on the device by which they find the
 * range of a pointer, and the list of the ranges that they found. Owns that device memory. Used
 * with the context current. */
#include "memory/inside.h"

#include <string.h>

static CUresult make_table(struct gp_lookup *l)
{
    if (l->table)
        return CUDA_SUCCESS;
    CUresult result =
        own_memory(&l->table, sizeof(struct gp_table) + sizeof(((struct gp_ranges *)0)->high));
    l->copy.high = l->table + sizeof(struct gp_table);
    return result;
}

CUresult lookup_list_led(struct gp_lookup *l, struct gp_ranges *ranges)
{
    if (l->copy.led)
        return CUDA_SUCCESS;
    CUdeviceptr list;
    CUresult result = own_memory(&list, GP_MOST_LED * sizeof(uint64_t));
    if (result != CUDA_SUCCESS)
        return result;
    l->copy.led = list;
    if (ranges->changed_from > ranges->count)
        ranges->changed_from = ranges->count; /* the table has changed */
    return CUDA_SUCCESS;
}

/* A new array has nothing of the old one's contents. */
static CUresult make_arrays(struct gp_lookup *l, struct gp_ranges *ranges, CUstream stream)
{
    if (l->arrays && ranges->count <= l->capacity)
        return CUDA_SUCCESS;
    if (l->arrays)
        gp_cuda.cuMemFree_v2(l->arrays);
    size_t capacity = ranges->capacity;
    size_t marks = capacity * sizeof(struct gp_range), list = marks + capacity * sizeof(uint32_t);
    CUresult result = own_memory(&l->arrays, list + capacity * sizeof(uint32_t));
    if (result != CUDA_SUCCESS) {
        l->capacity = 0;
        return result;
    }
    l->capacity = capacity;
    l->copy.ranges = l->arrays;
    l->copy.marks = l->arrays + marks;
    l->copy.list = l->arrays + list;
    ranges->changed_from = 0;
    return gp_cuda.cuMemsetD32Async(l->copy.marks, 0, capacity, stream);
}

CUresult lookup_update(struct gp_lookup *l, struct gp_ranges *ranges, CUstream stream)
{
    size_t from = ranges->changed_from, count = ranges->count;
    if (!count || (l->arrays && from == SIZE_MAX))
        return CUDA_SUCCESS;
    bool first = !l->table;
    CUresult result = make_table(l);
    if (result == CUDA_SUCCESS)
        result = make_arrays(l, ranges, stream);
    if (result != CUDA_SUCCESS)
        return result;
    from = ranges->changed_from;
    if (from < count)
        result = gp_cuda.cuMemcpyHtoDAsync_v2(l->copy.ranges + from * sizeof(*ranges->ranges),
                                              ranges->ranges + from,
                                              (count - from) * sizeof(*ranges->ranges), stream);
    if (result == CUDA_SUCCESS && (first || ranges->high_changed))
        result =
            gp_cuda.cuMemcpyHtoDAsync_v2(l->copy.high, ranges->high, sizeof(ranges->high), stream);
    l->copy.first = ranges->ranges[0].start;
    l->copy.end = ranges->ranges[count - 1].end;
    l->copy.count = count;
    if (result == CUDA_SUCCESS)
        result = gp_cuda.cuMemcpyHtoDAsync_v2(l->table, &l->copy, sizeof(l->copy), stream);
    if (result == CUDA_SUCCESS) {
        ranges->changed_from = SIZE_MAX;
        ranges->high_changed = false;
    }
    return result;
}

void lookup_free(struct gp_lookup *l, bool context_alive)
{
    if (l->table && context_alive)
        gp_cuda.cuMemFree_v2(l->table);
    if (l->arrays && context_alive)
        gp_cuda.cuMemFree_v2(l->arrays);
    if (l->copy.led && context_alive)
        gp_cuda.cuMemFree_v2(l->copy.led);
    memset(l, 0, sizeof(*l));
}
