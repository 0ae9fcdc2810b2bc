/*
 * changes_linked CASE...: something happens right behind launches that are all different (another
 * number of elements each time), which would keep one of them from being repeated later. Each
 * launch makes x = 2 * x + 1 of the elements that it reaches, so that one that runs twice, or from
 * the wrong memory, is seen. Says how many launches there were.
 */
#include "programs/cases.h"
#include "programs/linked.h"
#include "programs/snippets.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1024, ROUNDS = 6, FEW = 2, SMALL = 1 << 20, PART = 16 << 10 };

static CUfunction scale;
static const void *image;
static unsigned launches;

struct numbers {
    CUdeviceptr x;
    float expected[N];
};

static void fill(struct numbers *numbers)
{
    MUST(cuMemsetD32(numbers->x, 0, N));
    memset(numbers->expected, 0, sizeof(numbers->expected));
}

static void begin(struct numbers *numbers)
{
    MUST(cuMemAlloc(&numbers->x, sizeof(numbers->expected)));
    fill(numbers);
}

/* Reaches one element more than the launch before, so it is like none of these. */
static void launch_in(struct numbers *numbers, CUfunction f, unsigned shared, CUstream stream)
{
    unsigned n = 32 + launches % (N - 32);
    float factor = 2;
    void *params[] = {&numbers->x, &n, &factor};

    MUST(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, shared, stream, params, NULL));
    for (unsigned i = 0; i < n; i++)
        numbers->expected[i] = 2 * numbers->expected[i] + 1;
    launches++;
}

static void check(const char *what, const struct numbers *numbers)
{
    static float seen[N];

    MUST(cuMemcpyDtoH(seen, numbers->x, sizeof(seen)));
    for (unsigned i = 0; i < N; i++)
        if (seen[i] != numbers->expected[i]) {
            printf("%s: element %u is %g, not %g\n", what, i, (double)seen[i],
                   (double)numbers->expected[i]);
            exit(1);
        }
}

/* Memory goes, and something else comes to lie there. */
static void freed(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct numbers numbers;
        begin(&numbers);
        launch_in(&numbers, scale, 0, NULL);
        launch_in(&numbers, scale, 0, NULL);
        check("freed", &numbers);
        MUST(cuMemFree(numbers.x));
    }
}

static void freed_in_stream(void)
{
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < ROUNDS; round++) {
        struct numbers numbers;
        MUST(cuMemAllocAsync(&numbers.x, sizeof(numbers.expected), stream));
        MUST(cuStreamSynchronize(stream));
        fill(&numbers);
        MUST(cuCtxSynchronize());
        launch_in(&numbers, scale, 0, stream);
        MUST(cuMemFreeAsync(numbers.x, stream));
    }
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
}

/* The program writes memory that a launch has read and written. */
static void written(void)
{
    struct numbers numbers;
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        launch_in(&numbers, scale, 0, NULL);
        check("written", &numbers);
        fill(&numbers);
    }
    check("written", &numbers);
    MUST(cuMemFree(numbers.x));
}

static void unloaded(void)
{
    struct numbers numbers;
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        CUmodule module;
        CUfunction f;
        MUST(cuModuleLoadData(&module, image));
        MUST(cuModuleGetFunction(&f, module, "scale_in_place"));
        launch_in(&numbers, f, 0, NULL);
        MUST(cuCtxSynchronize());
        MUST(cuModuleUnload(module));
    }
    check("unloaded", &numbers);
    MUST(cuMemFree(numbers.x));
}

/* A variable goes with its module, none of whose kernels was launched. */
static void variables(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        CUmodule module;
        CUdeviceptr variable;
        size_t size;
        unsigned n = 1;
        float factor = 2 + (float)round, seen;
        void *params[] = {&variable, &n, &factor};
        MUST(cuModuleLoadData(&module, image));
        MUST(cuModuleGetGlobal(&variable, &size, module, "state"));
        MUST(cuMemsetD32(variable, 0, 1));
        MUST(cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
        launches++;
        MUST(cuMemcpyDtoH(&seen, variable, sizeof(seen)));
        if (seen != 1)
            printf("variables: %g\n", (double)seen);
        MUST(cuModuleUnload(module));
    }
    MUST(cuCtxSynchronize());
}

