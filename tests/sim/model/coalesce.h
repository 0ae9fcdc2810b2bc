/*
 * How the accesses of one warp become memory transactions: a pure function of addresses.
 */
#ifndef GPUSIM_COALESCE_H
#define GPUSIM_COALESCE_H

#include <stdint.h>

#include "model/chip.h"

/* One warp instruction that touches memory: the lanes that do, and where. */
struct gpusim_access {
    uint32_t lanes;
    unsigned size; /* bytes per lane */
    uint64_t address[GPUSIM_WARP];
};

#define GPUSIM_MAX_SECTORS (GPUSIM_WARP * 2)

/* The distinct aligned units (of 32 or 128 bytes) touched; addresses of them into out. */
unsigned gpusim_units(const struct gpusim_access *access, uint32_t lanes, unsigned unit,
                      uint64_t out[GPUSIM_MAX_SECTORS]);

/*
 * Line transactions of a load: a warp's 128-byte lines, counted apart for the halves or quarters
 * that an access of 8 or 16 bytes is served in.
 */
unsigned gpusim_line_transactions(const struct gpusim_access *access);

/* Store transactions: per line, the touched sectors taken four, two or one at a time. */
unsigned gpusim_segment_transactions(const struct gpusim_access *access);

/* Sectors that the same number of bytes would need side by side. */
unsigned gpusim_ideal_sectors(const struct gpusim_access *access);

/* Passes through the 32 banks; ideal: were no two words of one pass in the same bank. */
unsigned gpusim_wavefronts(const struct gpusim_access *access, unsigned *ideal);

#endif
