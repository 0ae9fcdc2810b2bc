#include "model/chip.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct gpusim_chip chips[] = {
    {
        .key = "hopper",
        .device_name = "NVIDIA H200 (Simulated)",
        .chip_name = "GH100",
        .major = 9,
        .minor = 0,
        .sms = 132,
        .subpartitions = 4,
        .max_warps = 64,
        .max_blocks = 32,
        .registers = 65536,
        .register_unit = 256,
        .shared_per_sm = 233472,
        .shared_per_block = 49152,
        .shared_optin = 232448,
        .shared_reserved = 1024,
        .shared_unit = 128,
        .clock_khz = 1980000,
        .memory_clock_khz = 3201000,
        .bus_bits = 6144,
        .memory_bytes = 150110011392ull,
        .l2_bytes = 62914560,
        .l1_bytes = 131072,
        .l1_lines = false,
        .legacy = false,
        .fp32_lanes = 128,
        .fp64_lanes = 64,
        .fp16_lanes = 256,
        .int_lanes = 64,
        .sfu_lanes = 16,
        .tensor_cycles = 16,
        .issue_cycles = 1,
        .alu_latency = 4,
        .shared_latency = 29,
        .l1_latency = 38,
        .l2_latency = 262,
        .dram_latency = 560,
        .block_start_cycles = 12,
    },
    {
        .key = "kepler",
        .device_name = "Tesla K80 (Simulated)",
        .chip_name = "GK210",
        .major = 3,
        .minor = 7,
        .sms = 13,
        .subpartitions = 4,
        .max_warps = 64,
        .max_blocks = 16,
        .registers = 131072,
        .register_unit = 256,
        .shared_per_sm = 114688,
        .shared_per_block = 49152,
        .shared_optin = 49152,
        .shared_reserved = 0,
        .shared_unit = 256,
        .clock_khz = 823500,
        .memory_clock_khz = 2505000,
        .bus_bits = 384,
        .memory_bytes = 11996954624ull,
        .l2_bytes = 1572864,
        .l1_bytes = 16384,
        .l1_lines = true,
        .legacy = true,
        .fp32_lanes = 192,
        .fp64_lanes = 64,
        .fp16_lanes = 192,
        .int_lanes = 160,
        .sfu_lanes = 32,
        .tensor_cycles = 0,
        .issue_cycles = 1,
        .alu_latency = 9,
        .shared_latency = 26,
        .l1_latency = 35,
        .l2_latency = 200,
        .dram_latency = 350,
        .block_start_cycles = 20,
    },
};

static struct gpusim_chip chosen;
static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;

const struct gpusim_chip *gpusim_chip_find(const char *key)
{
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
        if (strcmp(chips[i].key, key) == 0)
            return &chips[i];
    return NULL;
}

static void choose(void)
{
    const char *key = getenv("GPUSIM_CHIP");
    const struct gpusim_chip *found = key && *key ? gpusim_chip_find(key) : NULL;
    const char *l1 = getenv("GPUSIM_L1");

    chosen = found ? *found : chips[0];
    /* Kepler's L1 caches global loads or leaves them to L2, as the compiler was asked to. */
    if (l1 && strcmp(l1, "off") == 0)
        chosen.l1_lines = false;
}

const struct gpusim_chip *gpusim_chip(void)
{
    pthread_once(&chosen_once, choose);
    return &chosen;
}

static unsigned round_up(unsigned value, unsigned unit)
{
    return (value + unit - 1) / unit * unit;
}

unsigned gpusim_chip_resident_blocks(const struct gpusim_chip *chip, unsigned threads,
                                     unsigned registers, unsigned shared)
{
    unsigned warps = (threads + GPUSIM_WARP - 1) / GPUSIM_WARP;
    unsigned blocks;
    unsigned held;

    if (warps == 0 || warps > chip->max_warps)
        return 0;
    blocks = chip->max_warps / warps;
    if (blocks > chip->max_blocks)
        blocks = chip->max_blocks;
    if (registers) {
        unsigned per_warp = round_up(registers * GPUSIM_WARP, chip->register_unit);
        /* Registers belong to the four schedulers, so warps fit by quarters of the file. */
        unsigned fitting = chip->registers / chip->subpartitions / per_warp * chip->subpartitions;
        if (fitting / warps < blocks)
            blocks = fitting / warps;
    }
    held = round_up(shared + chip->shared_reserved, chip->shared_unit);
    if (held && chip->shared_per_sm / held < blocks)
        blocks = chip->shared_per_sm / held;
    return blocks;
}
