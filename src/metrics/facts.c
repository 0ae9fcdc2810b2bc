#include "metrics/facts.h"

#include "metrics/occupancy.h"
#include "metrics/peaks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PARAMETERS                                                                              \
    const struct gp_fact *fact, const struct gp_device *device, const struct gp_record *launch, \
        double *value, char *why, size_t why_size
#define UNUSED (void)fact, (void)device, (void)launch, (void)why, (void)why_size

static bool known(const struct gp_fact *fact, double found, double *value, char *why,
                  size_t why_size)
{
    if (found > 0 || (found == 0 && fact->zero_is_known)) {
        *value = found;
        return true;
    }
    snprintf(why, why_size, "%s is not known", fact->name);
    return false;
}

static bool device_int(PARAMETERS)
{
    (void)launch;
    return known(fact, *(const int *)((const char *)device + fact->offset), value, why, why_size);
}

static bool device_size(PARAMETERS)
{
    (void)launch;
    return known(fact, (double)*(const size_t *)((const char *)device + fact->offset), value, why,
                 why_size);
}

static bool launch_unsigned(PARAMETERS)
{
    (void)device;
    return known(fact, *(const unsigned *)((const char *)launch + fact->offset), value, why,
                 why_size);
}

static bool compute_capability(PARAMETERS)
{
    (void)launch;
    return known(fact, device->cc_major + device->cc_minor / 10.0, value, why, why_size);
}

static bool max_warps_per_sm(PARAMETERS)
{
    (void)launch;
    return known(fact, device->warp_size > 0 ? device->max_threads_per_sm / device->warp_size : 0,
                 value, why, why_size);
}

static bool peak_flops_sp(PARAMETERS)
{
    UNUSED;
    return gp_peak_flops(device, GP_SINGLE, value, why, why_size);
}

static bool peak_flops_dp(PARAMETERS)
{
    UNUSED;
    return gp_peak_flops(device, GP_DOUBLE, value, why, why_size);
}

static bool peak_flops_hp(PARAMETERS)
{
    UNUSED;
    return gp_peak_flops(device, GP_HALF, value, why, why_size);
}

static bool peak_tensor_fp16(PARAMETERS)
{
    UNUSED;
    return gp_peak_tensor(device, GP_TENSOR_FP16, value, why, why_size);
}

static bool peak_tensor_tf32(PARAMETERS)
{
    UNUSED;
    return gp_peak_tensor(device, GP_TENSOR_TF32, value, why, why_size);
}

static bool peak_tensor_fp64(PARAMETERS)
{
    UNUSED;
    return gp_peak_tensor(device, GP_TENSOR_FP64, value, why, why_size);
}

static bool peak_tensor_fp8(PARAMETERS)
{
    UNUSED;
    return gp_peak_tensor(device, GP_TENSOR_FP8, value, why, why_size);
}

static bool peak_tensor_fp4(PARAMETERS)
{
    UNUSED;
    return gp_peak_tensor(device, GP_TENSOR_FP4, value, why, why_size);
}

static bool peak_dram(PARAMETERS)
{
    UNUSED;
    return gp_peak_dram(device, value, why, why_size);
}

static double volume(const unsigned extent[3])
{
    return (double)extent[0] * extent[1] * extent[2];
}

static double warps_per_block_of(const struct gp_device *device, const struct gp_record *launch)
{
    if (device->warp_size <= 0)
        return 0;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return (double)((threads + (uint64_t)device->warp_size - 1) / (uint64_t)device->warp_size);
}

static bool blocks(PARAMETERS)
{
    (void)device;
    return known(fact, volume(launch->grid), value, why, why_size);
}

static bool threads_per_block(PARAMETERS)
{
    (void)device;
    return known(fact, volume(launch->block), value, why, why_size);
}

static bool threads(PARAMETERS)
{
    (void)device;
    return known(fact, volume(launch->grid) * volume(launch->block), value, why, why_size);
}

static bool warps_per_block(PARAMETERS)
{
    return known(fact, warps_per_block_of(device, launch), value, why, why_size);
}

static bool warps(PARAMETERS)
{
    return known(fact, warps_per_block_of(device, launch) * volume(launch->grid), value, why,
                 why_size);
}

