#include "launch/measure.h"

#include "base/added_time.h"
#include "base/log.h"
#include "launch/graphs.h"
#include "launch/session.h"
#include "launch/waits.h"
#include "memory/buffers.h"
#include "memory/modules.h"

#include <math.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Kernels that were let go and named. */
#define MOST_LET_GO 8
/* Times longer than it took that a kernel is waited for when it runs again, and in instrumented
 * code. */
#define REPLAY_FACTOR 2
#define INSTRUMENTED_FACTOR 100
/* Launches of one kernel and configuration that take turns by themselves; afterwards, launches one
 * after the other that take the same. */
#define TURNS_BY_ITSELF 12
#define SAME_TURNS 32

/* Above this what the driver may add to a run is little, and one more replay much. */
#define MOST_DOUBTFUL_MS 100
/* Events tell times in steps of half a microsecond. */
#define CLOCK_STEP_MS 0.001

/* ---- one measurement ------------------------------------------------------------------------- */

struct measurement {
    const struct gp_call *call;
    struct gp_kernel *kernel;
    struct gp_context *context;
    unsigned ticket;
    struct gp_run run;
    struct gp_snapshot *snapshot; /* taken; NULL: the kernel runs once */
    const char *not_replayed;     /* why */
    const char *broken_off;       /* why a pass could not be made */
    unsigned runs;                /* of the kernel */
    double most_ms;               /* the kernel took no longer in a pass; 0: not known */
    bool in_turn;                 /* counted in part, the rest in other launches */
    double launching;             /* seconds that the call of the program's own launch took */
    double seconds;               /* the program's own run took, as the host saw it; 0: not known */
    bool ended_alone;             /* a replay has ended, with nothing else under way */
    uint64_t restored_bytes;
};

static void empty_caches(void *measurement)
{
    struct measurement *m = measurement;
    const char *why;
    struct gp_snapshot *snapshot =
        gp_session_flushes_caches() ? gp_context_snapshot(m->context, &why) : NULL;
    if (snapshot)
        gp_snapshot_flush_caches(snapshot);
}

/* Under the gate: one launch at a time. */
static unsigned char parameter_bytes[GP_MOST_PARAMETER_BYTES];

static struct gp_reach reach_of(const struct measurement *m)
{
    const struct gp_trust *trust = gp_kernel_trust(m->kernel);
    struct gp_reach reach = {
        .parameters = parameter_bytes,
        .home = gp_kernel_home(m->kernel),
        .everything = gp_trust_is_broken(trust),
    };
    reach.verify = gp_trust_verifies(trust, m->call->grid) || gp_session_verifies_always();
    reach.parameters_known =
        gp_kernel_parameters(m->kernel, m->call, parameter_bytes, &reach.parameters_size);
    return reach;
}

/* Saves what the kernel may write, so that it can run more than once. */
static void save(struct measurement *m)
{
    gp_modules_resolve(m->context->handle);
    m->not_replayed = gp_kernel_runs_once(m->kernel);
    if (!m->not_replayed && gp_graphs_launch_from_device() &&
        gp_kernel_may_launch_graphs(m->call->function))
        m->not_replayed = "the kernel's module launches graphs from the device";
    if (!m->not_replayed)
        m->not_replayed = gp_memory_replay_barred();
    if (!m->not_replayed)
        m->not_replayed = gp_context_disturbed(m->context);
    if (m->not_replayed)
        return;
    struct gp_snapshot *snapshot = gp_context_snapshot(m->context, &m->not_replayed);
    if (!snapshot)
        return;
    struct gp_reach reach = reach_of(m);
    if (reach.parameters_known) {
        m->run.parameters = reach.parameters;
        m->run.parameters_size = reach.parameters_size;
    }
    if (gp_snapshot_take(snapshot, &reach, &m->not_replayed)) {
        m->snapshot = snapshot;
        m->not_replayed = NULL;
    } else {
        gp_snapshot_done(snapshot);
    }
}

/* The kernel has failed on the device: CUDA lets nothing more happen in this context. The program
 * learns of it where it would have without us, at its next call that waits. */
static void context_died(struct measurement *m, CUresult error)
{
    m->context->dead = true;
    gp_say("a kernel failed with %s; its context is not measured any more", gp_cuda_error(error));
}

/* The kernel does not end while the program waits for us: let it go. Of a replay the program gets
 * what that will have done. */
