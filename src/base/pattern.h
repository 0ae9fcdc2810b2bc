/* Names of output files with blanks to fill in, as nvprof has them.
 *
 *   %p        the process id
 *   %h        the host name
 *   %q{NAME}  the environment variable NAME, which must be set
 *   %%        a percent sign */
#ifndef GPUPROF_BASE_PATTERN_H
#define GPUPROF_BASE_PATTERN_H

#include "base/text.h"

#include <stdbool.h>

/* Appends the expanded pattern to `out`. Returns true, or false with the reason in `why`. */
bool gp_pattern_expand(const char *pattern, struct gp_text *out, char *why, size_t why_size);
/* Appends the pattern as another process of this machine expands it. Returns as gp_pattern_expand.
 */
bool gp_pattern_expand_for(long process, const char *pattern, struct gp_text *out, char *why,
                           size_t why_size);

#endif
