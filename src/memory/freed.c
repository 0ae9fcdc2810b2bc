/* Memory that was freed after it was copied, before the copy was searched for pointers: a launch
 * whose copy leads there must not run again. Each range has the time of its last free. Owns the
 * list and its table on the device. One thread at a time; the table needs the context current. */
#include "memory/inside.h"

#include <string.h>

/* Ranges that are listed: a program may free memory for long while a stream waits. */
#define MOST_LISTED 65536

void freed_clear(struct gp_freed *freed)
{
    ranges_clear(&freed->ranges);
}

void freed_add(struct gp_freed *freed, uint64_t address, uint64_t bytes)
{
    const struct gp_range range = {address, address + bytes};
    if (!freed->ranges.count)
        freed_clear(freed);
    ranges_add(&freed->ranges, range, (struct gp_range_facts){.freed_at = ++freed->now});
    if (freed->ranges.complete && freed->ranges.count <= MOST_LISTED)
        return;
    ranges_clear(&freed->ranges);
    freed->lost = freed->now;
}

bool freed_after(const struct gp_freed *freed, uint64_t time, bool *known)
{
    *known = time >= freed->lost;
    return freed->now > time;
}

void freed_close(struct gp_freed *freed, bool context_alive)
{
    ranges_free(&freed->ranges);
    lookup_free(&freed->lookup, context_alive);
    memset(freed, 0, sizeof(*freed));
}
