/* The library that CUDA_INJECTION64_PATH names is loaded by cuInit, once, and its function called.
 */
#include "driver/context.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void gpusim_inject(void)
{
    const char *file = getenv("CUDA_INJECTION64_PATH");
    void *library = file && *file ? dlopen(file, RTLD_LAZY) : NULL;
    void *found = library ? dlsym(library, "InitializeInjection") : NULL;
    int (*initialize)(void);

    if (!found)
        return;
    memcpy(&initialize, &found, sizeof(initialize));
    (void)initialize();
}
