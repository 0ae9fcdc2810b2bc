#include "base/overhead.h"

#include "base/duration.h"

#include <math.h>
#include <string.h>

#define MOST_PERCENT 1e6

/* "3%": a number and the sign. */
static bool read_share(const char *text, double *share)
{
    double percent;
    if (!gp_decimal_read(&text, &percent) || strcmp(text, "%") != 0 || percent > MOST_PERCENT)
        return false;
    *share = percent / 100;
    return true;
}

bool gp_overhead_parse(const char *text, struct gp_overhead *o)
{
    struct gp_overhead read = {.kind = GP_OVERHEAD_NONE};
    if (strcmp(text, "none") == 0) {
        *o = read;
        return true;
    }
    if (strchr(text, '%'))
        read.kind = read_share(text, &read.amount) ? GP_OVERHEAD_SHARE : GP_OVERHEAD_DEFAULT;
    else
        read.kind =
            gp_duration_parse(text, &read.amount) ? GP_OVERHEAD_SECONDS : GP_OVERHEAD_DEFAULT;
    if (read.kind == GP_OVERHEAD_DEFAULT || !(read.amount > 0))
        return false;
    *o = read;
    return true;
}

double gp_overhead_most(const struct gp_overhead *o, const struct gp_overhead_reached *reached,
                        double own)
{
    switch (o->kind) {
    case GP_OVERHEAD_SHARE:
        return o->amount * own;
    case GP_OVERHEAD_SECONDS:
        return o->amount;
    case GP_OVERHEAD_NONE:
        return INFINITY;
    case GP_OVERHEAD_DEFAULT:
        break;
    }
    return reached->is_reached ? reached->spent + GP_OVERHEAD_LATER * fmax(0, own - reached->own)
                               : fmax(GP_OVERHEAD_FREE, own);
}

double gp_overhead_lost(double waited, double own, bool several_streams)
{
    return several_streams ? waited : fmax(0, fmin(waited, own - waited));
}
