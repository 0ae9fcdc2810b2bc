/* Our own kernels (memory/device.cu) in one context: loaded, started in a stream of ours, and the
 * answer that they give. Owns those. Used with the context current, one thread at a time. */
#include "memory/inside.h"

#include <stddef.h>

extern const char device_image[];

bool driver_worked(CUresult result, struct gp_reason *why)
{
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        *why = GP_REASON(NO_ROOM);
    else if (result != CUDA_SUCCESS)
        *why = gp_cuda_reason(result);
    return result == CUDA_SUCCESS;
}

static bool load(const struct gp_own_kernels *k, CUdevice device, struct gp_own_kernel *kernel,
                 const char *name)
{
    int per_sm = 0;
    if (gp_cuda.cuModuleGetFunction(&kernel->function, k->module, name) != CUDA_SUCCESS ||
        gp_cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel->function,
                                                            GP_UNIT_THREADS, 0) != CUDA_SUCCESS)
        return false;
    int sms = gp_device_attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    kernel->blocks = per_sm > 0 && sms > 0 ? (unsigned)per_sm * (unsigned)sms : 1;
    return true;
}

bool own_kernels_load(struct gp_own_kernels *k, CUdevice device)
{
    const struct {
        struct gp_own_kernel *kernel;
        const char *name;
    } all[] = {
        {&k->copy, "gp_copy"},
        {&k->copy_few, "gp_copy_few"},
        {&k->save_few, "gp_save_few"},
        {&k->digest_few, "gp_digest_few"},
        {&k->check_digests, "gp_check_digests"},
        {&k->copy_and_follow, "gp_copy_and_follow"},
        {&k->compare, "gp_compare"},
        {&k->keep, "gp_keep"},
        {&k->rewind_kept, "gp_rewind_kept"},
        {&k->rewind, "gp_rewind"},
        {&k->put_back, "gp_put_back"},
        {&k->put_right, "gp_put_right"},
        {&k->hash, "gp_hash"},
        {&k->compare_hashes, "gp_compare_hashes"},
        {&k->read_all, "gp_read_all"},
        {&k->pause, "gp_pause"},
    };
    void *host_answer = NULL;
    bool ok = gp_cuda.cuMemHostAlloc(&host_answer, sizeof(*k->host_answer),
                                     CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS;
    k->host_answer = host_answer;
    ok = ok && gp_cuda.cuModuleLoadData(&k->module, device_image) == CUDA_SUCCESS;
    for (size_t i = 0; ok && i < sizeof(all) / sizeof(all[0]); i++)
        ok = load(k, device, all[i].kernel, all[i].name);
    return ok;
}

void own_kernels_close(struct gp_own_kernels *k)
{
    if (k->answer)
        gp_cuda.cuMemFree_v2(k->answer);
    if (k->host_answer)
        gp_cuda.cuMemFreeHost(k->host_answer);
    if (k->module)
        gp_cuda.cuModuleUnload(k->module);
    if (k->stream)
        gp_cuda.cuStreamDestroy_v2(k->stream);
}

CUresult own_kernel_start(const struct gp_own_kernels *k, const struct gp_own_kernel *kernel,
                          uint64_t units, void **arguments)
{
    unsigned blocks = units < kernel->blocks ? (unsigned)units : kernel->blocks;
    return own_kernel_start_on(k->stream, false, kernel->function, blocks, GP_UNIT_THREADS,
                               arguments);
}

CUresult own_kernel_start_on(CUstream stream, bool per_thread, CUfunction function, unsigned blocks,
                             unsigned threads, void **arguments)
{
    PFN_cuLaunchKernel_v4000 launch =
        per_thread ? gp_cuda.cuLaunchKernel_ptsz : gp_cuda.cuLaunchKernel;
    if (!launch)
        return CUDA_ERROR_NOT_SUPPORTED;
    return launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL);
}

CUresult answer_clear(struct gp_own_kernels *k)
{
    if (!k->answer) {
        CUresult result = own_memory(&k->answer, sizeof(*k->host_answer));
        if (result != CUDA_SUCCESS)
            return result;
    }
    return gp_cuda.cuMemsetD32Async(k->answer, 0, offsetof(struct gp_answer, at_once) / 4,
                                    k->stream);
}

CUresult answer_fetch(struct gp_own_kernels *k)
{
    CUresult result =
        gp_cuda.cuMemcpyDtoHAsync_v2(k->host_answer, k->answer, sizeof(*k->host_answer), k->stream);
    CUresult waited = gp_cuda.cuStreamSynchronize(k->stream);
    return result == CUDA_SUCCESS ? waited : result;
}
