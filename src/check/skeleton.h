/* Names of kernels without the parts that a compiler may change from build to build. */
#ifndef GPUPROF_CHECK_SKELETON_H
#define GPUPROF_CHECK_SKELETON_H

#include <stdbool.h>

/* The name without template arguments, parameters and return type; a hash, and a number in the name
 * of a kernel of Triton's, is "#". To be freed; NULL when out of memory. */
char *gp_name_skeleton(const char *name);

/* Whether such a name has a number or a hash that a compiler gives. */
bool gp_skeleton_is_numbered(const char *skeleton);

#endif
