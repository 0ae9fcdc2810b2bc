/*
 * reach_linked CASE...: kernels that come by the memory they update in roundabout ways, with much
 * other memory beside it. Each launch makes x = 3 * x + 1 of every element, so that one that runs
 * twice, or from the wrong memory, is seen.
 */
#include "programs/linked.h"

#include <stdint.h>

#include "image.h"

enum { N = 1000, LAUNCHES = 5, BYSTANDER_BYTES = 1 << 20 };

static CUmodule module;

static void expect(bool right, const char *what)
{
    if (right)
        return;
    printf("%s: WRONG\n", what);
    exit(1);
}

static void *host_memory(size_t bytes)
{
    void *p = calloc(1, bytes);

    expect(p != NULL, "host memory");
    return p;
}

static void launch(const char *name, unsigned threads, void **params)
{
    CUfunction f;

    MUST(cuModuleGetFunction(&f, module, name));
    MUST(cuLaunchKernel(f, (threads + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
}

/* The value, after so many launches, of an element that began as i. */
static uint32_t after(uint32_t i, unsigned launches)
{
    while (launches-- > 0)
        i = 3 * i + 1;
    return i;
}

static CUdeviceptr make_numbers(unsigned n)
{
    uint32_t *numbers = host_memory(n * 4);
    CUdeviceptr p;

    for (unsigned i = 0; i < n; i++)
        numbers[i] = i;
    MUST(cuMemAlloc_v2(&p, n * 4));
    MUST(cuMemcpyHtoD_v2(p, numbers, n * 4));
    free(numbers);
    return p;
}

static void check_numbers(const char *what, CUdeviceptr p, unsigned n, unsigned launches)
{
    uint32_t *seen = host_memory(n * 4);

    MUST(cuMemcpyDtoH_v2(seen, p, n * 4));
    for (unsigned i = 0; i < n; i++)
        expect(seen[i] == after(i, launches), what);
    printf("%s: element 7 is %u\n", what, seen[7]);
    free(seen);
}

static void unaligned(void)
{
    CUdeviceptr x = make_numbers(N);
    uint32_t n = N, low = (uint32_t)x, high = (uint32_t)(x >> 32);
    void *params[] = {&n, &low, &high};

    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_unaligned", N, params);
    check_numbers("unaligned", x, N, LAUNCHES);
    MUST(cuMemFree_v2(x));
}

static void interior(void)
{
    CUdeviceptr x = make_numbers(N), middle = x + N / 2 * 4, end = x + N * 4;
    uint32_t half = N / 2, none = 0;
    void *params[] = {&middle, &half}, *nothing[] = {&end, &none};

    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_around", N, params);
    launch("reach_around", N, nothing);
    check_numbers("interior", x, N, LAUNCHES);
    MUST(cuMemFree_v2(x));
}

/* Where addresses are low, two numbers that are parameters are equal to one of other memory. */
static void numbers(CUdeviceptr bystander)
{
    CUdeviceptr x = make_numbers(N);
    uint32_t n = N, low = (uint32_t)bystander + 1000, upper = (uint32_t)(bystander >> 32);
    void *params[] = {&x, &n, &low, &upper};

    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_numbers", N, params);
    check_numbers("numbers", x, N, LAUNCHES);
    MUST(cuMemFree_v2(x));
}

/* A kernel with matrices, which the program has as PTX alone. */
static void compiled(void)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry tensor_work(.param .u64 out, .param .u32 rounds)\n{\n ret;\n}\n";
    float seen[128];
    uint32_t rounds = 3;
    CUdeviceptr out;
    CUmodule others = module;
    void *params[] = {&out, &rounds};

    MUST(cuMemAlloc_v2(&out, sizeof(seen)));
    MUST(cuModuleLoadData(&module, text));
    for (int k = 0; k < LAUNCHES; k++)
        launch("tensor_work", 128, params);
    MUST(cuMemcpyDtoH_v2(seen, out, sizeof(seen)));
    for (int i = 0; i < 128; i++)
        expect((uint32_t)seen[i] == rounds, "compiled");
    printf("compiled: ok\n");
    MUST(cuModuleUnload(module));
    module = others;
    MUST(cuMemFree_v2(out));
}

/* A table of pointers, in device memory or in the host's. */
static void table(bool on_host)
{
    enum { BUFFERS = 300 };
    static CUdeviceptr buffers[BUFFERS];
    CUdeviceptr list;
    void *host = NULL;
    uint32_t n = BUFFERS, value;
    void *params[] = {&list, &n};

    for (uint32_t i = 0; i < BUFFERS; i++) {
        MUST(cuMemAlloc_v2(&buffers[i], 4 + i * 16));
        MUST(cuMemcpyHtoD_v2(buffers[i], &i, 4));
    }
    if (on_host) {
        MUST(cuMemHostAlloc(&host, sizeof(buffers), CU_MEMHOSTALLOC_DEVICEMAP));
        memcpy(host, buffers, sizeof(buffers));
        MUST(cuMemHostGetDevicePointer_v2(&list, host, 0));
    } else {
        MUST(cuMemAlloc_v2(&list, sizeof(buffers)));
        MUST(cuMemcpyHtoD_v2(list, buffers, sizeof(buffers)));
    }
    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_table", BUFFERS, params);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        MUST(cuMemcpyDtoH_v2(&value, buffers[i], 4));
        expect(value == after(i, LAUNCHES), "table");
        MUST(cuMemFree_v2(buffers[i]));
    }
    printf("table %s: ok\n", on_host ? "on the host" : "on the device");
    if (on_host)
        MUST(cuMemFreeHost(host));
    else
        MUST(cuMemFree_v2(list));
}

struct element {
    uint32_t value, low, high;
};

/* A list whose elements lie in buffers of their own; the first is known to a variable of the
 * module, or to the parameter. */
static void list(bool from_variable)
{
    enum { ELEMENTS = 12 };
    CUdeviceptr elements[ELEMENTS + 1] = {0}, anchor;
    struct element element;
    uint32_t unused = 0;
    void *first[] = {&elements[0]}, *nothing[] = {&unused};

    for (int i = 0; i < ELEMENTS; i++)
        MUST(cuMemAlloc_v2(&elements[i], sizeof(element)));
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        element = (struct element){i, (uint32_t)elements[i + 1], (uint32_t)(elements[i + 1] >> 32)};
        MUST(cuMemcpyHtoD_v2(elements[i], &element, sizeof(element)));
    }
    MUST(cuModuleGetGlobal_v2(&anchor, NULL, module, "anchor"));
    MUST(cuMemcpyHtoD_v2(anchor, &elements[0], sizeof(elements[0])));
    for (int k = 0; k < LAUNCHES; k++)
        launch(from_variable ? "reach_variable" : "reach_list", 1, from_variable ? nothing : first);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        MUST(cuMemcpyDtoH_v2(&element, elements[i], sizeof(element)));
        expect(element.value == after(i, LAUNCHES), "list");
        MUST(cuMemFree_v2(elements[i]));
    }
    printf("list from %s: ok\n", from_variable ? "a variable" : "a parameter");
}

