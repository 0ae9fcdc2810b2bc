/* How a launch was measured, by the values that its record has. */
#ifndef GPUPROF_PROFILE_KINDS_H
#define GPUPROF_PROFILE_KINDS_H

#include "profile/record.h"

#include <stdbool.h>

struct gp_kinds {
    bool measured; /* it has a counter's value, of more than its time where more was asked */
    bool hardware; /* a value of a counter of the hardware */
    bool instrumented;
    bool recalled;     /* its instrumented values are another launch's */
    bool recalled_all; /* its hardware's as well */
};

/* True for a counter that is a time. */
bool gp_counter_is_time(const char *counter);

struct gp_kinds gp_launch_kinds(const struct gp_record *launch);

/* Its time in nanoseconds; 0 where it is not known. */
double gp_launch_time_ns(const struct gp_record *launch);

#endif
