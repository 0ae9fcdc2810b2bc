/*
 * cancelled_linked: threads that are to end at the next point where a thread can be cancelled, and
 * call the driver before that, which is none: each call is carried out, and others go on after it.
 */
#include <pthread.h>

#include "programs/linked.h"
#include "programs/snippets.h"

enum { N = 1000, LAUNCHES = 3 };

static CUcontext context;
static CUmodule module;
static CUdeviceptr numbers;
static unsigned carried_out;

static void launch_scale(const char *kernel)
{
    CUfunction f;
    unsigned n = N;
    float factor = 2;
    void *params[] = {&numbers, &n, &factor};

    MUST(cuModuleGetFunction(&f, module, kernel));
    MUST(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
}

/* The first call of all. */
static void *start(void *unused)
{
    (void)pthread_cancel(pthread_self());
    MUST(cuInit(0));
    carried_out++;
    pthread_testcancel();
    return unused;
}

/* The first launch of a kernel of which something is to be said. */
static void *launch_named(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    (void)pthread_cancel(pthread_self());
    launch_scale("_Z19ncclDevKernel_ScalePffj");
    carried_out++;
    pthread_testcancel();
    return unused;
}

static void *launch_many(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    (void)pthread_cancel(pthread_self());
    for (int i = 0; i < LAUNCHES; i++)
        launch_scale("scale_in_place");
    carried_out++;
    pthread_testcancel();
    return unused;
}

static void *unload(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    (void)pthread_cancel(pthread_self());
    MUST(cuModuleUnload(module));
    carried_out++;
    pthread_testcancel();
    return unused;
}

static void run(void *(*body)(void *))
{
    pthread_t thread;
    void *ended;

    if (pthread_create(&thread, NULL, body, NULL) != 0 || pthread_join(thread, &ended) != 0)
        exit(2);
    printf("%u carried out, then %s\n", carried_out,
           ended == PTHREAD_CANCELED ? "cancelled" : "ended");
}

int main(void)
{
    size_t size;
    void *image = snippets_image(&size);
    float seen[N], expected = 0;

    run(start);
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, image));
    free(image);
    MUST(cuMemAlloc(&numbers, sizeof(seen)));
    MUST(cuMemsetD32(numbers, 0, N));
    run(launch_named);
    run(launch_many);
    launch_scale("scale_in_place");
    MUST(cuMemcpyDtoH(seen, numbers, sizeof(seen)));
    for (int i = 0; i < 1 + LAUNCHES + 1; i++)
        expected = 2 * expected + 1;
    for (unsigned i = 0; i < N; i++)
        if (seen[i] != expected) {
            printf("element %u is %g, not %g\n", i, (double)seen[i], (double)expected);
            return 1;
        }
    printf("the last is %g\n", (double)seen[N - 1]);
    run(unload);
    return 0;
}