/* Two mappings side by side, used as one. */
static void neighbours(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemAccessDesc access = {.location = prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr both, border;
    uint32_t half = 100, zeros[200] = {0}, seen[200];
    void *params[] = {&border, &half};
    size_t unit;

    MUST(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    MUST(cuMemAddressReserve(&both, 2 * unit, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        MUST(cuMemCreate(&memory, unit, &prop, 0));
        MUST(cuMemMap(both + i * unit, unit, 0, memory, 0));
        MUST(cuMemRelease(memory));
    }
    MUST(cuMemSetAccess(both, 2 * unit, &access, 1));
    border = both + unit;
    MUST(cuMemcpyHtoD_v2(border - 400, zeros, 400));
    MUST(cuMemcpyHtoD_v2(border, zeros, 400));
    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_around", 200, params);
    MUST(cuMemcpyDtoH_v2(seen, border - 400, 400));
    MUST(cuMemcpyDtoH_v2(seen + 100, border, 400));
    for (int i = 0; i < 200; i++)
        expect(seen[i] == after(0, LAUNCHES), "neighbours");
    printf("neighbours: ok\n");
    MUST(cuMemUnmap(both, unit));
    MUST(cuMemUnmap(both + unit, unit));
    MUST(cuMemAddressFree(both, 2 * unit));
}

/* A pointer to the program's own memory, which the kernel does not follow. */
static void pageable(void)
{
    uint32_t *own = host_memory(1 << 20), none = 0;
    CUdeviceptr pointer = (uintptr_t)own + 1000;
    void *params[] = {&pointer, &none};

    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_around", 1, params);
    MUST(cuCtxSynchronize());
    printf("pageable: ok\n");
    free(own);
}

static void hidden(void)
{
    CUdeviceptr x = make_numbers(N), inverted = ~x;
    uint32_t n = N;
    void *params[] = {&inverted, &n};

    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_hidden", N, params);
    check_numbers("hidden", x, N, LAUNCHES);
    MUST(cuMemFree_v2(x));
}

/* A hidden address goes to a kernel that has been seen to be harmless often enough. */
static void hidden_late(void)
{
    CUdeviceptr x = make_numbers(N), inverted = ~x;
    uint32_t n = N, none = 0;
    void *params[] = {&inverted, &n}, *harmless[] = {&inverted, &none};

    for (int k = 0; k < 4; k++)
        launch("reach_hidden", N, harmless);
    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_hidden", N, params);
    check_numbers("hidden late", x, N, LAUNCHES);
    MUST(cuMemFree_v2(x));
}

/* Its parameters come as an array, and then packed into a block. */
static void hidden_packed(void)
{
    CUdeviceptr x = make_numbers(N);
    struct {
        uint64_t inverted;
        uint32_t n;
    } block = {~(uint64_t)x, N};
    void *params[] = {&block.inverted, &block.n};
    size_t bytes = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    CUfunction f;

    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_hidden", N, params);
    MUST(cuModuleGetFunction(&f, module, "reach_hidden"));
    for (int k = 0; k < LAUNCHES; k++)
        MUST(cuLaunchKernel(f, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
    check_numbers("hidden packed", x, N, 2 * LAUNCHES);
    MUST(cuMemFree_v2(x));
}

enum later { AT_TENTH, BEHIND_LONG_WORK, WITH_ANOTHER_GRID };

/* Takes far longer the last time than a profiler can expect. */
static void take_long(void)
{
    CUdeviceptr x = make_numbers(1);
    unsigned ms = 0;
    void *params[] = {&x, &ms};

    for (int k = 0; k < 5; k++) {
        ms = k < 4 ? 0 : 200;
        launch("compute_long", 1, params);
        MUST(k < 4 ? cuCtxSynchronize() : CUDA_SUCCESS);
    }
}

/* It begins to do so at its 10th launch, with an idle GPU or behind work that takes long, or at the
 * first with another grid. */
static void hidden_later(enum later when)
{
    CUdeviceptr x = make_numbers(N), inverted = ~x;
    uint32_t n = N, none = 0;
    void *params[] = {&inverted, &n}, *harmless[] = {&inverted, &none};

    for (int k = 0; k < (when == WITH_ANOTHER_GRID ? 5 : 9); k++)
        launch("reach_hidden", N, harmless);
    MUST(cuCtxSynchronize());
    if (when == BEHIND_LONG_WORK)
        take_long();
    for (int k = 0; k < LAUNCHES; k++)
        launch("reach_hidden", when == WITH_ANOTHER_GRID ? 2 * N : N, params);
    check_numbers("hidden later", x, N, LAUNCHES);
    MUST(cuMemFree_v2(x));
}

/* So many buffers, allocated and freed between launches. */
static void many(uint32_t count)
{
    enum { MOST = 20000, EVERY = 500 };
    static CUdeviceptr buffers[MOST];
    uint32_t value, n = EVERY;
    CUdeviceptr list;
    void *params[] = {&list, &n};

    MUST(cuMemAlloc_v2(&list, EVERY * sizeof(*buffers)));
    for (uint32_t i = 0; i < count; i++) {
        MUST(cuMemAlloc_v2(&buffers[i], 256));
        MUST(cuMemcpyHtoD_v2(buffers[i], &i, 4));
        if (i % EVERY == EVERY - 1) {
            MUST(cuMemcpyHtoD_v2(list, &buffers[i + 1 - EVERY], EVERY * sizeof(*buffers)));
            launch("reach_table", EVERY, params);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        MUST(cuMemcpyDtoH_v2(&value, buffers[i], 4));
        expect(value == after(i, 1), "many");
        MUST(cuMemFree_v2(buffers[i]));
    }
    MUST(cuMemFree_v2(list));
    printf("many: ok\n");
}

static void open_device(void)
{
    static const struct gpusim_image_kernel kernels[] = {
        {"reach_unaligned", 12, 0, 0}, {"reach_around", 12, 0, 0}, {"reach_table", 12, 0, 0},
        {"reach_numbers", 12, 0, 0},   {"reach_list", 12, 0, 0},   {"reach_variable", 12, 0, 0},
        {"reach_hidden", 12, 0, 0},    {"compute_long", 12, 0, 0},
    };
    static const struct gpusim_image_global globals[] = {{"anchor", 8, NULL, GPUSIM_IMAGE_GLOBAL}};
    CUdevice device;
    CUcontext context;
    size_t bytes;
    void *image =
        gpusim_image_build(kernels, sizeof(kernels) / sizeof(kernels[0]), globals, 1, &bytes);

    expect(image != NULL, "image");
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, image));
    free(image);
}

static void run(const char *name, CUdeviceptr bystander)
{
    if (strcmp(name, "numbers") == 0)
        numbers(bystander);
    else if (strcmp(name, "compiled") == 0)
        compiled();
    else if (strcmp(name, "unaligned") == 0)
        unaligned();
    else if (strcmp(name, "interior") == 0)
        interior();
    else if (strcmp(name, "table") == 0)
        table(false);
    else if (strcmp(name, "host_table") == 0)
        table(true);
    else if (strcmp(name, "list") == 0)
        list(false);
    else if (strcmp(name, "variable") == 0)
        list(true);
    else if (strcmp(name, "neighbours") == 0)
        neighbours();
    else if (strcmp(name, "pageable") == 0)
        pageable();
    else if (strcmp(name, "hidden") == 0)
        hidden();
    else if (strcmp(name, "hidden_late") == 0)
        hidden_late();
    else if (strcmp(name, "hidden_packed") == 0)
        hidden_packed();
    else if (strcmp(name, "hidden_tenth") == 0)
        hidden_later(AT_TENTH);
    else if (strcmp(name, "hidden_behind") == 0)
        hidden_later(BEHIND_LONG_WORK);
    else if (strcmp(name, "hidden_grid") == 0)
        hidden_later(WITH_ANOTHER_GRID);
    else if (strcmp(name, "many") == 0)
        many(20000);
    else if (strcmp(name, "several") == 0)
        many(4000);
    else
        exit(64);
}

int main(int argc, char **argv)
{
    CUdeviceptr bystander;

    open_device();
    MUST(cuMemAlloc_v2(&bystander, BYSTANDER_BYTES));
    for (int i = 1; i < argc; i++)
        run(argv[i], bystander);
    MUST(cuMemFree_v2(bystander));
    return 0;
}
