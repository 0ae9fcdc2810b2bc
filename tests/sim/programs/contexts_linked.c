/*
 * contexts_linked CASE...: modules that come and go between launches, and contexts that take turns.
 * Each launch makes x = 2 * x + 1 of every element, so that one that runs twice, or from the wrong
 * memory, is seen.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 1000, ROUNDS = 10, SWITCHES = 50 };

/* Floats hold 2 ** k - 1 exactly up to k = 24: then it begins anew. */
struct numbers {
    CUdeviceptr x;
    float expected;
    unsigned launches;
};

static void begin(struct numbers *numbers)
{
    MUST(cuMemAlloc(&numbers->x, N * sizeof(float)));
    MUST(cuMemsetD32(numbers->x, 0, N));
    numbers->expected = 0;
    numbers->launches = 0;
}

static void check(const char *what, const struct numbers *numbers)
{
    static float seen[N];

    MUST(cuMemcpyDtoH(seen, numbers->x, sizeof(seen)));
    for (unsigned i = 0; i < N; i++)
        if (seen[i] != numbers->expected) {
            printf("%s: element %u is %g, not %g\n", what, i, (double)seen[i],
                   (double)numbers->expected);
            exit(1);
        }
}

static void end(const char *what, struct numbers *numbers)
{
    check(what, numbers);
    printf("%s: %u launches\n", what, numbers->launches);
    MUST(cuMemFree(numbers->x));
}

static void advance(struct numbers *numbers, CUfunction f)
{
    unsigned n = N;
    float factor = 2;
    void *params[] = {&numbers->x, &n, &factor};

    if (numbers->launches % 20 == 19) {
        check("on the way", numbers);
        MUST(cuMemsetD32(numbers->x, 0, N));
        numbers->expected = 0;
    }
    MUST(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    numbers->expected = 2 * numbers->expected + 1;
    numbers->launches++;
}

static CUfunction load(CUmodule *module, const void *image)
{
    CUfunction f;

    MUST(cuModuleLoadData(module, image));
    MUST(cuModuleGetFunction(&f, *module, "scale_in_place"));
    return f;
}

/* One module stays; another is loaded and unloaded, its kernel launched or only looked up. */
static void modules(const void *image, bool launched)
{
    struct numbers numbers;
    CUmodule stays, goes;
    CUfunction f = load(&stays, image), other;

    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        advance(&numbers, f);
        other = load(&goes, image);
        if (launched)
            advance(&numbers, other);
        MUST(cuCtxSynchronize());
        MUST(cuModuleUnload(goes));
    }
    end(launched ? "modules launched" : "modules", &numbers);
    MUST(cuModuleUnload(stays));
}

/* Kernels come to the handles that others had. */
static void handles(const void *image)
{
    static const char *const names[] = {"scale_in_place", "_Z19ncclDevKernel_ScalePffj"};
    struct numbers numbers;

    begin(&numbers);
    for (int round = 0; round < 40 * ROUNDS; round++) {
        CUmodule module;
        CUfunction f;
        MUST(cuModuleLoadData(&module, image));
        MUST(cuModuleGetFunction(&f, module, names[round / ROUNDS % 2]));
        advance(&numbers, f);
        MUST(cuCtxSynchronize());
        MUST(cuModuleUnload(module));
    }
    end("handles", &numbers);
}

/* A library's kernel is launched as a kernel, or as the function that it is in the context. */
static void libraries(const void *image, bool as_function)
{
    struct numbers numbers;

    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        CUlibrary library;
        CUkernel kernel;
        CUfunction f;
        MUST(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
        MUST(cuLibraryGetKernel(&kernel, library, "scale_in_place"));
        MUST(cuKernelGetFunction(&f, kernel));
        advance(&numbers, as_function ? f : (CUfunction)kernel);
        MUST(cuCtxSynchronize());
        MUST(cuLibraryUnload(library));
    }
    end(as_function ? "libraries' functions" : "libraries", &numbers);
}

/* A context goes with its memory, and leaves none current; other memory comes to lie where that
 * was. */
static void alone(const void *image)
{
    struct numbers numbers;
    CUcontext own, other, third;
    CUmodule stays, goes;
    CUdeviceptr x;
    CUfunction f = load(&stays, image);

    MUST(cuCtxGetCurrent(&own));
    MUST(cuCtxCreate_v2(&third, 0, 0));
    MUST(cuCtxSetCurrent(own));
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        MUST(cuCtxSetCurrent(NULL));
        MUST(cuCtxCreate_v2(&other, 0, 0));
        MUST(cuMemAllocAsync(&x, N * sizeof(float), NULL));
        MUST(cuMemAllocManaged(&x, N * sizeof(float), CU_MEM_ATTACH_GLOBAL));
        MUST(cuCtxDestroy(other));
        MUST(cuCtxSetCurrent(third));
        (void)load(&goes, image); /* with variables, which are smaller */
        MUST(cuCtxSetCurrent(own));
        advance(&numbers, f);
        MUST(cuCtxSynchronize());
        MUST(cuCtxSetCurrent(third));
        MUST(cuModuleUnload(goes));
        MUST(cuCtxSetCurrent(own));
    }
    end("alone", &numbers);
    MUST(cuCtxDestroy(third));
    MUST(cuModuleUnload(stays));
}

