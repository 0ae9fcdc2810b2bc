/* The ranges of a context as our kernels see them: a table on the device by which they find the
 * range of a pointer, and the list of the ranges that they found. Owns that device memory. Used
 * with the context current. */
#ifndef GPUPROF_MEMORY_LOOKUP_H
#define GPUPROF_MEMORY_LOOKUP_H

#include "memory/ranges.h"

struct gp_lookup {
    CUdeviceptr table;  /* struct gp_table, and behind it the upper halves */
    CUdeviceptr arrays; /* its ranges, marks and list */
    size_t capacity;    /* ranges that fit */
    struct gp_table copy;
};

/* Brings the table up to date with the ranges, in the order of the stream; costs nothing where
 * nothing has changed. The ranges must stay as they are until the stream is done. */
CUresult lookup_update(struct gp_lookup *lookup, struct gp_ranges *ranges, CUstream stream);

/* Frees the device memory, if the context still lives. */
void lookup_free(struct gp_lookup *lookup, bool context_alive);

#endif
