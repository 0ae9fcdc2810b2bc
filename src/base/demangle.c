#include "base/demangle.h"

#include <libiberty/demangle.h>
#include <string.h>

/* The demangler needs stack in proportion to the name, and this is not our stack: a name that is
 * longer than any compiler's is left as it is. */
#define LONGEST_NAME 8192

char *gp_demangle(const char *mangled, enum gp_name which)
{
    int options = which == GP_NAME_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_ANSI;
    char *name = NULL;
    if (strlen(mangled) <= LONGEST_NAME)
        name = cplus_demangle_v3(mangled, options);
    return name ? name : strdup(mangled);
}
