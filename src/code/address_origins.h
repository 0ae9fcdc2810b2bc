/* The origins of the address of an access to memory: does it come from a load itself, does it
 * differ between the lanes of a warp? Followed back through the registers of machine code. Pure. */
#ifndef GPUPROF_CODE_ADDRESS_ORIGINS_H
#define GPUPROF_CODE_ADDRESS_ORIGINS_H

#include "code/paths.h"

struct gp_address_origins {
    /* It was computed from a number that a load brought from global memory. Of an access in a loop:
     * by a load in that loop, so that each time waits for the time before or for an index. */
    bool is_loaded;
    /* It was computed from the number of the lane or the thread, or from memory that lanes may read
     * at addresses of their own. */
    bool differs_in_lanes;
};

/* The origins of the address of number n of the code, an access to memory or to constants. Long
 * chains and uniform registers are not followed: they add nothing. */
struct gp_address_origins gp_address_origins_of(struct gp_paths *p, size_t n);

/* True where the code of a function loads from global memory at addresses that it has loaded, or
 * computed from loaded numbers; also where that is not known. */
bool gp_code_gathers(const void *code, size_t size, int cc);

#endif
