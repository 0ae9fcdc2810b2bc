#include "cli/target.h"

#include "cli/chip.h"

#include <stdio.h>

/* CUPTI counts events up to 6.2, and ranges from 7.5 on; of those between its release decides. */
#define FIRST_WITH_RANGES 7

void cli_target_of(struct cli_target *t, int cc_major, int cc_minor)
{
    *t = (struct cli_target){.known = true};
    t->device.cc_major = cc_major;
    t->device.cc_minor = cc_minor;
    t->device.event_counters = cc_major < FIRST_WITH_RANGES;
    snprintf(t->name, sizeof(t->name), "compute capability %d.%d", cc_major, cc_minor);
}

static void set_chip(struct cli_target *t, const char *chip)
{
    snprintf(t->chip, sizeof(t->chip), "%s", chip);
    snprintf(t->name, sizeof(t->name), "%s", chip);
}

void cli_target_find(struct cli_target *target, const char *chip)
{
    struct gp_chip_here here;
    const char *why;
    *target = (struct cli_target){.device = {.cc_major = 9}};
    const struct gp_chip_name *named = chip ? gp_chip_name_find(chip) : NULL;
    if (named) {
        cli_target_of(target, named->cc_major, named->cc_minor);
        set_chip(target, named->name);
    } else if (gp_chip_find_here(&here, &why)) {
        cli_target_of(target, here.cc_major, here.cc_minor);
        if (gp_chip_name_find(here.name))
            set_chip(target, here.name);
    }
}

bool cli_target_has(const struct cli_target *target, const struct gp_metric *metric, char *why,
                    size_t why_size)
{
    if (target->known)
        return gp_metric_is_defined(metric, &target->device, why, why_size);
    const char *absent = gp_metric_absent(metric);
    if (absent)
        snprintf(why, why_size, "%s", absent);
    return !absent;
}
