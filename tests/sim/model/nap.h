/* Between two reads of memory that another thread will write. */
#ifndef GPUSIM_NAP_H
#define GPUSIM_NAP_H

#include "model/clock.h"

#include <time.h>

/* A real GPU spins; here the processor is needed by the threads that are waited for. */
static inline void gpusim_nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    gpusim_work_ms += 0.05;
}

#endif
