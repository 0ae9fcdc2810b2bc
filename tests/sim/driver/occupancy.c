/* How many blocks fit: the model's answer, through the driver's calls. */
#include "driver/driver.h"
#include "driver/module.h"

static CUresult blocks_that_fit(int *blocks, CUfunction function, int threads, size_t dynamic)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    CUfunction f;

    if (result != CUDA_SUCCESS)
        return result;
    if (!blocks || threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&gpusim_lock);
    f = gpusim_function_of(function, context, &result);
    if (f) {
        *blocks = (int)gpusim_chip_resident_blocks(gpusim_chip(), (unsigned)threads, f->registers,
                                                   f->shared + (unsigned)dynamic);
        result = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize)
{
    return blocks_that_fit(numBlocks, func, blockSize, dynamicSMemSize);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int flags)
{
    (void)flags;
    return blocks_that_fit(numBlocks, func, blockSize, dynamicSMemSize);
}
