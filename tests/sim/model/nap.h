/* Time that passes in a kernel. */
#ifndef GPUSIM_NAP_H
#define GPUSIM_NAP_H

#include "model/clock.h"

#include <time.h>

/* Between two reads of memory that another thread will write. A real GPU spins; here the processor
 * is needed by the threads that are waited for. */
static inline void gpusim_nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    gpusim_work_ms += 0.05;
}

/* Less than a second. */
static inline void gpusim_take_ms(unsigned ms)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
    gpusim_work_ms += ms;
}

#endif