static void streams(void)
{
    struct numbers numbers;
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        CUstream stream;
        MUST(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
        launch_in(&numbers, scale, 0, stream);
        MUST(cuStreamSynchronize(stream));
        MUST(cuStreamDestroy(stream));
    }
    check("streams", &numbers);
    MUST(cuMemFree(numbers.x));
}

/* Memory that one launch needs another one must not have. */
static void attributes(void)
{
    struct numbers numbers;
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned shared = round % 2 ? 0 : 64u << 10;
        MUST(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                (int)shared));
        launch_in(&numbers, scale, shared, NULL);
    }
    check("attributes", &numbers);
    MUST(cuMemFree(numbers.x));
}

/* The kernel gets the attribute, and its function is launched. */
static void attributes_of_kernel(void)
{
    struct numbers numbers;
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    MUST(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&kernel, library, "scale_in_place"));
    MUST(cuKernelGetFunction(&f, kernel));
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned shared = round % 2 ? 0 : 64u << 10;
        MUST(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared,
                                  kernel, 0));
        launch_in(&numbers, f, shared, NULL);
    }
    check("attributes_of_kernel", &numbers);
    MUST(cuMemFree(numbers.x));
}

static void limits(void)
{
    struct numbers numbers;
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        MUST(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024u << round % 2));
        launch_in(&numbers, scale, 0, NULL);
    }
    check("limits", &numbers);
    MUST(cuMemFree(numbers.x));
}

/* A child goes on for itself; it has nothing of its parent's launches. */
static void forks(void)
{
    struct numbers numbers;
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        launch_in(&numbers, scale, 0, NULL);
        pid_t child = fork();
        if (child == 0)
            exit(0);
        int status = -1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            printf("forks: the child ended with %d\n", status);
    }
    check("forks", &numbers);
    MUST(cuMemFree(numbers.x));
}

/* The program takes all the memory there is, ours too. */
static void memory(void)
{
    struct numbers numbers;
    CUdeviceptr taken[1024];
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned count = 0;
        launch_in(&numbers, scale, 0, NULL);
        launch_in(&numbers, scale, 0, NULL);
        while (count < 1024 && cuMemAlloc(&taken[count], SMALL) == CUDA_SUCCESS)
            count++;
        if (count < 560)
            printf("memory: only %u MB are to be had\n", count);
        while (count)
            MUST(cuMemFree(taken[--count]));
    }
    check("memory", &numbers);
    MUST(cuMemFree(numbers.x));
}

/* A buffer that nobody touches takes most of the memory there is. */
static void large(void)
{
    struct numbers numbers;
    CUdeviceptr taken;
    MUST(cuMemAlloc(&taken, 200 << 20));
    begin(&numbers);
    for (int round = 0; round < FEW; round++)
        launch_in(&numbers, scale, 0, NULL);
    check("large", &numbers);
    MUST(cuMemFree(numbers.x));
    MUST(cuMemFree(taken));
}

/* The launches' own memory is a part of it. */
static void large_own(void)
{
    struct numbers numbers;
    CUdeviceptr taken;
    MUST(cuMemAlloc(&taken, 200 << 20));
    numbers.x = taken;
    fill(&numbers);
    for (int round = 0; round < FEW; round++)
        launch_in(&numbers, scale, 0, NULL);
    check("large_own", &numbers);
    MUST(cuMemFree(taken));
}

/* Another thread changes all that it can. */
static void *allocate_and_free(void *unused)
{
    (void)unused;
    CUcontext context;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    for (int i = 0; i < 20 * ROUNDS; i++) {
        CUdeviceptr address;
        MUST(cuMemAlloc(&address, SMALL));
        MUST(cuMemsetD32(address, 7, SMALL / 4));
        MUST(cuMemFree(address));
    }
    return NULL;
}

