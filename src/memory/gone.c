#include "memory/gone.h"

#include <string.h>

/* Ranges that are listed: a program may free memory for long while a stream waits. */
#define MOST_LISTED 65536

void gp_gone_clear(struct gp_gone *gone)
{
    gp_ranges_clear(&gone->ranges);
}

void gp_gone_add(struct gp_gone *gone, uint64_t address, uint64_t bytes)
{
    const struct gp_range range = {address, address + bytes};
    if (!gone->ranges.count)
        gp_gone_clear(gone);
    gp_ranges_add(&gone->ranges, range, (struct gp_range_facts){.went = ++gone->now});
    if (gone->ranges.complete && gone->ranges.count <= MOST_LISTED)
        return;
    gp_ranges_clear(&gone->ranges);
    gone->lost = gone->now;
}

bool gp_gone_after(const struct gp_gone *gone, uint64_t time, bool *known)
{
    *known = time >= gone->lost;
    return gone->now > time;
}

void gp_gone_free(struct gp_gone *gone, bool context_alive)
{
    gp_ranges_free(&gone->ranges);
    gp_lookup_free(&gone->lookup, context_alive);
    memset(gone, 0, sizeof(*gone));
}