/* The program's own memory, made known to the driver, stays when some context goes. */
static void registered(const void *image)
{
    static float memory[N] __attribute__((aligned(4096)));
    unsigned n = N;
    float factor = 2;
    CUdeviceptr x;
    CUcontext own, other;
    CUmodule module;
    CUfunction f = load(&module, image);
    void *params[] = {&x, &n, &factor};

    MUST(cuCtxGetCurrent(&own));
    MUST(cuMemHostRegister(memory, sizeof(memory), CU_MEMHOSTREGISTER_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&x, memory, 0));
    for (int round = 0; round < ROUNDS; round++) {
        MUST(cuCtxCreate_v2(&other, 0, 0));
        MUST(cuCtxDestroy(other));
        MUST(cuCtxSetCurrent(own));
        MUST(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
        MUST(cuCtxSynchronize());
    }
    printf("registered: %g\n", (double)memory[N - 1]);
    MUST(cuMemHostUnregister(memory));
    MUST(cuModuleUnload(module));
}

struct capture {
    struct numbers *numbers;
    CUcontext context;
    CUfunction f;
    CUmodule goes; /* unloaded while it goes on; NULL: by another thread */
    CUgraph graph;
    sem_t begun;
};

static void *capture(void *argument)
{
    struct capture *c = argument;
    CUstream stream;
    unsigned n = N;
    float factor = 2;
    void *params[] = {&c->numbers->x, &n, &factor};

    MUST(cuCtxSetCurrent(c->context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    (void)sem_post(&c->begun);
    if (c->goes)
        MUST(cuModuleUnload(c->goes));
    else
        (void)usleep(50000);
    MUST(cuLaunchKernel(c->f, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    MUST(cuStreamEndCapture(stream, &c->graph));
    MUST(cuStreamDestroy(stream));
    return NULL;
}

/* A module whose kernel was launched is unloaded while a stream is being captured. */
static void captured(const void *image, bool by_another)
{
    struct numbers numbers;
    struct capture c = {.numbers = &numbers};
    CUmodule stays, goes;
    CUgraphExec exec;
    pthread_t thread;

    MUST(cuCtxGetCurrent(&c.context));
    c.f = load(&stays, image);
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        CUfunction other = load(&goes, image);
        advance(&numbers, other);
        MUST(cuCtxSynchronize());
        c.goes = by_another ? NULL : goes;
        if (sem_init(&c.begun, 0, 0) != 0 || pthread_create(&thread, NULL, capture, &c) != 0)
            exit(2);
        (void)sem_wait(&c.begun);
        if (by_another)
            MUST(cuModuleUnload(goes));
        if (pthread_join(thread, NULL) != 0)
            exit(2);
        MUST(cuGraphInstantiateWithFlags(&exec, c.graph, 0));
        MUST(cuGraphLaunch(exec, NULL));
        numbers.expected = 2 * numbers.expected + 1;
        numbers.launches++;
        MUST(cuGraphExecDestroy(exec));
        MUST(cuGraphDestroy(c.graph));
    }
    end("captured", &numbers);
    MUST(cuModuleUnload(stays));
}

/* Contexts are destroyed while a stream of theirs is being captured. */
static void captured_and_gone(const void *image)
{
    struct numbers numbers;
    CUcontext own, goes;
    CUstream stream;
    CUmodule module;
    CUfunction f = load(&module, image);

    MUST(cuCtxGetCurrent(&own));
    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        advance(&numbers, f);
        MUST(cuCtxSynchronize());
        MUST(cuCtxCreate_v2(&goes, 0, 0));
        MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        MUST(cuCtxDestroy(goes));
        MUST(cuCtxSetCurrent(own));
    }
    end("captured and gone", &numbers);
    MUST(cuModuleUnload(module));
}

/* Every other launch is made while another stream is being captured, and a graph's too. */
static void beside_capture(const void *image)
{
    struct numbers numbers;
    unsigned n = N;
    float factor = 2;
    void *params[] = {&numbers.x, &n, &factor};
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUmodule module;
    CUfunction f = load(&module, image);

    begin(&numbers);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    for (int round = 0; round < ROUNDS; round++) {
        advance(&numbers, f);
        MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        advance(&numbers, f);
        MUST(cuGraphLaunch(exec, NULL));
        numbers.expected = 2 * numbers.expected + 1;
        MUST(cuStreamEndCapture(stream, &graph));
        MUST(cuGraphDestroy(graph));
    }
    end("beside a capture", &numbers);
    MUST(cuGraphExecDestroy(exec));
    MUST(cuStreamDestroy(stream));
    MUST(cuModuleUnload(module));
}

/* By an option of a library the program may promise that its image stays. */
struct promise {
    CUlibraryOption option;
    void *value;
};

/* The fatbin that a wrapper points to is freed once it is loaded, unless it `stays`. */
static void wrapped(const void *image, size_t size, const struct promise *promise, bool stays)
{
    static struct {
        uint32_t magic, version;
        void *data, *unused;
    } wrapper = {0x466243b1, 1, NULL, NULL};
    CUlibraryOption option = promise ? promise->option : 0;
    void *value = promise ? promise->value : NULL;
    struct numbers numbers;
    CUlibrary library;
    CUkernel kernel;

    wrapper.data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (wrapper.data == MAP_FAILED)
        exit(2);
    memcpy(wrapper.data, image, size);
    begin(&numbers);
    MUST(cuLibraryLoadData(&library, &wrapper, NULL, NULL, 0, promise ? &option : NULL,
                           promise ? &value : NULL, promise != NULL));
    /* Freed, but so that nothing else comes to lie there. */
    if (!stays && mprotect(wrapper.data, size, PROT_NONE) != 0)
        exit(2);
    MUST(cuLibraryGetKernel(&kernel, library, "scale_in_place"));
    for (int round = 0; round < ROUNDS; round++)
        advance(&numbers, (CUfunction)kernel);
    MUST(cuCtxSynchronize());
    MUST(cuLibraryUnload(library));
    end("wrapped", &numbers);
}

/* Each has a module, or both launch a library's kernel, by one handle. */
static void contexts(const void *image, bool on_devices, bool of_library)
{
    enum { CONTEXTS = 2 };
    struct numbers numbers[CONTEXTS];
    CUcontext context[CONTEXTS], popped;
    CUmodule module[CONTEXTS];
    CUfunction f[CONTEXTS];
    CUlibrary library;
    CUkernel kernel;

    if (of_library) {
        MUST(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
        MUST(cuLibraryGetKernel(&kernel, library, "scale_in_place"));
    }
    for (int i = 0; i < CONTEXTS; i++) {
        MUST(cuCtxCreate_v2(&context[i], 0, on_devices ? i : 0));
        f[i] = of_library ? (CUfunction)kernel : load(&module[i], image);
        begin(&numbers[i]);
        MUST(cuCtxPopCurrent(&popped));
    }
    for (int k = 0; k < SWITCHES; k++)
        for (int i = 0; i < CONTEXTS; i++) {
            MUST(cuCtxPushCurrent(context[i]));
            advance(&numbers[i], f[i]);
            MUST(cuCtxPopCurrent(&popped));
        }
    for (int i = 0; i < CONTEXTS; i++) {
        MUST(cuCtxPushCurrent(context[i]));
        end("contexts", &numbers[i]);
        MUST(cuCtxDestroy(context[i]));
    }
}

/* One device is used first, another one for longer than a launch waits to be read, until the
 * program is killed. */
static void left_alone(const void *image)
{
    CUcontext context;
    CUmodule module;
    CUfunction f;

    for (int device = 0; device < 2; device++) {
        struct numbers numbers;
        MUST(cuCtxCreate_v2(&context, 0, device));
        f = load(&module, image);
        begin(&numbers);
        for (int i = 0; i < 3; i++) {
            advance(&numbers, f);
            (void)usleep(device * 600000);
        }
        end("left alone", &numbers);
    }
    (void)fflush(stdout);
    (void)raise(SIGKILL);
}

/* Contexts come and go, more of them than a table of a fixed size would hold; in each a kernel
 * runs, and where `failing` another one breaks the context. */
static void mortal(const void *image, bool failing)
{
    enum { CONTEXTS = 100 };

    for (int i = 0; i < CONTEXTS; i++) {
        struct numbers numbers;
        CUcontext context;
        CUmodule module;
        CUfunction f;

        MUST(cuCtxCreate_v2(&context, 0, 0));
        f = load(&module, image);
        begin(&numbers);
        advance(&numbers, f);
        advance(&numbers, f);
        check("mortal", &numbers);
        if (failing) {
            MUST(cuModuleGetFunction(&f, module, "trap"));
            MUST(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
            if (cuCtxSynchronize() == CUDA_SUCCESS)
                exit(3);
        }
        MUST(cuCtxDestroy(context));
    }
    printf("mortal: %d contexts\n", CONTEXTS);
}

/* A context that nothing runs in goes between the launch of a module's kernel and its unloading. */
static void beside(const void *image)
{
    struct numbers numbers;

    begin(&numbers);
    for (int round = 0; round < ROUNDS; round++) {
        CUcontext other, popped;
        CUmodule module;
        CUfunction f = load(&module, image);
        advance(&numbers, f);
        MUST(cuCtxCreate_v2(&other, 0, 0));
        MUST(cuCtxPopCurrent(&popped));
        MUST(cuCtxDestroy(other));
        MUST(cuCtxSynchronize());
        MUST(cuModuleUnload(module));
    }
    end("beside", &numbers);
}

/* The primary context stays until as many have released it as have retained it. main has once. */
static void primary(const void *image)
{
    CUcontext context;

    for (int life = 0; life < 2; life++) {
        struct numbers numbers;
        CUmodule module;
        CUfunction f;
        MUST(cuDevicePrimaryCtxRetain(&context, 0));
        MUST(cuCtxSetCurrent(context));
        f = load(&module, image);
        begin(&numbers);
        for (int round = 0; round < 2 * ROUNDS; round++) {
            if (round == ROUNDS) {
                MUST(cuDevicePrimaryCtxRetain(&context, 0));
                MUST(cuDevicePrimaryCtxRelease(0));
            }
            advance(&numbers, f);
        }
        end("primary", &numbers);
        MUST(cuDevicePrimaryCtxRelease(0));
        if (life == 0)
            MUST(cuDevicePrimaryCtxRelease(0));
    }
}

/* A reset takes it from all that have retained it. */
static void primary_reset(const void *image)
{
    CUcontext context;

    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    for (int life = 0; life < 3; life++) {
        struct numbers numbers;
        CUmodule module;
        CUfunction f;
        MUST(cuDevicePrimaryCtxRetain(&context, 0));
        MUST(cuCtxSetCurrent(context));
        f = load(&module, image);
        begin(&numbers);
        for (int round = 0; round < ROUNDS; round++)
            advance(&numbers, f);
        check("primary_reset", &numbers);
        MUST(cuDevicePrimaryCtxReset(0));
    }
    printf("primary_reset\n");
}

int main(int argc, char **argv)
{
    CUcontext context;
    size_t size;
    void *image = snippets_image(&size);

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "modules") == 0)
            modules(image, false);
        else if (strcmp(argv[i], "modules_launched") == 0)
            modules(image, true);
        else if (strcmp(argv[i], "libraries") == 0)
            libraries(image, false);
        else if (strcmp(argv[i], "functions") == 0)
            libraries(image, true);
        else if (strcmp(argv[i], "handles") == 0)
            handles(image);
        else if (strcmp(argv[i], "contexts") == 0)
            contexts(image, false, false);
        else if (strcmp(argv[i], "devices") == 0)
            contexts(image, true, false);
        else if (strcmp(argv[i], "devices_one_kernel") == 0)
            contexts(image, true, true);
        else if (strcmp(argv[i], "alone") == 0)
            alone(image);
        else if (strcmp(argv[i], "registered") == 0)
            registered(image);
        else if (strcmp(argv[i], "captured") == 0)
            captured(image, false);
        else if (strcmp(argv[i], "captured_by_another") == 0)
            captured(image, true);
        else if (strcmp(argv[i], "captured_and_gone") == 0)
            captured_and_gone(image);
        else if (strcmp(argv[i], "beside_capture") == 0)
            beside_capture(image);
        else if (strcmp(argv[i], "freed") == 0)
            wrapped(image, size, NULL, false);
        else if (strcmp(argv[i], "freed_with_option") == 0)
            wrapped(image, size,
                    &(struct promise){CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE, (void *)1},
                    false);
        else if (strcmp(argv[i], "freed_without_promise") == 0)
            wrapped(image, size, &(struct promise){CU_LIBRARY_BINARY_IS_PRESERVED, NULL}, false);
        else if (strcmp(argv[i], "preserved") == 0)
            wrapped(image, size, &(struct promise){CU_LIBRARY_BINARY_IS_PRESERVED, (void *)1},
                    true);
        else if (strcmp(argv[i], "left_alone") == 0)
            left_alone(image);
        else if (strcmp(argv[i], "mortal") == 0)
            mortal(image, false);
        else if (strcmp(argv[i], "mortal_failing") == 0)
            mortal(image, true);
        else if (strcmp(argv[i], "primary") == 0)
            primary(image);
        else if (strcmp(argv[i], "primary_reset") == 0)
            primary_reset(image);
        else if (strcmp(argv[i], "beside") == 0)
            beside(image);
        else
            return 64;
    }
    free(image);
    return 0;
}