static bool shared_bytes(PARAMETERS)
{
    (void)device;
    return known(fact, (double)launch->shared_static + launch->shared_dynamic, value, why,
                 why_size);
}

/* Where the code is not known, it may have any. */
static bool half_arithmetic(PARAMETERS)
{
    UNUSED;
    *value = launch->no_half_arithmetic ? 0 : 1;
    return true;
}

static bool theoretical_occupancy(PARAMETERS)
{
    UNUSED;
    struct gp_occupancy o;
    if (!gp_occupancy_of(device, launch, &o, why, why_size))
        return false;
    *value = o.ratio;
    return true;
}

static bool blocks_per_sm(PARAMETERS)
{
    UNUSED;
    struct gp_occupancy o;
    if (!gp_occupancy_of(device, launch, &o, why, why_size))
        return false;
    *value = o.blocks_per_sm;
    return true;
}

/* More than any SM can hold: there is no such limit. */
#define NO_LIMIT 1024

/* The fact's offset is that of the limit in struct gp_occupancy. */
static bool limit_of_blocks(PARAMETERS)
{
    struct gp_occupancy o;
    if (!gp_occupancy_of(device, launch, &o, why, why_size))
        return false;
    const int limit = *(const int *)((const char *)&o + fact->offset);
    if (limit <= 0 || limit > NO_LIMIT) {
        snprintf(why, why_size, "the launch needs none of that");
        return false;
    }
    *value = limit;
    return true;
}

/* Waves that are all full have a last one that is full. */
static bool last_wave(PARAMETERS)
{
    UNUSED;
    struct gp_occupancy o;
    if (!gp_occupancy_of(device, launch, &o, why, why_size))
        return false;
    if (device->sm_count <= 0) {
        snprintf(why, why_size, "device.sm_count is not known");
        return false;
    }
    const double waves = volume(launch->grid) / ((double)device->sm_count * o.blocks_per_sm);
    const double rest = waves - floor(waves);
    *value = rest > 0 ? rest : 1;
    return true;
}

/* The profile has milliseconds. */
static bool doubt(PARAMETERS)
{
    UNUSED;
    *value = launch->doubt_ms / 1e3;
    return true;
}

#define DEVICE_INT(field, help)                                                  \
    {                                                                            \
        "device." #field, help, device_int, offsetof(struct gp_device, field), 0 \
    }
#define DEVICE_SIZE(field, zero, help)                                               \
    {                                                                                \
        "device." #field, help, device_size, offsetof(struct gp_device, field), zero \
    }
#define LAUNCH(name, field, zero, help)                                                \
    {                                                                                  \
        "launch." name, help, launch_unsigned, offsetof(struct gp_record, field), zero \
    }
#define LIMIT(name, field, help)                                                       \
    {                                                                                  \
        "launch.blocks_by_" name, "blocks of this kernel an SM can hold by its " help, \
            limit_of_blocks, offsetof(struct gp_occupancy, field), 0                   \
    }
#define DERIVED(name, get, zero, help) \
    {                                  \
        name, help, get, 0, zero       \
    }

