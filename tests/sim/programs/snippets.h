/*
 * Small pieces of GPU work, each of which checks its own results and prints one line that is the
 * same on every run. Every program of this folder runs the same ones, found and called in its own
 * way.
 *
 * usage: PROGRAM [--size N] [--block WxH] [--offset K] [--launches N] [snippet...]
 */
#ifndef GPUSIM_PROGRAM_SNIPPETS_H
#define GPUSIM_PROGRAM_SNIPPETS_H

#include "image.h"
#include "programs/gpu.h"

struct options {
    unsigned size; /* elements, or the side of a matrix; 0: the snippet's own */
    unsigned block_x, block_y;
    unsigned offset;
    unsigned launches;
};

struct work {
    const struct gpu *gpu;
    struct options options;
    CUmodule module;
};

/* ---- the device program ---- */

static const uint32_t snippet_table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static const uint32_t snippet_state = 7;

static inline void *snippets_image_with(unsigned globals_count, size_t *bytes)
{
    static const struct gpusim_image_kernel kernels[] = {
        {"vector_add", 12, 0, 0},
        {"vector_add_float", 12, 0, 0},
        {"scale_in_place", 10, 0, 0},
        {"ordinary=scale_in_place", 10, 0, 0},
        {"scale_staged", 10, 0, 0},
        {"scale_awaited", 10, 0, 0},
        {"scale_asking", 10, 0, 0},
        {"add_until", 10, 0, 0},
        {"swap_some", 10, 0, 0},
        {"_Z19ncclDevKernel_ScalePffj", 10, 0, 0},
        {"global_state", 10, 0, 0},
        {"arena_update", 10, 0, 0},
        {"arena_add", 12, 0, 0},
        {"arena_flip", 10, 0, 0},
        {"arena_scatter", 12, 0, 0},
        {"arena_draw", 12, 0, 0},
        {"arena_stray", 12, 0, 0},
        {"arena_race", 12, 0, 0},
        {"arena_through", 12, 0, 0},
        {"arena_node", 12, 0, 0},
        {"arena_many", 12, 0, 0},
        {"count_down", 8, 0, 0},
        {"race", 12, 0, 0},
        {"global_counter", 8, 0, 0},
        {"grid_is_valid", 8, 0, 0},
        {"atomic_counter", 10, 0, 0},
        {"atomic_histogram", 10, 0, 0},
        {"matrix_add_row", 14, 0, 0},
        {"matrix_add_column", 14, 0, 0},
        {"matrix_add_linear", 14, 0, 0},
        {"read_offset", 14, 0, 0},
        {"read_offset_unrolled", 20, 0, 0},
        {"write_offset", 14, 0, 0},
        {"structs_aos", 12, 0, 0},
        {"structs_soa", 12, 0, 0},
        {"sum_neighbours", 14, 0, 0},
        {"sum_interleaved", 14, 0, 0},
        {"sum_shared", 14, 0, 0},
        {"sum_once", 8, 0, 0},
        {"transpose_naive", 14, 0, 0},
        {"transpose_shared", 14, 4096, 0},
        {"transpose_padded", 14, 4224, 0},
        {"wide_structs_shared", 16, 0, 0},
        {"predicated", 10, 0, 0},
        {"one_lane", 10, 0, 0},
        {"flops_float", 10, 0, 0},
        {"flops_double", 14, 0, 0},
        {"flops_half", 10, 0, 0},
        {"flops_constant", 10, 0, 0},
        {"matmul_tiled", 28, 2048, 0},
        {"tensor_work", 32, 0, 0},
        {"wait_for_flag", 8, 0, 0},
        {"compute_long", 8, 0, 0},
        {"poll_long", 8, 0, 0},
        {"out_of_bounds", 8, 0, 0},
        {"misaligned", 8, 0, 0},
        {"trap", 4, 0, 0},
        {"noop", 4, 0, 0},
        {"reach_list", 8, 0, 0},
        {"unknown_to_the_simulator", 4, 0, 0},
    };
    static const struct gpusim_image_global globals[] = {
        {"state", 4, &snippet_state, GPUSIM_IMAGE_GLOBAL},
        {"calls", 4, NULL, GPUSIM_IMAGE_GLOBAL},
        {"table", sizeof(snippet_table), snippet_table, GPUSIM_IMAGE_CONSTANT},
        {"counter", 4, NULL, GPUSIM_IMAGE_MANAGED},
    };

    return gpusim_image_build(kernels, sizeof(kernels) / sizeof(kernels[0]), globals, globals_count,
                              bytes);
}

#ifdef GPU_KERNELS
/* The program runs on a GPU: GPU_KERNELS is the file that nvcc made of tests/gpu/kernels.cu. */
extern const char gpu_kernels[], gpu_kernels_end[];
__asm__(".pushsection .rodata\n.balign 16\n"
        ".globl gpu_kernels, gpu_kernels_end\n"
        "gpu_kernels: .incbin \"" GPU_KERNELS "\"\n"
        "gpu_kernels_end: .popsection\n");

static inline void *snippets_image(size_t *bytes)
{
    *bytes = (size_t)(gpu_kernels_end - gpu_kernels);
    void *image = malloc(*bytes);

    return image ? memcpy(image, gpu_kernels, *bytes) : NULL;
}
#else
static inline void *snippets_image(size_t *bytes)
{
    return snippets_image_with(3, bytes);
}
#endif

