/* "3%", "2s" or "none": the limit to the time that measuring adds to a program. */
#ifndef GPUPROF_BASE_OVERHEAD_H
#define GPUPROF_BASE_OVERHEAD_H

#include <stdbool.h>

/* The syntax of a limit, for the formats of messages. */
#define GP_OVERHEAD_SYNTAX "say a share (3%%), a time (2s, 500ms, 1m) or none"

/* Without any limit all is measured while that adds less than so many seconds, or than the
 * program's own time; then no more than a share of it. */
#define GP_OVERHEAD_FREE 5.0
#define GP_OVERHEAD_LATER 0.03

struct gp_overhead {
    enum {
        GP_OVERHEAD_DEFAULT,
        GP_OVERHEAD_NONE,   /* without a limit */
        GP_OVERHEAD_SHARE,  /* `amount` of the program's own time so far */
        GP_OVERHEAD_SECONDS /* `amount` seconds in all */
    } kind;
    double amount;
};

/* False, with the limit as it was, where the text is none. */
bool gp_overhead_parse(const char *text, struct gp_overhead *overhead);

/* The default, once it was reached: a share of the time from there on. */
struct gp_overhead_reached {
    bool is_reached;
    double spent, own; /* seconds, at that moment */
};

/* The most seconds that may have been added to a program with so many seconds of its own; INFINITY
 * without a limit. */
double gp_overhead_most(const struct gp_overhead *overhead,
                        const struct gp_overhead_reached *reached, double own);

/* The most seconds of the program's own time that it lost as its kernels were waited for
 * (`waited`): work of the host, or of other streams, would have gone on beside. */
double gp_overhead_lost(double waited, double own, bool several_streams);

#endif