static void let_go(struct measurement *m, double seconds)
{
    static struct gp_once once;
    gp_say_limited(&once, MOST_LET_GO,
                   "%s did not end within %.3g s by itself: it waits for the host or for other "
                   "work, and is not measured; where it only takes long, GPUPROF_TIMEOUT=SECONDS "
                   "gives it more time",
                   gp_kernel_name(m->kernel), seconds);
    gp_kernel_refuse(m->kernel, "it waits for the host or for other work");
    m->context->busy = true;
    m->broken_off = gp_kernel_refused(m->kernel);
}

static CUresult record_event(const struct gp_call *call, CUevent event)
{
    return call->per_thread_stream ? gp_cuda.cuEventRecord_ptsz(event, call->stream)
                                   : gp_cuda.cuEventRecord(event, call->stream);
}

/* Waits for the kernel that was launched last, `seconds` at most. CUDA_ERROR_NOT_READY when it has
 * not ended by then. */
static CUresult wait_for_kernel(const struct measurement *m, double seconds, double *waited)
{
    CUresult outcome = record_event(m->call, m->context->event);
    return outcome == CUDA_SUCCESS ? gp_wait_within_limit(m->context->event, seconds, waited)
                                   : outcome;
}

/* Two starts are enough once the least time between two is known. A host that is busy may hold up
 * one of them, but hardly all. */
static unsigned first_start(const struct gp_context *c)
{
    return c->empty_ms == 0 ? 0 : GP_STARTS - 2;
}

/* Marks the start of the kernel's time on the GPU. Our own kernel runs just before, which empties
 * the caches, so the launch stands in line by the time it ends and nothing is waited for in
 * between. */
static bool start_clock(struct measurement *m)
{
    struct gp_context *c = m->context;
    const struct gp_call *call = m->call;
    const char *why;
    struct gp_snapshot *snapshot = gp_context_snapshot(c, &why);
    if (!snapshot)
        return false;
    bool held_up = (gp_session_flushes_caches() &&
                    gp_snapshot_flush_caches_on(snapshot, call->stream, call->per_thread_stream)) ||
                   gp_snapshot_pause_on(snapshot, call->stream, call->per_thread_stream);
    for (unsigned i = first_start(c); held_up && i < GP_STARTS; i++)
        held_up = record_event(m->call, c->starts[i]) == CUDA_SUCCESS;
    return held_up;
}

/* The kernel's time, less what two events take with nothing between them. Of two runs the quicker
 * one counts: what else the driver does only adds. */
static void read_clock(struct measurement *m)
{
    struct gp_context *c = m->context;
    float least = c->empty_ms, empty, all;
    for (unsigned i = first_start(c); i + 1 < GP_STARTS; i++) {
        if (gp_cuda.cuEventElapsedTime(&empty, c->starts[i], c->starts[i + 1]) != CUDA_SUCCESS)
            return;
        if (least == 0 || empty < least)
            least = empty;
    }
    c->empty_ms = least;
    if (gp_cuda.cuEventElapsedTime(&all, c->starts[GP_STARTS - 1], c->event) != CUDA_SUCCESS)
        return;
    double kernel = all > c->empty_ms ? all - c->empty_ms : 0;
    if (m->run.native_ms == 0 || kernel < m->run.native_ms)
        m->run.native_ms = kernel;
}

/* The program's own launch: what the driver does for it, code that it loads say, is its own. */
static CUresult run_programs(struct measurement *m)
{
    double began_ms = now_ms();
    gp_added_pauses();
    CUresult result = m->call->run(m->call);
    gp_added_resumes();
    m->launching = (now_ms() - began_ms) / 1e3;
    return result;
}

/* The kernel took so long: the program would have waited for it, and have launched others
 * meanwhile.
 */
static void leave_to_program(const struct measurement *m, double seconds)
{
    gp_added_less(seconds - m->launching);
}

static void load_programs(const struct measurement *m)
{
    gp_added_pauses();
    gp_kernel_load(m->kernel, m->context->handle);
    gp_added_resumes();
}

/* The program's own launch, as it is: in a pass, even to come back from a kernel that waits for the
 * host could take for ever. Its result is the program's. True in *ended when the kernel has run to
 * its end. */
