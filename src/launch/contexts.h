/* The contexts launches are measured in: the device each is on, its collection of counters, its
 * snapshot. Owns those. Used with the gate locked. */
#ifndef GPUPROF_LAUNCH_CONTEXTS_H
#define GPUPROF_LAUNCH_CONTEXTS_H

#include "counters/collector.h"
#include "memory/snapshot.h"

struct gp_measurement;

/* The thing about to change: memory, where bytes are given; one function, module, stream or
 * context; else all. */
struct gp_program_change {
    CUdeviceptr address;
    uint64_t bytes;
    CUfunction function;
    const void *module; /* or library */
    CUcontext context;  /* its modules and its memory go */
    CUstream stream;
};

/* True where a held launch is concerned in some context. With the gate locked, or queued for it. */
bool gp_contexts_are_concerned(const struct gp_program_change *change);
/* Notes memory before it is freed. The same. */
void gp_contexts_note_going(const struct gp_program_change *change);
/* Before it: the held launches that it concerns make their further passes now, in every context;
 * unless they may be replayed, the gate is unlocked, it is lost. in_launch: one is being measured,
 * so that nothing can be read. */
void gp_contexts_before_change(const struct gp_program_change *change, bool may_replay,
                               bool in_launch);

/* True where some launch is held in some context. From any thread. */
bool gp_any_held(void);

/* True where something is collected in some context. With the gate locked, or queued for it.
 */
bool gp_contexts_collect(void);
/* True for a context that was entered and not left. The same. */
bool gp_context_is_known(CUcontext handle);

/* Closes the collections of a context, or of all (NULL), so that CUPTI frees the code that it has
 * patched there. For a module that goes: where the session is away only held launches of
 * its kernels are concerned. False where something runs there that does not end, for which CUPTI
 * would wait: then that collection stays open. */
bool gp_contexts_close_collections(CUcontext context, const void *module);

/* Ends collecting and frees our memory there; the context is about to go, or dead already. */
void gp_context_leave(CUcontext handle);
/* The device's primary context, NULL while it is not active. */
CUcontext gp_context_primary(CUdevice device);

#endif
