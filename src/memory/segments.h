/* A list of pieces of memory for our kernels to work on, on the host and on the device. Owns both.
 */
#ifndef GPUPROF_MEMORY_SEGMENTS_H
#define GPUPROF_MEMORY_SEGMENTS_H

#include "cuda/driver.h"
#include "memory/work.h"

struct gp_segments {
    struct gp_segment *list;
    size_t count, capacity;
    uint64_t units;      /* of all of them */
    uint64_t units_done; /* of those that somebody has dealt with: theirs to keep */
    CUdeviceptr table;   /* the same on the device */
    size_t on_device, device_capacity;
};

/* Adds memory that lies at `live`; `saved` is its copy or 0, `start` that of its buffer. False
 * when out of memory. */
bool segments_add(struct gp_segments *segments, uint64_t live, uint64_t saved, uint64_t bytes,
                  uint64_t start);
void segments_clear(struct gp_segments *segments);
/* Leaves the first ones, on the host. */
void segments_cut(struct gp_segments *segments, size_t count);

/* True where some of that memory is among the segments. */
bool segments_reach(const struct gp_segments *segments, uint64_t address, uint64_t bytes);

/* Makes the list equal to another one, on the host. False when out of memory. */
bool segments_copy(struct gp_segments *segments, const struct gp_segments *other);

/* Puts the segments that were added since the last time on the device, in the order of the
 * stream. */
CUresult segments_upload(struct gp_segments *segments, CUstream stream);

/* Frees the device's table as well, if the context still lives. */
void segments_free(struct gp_segments *segments, bool context_alive);

#endif