static CUresult own_run(struct measurement *m, bool *ended)
{
    *ended = false;
    load_programs(m);
    bool timed = start_clock(m);
    CUresult result = run_programs(m);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && m->snapshot) {
        /* Stacks or code of the kernel may need the room that our copy takes. */
        gp_snapshot_done(m->snapshot);
        m->snapshot = NULL;
        m->broken_off = "the GPU has no room for the kernel beside a copy of memory";
        timed = false; /* from before our memory was freed */
        if (gp_snapshot_release_memory(false))
            result = run_programs(m);
    }
    if (result != CUDA_SUCCESS)
        return result;
    /* Its events may be of no use in the stream, where another context is current. */
    if (m->context->green && !timed)
        return result;
    double seconds = gp_wait_limit();
    CUresult outcome = wait_for_kernel(m, seconds, &m->seconds);
    if (outcome == CUDA_ERROR_NOT_READY) {
        let_go(m, seconds);
    } else if (outcome != CUDA_SUCCESS) {
        context_died(m, outcome);
    } else {
        *ended = !m->broken_off;
        m->runs++;
        gp_kernel_ended(m->kernel, m->seconds);
        if (timed)
            read_clock(m);
        gp_kernel_took(m->kernel, m->run.native_ms);
        leave_to_program(m, m->run.native_ms > 0 ? m->run.native_ms / 1e3 : m->seconds);
    }
    return result;
}

/* How long the kernel took when it was the program's own: this launch, or else the longest. */
static double own_seconds(const struct measurement *m)
{
    return m->seconds > 0 ? m->seconds : gp_kernel_longest(m->kernel);
}

/* How long, in seconds, a replay may take without instrumented code. */
static double replay_limit(const struct measurement *m)
{
    return fmax(gp_wait_limit(), REPLAY_FACTOR * own_seconds(m));
}

/* And one of instrumented code, where it is known that the kernel ends. */
static double instrumented_limit(const struct measurement *m)
{
    return fmax(gp_wait_limit(), INSTRUMENTED_FACTOR * own_seconds(m));
}

/* Memory becomes what the program's own run left, unless a kernel is still writing it. */
static void put_back_final_state(struct measurement *m)
{
    const char *why;
    if (!m->snapshot || m->context->dead || m->context->busy ||
        gp_snapshot_finish(m->snapshot, &why) || !gp_session_measures())
        return; /* without a session the process is at its end, and the driver gone */
    gp_say(
        "memory could not be put back after a replay (%s); what the program computes from here on "
        "may be wrong",
        why);
    gp_session_give_up("a replay could not be undone");
}

static bool begin_pass(struct measurement *m, unsigned pass)
{
    struct gp_context *c = m->context;
    const char *why;
    bool begun = c->collector->begin(c->collection, m->ticket, pass, &m->run, &why);
    if (!begun)
        m->broken_off = why;
    return begun;
}

/* It has ended by itself before, but this launch, or this run of it, does not: it waits for the
 * host after all. To end the pass would be to wait for it. */
static void let_go_in_pass(struct measurement *m, unsigned pass, double seconds)
{
    struct gp_context *c = m->context;
    c->in_pass = true;
    c->pass = pass;
    c->pass_ticket = m->ticket;
    let_go(m, seconds);
}

/* Waits for the kernel that was launched in a pass. CUDA_ERROR_NOT_READY when it was let go. */
static CUresult wait_in_pass(struct measurement *m, unsigned pass)
{
    double seconds = pass == GP_INSTRUMENTED_PASS ? instrumented_limit(m) : replay_limit(m);
    double waited = 0;
    CUresult outcome = wait_for_kernel(m, seconds, &waited);
    if (outcome == CUDA_ERROR_NOT_READY)
        let_go_in_pass(m, pass, seconds);
    else if (m->run.only_pass)
        leave_to_program(m, fmin(waited, gp_kernel_shortest(m->kernel)));
    return outcome;
}

/* In a pass of the hardware a kernel is as quick as by itself. The host's launch falls between the
 * two events, so the kernel takes no longer than this. */
static void bound_time(struct measurement *m)
{
    float most;
    if (gp_cuda.cuEventElapsedTime(&most, m->context->starts[0], m->context->event) ==
            CUDA_SUCCESS &&
        (m->most_ms == 0 || most < m->most_ms)) {
        m->most_ms = most;
        gp_kernel_took(m->kernel, most);
    }
}

/* Runs the kernel in a pass that has begun. The launch's result in *result; true when the pass
 * ended well. */
