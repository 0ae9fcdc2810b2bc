/* The time of the simulated GPU. It passes by the model, not on the host's clock: a busy machine
 * makes no kernel longer. */
#ifndef GPUSIM_CLOCK_H
#define GPUSIM_CLOCK_H

/* Milliseconds that the work which the calling thread does has taken so far. */
extern __thread double gpusim_work_ms;

#endif
