/* GPUSIM_TIMES: the times of kernels vary, as those of a GPU do (tests/noise.h). */
#ifndef GPUSIM_TIMES_H
#define GPUSIM_TIMES_H

/* Milliseconds of one run of a kernel that takes `ms` by the model. */
double gpusim_times_vary(double ms);

/* The time of an event, as the clock shows it. */
double gpusim_times_shown(double ms);

#endif
