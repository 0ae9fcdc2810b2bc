/*
 * tuner_linked WORD: `tune` tries vector_add_float in five configurations as autotuners do: one
 * launch, then four between two events whose time it reads three times, behind each a kernel of its
 * own that changes other memory. Then it makes 40 steps with the configuration that has the fewest
 * threads: by the times another one may win where they are disturbed. `untimed` reads no time,
 * `compare` makes no steps. The digest is that of all memory.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#define ELEMENTS 8192u
#define STEPS 40
#define RUNS 4
#define READS 3 /* of one time */

static struct gpu gpu;
static struct work w = {.gpu = &gpu};

/* All but the second one have threads without an element. */
static const struct {
    unsigned grid, block;
} tried[] = {{128, 128}, {32, 256}, {64, 512}, {64, 1024}, {512, 64}};
#define TRIED (sizeof(tried) / sizeof(tried[0]))
#define WINNER 1

static void add(CUdeviceptr p, size_t i)
{
    unsigned n = ELEMENTS;
    CUdeviceptr other = p + n * sizeof(float);
    void *params[] = {&p, &other, &p, &n};
    launch(&w, "vector_add_float", tried[i].grid, 1, tried[i].block, 1, 0, NULL, params);
}

static void scale(CUdeviceptr p, unsigned block)
{
    unsigned n = ELEMENTS;
    float factor = 0.5f;
    void *params[] = {&p, &n, &factor};
    launch(&w, "scale_in_place", ELEMENTS / block, 1, block, 1, 0, NULL, params);
}

static void try(CUdeviceptr p, CUdeviceptr rest, size_t i, bool is_timed)
{
    CUevent start, end;
    float ms;
    MUST(cuEventCreate(&start, CU_EVENT_DEFAULT));
    MUST(cuEventCreate(&end, CU_EVENT_DEFAULT));
    add(p, i);
    MUST(cuEventRecord(start, NULL));
    for (int n = 0; n < RUNS; n++) {
        scale(rest, 32);
        add(p, i);
    }
    MUST(cuEventRecord(end, NULL));
    MUST(cuEventSynchronize(end));
    if (is_timed) {
        for (int n = 0; n < READS; n++)
            MUST(cuEventElapsedTime(&ms, start, end));
        expect(ms > 0, "a time");
    }
    MUST(cuEventDestroy(start));
    MUST(cuEventDestroy(end));
}

int main(int argc, char **argv)
{
    static float host[3 * ELEMENTS];
    const char *word = argc > 1 ? argv[1] : "tune";
    gpu_from_linker(&gpu);
    snippets_open(&w);
    CUdeviceptr p = allocate(&w, sizeof(host));
    CUdeviceptr rest = p + 2 * ELEMENTS * sizeof(float);
    MUST(gpu.MemsetD32(p, 0x3f800000u, 3 * ELEMENTS));
    for (size_t i = 0; i < TRIED; i++)
        try(p, rest, i, strcmp(word, "untimed") != 0);
    for (int step = 0; strcmp(word, "compare") != 0 && step < STEPS; step++) {
        add(p, WINNER);
        scale(p, 128);
    }
    download(&w, host, p, sizeof(host));
    printf("%s: digest %08x\n", word, digest(host, sizeof(host)));
    return 0;
}
