/* C++ names for people. */
#ifndef GPUPROF_BASE_DEMANGLE_H
#define GPUPROF_BASE_DEMANGLE_H

enum gp_name {
    GP_NAME_FULL,  /* with parameter types: vectorAdd(int const*, int const*, int*, int) */
    GP_NAME_BRIEF, /* without: vectorAdd */
};

/* Returns the demangled name, or the name as it is where it is not mangled, printable
 * (base/escape.h) in either case; to be freed. NULL when out of memory. */
char *gp_demangle(const char *mangled, enum gp_name which);

#endif
