/* Where a kernel's source is. Owns nothing; calls profile/record.h. */
#ifndef GPUPROF_CHECK_SOURCE_H
#define GPUPROF_CHECK_SOURCE_H

#include "profile/record.h"

#include <stdbool.h>

/* The file and line of the kernel's first instruction; false where the profile has no line. *file
 * belongs to the launch. */
bool gp_source_of(const struct gp_launch *launch, const char **file, int *line);

#endif
