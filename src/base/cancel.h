/* Stretches of code in which the thread is not cancelled: they may overlap in any order, and lie in
 * one another where a signal's handler makes them. */
#ifndef GPUPROF_BASE_CANCEL_H
#define GPUPROF_BASE_CANCEL_H

void gp_cancel_hold(void);
void gp_cancel_release(void);

#endif
