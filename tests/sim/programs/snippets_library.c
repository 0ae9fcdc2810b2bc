/*
 * The snippets as a library, which asks the linker's dlsym itself: run(2) finds the driver as the
 * CUDA runtime does where the first argument is "runtime", else as plain C does, and keeps the
 * addresses, as both do, in its own data.
 */
#include "programs/getproc.h"
#include "programs/snippets.h"

int run(int argc, char **argv);

int run(int argc, char **argv)
{
    static struct gpu gpu;

    if (strcmp(argv[0], "runtime") == 0)
        gpu_from_getproc(&gpu, false);
    else
        gpu_from_dlsym(&gpu);
    return snippets_main(&gpu, argc, argv);
}
