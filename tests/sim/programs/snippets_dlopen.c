/* The snippets, in a program that opens the driver itself and asks dlsym for each function. */
#include "programs/snippets.h"

int main(int argc, char **argv)
{
    struct gpu gpu;

    gpu_from_dlsym(&gpu);
    return snippets_main(&gpu, argc, argv);
}
