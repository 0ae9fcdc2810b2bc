/* The roofs of a device, for a roofline: FLOP/s by precision and bytes per second by level of the
 * memory. Nominal ones follow from the device's facts; measured ones come from metrics/roofs/,
 * where a run of tests/gpu/roofs on that device has put them. Owns the text of these. */
#ifndef GPUPROF_METRICS_ROOFS_H
#define GPUPROF_METRICS_ROOFS_H

#include "profile/record.h"

#include <stdbool.h>

struct gp_roof {
    const char *name;         /* "FP32", "DRAM" */
    bool is_bandwidth;        /* of bytes; else of floating-point operations */
    double nominal, measured; /* per second; NAN where it is not known */
};

/* Calls `take` for each roof of which one is known. A simulated device has no measured ones. */
void gp_roofs_of(const struct gp_device *device,
                 void (*take)(void *user, const struct gp_roof *roof), void *user);

/* Calls `take` as gp_roofs_of does, with the measured roofs of a text instead of metrics/roofs: a
 * section for each name of a device, lines "key = rate". A value that is no rate is passed over. */
void gp_roofs_by(const char *measured, const struct gp_device *device,
                 void (*take)(void *user, const struct gp_roof *roof), void *user);

#endif
