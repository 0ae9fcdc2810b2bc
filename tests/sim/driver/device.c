#include <stdio.h>
#include <string.h>

#include "driver/driver.h"
#include "driver/faults.h"

#define DRIVER_VERSION 13000
#define DRIVER_VERSION_12 12080
#define OLD_DRIVER_VERSION 11040

int gpusim_driver_version(void)
{
    if (gpusim_fault_is("olddriver", "12"))
        return DRIVER_VERSION_12;
    return gpusim_fault("olddriver") ? OLD_DRIVER_VERSION : DRIVER_VERSION;
}

CUresult cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = gpusim_driver_version();
    return CUDA_SUCCESS;
}

/* Calls about one device: is the driver there, is the pointer, is the device? */
static CUresult enter_device(const void *out, CUdevice dev)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    return gpusim_device(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result = enter_device(device, ordinal);

    if (result == CUDA_SUCCESS)
        *device = ordinal;
    return result;
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = (int)gpusim_device_count();
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
    CUresult result = enter_device(name, dev);

    if (result != CUDA_SUCCESS)
        return result;
    if (len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    (void)snprintf(name, (size_t)len, "%s", gpusim_chip()->device_name);
    return CUDA_SUCCESS;
}

static CUresult uuid_of(CUuuid *uuid, CUdevice dev)
{
    CUresult result = enter_device(uuid, dev);

    if (result != CUDA_SUCCESS)
        return result;
    memset(uuid->bytes, 0, sizeof(uuid->bytes));
    memcpy(uuid->bytes, "gpusim", 6);
    uuid->bytes[8] = (char)gpusim_chip()->major;
    uuid->bytes[9] = (char)gpusim_chip()->minor;
    uuid->bytes[15] = (char)dev;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    return uuid_of(uuid, dev);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
    return uuid_of(uuid, dev);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
    CUresult result = enter_device(bytes, dev);

    if (result == CUDA_SUCCESS)
        *bytes = gpusim_device_memory();
    return result;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    CUresult result = enter_device(major, dev);

    if (result != CUDA_SUCCESS)
        return result;
    if (!minor)
        return CUDA_ERROR_INVALID_VALUE;
    *major = gpusim_chip()->major;
    *minor = gpusim_chip()->minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    CUresult result = enter_device(pciBusId, dev);

    if (result != CUDA_SUCCESS)
        return result;
    if (len < 13)
        return CUDA_ERROR_INVALID_VALUE;
    (void)snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", dev + 1);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    CUresult result = gpusim_enter();
    unsigned domain, bus;

    if (result != CUDA_SUCCESS)
        return result;
    if (!dev || !pciBusId || sscanf(pciBusId, "%x:%x", &domain, &bus) != 2)
        return CUDA_ERROR_INVALID_VALUE;
    if (bus == 0 || !gpusim_device((int)bus - 1))
        return CUDA_ERROR_INVALID_DEVICE;
    *dev = (int)bus - 1;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    CUresult result = enter_device(canAccessPeer, dev);

    if (result != CUDA_SUCCESS)
        return result;
    if (!gpusim_device(peerDev))
        return CUDA_ERROR_INVALID_DEVICE;
    *canAccessPeer = dev != peerDev;
    return CUDA_SUCCESS;
}

struct attribute {
    CUdevice_attribute which;
    int value;
};

/* The attributes that both chips have in common; anything not mentioned here or below is 0: not
 * supported. */
static const struct attribute common[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, GPUSIM_WARP},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
};

/* Attributes of the newer one alone. */
static const struct attribute modern[] = {
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 0},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 1},
};

static bool look_up(const struct attribute *list, size_t count, CUdevice_attribute which,
                    int *value)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].which == which) {
            *value = list[i].value;
            return true;
        }
    return false;
}

static int chip_attribute(const struct gpusim_chip *chip, CUdevice_attribute which, CUdevice dev)
{
    switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return chip->major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return chip->minor;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return (int)chip->sms;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        return (int)chip->clock_khz;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        return (int)chip->memory_clock_khz;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        return (int)chip->bus_bits;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        return (int)chip->l2_bytes;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return (int)chip->max_warps * GPUSIM_WARP;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        return (int)chip->max_blocks;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
        return (int)chip->registers;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        return (int)chip->shared_per_block;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return (int)chip->shared_optin;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return (int)chip->shared_per_sm;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        return (int)chip->shared_reserved;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return dev + 1;
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
        return gpusim_fault("pageable");
    case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT:
        return gpusim_fault("display");
    default:
        return 0;
    }
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    CUresult result = enter_device(pi, dev);
    const struct gpusim_chip *chip = gpusim_chip();

    if (result != CUDA_SUCCESS)
        return result;
    if ((int)attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (look_up(common, sizeof(common) / sizeof(common[0]), attrib, pi))
        return CUDA_SUCCESS;
    if (!chip->legacy && look_up(modern, sizeof(modern) / sizeof(modern[0]), attrib, pi))
        return CUDA_SUCCESS;
    *pi = chip_attribute(chip, attrib, dev);
    return CUDA_SUCCESS;
}
