/* small_stack_linked [KERNEL]: all work is done by a thread with the smallest stack there is, 16
 * KiB, part of which libc takes. Each call may take 4 KiB of it: one that takes more is named,
 * with the number of bytes. Below the stack is a page that nobody may touch. The thread also
 * calls exit. Kernels have names of any length; with KERNEL (short, long, deep) only that one is
 * launched. A call that raises a floating-point exception is named, too; in the case "many" each
 * kernel is launched a hundred times; in the case "traps" each kills the program, once the driver
 * has made its threads. */
#include <fenv.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "programs/linked.h"
#include "programs/snippets.h"

#ifdef __aarch64__
enum { STACK = 131072 };
#else
enum { STACK = 16384 };
#endif
enum { GUARD = 65536, MOST = 4096, PAINT = 0xa5 };

static struct gpu gpu;
static unsigned char *stack; /* its lowest byte */
static bool in_full;

static void paint(void)
{
    unsigned char *end = (unsigned char *)__builtin_frame_address(0) - 256;

    for (volatile unsigned char *p = stack; p < end; p++)
        *p = PAINT;
}

static void check(const char *what, const unsigned char *before)
{
    const unsigned char *lowest = stack;
    long used;

    while (*lowest == PAINT)
        lowest++;
    used = before - lowest;
    if (in_full || used > MOST)
        printf("%s took %ld bytes of the stack%s\n", what, used,
               lowest == stack ? ", or more" : "");
}

/* The call, between two checks of the stack. errno and the floating-point exceptions stay. */
#define TRY(call)                                                    \
    do {                                                             \
        const unsigned char *here = __builtin_frame_address(0);      \
        (void)feclearexcept(FE_ALL_EXCEPT);                          \
        paint();                                                     \
        MUST(call);                                                  \
        check(#call, here);                                          \
        if (fetestexcept(FE_ALL_EXCEPT))                             \
            printf("%s raised a floating-point exception\n", #call); \
    } while (0)

/* "scale_in_place<foo::bar, ...>(float*, unsigned int, float)", mangled. */
static char *long_name(unsigned arguments)
{
    char *name = host_memory(64 + (size_t)arguments * 16);

    strcpy(name, "_Z14scale_in_placeI");
    for (unsigned i = 0; i < arguments; i++)
        strcat(name, "N3foo3barE");
    return strcat(name, "EvPfjf");
}

/* Pointers to pointers: the most stack for a letter. */
static char *deep_name(unsigned pointers)
{
    char *name = host_memory(64 + (size_t)pointers);

    strcpy(name, "_Z14scale_in_placeI");
    memset(name + strlen(name), 'P', pointers);
    return strcat(name, "iEvPfjf");
}

struct job {
    const char *wanted; /* NULL: all */
    bool traps;
    int times; /* that each kernel is launched */
    const char *names[3];
    void *image;
};

static void launch_kernels(const struct job *job, CUmodule module, CUstream stream)
{
    static const char *const kinds[] = {"short", "long", "deep"};
    CUdeviceptr numbers;
    unsigned n = 64;
    float factor = 2;
    void *params[] = {&numbers, &n, &factor};

    TRY(gpu.MemAlloc(&numbers, n * sizeof(float)));
    TRY(gpu.MemsetD32(numbers, 0, n));
    for (int i = 0; i < 3; i++) {
        CUfunction f;

        if (job->wanted && strcmp(job->wanted, kinds[i]) != 0)
            continue;
        TRY(gpu.ModuleGetFunction(&f, module, job->names[i]));
        for (int times = 0; times < job->times; times++)
            TRY(gpu.LaunchKernel(f, 1, 1, 1, n, 1, 1, 0, stream, params, NULL));
    }
    TRY(gpu.StreamSynchronize(stream));
    TRY(gpu.MemFree(numbers));
}

static void launch_graph(const struct job *job, CUmodule module, CUstream stream)
{
    CUdeviceptr numbers;
    CUfunction f;
    CUgraph graph;
    CUgraphExec exec;
    unsigned n = 64;
    float factor = 2;
    void *params[] = {&numbers, &n, &factor};

    TRY(gpu.MemAlloc(&numbers, n * sizeof(float)));
    TRY(gpu.ModuleGetFunction(&f, module, job->names[0]));
    TRY(gpu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    TRY(gpu.LaunchKernel(f, 1, 1, 1, n, 1, 1, 0, stream, params, NULL));
    TRY(gpu.StreamEndCapture(stream, &graph));
    TRY(gpu.GraphInstantiateWithFlags(&exec, graph, 0));
    TRY(gpu.GraphLaunch(exec, stream));
    TRY(gpu.GraphLaunch(exec, stream));
    TRY(gpu.StreamSynchronize(stream));
    TRY(gpu.GraphExecDestroy(exec));
    TRY(gpu.GraphDestroy(graph));
    TRY(gpu.MemFree(numbers));
}

static void *work(void *argument)
{
    const struct job *job = argument;
    CUcontext context;
    CUmodule module;
    CUstream stream;

    TRY(gpu.Init(0));
    TRY(cuDevicePrimaryCtxRetain(&context, 0));
    TRY(gpu.CtxSetCurrent(context));
    TRY(gpu.ModuleLoadData(&module, job->image));
    TRY(gpu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    launch_kernels(job, module, stream);
    if (job->traps) {
        (void)feenableexcept(FE_ALL_EXCEPT);
        launch_kernels(job, module, stream);
    }
    launch_graph(job, module, stream);
    TRY(gpu.StreamDestroy(stream));
    TRY(gpu.ModuleUnload(module));
    TRY(cuDevicePrimaryCtxRelease(0));
    printf("done\n");
    exit(0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "all";
    bool all = strcmp(how, "all") == 0, traps = strcmp(how, "traps") == 0,
         many = strcmp(how, "many") == 0;
    struct job job = {
        .wanted = all || traps || many ? NULL : how, .traps = traps, .times = many ? 100 : 4};
    struct gpusim_image_kernel kernels[3];
    pthread_attr_t attributes;
    pthread_t thread;
    size_t size;
    unsigned char *room =
        mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    in_full = getenv("SMALL_STACK_IN_FULL") != NULL;
    gpu_from_linker(&gpu);
    if (room == MAP_FAILED || mprotect(room, GUARD, PROT_NONE) != 0)
        return 2;
    stack = room + GUARD;
    job.names[0] = "scale_in_place";
    job.names[1] = long_name(200);
    job.names[2] = deep_name(800);
    for (int i = 0; i < 3; i++)
        kernels[i] = (struct gpusim_image_kernel){job.names[i], 10, 0, 0};
    job.image = gpusim_image_build(kernels, 3, NULL, 0, &size);
    (void)setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    (void)pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stack, STACK) != 0 ||
        pthread_create(&thread, &attributes, work, &job) != 0)
        return 2;
    (void)pthread_join(thread, NULL);
    return 1;
}
