/* The faults to make, from GPUSIM_FAULTS: words separated by commas.
 *
 *   alloc=N             the Nth allocation of device memory fails; alloc=N+ that and all later ones
 *   nodriverfunction=F  the driver does not know F (cuLaunchKernelEx, say); may be given repeatedly
 *   teardown            once exit handlers have run, every call answers CUDA_ERROR_DEINITIALIZED
 *   badrestore          gpuprof's restore kernel does nothing
 *   lazyload            a kernel's code is loaded at its first launch, unless cuFuncLoad did so;
 *                       lazyload=always: in any case
 *   heldup=N            the Nth run of a program's kernel takes 8 us longer; heldup=N+ that and all
 *                       later ones; heldlong=N: 100 us, more than lies between the marks of a pass
 *   trapped=N, stuck=N  the Nth run of a program's kernel fails; or takes 45 s
 *   slow                every asynchronous operation starts late, so a missing wait is noticed
 *   slowmarks           an event is reached that late, also right behind another one
 *   slowhost            the host needs so long for a launch that the GPU is through with the stream
 *   heldevent=N         so long for the Nth event that it records in a stream, and 0.1 ms longer
 *   capturefirst        the first ten events of a whole context come behind the beginning of a
 *                       capture, if a thread begins one within 20 ms
 *   olddriver           the driver calls itself CUDA 11.4; olddriver=12: CUDA 12.8
 *   noparameters        the driver does not say which parameters a kernel has
 *   edges=KIND          the edges of graphs are programmatic, or of an unknown kind
 *   refused             launches that CUPTI counts are refused
 *   longcode            instrumented code of a kernel takes 0.6 s longer
 *   display             the device says that it drives a display, so that it ends kernels that take
 *                       long
 *   pageable            the device says that its kernels can use the host's ordinary memory
 *   packed              small allocations lie beside each other in blocks of 2 MB, and a kernel
 *                       that writes past the end of one writes into the rest of the block
 *
 * The simulated CUPTI reads the rest: busy, noprivileges, oldcupti, unsupportedchip, slowcounters,
 * slowranges, slowopen, slowflush, slowcode, laterparams, errno, manysamples.
 */
#ifndef GPUSIM_FAULTS_H
#define GPUSIM_FAULTS_H

#include <stdbool.h>

/* Is the word there, with or without a value? */
bool gpusim_fault(const char *name);

/* The number that stands behind the word; 0 where there is none. */
double gpusim_fault_number(const char *name);

/* A launch of the program: it takes longer while profilers watch it (slowlaunches). */
void gpusim_watched_call(void);

/* Is name=value there? */
bool gpusim_fault_is(const char *name, const char *value);

/* A call that a fault makes slow takes that long. Adds a line with the milliseconds to the file
 * GPUSIM_SLEEPS. */
void gpusim_sleep_ms(double ms);

/* Counts an allocation; true when it is one that must fail. */
bool gpusim_fault_allocation(void);

/* Counts an event of a whole context; true when a capture may begin before it. */
bool gpusim_fault_mark_waits(void);

/* Counts an event in a stream; true where the host is held up before it. */
bool gpusim_fault_event_held_up(void);

/* Count a run of a program's kernel: whether it fails; whether it takes very long. */
bool gpusim_fault_run_traps(void);
bool gpusim_fault_run_is_stuck(void);

/* Counts a run of a program's kernel: the milliseconds that it takes longer. */
double gpusim_fault_launch_ms(void);

#endif
