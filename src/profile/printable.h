/* The text of a profile may come from anywhere, and is shown on a terminal. */
#ifndef GPUPROF_PROFILE_PRINTABLE_H
#define GPUPROF_PROFILE_PRINTABLE_H

#include <jansson.h>
#include <stdbool.h>

/* Makes every text in the value printable (base/escape.h), keys as well. False when out of
 * memory. */
bool gp_make_printable(json_t *value);

#endif
