/* Names of kernels for people: as short as possible, and different from the others of a report. */
#ifndef GPUPROF_REPORT_NAMES_H
#define GPUPROF_REPORT_NAMES_H

#include <stddef.h>

/* Gives each of the demangled names a short one, out[i], to be freed: without namespaces, and of
 * template arguments only those in which kernels of one name differ ("kernel<.., half>"). Equal
 * names get equal ones. Returns 0, or -1 when memory runs out; free in both cases. */
int gp_names_distinct(const char *const *names, size_t count, char **out);

#endif
