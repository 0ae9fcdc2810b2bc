#include "launch/session.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/launch_choice.h"
#include "base/log.h"
#include "base/process.h"
#include "cuda/cupti.h"
#include "cuda/driver.h"
#include "gate/internal_work.h"
#include "gate/threads.h"
#include "launch/inside.h"
#include "report/printing.h"
#include "report/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum state { IDLE, STARTING, MEASURING, PASSIVE };

static struct {
    atomic_int state;
    atomic_int pid;        /* of the process that started the session; a forked child is another */
    atomic_ulong launches; /* that were measured, or counted nowhere else */
    bool gave_up;
    pthread_mutex_t numbering; /* two launches have never one number */
} session = {.numbering = PTHREAD_MUTEX_INITIALIZER};

/* The calls of other threads while the session starts must not be missed. */
static int wait_for_start(void)
{
    int state;
    gp_internal_work_begins();
    while ((state = atomic_load(&session.state)) == STARTING && gp_process_is_marked())
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    gp_internal_work_ends();
    return state;
}

bool gp_session_observes(void)
{
    if (gp_in_internal_work())
        return false;
    int state = atomic_load_explicit(&session.state, memory_order_acquire);
    if (state == IDLE) {
        gp_session_start();
        state = atomic_load(&session.state);
    }
    if (state == STARTING)
        state = wait_for_start();
    return (state == MEASURING || state == PASSIVE) && gp_process_is_marked();
}

bool session_began(void)
{
    return atomic_load(&session.state) != IDLE;
}

/* A child of vfork has its parent's memory, so the mark says nothing here. */
bool session_is_here(void)
{
    return atomic_load(&session.pid) == getpid();
}

bool gp_session_measures(void)
{
    return atomic_load(&session.state) == MEASURING;
}

void session_give_up(const char *why)
{
    int measuring = MEASURING;
    if (atomic_compare_exchange_strong(&session.state, &measuring, PASSIVE)) {
        session.gave_up = true;
        gp_say("not measuring: %s", why);
        results_give_up(why);
    }
}

void session_stop(void)
{
    int measuring = MEASURING;
    atomic_compare_exchange_strong(&session.state, &measuring, PASSIVE);
}

void gp_session_count_launches(unsigned long launches)
{
    struct gp_thread *own = gp_thread_own;
    if (!own) {
        atomic_fetch_add(&session.launches, launches);
        return;
    }
    /* Nobody else writes it. */
    unsigned long before = atomic_load_explicit(&own->launches, memory_order_relaxed);
    atomic_store_explicit(&own->launches, before + launches, memory_order_relaxed);
}

void gp_session_count_launch(void)
{
    gp_session_count_launches(1);
}

static uint64_t launches_of_threads(void)
{
    uint64_t launches = 0;
    for (const struct gp_thread *t = gp_threads(); t; t = t->next)
        launches += atomic_load_explicit(&t->launches, memory_order_relaxed);
    return launches;
}

uint64_t session_next_launch(void)
{
    pthread_mutex_lock(&session.numbering);
    const uint64_t before = atomic_fetch_add(&session.launches, 1) + launches_of_threads();
    pthread_mutex_unlock(&session.numbering);
    return before;
}

/* The tallies know kernels of graphs that are launched as a whole, and none that nobody asked for.
 */
uint64_t session_launches(void)
{
    const uint64_t made = atomic_load(&session.launches) + launches_of_threads();
    const uint64_t counted = tallies_launches();
    return counted > made ? counted : made;
}

/* ---- start and end --------------------------------------------------------------------------- */

/* Where one process alone is to be measured, whether it is this one. */
static bool is_target(void)
{
    const char *target = secure_getenv("GPUPROF_PROCESS");
    uint64_t process;
    if (!target || !*target)
        return true;
    if (gp_whole_parse(target, &process))
        return process == (uint64_t)getpid();
    gp_say("GPUPROF_PROCESS=%s: that is no number of a process; each one is measured", target);
    return true;
}

static void report(void *unused)
{
    (void)unused;
    atomic_store(&session.state, PASSIVE);
    ended_stop();
    results_end(session.gave_up, session_launches());
}

/* Registered after the driver's own start, hence run before its teardown. */
static void report_at_exit(void)
{
    if (session_is_here())
        gp_run_internal_work(report, NULL);
}

static void start(void *unused)
{
    (void)unused;
    gp_environment_find();
    if (!is_target()) {
        atomic_store_explicit(&session.state, PASSIVE, memory_order_release);
        return;
    }
    results_open_log();
    bool opened = results_open();
    if (opened) {
        settings_read_recorded();
        results_open_profile();
        settings_read();
        selection_read();
        gp_printing_start(results_metrics());
        gp_progress_start();
        copies_start();
        atexit(report_at_exit);
        if (timed_counters_are_wanted())
            gp_cupti_load_ahead();
    } else {
        gp_say("not measuring: out of memory");
    }
    atomic_store_explicit(&session.state, opened ? MEASURING : PASSIVE, memory_order_release);
}

static void start_up(void *unused)
{
    const double began = gp_clock_seconds();
    start(unused);
    gp_added_start_up(gp_clock_seconds() - began);
}

void gp_session_start(void)
{
    int idle = IDLE, saved_errno = errno;
    /* A child, too, that was forked while another thread was at it: it is never marked. */
    if (atomic_load(&session.state) != IDLE)
        return;
    atomic_store(&session.pid, getpid());
    gp_process_mark();
    errno = saved_errno;
    if (!atomic_compare_exchange_strong(&session.state, &idle, STARTING))
        return; /* another thread is at it, or we ourselves, re-entering */
    if (!gp_driver_find()) {
        atomic_store(&session.state, IDLE);
        return;
    }
    gp_run_internal_work(start_up, NULL);
}
