/* Numbers as JSON has them, with any decimal sign of the program's locale. */
#ifndef GPUPROF_PROFILE_NUMBER_H
#define GPUPROF_PROFILE_NUMBER_H

#include "base/text.h"

#include <stdbool.h>

/* Appends a finite number with the fewest digits that read back as the same number. */
void gp_number_add(struct gp_text *out, double value);

/* Appends a finite number that was measured: whole ones exactly, others with so many digits. Ratios
 * have no more that mean something, and a launch has dozens of them. */
#define GP_MEASURED_DIGITS 10
void gp_number_add_measured(struct gp_text *out, double value);

/* Reads the number at *at, in front of `end`, and moves *at behind it. False where there is none,
 * or none that is finite. */
bool gp_number_read(const char **at, const char *end, double *value);

#endif
