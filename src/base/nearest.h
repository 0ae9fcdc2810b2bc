/* "Did you mean ...?" */
#ifndef GPUPROF_BASE_NEAREST_H
#define GPUPROF_BASE_NEAREST_H

#include <stddef.h>

/* The name most like `word` among name(user, 0 ... count-1), NULL when none is near enough to be a
 * slip of the fingers. */
const char *gp_nearest(const char *word, size_t count,
                       const char *(*name)(const void *user, size_t i), const void *user);

#endif
