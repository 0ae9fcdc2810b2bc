/* For programs that use the driver API: a call that fails ends the program, and a second kernel in
 * PTX, written by the program itself so that each image can differ. */
#ifndef GPUPROF_TESTS_DRIVER_H
#define GPUPROF_TESTS_DRIVER_H

#include "check.h"
#include <cuda.h>

#define DRIVER(call)                                                         \
    do {                                                                     \
        CUresult result = (call);                                            \
        REQUIRE(result == CUDA_SUCCESS, "%s: error %d", #call, (int)result); \
    } while (0)

/* PTX of a kernel NAME(data), for one block: data[i] = data[i] * FACTOR + calls, and the module's
 * variable `calls` goes up by one. */
static inline const char *count_ptx(const char *name, unsigned factor)
{
    static char text[1200];
    snprintf(text, sizeof(text),
             ".version 6.4\n"
             ".target sm_75\n"
             ".address_size 64\n"
             ".visible .global .align 4 .u32 calls;\n"
             ".visible .entry %s(.param .u64 data)\n"
             "{\n"
             "    .reg .pred %%p;\n"
             "    .reg .b32 %%r<4>;\n"
             "    .reg .b64 %%d<3>;\n"
             "    mov.u32 %%r0, %%tid.x;\n"
             "    ld.param.u64 %%d0, [data];\n"
             "    cvta.to.global.u64 %%d0, %%d0;\n"
             "    mul.wide.u32 %%d1, %%r0, 4;\n"
             "    add.u64 %%d0, %%d0, %%d1;\n"
             "    ld.global.u32 %%r1, [%%d0];\n"
             "    ld.global.u32 %%r2, [calls];\n"
             "    mad.lo.u32 %%r1, %%r1, %u, %%r2;\n"
             "    st.global.u32 [%%d0], %%r1;\n"
             "    bar.sync 0;\n"
             "    setp.ne.u32 %%p, %%r0, 0;\n"
             "    @%%p bra done;\n"
             "    add.u32 %%r2, %%r2, 1;\n"
             "    st.global.u32 [calls], %%r2;\n"
             "done:\n"
             "    ret;\n"
             "}\n",
             name, factor);
    return text;
}

/* The device's primary context, current. */
static inline CUdevice use_primary_context(void)
{
    CUdevice device;
    CUcontext context;
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER(cuCtxSetCurrent(context));
    return device;
}

#endif
