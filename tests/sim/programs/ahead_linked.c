/*
 * ahead_linked fork: forks as soon as the driver has begun. The child says whether the file LOADED
 * is there, which a library makes once it is loaded (tests/sim/ahead.bats). ahead_linked library
 * FILE: loads a library whose constructor uses the driver, for the first time; ahead_linked forks
 * FILE: the same, which forks fifty times besides. ahead_linked cancelled: a thread that is
 * cancelled forks. ahead_linked stack: threads have little stack. ahead_linked start: the driver
 * begins.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#include <dlfcn.h>
#include <pthread.h>
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

static pid_t fork_and_wait(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return child < 0 ? child : waitpid(child, NULL, 0);
}

/* Many children are forked; one of them forks as well. */
static void begin_and_fork_often(void)
{
    MUST(cuInit(0));
    for (int i = 0; i < 49; i++)
        fork_and_wait();
    pid_t child = fork();
    if (child == 0)
        _exit(fork_and_wait() < 0);
    waitpid(child, NULL, 0);
}

/* fork is no cancellation point. */
static void *fork_cancelled(void *forked)
{
    pthread_cancel(pthread_self());
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    *(pid_t *)forked = child;
    return NULL;
}

static int begin_and_fork_cancelled(void)
{
    pthread_t thread;
    pid_t child = 0;

    MUST(cuInit(0));
    if (pthread_create(&thread, NULL, fork_cancelled, &child) != 0 ||
        pthread_join(thread, NULL) != 0)
        return 1;
    puts(child > 0 ? "forked" : "not forked");
    return 0;
}

/* The simulated GPU's own threads need more. */
static int begin_with_little_stack(void)
{
    pthread_attr_t usual, little;

    if (pthread_getattr_default_np(&usual) != 0 || pthread_attr_init(&little) != 0 ||
        pthread_attr_setstacksize(&little, 64 << 10) != 0 ||
        pthread_setattr_default_np(&little) != 0)
        return 1;
    MUST(cuInit(0));
    if (pthread_setattr_default_np(&usual) != 0)
        return 1;
    run_kernel();
    return 0;
}

static int load(const char *file, void (*call)(void))
{
    char address[32];

    /* The constructor calls the function whose address it finds there. */
    snprintf(address, sizeof(address), "%p", (void *)(uintptr_t)call);
    setenv("CALL", address, 1);
    if (dlopen(file, RTLD_NOW))
        return 0;
    puts(dlerror());
    return 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (argc == 2 && strcmp(what, "fork") == 0)
        return begin_and_fork();
    if (argc == 2 && strcmp(what, "cancelled") == 0)
        return begin_and_fork_cancelled();
    if (argc == 2 && strcmp(what, "stack") == 0)
        return begin_with_little_stack();
    if (argc == 2 && strcmp(what, "start") == 0)
        return cuInit(0) != CUDA_SUCCESS;
    if (argc == 3 && strcmp(what, "library") == 0)
        return load(argv[2], run_kernel);
    if (argc == 3 && strcmp(what, "forks") == 0)
        return load(argv[2], begin_and_fork_often);
    return 2;
}
