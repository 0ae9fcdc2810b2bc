/*
 * exits_linked HOW [SNIPPET...]: work on the GPU, then an end of one kind: return, exit, _exit,
 * quick_exit, abort, kill; handler: an exit handler of the program that still calls the driver;
 * waited: killed behind a wait for a launch, with no copy in between; signal: a handler of a signal
 * that calls exit while a kernel runs; destroying: while a context is destroyed and another thread
 * waits in a copy.
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "programs/linked.h"
#include "programs/snippets.h"

static struct gpu gpu;
static CUcontext context;

static void still_calling(void)
{
    CUdeviceptr p;
    CUresult result = gpu.MemAlloc(&p, 16);

    printf("in the exit handler: cuMemAlloc %d\n", (int)result);
}

static void leave(int signal)
{
    (void)signal;
    exit(6);
}

static void leave_while_it_runs(struct work *w)
{
    CUdeviceptr flag = allocate(w, 4), seen = allocate(w, 4);
    void *params[] = {&flag, &seen};

    MUST(gpu.MemsetD32(flag, 0, 1));
    (void)signal(SIGALRM, leave);
    (void)ualarm(300000, 0);
    launch(w, "wait_for_flag", 1, 1, 32, 1, 0, NULL, params);
    MUST(gpu.CtxSynchronize());
}

static void be_killed_behind_a_wait(struct work *w)
{
    unsigned n = 64;
    float factor = 2;
    CUdeviceptr p = allocate(w, n * 4);
    void *params[] = {&p, &n, &factor};

    MUST(gpu.MemsetD32(p, 0, n));
    launch(w, "scale_in_place", 1, 1, n, 1, 0, NULL, params);
    MUST(gpu.CtxSynchronize());
    (void)raise(SIGKILL);
}

static void *read_later(void *address)
{
    uint32_t read;

    (void)cuCtxSetCurrent(context);
    (void)cuMemcpyDtoH(&read, *(CUdeviceptr *)address, sizeof(read));
    return address;
}

/* A copy of another thread waits for a kernel while this one destroys a context. */
static void leave_while_it_destroys(struct work *w)
{
    CUdeviceptr flag = allocate(w, 4), seen = allocate(w, 4);
    void *params[] = {&flag, &seen};
    CUcontext other;
    pthread_t thread;

    MUST(cuCtxGetCurrent(&context));
    MUST(cuCtxCreate_v2(&other, 0, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(gpu.MemsetD32(flag, 0, 1));
    launch(w, "wait_for_flag", 1, 1, 32, 1, 0, NULL, params);
    if (pthread_create(&thread, NULL, read_later, &seen) != 0)
        exit(2);
    (void)usleep(100000); /* until it waits */
    (void)signal(SIGALRM, leave);
    (void)ualarm(300000, 0);
    MUST(cuCtxDestroy(other));
    for (;;)
        (void)pause();
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
    for (int i = 2; i < argc; i++)
        run_snippet(&w, argv[i]);
    run_snippet(&w, "in_place");
    (void)fflush(stdout);
    if (strcmp(how, "waited") == 0)
        be_killed_behind_a_wait(&w);
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
    if (strcmp(how, "signal") == 0)
        leave_while_it_runs(&w);
    if (strcmp(how, "destroying") == 0)
        leave_while_it_destroys(&w);
    return 0;
}
