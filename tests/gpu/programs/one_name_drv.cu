/* Two modules have a kernel of one name. It is the same but for one instruction: the one adds, the
 * other multiplies and adds. */
#include "driver.h"

#include <math.h>

#define N 64
#define ROUNDS 20

static CUfunction load(const char *instruction)
{
    char text[1200];
    CUmodule module;
    CUfunction function;
    snprintf(text, sizeof(text),
             ".version 6.4\n"
             ".target sm_75\n"
             ".address_size 64\n"
             ".visible .entry one_name(.param .u64 data)\n"
             "{\n"
             "    .reg .b32 %%r<2>;\n"
             "    .reg .f32 %%f<2>;\n"
             "    .reg .b64 %%d<3>;\n"
             "    mov.u32 %%r0, %%tid.x;\n"
             "    ld.param.u64 %%d0, [data];\n"
             "    cvta.to.global.u64 %%d0, %%d0;\n"
             "    mul.wide.u32 %%d1, %%r0, 4;\n"
             "    add.u64 %%d0, %%d0, %%d1;\n"
             "    ld.global.f32 %%f0, [%%d0];\n"
             "    %s\n"
             "    st.global.f32 [%%d0], %%f0;\n"
             "    ret;\n"
             "}\n",
             instruction);
    DRIVER(cuModuleLoadData(&module, text));
    DRIVER(cuModuleGetFunction(&function, module, "one_name"));
    return function;
}

int main()
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr data;
    float numbers[N], expected = 0.5f;
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxSetCurrent(context));
    DRIVER(cuMemAlloc(&data, sizeof(numbers)));
    DRIVER(cuMemsetD32(data, 0x3f000000, N)); /* a half */
    CUfunction both[] = {load("add.rn.f32 %f0, %f0, %f0;"), load("fma.rn.f32 %f0, %f0, %f0, %f0;")};
    void *parameters[] = {&data};
    for (int i = 0; i < 2 * ROUNDS; i++) {
        DRIVER(cuLaunchKernel(both[i % 2], 1, 1, 1, N, 1, 1, 0, NULL, parameters, NULL));
        expected = i % 2 ? fmaf(expected, expected, expected) : expected + expected;
    }
    DRIVER(cuMemcpyDtoH(numbers, data, sizeof(numbers)));
    for (int i = 0; i < N; i++)
        REQUIRE(numbers[i] == expected, "number %d is %g, not %g", i, numbers[i], expected);
    printf("one_name: ok %g\n", expected);
    return 0;
}
