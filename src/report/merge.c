#include "report/merge.h"

#include <stdbool.h>
#include <string.h>

void gp_merge_begin(struct gp_merge *m)
{
    memset(m->now, 0, sizeof(m->now));
}

/* With any numbers. */
static bool are_alike(const struct gp_device *a, const struct gp_device *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->chip, b->chip) == 0 &&
           a->cc_major == b->cc_major && a->cc_minor == b->cc_minor && a->sm_count == b->sm_count &&
           a->clock_khz == b->clock_khz && a->memory_clock_khz == b->memory_clock_khz &&
           a->memory_bus_bits == b->memory_bus_bits && a->total_memory == b->total_memory &&
           a->event_counters == b->event_counters && a->simulated == b->simulated;
}

/* Its index in the list; the last one where the list is full. */
static int index_of(struct gp_merge *m, const struct gp_device *device)
{
    for (int i = 0; i < m->count; i++)
        if (m->originals[i] == device->ordinal && are_alike(&m->devices[i], device))
            return i;
    if (m->count == GP_MAX_DEVICES)
        return GP_MAX_DEVICES - 1;
    m->devices[m->count] = *device;
    m->devices[m->count].ordinal = m->count;
    m->originals[m->count] = device->ordinal;
    return m->count++;
}

const struct gp_device *gp_merge_device(struct gp_merge *m, const struct gp_device *device)
{
    int index = index_of(m, device);
    if (device->ordinal >= 0 && device->ordinal < GP_MAX_DEVICES)
        m->now[device->ordinal] = index + 1;
    return &m->devices[index];
}

int gp_merge_number(const struct gp_merge *m, int ordinal)
{
    bool known = ordinal >= 0 && ordinal < GP_MAX_DEVICES && m->now[ordinal] > 0;
    return known ? m->now[ordinal] - 1 : ordinal;
}
