/* Shared by the parts of the simulated CUPTI: the driver behind it, which client may count, and
 * the functions where the real one does not answer but crash. */
#ifndef GPUSIM_CUPTI_SIM_H
#define GPUSIM_CUPTI_SIM_H

#include "backend.h"

#include <cupti_result.h>

/* The simulated driver's table; NULL while the driver is not loaded. */
const struct gpusim_backend *gpusim_driver(void);

/* Is this fault switched on? */
bool gpusim_cupti_fault(const char *name);

/*
 * The real library was seen to die of this call. So does this one, after saying why: a program that
 * does it has an error that no return code would show.
 */
_Noreturn void gpusim_crash(const char *what);

/*
 * The right to count on a device: one owner in this process, and, where GPUSIM_LOCK names a file,
 * one process among all that name the same file.
 */
CUptiResult gpusim_counters_take(CUcontext owner, int device);
void gpusim_counters_give_back(CUcontext owner, int device);

/* Was cuptiProfilerInitialize called? */
bool gpusim_profiler_initialized(void);

/* The driver serves this copy of CUPTI from now on, or another one has it, which is the error. A
 * profiler can begin after cuptiFinalize only where profilers were deinitialized before it and
 * behind it. */
CUptiResult gpusim_attach(bool by_profiler);
void gpusim_profiler_ends(void);
bool gpusim_was_finalized(void);

/* Is the Range Profiler enabled on the context? */
bool gpusim_ranges_enabled(CUcontext context);

/* PC sampling (samples.c): a session of ranges has been started; CUPTI is finalized. Is it enabled?
 */
void gpusim_samples_ranges_begin(void);
void gpusim_samples_finalize(void);
bool gpusim_samples_enabled(void);

/*
 * For tests: GPUSIM_FAILS=FUNCTION@N, the Nth call of that function fails; N+: all from there.
 * Several with commas between them. FUNCTION@N=ERROR: with CUPTI_ERROR_UNKNOWN, or "forbidden"
 * (insufficient privileges), "busy", "hypervisor", "unsupported", "mig", "wsl".
 */
CUptiResult gpusim_cupti_failure(const char *function);
#define GPUSIM_MAY_FAIL()                                           \
    do {                                                            \
        const CUptiResult failure = gpusim_cupti_failure(__func__); \
        if (failure != CUPTI_SUCCESS)                               \
            return failure;                                         \
    } while (0)

/* For tests: appends that something was asked for, and of which pass, to the file that
 * GPUSIM_PROFILER names. */
void gpusim_note(const char *what, uint32_t pass);

/* Sleeps so long where counters are to be as slow as on a real machine (slowcounters). */
void gpusim_takes_ms(double ms);

/* A later library: it writes the fields that its own structure has more, whichever size is passed.
 */
void gpusim_write_later_fields(void *params, size_t size);

/* Does a parameter structure have at least the fields that this library knows? */
#define GPUSIM_SIZE_IS_RIGHT(params, type) ((params) && (params)->structSize >= type##_STRUCT_SIZE)

#endif
