#include "gate/gate.h"

#include "base/added_time.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/futex.h"
#include "gate/inside.h"
#include "gate/threads.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Calls enter all the time, and the gate is locked for measurements only. So to enter it costs two
 * stores into memory of the thread's own (gate/threads.h), and the locking thread does the work.
 *
 * The entering thread stores that it is inside and then loads `locking`; the locking thread stores
 * that and then loads the stores of all threads. One of the two has to see the other, for which
 * both need a full barrier between their store and their load. membarrier has every thread of the
 * process that is running execute one, and a thread that is not running went through one when it
 * stopped: a thread's stores before it are seen after membarrier, and its loads behind it see the
 * stores before membarrier. So the entering thread has only to keep the compiler from reordering.
 * The same holds for leaving: a thread that leaves sees `locking`, and wakes the waiting thread, or
 * is seen to have left. Where there is no membarrier both sides are sequentially consistent.
 *
 * The locking thread has loaded the stores (with release) of the others when they left, and the
 * entering thread has loaded the store of the unlocking: `locking`, or that it is let in. So the
 * work on one side happens before the work on the other, also for tools that know C11 atomics and
 * nothing of membarrier. */

/* `inside` of a thread that waits to be let in; else 0 or 1. */
#define WAITING (-1)

/* Threads that have no struct gp_thread, out of memory; how many of them are inside. */
static atomic_int nameless;
static __thread int nameless_calls __attribute__((tls_model("initial-exec")));

static atomic_bool locking; /* somebody has locked the gate, or waits until it is */
static atomic_ulong turns;
static bool has_membarrier; /* known before anyone enters or locks the gate */
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static atomic_int times_left; /* how often a thread has left while somebody waited for that */
/* Launches to be measured queue here, however long: only the wait for calls that enter the gate,
 * which may themselves wait for the GPU, is bounded. */
static atomic_int next_number, serving; /* first come, first served: a mutex is not fair */

static bool membarrier(int command)
{
    int saved_errno = errno;
    bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved_errno;
    return done;
}

