/* The peaks of a device. Owns the table of arithmetic throughput by compute capability. */
#ifndef GPUPROF_METRICS_PEAKS_H
#define GPUPROF_METRICS_PEAKS_H

#include "profile/record.h"

#include <stdbool.h>

enum gp_precision { GP_HALF, GP_SINGLE, GP_DOUBLE };

/* Floating-point operations per second outside the tensor cores, an FMA being two, at the clock the
 * driver calls the device's own (its boost clock). Returns true, or false with the reason in `why`.
 */
bool gp_peak_flops(const struct gp_device *device, enum gp_precision precision, double *value,
                   char *why, size_t why_size);

/* Operations per second of the tensor cores, for dense matrices, as gp_peak_flops counts them; BF16
 * is as FP16. */
enum gp_tensor_numbers {
    GP_TENSOR_FP16,
    GP_TENSOR_TF32,
    GP_TENSOR_FP64,
    GP_TENSOR_FP8,
    GP_TENSOR_FP4
};
bool gp_peak_tensor(const struct gp_device *device, enum gp_tensor_numbers numbers, double *value,
                    char *why, size_t why_size);

/* Bytes per second between the device and its memory, both directions together. */
bool gp_peak_dram(const struct gp_device *device, double *value, char *why, size_t why_size);

#endif
