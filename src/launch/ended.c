/* A thread that writes down, while launches wait to be measured, which of them have ended and how
 * long they took, and how many launches there are in all: the process may be killed at any moment,
 * and then that is all that is known of them. The thread also writes sums and totals that are due,
 * and keeps the profile within its limit. Only where a profile or totals are written. Owns the
 * thread, and the list of launches that are under way. */
#include "launch/inside.h"

#include "base/checker.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/stack.h"
#include "gate/internal_work.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

/* Between two rounds of questions. */
#define NAP_NS 40000000

/* Launches that are watched at a time; of others only the configuration is written. */
#define MOST_WATCHED 256

/* How long the end of the process waits for a round, and a launch for a question about it. */
#define MOST_SECONDS_AT_END 1
#define MOST_QUESTION_SECONDS 1e-3

/* A thread of the program's never waits for a question, as that may wait in the driver for another
 * one: so there is no lock. Of FILLING and READY the program's thread decides, of ASKED and DROPPED
 * ours. */
enum state { FREE, FILLING, READY, ASKED, DROPPED };

static struct watched {
    atomic_int state;
    _Atomic CUcontext context;
    const struct gp_clock *_Atomic clock;
    uint64_t index;
    float empty_ms;
} all[MOST_WATCHED];

static atomic_int ending;    /* 1: no further round */
static atomic_int ended = 1; /* none is under way, nor comes */

/* ---- the program's threads ------------------------------------------------------------------- */

static bool changes(struct watched *w, int from, int to)
{
    return atomic_compare_exchange_strong(&w->state, &from, to);
}

void ended_watch(CUcontext context, const struct gp_clock *clock, uint64_t index, float empty_ms)
{
    size_t i = 0;
    while (i < MOST_WATCHED && !changes(&all[i], FREE, FILLING))
        i++;
    if (i == MOST_WATCHED)
        return;
    atomic_store(&all[i].context, context);
    atomic_store(&all[i].clock, clock);
    all[i].index = index;
    all[i].empty_ms = empty_ms;
    atomic_store(&all[i].state, READY);
}

static bool is_watched(struct watched *w)
{
    const int state = atomic_load(&w->state);
    return state == READY || state == ASKED;
}

/* False where it is asked, and the driver does not answer in time. */
static bool forget(struct watched *w)
{
    const double until = gp_clock_seconds() + MOST_QUESTION_SECONDS;
    while (atomic_load(&w->state) == ASKED && gp_clock_seconds() < until)
        sched_yield();
    return changes(w, READY, FREE) || !changes(w, ASKED, DROPPED);
}

bool ended_forget(const struct gp_clock *clock)
{
    size_t i = 0;
    while (i < MOST_WATCHED && !(is_watched(&all[i]) && atomic_load(&all[i].clock) == clock))
        i++;
    return i == MOST_WATCHED || forget(&all[i]);
}

void ended_forget_context(CUcontext context)
{
    for (size_t i = 0; i < MOST_WATCHED; i++)
        if (is_watched(&all[i]) && atomic_load(&all[i].context) == context)
            forget(&all[i]);
}

/* ---- our thread ------------------------------------------------------------------------------ */

/* True where it has ended, or nothing can be known of it; *ns is its time, 0 where not known. */
static bool ask(struct watched *w, double *ns)
{
    const struct gp_clock *clock = atomic_load(&w->clock);
    float ms = 0;
    *ns = 0;
    if (gp_cuda.cuCtxPushCurrent_v2(atomic_load(&w->context)) != CUDA_SUCCESS)
        return true;
    const CUresult result = gp_cuda.cuEventQuery(clock->end);
    if (result == CUDA_SUCCESS)
        ms = clock_read(clock) - w->empty_ms;
    gp_context_pop();
    if (ms > 0)
        *ns = rint(1e6 * (double)ms);
    return result != CUDA_ERROR_NOT_READY;
}

static void ask_all(void)
{
    struct gp_ended_launch list[MOST_WATCHED];
    size_t count = 0;
    for (size_t i = 0; i < MOST_WATCHED && !atomic_load(&ending); i++) {
        struct watched *w = &all[i];
        if (!changes(w, READY, ASKED))
            continue;
        bool over = ask(w, &list[count].duration_ns);
        list[count].index = w->index;
        count += over && list[count].duration_ns > 0;
        if (over || !changes(w, ASKED, READY))
            atomic_store(&w->state, FREE);
    }
    const uint64_t made = session_launches(), outside = window_outside();
    results_ended(list, count, made > outside ? made - outside : 0);
}

static void sleep_until_next(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += NAP_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!atomic_load(&ending) && gp_futex_wait(&ending, 0, &until))
        ;
}

static bool goes_on(void)
{
    return !atomic_load(&ending);
}

static void *watch(void *unused)
{
    gp_internal_work++; /* nothing of this thread is the program's */
    gp_checker_rests();
    /* A question would end a capture of another thread's else. */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool may_ask = !gp_cuda.cuThreadExchangeStreamCaptureMode ||
                   gp_cuda.cuThreadExchangeStreamCaptureMode(&mode) == CUDA_SUCCESS;
    while (may_ask && goes_on()) {
        ask_all();
        results_upkeep(goes_on);
        sleep_until_next();
    }
    gp_checker_goes_on();
    atomic_store(&ended, 1);
    gp_futex_wake_all(&ended);
    return unused;
}

void ended_start(void)
{
    static atomic_flag started = ATOMIC_FLAG_INIT;
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t every, before;
    sigfillset(&every);
    if (atomic_load(&ending) || atomic_flag_test_and_set(&started) ||
        pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
        pthread_attr_setstacksize(&attributes, GP_STACK_BYTES) == 0 &&
        pthread_sigmask(SIG_SETMASK, &every, &before) == 0) {
        atomic_store(&ended, 0);
        if (pthread_create(&thread, &attributes, watch, NULL) != 0)
            atomic_store(&ended, 1);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
}

void ended_stop(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += MOST_SECONDS_AT_END;
    atomic_store(&ending, 1);
    gp_futex_wake_all(&ending);
    while (atomic_load(&ended) == 0 && gp_futex_wait(&ended, 0, &until))
        ;
}
