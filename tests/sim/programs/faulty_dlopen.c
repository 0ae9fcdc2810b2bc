/* faulty_dlopen CASE: launches that go wrong, and the driver's answers: to the launch, to the
 * wait for it, and to the next call. The answers are the same with a profiler in between as
 * without. */
#include "programs/snippets.h"

static const char *name_of(const struct work *w, CUresult result)
{
    const char *name = NULL;

    return w->gpu->GetErrorName(result, &name) == CUDA_SUCCESS && name ? name : "?";
}

static void report(const struct work *w, CUresult launched)
{
    CUdeviceptr p;

    printf("launch: %s\n", name_of(w, launched));
    printf("wait: %s\n", name_of(w, w->gpu->CtxSynchronize()));
    printf("next: %s\n", name_of(w, w->gpu->MemAlloc(&p, 16)));
}

static CUresult try(const struct work *w, const char *kernel_name, unsigned grid, unsigned block,
                    unsigned shared, void **params)
{
    return w->gpu->LaunchKernel(kernel(w, kernel_name), grid, 1, 1, block, 1, 1, shared, NULL,
                                params, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "out_of_bounds";
    struct gpu gpu;
    struct work w = {.gpu = &gpu};
    unsigned n = 100;
    CUdeviceptr p;
    void *params[] = {&p, &n};

    gpu_from_dlsym(&gpu);
    snippets_open(&w);
    run_snippet(&w, "vector_add");
    p = allocate(&w, n * 4);
    if (strcmp(what, "reset") == 0) {
        report(&w, try(&w, "out_of_bounds", 1, 128, 0, params));
        printf("reset: %s\n", name_of(&w, gpu.DevicePrimaryCtxReset(0)));
    } else if (strcmp(what, "out_of_bounds") == 0)
        report(&w, try(&w, "out_of_bounds", 1, 128, 0, params));
    else if (strcmp(what, "misaligned") == 0)
        report(&w, try(&w, "misaligned", 1, 32, 0, params));
    else if (strcmp(what, "trap") == 0)
        report(&w, try(&w, "trap", 2, 32, 0, NULL));
    else if (strcmp(what, "no_blocks") == 0)
        report(&w, try(&w, "noop", 0, 32, 0, NULL));
    else if (strcmp(what, "big_block") == 0)
        report(&w, try(&w, "noop", 1, 1025, 0, NULL));
    else if (strcmp(what, "much_shared") == 0)
        report(&w, try(&w, "noop", 1, 32, 1 << 20, NULL));
    else if (strcmp(what, "no_parameters") == 0)
        report(&w, try(&w, "out_of_bounds", 1, 32, 0, NULL));
    else if (strcmp(what, "no_function") == 0)
        report(&w, gpu.LaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    else {
        printf("unknown: %s\n", what);
        return 64;
    }
    return 0;
}
