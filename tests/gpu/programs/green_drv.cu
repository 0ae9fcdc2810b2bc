/* Launches in a green context, before those in the primary context, between them and behind them:
 * with the green context current, and into a stream of it while the primary one is. Memory was
 * allocated while the other kind of context was current. CUPTI counts nothing in a green context;
 * the primary context's launches are measured all the same. */
#include "driver.h"
#include "ptx.h"

#define N 64
#define ROUNDS 3

static CUcontext primary, converted;
static CUstream stream;

/* A library's kernel, which is of every context. */
struct kernel {
    CUfunction function;
    bool counts; /* its calls, in a variable: it runs in the primary context only */
    unsigned calls;
};

struct numbers {
    CUdeviceptr data;
    unsigned expected[N];
};

static struct kernel load(const char *name, const char *ptx, bool counts)
{
    CUlibrary library;
    CUkernel kernel;
    DRIVER(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    DRIVER(cuLibraryGetKernel(&kernel, library, name));
    return (struct kernel){(CUfunction)kernel, counts, 0};
}

static void allocate(struct numbers *n, CUcontext context)
{
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuMemAlloc(&n->data, sizeof(n->expected)));
    for (int i = 0; i < N; i++)
        n->expected[i] = i;
    DRIVER(cuMemcpyHtoD(n->data, n->expected, sizeof(n->expected)));
}

static void launch(struct kernel *k, struct numbers *n, CUcontext context, CUstream where)
{
    unsigned count = N, factor = 3;
    void *parameters[] = {&n->data, &count, &factor};
    DRIVER(cuCtxSetCurrent(context));
    for (int round = 0; round < ROUNDS; round++) {
        DRIVER(cuLaunchKernel(k->function, 1, 1, 1, N, 1, 1, 0, where, parameters, NULL));
        for (int i = 0; i < N; i++)
            n->expected[i] = n->expected[i] * factor + (k->counts ? k->calls : i);
        k->calls++;
    }
    DRIVER(where ? cuStreamSynchronize(where) : cuCtxSynchronize());
}

static void check(const struct numbers *n, const char *what)
{
    unsigned seen[N];
    DRIVER(cuMemcpyDtoH(seen, n->data, sizeof(seen)));
    for (int i = 0; i < N; i++)
        REQUIRE(seen[i] == n->expected[i], "%s: element %d is %u, not %u", what, i, seen[i],
                n->expected[i]);
}

int main(void)
{
    CUdevice device = use_primary_context();
    CUdevResource all, part;
    CUdevResourceDesc description;
    CUgreenCtx green;
    unsigned groups = 1;
    struct numbers ours, theirs;
    DRIVER(cuCtxGetCurrent(&primary));
    DRIVER(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
    DRIVER(cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 16));
    DRIVER(cuDevResourceGenerateDesc(&description, &part, 1));
    DRIVER(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
    DRIVER(cuCtxFromGreenCtx(&converted, green));
    DRIVER(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    struct kernel inside = load("scale", scale_ptx, false);
    struct kernel outside = load("outside", count_ptx("outside", 3), true);
    allocate(&ours, primary);
    allocate(&theirs, converted);
    DRIVER(cuCtxSynchronize());

    launch(&inside, &ours, converted, NULL);
    launch(&outside, &theirs, primary, NULL);
    launch(&inside, &theirs, primary, stream);
    launch(&outside, &ours, primary, NULL);
    launch(&inside, &ours, converted, stream);
    DRIVER(cuCtxSetCurrent(primary));
    check(&ours, "the primary context's");
    check(&theirs, "the green context's");
    DRIVER(cuStreamDestroy(stream));
    DRIVER(cuGreenCtxDestroy(green));
    launch(&outside, &ours, primary, NULL);
    check(&ours, "afterwards");
    printf("green: ok %u\n", ours.expected[1]);
    return 0;
}
