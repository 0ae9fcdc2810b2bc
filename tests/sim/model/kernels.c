#include <stdlib.h>
#include <string.h>

#include "model/grid.h"

#define GPUSIM_KERNEL(name) extern const struct gpusim_kernel gpusim_kernel_##name;
#include "model/kernels.def"
#undef GPUSIM_KERNEL

static const struct gpusim_kernel *const kernels[] = {
#define GPUSIM_KERNEL(name) &gpusim_kernel_##name,
#include "model/kernels.def"
#undef GPUSIM_KERNEL
};

/* The first name in a mangled one: "_Z14scale_in_placeI...": length and letters, 0 where it has
 * none. A kernel may be had by any such name. */
static size_t plain_name(const char **name)
{
    char *end;
    size_t length = strlen(*name);

    if (strncmp(*name, "_Z", 2) != 0)
        return length;
    length = strtoul(*name + 2, &end, 10);
    *name = end;
    return length <= strlen(end) ? length : 0;
}

const struct gpusim_kernel *gpusim_kernel_find(const char *name)
{
    size_t length = plain_name(&name);

    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        const char *key = kernels[i]->body ? kernels[i]->body : kernels[i]->name;
        if (strlen(key) == length && strncmp(key, name, length) == 0)
            return kernels[i];
    }
    return NULL;
}
