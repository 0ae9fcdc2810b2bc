/* Copies of the arrays that kernels can write through surfaces. The layout of an array is the
 * driver's secret, so they are copied by the driver, and put back whole. Owns the list of copies,
 * not their memory. */
#ifndef GPUPROF_MEMORY_ARRAYS_H
#define GPUPROF_MEMORY_ARRAYS_H

#include "memory/arena.h"
#include "memory/surfaces.h"

/* Copies of an array's contents before the launch, and after the program's own run. */
enum gp_array_state { GP_BEFORE, GP_AFTER, GP_ARRAY_STATES };

struct gp_arrays {
    struct gp_array_copy *list;
    size_t count, capacity;
    uint64_t bytes;       /* of all of them */
    uint64_t needed;      /* in an arena */
    struct gp_reason why; /* some array cannot be copied, and why */
};

/* Lists the arrays of a context. False, with the reason in *why, where one of them cannot be
 * copied. */
bool arrays_list(struct gp_arrays *arrays, CUcontext context, struct gp_reason *why);

/* Gives each copy its room. False where there is none left. */
bool arrays_take(struct gp_arrays *arrays, struct gp_arena *arena);

/* In the order of the stream: takes the copies, writes them back. */
CUresult arrays_save(const struct gp_arrays *arrays, enum gp_array_state state, CUstream stream);
CUresult arrays_restore(const struct gp_arrays *arrays, enum gp_array_state state, CUstream stream);

void arrays_free(struct gp_arrays *arrays);

#endif
