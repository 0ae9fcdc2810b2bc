/*
 * alike_linked COUNTxELEMENTS[xBLOCKS]...: launches scale_in_place so many times on so many of the
 * elements of its first 256 threads, with one block or so many: 100x256 3x200. `free` between these
 * puts the elements into other memory and frees theirs; from `staged` on it is scale_staged that is
 * launched, from `awaited` on scale_awaited, from `turns` on scale_asking; from `until` on
 * add_until, which adds 1 to elements below 80 and up to 63 more, by the lane; from `ever` on to
 * all there are; from `swap` on swap_some, which swaps as often as an element says; `all=X` puts X
 * into all elements. From `sum` on it is vector_add_float of the elements and others, from `twice`
 * on of the elements and themselves. `ahead` leaves out the first eight elements that are there,
 * `more` puts 2 into the first one, `carveout` has the kernel share its L1 with shared memory in
 * another way. A last argument `kill` ends the process before anything of it can be recorded;
 * `fork` makes a child that waits for a signal, or for the end of its parent; `wait` says so, and
 * waits for a signal that does;
 * `_exit`, `abort` and `fault` end it in these ways. `exec PROGRAM ARGUMENT...` becomes another
 * one.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define THREADS 256u
#define SECTOR 32

/* The elements in other memory; theirs is freed. */
static CUdeviceptr moved(struct work *w, CUdeviceptr old)
{
    float elements[THREADS];
    CUdeviceptr moved = allocate(w, sizeof(elements));
    download(w, elements, old, sizeof(elements));
    MUST(w->gpu->MemcpyHtoD(moved, elements, sizeof(elements)));
    MUST(w->gpu->MemFree(old));
    return moved;
}

int main(int argc, char **argv)
{
    struct gpu gpu;
    struct work w = {.gpu = &gpu};
    float factor = -1, elements[THREADS];
    unsigned launches, n, blocks;
    CUfunction function;
    const char *name = "scale_in_place";

    gpu_from_linker(&gpu);
    snippets_open(&w);
    CUdeviceptr numbers = allocate(&w, sizeof(elements) + SECTOR);
    CUdeviceptr others = allocate(&w, sizeof(elements)), sums = allocate(&w, sizeof(elements));
    void *of_one[] = {&numbers, &n, &factor}, *of_two[] = {&numbers, &others, &sums, &n};
    void **params = of_one;
    MUST(gpu.MemsetD32(numbers, 0x3f800000u, THREADS));
    MUST(gpu.MemsetD32(others, 0, THREADS));
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "kill") == 0)
            (void)raise(SIGKILL);
        if (strcmp(argv[i], "_exit") == 0)
            _exit(0);
        if (strcmp(argv[i], "abort") == 0)
            abort();
        if (strcmp(argv[i], "fault") == 0)
            (void)raise(SIGSEGV);
        if (strcmp(argv[i], "exec") == 0) {
            (void)execvp(argv[i + 1], argv + i + 1);
            return 2;
        }
        if (strcmp(argv[i], "fork") == 0) {
            if (fork() == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                    (void)pause();
            }
            continue;
        }
        if (strcmp(argv[i], "wait") == 0) {
            (void)puts("waiting");
            (void)fflush(stdout);
            for (;;)
                (void)pause();
        }
        if (strcmp(argv[i], "staged") == 0 || strcmp(argv[i], "awaited") == 0 ||
            strcmp(argv[i], "turns") == 0) {
            name = argv[i][0] == 's'   ? "scale_staged"
                   : argv[i][0] == 'a' ? "scale_awaited"
                                       : "scale_asking";
            continue;
        }
        if (strcmp(argv[i], "until") == 0 || strcmp(argv[i], "ever") == 0) {
            name = "add_until";
            factor = argv[i][0] == 'u' ? 80 : 1e6f;
            continue;
        }
        if (strcmp(argv[i], "sum") == 0 || strcmp(argv[i], "twice") == 0) {
            name = "vector_add_float";
            params = of_two;
            of_two[1] = argv[i][0] == 's' ? &others : &numbers;
            continue;
        }
        if (strcmp(argv[i], "carveout") == 0) {
            MUST(gpu.ModuleGetFunction(&function, w.module, name));
            MUST(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                    50));
            continue;
        }
        if (strcmp(argv[i], "ahead") == 0) {
            numbers += SECTOR;
            continue;
        }
        if (strcmp(argv[i], "swap") == 0) {
            name = "swap_some";
            continue;
        }
        if (strncmp(argv[i], "all=", 4) == 0) {
            const float value = strtof(argv[i] + 4, NULL);
            unsigned word;
            memcpy(&word, &value, sizeof(word));
            MUST(gpu.MemsetD32(numbers, word, THREADS));
            continue;
        }
        if (strcmp(argv[i], "more") == 0) {
            MUST(gpu.MemsetD32(numbers, 0x40000000u, 1));
            continue;
        }
        if (strcmp(argv[i], "free") == 0) {
            numbers = moved(&w, numbers);
            continue;
        }
        blocks = 1;
        expect(sscanf(argv[i], "%ux%ux%u", &launches, &n, &blocks) >= 2, argv[i]);
        while (launches--)
            launch(&w, name, blocks, 1, THREADS, 1, sizeof(elements), NULL, params);
    }
    MUST(gpu.CtxSynchronize());
    download(&w, elements, numbers, sizeof(elements));
    for (unsigned i = 0; i < THREADS; i++)
        putchar(elements[i] < 0 ? '-' : '+');
    putchar('\n');
    snippets_close(&w);
    return 0;
}
