/* A snapshot from within: snapshot.c takes it, rewind.c puts it back, hash_rest.c hashes the memory
 * that is not in it, held_copies.c keeps it for later, present.c puts such copies in place,
 * reserve.c has it made in the launch's stream, flush.c empties the caches, stand_in.c has memory
 * in place of the program's, give_back.c gives its memory back to the program. Only for these. */
#ifndef GPUPROF_MEMORY_SNAPSHOT_PARTS_H
#define GPUPROF_MEMORY_SNAPSHOT_PARTS_H

#include "memory/arena.h"
#include "memory/arrays.h"
#include "memory/final.h"
#include "memory/freed.h"
#include "memory/lookup.h"
#include "memory/own_kernels.h"
#include "memory/reached.h"
#include "memory/segments.h"
#include "memory/snapshot.h"

struct gp_snapshot {
    CUcontext context;
    CUdevice device;
    struct gp_own_kernels own;
    CUevent idle;  /* to wait for all there is in the context */
    bool busy;     /* that wait ran out: until `idle` happens nothing is freed */
    bool pageable; /* kernels can write the host's ordinary memory */

    struct gp_reached reached; /* by the launch at hand */
    struct gp_lookup lookup;
    struct gp_freed freed;
    uint32_t *found; /* by our kernels, where the answer has no room for all */
    size_t found_capacity;

    struct gp_arena arena;
    size_t with_room;                     /* of the reached memory has room there */
    struct gp_segments restored, watched; /* watched is compared only */
    struct gp_arrays arrays;
    bool arrays_saved;

    struct gp_final final;
    struct gp_segments present; /* memory as it is now, kept by present.c */
    uint64_t present_bytes;     /* of room that it takes */
    struct gp_segments moves;   /* our kernels are to make */
    uint32_t kept; /* units that the last launch changed: so much room the next may need */
    bool rewound;  /* memory is not as the program's own run left it */

    struct gp_segments hashed;
    CUdeviceptr hashes; /* before, then after */
    size_t hashes_capacity;
    bool verifies;

    CUdeviceptr scratch;
    size_t scratch_size;

    CUdeviceptr stand_in;
    uint64_t stand_in_size;
    bool stand_in_used;

    bool in_use;   /* between take and done */
    unsigned held; /* copies */
    struct gp_snapshot *prev, *next;
};

struct gp_held_copy {
    uint64_t bytes;
    uint64_t made; /* by the time of memory that was freed */
    struct gp_segments segments;
};

/* Copies the segments of the list that were not copied yet, and follows the pointers in them to the
 * ranges of a table; NULL: follows none. */
CUresult snapshot_copy_new(struct gp_snapshot *s, struct gp_segments *list,
                           const struct gp_lookup *follow);

/* Copies the segments of a short list, GP_FEW_SEGMENTS at most, in a stream (of the default ones
 * the thread's own, when per_thread). */
CUresult snapshot_copy_few(const struct gp_snapshot *s, const struct gp_segments *list,
                           CUstream stream, bool per_thread);

/* The list of all, whose memory a thread that runs out of memory may come to take (give_back.c);
 * not while a snapshot is in use or holds copies. */
void snapshot_list(struct gp_snapshot *s);
void snapshot_unlist(struct gp_snapshot *s);
void snapshot_set_held(struct gp_snapshot *s, unsigned held);
/* Tells its arenas of the memory that the budget allows for beside them: that of other snapshots in
 * its context, and memory that stands in for the program's. */
void snapshot_note_beside(struct gp_snapshot *s);
/* Takes note that the memory that stands in is in use, or not; while it is nobody frees it. */
void snapshot_use_stand_in(struct gp_snapshot *s, bool used);
/* Frees the memory that stands in for the program's. */
void snapshot_free_stand_in(struct gp_snapshot *s);

/* Frees device memory, if there is any, and forgets it. */
void free_device_memory(CUdeviceptr *address);

/* Hashes memory that the launch does not reach, for gp_snapshot_verify (hash_rest.c). */
bool snapshot_hash_rest(struct gp_snapshot *s, struct gp_reason *why);

#endif
