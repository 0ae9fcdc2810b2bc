/*
 * asynchronous_linked CASE...: a program that launches kernels and goes on, as most do, and then
 * does something of which a profiler that has not measured those launches yet has to take note. A
 * kernel is launched some times first, so that a profiler can know it.
 * In the case "freed" other memory is freed in stream order while a stream waits for the host, and
 * in the case "kept" memory that a launch behind that wait gets and does not use. In the cases
 * "longer", "longer_freed" and "longer_exit" launches take far longer than those before them; the
 * program waits for their stream, or frees their memory, or ends. In the case "used_up" a profiler
 * has waited in vain again and again before. In the case "busy" each launch stands behind one of
 * another kernel, until the program is killed. In the case "queue" a kernel waits for a launch
 * behind it, in another stream. In the case "dies" a kernel breaks the context. In the case
 * "direct" other devices may access the memory of launches from some time on, and the program is
 * killed; so it is in "direct_beside", where another thread makes them. Each launch makes x = 2 * x
 * + 1 of its numbers, so that one that runs twice, or from the wrong memory, is seen. An alarm ends
 * the program after 60 seconds.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "image.h"
#include "programs/cases.h"
#include "programs/linked.h"

enum { KNOWN = 4, N = 64, LONG_MS = 200 };

static CUcontext context;
static CUmodule module;
static CUfunction scale, compute;
static volatile uint32_t *on_host;
static CUdeviceptr flag;

static CUfunction find(const char *name)
{
    CUfunction f;

    MUST(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUstream make_stream(void)
{
    CUstream stream;

    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static CUdeviceptr allocate(void)
{
    CUdeviceptr x;

    MUST(cuMemAlloc(&x, 4 * N));
    MUST(cuMemsetD32(x, 0, N));
    MUST(cuCtxSynchronize());
    return x;
}

static void launch_scale(CUdeviceptr x, unsigned n, CUstream stream)
{
    float factor = 2;
    void *params[] = {&x, &n, &factor};

    MUST(cuLaunchKernel(scale, 1, 1, 1, N, 1, 1, 0, stream, params, NULL));
}

static void launch_long(CUfunction f, CUdeviceptr x, unsigned ms, CUstream stream)
{
    void *params[] = {&x, &ms};

    MUST(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
}

/* Numbers of a kernel that is known. */
static CUdeviceptr begin_scale(CUstream stream)
{
    CUdeviceptr x = allocate();

    for (int i = 0; i < KNOWN; i++)
        launch_scale(x, N, stream);
    MUST(cuStreamSynchronize(stream));
    return x;
}

static CUdeviceptr begin_compute(unsigned ms, CUstream stream)
{
    CUdeviceptr x = allocate();

    for (int i = 0; i < KNOWN; i++)
        launch_long(compute, x, ms, stream);
    MUST(cuStreamSynchronize(stream));
    return x;
}

static void set(uint32_t value)
{
    __atomic_store_n(on_host, value, __ATOMIC_RELEASE);
}

