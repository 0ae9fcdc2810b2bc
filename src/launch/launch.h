/* launch/: the way of a launch. Selects it, makes it the first run of a measurement, repeats it
 * for the passes, records the result. Owns kernels and contexts.
 *
 * The first run of a kernel is always the program's own launch, with its own arguments and
 * result. */
#ifndef GPUPROF_LAUNCH_LAUNCH_H
#define GPUPROF_LAUNCH_LAUNCH_H

#include "base/configuration.h"
#include "cuda/driver.h"

/* One launch of the program, and how to make it (again). */
struct gp_launch {
    CUfunction function; /* may be a CUkernel in disguise, as cuLaunchKernel allows */
    CUstream stream;
    bool per_thread_stream; /* stream 0 is the thread's own */
    bool cooperative;       /* its blocks wait for each other */
    bool of_graph;          /* a node of a graph that the program launched */
    GP_CONFIGURATION;
    void **parameters, **extra;          /* as cuLaunchKernel takes them; either may be NULL */
    const CUlaunchAttribute *attributes; /* as cuLaunchKernelEx takes them */
    unsigned attribute_count;
    CUresult (*run)(const struct gp_launch *call);
};

/* Makes the launch, measured if it can be; the result is that of the program's own launch. */
CUresult gp_launch(const struct gp_launch *call);

/* Why a launch that was to be measured was let through as it is. */
enum gp_passed_over {
    GP_BESIDE_CAPTURE,
    GP_CALL_UNDER_WAY,
    GP_BESIDE_WORK,
    GP_OUT_OF_TIME,
    GP_WAITS,
    GP_COMMUNICATING,
    GP_OTHER_CONTEXT,
    GP_BESIDE_OTHERS,
    GP_FAILED,
    GP_AS_A_WHOLE,
    GP_AFTER_END,
    GP_TIMED_AS_A_WHOLE,
    GP_LEFT_OUT,
    GP_PASSED_OVER_KINDS,
};

/* Launches that stand for one of the program's, a graph's: between these the gate is locked, so
 * that nothing of its other threads comes between them. Begins where launches into that stream can
 * be measured now and nothing else is running; false where not, and *why. *measured says whether
 * the launch is to be, and then whether it was: nothing else is running in its stream then.
 * *held_up tells that the bounded wait for a kernel, or for work that was launched before it, has
 * run out, or that the kernel is known not to end by itself. */
bool gp_launch_series_begins(CUstream stream, bool per_thread_stream, enum gp_passed_over *why);
CUresult gp_launch_in_series(const struct gp_launch *call, bool *measured, uint64_t turn,
                             bool *held_up);
/* Makes a launch that is timed, and no more. */
CUresult gp_launch_in_series_timed(const struct gp_launch *call);
/* The launches are the program's own run, and their caller tells of other memory that is written
 * between them. Else it may be any: they run once more on memory that is put back. */
void gp_launch_series_is_own_run(void);
/* Other work is about to be launched into the stream, which writes so many bytes; 0: any memory. */
void gp_launch_series_writes(CUstream stream, CUdeviceptr to, uint64_t bytes);
/* And is launched. */
void gp_launch_series_written(void);
/* True when all that was launched in the stream's context ends within the bounded wait. */
bool gp_launch_series_rests(CUstream stream);
void gp_launch_series_ends(void);

/* Makes a call that submits work which is not measured, beside replays but never in the middle of
 * one. */
CUresult gp_launch_plainly(const struct gp_launch *call);

/* Something is about to happen after which launches that are held (launch/drain.c) could not be
 * replayed any more: their further passes are made now. With no lock held, and the gate neither
 * passed nor closed. Costs next to nothing while none is held. */
void gp_launch_before_change(void);

/* Before the program writes so many bytes there by a copy or a fill in the stream, and behind that,
 * in the same thread; 0: more, or in another way, which nothing needs to follow. Held launches that
 * saved parts of the memory make their passes, or go on to be held (launch/program_writes.c). */
void gp_launch_before_write(CUdeviceptr to, uint64_t bytes, CUstream stream);
void gp_launch_after_write(void);

/* Acts as gp_launch_before_change, and enters the gate before other threads launch again: a launch
 * that is held before the change is known would be replayed behind it. To be ended by
 * gp_gate_leave. */
void gp_launch_enter_before_change(void);
/* Acts as gp_launch_enter_before_change, for launches that reach some of these bytes: they are
 * freed, say. */
void gp_launch_enter_before_free(CUdeviceptr address, uint64_t bytes);
/* Acts as gp_launch_enter_before_free before the program frees memory. True where it stays, as
 * launches that are held reach it, if it may, or as a copy is still to be made of it, and the free
 * would not wait: then it is not to be freed, and the gate is not entered. */
bool gp_launch_retires_or_enters(CUdeviceptr address, uint64_t bytes, bool may_retire, bool waits);
/* As gp_launch_before_change for launches of a function, by any of its handles, and for those into
 * a stream. */
void gp_launch_before_function_changes(CUfunction function);
void gp_launch_before_stream_goes(CUstream stream);

/* As gp_snapshot_release_memory, also the memory of launches that are held. */
bool gp_launch_release_memory(void);
/* Acts as gp_launch_release_memory, and no launch is measured until gp_gate_leave, which follows in
 * any case. */
bool gp_launch_leave_memory(void);

/* Launches that are let through as they are; said once each. */
enum gp_unmeasured { GP_MULTI_DEVICE_LAUNCH, GP_OLD_LAUNCH, GP_UNMEASURED_KINDS };
void gp_launch_not_measured(enum gp_unmeasured kind);

/* The most parameters that CUDA allows a kernel, in bytes. */
#define GP_MOST_PARAMETER_BYTES 32764u

/* How a block of parameters is handed to a launch: pairs of a name and a value, and the end. All
 * three live as long as the launch. */
#define GP_EXTRA_WORDS 5
void gp_parameters_as_block(void *extra[GP_EXTRA_WORDS], void *bytes, size_t *size);

/* The launch as cuLaunchKernelEx takes it, with none of the attributes yet. */
CUlaunchConfig gp_launch_config(const struct gp_launch *call, CUlaunchAttribute *attributes);

/* At each launch of a graph, before it, and behind a call in which the host may have waited for the
 * GPU: CUPTI is detached where nothing was measured for a while. No gate is entered. */
void gp_detach_counts_graph(unsigned kernels);
void gp_detach_at_rest(void);

/* The program has read the time between two events: its launches since the reading before this one
 * are timed (struct gp_count). From any thread. */
void gp_time_was_read(void);

#endif
