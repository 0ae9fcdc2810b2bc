/*
 * held_linked CASE...: modules are unloaded, contexts destroyed and the process ends while another
 * thread waits, in a copy, for a kernel that ends only when the flag is set, which nobody does. In
 * the case "launched" kernels have been launched, of another module; in the case "counted" of
 * these; in the case "libraries" of libraries, which are unloaded, too. Says how long the calls
 * took together if that is more than two seconds.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "programs/linked.h"
#include "programs/snippets.h"

enum { MODULES = 5 };

static struct gpu gpu;
static CUcontext context;

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *read_later(void *address)
{
    uint32_t read;

    (void)cuCtxSetCurrent(context);
    (void)cuMemcpyDtoH(&read, *(CUdeviceptr *)address, sizeof(read));
    return address;
}

static void wait_in_a_copy(struct work *w, CUdeviceptr *seen)
{
    CUdeviceptr flag = allocate(w, 4);
    void *params[] = {&flag, seen};
    pthread_t thread;

    MUST(gpu.MemsetD32(flag, 0, 1));
    launch(w, "wait_for_flag", 1, 1, 32, 1, 0, NULL, params);
    if (pthread_create(&thread, NULL, read_later, seen) != 0)
        exit(2);
    (void)usleep(100000); /* until it waits */
}

/* The function of a library's kernel is of a module that the driver has made for it. */
static void launch_of_library(struct work *w, CUlibrary library)
{
    CUdeviceptr numbers = allocate(w, 4 * 64);
    CUkernel kernel_of_library;
    CUfunction f;
    unsigned n = 64;
    float factor = 2;
    void *params[] = {&numbers, &n, &factor};

    MUST(cuLibraryGetKernel(&kernel_of_library, library, "scale_in_place"));
    MUST(cuKernelGetFunction(&f, kernel_of_library));
    for (int i = 0; i < 3; i++)
        MUST(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    MUST(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
    bool launched = argc > 1 && strcmp(argv[1], "launched") == 0;
    bool counted = argc > 1 && strcmp(argv[1], "counted") == 0;
    bool of_libraries = argc > 1 && strcmp(argv[1], "libraries") == 0;
    bool first = argc > 2 && strcmp(argv[2], "context_first") == 0;
    CUlibrary libraries[MODULES];
    struct work w = {.gpu = &gpu}, others[MODULES] = {{0}};
    CUcontext other;
    CUdeviceptr seen;
    double start;
    size_t size;
    void *image = snippets_image(&size);

    (void)alarm(100);
    gpu_from_linker(&gpu);
    snippets_open(&w);
    MUST(cuCtxGetCurrent(&context));
    MUST(cuCtxCreate_v2(&other, 0, 0));
    MUST(cuCtxSetCurrent(context));
    for (int i = 0; i < MODULES; i++) {
        others[i].gpu = &gpu;
        MUST(gpu.ModuleLoadData(&others[i].module, image));
        for (int n = 0; counted && n < 3; n++)
            run_snippet(&others[i], "in_place");
    }
    for (int n = 0; launched && n < 3; n++)
        run_snippet(&w, "in_place");
    for (int i = 0; of_libraries && i < MODULES; i++) {
        MUST(cuLibraryLoadData(&libraries[i], image, NULL, NULL, 0, NULL, NULL, 0));
        launch_of_library(&w, libraries[i]);
    }
    seen = allocate(&w, 4);
    wait_in_a_copy(&w, &seen);
    start = now();
    if (first)
        MUST(cuCtxDestroy(other));
    for (int i = 0; i < MODULES; i++)
        MUST(gpu.ModuleUnload(others[i].module));
    for (int i = 0; of_libraries && i < MODULES; i++)
        MUST(cuLibraryUnload(libraries[i]));
    if (!first)
        MUST(cuCtxDestroy(other));
    printf("unloaded");
    if (now() - start > 2)
        printf(" in %.1f s", now() - start);
    printf("\n");
    free(image);
    return 0;
}
