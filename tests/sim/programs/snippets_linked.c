/* The snippets, in a program linked against the driver. */
#include "programs/linked.h"
#include "programs/snippets.h"

int main(int argc, char **argv)
{
    struct gpu gpu;

    gpu_from_linker(&gpu);
    return snippets_main(&gpu, argc, argv);
}
