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

const struct gpusim_kernel *gpusim_kernel_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        if (strcmp(kernels[i]->name, name) == 0)
            return kernels[i];
    return NULL;
}
