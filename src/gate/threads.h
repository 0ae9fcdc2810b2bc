/* Notes of a thread for itself that others read now and then, so that the work at every call of the
 * program writes no memory that threads share. Owns the list of it. */
#ifndef GPUPROF_GATE_THREADS_H
#define GPUPROF_GATE_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>

struct gp_thread {
    atomic_int inside;     /* the gate's, as are the two below: only the thread itself uses those */
    atomic_int calls;      /* that are inside, or about to be */
    atomic_bool admitted;  /* while `inside` says so too */
    atomic_ulong launches; /* of kernels, that were not measured; goes on where it is reused */
    atomic_ulong calls_of_launches; /* launch/host_calls.c's; the same */
    atomic_bool taken;
    void *skipping; /* launch/sampling.c's; goes on where it is reused */
    struct gp_thread *next;
} __attribute__((aligned(64))); /* a cache line of its own */

/* The calling thread's, NULL before it has asked for it and where it cannot have one. */
extern __thread struct gp_thread *gp_thread_own __attribute__((tls_model("initial-exec")));

/* The notes of all threads, also of some that ended: through `next`. The list only ever grows, so
 * it can be read at any time. */
struct gp_thread *gp_threads(void);

#endif
