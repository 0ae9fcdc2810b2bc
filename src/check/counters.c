#include "check/counters.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct gp_renaming *r, size_t count)
{
    if (count <= r->capacity)
        return true;
    struct gp_counter *counters = realloc(r->counters, count * sizeof(*counters));
    if (counters)
        r->counters = counters;
    struct gp_renamed *names = counters ? realloc(r->names, count * sizeof(*names)) : NULL;
    if (!names)
        return false;
    r->names = names;
    memset(names + r->capacity, 0, (count - r->capacity) * sizeof(*names));
    r->capacity = count;
    return true;
}

static bool look_up(struct gp_renamed *name, const struct gp_metrics *m, const char *given)
{
    free(name->given);
    name->given = strdup(given);
    name->known = name->given ? gp_metrics_counter_name(m, given) : NULL;
    return name->given != NULL;
}

bool gp_rename_counters(struct gp_renaming *r, const struct gp_metrics *m,
                        const struct gp_record *launch, struct gp_record *renamed)
{
    if (!make_room(r, launch->counter_count))
        return false;
    size_t count = 0;
    for (size_t i = 0; i < launch->counter_count; i++) {
        struct gp_renamed *name = &r->names[i];
        const char *given = launch->counters[i].name;
        if ((!name->given || strcmp(name->given, given) != 0) && !look_up(name, m, given))
            return false;
        if (!name->known)
            continue;
        r->counters[count] = launch->counters[i];
        r->counters[count++].name = name->known;
    }
    *renamed = *launch;
    renamed->counters = r->counters;
    renamed->counter_count = count;
    return true;
}

void gp_renaming_free(struct gp_renaming *r)
{
    for (size_t i = 0; i < r->capacity; i++)
        free(r->names[i].given);
    free(r->names);
    free(r->counters);
    memset(r, 0, sizeof(*r));
}
