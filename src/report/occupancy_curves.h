/* How a kernel's theoretical occupancy would change with its block size, registers and shared
 * memory, all else as it is. */
#ifndef GPUPROF_REPORT_OCCUPANCY_CURVES_H
#define GPUPROF_REPORT_OCCUPANCY_CURVES_H

#include "base/text.h"
#include "profile/record.h"

/* Appends a JSON object: for "block" (threads per block), "registers" (per thread) and "shared"
 * (bytes per block) the step, the first and then the warps that an SM holds at each step; 0 where
 * the kernel could not be launched. */
void gp_occupancy_curves_json(const struct gp_device *device, const struct gp_record *launch,
                              struct gp_text *out);

#endif
