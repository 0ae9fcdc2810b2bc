/* How far the reach of a kernel can be relied upon: when to verify whether it wrote elsewhere. That
 * costs two readings of all memory the program has, so a kernel is watched closely at first and now
 * and then afterwards. */
#include "launch/inside.h"

#include <string.h>

#define FIRST_CHANGES 5
#define FIRST_REGULAR 10

/* 10, 30, 100, 300, ... */
static uint64_t after(uint64_t launch)
{
    uint64_t power = FIRST_REGULAR;
    while (power <= launch / 10)
        power *= 10;
    return launch == power ? 3 * power : 10 * power;
}

static uint64_t next_of(const struct gp_verify_schedule *schedule)
{
    return schedule->next ? schedule->next : FIRST_REGULAR;
}

static bool is_changed(const struct gp_verify_schedule *schedule, const unsigned grid[3])
{
    return memcmp(schedule->grid, grid, sizeof(schedule->grid)) != 0;
}

bool verify_is_needed(const struct gp_verify_schedule *schedule, const unsigned grid[3])
{
    return schedule->launches < GP_VERIFY_FIRST ||
           (is_changed(schedule, grid) && schedule->changes < FIRST_CHANGES);
}

bool verify_is_due(const struct gp_verify_schedule *schedule, const unsigned grid[3])
{
    return schedule->launches + 1 == next_of(schedule) || verify_is_needed(schedule, grid);
}

void verify_count(struct gp_verify_schedule *schedule, const unsigned grid[3])
{
    uint64_t launch = ++schedule->launches;
    if (launch == next_of(schedule))
        schedule->next = after(launch);
    else if (launch > GP_VERIFY_FIRST && is_changed(schedule, grid) &&
             schedule->changes < FIRST_CHANGES)
        schedule->changes++;
    memcpy(schedule->grid, grid, sizeof(schedule->grid));
}
