/* Numbers for people: four digits and a unit. */
#ifndef GPUPROF_REPORT_UNITS_H
#define GPUPROF_REPORT_UNITS_H

#include <stddef.h>

/* `unit` is a metric's: "s" becomes us or ms, "bytes/s" GB/s, "flop/s" GFLOP/s, and so on. */
void gp_unit_format(double value, const char *unit, char *out, size_t size);

#endif