/* Some emulators answer every call with success, and do nothing. */
static void prepare(void)
{
    has_membarrier = !membarrier(-1) && membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

/* Nobody is cancelled, or ends, in the queue. */
static void lock_queue(void)
{
    int mine = atomic_fetch_add(&next_number, 1);
    for (int now; (now = atomic_load(&serving)) != mine;)
        gp_futex_wait(&serving, now, NULL);
}

static void unlock_queue(void)
{
    atomic_fetch_add(&serving, 1);
    gp_futex_wake_all(&serving);
}

static struct gp_thread *enter(void)
{
    pthread_once(&prepared, prepare);
    return thread_enter();
}

/* A thread that has left calls this; cheap while nobody waits for that. */
static void tell_locker(void)
{
    if (!atomic_load(&locking))
        return;
    atomic_fetch_add(&times_left, 1);
    gp_futex_wake(&times_left);
}

/* ---- entering ------------------------------------------------------------------------------ */

/* The thread's next loads come after this store can be seen, see above. */
static void set_inside(struct gp_thread *t, int inside)
{
    if (!has_membarrier) {
        atomic_store(&t->inside, inside);
        return;
    }
    atomic_store_explicit(&t->inside, inside, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
}

/* Seen by the thread's own signal handlers, in order. */
#define set_own(member, value)                                      \
    do {                                                            \
        atomic_signal_fence(memory_order_seq_cst);                  \
        atomic_store_explicit(member, value, memory_order_relaxed); \
        atomic_signal_fence(memory_order_seq_cst);                  \
    } while (0)

/* The gate is locked, or somebody waits for that. The unlocking thread lets in those that wait: one
 * that closes it time and again would else be quicker than they are. */
static void wait_to_be_let_in(struct gp_thread *t)
{
    gp_added_begins();
    do {
        atomic_store(&t->inside, WAITING);
        set_own(&t->admitted, false);
        tell_locker();
        while (atomic_load(&locking) && atomic_load(&t->inside) == WAITING)
            gp_futex_wait(&t->inside, WAITING, NULL);
    } while (atomic_exchange(&t->inside, 1) <= 0 && atomic_load(&locking));
    gp_added_ends();
}

/* Goes in while nobody locks the gate, or has it locked. If the thread were cancelled inside it
 * would be counted for ever. */
static void enter_nameless(void)
{
    if (nameless_calls++ > 0)
        return;
    gp_cancel_hold();
    gp_added_begins();
    lock_queue();
    atomic_fetch_add(&nameless, 1);
    unlock_queue();
    gp_added_ends();
}

static void leave_nameless(void)
{
    if (--nameless_calls > 0)
        return;
    atomic_fetch_sub(&nameless, 1);
    tell_locker();
    gp_cancel_release();
}

bool gp_gate_is_entered_here(void)
{
    return nameless_calls > 0 || (gp_thread_own && atomic_load(&gp_thread_own->calls) > 0);
}

/* Calls may lie in one another: a signal's handler makes them, or a tool in the driver's callback.
 * A handler may come before the call that it interrupts has read whether the gate is locked; then
 * it reads for both, and as long as calls are left nobody leaves. */
static bool is_admitted(const struct gp_thread *t)
{
    return atomic_load_explicit(&t->admitted, memory_order_relaxed) &&
           atomic_load_explicit(&t->inside, memory_order_relaxed) > 0;
}

void gp_gate_enter_cancellable(void)
{
    struct gp_thread *t = gp_thread_own;
    if (!t && (nameless_calls > 0 || !(t = enter()))) {
        enter_nameless();
        return;
    }
    int calls = atomic_load_explicit(&t->calls, memory_order_relaxed);
    set_own(&t->calls, calls + 1);
    if (calls > 0 && is_admitted(t))
        return;
    set_inside(t, 1);
    if (atomic_load(&locking))
        wait_to_be_let_in(t);
    set_own(&t->admitted, true);
}

void gp_gate_leave_cancellable(void)
{
    struct gp_thread *t = gp_thread_own;
    if (!t) {
        leave_nameless();
        return;
    }
    int calls = atomic_load_explicit(&t->calls, memory_order_relaxed) - 1;
    set_own(&t->calls, calls);
    if (calls > 0)
        return;
    set_own(&t->admitted, false);
    set_inside(t, 0);
    tell_locker();
}

void gate_abandon(struct gp_thread *t)
{
    set_own(&t->calls, 0);
    set_own(&t->admitted, false);
    atomic_store(&t->inside, 0);
    tell_locker();
    gp_added_abandon();
}

void gp_gate_enter(void)
{
    gp_cancel_hold();
    gp_gate_enter_cancellable();
}

void gp_gate_leave(void)
{
    gp_gate_leave_cancellable();
    gp_cancel_release();
}

/* ---- locking --------------------------------------------------------------------------------- */

static bool is_anyone_inside(void)
{
    const struct gp_thread *t = gp_threads();
    while (t && atomic_load(&t->inside) <= 0)
        t = t->next;
    return t || atomic_load(&nameless) > 0;
}

static bool wait_for_leaving(const struct timespec *until)
{
    for (bool in_time = true;;) {
        int before = atomic_load(&times_left);
        if (!is_anyone_inside())
            return true;
        if (!in_time)
            return false;
        in_time = gp_futex_wait(&times_left, before, until);
    }
}

static void let_in(void)
{
    atomic_fetch_add(&turns, 1);
    atomic_store(&locking, false);
    for (struct gp_thread *t = gp_threads(); t; t = t->next) {
        int waiting = WAITING;
        if (atomic_compare_exchange_strong(&t->inside, &waiting, 1))
            gp_futex_wake(&t->inside);
    }
}

/* In the middle of a call of its own a thread would wait for itself. */
static bool is_inside(void)
{
    return gp_thread_own ? atomic_load(&gp_thread_own->calls) > 0 : nameless_calls > 0;
}

/* A process that was restored from a checkpoint may have to register again. */
static bool have_all_pass_a_barrier(void)
{
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
           (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
            membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

void gp_gate_queue(void)
{
    gp_cancel_hold();
    pthread_once(&prepared, prepare);
    lock_queue();
}

bool gate_lock_queued(double seconds)
{
    if (is_inside())
        return false;
    const struct timespec until = gp_clock_after(seconds);
    atomic_fetch_add(&turns, 1);
    atomic_store(&locking, true);
    bool locked = (!has_membarrier || have_all_pass_a_barrier()) && wait_for_leaving(&until);
    if (!locked)
        let_in();
    return locked;
}

void gp_gate_unlock_queued(bool locked)
{
    if (locked)
        let_in();
    unlock_queue();
    gp_cancel_release();
}

void gp_gate_unlock_and_enter(bool locked)
{
    if (locked)
        let_in();
    gp_gate_enter();
    gp_gate_unlock_queued(false);
}

unsigned long gp_gate_turns(void)
{
    return atomic_load_explicit(&turns, memory_order_relaxed);
}

bool gate_lock(double seconds)
{
    gp_gate_queue();
    bool locked = gate_lock_queued(seconds);
    if (!locked)
        gp_gate_unlock_queued(locked);
    return locked;
}

void gp_gate_unlock(void)
{
    gp_gate_unlock_queued(true);
}
