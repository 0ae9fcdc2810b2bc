/* The buffers that kernels of one context can write, in order of address, to find that of a
 * pointer. Follows the list of buffers from change to change. Owns the table.
 *
 * A range is a buffer, except that mappings side by side are one: memory that grows by mapping more
 * of it behind is used across the borders. Where one of them is not ours, none of them is. Not for
 * several threads at once. */
#ifndef GPUPROF_MEMORY_RANGES_H
#define GPUPROF_MEMORY_RANGES_H

#include "memory/buffers.h"
#include "memory/work.h"

struct gp_range_facts {
    enum gp_buffer_kind kind;
    bool managed;              /* memory that the host uses as well */
    bool direct;               /* memory that other devices access directly */
    const void *owner;         /* of a global: its module or library */
    struct gp_reason not_ours; /* why it must not be put back; none where it may */
    uint64_t freed_at;         /* the time of a range that was freed (memory/freed.h) */
};

struct gp_ranges {
    struct gp_range *ranges;      /* in order of address; none overlaps another */
    struct gp_range_facts *facts; /* of the same */
    size_t count, capacity;
    uint64_t bytes;      /* of all ranges */
    size_t changed_from; /* ranges before it are as they were when another part set this to count */
    uint32_t
        high[GP_HIGH_HALVES / 32]; /* upper halves of addresses there are or were, a bit each */
    bool high_changed;             /* bits came since somebody cleared this */

    uint64_t generation; /* of the list, up to which this follows it */
    bool complete; /* it has been read whole once, and no change was lost for want of memory */
    struct gp_owner *owners;
    size_t owner_count, owner_capacity;
    bool owners_known;
};

/* Brings the ranges up to date with the list of buffers. False when out of memory. */
bool ranges_update(struct gp_ranges *ranges, CUcontext context, int device);
void ranges_free(struct gp_ranges *ranges);

/* Ranges that follow no list: adds one, to which its part of each other one goes over. Where there
 * is no memory for that they are not complete any more. */
void ranges_add(struct gp_ranges *ranges, struct gp_range range, struct gp_range_facts facts);
void ranges_clear(struct gp_ranges *ranges);

/* The ranges that an address points into, or just behind the end of: none, one or two. */
unsigned ranges_find(const struct gp_ranges *ranges, uint64_t address, size_t found[2]);

/* Calls visit with each variable of the module or library; with all variables for NULL. False where
 * out of memory. */
typedef void gp_range_visit(size_t range, void *data);
bool ranges_of(struct gp_ranges *ranges, const void *owner, gp_range_visit *visit, void *data);

#endif
