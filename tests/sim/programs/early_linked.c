/*
 * The driver used before main: by default from a constructor of the program, with GPUSIM_EARLY set
 * to preinit even before the constructors of all libraries, a preloaded one's too.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

static struct gpu gpu;
static struct work early = {.gpu = &gpu};

static void run_early(void)
{
    gpu_from_linker(&gpu);
    snippets_open(&early);
    run_snippet(&early, "vector_add");
    run_snippet(&early, "in_place");
}

/* So early that getenv knows nothing yet: the environment is the loader's. */
static bool done_before_all;

static void before_all(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    for (char **e = environment; *e; e++)
        done_before_all = done_before_all || strcmp(*e, "GPUSIM_EARLY=preinit") == 0;
    if (done_before_all)
        run_early();
}

__attribute__((section(".preinit_array"),
               used)) static void (*const preinit[])(int, char **, char **) = {before_all};

__attribute__((constructor)) static void before_main(void)
{
    if (!done_before_all)
        run_early();
}

int main(void)
{
    run_snippet(&early, "globals");
    snippets_close(&early);
    return 0;
}
