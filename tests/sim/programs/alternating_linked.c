/*
 * alternating_linked CONTEXTS ROUNDS [WORD...]: several contexts of one process, into which kernels
 * are launched one after the other: one launch into each in every round. Two kernels take their
 * turns. Each launch makes x = 2 * x + 1 of every element, so that one that runs twice, or from the
 * wrong memory, is seen. The words:
 *
 *   rows       each context makes all of its rounds before the next one
 *   few        the first context makes two rounds only
 *   threads    each context has a thread, which launches without a wait for the others
 *   destroyed  the contexts are destroyed at the end; else the process ends with them
 *   killed     the process kills itself at the end
 *   goes       the first context is destroyed behind half of the rounds, and launches no more
 *   replaced   the last context is destroyed behind each round, and made anew
 *   unloaded   in each round the next context unloads its module, and loads it again
 *   freed      in each round the next context frees its memory, and allocates it again
 *   host       the memory is the host's, page-locked
 *   devices    every other context is on the second GPU
 *   pause=MS   the program sleeps for so long behind each round
 *   time       the time of the loop is printed
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000, MOST_CONTEXTS = 64, MOST_DOUBLED = 20 };

static const char *const kernels[] = {"scale_in_place", "ordinary"};
static int context_count, rounds;
static bool in_rows, few, in_threads, goes, destroyed, killed, replaced, unloaded, freed, on_host,
    on_devices, timed;
static unsigned pause_ms;
static void *image;

struct owner {
    CUcontext context;
    CUmodule module;
    CUfunction f[2];
    CUdeviceptr x;
    void *memory; /* the host's */
    float expected;
    int number, launches;
};

static void enter(const struct owner *o)
{
    MUST(cuCtxPushCurrent(o->context));
}

static void leave(void)
{
    CUcontext popped;
    MUST(cuCtxPopCurrent(&popped));
}

static void load(struct owner *o)
{
    MUST(cuModuleLoadData(&o->module, image));
    for (int k = 0; k < 2; k++)
        MUST(cuModuleGetFunction(&o->f[k], o->module, kernels[k]));
}

static void get_memory(struct owner *o)
{
    if (on_host) {
        MUST(cuMemHostAlloc(&o->memory, N * sizeof(float), CU_MEMHOSTALLOC_DEVICEMAP));
        MUST(cuMemHostGetDevicePointer(&o->x, o->memory, 0));
    } else {
        MUST(cuMemAlloc(&o->x, N * sizeof(float)));
    }
    MUST(cuMemsetD32(o->x, 0, N));
    o->expected = 0;
}

static void make(struct owner *o)
{
    MUST(cuCtxCreate_v2(&o->context, 0, on_devices ? o->number % 2 : 0));
    load(o);
    get_memory(o);
    leave();
}

/* The context is current. */
static void check(const struct owner *o)
{
    float seen[N];
    MUST(cuMemcpyDtoH(seen, o->x, sizeof(seen)));
    for (unsigned i = 0; i < N; i++)
        if (seen[i] != o->expected) {
            printf("context %d, after %d launches: element %u is %g, not %g\n", o->number,
                   o->launches, i, (double)seen[i], (double)o->expected);
            exit(1);
        }
}

static void destroy(struct owner *o)
{
    enter(o);
    check(o);
    leave();
    MUST(cuCtxDestroy(o->context));
}

static void advance(struct owner *o)
{
    unsigned n = N;
    float factor = 2;
    void *params[] = {&o->x, &n, &factor};
    MUST(cuLaunchKernel(o->f[o->launches % 2], 8, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    o->launches++;
    o->expected = 2 * o->expected + 1;
    if (o->launches % MOST_DOUBLED)
        return;
    check(o); /* floats hold no more */
    MUST(cuMemsetD32(o->x, 0, N));
    o->expected = 0;
}

static void change(struct owner *o)
{
    if (unloaded) {
        MUST(cuCtxSynchronize());
        MUST(cuModuleUnload(o->module));
        load(o);
    }
    if (freed) {
        check(o);
        if (on_host)
            MUST(cuMemFreeHost(o->memory));
        else
            MUST(cuMemFree(o->x));
        get_memory(o);
    }
}

static void launch_once(struct owner *o, int round, int next)
{
    if (few && o->number == 0 && round >= 2)
        return;
    enter(o);
    advance(o);
    if (round % context_count == next)
        change(o);
    leave();
    if (pause_ms)
        (void)usleep(1000 * pause_ms);
}

static void *run_thread(void *owner)
{
    struct owner *o = owner;
    for (int round = 0; round < rounds; round++)
        launch_once(o, round, o->number);
    return NULL;
}

static void run_threads(struct owner *owners)
{
    pthread_t threads[MOST_CONTEXTS];
    for (int i = 0; i < context_count; i++)
        if (pthread_create(&threads[i], NULL, run_thread, &owners[i]) != 0)
            exit(2);
    for (int i = 0; i < context_count; i++)
        (void)pthread_join(threads[i], NULL);
}

static void run_rounds(struct owner *owners)
{
    struct owner *last = &owners[context_count - 1];
    for (int i = 0; i < context_count && in_rows; i++)
        run_thread(&owners[i]);
    for (int round = 0; round < rounds && !in_rows; round++) {
        for (int i = goes && 2 * round >= rounds; i < context_count; i++)
            launch_once(&owners[i], round, i);
        if (goes && 2 * (round + 1) >= rounds && owners[0].context) {
            destroy(&owners[0]);
            owners[0].context = NULL;
        }
        if (replaced && round < rounds - 1) {
            destroy(last);
            make(last);
        }
    }
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool take_word(const char *word)
{
    static const struct {
        const char *word;
        bool *is;
    } words[] = {{"rows", &in_rows},        {"few", &few},     {"threads", &in_threads},
                 {"destroyed", &destroyed}, {"goes", &goes},   {"replaced", &replaced},
                 {"unloaded", &unloaded},   {"freed", &freed}, {"host", &on_host},
                 {"devices", &on_devices},  {"time", &timed},  {"killed", &killed}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(word, words[i].word) == 0)
            return *words[i].is = true;
    return sscanf(word, "pause=%u", &pause_ms) == 1;
}

int main(int argc, char **argv)
{
    static struct owner owners[MOST_CONTEXTS];
    size_t size;
    int launches = 0;

    if (argc < 3)
        return 64;
    context_count = atoi(argv[1]);
    rounds = atoi(argv[2]);
    for (int i = 3; i < argc; i++)
        if (!take_word(argv[i]))
            return 64;
    if (context_count < 1 || context_count > MOST_CONTEXTS)
        return 64;
    image = snippets_image(&size);
    MUST(cuInit(0));
    for (int i = 0; i < context_count; i++) {
        owners[i].number = i;
        make(&owners[i]);
    }
    const double began = seconds();
    if (in_threads)
        run_threads(owners);
    else
        run_rounds(owners);
    for (int i = 0; i < context_count; i++) {
        launches += owners[i].launches;
        if (!owners[i].context)
            continue;
        enter(&owners[i]);
        check(&owners[i]);
        leave();
        if (destroyed)
            destroy(&owners[i]);
    }
    printf("alternating: ok, %d contexts, %d launches\n", context_count, launches);
    if (killed)
        (void)raise(SIGKILL);
    if (timed)
        printf("loop: %.9f s, %d launches\n", seconds() - began, launches);
    free(image);
    return 0;
}
