/* The counters of the diagnosis (counters/diagnosis_set.h) of a few launches: pass by pass all of
 * them, each from its copy. Used with the gate locked, while the collection's session is away. */
#include "launch/inside.h"

#include "counters/diagnosis_set.h"
#include "cuda/cupti.h"

#include <stdlib.h>

/* A launch that cannot run again costs itself alone; false where nothing more can be counted. */
static bool count_launch(struct gp_diagnosis_set *set, unsigned pass, unsigned number,
                         struct gp_measurement *m, bool *lost, struct gp_reason *why)
{
    *lost = !rewind_memory(m, false);
    if (*lost)
        return true;
    if (!gp_diagnosis_set_begin(set, pass, number, &m->member.run, why))
        return false;
    const bool ran = rehearse_launch(m);
    *why = gp_reason_or(m->broken_off, GP_REASON(LAUNCH_FAILED));
    if (!context_goes_on(m->context) || !gp_diagnosis_set_end(set, why))
        return false;
    *lost = !ran;
    return true;
}

static bool count_pass(struct gp_diagnosis_set *set, unsigned pass, const struct gp_chosen *list,
                       unsigned count, bool lost[GP_MOST_DIAGNOSED], struct gp_reason *why)
{
    bool goes_on = true;
    for (unsigned i = 0; goes_on && i < count; i++) {
        struct gp_measurement *m = list[i].launch;
        const struct gp_reason before = m->broken_off;
        if (!lost[i])
            goes_on = count_launch(set, pass, i, m, &lost[i], why);
        m->broken_off = before;
    }
    return goes_on;
}

static void keep_counters(const struct gp_diagnosis_set *set, unsigned number,
                          struct gp_measurement *m, size_t count)
{
    struct gp_counter *counters = calloc(count, sizeof(*counters));
    if (counters && gp_diagnosis_set_read(set, number, counters)) {
        m->more_counters = counters;
        m->more_count = count;
    } else {
        free(counters);
    }
}

static bool count_all(struct gp_diagnosis_set *set, const struct gp_chosen *list, unsigned count,
                      size_t names, struct gp_reason *why)
{
    bool lost[GP_MOST_DIAGNOSED] = {false}, counted = true;
    for (unsigned pass = 0; counted && pass < gp_diagnosis_set_passes(set); pass++)
        counted = count_pass(set, pass, list, count, lost, why);
    if (!counted || !gp_diagnosis_set_settle(set, why))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!lost[i])
            keep_counters(set, i, list[i].launch, names);
    return true;
}

/* Launches for which CUPTI has no room may have their turn in a later batch. */
static unsigned note_launches(const struct gp_diagnosis_set *set, const struct gp_chosen *list,
                              size_t count)
{
    const unsigned room = gp_diagnosis_set_launches(set);
    const unsigned taken = room < count ? room : (unsigned)count;
    for (unsigned i = 0; i < taken; i++)
        tally_note_diagnosed(list[i].launch->kernel->name, list[i].launch->context->device.ordinal,
                             &list[i].launch->call->configuration);
    return taken;
}

/* To end the session would be to wait for a kernel that has not ended: it stays, and so does
 * CUPTI. */
static void close_set(struct gp_diagnosis_set *set, const struct gp_context *c)
{
    if (c->busy)
        gp_cupti_lose(GP_REASON_TEXT(BESIDE_WORK, "a kernel that was diagnosed did not end"));
    else
        gp_diagnosis_set_close(set, !c->dead);
}

bool diagnosis_count(struct gp_context *c, const struct gp_chosen *list, size_t count,
                     struct gp_reason *why)
{
    const char **names = NULL;
    size_t name_count = 0;
    *why = GP_REASON(NO_MEMORY);
    if (!gp_metrics_diagnosis_counters(results_metrics(), &c->device, &names, &name_count))
        return false;
    struct gp_diagnosis_set *set =
        name_count > 0
            ? gp_diagnosis_set_open(c->handle, &c->device, names, name_count, (unsigned)count, why)
            : NULL;
    bool counted = name_count == 0; /* other metrics were asked for */
    if (set) {
        counted = count_all(set, list, note_launches(set, list, count), name_count, why);
        close_set(set, c);
    }
    free(names);
    return counted;
}
