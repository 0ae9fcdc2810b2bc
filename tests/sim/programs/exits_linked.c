/*
 * exits_linked HOW: work on the GPU, then an end of one kind: return, exit, _exit, quick_exit,
 * abort, kill, or handler: an exit handler of the program that still calls the driver.
 */
#include <signal.h>
#include <unistd.h>

#include "programs/linked.h"
#include "programs/snippets.h"

static struct gpu gpu;

static void still_calling(void)
{
    CUdeviceptr p;
    CUresult result = gpu.MemAlloc(&p, 16);

    printf("in the exit handler: cuMemAlloc %d\n", (int)result);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "return";
    struct work w = {.gpu = &gpu};

    gpu_from_linker(&gpu);
    /* Registered before the driver's own, so it runs after that. */
    if (strcmp(how, "handler") == 0 && atexit(still_calling) != 0)
        return 2;
    snippets_open(&w);
    run_snippet(&w, "in_place");
    (void)fflush(stdout);
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "_exit") == 0)
        _exit(4);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(5);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        (void)raise(SIGKILL);
    return 0;
}