static bool run_pass(struct measurement *m, unsigned pass, CUresult *result)
{
    struct gp_context *c = m->context;
    gp_kernel_collected(m->kernel);
    bool bounded =
        pass != GP_INSTRUMENTED_PASS && record_event(m->call, c->starts[0]) == CUDA_SUCCESS;
    *result = m->call->run(m->call);
    CUresult outcome = *result == CUDA_SUCCESS ? wait_in_pass(m, pass) : CUDA_SUCCESS;
    if (outcome == CUDA_ERROR_NOT_READY)
        return false;
    if (outcome != CUDA_SUCCESS) {
        context_died(m, outcome);
        return false;
    }
    const char *why;
    m->run.refused = *result != CUDA_SUCCESS;
    bool ended = c->collector->end(c->collection, m->ticket, pass, &m->run, &why);
    if (!ended)
        m->broken_off = why;
    if (*result != CUDA_SUCCESS)
        return false;
    if (bounded)
        bound_time(m);
    m->runs++;
    m->ended_alone = true;
    return ended;
}

/* Puts memory back to where the program's own run started from. False where that must not be. */
static bool rewind_memory(struct measurement *m)
{
    const char *why;
    if (!gp_snapshot_rewind(m->snapshot, &why)) {
        m->broken_off = why;
        return false;
    }
    bool host_changed = gp_snapshot_host_changed(m->snapshot);
    gp_kernel_host_changed(m->kernel, host_changed);
    if (host_changed) {
        m->broken_off = "page-locked host memory changed while it ran";
        return false;
    }
    m->restored_bytes += gp_snapshot_changed_bytes(m->snapshot);
    return true;
}

/* True where it shows only in a replay whether the kernel ends by itself, and instrumented code may
 * take so long that it is to be known before. */
static bool is_to_be_rehearsed(const struct measurement *m, unsigned pass)
{
    return pass == GP_INSTRUMENTED_PASS && !m->ended_alone &&
           instrumented_limit(m) > gp_wait_limit();
}

/* A replay that counts nothing. False where the kernel does not end, or has failed. */
static bool rehearse(struct measurement *m)
{
    double seconds = replay_limit(m);
    CUresult result = m->call->run(m->call);
    if (result != CUDA_SUCCESS) {
        m->broken_off = gp_cuda_error(result);
        return false;
    }
    CUresult outcome = wait_for_kernel(m, seconds, NULL);
    if (outcome == CUDA_ERROR_NOT_READY)
        let_go(m, seconds);
    else if (outcome != CUDA_SUCCESS)
        context_died(m, outcome);
    m->runs += outcome == CUDA_SUCCESS;
    m->ended_alone = outcome == CUDA_SUCCESS;
    return m->ended_alone;
}

/* One pass from the memory the program's own run started from. False where no more passes of that
 * kind can be made. Our own kernels run before the pass begins: a pass counts every kernel there
 * is. */
static bool replay_pass(struct measurement *m, unsigned pass)
{
    if (!rewind_memory(m))
        return false;
    if (is_to_be_rehearsed(m, pass) && (!rehearse(m) || !rewind_memory(m)))
        return false;
    if (!begin_pass(m, pass))
        return false;
    CUresult result;
    bool ended = run_pass(m, pass, &result);
    if (result != CUDA_SUCCESS)
        m->broken_off = gp_cuda_error(result);
    return ended;
}

/* True when the program's own run has changed nothing but what was saved. Else its result stands.
 */
static bool wrote_only_what_was_saved(struct measurement *m)
{
    struct gp_trust *trust = gp_kernel_trust(m->kernel);
    bool elsewhere;
    if (!gp_snapshot_verify(m->snapshot, &elsewhere, &m->broken_off))
        return false;
    gp_trust_count(trust, m->call->grid);
    if (!elsewhere)
        return true;
    gp_trust_break(trust);
    m->broken_off = "it wrote memory that its parameters do not lead to";
    return false;
}

/* False where the context is of no more use, or a kernel that was let go still runs in it. */
static bool can_go_on(const struct measurement *m)
{
    return !m->context->dead && !m->context->busy;
}

/* A replay for each pass. */
static void replay_passes(struct measurement *m)
{
    struct gp_context *c = m->context;
    unsigned pass;
    for (bool made = false;
         can_go_on(m) && c->collector->next(c->collection, m->ticket, &m->run, made, &pass);)
        made = replay_pass(m, pass);
}