static void threads(void)
{
    struct numbers numbers;
    pthread_t thread;
    begin(&numbers);
    if (pthread_create(&thread, NULL, allocate_and_free, NULL) != 0)
        exit(2);
    for (int round = 0; round < 10 * ROUNDS; round++) {
        if (round % 20 == 0)
            fill(&numbers);
        launch_in(&numbers, scale, 0, NULL);
    }
    if (pthread_join(thread, NULL) != 0)
        exit(2);
    check("threads", &numbers);
    MUST(cuMemFree(numbers.x));
}

/* Another thread enters memory in a table and frees it, which nobody gets again. */
static void *enter_and_free(void *table)
{
    enum { PARTS = 50 * ROUNDS };
    CUcontext context;
    CUdeviceptr parts[PARTS];
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    for (int i = 0; i < PARTS; i++)
        MUST(cuMemAlloc(&parts[i], PART));
    for (int i = 0; i < PARTS; i++) {
        MUST(cuMemcpyHtoD(*(const CUdeviceptr *)table, &parts[i], sizeof(parts[i])));
        MUST(cuMemFree(parts[i]));
    }
    return NULL;
}

/* The launches' parameters lead to the table, but their kernel does not read it. */
static void entered(void)
{
    enum { TABLE = 64 };
    struct numbers numbers;
    CUdeviceptr whole;
    pthread_t thread;
    MUST(cuMemAlloc(&whole, TABLE + sizeof(numbers.expected)));
    MUST(cuMemsetD8(whole, 0, TABLE));
    numbers.x = whole + TABLE;
    fill(&numbers);
    if (pthread_create(&thread, NULL, enter_and_free, &whole) != 0)
        exit(2);
    for (int round = 0; round < 20 * ROUNDS; round++) {
        if (round % 20 == 0)
            fill(&numbers);
        launch_in(&numbers, scale, 0, NULL);
    }
    if (pthread_join(thread, NULL) != 0)
        exit(2);
    check("entered", &numbers);
    MUST(cuMemFree(whole));
}

/* More launches than a batch holds, and the process ends with some of them held. */
static void many(void)
{
    struct numbers numbers;
    begin(&numbers);
    for (int round = 0; round < 150; round++) {
        if (round % 20 == 0)
            fill(&numbers);
        launch_in(&numbers, scale, 0, NULL);
    }
    check("many", &numbers);
}

/* From here on a kernel may read memory that its parameters do not name. */
static void texture(void)
{
    CUtexObject object;
    if (cuTexObjectCreate(&object, NULL, NULL, NULL) == CUDA_SUCCESS)
        exit(2);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* old programs call it */
static void texture_of_module(void)
{
    CUmodule module;
    CUtexref texture;

    MUST(cuModuleLoadData(&module, image));
    if (cuModuleGetTexRef(&texture, module, "none") == CUDA_SUCCESS)
        exit(2);
}
#pragma GCC diagnostic pop

int main(int argc, char **argv)
{
    static const struct program_case cases[] = {{"freed", freed},
                                                {"freed_in_stream", freed_in_stream},
                                                {"written", written},
                                                {"unloaded", unloaded},
                                                {"variables", variables},
                                                {"streams", streams},
                                                {"attributes", attributes},
                                                {"attributes_of_kernel", attributes_of_kernel},
                                                {"limits", limits},
                                                {"forks", forks},
                                                {"memory", memory},
                                                {"large", large},
                                                {"large_own", large_own},
                                                {"threads", threads},
                                                {"entered", entered},
                                                {"many", many},
                                                {"texture", texture},
                                                {"texture_of_module", texture_of_module},
                                                {0}};
    CUcontext context;
    CUmodule module;
    size_t size;

    image = snippets_image(&size);
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, image));
    MUST(cuModuleGetFunction(&scale, module, "scale_in_place"));
    for (int a = 1; a < argc; a++) {
        run_case(cases, argv[a]);
        printf("%s: %u launches\n", argv[a], launches);
    }
    return 0;
}
