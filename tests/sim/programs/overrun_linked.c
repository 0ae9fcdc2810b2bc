/* overrun_linked: a kernel writes past the end of a small buffer, where nobody's memory lies. It
 * does so in each of a few launches; another kernel does not. */
#include "programs/linked.h"
#include "programs/snippets.h"

enum { N = 64, BLOCK = 256, OVERRUN = 64 * 1024, LAUNCHES = 4 };

static CUfunction scale;

static void scale_some(CUdeviceptr numbers, unsigned n)
{
    float factor = 2;
    void *params[] = {&numbers, &n, &factor};

    MUST(cuLaunchKernel(scale, (n + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL));
}

int main(void)
{
    CUcontext context;
    CUmodule module;
    CUdeviceptr short_one, other;
    float number = 0, expected = 0;
    void *image;
    size_t size;

    MUST(cuInit(0));
    MUST(cuCtxCreate_v2(&context, 0, 0));
    image = snippets_image(&size);
    MUST(cuModuleLoadData(&module, image));
    free(image);
    MUST(cuModuleGetFunction(&scale, module, "scale_in_place"));
    MUST(cuMemAlloc(&other, N * sizeof(float)));
    MUST(cuMemAlloc(&short_one, N * sizeof(float)));
    MUST(cuMemsetD32(other, 0, N));
    MUST(cuMemsetD32(short_one, 0, N));
    for (int i = 0; i < LAUNCHES; i++) {
        scale_some(short_one, OVERRUN / sizeof(float));
        scale_some(other, N);
        expected = 2 * expected + 1;
    }
    MUST(cuMemcpyDtoH(&number, short_one, sizeof(number)));
    expect(number == expected, "the short buffer");
    MUST(cuMemcpyDtoH(&number, other, sizeof(number)));
    expect(number == expected, "the other buffer");
    puts("overrun: ok");
    return 0;
}
