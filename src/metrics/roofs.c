#include "metrics/roofs.h"

#include "metrics/peaks.h"

#include <ini.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHY_SIZE 256

/* metrics/roofs: a section for each name of a device, a key for each roof. */
extern const char gp_measured_roofs[], gp_measured_roofs_end[];

/* NAN where the device's facts do not say. */
static double flops(const struct gp_device *d, enum gp_precision precision)
{
    char why[WHY_SIZE];
    double value;
    return gp_peak_flops(d, precision, &value, why, sizeof(why)) ? value : NAN;
}

static double fp64(const struct gp_device *d)
{
    return flops(d, GP_DOUBLE);
}

static double fp32(const struct gp_device *d)
{
    return flops(d, GP_SINGLE);
}

static double fp16(const struct gp_device *d)
{
    return flops(d, GP_HALF);
}

static double tensor(const struct gp_device *d)
{
    char why[WHY_SIZE];
    double value;
    return gp_peak_tensor(d, GP_TENSOR_FP16, &value, why, sizeof(why)) ? value : NAN;
}

static double dram(const struct gp_device *d)
{
    char why[WHY_SIZE];
    double value;
    return gp_peak_dram(d, &value, why, sizeof(why)) ? value : NAN;
}

/* Bytes that L1 gives an SM per clock cycle: NVIDIA's white papers on GV100, TU102, GA100, GA102
 * and GH100. Not known of others. */
static double l1(const struct gp_device *d)
{
    static const struct {
        int major, minor, bytes;
    } widths[] = {{7, 0, 128}, {7, 5, 64}, {8, 0, 128}, {8, 6, 128}, {9, 0, 128}};
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        if (widths[i].major == d->cc_major && widths[i].minor == d->cc_minor && d->sm_count > 0 &&
            d->clock_khz > 0)
            return (double)widths[i].bytes * d->sm_count * d->clock_khz * 1e3;
    return NAN;
}

static double not_published(const struct gp_device *d)
{
    (void)d;
    return NAN;
}

static const struct {
    const char *name, *key;
    bool is_bandwidth;
    double (*nominal)(const struct gp_device *d);
} roofs[] = {
    {"tensor FP16", "tensor_fp16", false, tensor},
    {"FP16", "fp16", false, fp16},
    {"FP32", "fp32", false, fp32},
    {"FP64", "fp64", false, fp64},
    {"L1", "l1", true, l1},
    {"L2", "l2", true, not_published},
    {"DRAM", "dram", true, dram},
};
enum { ROOFS = sizeof(roofs) / sizeof(roofs[0]) };

struct measured {
    const char *device;
    double values[ROOFS];
};

/* inih: 1 goes on. */
static int take_line(void *user, const char *section, const char *key, const char *value)
{
    struct measured *m = user;
    if (strcmp(section, m->device) != 0)
        return 1;
    for (size_t i = 0; i < ROOFS; i++) {
        char *end;
        double number = strtod(value, &end);
        if (strcmp(key, roofs[i].key) == 0 && *end == '\0' && number > 0)
            m->values[i] = number;
    }
    return 1;
}

void gp_roofs_by(const char *measured, const struct gp_device *device,
                 void (*take)(void *user, const struct gp_roof *roof), void *user)
{
    struct measured m = {.device = device->name};
    for (size_t i = 0; i < ROOFS; i++)
        m.values[i] = NAN;
    if (!device->simulated)
        ini_parse_string(measured, take_line, &m);
    for (size_t i = 0; i < ROOFS; i++) {
        struct gp_roof roof = {
            .name = roofs[i].name,
            .is_bandwidth = roofs[i].is_bandwidth,
            .nominal = roofs[i].nominal(device),
            .measured = m.values[i],
        };
        if (!isnan(roof.nominal) || !isnan(roof.measured))
            take(user, &roof);
    }
}

void gp_roofs_of(const struct gp_device *device,
                 void (*take)(void *user, const struct gp_roof *roof), void *user)
{
    size_t length = (size_t)(gp_measured_roofs_end - gp_measured_roofs);
    char *measured = strndup(gp_measured_roofs, length);
    gp_roofs_by(measured ? measured : "", device, take, user);
    free(measured);
}
