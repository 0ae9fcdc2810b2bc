/* A thread's floating-point environment: which exceptions were raised and which end the program,
 * how numbers are rounded. A program may read it, and may have changed it. */
#ifndef GPUPROF_BASE_FLOATING_H
#define GPUPROF_BASE_FLOATING_H

#include <fenv.h>

/* gp_floating_hold keeps it in *program, and makes it the usual one until it is restored. */
#if defined(__x86_64__)
/* The environment of SSE, in which compilers calculate on x86-64; the x87's is long to load and
 * store. */
typedef unsigned gp_floating;
#define GP_USUAL_MXCSR 0x1f80u

static inline void gp_floating_hold(gp_floating *program)
{
    *program = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(GP_USUAL_MXCSR);
}

static inline void gp_floating_restore(const gp_floating *program)
{
    __builtin_ia32_ldmxcsr(*program);
}
#else
typedef fenv_t gp_floating;

static inline void gp_floating_hold(gp_floating *program)
{
    fegetenv(program);
    fesetenv(FE_DFL_ENV);
}

static inline void gp_floating_restore(const gp_floating *program)
{
    fesetenv(program);
}
#endif

#endif