/* Whether the kernel's duration is among the counters, which we take ourselves. */
static bool wants_time(const struct measurement *m)
{
    const struct gp_context *c = m->context;
    const struct gp_counter *counters = c->collector->read(c->collection, m->ticket, NULL);
    for (size_t i = 0; i < c->collector->count(c->collection); i++)
        if (strcmp(counters[i].name, GP_DURATION_COUNTER) == 0)
            return true;
    return false;
}

/* A kernel's first run may hold what the driver does for it, code that it loads say. So does a time
 * that is longer than the kernel took in a pass. */
static bool is_time_doubtful(const struct measurement *m)
{
    if (m->run.native_ms == 0 || m->run.native_ms > MOST_DOUBTFUL_MS)
        return false;
    return !gp_kernel_is_timed(m->kernel) ||
           (m->most_ms > 0 && m->run.native_ms > m->most_ms + CLOCK_STEP_MS);
}

/* One more replay, plain. */
static void time_again(struct measurement *m)
{
    if (!is_time_doubtful(m) || !wants_time(m) || !rewind_memory(m) || !start_clock(m) ||
        !rehearse(m))
        return; /* the time is as good as it was */
    read_clock(m);
    gp_kernel_timed(m->kernel);
}

/* The program's own run, then the replays. */
static CUresult measure_by_replay(struct measurement *m)
{
    bool ended;
    CUresult result = own_run(m, &ended);
    if (ended && wrote_only_what_was_saved(m))
        replay_passes(m);
    if (ended && !m->broken_off && can_go_on(m))
        time_again(m);
    put_back_final_state(m);
    return result;
}

/* The program's own launch, in a pass. What is refused there, where the code may need more than
 * there is, is launched plainly. */
static CUresult own_run_in_pass(struct measurement *m, unsigned pass)
{
    bool ended;
    if (!begin_pass(m, pass))
        return own_run(m, &ended);
    CUresult result;
    run_pass(m, pass, &result);
    if (result == CUDA_SUCCESS)
        return result;
    m->broken_off = gp_cuda_error(result);
    return own_run(m, &ended);
}

/* Which turn it is. To go from the hardware's pass to instrumented code and back takes tens of
 * milliseconds. So once launches of one kernel and configuration have taken each turn some times,
 * all such launches take the same turn for a while. */
static uint64_t turn_of(struct gp_context *c, uint64_t launch)
{
    return launch < TURNS_BY_ITSELF ? launch : c->common_turns++ / SAME_TURNS;
}

/* Where nothing is replayed, or the launch cannot be, successive launches of a kernel take turns:
 * one is timed, the next ones run once in each pass. There is no turn in which nothing would be
 * collected. */
static CUresult measure_in_turn(struct measurement *m, uint64_t turn)
{
    struct gp_context *c = m->context;
    m->in_turn = m->run.only_pass = true;
    bool timed = wants_time(m), ended;
    struct gp_passes passes = c->collector->passes(c->collection);
    unsigned hardware = passes.hardware_wanted ? passes.hardware : 0;
    unsigned turns = timed + hardware + passes.instrumented;
    unsigned which = turns ? (unsigned)(turn_of(c, turn) % turns) : 0;
    if (turns == 0 || (timed && which == 0) || !gp_kernel_has_ended(m->kernel))
        return own_run(m, &ended);
    unsigned pass = which - timed;
    return own_run_in_pass(m, pass < hardware ? pass : GP_INSTRUMENTED_PASS);
}

static void record(const struct measurement *m, uint64_t index, double started_ms)
{
    struct gp_context *c = m->context;
    const struct gp_call *call = m->call;
    struct gp_record launch = {
        .index = index,
        .device = c->device.ordinal,
        .context = (uint64_t)(uintptr_t)c->handle,
        .stream = (uint64_t)(uintptr_t)call->stream,
        .grid = {call->grid[0], call->grid[1], call->grid[2]},
        .block = {call->block[0], call->block[1], call->block[2]},
        .cluster = {call->cluster[0], call->cluster[1], call->cluster[2]},
        .shared_dynamic = call->shared_dynamic,
        .passes = m->runs,
        .saved_bytes = m->snapshot ? gp_snapshot_bytes(m->snapshot) : 0,
        .restored_bytes = m->restored_bytes,
        .start_ms = rint(1e3 * started_ms) / 1e3, /* the clock has no more that can be relied on */
        .skipped = m->broken_off ? m->broken_off : m->not_replayed,
    };
    gp_kernel_describe(m->kernel, &launch);
    const char *not_run = m->broken_off    ? m->broken_off
                          : m->in_turn     ? GP_COUNTED_ELSEWHERE
                          : launch.skipped ? launch.skipped
                                           : "no counter of the selection exists here";
    double duration_ns = rint(1e6 * m->run.native_ms);
    if (m->in_turn && duration_ns == 0)
        duration_ns = GP_DURATION_ELSEWHERE;
    launch.overhead_ms = now_ms() - started_ms;
    gp_pending_add(&c->pending, m->ticket, &launch, not_run, duration_ns);
}

