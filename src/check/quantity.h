/* Numbers with units, read and written: "120 us", "2 TFLOP/s", "90 %". Owns the list of units. */
#ifndef GPUPROF_CHECK_QUANTITY_H
#define GPUPROF_CHECK_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

/* Reads a number and its unit, for a metric whose unit is `of` ("s", "bytes", "%", ...); the value
 * is in that unit. Blanks may stand around. False with the right form in `why`. */
bool gp_quantity_parse(const char *text, const char *of, double *value, char *why, size_t why_size);

/* Writes a value of that unit with five digits. */
void gp_quantity_format(double value, const char *of, char *out, size_t size);

#endif
