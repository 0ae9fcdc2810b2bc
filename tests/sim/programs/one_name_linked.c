/*
 * one_name_linked STEP...: two modules have a kernel of one name, whose code differs in one opcode.
 * add:COUNT and multiply:COUNT launch it so often from the one and the other, always with the same
 * parameters, grid and block. `wait` launches a third one, which waits until a fill in another
 * stream. `unload` unloads all modules. called:NAME gives the kernel another name in modules from
 * there on.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#define THREADS 256u

static const char *const bodies[] = {"one_name_add", "one_name_multiply", "wait_for_flag"};
static const char *name = "one_name";
static CUmodule modules[3];

static CUfunction function_of(unsigned which)
{
    CUfunction f;

    if (!modules[which]) {
        size_t bytes;
        char spelling[128];
        const struct gpusim_image_kernel kernel = {spelling, 10, 0, 0};

        snprintf(spelling, sizeof(spelling), "%s=%s", name, bodies[which]);
        void *image = gpusim_image_build(&kernel, 1, NULL, 0, &bytes);
        MUST(cuModuleLoadData(&modules[which], image));
        free(image);
    }
    MUST(cuModuleGetFunction(&f, modules[which], name));
    return f;
}

static void unload(void)
{
    MUST(cuCtxSynchronize());
    for (unsigned i = 0; i < 3; i++)
        if (modules[i]) {
            MUST(cuModuleUnload(modules[i]));
            modules[i] = NULL;
        }
}

static void wait_for_fill(void)
{
    CUdeviceptr flag, seen;
    void *params[] = {&flag, &seen};
    CUfunction f = function_of(2);
    CUstream waiting, other;

    MUST(cuMemAlloc(&flag, 4));
    MUST(cuMemAlloc(&seen, 4));
    MUST(cuMemsetD32(flag, 0, 1));
    MUST(cuCtxSynchronize());
    MUST(cuStreamCreate(&waiting, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, waiting, params, NULL));
    MUST(cuMemsetD32Async(flag, 1, 1, other));
    MUST(cuStreamSynchronize(waiting));
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUdeviceptr numbers;
    float first;
    void *params[] = {&numbers};

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&numbers, THREADS * sizeof(float)));
    MUST(cuMemsetD32(numbers, 0, THREADS));
    for (int i = 1; i < argc; i++) {
        unsigned count, which = strncmp(argv[i], "multiply", 8) == 0;
        if (strncmp(argv[i], "called:", 7) == 0) {
            name = argv[i] + 7;
            continue;
        }
        if (strcmp(argv[i], "unload") == 0 || strcmp(argv[i], "wait") == 0) {
            (argv[i][0] == 'u' ? unload : wait_for_fill)();
            continue;
        }
        expect(sscanf(argv[i], which ? "multiply:%u" : "add:%u", &count) == 1, argv[i]);
        CUfunction f = function_of(which);
        while (count--)
            MUST(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    }
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(&first, numbers, sizeof(first)));
    printf("%g\n", first);
    unload();
    return 0;
}
