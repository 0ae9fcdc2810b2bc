#include "report/means.h"

#include <stdlib.h>
#include <string.h>

#define TOO_FEW \
    GP_REASON_TEXT(COUNTED_ELSEWHERE, "no launch was left to count it in (each counts a part)")

bool gp_wanted_find(struct gp_wanted *wanted, const struct gp_metrics *m,
                    const struct gp_device *device)
{
    memset(wanted, 0, sizeof(*wanted));
    if (!gp_metrics_counters(m, device, &wanted->names, &wanted->count))
        return false;
    wanted->means = calloc(wanted->count + 1, sizeof(*wanted->means));
    return wanted->means != NULL;
}

void gp_wanted_free(struct gp_wanted *wanted)
{
    free(wanted->names);
    free(wanted->means);
    memset(wanted, 0, sizeof(*wanted));
}

static const struct gp_counter *find(const struct gp_record *launch, const char *name)
{
    for (size_t i = 0; i < launch->counter_count; i++)
        if (launch->counters[i].name == name)
            return &launch->counters[i];
    for (size_t i = 0; i < launch->counter_count; i++)
        if (strcmp(launch->counters[i].name, name) == 0)
            return &launch->counters[i];
    return NULL;
}

/* Why it is absent, if no launch has it; none where it is only counted elsewhere. */
static struct gp_reason reason_of(const struct gp_counter *counter)
{
    const enum gp_cause cause = counter->absent.cause;
    if (!gp_cause_is_elsewhere(cause))
        return counter->absent;
    return cause == GP_CAUSE_COUNTED_ELSEWHERE ? GP_NO_REASON : gp_reason_of(cause);
}

bool gp_launch_is_in_part(const struct gp_record *launch)
{
    for (size_t i = 0; i < launch->counter_count; i++)
        if (gp_cause_is_elsewhere(launch->counters[i].absent.cause))
            return true;
    return false;
}

void gp_means_add(struct gp_mean *means, const struct gp_wanted *wanted,
                  const struct gp_record *launch,
                  struct gp_reason (*keep)(void *user, struct gp_reason why), void *user)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const struct gp_counter *counter = find(launch, wanted->names[i]);
        if (!counter)
            continue;
        if (!counter->absent.cause) {
            means[i].sum += counter->value;
            means[i].count++;
        } else if (!means[i].absent.cause && reason_of(counter).cause) {
            means[i].absent = keep(user, reason_of(counter));
        }
    }
}

struct gp_record gp_means_launch(const struct gp_mean *means, const struct gp_wanted *wanted,
                                 const struct gp_record *launch)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const struct gp_reason absent = gp_reason_or(means[i].absent, TOO_FEW);
        wanted->means[i] = means[i].count > 0
                               ? (struct gp_counter){.name = wanted->names[i],
                                                     .value = means[i].sum / (double)means[i].count}
                               : (struct gp_counter){.name = wanted->names[i], .absent = absent};
    }
    struct gp_record mean = *launch;
    mean.counters = wanted->means;
    mean.counter_count = wanted->count;
    return mean;
}
