/* The work of our own kernels that put copies of memory in place: the instructions that they
 * execute follow from it. */
#ifndef GPUPROF_BASE_PUT_WORK_H
#define GPUPROF_BASE_PUT_WORK_H

#include <stdbool.h>
#include <stdint.h>

/* The amounts of whole units (memory/work.h) are blocks of threads, units and segments of the
 * kernel that copies, and of the one that checks. */
#define GP_PUT_AMOUNTS 6
/* Layouts of other memory that is copied. */
#define GP_PUT_LAYOUTS 12

struct gp_put_work {
    uint64_t amounts[GP_PUT_AMOUNTS];
    struct {
        uint64_t layout, times;
    } layouts[GP_PUT_LAYOUTS];
    unsigned layout_count;
    bool irregular; /* there are more layouts, or units that a table lists */
};

#endif
