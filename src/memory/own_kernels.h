/* Our own kernels (memory/device.cu) in one context: loaded, started in a stream of ours, and the
 * answer that they give. Owns those. Used with the context current, one thread at a time. */
#ifndef GPUPROF_MEMORY_OWN_KERNELS_H
#define GPUPROF_MEMORY_OWN_KERNELS_H

#include "cuda/driver.h"
#include "memory/work.h"

struct gp_own_kernel {
    CUfunction function;
    unsigned blocks; /* that the device runs at the same time */
};

struct gp_own_kernels {
    CUmodule module;
    struct gp_own_kernel copy, copy_few, copy_and_follow, compare, keep, rewind_kept, rewind,
        put_back;
    struct gp_own_kernel hash, compare_hashes, read_all, pause;
    CUstream stream;               /* made by the caller */
    CUdeviceptr answer;            /* struct gp_answer, on the device */
    struct gp_answer *host_answer; /* a copy of it in page-locked memory */
};

/* False where they cannot be loaded; close them all the same. */
bool own_kernels_load(struct gp_own_kernels *kernels, CUdevice device);
/* Gives back all that lies in the context, the stream too. Not where the context is gone. */
void own_kernels_close(struct gp_own_kernels *kernels);

/* Starts one with as many blocks as have something to do. */
CUresult own_kernel_start(const struct gp_own_kernels *kernels, const struct gp_own_kernel *kernel,
                          uint64_t units, void **arguments);

/* Starts one in a stream of the program (of the default ones the thread's own, when per_thread). */
CUresult own_kernel_start_on(CUstream stream, bool per_thread, CUfunction function, unsigned blocks,
                             unsigned threads, void **arguments);

/* Zeroes the answer; the list in it needs no more than its count. */
CUresult answer_clear(struct gp_own_kernels *kernels);
/* Waits for all that was started, and fetches the answer. */
CUresult answer_fetch(struct gp_own_kernels *kernels);

/* True for CUDA_SUCCESS; else the reason is in *why. */
bool driver_worked(CUresult result, struct gp_reason *why);

#endif
