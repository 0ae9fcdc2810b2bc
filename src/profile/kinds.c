#include "profile/kinds.h"

#include <math.h>
#include <string.h>

/* Any launch can have a time, so it does not show the kind. */
bool gp_counter_is_time(const char *counter)
{
    static const char time[] = "gpu__time_duration";
    return strncmp(counter, time, sizeof(time) - 1) == 0;
}

/* Its time may be known all the same. */
static bool is_passed_over(const struct gp_record *launch, bool lacks_counters)
{
    const enum gp_cause why = launch->skipped.cause;
    return why == GP_CAUSE_NOT_READ || why == GP_CAUSE_ADDED_LIMIT ||
           (gp_cause_is_of_launch(why) && lacks_counters);
}

struct gp_kinds gp_launch_kinds(const struct gp_record *launch)
{
    struct gp_kinds k = {.recalled_all = launch->recalled == GP_RECALLED_ALL};
    bool timed = false, lacks = false;
    /* From behind: a profile's launch has those of instrumented code first. */
    for (size_t i = launch->counter_count; i > 0 && !(k.hardware && k.instrumented); i--) {
        const struct gp_counter *c = &launch->counters[i - 1];
        const bool is_time = gp_counter_is_time(c->name);
        if (c->absent.cause)
            lacks = lacks || !is_time;
        else if (strstr(c->name, GP_INSTRUMENTED))
            k.instrumented = true;
        else if (is_time)
            timed = true;
        else
            k.hardware = true;
    }
    k.hardware |= timed && !k.instrumented && !is_passed_over(launch, lacks);
    k.recalled = k.instrumented && launch->recalled;
    /* Some metrics need no counter. */
    k.measured =
        k.hardware || k.instrumented || (launch->counter_count == 0 && !launch->skipped.cause);
    return k;
}

double gp_launch_time_ns(const struct gp_record *launch)
{
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (strcmp(c->name, GP_DURATION_COUNTER) == 0)
            return !c->absent.cause && isfinite(c->value) && c->value > 0 ? c->value : 0;
    }
    return 0;
}
