/*
 * ahead_linked fork: forks as soon as the driver has begun. The child says whether the file LOADED
 * is there, which a library makes once it is loaded (tests/sim/ahead.bats). ahead_linked library
 * FILE: loads a library whose constructor uses the driver, for the first time.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_kernel(void)
{
    struct gpu gpu;
    struct work work = {.gpu = &gpu};

    gpu_from_linker(&gpu);
    snippets_open(&work);
    run_snippet(&work, "vector_add");
    snippets_close(&work);
}

static int begin_and_fork(void)
{
    int status = -1;

    MUST(cuInit(0));
    pid_t child = fork();
    if (child == 0) {
        puts(access(getenv("LOADED"), F_OK) == 0 ? "loaded" : "not loaded");
        fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 1;
    run_kernel();
    return 0;
}

static int load(const char *file)
{
    char address[32];

    /* The constructor calls the function whose address it finds there. */
    snprintf(address, sizeof(address), "%p", (void *)(uintptr_t)run_kernel);
    setenv("CALL", address, 1);
    if (dlopen(file, RTLD_NOW))
        return 0;
    puts(dlerror());
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "fork") == 0)
        return begin_and_fork();
    if (argc == 3 && strcmp(argv[1], "library") == 0)
        return load(argv[2]);
    return 2;
}
