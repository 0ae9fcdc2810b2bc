#include "driver/launch_call.h"

#include <string.h>

#include "driver/module.h"

/* The parameters as one block that the caller laid out itself. */
static CUresult params_from_extra(void **extra, struct gpusim_launch *launch)
{
    const void *buffer = NULL;
    size_t size = 0;

    for (unsigned i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *(const size_t *)extra[i + 1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if ((size && !buffer) || size > sizeof(launch->params))
        return CUDA_ERROR_INVALID_VALUE;
    if (size)
        memcpy(launch->params, buffer, size);
    return CUDA_SUCCESS;
}

static CUresult params_from_pointers(void **params, struct gpusim_launch *launch)
{
    const struct gpusim_kernel *code = launch->function->code;

    if (code->params && !params)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < code->params; i++) {
        if (!params[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(launch->params + gpusim_param_offset(code, i), params[i], code->param_size[i]);
    }
    return CUDA_SUCCESS;
}

static CUresult check_cooperative(const struct gpusim_launch *launch)
{
    const struct gpusim_chip *chip = gpusim_chip();
    CUfunction f = launch->function;
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    uint64_t fit =
        gpusim_chip_resident_blocks(chip, launch->block.x * launch->block.y * launch->block.z,
                                    f->registers, f->shared + launch->dynamic_shared);

    if (chip->legacy)
        return CUDA_ERROR_NOT_SUPPORTED;
    return blocks > fit * chip->sms ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_SUCCESS;
}

CUresult gpusim_launch_from_call(CUcontext context, const struct launch_call *call,
                                 struct gpusim_launch *launch)
{
    CUresult result;

    memset(launch, 0, sizeof(*launch));
    launch->function = gpusim_function_of(call->function, context, &result);
    if (!launch->function)
        return result;
    if (!launch->function->code)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (call->params && call->extra)
        return CUDA_ERROR_INVALID_VALUE;
    launch->grid = call->grid;
    launch->block = call->block;
    launch->dynamic_shared = call->shared;
    launch->cooperative = call->cooperative;
    result = gpusim_launch_check(context, launch);
    if (result == CUDA_SUCCESS && call->cooperative)
        result = check_cooperative(launch);
    if (result != CUDA_SUCCESS)
        return result;
    return call->extra ? params_from_extra(call->extra, launch)
                       : params_from_pointers(call->params, launch);
}