/* The image has a managed variable as well, which the host may write at any time. */
static inline void *snippets_image_managed(size_t *bytes)
{
    return snippets_image_with(4, bytes);
}

/* ---- helpers ---- */

static inline CUfunction kernel(const struct work *w, const char *name)
{
    CUfunction f;

    MUST(w->gpu->ModuleGetFunction(&f, w->module, name));
    return f;
}

static inline CUdeviceptr allocate(const struct work *w, size_t bytes)
{
    CUdeviceptr p;

    MUST(w->gpu->MemAlloc(&p, bytes));
    return p;
}

static inline void *host_memory(size_t bytes)
{
    void *p = calloc(1, bytes);

    if (!p) {
        printf("out of host memory\n");
        exit(2);
    }
    return p;
}

static inline CUdeviceptr upload(const struct work *w, const void *from, size_t bytes)
{
    CUdeviceptr p = allocate(w, bytes);

    MUST(w->gpu->MemcpyHtoD(p, from, bytes));
    return p;
}

static inline void download(const struct work *w, void *to, CUdeviceptr from, size_t bytes)
{
    MUST(w->gpu->MemcpyDtoH(to, from, bytes));
}

static inline void launch(const struct work *w, const char *name, unsigned gx, unsigned gy,
                          unsigned bx, unsigned by, unsigned shared, CUstream stream, void **params)
{
    MUST(w->gpu->LaunchKernel(kernel(w, name), gx, gy, 1, bx, by, 1, shared, stream, params, NULL));
}

static inline void expect(bool right, const char *what)
{
    if (right)
        return;
    printf("%s: WRONG\n", what);
    exit(1);
}

