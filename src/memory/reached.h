/* The ranges that a launch reaches, each once: those that its parameters, its module's variables
 * and the contents of these point into. Owns the table of ranges and the list. */
#ifndef GPUPROF_MEMORY_REACHED_H
#define GPUPROF_MEMORY_REACHED_H

#include "memory/ranges.h"
#include "memory/snapshot.h"

struct gp_reached {
    struct gp_ranges ranges;
    size_t *list; /* numbers of ranges */
    size_t count, capacity;
    size_t roots;    /* of them that parameters and variables lead to; contents lead to the next */
    size_t seen;     /* of them; the rest is there because everything is */
    uint32_t *marks; /* per range: the round in which it was reached last */
    size_t marks_capacity;
    uint32_t round; /* of launches */
    bool out_of_memory;
    struct gp_reason not_ours; /* why reached memory cannot be put back, none while it can */
    uint64_t bytes, needed;    /* of the reached memory; room for its copies */
};

/* Forgets the last launch. */
void reached_clear(struct gp_reached *reached);
/* Brings the ranges up to date. False when out of memory. */
bool reached_update(struct gp_reached *reached, CUcontext context, CUdevice device);
void reached_free(struct gp_reached *reached);

/* A gp_range_visit: the range is reached. */
void reach_range(size_t range, void *reached);
void reach_all(struct gp_reached *reached);

/* Every 8 bytes of the parameters, wherever they begin. False, with the reason in *why, where one
 * points to the host's ordinary memory, and kernels can write that (`pageable`). */
bool reach_from_parameters(struct gp_reached *reached, const struct gp_reach *launch, bool pageable,
                           struct gp_reason *why);
/* The variables a kernel can name are those of its module. False when out of memory. */
bool reach_from_modules(struct gp_reached *reached, const struct gp_reach *launch);

/* Whether all that is reached, or all that there is, may be put back; else why not. */
bool reached_is_ours(const struct gp_reached *reached, struct gp_reason *why);
bool reached_all_is_ours(struct gp_reached *reached, struct gp_reason *why);

/* True where the index-th is compared only, and never put back. */
bool reached_is_watched(const struct gp_reached *reached, size_t index);

#endif
