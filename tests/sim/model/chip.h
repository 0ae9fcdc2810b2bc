/* The chips that can be simulated: their sizes, limits and speeds.
 *
 * Everything here is a fact about the machine (how many SMs, how wide a line, how fast the
 * clock); nothing here is a result. Results are computed from the work of a kernel on such a
 * machine. */
#ifndef GPUSIM_CHIP_H
#define GPUSIM_CHIP_H

#include <stdbool.h>
#include <stdint.h>

#define GPUSIM_WARP 32
#define GPUSIM_MAX_SMS 144
#define GPUSIM_SECTOR 32 /* bytes: the unit in which L2 and DRAM are counted */
#define GPUSIM_LINE 128  /* bytes: four sectors */

struct gpusim_chip {
    const char *key;         /* its name in GPUSIM_CHIP */
    const char *device_name; /* the answer of cuDeviceGetName */
    const char *chip_name;   /* CUPTI's name of it */
    int major, minor;
    unsigned sms;
    unsigned subpartitions; /* warp schedulers of one SM */
    unsigned max_warps, max_blocks;
    unsigned registers, register_unit; /* of one SM; allocated per warp in such units */
    unsigned shared_per_sm, shared_per_block, shared_optin, shared_reserved, shared_unit;
    unsigned clock_khz, memory_clock_khz, bus_bits;
    uint64_t memory_bytes;
    uint64_t l2_bytes, l1_bytes;
    bool l1_lines; /* a load moves whole 128-byte lines when L1 caches it, else sectors */
    bool legacy;   /* counted by event groups, not by the range profiler */
    unsigned fp32_lanes, fp64_lanes, fp16_lanes, int_lanes, sfu_lanes; /* per SM and cycle */
    unsigned tensor_cycles;                                            /* of one tensor operation */
    unsigned issue_cycles, alu_latency, shared_latency, l1_latency, l2_latency, dram_latency;
    unsigned block_start_cycles; /* between two blocks given to one SM */
};

/* The chip with that key; NULL for a key that is not known. */
const struct gpusim_chip *gpusim_chip_find(const char *key);

/* The chip that the environment (GPUSIM_CHIP, GPUSIM_L1) asks for; hopper when it says nothing. */
const struct gpusim_chip *gpusim_chip(void);

/* Blocks of such a kernel that fit on one SM at the same time; 0 when not even one does. */
unsigned gpusim_chip_resident_blocks(const struct gpusim_chip *chip, unsigned threads,
                                     unsigned registers, unsigned shared);

#endif
