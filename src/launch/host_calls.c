#include "launch/host_calls.h"

#include "base/clock.h"
#include "gate/captures.h"
#include "gate/gate.h"
#include "gate/internal_work.h"
#include "gate/threads.h"
#include "launch/inside.h"
#include "launch/session.h"

#include <stdatomic.h>

static struct {
    atomic_bool launched;
    atomic_ulong launches; /* of threads without notes of their own */
    /* The turns of the gate at which the GPU was last waited for: nothing of gpuprof's was left. */
    atomic_ulong rested;
    struct {
        _Atomic uint64_t calls, bytes, timed, ns, disturbed, disturbed_ns;
    } kinds[GP_HOST_KINDS];
} host;

static void add(_Atomic uint64_t *count, uint64_t value)
{
    atomic_fetch_add_explicit(count, value, memory_order_relaxed);
}

/* ---- launches -------------------------------------------------------------------------------- */

static void note_launched(void)
{
    if (!atomic_load_explicit(&host.launched, memory_order_relaxed))
        atomic_store(&host.launched, true);
}

static bool is_captured(const struct gp_launch *call)
{
    if (gp_captures() == 0)
        return false;
    gp_internal_work_begins();
    const bool captured = gp_stream_is_capturing(call->stream, call->per_thread_stream, false);
    gp_internal_work_ends();
    return captured;
}

void host_calls_note_launch(const struct gp_launch *call)
{
    struct gp_thread *own = gp_thread_own;
    if (is_captured(call))
        return;
    note_launched();
    if (!own) {
        atomic_fetch_add(&host.launches, 1);
        return;
    }
    /* Nobody else writes it. */
    const unsigned long before =
        atomic_load_explicit(&own->calls_of_launches, memory_order_relaxed);
    atomic_store_explicit(&own->calls_of_launches, before + 1, memory_order_relaxed);
}

void gp_host_graph_launched(void)
{
    if (gp_session_measures() && window_is_open())
        note_launched();
}

/* ---- other calls ----------------------------------------------------------------------------- */

static bool is_counted(void)
{
    return atomic_load_explicit(&host.launched, memory_order_relaxed) && gp_session_measures() &&
           window_is_open();
}

struct gp_host_call gp_host_call_begins(void)
{
    struct gp_host_call call = {.counted = is_counted()};
    if (call.counted) {
        call.turns = gp_gate_turns();
        call.began = gp_clock_ns();
    }
    return call;
}

/* Whether nothing of gpuprof's has gone on in it. The gate is locked at odd turns. */
static bool was_left_alone(const struct gp_host_call *call)
{
    return call->turns % 2 == 0 && call->turns == gp_gate_turns();
}

/* The work of the program alone, and all of it: gpuprof has not waited for it before. */
static bool is_the_programs(const struct gp_host_call *call)
{
    return was_left_alone(call) &&
           atomic_load_explicit(&host.rested, memory_order_relaxed) == call->turns;
}

void gp_host_call_ends(const struct gp_host_call *call, enum gp_host_kind kind, uint64_t bytes,
                       CUresult result)
{
    if (!call->counted || result != CUDA_SUCCESS)
        return;
    add(&host.kinds[kind].calls, 1);
    add(&host.kinds[kind].bytes, bytes);
    if (call->began == 0)
        return;
    const uint64_t ns = gp_clock_ns() - call->began;
    if (is_the_programs(call)) {
        add(&host.kinds[kind].timed, 1);
        add(&host.kinds[kind].ns, ns);
    } else {
        add(&host.kinds[kind].disturbed, 1);
        add(&host.kinds[kind].disturbed_ns, ns);
    }
    if (kind != GP_HOST_ALLOCATION && was_left_alone(call))
        atomic_store_explicit(&host.rested, call->turns, memory_order_relaxed);
}

void gp_host_call_answered(enum gp_host_kind kind)
{
    if (is_counted())
        add(&host.kinds[kind].calls, 1);
}

/* Memory of the host that the driver does not know is pageable. */
static bool is_of_host(CUdeviceptr address)
{
    CUmemorytype type;
    return gp_cuda.cuPointerGetAttribute &&
           (gp_cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) !=
                CUDA_SUCCESS ||
            type == CU_MEMORYTYPE_HOST);
}

bool gp_host_waits_for(enum gp_copy_kind kind, CUdeviceptr to, CUdeviceptr from)
{
    if (kind != GP_COPY_BY_ADDRESS)
        return kind == GP_HOST_TO_DEVICE || kind == GP_DEVICE_TO_HOST;
    return atomic_load_explicit(&host.launched, memory_order_relaxed) &&
           is_of_host(to) != is_of_host(from);
}

/* ---- the end --------------------------------------------------------------------------------- */

void host_calls_sum_up(struct gp_end *end)
{
    end->has_host = 1;
    end->host_launches = atomic_load(&host.launches);
    for (const struct gp_thread *t = gp_threads(); t; t = t->next)
        end->host_launches += atomic_load_explicit(&t->calls_of_launches, memory_order_relaxed);
    for (int kind = 0; kind < GP_HOST_KINDS; kind++)
        end->host[kind] = (struct gp_host_calls){
            .calls = atomic_load(&host.kinds[kind].calls),
            .bytes = atomic_load(&host.kinds[kind].bytes),
            .timed = atomic_load(&host.kinds[kind].timed),
            .disturbed = atomic_load(&host.kinds[kind].disturbed),
            .seconds = 1e-9 * (double)atomic_load(&host.kinds[kind].ns),
            .disturbed_seconds = 1e-9 * (double)atomic_load(&host.kinds[kind].disturbed_ns),
        };
}
