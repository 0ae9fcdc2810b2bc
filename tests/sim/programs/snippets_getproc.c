/*
 * The snippets, in a program that finds the driver as the CUDA runtime does. With --per-thread as
 * its first argument it asks for the functions that take stream 0 as the calling thread's own.
 */
#include "programs/getproc.h"
#include "programs/snippets.h"

int main(int argc, char **argv)
{
    bool per_thread = argc > 1 && strcmp(argv[1], "--per-thread") == 0;
    struct gpu gpu;

    if (per_thread) {
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    gpu_from_getproc(&gpu, per_thread);
    return snippets_main(&gpu, argc, argv);
}
