#include "gate/waits.h"

#include "base/clock.h"
#include "cuda/wait.h"
#include "gate/captures.h"
#include "gate/inside.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

/* All waits in vain, in times of the first one's limit. */
#define ALL_IN_VAIN 2.0

/* How long a launch waits for driver calls of other threads once it has waited in vain: for calls
 * that return as soon as they can. */
#define STUCK_LAUNCH_SECONDS 0.0001

/* How long the gate is waited for also where no time is left, but for launches, which may be many:
 * most calls return in less. */
#define LEAST_SHUT_SECONDS 0.001

/* Launches of one process that do not end, and are under way at a time. Those beyond are waited
 * for. */
#define MOST_UNENDING 16

/* Between two questions to a stream. */
#define POLL_NS 20000

static double first_limit = 1.0;
static atomic_ullong in_vain_ns;

/* ---- the account ----------------------------------------------------------------------------- */

void gp_waits_start(double seconds)
{
    first_limit = seconds;
}

double gp_wait_first_limit(void)
{
    return first_limit;
}

double gp_wait_computing_limit(void)
{
    return GP_COMPUTING_FACTOR * first_limit;
}

/* Half of the rest, so that time is left for the next wait. */
double gp_wait_limit(void)
{
    double left = ALL_IN_VAIN * first_limit - 1e-9 * (double)atomic_load(&in_vain_ns);
    return left > 0 ? left / ALL_IN_VAIN : 0;
}

void gp_wait_was_in_vain(double seconds)
{
    atomic_fetch_add(&in_vain_ns, (unsigned long long)(1e9 * seconds));
}

/* Notes the result of a wait that began then. */
static CUresult account(CUresult result, double began, double *waited)
{
    double seconds = gp_clock_seconds() - began;
    if (result == CUDA_ERROR_NOT_READY)
        gp_wait_was_in_vain(seconds);
    if (waited)
        *waited = seconds;
    return result;
}

CUresult gp_wait_within_limit(CUevent event, double seconds, double *waited)
{
    double began = gp_clock_seconds();
    return account(gp_wait_for_event(event, seconds), began, waited);
}

CUresult gp_wait_for_rest(CUcontext context, CUevent event, double seconds, double *waited)
{
    double began = gp_clock_seconds();
    return account(gp_wait_for_context(context, event, seconds), began, waited);
}

/* The question ends a capture of the stream, or of any where it is the legacy one. */
bool gp_stream_is_at_work(CUstream stream, bool per_thread)
{
    if (!gp_captures_hold_off())
        return true;
    const CUresult result = gp_stream_query(stream, per_thread);
    gp_captures_let_begin();
    return result == CUDA_ERROR_NOT_READY;
}

bool gp_wait_for_stream(CUstream stream, bool per_thread, double seconds, double *waited)
{
    const double began = gp_clock_seconds();
    bool at_work = true;
    *waited = 0;
    while (at_work && *waited < seconds) {
        (void)nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
        at_work = gp_stream_is_at_work(stream, per_thread);
        *waited = gp_clock_seconds() - began;
    }
    if (at_work)
        gp_wait_was_in_vain(*waited);
    return !at_work;
}

/* ---- the gate -------------------------------------------------------------------------------- */

/* Some call did not leave the gate when it was last to be locked. */
static atomic_bool stuck;

/* A call that has not returned for so long may not do so for long: it is waited for once. */
static double limit_while_stuck(double most, double least)
{
    double seconds = gp_wait_limit();
    if (atomic_load(&stuck) && seconds > most)
        seconds = most;
    return seconds > least ? seconds : least;
}

static bool note_closing(bool locked, double seconds)
{
    if (!locked)
        gp_wait_was_in_vain(seconds);
    atomic_store(&stuck, !locked);
    return locked;
}

bool gp_gate_lock_queued_in_time(void)
{
    double seconds = limit_while_stuck(GP_STUCK_SECONDS, LEAST_SHUT_SECONDS);
    return note_closing(gate_lock_queued(seconds), seconds);
}

bool gp_gate_lock_in_time(void)
{
    double seconds = limit_while_stuck(STUCK_LAUNCH_SECONDS, 0);
    return note_closing(gate_lock(seconds), seconds);
}

/* ---- launches that do not end by themselves -------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct unending {
    CUcontext context; /* NULL: free */
    CUstream stream;
    CUevent event;
    bool taken;     /* it is being recorded */
    bool is_timing; /* see gp_unending_launched */
} all[MOST_UNENDING];

static bool is_under_way(const struct unending *u)
{
    return u->taken || gp_cuda.cuEventQuery(u->event) == CUDA_ERROR_NOT_READY;
}

/* An entry for one more launch in the stream; NULL where there is none, or one is not needed, as an
 * earlier launch of the stream is still under way: each event takes room in the stream's queue.
 * Locked. */
static struct unending *take(CUcontext context, CUstream stream, bool is_timing)
{
    struct unending *unused = NULL, *ended = NULL;
    for (size_t i = 0; i < MOST_UNENDING; i++) {
        struct unending *u = &all[i];
        if (!u->context)
            unused = u;
        else if (u->context != context)
            continue;
        else if (!is_under_way(u))
            ended = u;
        else if (u->stream == stream) {
            u->is_timing = u->is_timing || is_timing;
            return NULL;
        }
    }
    if (ended)
        return ended;
    if (!unused || !gp_event_make(&unused->event, CU_EVENT_DISABLE_TIMING))
        return NULL;
    unused->context = context;
    return unused;
}

void gp_unending_launched(CUstream stream, bool per_thread_stream, bool is_timing)
{
    CUcontext context;
    if (gp_cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)
        return;
    pthread_mutex_lock(&lock);
    struct unending *u = take(context, stream, is_timing);
    if (u) {
        u->stream = stream;
        u->is_timing = is_timing;
        u->taken = true;
    }
    pthread_mutex_unlock(&lock);
    if (!u)
        return;
    /* It waits where the stream's queue is full. */
    gp_event_record(u->event, stream, per_thread_stream);
    pthread_mutex_lock(&lock);
    u->taken = false;
    pthread_mutex_unlock(&lock);
}

bool gp_unending_runs_beside(CUcontext context, CUstream stream)
{
    bool runs = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MOST_UNENDING && !runs; i++)
        runs = all[i].context == context &&
               (!stream || all[i].stream != stream || all[i].is_timing) && is_under_way(&all[i]);
    pthread_mutex_unlock(&lock);
    return runs;
}

bool gp_unending_runs(CUcontext context)
{
    return gp_unending_runs_beside(context, NULL);
}

bool gp_unending_runs_on(CUcontext context, double seconds)
{
    const struct gp_spin spin = gp_spin_begins();
    bool runs;
    while ((runs = gp_unending_runs(context)) && !gp_spin_is_over(&spin, seconds))
        sched_yield();
    return runs;
}

void gp_unending_forget(CUcontext context, bool alive)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MOST_UNENDING; i++) {
        if (all[i].context != context)
            continue;
        if (alive)
            gp_cuda.cuEventDestroy_v2(all[i].event);
        all[i] = (struct unending){0};
    }
    pthread_mutex_unlock(&lock);
}
