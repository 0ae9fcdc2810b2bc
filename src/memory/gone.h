/* Memory that has gone behind copies of it that nobody has searched: a launch whose copy leads
 * there must not run again. Each part of it with the time at which it went, the last one. Owns the
 * list and its table on the device. One thread at a time; of the table with the context current. */
#ifndef GPUPROF_MEMORY_GONE_H
#define GPUPROF_MEMORY_GONE_H

#include "memory/lookup.h"

struct gp_gone {
    struct gp_ranges ranges;
    struct gp_lookup lookup;
    uint64_t now;  /* the time, which passes when memory goes */
    uint64_t lost; /* until then more went than is listed */
};

/* So many bytes go. */
void gp_gone_add(struct gp_gone *gone, uint64_t address, uint64_t bytes);
/* No copy from before now is left. */
void gp_gone_clear(struct gp_gone *gone);
void gp_gone_free(struct gp_gone *gone, bool context_alive);

/* True where some memory went after that time; *known where all of that is listed. */
bool gp_gone_after(const struct gp_gone *gone, uint64_t time, bool *known);

#endif
