/* Stand-ins for memory that a graph allocates and frees in itself: it is present only
 * while the graph runs, and its kernels are launched by themselves, too. In their parameters, and
 * in the addresses of copies and fills, the one is replaced by the other. */
#ifndef GPUPROF_GRAPH_STAND_INS_H
#define GPUPROF_GRAPH_STAND_INS_H

#include "cuda/driver.h"
#include "launch/launch.h"

#include <stddef.h>
#include <stdint.h>

struct gp_stand_ins {
    uint64_t bytes;   /* that they need together, with the gaps between them */
    bool far_apart;   /* the gaps are too large */
    CUdeviceptr base; /* where they lie now; 0: there are none */
    unsigned count;
    struct gp_stand_in {
        CUdeviceptr address; /* the graph's */
        uint64_t bytes, offset;
    } list[]; /* sorted, none overlaps another */
};

/* For the graph's allocations, none there yet; to be freed. NULL where it does not keep them to
 * itself, or they are not known. */
struct gp_stand_ins *stand_ins_list(CUgraph graph);

/* They lie there from now on, known as memory that kernels reach; that of the graph is known as one
 * that is not there. And no more. */
void stand_ins_enter(struct gp_stand_ins *s, CUdeviceptr base);
void stand_ins_leave(struct gp_stand_ins *s);

/* True for an address in memory that the graph allocates, there or not. NULL for `s`: there is
 * none.
 */
bool stand_ins_cover(const struct gp_stand_ins *s, CUdeviceptr address);

/* The address that stands in for one of the graph's, or near its memory; those in other memory
 * stay. NULL for `s`: all stay. */
CUdeviceptr stand_in_for(const struct gp_stand_ins *s, CUdeviceptr address);

/* A launch's parameters with these addresses; to be freed. The launch gets them. NULL where they
 * are not known, or out of memory. */
struct gp_replaced_parameters *stand_ins_replace(const struct gp_stand_ins *s,
                                                 struct gp_launch *call);

#endif
