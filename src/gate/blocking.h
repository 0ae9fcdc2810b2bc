/* Work of the program that may not end by itself. Owns how much of it was submitted. From any
 * thread. */
#ifndef GPUPROF_GATE_BLOCKING_H
#define GPUPROF_GATE_BLOCKING_H

enum gp_blocking {
    GP_MAY_WAIT, /* for the host, another process, or work that is launched later */
    GP_MAY_HOLD, /* the same, and the host may launch much behind it before it ends the wait */
    GP_BLOCKING_KINDS
};

/* Such work is about to be submitted, or has just been: to be called before and after. */
void gp_blocking_noted(enum gp_blocking kind);

/* So often that was said, of work that may hold of both kinds. While the number stays the same no
 * such work is submitted. */
unsigned long gp_blocking_count(enum gp_blocking kind);

#endif
