#include "report/means.h"

#include <stdlib.h>
#include <string.h>

static const char too_few[] = "no launch was left to count it in (each counts a part)";

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

static bool is_elsewhere(const struct gp_counter *counter)
{
    return counter->absent &&
           strncmp(counter->absent, GP_COUNTED_ELSEWHERE, strlen(GP_COUNTED_ELSEWHERE)) == 0;
}

/* Why it is absent, if no launch has it: the text behind that it is counted elsewhere. NULL where
 * there is none. */
static const char *reason_of(const struct gp_counter *counter)
{
    const char *why = counter->absent + (is_elsewhere(counter) ? strlen(GP_COUNTED_ELSEWHERE) : 0);
    if (why == counter->absent)
        return why;
    return strncmp(why, ": ", 2) == 0 ? why + 2 : NULL;
}

bool gp_launch_is_in_part(const struct gp_record *launch)
{
    for (size_t i = 0; i < launch->counter_count; i++)
        if (is_elsewhere(&launch->counters[i]))
            return true;
    return false;
}

void gp_means_add(struct gp_mean *means, const struct gp_wanted *wanted,
                  const struct gp_record *launch, const char *(*keep)(void *user, const char *why),
                  void *user)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const struct gp_counter *counter = find(launch, wanted->names[i]);
        if (!counter)
            continue;
        if (!counter->absent) {
            means[i].sum += counter->value;
            means[i].count++;
        } else if (!means[i].absent && reason_of(counter)) {
            means[i].absent = keep(user, reason_of(counter));
        }
    }
}

struct gp_record gp_means_launch(const struct gp_mean *means, const struct gp_wanted *wanted,
                                 const struct gp_record *launch)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const char *absent = means[i].absent ? means[i].absent : too_few;
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
