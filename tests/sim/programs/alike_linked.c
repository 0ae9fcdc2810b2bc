/*
 * alike_linked COUNTxELEMENTS...: launches scale_in_place so many times on so many of its 256
 * threads' elements, always with the same grid and block: 100x256 3x200. A last argument `kill`
 * ends the process before anything of it can be recorded.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#include <signal.h>

#define THREADS 256u

int main(int argc, char **argv)
{
    struct gpu gpu;
    struct work w = {.gpu = &gpu};
    float factor = -1, elements[THREADS];
    unsigned launches, n;

    gpu_from_linker(&gpu);
    snippets_open(&w);
    CUdeviceptr numbers = allocate(&w, sizeof(elements));
    void *params[] = {&numbers, &n, &factor};
    MUST(gpu.MemsetD32(numbers, 0x3f800000u, THREADS));
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "kill") == 0)
            (void)raise(SIGKILL);
        expect(sscanf(argv[i], "%ux%u", &launches, &n) == 2, argv[i]);
        while (launches--)
            launch(&w, "scale_in_place", 1, 1, THREADS, 1, 0, NULL, params);
    }
    MUST(gpu.CtxSynchronize());
    download(&w, elements, numbers, sizeof(elements));
    for (unsigned i = 0; i < THREADS; i++)
        putchar(elements[i] < 0 ? '-' : '+');
    putchar('\n');
    snippets_close(&w);
    return 0;
}