static const struct gp_fact facts[] = {
    DERIVED("device.cc", compute_capability, 0, "compute capability, 9.0"),
    DEVICE_INT(sm_count, "multiprocessors"),
    DEVICE_INT(clock_khz, "highest SM clock"),
    DEVICE_INT(memory_clock_khz, "highest memory clock"),
    DEVICE_INT(memory_bus_bits, "width of the memory bus"),
    DEVICE_INT(sp_dp_ratio, "single over double precision throughput"),
    DEVICE_INT(warp_size, "threads in a warp"),
    DEVICE_INT(max_threads_per_sm, "most resident threads of an SM"),
    DERIVED("device.max_warps_per_sm", max_warps_per_sm, 0, "most resident warps of an SM"),
    DEVICE_INT(max_blocks_per_sm, "most resident blocks of an SM"),
    DEVICE_INT(max_threads_per_block, "most threads of a block"),
    DEVICE_INT(registers_per_sm, "32-bit registers of an SM"),
    DEVICE_INT(registers_per_block, "most registers of a block"),
    DEVICE_INT(l2_bytes, "size of the L2 cache"),
    DEVICE_SIZE(shared_per_sm, 0, "bytes of shared memory of an SM"),
    DEVICE_SIZE(shared_per_block, 0, "most bytes of shared memory of a block"),
    DEVICE_SIZE(shared_per_block_optin, 0, "the same for a kernel that asks for more"),
    DEVICE_SIZE(reserved_shared_per_block, 1, "bytes of it that the driver takes per block"),
    DEVICE_SIZE(total_memory, 0, "bytes of device memory"),
    DERIVED("device.peak_flops_sp", peak_flops_sp, 0,
            "single precision operations per second at best, tensor cores left out"),
    DERIVED("device.peak_flops_dp", peak_flops_dp, 0, "the same for double precision"),
    DERIVED("device.peak_flops_hp", peak_flops_hp, 0, "the same for half precision"),
    DERIVED("device.peak_flops_tensor_fp16", peak_tensor_fp16, 0,
            "operations per second of the tensor cores at best, on dense matrices of FP16 or BF16"),
    DERIVED("device.peak_flops_tensor_tf32", peak_tensor_tf32, 0, "the same for TF32"),
    DERIVED("device.peak_flops_tensor_fp64", peak_tensor_fp64, 0, "the same for FP64"),
    DERIVED("device.peak_flops_tensor_fp8", peak_tensor_fp8, 0, "the same for FP8"),
    DERIVED("device.peak_flops_tensor_fp4", peak_tensor_fp4, 0, "the same for FP4"),
    DERIVED("device.peak_dram_bytes_per_second", peak_dram, 0,
            "bandwidth of device memory, both directions together"),
    LAUNCH("grid_x", grid[0], 0, "blocks in x"),
    LAUNCH("grid_y", grid[1], 0, "blocks in y"),
    LAUNCH("grid_z", grid[2], 0, "blocks in z"),
    LAUNCH("block_x", block[0], 0, "threads of a block in x"),
    LAUNCH("block_y", block[1], 0, "threads of a block in y"),
    LAUNCH("block_z", block[2], 0, "threads of a block in z"),
    DERIVED("launch.blocks", blocks, 0, "blocks of the grid"),
    DERIVED("launch.threads_per_block", threads_per_block, 0, "threads of a block"),
    DERIVED("launch.threads", threads, 0, "threads of the grid"),
    DERIVED("launch.warps_per_block", warps_per_block, 0, "warps of a block"),
    DERIVED("launch.warps", warps, 0, "warps of the grid"),
    LAUNCH("registers", registers, 0, "registers per thread"),
    LAUNCH("shared_static", shared_static, 1, "bytes of shared memory the kernel declares"),
    LAUNCH("shared_dynamic", shared_dynamic, 1, "bytes of shared memory the launch adds"),
    DERIVED("launch.shared_bytes", shared_bytes, 1, "both together"),
    LAUNCH("local_bytes", local_bytes, 1, "bytes of local memory per thread"),
    LAUNCH("passes", passes, 0, "times the kernel ran"),
    DERIVED(
        "launch.half_arithmetic", half_arithmetic, 1,
        "0: the kernel's code has no arithmetic in half precision, but for tensor cores; else 1"),
    DERIVED("launch.theoretical_occupancy", theoretical_occupancy, 0,
            "warps an SM can hold of this kernel, over the most it can hold"),
    DERIVED("launch.blocks_per_sm", blocks_per_sm, 0, "blocks of this kernel an SM can hold"),
    LIMIT("registers", by_registers, "registers"),
    LIMIT("shared", by_shared, "shared memory"),
    LIMIT("warps", by_warps, "warps"),
    LIMIT("blocks", by_blocks, "number of blocks"),
    DERIVED("launch.last_wave", last_wave, 0,
            "blocks of the last wave over the blocks that all SMs can hold"),
    DERIVED("launch.doubt", doubt, 1,
            "seconds by which the time may be too long; 0: it is not in doubt"),
};

size_t gp_fact_count(void)
{
    return sizeof(facts) / sizeof(facts[0]);
}

const struct gp_fact *gp_fact_at(size_t i)
{
    return &facts[i];
}

const struct gp_fact *gp_fact_find(const char *name)
{
    for (size_t i = 0; i < gp_fact_count(); i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}
