#include "launch/trust.h"

#include <string.h>

#define FIRST_LAUNCHES 3
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

static uint64_t next_of(const struct gp_trust *trust)
{
    return trust->next ? trust->next : FIRST_REGULAR;
}

static bool is_changed(const struct gp_trust *trust, const unsigned grid[3])
{
    return memcmp(trust->grid, grid, sizeof(trust->grid)) != 0;
}

bool gp_trust_verifies(const struct gp_trust *trust, const unsigned grid[3])
{
    uint64_t launch = trust->launches + 1;
    return launch <= FIRST_LAUNCHES || launch == next_of(trust) ||
           (is_changed(trust, grid) && trust->changes < FIRST_CHANGES);
}

void gp_trust_count(struct gp_trust *trust, const unsigned grid[3])
{
    uint64_t launch = ++trust->launches;
    if (launch == next_of(trust))
        trust->next = after(launch);
    else if (launch > FIRST_LAUNCHES && is_changed(trust, grid) && trust->changes < FIRST_CHANGES)
        trust->changes++;
    memcpy(trust->grid, grid, sizeof(trust->grid));
}

void gp_trust_break(struct gp_trust *trust)
{
    trust->broken = true;
}

bool gp_trust_is_broken(const struct gp_trust *trust)
{
    return trust->broken;
}
