/*
 * fork_dlopen before: a child made before the driver is used; both use it, the child first.
 * fork_dlopen after: a child of a process that has used it; the child finds it unusable.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "programs/snippets.h"

static int wait_for(pid_t child)
{
    int status = 0;

    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        printf("the child was killed\n");
        return 1;
    }
    return WEXITSTATUS(status);
}

static int work_here(const char *who, const struct gpu *gpu)
{
    struct work w = {.gpu = gpu};

    printf("%s:\n", who);
    snippets_open(&w);
    run_snippet(&w, "vector_add");
    run_snippet(&w, "in_place");
    snippets_close(&w);
    (void)fflush(stdout);
    return 0;
}

static int fork_before(const struct gpu *gpu)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        exit(work_here("child", gpu));
    status = wait_for(child);
    return status ? status : work_here("parent", gpu);
}

static int unusable_here(const struct work *w)
{
    CUdeviceptr p;
    int count;

    printf("child: cuInit %d, cuDeviceGetCount %d, cuMemAlloc %d, cuCtxSynchronize %d\n",
           (int)w->gpu->Init(0), (int)w->gpu->DeviceGetCount(&count), (int)w->gpu->MemAlloc(&p, 16),
           (int)w->gpu->CtxSynchronize());
    (void)fflush(stdout);
    return 0;
}

static int fork_after(const struct gpu *gpu)
{
    struct work w = {.gpu = gpu};
    pid_t child;
    int status;

    snippets_open(&w);
    run_snippet(&w, "vector_add");
    (void)fflush(stdout);
    child = fork();
    if (child == 0)
        exit(unusable_here(&w));
    status = wait_for(child);
    run_snippet(&w, "in_place");
    snippets_close(&w);
    return status;
}

int main(int argc, char **argv)
{
    bool after = argc > 1 && strcmp(argv[1], "after") == 0;
    struct gpu gpu;

    gpu_from_dlsym(&gpu);
    (void)fflush(stdout);
    return after ? fork_after(&gpu) : fork_before(&gpu);
}
