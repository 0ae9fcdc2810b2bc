/* Lengths of time as users write them: "5", "0.5s", "500ms", "2m". */
#ifndef GPUPROF_BASE_DURATION_H
#define GPUPROF_BASE_DURATION_H

#include <stdbool.h>

/* Reads the number with which *text begins, "12" or "0.5", which moves behind it. The program may
 * have chosen a locale with a decimal comma: it is a point here. */
bool gp_decimal_read(const char **text, double *number);

/* Reads seconds; false for any other text, and for more than three years. */
bool gp_duration_parse(const char *text, double *seconds);

#endif
