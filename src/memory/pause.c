#include "memory/pause.h"

#include "memory/inside.h"

extern const char device_image[];

bool gp_pause_load(struct gp_pause *p)
{
    *p = (struct gp_pause){0};
    if (gp_cuda.cuModuleLoadData(&p->module, device_image) != CUDA_SUCCESS)
        return false;
    if (gp_cuda.cuModuleGetFunction(&p->function, p->module, "gp_pause") == CUDA_SUCCESS) {
        /* Else the driver does it at the first launch, and may wait for the context then. */
        if (gp_cuda.cuFuncLoad)
            gp_cuda.cuFuncLoad(p->function);
        return true;
    }
    gp_pause_unload(p);
    return false;
}

void gp_pause_unload(struct gp_pause *p)
{
    if (p->module)
        gp_cuda.cuModuleUnload(p->module);
    *p = (struct gp_pause){0};
}

bool gp_pause_on(const struct gp_pause *p, CUstream stream, bool per_thread_stream,
                 uint64_t nanoseconds)
{
    void *arguments[] = {&nanoseconds};
    return p->function && own_kernel_start_on(stream, per_thread_stream, p->function, 1, 1,
                                              arguments) == CUDA_SUCCESS;
}
