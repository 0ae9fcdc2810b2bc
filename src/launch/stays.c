/* The stays of a GPU's session with its contexts, as times alone: when the session may go on to
 * another context. Pure: the clock is handed in. */
#include "launch/inside.h"

/* Seconds that the session stays with a context whose batch is not full. */
#define LONGEST_STAY 1.0
/* All switches of the session may take that part of the time. */
#define MOST_OF_TIME 0.1

void stays_begin(struct gp_stays *s, double now)
{
    s->began = now;
}

void stays_came(struct gp_stays *s, double now)
{
    s->came = s->used = now;
    s->read = false;
}

void stays_used(struct gp_stays *s, double now)
{
    s->used = now;
}

void stays_switched(struct gp_stays *s, double seconds)
{
    s->spent += seconds;
    s->last = seconds;
}

double stays_end(const struct gp_stays *s, double since)
{
    return s->read || s->used < since ? s->came : s->came + LONGEST_STAY;
}

double stays_permit(const struct gp_stays *s, bool in_any_case)
{
    return in_any_case ? s->began : s->began + (s->spent + s->last) / MOST_OF_TIME;
}