/* Says once that metrics are missing because the hardware's counters cannot be had. Where nothing
 * else can be counted either there is no use in going on. */
static void say_without_hardware(struct gp_context *c)
{
    static struct gp_once once;
    struct gp_passes passes = c->collector->passes(c->collection);
    if (!passes.no_hardware)
        return;
    if (!passes.instrumented)
        gp_session_give_up(passes.no_hardware);
    else
        gp_say_limited(&once, 1, "only what instrumented code counts is measured: %s",
                       passes.no_hardware);
}

static uint64_t shape_of(const struct gp_call *call)
{
    const unsigned parts[] = {
        call->grid[0],  call->grid[1],    call->grid[2],    call->block[0],   call->block[1],
        call->block[2], call->cluster[0], call->cluster[1], call->cluster[2], call->shared_dynamic};
    uint64_t shape = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        shape = (shape ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15) + (shape >> 29);
    return shape;
}

static uint64_t warps_of(const struct gp_call *call)
{
    uint64_t threads = (uint64_t)call->block[0] * call->block[1] * call->block[2];
    return (uint64_t)call->grid[0] * call->grid[1] * call->grid[2] * ((threads + 31) / 32);
}

/* What of our own work goes on when the program does. A kernel that was let go has the event. */
static void mark_tail(struct gp_context *c)
{
    c->tail = !c->busy && !c->dead && gp_cuda.cuCtxRecordEvent &&
              gp_cuda.cuCtxRecordEvent(c->handle, c->event) == CUDA_SUCCESS;
}

CUresult gp_measure(const struct gp_call *call, struct gp_kernel *kernel, struct gp_context *c,
                    uint64_t index, uint64_t turn)
{
    double started_ms = now_ms();
    struct measurement m = {
        .call = call,
        .kernel = kernel,
        .context = c,
        .run = {.kernel = gp_kernel_name(kernel),
                .shape = shape_of(call),
                .warps = warps_of(call),
                /* Who waits for others goes round his loop as often as they need. */
                .always = call->cooperative || gp_session_verifies_always(),
                .cost = gp_kernel_cost(kernel),
                .find_code = gp_kernel_find_code,
                .find_cubin = gp_kernel_find_cubin,
                .find_code_data = kernel,
                .empty_caches = empty_caches},
    };
    m.run.empty_caches_data = &m;
    struct gp_passes passes = c->collector->passes(c->collection);
    bool ended, counts = passes.hardware > 0 || passes.instrumented;
    /* What was let go before kept the last ones from being read. */
    if (c->collector->full(c->collection))
        gp_pending_settle(&c->pending, c->collector, c->collection, true);
    m.ticket = c->collector->ticket(c->collection);
    if (c->green)
        m.not_replayed = GP_GREEN_REASON;
    else if (counts && gp_session_replays())
        save(&m);
    CUresult result = !counts      ? own_run(&m, &ended)
                      : m.snapshot ? measure_by_replay(&m)
                                   : measure_in_turn(&m, turn);
    say_without_hardware(c);
    bool measured = result == CUDA_SUCCESS && !c->dead && gp_session_measures();
    if (measured)
        record(&m, index, started_ms);
    if (c->snapshot)
        gp_snapshot_done(c->snapshot);
    /* Reading waits for all there is in the context, and so for a kernel that was let go. */
    if (!c->busy && gp_pending_is_due(c->pending, c->collector, c->collection))
        gp_pending_settle(&c->pending, c->collector, c->collection, !c->dead);
    else if (measured)
        gp_pending_note(&c->pending, c->collector, c->collection);
    gp_contexts_read_others(c);
    mark_tail(c);
    return result;
}
