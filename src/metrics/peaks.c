#include "metrics/peaks.h"

#include <stdio.h>

/* Results per clock cycle and SM of add, multiply and multiply-add, from the table "Throughput of
 * Native Arithmetic Instructions" of NVIDIA's CUDA C++ Programming Guide (older capabilities: its
 * editions for CUDA 8 to 11; 12.1: that of the Best Practices Guide for CUDA 13.4, to which it has
 * moved). Others are not in it. 8.7: the cores per SM in the Programming Guide's description of
 * 8.x. 10.3, 11.0: the cores per SM in NVIDIA's CUDA samples (helper_cuda.h), and the ratio of
 * single to double precision, 64, in the Programming Guide's "Compute Capabilities". 0: none of
 * these says. */
static const struct {
    int major, minor;
    int half, single, dbl;
} results_per_cycle[] = {
    {3, 0, 0, 192, 8},   {3, 2, 0, 192, 8},    {3, 5, 0, 192, 64},    {3, 7, 0, 192, 64},
    {5, 0, 0, 128, 4},   {5, 2, 0, 128, 4},    {5, 3, 256, 128, 4},   {6, 0, 128, 64, 32},
    {6, 1, 2, 128, 4},   {6, 2, 256, 128, 4},  {7, 0, 128, 64, 32},   {7, 2, 128, 64, 32},
    {7, 5, 128, 64, 2},  {8, 0, 256, 64, 32},  {8, 6, 128, 128, 2},   {8, 7, 0, 128, 2},
    {8, 9, 128, 128, 2}, {9, 0, 256, 128, 64}, {10, 0, 256, 128, 64}, {10, 3, 0, 128, 2},
    {11, 0, 0, 128, 2},  {12, 0, 128, 128, 2}, {12, 1, 128, 128, 2},
};

/* Returns 0 where the table has nothing. Double precision follows from the driver's own ratio where
 * it gives one. */
static double results_of_an_sm(const struct gp_device *d, enum gp_precision precision)
{
    for (size_t i = 0; i < sizeof(results_per_cycle) / sizeof(results_per_cycle[0]); i++) {
        if (results_per_cycle[i].major != d->cc_major || results_per_cycle[i].minor != d->cc_minor)
            continue;
        double single = results_per_cycle[i].single;
        if (precision == GP_HALF)
            return results_per_cycle[i].half;
        if (precision == GP_SINGLE)
            return single;
        return d->sp_dp_ratio > 0 ? single / d->sp_dp_ratio : results_per_cycle[i].dbl;
    }
    return 0;
}

/* So many a cycle in each SM, as a number a second. */
static bool of_all_sms(const struct gp_device *d, double a_cycle, double *value, char *why,
                       size_t why_size)
{
    if (d->sm_count <= 0 || d->clock_khz <= 0) {
        snprintf(why, why_size, "device.%s is not known",
                 d->sm_count <= 0 ? "sm_count" : "clock_khz");
        return false;
    }
    *value = d->sm_count * a_cycle * (d->clock_khz * 1e3);
    return true;
}

bool gp_peak_flops(const struct gp_device *d, enum gp_precision precision, double *value, char *why,
                   size_t why_size)
{
    static const char *const names[] = {"half", "single", "double"};
    double results = results_of_an_sm(d, precision);
    if (results <= 0) {
        snprintf(why, why_size, "the %s precision peak of compute capability %d.%d is not known",
                 names[precision], d->cc_major, d->cc_minor);
        return false;
    }
    return of_all_sms(d, results * 2, value, why, why_size);
}

/* Operations per clock cycle and SM of the tensor cores, an FMA being two: NVIDIA's whitepapers,
 * for dense matrices, summed into the widest format, over SMs and clock (V100, T4, A100, A40, L40S,
 * H100, B200, RTX PRO 6000). FP64 on chips whose tensor cores do not have it is done by the FP64
 * units. 0: none of these says. */
static const struct {
    int major, minor;
    int of[5]; /* by enum gp_tensor_numbers */
} tensor_ops[] = {
    {7, 0, {1024, 0, 0, 0, 0}},
    {7, 5, {1024, 0, 0, 0, 0}},
    {8, 0, {2048, 1024, 128, 0, 0}},
    {8, 6, {1024, 512, 4, 0, 0}},
    {8, 9, {1024, 512, 4, 2048, 0}},
    {9, 0, {4096, 2048, 256, 8192, 0}},
    {10, 0, {8192, 4096, 128, 16384, 32768}},
    {12, 0, {1024, 512, 4, 2048, 4096}},
};

bool gp_peak_tensor(const struct gp_device *d, enum gp_tensor_numbers numbers, double *value,
                    char *why, size_t why_size)
{
    static const char *const names[] = {"FP16", "TF32", "FP64", "FP8", "FP4"};
    int ops = 0;
    for (size_t i = 0; i < sizeof(tensor_ops) / sizeof(tensor_ops[0]); i++)
        if (tensor_ops[i].major == d->cc_major && tensor_ops[i].minor == d->cc_minor)
            ops = tensor_ops[i].of[numbers];
    if (ops == 0) {
        snprintf(why, why_size,
                 "the %s peak of the tensor cores of compute capability %d.%d is not known",
                 names[numbers], d->cc_major, d->cc_minor);
        return false;
    }
    return of_all_sms(d, ops, value, why, why_size);
}

bool gp_peak_dram(const struct gp_device *d, double *value, char *why, size_t why_size)
{
    if (d->memory_bus_bits <= 0 || d->memory_clock_khz <= 0) {
        snprintf(why, why_size, "device.%s is not known",
                 d->memory_bus_bits <= 0 ? "memory_bus_bits" : "memory_clock_khz");
        return false;
    }
    /* Two transfers a clock cycle, eight bits a byte. */
    *value = 2.0 * d->memory_bus_bits * (d->memory_clock_khz * 1e3) / 8;
    return true;
}
