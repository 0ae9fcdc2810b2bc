/* Calls of the program in which its host spends time between launches (struct gp_host_calls): how
 * many, and how long the driver took. Counted are those inside the window and behind the first
 * launch, as set-up is no part of the work. Owns the counts. From any thread; takes no lock.
 *
 * A time is taken only where nothing of gpuprof's can lie in it: docs/decisions.md. */
#ifndef GPUPROF_LAUNCH_HOST_CALLS_H
#define GPUPROF_LAUNCH_HOST_CALLS_H

#include "cuda/driver.h"
#include "launch/copies.h"
#include "profile/record.h"

/* A call that is being made. */
struct gp_host_call {
    bool counted;
    uint64_t began; /* nanoseconds; 0: its time is not taken */
    unsigned long turns;
};

/* Around the driver's function. */
struct gp_host_call gp_host_call_begins(void);
void gp_host_call_ends(const struct gp_host_call *call, enum gp_host_kind kind, uint64_t bytes,
                       CUresult result);

/* A call that gpuprof has answered itself, as the driver would with success. */
void gp_host_call_answered(enum gp_host_kind kind);

/* The program has launched a graph. */
void gp_host_graph_launched(void);

/* Whether the host waits for a copy that no stream is given for; the addresses are asked where the
 * direction depends on them. */
bool gp_host_waits_for(enum gp_copy_kind kind, CUdeviceptr to, CUdeviceptr from);

#endif
