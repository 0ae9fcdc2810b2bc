/* A held launch from within: drain.c drains it, deferred.c makes it where it is not waited for.
 * Only for these and contexts.c. */
#ifndef GPUPROF_LAUNCH_HELD_H
#define GPUPROF_LAUNCH_HELD_H

#include "launch/measurement.h"

#include <stdatomic.h>

struct gp_held {
    struct gp_measurement measurement;
    struct gp_launch *call;
    void *parameters;
    struct gp_held_copy *copy;
    struct gp_pending *record;
    /* Of one that is deferred: no pass of it was made yet. */
    bool deferred;
    struct gp_clock *clock; /* of its own run */
    atomic_bool under_way;  /* its thread is about to launch it */
    bool whole;             /* its copy was searched, and leads to no other memory */
    struct gp_held *prev, *next;
};

/* The launch with its parameters, in no list yet; NULL where it cannot be kept. */
struct gp_held *gp_held_keep(const struct gp_measurement *m);
void gp_held_free(struct gp_held *held);

/* It waits for the next drain of its context. */
void gp_held_enter(struct gp_held *held, struct gp_held_copy *copy);

/* Nothing more is to be had of it. Where its copy is still to be written, as its stream has not
 * come there, the room of the copy stays taken until then. */
void gp_held_release(struct gp_context *c, struct gp_held *held);
/* Releases those whose copy is written by now; all that their threads have launched, where the
 * context is idle. */
void gp_held_release_written(struct gp_context *c, bool idle);

/* True where a copy of some of these bytes is still to be made. */
bool gp_held_to_be_written(const struct gp_context *c, CUdeviceptr address, uint64_t bytes);

#endif
