/* Names of kernels for people: as short as possible, and different from the others of a report. */
#ifndef GPUPROF_REPORT_NAMES_H
#define GPUPROF_REPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Gives each of the demangled names a short one, out[i], to be freed: without namespaces, and of
 * template arguments only those in which kernels of one name differ ("kernel<.., half>"). Equal
 * names get equal ones. Returns true, or false when memory runs out; free in both cases. */
bool gp_names_distinct(const char *const *names, size_t count, char **out);

/* Makes each of the names at most `width` letters long, in place, so that different ones stay
 * different: of a name that is too long the middle of its head goes first, then that of its
 * template arguments; where names become the same then, the text from where they differ is shown.
 * Returns true, or false when memory runs out. */
bool gp_names_fit(char **names, size_t count, size_t width);

#endif
