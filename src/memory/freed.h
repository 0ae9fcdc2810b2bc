/* Memory that was freed after it was copied, before the copy was searched for pointers: a launch
 * whose copy leads there must not run again. Each range has the time of its last free. Owns the
 * list and its table on the device. One thread at a time; the table needs the context current. */
#ifndef GPUPROF_MEMORY_FREED_H
#define GPUPROF_MEMORY_FREED_H

#include "memory/lookup.h"

struct gp_freed {
    struct gp_ranges ranges;
    struct gp_lookup lookup;
    uint64_t now;  /* frees so far */
    uint64_t lost; /* up to this time more was freed than is listed */
};

/* So many bytes are freed. */
void freed_add(struct gp_freed *freed, uint64_t address, uint64_t bytes);
/* No copy from before now is left. */
void freed_clear(struct gp_freed *freed);
void freed_close(struct gp_freed *freed, bool context_alive);

/* True where some memory was freed after that time; *known where all of that is listed. */
bool freed_after(const struct gp_freed *freed, uint64_t time, bool *known);

#endif
