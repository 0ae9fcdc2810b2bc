/*
 * sequence_linked CASE...: launches of two kernels that follow each other, y = 2 * y + 1 (scale)
 * and z = x + y (add), ROUNDS times; a profiler sees by their parameters which arrays
 * they share. In the case "passed" scale writes the array that add reads; in the case "shared" both
 * add, and read the same; in "in_place" scale follows add, which writes its own array; in "apart"
 * all have arrays of their own; in "copied" a copy to the host is made between them; in "repeated"
 * the same launch is made again and again; in "streams" the second goes into another stream. Prints
 * sums of the results.
 */
#include "image.h"
#include "programs/cases.h"
#include "programs/linked.h"

enum { N = 4096, BLOCK = 256, ROUNDS = 8 };

static CUmodule module;
static CUfunction scale, add;
static CUdeviceptr a, b, c, d;
static CUstream other;

static CUdeviceptr allocate(unsigned value)
{
    CUdeviceptr x;

    MUST(cuMemAlloc(&x, 4 * N));
    MUST(cuMemsetD32(x, value, N));
    MUST(cuCtxSynchronize());
    return x;
}

static void launch_scale(CUdeviceptr y, CUstream stream)
{
    unsigned n = N;
    void *params[] = {&y, &n};

    MUST(cuLaunchKernel(scale, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL));
}

static void launch_add(CUdeviceptr z, CUdeviceptr x, CUdeviceptr y, CUstream stream)
{
    unsigned n = N;
    void *params[] = {&z, &x, &y, &n};

    MUST(cuLaunchKernel(add, N / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, params, NULL));
}

static void passed(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        launch_scale(a, NULL);
        launch_add(c, b, a, NULL);
    }
}

static void shared(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        launch_add(c, a, b, NULL);
        launch_add(d, b, a, NULL);
    }
}

static void in_place(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        launch_add(c, a, b, NULL);
        launch_scale(c, NULL);
    }
}

static void apart(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        launch_scale(a, NULL);
        launch_add(d, b, c, NULL);
    }
}

static void copied(void)
{
    unsigned first;

    for (int i = 0; i < ROUNDS; i++) {
        launch_scale(a, NULL);
        MUST(cuMemcpyDtoH_v2(&first, a, sizeof(first)));
        launch_add(c, b, a, NULL);
    }
}

static void repeated(void)
{
    for (int i = 0; i < 2 * ROUNDS; i++)
        launch_add(c, a, b, NULL);
}

static void streams(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        launch_scale(a, NULL);
        MUST(cuCtxSynchronize());
        launch_add(c, b, a, other);
        MUST(cuCtxSynchronize());
    }
}

static void print_sum(const char *name, CUdeviceptr x)
{
    static unsigned numbers[N];
    unsigned sum = 0;

    MUST(cuMemcpyDtoH_v2(numbers, x, sizeof(numbers)));
    for (int i = 0; i < N; i++)
        sum += numbers[i];
    printf("%s %u\n", name, sum);
}

static void run(const char *which)
{
    static const struct program_case cases[] = {
        {"passed", passed}, {"shared", shared},     {"in_place", in_place}, {"apart", apart},
        {"copied", copied}, {"repeated", repeated}, {"streams", streams},   {0}};

    run_case(cases, which);
}

int main(int argc, char **argv)
{
    static const struct gpusim_image_kernel kernels[] = {{"sequence_scale", 10, 0, 0},
                                                         {"sequence_add", 10, 0, 0}};
    CUcontext context;
    void *image;
    size_t bytes;

    (void)alarm(60);
    MUST(cuInit(0));
    MUST(cuCtxCreate_v2(&context, 0, 0));
    image = gpusim_image_build(kernels, sizeof(kernels) / sizeof(kernels[0]), NULL, 0, &bytes);
    MUST(cuModuleLoadData(&module, image));
    free(image);
    MUST(cuModuleGetFunction(&scale, module, "sequence_scale"));
    MUST(cuModuleGetFunction(&add, module, "sequence_add"));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    a = allocate(1), b = allocate(2), c = allocate(3), d = allocate(4);
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    MUST(cuCtxSynchronize());
    print_sum("a", a);
    print_sum("c", c);
    print_sum("d", d);
    return 0;
}
