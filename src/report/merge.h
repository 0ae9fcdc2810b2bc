/* Devices of several profiles under one list of numbers. Owns the list. */
#ifndef GPUPROF_REPORT_MERGE_H
#define GPUPROF_REPORT_MERGE_H

#include "profile/record.h"

/* All zero: nothing was seen. */
struct gp_merge {
    struct gp_device devices[GP_MAX_DEVICES]; /* with their new numbers */
    int originals[GP_MAX_DEVICES];            /* by their programs' numbers */
    int count;
    int now[GP_MAX_DEVICES]; /* of the profile that is being read: new number + 1, 0: none */
};

/* Another profile begins. */
void gp_merge_begin(struct gp_merge *m);

/* The device with its new number. GPUs that are alike, with the same number in their programs, are
 * one: ranks that each see one GPU of a machine are taken together. */
const struct gp_device *gp_merge_device(struct gp_merge *m, const struct gp_device *device);

/* The new number of a device of the profile that is being read. */
int gp_merge_number(const struct gp_merge *m, int ordinal);

#endif
