/* The facts of a GPU that the driver knows, for records and metrics. */
#include "launch/inside.h"

void device_describe(CUdevice device, struct gp_device *d)
{
#define ASK(member, attribute) \
    d->member = gp_device_attribute(device, CU_DEVICE_ATTRIBUTE_##attribute)
    d->ordinal = device;
    if (gp_cuda.cuDeviceGetName(d->name, sizeof(d->name), device) != CUDA_SUCCESS)
        d->name[0] = '\0';
    ASK(cc_major, COMPUTE_CAPABILITY_MAJOR);
    ASK(cc_minor, COMPUTE_CAPABILITY_MINOR);
    ASK(sm_count, MULTIPROCESSOR_COUNT);
    ASK(clock_khz, CLOCK_RATE);
    ASK(memory_clock_khz, MEMORY_CLOCK_RATE);
    ASK(memory_bus_bits, GLOBAL_MEMORY_BUS_WIDTH);
    ASK(sp_dp_ratio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
    ASK(warp_size, WARP_SIZE);
    ASK(max_threads_per_sm, MAX_THREADS_PER_MULTIPROCESSOR);
    ASK(max_blocks_per_sm, MAX_BLOCKS_PER_MULTIPROCESSOR);
    ASK(max_threads_per_block, MAX_THREADS_PER_BLOCK);
    ASK(registers_per_sm, MAX_REGISTERS_PER_MULTIPROCESSOR);
    ASK(registers_per_block, MAX_REGISTERS_PER_BLOCK);
    ASK(l2_bytes, L2_CACHE_SIZE);
    ASK(shared_per_sm, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    ASK(shared_per_block, MAX_SHARED_MEMORY_PER_BLOCK);
    ASK(shared_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    ASK(reserved_shared_per_block, RESERVED_SHARED_MEMORY_PER_BLOCK);
#undef ASK
    if (gp_cuda.cuDeviceTotalMem_v2(&d->total_memory, device) != CUDA_SUCCESS)
        d->total_memory = 0;
    if (gp_cuda.cuDriverGetVersion(&d->driver_version) != CUDA_SUCCESS)
        d->driver_version = 0;
    d->simulated = gp_driver_is_simulated();
}
