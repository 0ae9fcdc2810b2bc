#include "report/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct step {
    double size;
    const char *name;
};

static const struct step seconds[] = {
    {1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}, {0, NULL}};
static const struct step bytes[] = {{1, "B"},    {1e3, "kB"},  {1e6, "MB"},
                                    {1e9, "GB"}, {1e12, "TB"}, {0, NULL}};
static const struct step bytes_per_second[] = {{1, "B/s"},    {1e3, "kB/s"},  {1e6, "MB/s"},
                                               {1e9, "GB/s"}, {1e12, "TB/s"}, {0, NULL}};
/* Not beyond G: the sources compare kernels in GFLOP/s. */
static const struct step flop_per_second[] = {
    {1, "FLOP/s"}, {1e3, "kFLOP/s"}, {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"}, {0, NULL}};

static const struct {
    const char *unit;
    const struct step *steps;
} scales[] = {
    {"s", seconds},
    {"bytes", bytes},
    {"bytes/s", bytes_per_second},
    {"flop/s", flop_per_second},
};

/* Four digits that count, and no fewer before the point than there are. */
static void four_digits(double value, const char *name, char *out, size_t size)
{
    double magnitude = fabs(value);
    int decimals = magnitude >= 999.95 ? 0 : magnitude >= 99.995 ? 1 : magnitude >= 9.9995 ? 2 : 3;
    snprintf(out, size, "%.*f %s", decimals, value, name);
}

static void scaled(double value, const struct step *step, char *out, size_t size)
{
    if (value == 0) {
        snprintf(out, size, "0 %s", step->name);
        return;
    }
    while (step[1].name && fabs(value) >= step[1].size * 0.99995)
        step++;
    double in_steps = value / step->size;
    if (fabs(in_steps) < 0.9995)
        snprintf(out, size, "%.4g %s", in_steps, step->name);
    else
        four_digits(in_steps, step->name, out, size);
}

static bool is_count(const char *unit)
{
    return !unit[0] || strcmp(unit, "count") == 0 || strcmp(unit, "flop") == 0;
}

/* Three digits that count, as for all ratios and percents. */
static void three_digits(double value, const char *behind, char *out, size_t size)
{
    double magnitude = fabs(value);
    int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : magnitude >= 0.9995 ? 2 : 3;
    if (magnitude > 0 && magnitude < 0.0995)
        snprintf(out, size, "%.2g%s", value, behind);
    else
        snprintf(out, size, "%.*f%s", value == 0 ? 0 : decimals, value, behind);
}

void gp_unit_format(double value, const char *unit, char *out, size_t size)
{
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        if (strcmp(unit, scales[i].unit) == 0) {
            scaled(value, scales[i].steps, out, size);
            return;
        }
    }
    if (strcmp(unit, "%") == 0)
        three_digits(value, " %", out, size);
    else if (strcmp(unit, "ratio") == 0)
        three_digits(value, "", out, size);
    else if (is_count(unit) && fabs(value) < 1e15)
        snprintf(out, size, value == floor(value) ? "%.0f" : "%.2f", value);
    else if (is_count(unit))
        snprintf(out, size, "%.6g", value);
    else
        snprintf(out, size, "%.4g %s", value, unit);
}
