/* Globs on names of any length, in bounded time. */
#ifndef GPUPROF_BASE_GLOB_H
#define GPUPROF_BASE_GLOB_H

#include <stdbool.h>

/* Whether `*`, `?`, `[...]` and letters, a backslash before a letter that is meant as it is, match
 * the whole of the text. Some ten million comparisons are made at the most; where they do not
 * suffice it is false, and *too_hard true. */
bool gp_glob_matches(const char *glob, const char *text, bool *too_hard);

#endif
