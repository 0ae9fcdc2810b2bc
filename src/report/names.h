/* Names of kernels for people: as short as possible, and different from the others of a report. */
#ifndef GPUPROF_REPORT_NAMES_H
#define GPUPROF_REPORT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A kernel's name as it is compared: kernels with equal `kernel` are the same. */
struct gp_kernel_spelling {
    const char *kernel; /* mangled */
    const char *full;   /* demangled, with parameters: f<int>(int*) */
    const char *brief;  /* without: f<int> */
};

/* Gives each of the kernels a short name, out[i], to be freed: without namespaces, and of template
 * arguments only those by which kernels of one name differ ("kernel<.., half>"). An argument that
 * wraps an operation or a lambda is shown as the operation, or as the function around the lambda.
 * The same kernel gets one name, different kernels get different ones: by a number ("kernel #2")
 * where their names have no difference. Returns true, or false when out of memory; free in both
 * cases. */
bool gp_names_distinct(const struct gp_kernel_spelling *kernels, size_t count, char **out);

/* Makes each of the names at most `width` letters long, in place, so that different ones stay
 * different: of a name that is too long the middle of its head goes first, then that of its
 * template arguments; where names become the same then, the text from where they differ is shown.
 * Returns true, or false when out of memory. */
bool gp_names_fit(char **names, size_t count, size_t width);

#endif