static void block(CUstream stream)
{
    set(0);
    MUST(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

static void show(const char *name, CUdeviceptr x, bool is_float)
{
    uint32_t whole;
    float number;

    MUST(cuMemcpyDtoH(&whole, x, sizeof(whole)));
    memcpy(&number, &whole, sizeof(number));
    printf("%s: %g\n", name, is_float ? (double)number : whole);
}

/* ---- memory that goes ------------------------------------------------------------------------ */

/* The launches have ended. The driver would not wait for the other stream. */
static void freed(void)
{
    CUstream stream = make_stream(), blocked = make_stream();
    CUdeviceptr x = begin_scale(stream), other;

    MUST(cuMemAllocAsync(&other, 4096, stream));
    for (int i = 0; i < 3; i++)
        launch_scale(x, N, stream);
    MUST(cuStreamSynchronize(stream));
    block(blocked);
    MUST(cuMemFreeAsync(other, stream));
    MUST(cuStreamSynchronize(stream));
    set(1);
    MUST(cuCtxSynchronize());
    show("freed", x, true);
}

/* The launch reads none of the memory, but a copy would be made of it behind the wait. */
static void kept(void)
{
    CUstream stream = make_stream(), blocked = make_stream();
    CUdeviceptr x = begin_scale(blocked), unused;

    MUST(cuMemAlloc(&unused, 4096));
    block(blocked);
    launch_scale(unused, 0, blocked);
    MUST(cuMemFreeAsync(unused, stream));
    MUST(cuStreamSynchronize(stream));
    set(1);
    printf("kept: %d\n", cuCtxSynchronize());
    show("kept", x, true);
    MUST(cuMemFree(x));
}

/* ---- launches that take longer than was to be expected --------------------------------------- */

static CUdeviceptr begin_longer(CUstream *stream)
{
    *stream = make_stream();
    CUdeviceptr x = begin_compute(1, *stream);
    for (int i = 0; i < 4; i++)
        launch_long(compute, x, LONG_MS, *stream);
    return x;
}

static void longer(void)
{
    CUstream stream;
    CUdeviceptr x = begin_longer(&stream);

    launch_long(compute, x, 1, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuFuncSetAttribute(compute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
    show("longer", x, false);
}

static void longer_freed(void)
{
    CUstream stream;

    MUST(cuMemFree(begin_longer(&stream)));
    printf("longer_freed\n");
}

static void longer_exit(void)
{
    CUstream stream;

    (void)begin_longer(&stream);
    printf("longer_exit\n");
    exit(0);
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* At each change of the kernel there is a launch to be measured, and a stream that is blocked. */
static void used_up(void)
{
    enum { CHANGES = 14, LAUNCHES = 100 };
    CUstream stream = make_stream(), blocked = make_stream();
    CUdeviceptr x = begin_scale(stream), y = begin_compute(5, stream);

    for (int i = 0; i < CHANGES; i++) {
        launch_scale(x, N, stream);
        MUST(cuStreamSynchronize(stream));
        block(blocked);
        MUST(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024 + i));
        set(1);
        MUST(cuCtxSynchronize());
    }
    for (int i = 0; i < LAUNCHES; i++)
        launch_long(compute, y, 5, stream);
    MUST(cuStreamSynchronize(stream));
    show("used_up", x, true);
    show("used_up", y, false);
}

/* They are some second and a half, and less than a tenth of a second long together. */
static void busy(void)
{
    enum { LAUNCHES = 18 };
    CUfunction poll = find("poll_long");
    CUstream stream = make_stream();
    CUdeviceptr x = begin_compute(5, stream), y = allocate();

    for (int i = 0; i < LAUNCHES; i++) {
        launch_long(poll, y, 20, stream);
        launch_long(compute, x, 5, stream);
        (void)usleep(85000);
    }
    MUST(cuStreamSynchronize(stream));
    show("busy", x, false);
    (void)fflush(stdout);
    (void)raise(SIGKILL);
}

/* A profiler may verify each tenth launch, say: one of these is. */
static void one_queue(void)
{
    enum { ROUNDS = 12 };
    CUfunction wait = find("wait_for_flag");
    CUstream stream = make_stream(), other = make_stream();
    CUdeviceptr x = begin_scale(stream), seen = allocate();
    void *params[] = {&x, &seen};

    for (int i = 0; i < ROUNDS; i++) {
        MUST(cuMemsetD32(x, 0, N));
        MUST(cuCtxSynchronize());
        MUST(cuLaunchKernel(wait, 1, 1, 1, 32, 1, 1, 0, other, params, NULL));
        launch_scale(x, N, stream);
        MUST(cuStreamSynchronize(other));
    }
    MUST(cuCtxSynchronize());
    show("queue", x, true);
}

static void dies(void)
{
    enum { BEHIND = 9 };
    CUstream stream = make_stream();
    CUdeviceptr x = begin_scale(stream);
    unsigned too_many = N;
    void *params[] = {&x, &too_many};

    for (int i = 0; i < BEHIND; i++)
        launch_scale(x, N, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuLaunchKernel(find("out_of_bounds"), 1, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    printf("dies: %d\n", cuCtxSynchronize());
}

/* The attribute is that of the whole allocation, and set again. */
static void direct(void)
{
    enum { BEFORE = 6, AFTER = 6 };
    CUstream stream = make_stream();
    CUdeviceptr x = begin_scale(stream);
    unsigned set = 1;

    for (int i = 0; i < BEFORE; i++)
        launch_scale(x, N, stream);
    for (int i = 0; i < AFTER; i++) {
        MUST(cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, x + 16));
        launch_scale(x, N, stream);
    }
    MUST(cuStreamSynchronize(stream));
    show("direct", x, true);
    (void)fflush(stdout);
    (void)raise(SIGKILL);
}

struct launching {
    CUdeviceptr x;
    CUstream stream;
    atomic_uint made;
    atomic_bool enough;
};

static void *launch_on(void *argument)
{
    struct launching *l = argument;

    MUST(cuCtxSetCurrent(context));
    while (!atomic_load(&l->enough)) {
        launch_scale(l->x, N, l->stream);
        atomic_fetch_add(&l->made, 1);
    }
    return NULL;
}

/* Another thread launches meanwhile. */
static void direct_beside(void)
{
    struct launching l = {.stream = make_stream()};
    pthread_t thread;
    unsigned set = 1;

    l.x = begin_scale(l.stream);
    if (pthread_create(&thread, NULL, launch_on, &l))
        exit(2);
    while (atomic_load(&l.made) < 20)
        (void)sched_yield();
    MUST(cuPointerSetAttribute(&set, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, l.x));
    atomic_store(&l.enough, true);
    pthread_join(thread, NULL);
    MUST(cuStreamSynchronize(l.stream));
    (void)fflush(stdout);
    (void)raise(SIGKILL);
}

static void run(const char *which)
{
    static const struct program_case cases[] = {{"freed", freed},
                                                {"kept", kept},
                                                {"longer", longer},
                                                {"longer_freed", longer_freed},
                                                {"longer_exit", longer_exit},
                                                {"used_up", used_up},
                                                {"busy", busy},
                                                {"queue", one_queue},
                                                {"dies", dies},
                                                {"direct", direct},
                                                {"direct_beside", direct_beside},
                                                {0}};

    run_case(cases, which);
}

int main(int argc, char **argv)
{
    static const struct gpusim_image_kernel kernels[] = {{"scale_in_place", 10, 0, 0},
                                                         {"compute_long", 8, 0, 0},
                                                         {"poll_long", 8, 0, 0},
                                                         {"wait_for_flag", 8, 0, 0},
                                                         {"out_of_bounds", 8, 0, 0}};
    void *memory, *image;
    size_t bytes;

    (void)alarm(60);
    MUST(cuInit(0));
    MUST(cuCtxCreate_v2(&context, 0, 0));
    image = gpusim_image_build(kernels, sizeof(kernels) / sizeof(kernels[0]), NULL, 0, &bytes);
    MUST(cuModuleLoadData(&module, image));
    free(image);
    scale = find("scale_in_place");
    compute = find("compute_long");
    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&flag, memory, 0));
    on_host = memory;
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    return 0;
}
