/* A word at the end of a process that used no CUDA, or launched no kernel. Owns the note whether
 * the driver has begun. */
#ifndef GPUPROF_LAUNCH_UNUSED_H
#define GPUPROF_LAUNCH_UNUSED_H

/* The driver begins in this process, as it says itself: if no call of it comes by us, all launches
 * go another way. */
void gp_unused_driver_begins(void);
/* A driver begins that a library has for itself, as it was loaded by dlmopen: says that its
 * launches are not seen. We are the copy of us beside it. */
void gp_unused_driver_apart(void);

#endif