/* Is the call there? If not, says that the snippet is left out. */
#define HAS(w, call, snippet) \
    ((w)->gpu->call || (printf("%s: left out, the driver has no cu%s\n", snippet, #call), false))

/* A sum of bytes that depends on their order: enough to see that nothing has changed. */
static inline uint32_t digest(const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ p[i]) * 16777619u;
    return sum;
}

static inline unsigned pick(unsigned chosen, unsigned otherwise)
{
    return chosen ? chosen : otherwise;
}

static inline unsigned blocks_for(unsigned n, unsigned block)
{
    return (n + block - 1) / block;
}

/* ---- the snippets ---- */

static inline void snippet_vector_add(struct work *w)
{
    unsigned n = pick(w->options.size, 1 << 14), block = pick(w->options.block_x, 256);
    int *a = host_memory(n * 4), *b = host_memory(n * 4), *c = host_memory(n * 4);
    CUdeviceptr da, db, dc;
    void *params[] = {&da, &db, &dc, &n};

    for (unsigned i = 0; i < n; i++) {
        a[i] = (int)(i * 7);
        b[i] = (int)(i * i % 1000);
    }
    da = upload(w, a, n * 4);
    db = upload(w, b, n * 4);
    dc = allocate(w, n * 4);
    launch(w, "vector_add", blocks_for(n, block), 1, block, 1, 0, NULL, params);
    download(w, c, dc, n * 4);
    for (unsigned i = 0; i < n; i++)
        expect(c[i] == a[i] + b[i], "vector_add");
    printf("vector_add: %u elements, digest %08x\n", n, digest(c, n * 4));
    MUST(w->gpu->MemFree(da));
    MUST(w->gpu->MemFree(db));
    MUST(w->gpu->MemFree(dc));
    free(a);
    free(b);
    free(c);
}

/* A kernel that changes its input: a launch that happens twice is seen at once. */
static inline void snippet_in_place(struct work *w)
{
    unsigned n = pick(w->options.size, 1 << 12), block = pick(w->options.block_x, 128);
    unsigned launches = pick(w->options.launches, 3);
    float *a = host_memory(n * 4), *b = host_memory(n * 4);
    float factor = 1.5f;
    CUdeviceptr da;
    void *params[] = {&da, &n, &factor};

    for (unsigned i = 0; i < n; i++)
        a[i] = (float)(i % 64);
    da = upload(w, a, n * 4);
    for (unsigned k = 0; k < launches; k++)
        launch(w, "scale_in_place", blocks_for(n, block), 1, block, 1, 0, NULL, params);
    download(w, b, da, n * 4);
    for (unsigned k = 0; k < launches; k++)
        for (unsigned i = 0; i < n; i++)
            a[i] = a[i] * factor + 1.0f; /* exact for these values, fused or not */
    for (unsigned i = 0; i < n; i++)
        expect(a[i] == b[i], "in_place");
    printf("in_place: %u launches, digest %08x\n", launches, digest(b, n * 4));
    MUST(w->gpu->MemFree(da));
    free(a);
    free(b);
}

/* The sequence that the module's variables hold, advanced once per launch. */
static inline uint32_t expected_state(unsigned launches)
{
    uint32_t state = snippet_state;

    for (unsigned k = 1; k <= launches; k++)
        state = state * 3 + 1 + snippet_table[k % 8];
    return state;
}

static inline void snippet_globals(struct work *w)
{
    unsigned launches = pick(w->options.launches, 5);
    CUdeviceptr out = allocate(w, 4), calls, state;
    uint32_t last = 0, count = 0;
    size_t bytes = 0;
    void *params[] = {&out};

    MUST(w->gpu->ModuleGetGlobal(&calls, &bytes, w->module, "calls"));
    expect(bytes == 4, "globals: size");
    MUST(w->gpu->ModuleGetGlobal(&state, NULL, w->module, "state"));
    MUST(w->gpu->MemsetD32(calls, 0, 1));
    MUST(w->gpu->MemcpyHtoD(state, &snippet_state, 4));
    for (unsigned k = 0; k < launches; k++)
        launch(w, "global_state", 2, 1, 64, 1, 0, NULL, params);
    download(w, &last, out, 4);
    download(w, &count, calls, 4);
    expect(count == launches, "globals: calls");
    expect(last == expected_state(launches), "globals: state");
    printf("globals: %u launches, state %u\n", count, last);
    MUST(w->gpu->MemFree(out));
}

/* The result of a race is that of the program's own runs. */
static inline void snippet_race(struct work *w)
{
    unsigned n = pick(w->options.size, 20000), block = 128, launches = pick(w->options.launches, 5);
    uint32_t *data = calloc(n, 4);
    CUdeviceptr device;
    void *params[] = {&device, &n};

    expect(data != NULL, "memory");
    device = upload(w, data, n * 4);
    for (unsigned k = 0; k < launches; k++)
        launch(w, "race", blocks_for(n, block), 1, block, 1, 0, NULL, params);
    download(w, data, device, n * 4);
    printf("race: %u launches, digest %08x\n", launches, digest(data, n * 4));
    free(data);
    MUST(w->gpu->MemFree(device));
}

static inline void snippet_managed_global(struct work *w)
{
    CUdeviceptr counter;
    uint32_t *seen;
    size_t bytes;
    void *image = snippets_image_managed(&bytes);
    struct work managed = *w;

    MUST(w->gpu->ModuleLoadData(&managed.module, image));
    free(image);
    MUST(w->gpu->ModuleGetGlobal(&counter, NULL, managed.module, "counter"));
    seen = (uint32_t *)(uintptr_t)counter; /* managed: the host reads it in place */
    MUST(w->gpu->MemsetD32(counter, 0, 1));
    launch(&managed, "global_counter", 4, 1, 96, 1, 0, NULL, NULL);
    launch(&managed, "global_counter", 1, 1, 10, 1, 0, NULL, NULL);
    MUST(w->gpu->CtxSynchronize());
    expect(*seen == 4 * 96 + 10, "managed_global");
    printf("managed_global: counted %u\n", *seen);
}

static inline void snippet_managed(struct work *w)
{
    unsigned n = pick(w->options.size, 2048), block = 128;
    float factor = 2.0f;
    CUdeviceptr p;
    void *params[] = {&p, &n, &factor};
    float *seen;

    MUST(w->gpu->MemAllocManaged(&p, n * 4, CU_MEM_ATTACH_GLOBAL));
    seen = (float *)(uintptr_t)p;
    for (unsigned i = 0; i < n; i++)
        seen[i] = (float)i;
    launch(w, "scale_in_place", blocks_for(n, block), 1, block, 1, 0, NULL, params);
    MUST(w->gpu->CtxSynchronize());
    for (unsigned i = 0; i < n; i++)
        expect(seen[i] == (float)i * 2 + 1, "managed");
    printf("managed: digest %08x\n", digest(seen, n * 4));
    MUST(w->gpu->MemFree(p));
}

static inline void snippet_pinned(struct work *w)
{
    unsigned n = pick(w->options.size, 1024), block = 128;
    float factor = 0.5f;
    CUdeviceptr p;
    void *params[] = {&p, &n, &factor};
    void *memory;
    float *seen;

    MUST(w->gpu->MemHostAlloc(&memory, n * 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(w->gpu->MemHostGetDevicePointer(&p, memory, 0));
    seen = memory;
    for (unsigned i = 0; i < n; i++)
        seen[i] = (float)(2 * i);
    launch(w, "scale_in_place", blocks_for(n, block), 1, block, 1, 0, NULL, params);
    MUST(w->gpu->CtxSynchronize());
    for (unsigned i = 0; i < n; i++)
        expect(seen[i] == (float)i + 1, "pinned");
    printf("pinned: digest %08x\n", digest(seen, n * 4));
    MUST(w->gpu->MemFreeHost(memory));
}

static inline void snippet_atomics(struct work *w)
{
    unsigned n = pick(w->options.size, 5000), block = pick(w->options.block_x, 256);
    unsigned launches = pick(w->options.launches, 3);
    CUdeviceptr counter = allocate(w, 4), visits = allocate(w, n * 4);
    uint32_t *seen = host_memory(n * 4);
    uint32_t total = 0;
    void *params[] = {&counter, &visits, &n};

    MUST(w->gpu->MemsetD32(counter, 0, 1));
    MUST(w->gpu->MemsetD32(visits, 0, n));
    for (unsigned k = 0; k < launches; k++)
        launch(w, "atomic_counter", blocks_for(n, block), 1, block, 1, 0, NULL, params);
    download(w, &total, counter, 4);
    download(w, seen, visits, n * 4);
    expect(total == launches * n, "atomics: total");
    for (unsigned i = 0; i < n; i++)
        expect(seen[i] == launches, "atomics: visits");
    printf("atomics: counted %u\n", total);
    MUST(w->gpu->MemFree(counter));
    MUST(w->gpu->MemFree(visits));
    free(seen);
}

static inline void snippet_histogram(struct work *w)
{
    unsigned n = pick(w->options.size, 4096), block = 256, bins = 16;
    uint32_t *values = host_memory(n * 4), seen[16], expected[16] = {0};
    CUdeviceptr dv, db;
    void *params[] = {&dv, &db, &n, &bins};

    for (unsigned i = 0; i < n; i++) {
        values[i] = i * 2654435761u >> 7;
        expected[values[i] % bins]++;
    }
    dv = upload(w, values, n * 4);
    db = allocate(w, sizeof(seen));
    MUST(w->gpu->MemsetD8(db, 0, sizeof(seen)));
    launch(w, "atomic_histogram", blocks_for(n, block), 1, block, 1, 0, NULL, params);
    download(w, seen, db, sizeof(seen));
    expect(memcmp(seen, expected, sizeof(seen)) == 0, "histogram");
    printf("histogram: digest %08x\n", digest(seen, sizeof(seen)));
    MUST(w->gpu->MemFree(dv));
    MUST(w->gpu->MemFree(db));
    free(values);
}

static inline void matrix_add(struct work *w, const char *name, const char *kernel_name,
                              bool linear)
{
    unsigned n = pick(w->options.size, 128);
    unsigned bx = pick(w->options.block_x, linear ? 256 : 32);
    unsigned by = linear ? 1 : pick(w->options.block_y, 32);
    size_t bytes = (size_t)n * n * 4;
    int *a = host_memory(bytes), *b = host_memory(bytes), *c = host_memory(bytes);
    CUdeviceptr da, db, dc;
    void *params[] = {&da, &db, &dc, &n};

    for (unsigned i = 0; i < n * n; i++) {
        a[i] = (int)i;
        b[i] = (int)(3 * i);
    }
    da = upload(w, a, bytes);
    db = upload(w, b, bytes);
    dc = allocate(w, bytes);
    if (linear)
        launch(w, kernel_name, blocks_for(n * n, bx), 1, bx, 1, 0, NULL, params);
    else
        launch(w, kernel_name, blocks_for(n, bx), blocks_for(n, by), bx, by, 0, NULL, params);
    download(w, c, dc, bytes);
    for (unsigned i = 0; i < n * n; i++)
        expect(c[i] == a[i] + b[i], name);
    printf("%s: %ux%u, blocks of %ux%u, digest %08x\n", name, n, n, bx, by, digest(c, bytes));
    MUST(w->gpu->MemFree(da));
    MUST(w->gpu->MemFree(db));
    MUST(w->gpu->MemFree(dc));
    free(a);
    free(b);
    free(c);
}

static inline void snippet_matrix_row(struct work *w)
{
    matrix_add(w, "matrix_row", "matrix_add_row", false);
}

static inline void snippet_matrix_column(struct work *w)
{
    matrix_add(w, "matrix_column", "matrix_add_column", false);
}

static inline void snippet_matrix_linear(struct work *w)
{
    matrix_add(w, "matrix_linear", "matrix_add_linear", true);
}

static inline void offset_add(struct work *w, const char *name, const char *kernel_name,
                              unsigned per_thread, bool reads)
{
    unsigned n = pick(w->options.size, 1 << 14), block = pick(w->options.block_x, 512);
    unsigned offset = w->options.offset;
    float *a = host_memory(n * 4), *b = host_memory(n * 4), *c = host_memory(n * 4);
    CUdeviceptr da, db, dc;
    void *params[] = {&da, &db, &dc, &n, &offset};

    for (unsigned i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
    da = upload(w, a, n * 4);
    db = upload(w, b, n * 4);
    dc = allocate(w, n * 4);
    MUST(w->gpu->MemsetD32(dc, 0, n));
    launch(w, kernel_name, blocks_for(n, block * per_thread), 1, block, 1, 0, NULL, params);
    download(w, c, dc, n * 4);
    for (unsigned i = 0; i + offset < n; i++)
        expect(reads ? c[i] == a[i + offset] + b[i + offset] : c[i + offset] == a[i] + b[i], name);
    printf("%s: offset %u, digest %08x\n", name, offset, digest(c, n * 4));
    MUST(w->gpu->MemFree(da));
    MUST(w->gpu->MemFree(db));
    MUST(w->gpu->MemFree(dc));
    free(a);
    free(b);
    free(c);
}

static inline void snippet_read_offset(struct work *w)
{
    offset_add(w, "read_offset", "read_offset", 1, true);
}

static inline void snippet_read_offset_unrolled(struct work *w)
{
    offset_add(w, "read_offset_unrolled", "read_offset_unrolled", 4, true);
}

static inline void snippet_write_offset(struct work *w)
{
    offset_add(w, "write_offset", "write_offset", 1, false);
}

static inline void structs(struct work *w, const char *name, bool of_arrays)
{
    unsigned n = pick(w->options.size, 1 << 13), block = pick(w->options.block_x, 128);
    float *in = host_memory(n * 8), *out = host_memory(n * 8);
    CUdeviceptr di, dout;
    void *params[] = {&di, &dout, &n};

    for (unsigned i = 0; i < 2 * n; i++)
        in[i] = (float)i;
    di = upload(w, in, n * 8);
    dout = allocate(w, n * 8);
    launch(w, of_arrays ? "structs_soa" : "structs_aos", blocks_for(n, block), 1, block, 1, 0, NULL,
           params);
    download(w, out, dout, n * 8);
    for (unsigned i = 0; i < 2 * n; i++) {
        bool second = of_arrays ? i >= n : i % 2 == 1;
        expect(out[i] == in[i] + (second ? 20 : 10), name);
    }
    printf("%s: digest %08x\n", name, digest(out, n * 8));
    MUST(w->gpu->MemFree(di));
    MUST(w->gpu->MemFree(dout));
    free(in);
    free(out);
}

static inline void snippet_structs_aos(struct work *w)
{
    structs(w, "structs_aos", false);
}

static inline void snippet_structs_soa(struct work *w)
{
    structs(w, "structs_soa", true);
}

static inline void reduction(struct work *w, const char *name, bool shared)
{
    unsigned n = pick(w->options.size, 1 << 12), block = pick(w->options.block_x, 256);
    unsigned blocks = blocks_for(n, block);
    int *in = host_memory(n * 4), *out = host_memory(blocks * 4);
    CUdeviceptr di, dout;
    void *params[] = {&di, &dout, &n};
    long total = 0, expected = 0;

    for (unsigned i = 0; i < n; i++) {
        in[i] = (int)(i % 100);
        expected += in[i];
    }
    di = upload(w, in, n * 4);
    dout = allocate(w, blocks * 4);
    launch(w, name, blocks, 1, block, 1, shared ? block * 4 : 0, NULL, params);
    download(w, out, dout, blocks * 4);
    for (unsigned i = 0; i < blocks; i++)
        total += out[i];
    expect(total == expected, name);
    printf("%s: %ld\n", name, total);
    MUST(w->gpu->MemFree(di));
    MUST(w->gpu->MemFree(dout));
    free(in);
    free(out);
}

static inline void snippet_sum_neighbours(struct work *w)
{
    reduction(w, "sum_neighbours", false);
}

static inline void snippet_sum_interleaved(struct work *w)
{
    reduction(w, "sum_interleaved", false);
}

static inline void snippet_sum_shared(struct work *w)
{
    reduction(w, "sum_shared", true);
}

static inline void transpose(struct work *w, const char *name)
{
    unsigned n = pick(w->options.size, 128);
    size_t bytes = (size_t)n * n * 4;
    float *in = host_memory(bytes), *out = host_memory(bytes);
    CUdeviceptr di, dout;
    void *params[] = {&di, &dout, &n};

    for (unsigned i = 0; i < n * n; i++)
        in[i] = (float)i;
    di = upload(w, in, bytes);
    dout = allocate(w, bytes);
    launch(w, name, n / 32, n / 32, 32, 32, 0, NULL, params);
    download(w, out, dout, bytes);
    for (unsigned y = 0; y < n; y++)
        for (unsigned x = 0; x < n; x++)
            expect(out[x * n + y] == in[y * n + x], name);
    printf("%s: digest %08x\n", name, digest(out, bytes));
    MUST(w->gpu->MemFree(di));
    MUST(w->gpu->MemFree(dout));
    free(in);
    free(out);
}

static inline void snippet_transpose_naive(struct work *w)
{
    transpose(w, "transpose_naive");
}

static inline void snippet_transpose_shared(struct work *w)
{
    transpose(w, "transpose_shared");
}

static inline void snippet_transpose_padded(struct work *w)
{
    transpose(w, "transpose_padded");
}

static inline void snippet_matmul(struct work *w)
{
    unsigned n = pick(w->options.size, 64);
    size_t bytes = (size_t)n * n * 4;
    float *a = host_memory(bytes), *b = host_memory(bytes), *c = host_memory(bytes);
    CUdeviceptr da, db, dc;
    void *params[] = {&da, &db, &dc, &n};

    for (unsigned i = 0; i < n * n; i++) {
        a[i] = (float)(i % 5);
        b[i] = (float)(i % 3);
    }
    da = upload(w, a, bytes);
    db = upload(w, b, bytes);
    dc = allocate(w, bytes);
    launch(w, "matmul_tiled", n / 16, n / 16, 16, 16, 0, NULL, params);
    download(w, c, dc, bytes);
    for (unsigned y = 0; y < n; y++)
        for (unsigned x = 0; x < n; x++) {
            float sum = 0;
            for (unsigned k = 0; k < n; k++)
                sum += a[y * n + k] * b[k * n + x]; /* small integers: exact */
            expect(c[y * n + x] == sum, "matmul");
        }
    printf("matmul: digest %08x\n", digest(c, bytes));
    MUST(w->gpu->MemFree(da));
    MUST(w->gpu->MemFree(db));
    MUST(w->gpu->MemFree(dc));
    free(a);
    free(b);
    free(c);
}

static inline void compute(struct work *w, const char *name, size_t element)
{
    unsigned n = pick(w->options.size, 2048), block = 128, rounds = 8;
    void *seen = host_memory(n * element);
    CUdeviceptr p = allocate(w, n * element);
    void *params[] = {&p, &rounds};

    MUST(w->gpu->MemsetD8(p, 0, n * element));
    launch(w, name, n / block, 1, block, 1, 0, NULL, params);
    download(w, seen, p, n * element);
    printf("%s: digest %08x\n", name, digest(seen, n * element));
    MUST(w->gpu->MemFree(p));
    free(seen);
}

static inline void snippet_flops_float(struct work *w)
{
    compute(w, "flops_float", 4);
}

static inline void snippet_flops_double(struct work *w)
{
    compute(w, "flops_double", 8);
}

static inline void snippet_flops_half(struct work *w)
{
    compute(w, "flops_half", 4);
}

static inline void snippet_flops_constant(struct work *w)
{
    compute(w, "flops_constant", 4);
}

static inline void snippet_predicated(struct work *w)
{
    compute(w, "predicated", 4);
}

static inline void snippet_one_lane(struct work *w)
{
    compute(w, "one_lane", 4);
}

static inline void snippet_tensor(struct work *w)
{
    compute(w, "tensor_work", 4);
}

/* A kernel that touches no memory. */
static inline void snippet_nothing(struct work *w)
{
    launch(w, "noop", 4, 1, 64, 1, 0, NULL, NULL);
    printf("nothing: done\n");
}

/* Four streams, each with its own copies and kernel, and an event that a fifth waits for. */
static inline void snippet_streams(struct work *w)
{
    enum { STREAMS = 4 };
    unsigned n = pick(w->options.size, 1 << 13), part = n / STREAMS, block = 128;
    CUdeviceptr da = allocate(w, n * 4), db = allocate(w, n * 4), dc = allocate(w, n * 4);
    CUstream streams[STREAMS], last;
    CUevent done[STREAMS];
    int *a, *b, *c;
    void *memory[3];

    for (int i = 0; i < 3; i++)
        MUST(w->gpu->MemAllocHost(&memory[i], n * 4));
    a = memory[0];
    b = memory[1];
    c = memory[2];
    for (unsigned i = 0; i < n; i++) {
        a[i] = (int)i;
        b[i] = (int)(10 * i);
    }
    MUST(w->gpu->StreamCreate(&last, CU_STREAM_NON_BLOCKING));
    for (unsigned s = 0; s < STREAMS; s++) {
        CUdeviceptr pa = da + s * part * 4, pb = db + s * part * 4, pc = dc + s * part * 4;
        void *params[] = {&pa, &pb, &pc, &part};
        MUST(w->gpu->StreamCreate(&streams[s], CU_STREAM_NON_BLOCKING));
        MUST(w->gpu->EventCreate(&done[s], CU_EVENT_DEFAULT));
        MUST(w->gpu->MemcpyHtoDAsync(pa, a + s * part, part * 4, streams[s]));
        MUST(w->gpu->MemcpyHtoDAsync(pb, b + s * part, part * 4, streams[s]));
        launch(w, "vector_add", blocks_for(part, block), 1, block, 1, 0, streams[s], params);
        MUST(w->gpu->EventRecord(done[s], streams[s]));
        MUST(w->gpu->StreamWaitEvent(last, done[s], 0));
    }
    MUST(w->gpu->MemcpyDtoHAsync(c, dc, n * 4, last));
    MUST(w->gpu->StreamSynchronize(last));
    for (unsigned i = 0; i < n; i++)
        expect(c[i] == a[i] + b[i], "streams");
    printf("streams: digest %08x\n", digest(c, n * 4));
    for (unsigned s = 0; s < STREAMS; s++) {
        MUST(w->gpu->StreamDestroy(streams[s]));
        MUST(w->gpu->EventDestroy(done[s]));
    }
    MUST(w->gpu->StreamDestroy(last));
    for (int i = 0; i < 3; i++)
        MUST(w->gpu->MemFreeHost(memory[i]));
    MUST(w->gpu->MemFree(da));
    MUST(w->gpu->MemFree(db));
    MUST(w->gpu->MemFree(dc));
}

/* Work captured from a stream and launched as a graph, more than once. */
static inline void snippet_graph(struct work *w)
{
    unsigned n = pick(w->options.size, 1024), block = 128;
    unsigned launches = pick(w->options.launches, 3);
    float factor = 2.0f, *seen = host_memory(n * 4);
    CUdeviceptr p = allocate(w, n * 4);
    void *params[] = {&p, &n, &factor};
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    float value = 0;

    MUST(w->gpu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(w->gpu->MemsetD32Async(p, 0, n, stream));
    MUST(w->gpu->StreamSynchronize(stream));
    MUST(w->gpu->StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch(w, "scale_in_place", blocks_for(n, block), 1, block, 1, 0, stream, params);
    launch(w, "scale_in_place", blocks_for(n, block), 1, block, 1, 0, stream, params);
    MUST(w->gpu->StreamEndCapture(stream, &graph));
    MUST(w->gpu->GraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned k = 0; k < launches; k++) {
        MUST(w->gpu->GraphLaunch(exec, stream));
        value = (value * 2 + 1) * 2 + 1;
    }
    MUST(w->gpu->StreamSynchronize(stream));
    download(w, seen, p, n * 4);
    for (unsigned i = 0; i < n; i++)
        expect(seen[i] == value, "graph");
    printf("graph: %u launches, digest %08x\n", launches, digest(seen, n * 4));
    MUST(w->gpu->GraphExecDestroy(exec));
    MUST(w->gpu->GraphDestroy(graph));
    MUST(w->gpu->StreamDestroy(stream));
    MUST(w->gpu->MemFree(p));
    free(seen);
}

/* The newer way to load code, its kernel launched through the call that takes a structure. */
static inline void snippet_library(struct work *w)
{
    size_t bytes;
    void *image;
    CUdeviceptr out, calls;
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1};
    void *params[] = {&out};
    uint32_t last = 0, count = 0;
    CUlibrary library;
    CUkernel k;
    CUfunction f;

    if (!HAS(w, LibraryLoadData, "library") || !HAS(w, LaunchKernelEx, "library"))
        return;
    image = snippets_image(&bytes);
    out = allocate(w, 4);
    expect(image != NULL, "library: memory");
    MUST(w->gpu->LibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    free(image);
    MUST(w->gpu->LibraryGetKernel(&k, library, "global_state"));
    MUST(w->gpu->KernelGetFunction(&f, k));
    MUST(w->gpu->LaunchKernelEx(&config, f, params, NULL));
    MUST(w->gpu->LaunchKernelEx(&config, (CUfunction)k, params, NULL));
    MUST(w->gpu->LibraryGetGlobal(&calls, NULL, library, "calls"));
    download(w, &last, out, 4);
    download(w, &count, calls, 4);
    expect(count == 2 && last == expected_state(2), "library");
    printf("library: %u launches, state %u\n", count, last);
    MUST(w->gpu->LibraryUnload(library));
    MUST(w->gpu->MemFree(out));
}

static inline void snippet_async_memory(struct work *w)
{
    unsigned n = pick(w->options.size, 1024), block = 128;
    float factor = 3.0f, *seen = host_memory(n * 4);
    CUdeviceptr p = 0;
    void *params[] = {&p, &n, &factor};
    CUstream stream;

    MUST(w->gpu->StreamCreate(&stream, CU_STREAM_DEFAULT));
    for (unsigned k = 0; k < 3; k++) {
        MUST(w->gpu->MemAllocAsync(&p, n * 4, stream));
        MUST(w->gpu->MemsetD32Async(p, 0x40000000u, n, stream)); /* 2.0 */
        launch(w, "scale_in_place", blocks_for(n, block), 1, block, 1, 0, stream, params);
        MUST(w->gpu->MemcpyDtoHAsync(seen, p, n * 4, stream));
        MUST(w->gpu->MemFreeAsync(p, stream));
    }
    MUST(w->gpu->StreamSynchronize(stream));
    for (unsigned i = 0; i < n; i++)
        expect(seen[i] == 7.0f, "async_memory");
    printf("async_memory: digest %08x\n", digest(seen, n * 4));
    MUST(w->gpu->StreamDestroy(stream));
    free(seen);
}

static inline void snippet_cooperative(struct work *w)
{
    unsigned n = 512;
    float factor = 4.0f, seen[512];
    CUdeviceptr p = allocate(w, sizeof(seen));
    void *params[] = {&p, &n, &factor};

    MUST(w->gpu->MemsetD32(p, 0, n));
    MUST(w->gpu->LaunchCooperativeKernel(kernel(w, "scale_in_place"), 4, 1, 1, 128, 1, 1, 0, NULL,
                                         params));
    download(w, seen, p, sizeof(seen));
    for (unsigned i = 0; i < n; i++)
        expect(seen[i] == 1.0f, "cooperative");
    printf("cooperative: digest %08x\n", digest(seen, sizeof(seen)));
    MUST(w->gpu->MemFree(p));
}

/* Memory mapped at two addresses: a write at one is read at the other. */
static inline void snippet_mapped(struct work *w)
{
    CUmemAllocationProp prop;
    CUmemAccessDesc access;
    size_t bytes = 0;
    CUmemGenericAllocationHandle memory;
    CUdeviceptr both, first, second;
    unsigned n = 1024;
    float factor = 5.0f, seen[1024];
    void *params[] = {&first, &n, &factor};

    memset(&prop, 0, sizeof(prop));
    memset(&access, 0, sizeof(access));
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    MUST(w->gpu->MemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    MUST(w->gpu->MemAddressReserve(&both, 2 * bytes, 0, 0, 0));
    first = both;
    second = both + bytes;
    MUST(w->gpu->MemCreate(&memory, bytes, &prop, 0));
    MUST(w->gpu->MemMap(first, bytes, 0, memory, 0));
    MUST(w->gpu->MemMap(second, bytes, 0, memory, 0));
    MUST(w->gpu->MemSetAccess(both, 2 * bytes, &access, 1));
    MUST(w->gpu->MemRelease(memory));
    MUST(w->gpu->MemsetD32(second, 0, n));
    for (int k = 0; k < 2; k++)
        launch(w, "scale_in_place", blocks_for(n, 128), 1, 128, 1, 0, NULL, params);
    download(w, seen, second, sizeof(seen));
    for (unsigned i = 0; i < n; i++)
        expect(seen[i] == 6.0f, "mapped");
    printf("mapped: digest %08x\n", digest(seen, sizeof(seen)));
    MUST(w->gpu->MemUnmap(first, bytes));
    MUST(w->gpu->MemUnmap(second, bytes));
    MUST(w->gpu->MemAddressFree(both, 2 * bytes));
}

/* ---- running them ---- */

struct snippet {
    const char *name;
    void (*run)(struct work *w);
    bool modern; /* needs a feature that the oldest chip lacks */
};

static const struct snippet snippets[] = {
    {"vector_add", snippet_vector_add, false},
    {"in_place", snippet_in_place, false},
    {"globals", snippet_globals, false},
    {"race", snippet_race, false},
    {"managed_global", snippet_managed_global, false},
    {"managed", snippet_managed, false},
    {"pinned", snippet_pinned, false},
    {"atomics", snippet_atomics, false},
    {"histogram", snippet_histogram, false},
    {"matrix_row", snippet_matrix_row, false},
    {"matrix_column", snippet_matrix_column, false},
    {"matrix_linear", snippet_matrix_linear, false},
    {"read_offset", snippet_read_offset, false},
    {"read_offset_unrolled", snippet_read_offset_unrolled, false},
    {"write_offset", snippet_write_offset, false},
    {"structs_aos", snippet_structs_aos, false},
    {"structs_soa", snippet_structs_soa, false},
    {"sum_neighbours", snippet_sum_neighbours, false},
    {"sum_interleaved", snippet_sum_interleaved, false},
    {"sum_shared", snippet_sum_shared, false},
    {"transpose_naive", snippet_transpose_naive, false},
    {"transpose_shared", snippet_transpose_shared, false},
    {"transpose_padded", snippet_transpose_padded, false},
    {"matmul", snippet_matmul, false},
    {"flops_float", snippet_flops_float, false},
    {"flops_double", snippet_flops_double, false},
    {"flops_half", snippet_flops_half, false},
    {"flops_constant", snippet_flops_constant, false},
    {"predicated", snippet_predicated, false},
    {"one_lane", snippet_one_lane, false},
    {"tensor", snippet_tensor, false},
    {"nothing", snippet_nothing, false},
    {"streams", snippet_streams, false},
    {"graph", snippet_graph, false},
    {"library", snippet_library, false},
    {"async_memory", snippet_async_memory, false},
    {"mapped", snippet_mapped, true},
    {"cooperative", snippet_cooperative, true},
};

#define SNIPPET_COUNT (sizeof(snippets) / sizeof(snippets[0]))

static inline void snippets_usage(const char *program)
{
    printf("usage: %s [--size N] [--block W[xH]] [--offset K] [--launches N] [snippet...]\n",
           program);
    for (size_t i = 0; i < SNIPPET_COUNT; i++)
        printf("  %s\n", snippets[i].name);
}

/* Reads options up to the first snippet's name; answers its index in argv. */
static inline int snippets_options(int argc, char **argv, struct options *options)
{
    int i = 1;

    while (i < argc && strncmp(argv[i], "--", 2) == 0) {
        const char *value = i + 1 < argc ? argv[i + 1] : "0";
        if (strcmp(argv[i], "--size") == 0)
            options->size = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--block") == 0)
            (void)sscanf(value, "%ux%u", &options->block_x, &options->block_y);
        else if (strcmp(argv[i], "--offset") == 0)
            options->offset = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--launches") == 0)
            options->launches = (unsigned)strtoul(value, NULL, 10);
        else {
            snippets_usage(argv[0]);
            exit(64);
        }
        i += 2;
    }
    return i < argc ? i : argc;
}

static inline void run_snippet(struct work *w, const char *name)
{
    for (size_t i = 0; i < SNIPPET_COUNT; i++)
        if (strcmp(snippets[i].name, name) == 0) {
            snippets[i].run(w);
            return;
        }
    printf("no snippet is called %s\n", name);
    exit(64);
}

/* Opens the device: its primary context made current, and the device program loaded. */
static inline void snippets_open(struct work *w)
{
    size_t bytes;
    void *image = snippets_image(&bytes);
    CUdevice device;
    CUcontext context;

    expect(image != NULL, "image");
    MUST(w->gpu->Init(0));
    MUST(w->gpu->DeviceGet(&device, 0));
    MUST(w->gpu->DevicePrimaryCtxRetain(&context, device));
    MUST(w->gpu->CtxSetCurrent(context));
    MUST(w->gpu->ModuleLoadData(&w->module, image));
    free(image);
}

static inline void snippets_close(struct work *w)
{
    MUST(w->gpu->CtxSynchronize());
    MUST(w->gpu->ModuleUnload(w->module));
}

/* All of a program: the snippets named on its command line, or vector_add, in_place and globals. */
static inline int snippets_main(const struct gpu *gpu, int argc, char **argv)
{
    struct work w = {.gpu = gpu};
    int first = snippets_options(argc, argv, &w.options);

    snippets_open(&w);
    if (first == argc) {
        run_snippet(&w, "vector_add");
        run_snippet(&w, "in_place");
        run_snippet(&w, "globals");
    }
    for (int i = first; i < argc; i++) {
        if (strcmp(argv[i], "all") != 0) {
            run_snippet(&w, argv[i]);
            continue;
        }
        for (size_t s = 0; s < SNIPPET_COUNT; s++)
            if (!snippets[s].modern)
                run_snippet(&w, snippets[s].name);
    }
    snippets_close(&w);
    return 0;
}

#endif
