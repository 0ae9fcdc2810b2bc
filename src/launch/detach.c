/* CUPTI is detached where nothing is measured for a while: as long as it serves the driver, each
 * launch of the program takes longer, whether it is measured or not (docs/performance.md). Owns the
 * count of launches that did.
 *
 * It goes once these have cost as much as it takes to come again, so that both together cost at
 * most twice the least there is. It comes with the session, which is away meanwhile: launches to be
 * measured wait for it, as where it is with another context (launch/moves.c). From any thread. */
#include "launch/inside.h"
#include "launch/launch.h"

#include "base/clock.h"
#include "base/floating.h"
#include "base/log.h"
#include "gate/captures.h"
#include "gate/gate.h"
#include "gate/internal_work.h"
#include "gate/waits.h"
#include "launch/contexts.h"
#include "launch/session.h"

#include <math.h>
#include <stdatomic.h>

/* The seconds that a launch takes longer, before it is known: 0.7 to 1.4 us in a loop of launches,
 * 3 to 4 in PyTorch; and those that an account of the added time believes, as the time of a launch
 * has waits for the GPU. Where threads launch beside each other it may be a hundred. */
#define EACH_LAUNCH 2.5e-6
#define LEAST_COUNTED 0.5e-6
#define MOST_COUNTED 5e-6
/* The kernels of a graph by which its launch takes as much longer as that of one kernel: 78 us for
 * 435 kernels, on an H200. */
#define KERNELS_AS_LAUNCH 14
/* The seconds of a launch without CUPTI, before they are known; and the launches that tell them. */
#define USUAL_LAUNCH 5e-6
#define TELLING 16
/* To come again takes no longer, though the first time may. */
#define MOST_TO_COME 0.3
/* The weight of a new time in the mean, at least; one that took so many times longer waited. */
#define WEIGHT 0.05
#define MOST_TIMES 4
/* A batch that no launch joins for so long is drained under a limit. */
#define QUIET_SECONDS 0.2
/* The launches of a thread that are counted at a time, at least; the last one is timed. */
#define ROW 64
/* To wait until the GPU is at rest, where the program does not, takes so many times more. */
#define TO_WAIT 2
/* A try in vain is followed by the next one after this part of the launches so far. */
#define TRIES 8

static struct {
    atomic_bool attached; /* a session is there */
    atomic_bool due;
    atomic_bool over; /* CUPTI refused */
    /* Calls of launches: all; when a launch was measured last, or a detachment that may wait was
     * tried in vain; when one that may not was. */
    atomic_ulong calls, measured_at, tried_at;
    atomic_ulong cost_ns;          /* of launches with CUPTI so far */
    atomic_bool went;              /* once at least */
    _Atomic double measured_clock; /* seconds, when a launch was measured last */
    _Atomic double seconds;        /* that a session takes to come */
    _Atomic double money;          /* of the limit, when a launch was measured last */
} detach;

static __thread unsigned row __attribute__((tls_model("initial-exec")));

/* The seconds of launches, as a mean. Threads may overwrite each other's: that is one of many, and
 * a lock might be left by a thread that is cancelled. */
struct usual {
    _Atomic double seconds;
    atomic_uint count;
};
static struct usual with, without;

static unsigned long calls(void)
{
    return atomic_load_explicit(&detach.calls, memory_order_relaxed);
}

/* The seconds that a launch takes longer: as may be, or as is sure. */
static double each_launch(bool sure)
{
    const bool known = atomic_load(&without.count) >= TELLING;
    if (atomic_load(&with.count) < TELLING || (sure && !known))
        return EACH_LAUNCH;
    const double more =
        atomic_load(&with.seconds) - (known ? atomic_load(&without.seconds) : USUAL_LAUNCH);
    return sure ? fmin(fmax(more, LEAST_COUNTED), MOST_COUNTED) : fmax(more, EACH_LAUNCH);
}

bool detach_times_launch(void)
{
    return row == 0;
}

/* Floating point is the program's in its calls. */
void detach_launch_took(uint64_t ns)
{
    gp_floating program;
    gp_floating_hold(&program);
    double seconds = 1e-9 * (double)ns;
    struct usual *u = atomic_load(&detach.attached) ? &with : &without;
    const unsigned before = atomic_fetch_add(&u->count, 1);
    const double usual = atomic_load(&u->seconds);
    const double weight = fmax(WEIGHT, 1.0 / (before + 1));
    if (before > 0)
        seconds = fmin(seconds, MOST_TIMES * usual);
    atomic_store(&u->seconds, usual + weight * (seconds - usual));
    gp_floating_restore(&program);
}

void detach_session_came(double seconds)
{
    atomic_store(&detach.attached, true);
    detach_launch_measured();
    detach.seconds = fmin(seconds, MOST_TO_COME);
}

void detach_launch_measured(void)
{
    atomic_store_explicit(&detach.measured_at, calls(), memory_order_relaxed);
    atomic_store_explicit(&detach.due, false, memory_order_relaxed);
    if (!limit_is_set())
        return;
    atomic_store(&detach.money, limit_money().all);
    atomic_store(&detach.measured_clock, gp_clock_seconds());
}

bool detached(void)
{
    return atomic_load(&detach.went) && !atomic_load(&detach.attached);
}

double detach_seconds(void)
{
    return 1e-9 * (double)atomic_load(&detach.cost_ns);
}

/* ---- the way there --------------------------------------------------------------------------- */

/* The gate is locked. */
static void leave_driver(bool may_wait)
{
    static struct gp_say_limit once;
    struct gp_reason why;
    if (!contexts_leave_sessions(may_wait)) {
        atomic_store(may_wait ? &detach.measured_at : &detach.tried_at, calls());
        return;
    }
    if (gp_collectors_detach(&why)) {
        atomic_store(&detach.attached, false);
        atomic_store(&detach.went, true);
        return;
    }
    atomic_store(&detach.over, true);
    gp_say_limited(&once, 1, "CUPTI stays with the program where nothing is measured: %s",
                   why.text);
}

static void try(void *may_wait)
{
    atomic_store(&detach.due, false);
    if (gp_captures() > 0 || tool_has_come() || !gp_gate_lock_in_time())
        return;
    if (gp_session_measures() && gp_captures() == 0 && atomic_load(&detach.attached))
        leave_driver(*(const bool *)may_wait);
    gp_gate_unlock();
}

/* The limit is spent, and launches that pass cost more than it grows by. */
static bool is_limit_spent(unsigned long passed)
{
    if (!limit_is_set() || limit_takes_all())
        return false;
    const struct gp_money money = limit_money();
    return money.left < 0 &&
           each_launch(true) * (double)passed > money.all - atomic_load(&detach.money);
}

static void drain(void *unused)
{
    (void)unused;
    atomic_store(&detach.measured_clock, gp_clock_seconds()); /* in vain it is tried later */
    if (gp_captures() > 0 || !gp_gate_lock_in_time())
        return;
    if (gp_session_measures() && gp_captures() == 0)
        contexts_drain_at_rest();
    gp_gate_unlock();
}

/* Under a limit few launches are measured, so a batch is not full for long; and as long as it waits
 * CUPTI has to stay. */
static bool is_batch_quiet(void)
{
    return limit_is_set() && !limit_takes_all() && gp_any_held() &&
           gp_clock_seconds() - atomic_load(&detach.measured_clock) > QUIET_SECONDS;
}

static void consider(void)
{
    const unsigned long passed = calls() - atomic_load(&detach.measured_at);
    const double cost = each_launch(false) * (double)passed, enough = atomic_load(&detach.seconds);
    bool wait = true;
    if (is_batch_quiet())
        gp_run_internal_work(drain, NULL);
    if (cost > TO_WAIT * enough || is_limit_spent(passed))
        gp_run_internal_work(try, &wait);
    else if (cost > enough && TRIES * (calls() - atomic_load(&detach.tried_at)) > passed)
        atomic_store(&detach.due, true);
}

static void count(unsigned launches)
{
    row += launches;
    if (row < ROW)
        return;
    const unsigned counted = row - row % ROW;
    row %= ROW;
    atomic_fetch_add_explicit(&detach.calls, counted, memory_order_relaxed);
    if (!atomic_load_explicit(&detach.attached, memory_order_relaxed))
        return;
    gp_floating program;
    gp_floating_hold(&program);
    atomic_fetch_add(&detach.cost_ns, (unsigned long)(1e9 * counted * each_launch(true)));
    if (!atomic_load_explicit(&detach.over, memory_order_relaxed))
        consider();
    gp_floating_restore(&program);
}

void detach_counts_launch(void)
{
    count(1);
}

void gp_detach_counts_graph(unsigned kernels)
{
    count(1 + kernels / KERNELS_AS_LAUNCH);
}

void gp_detach_at_rest(void)
{
    bool wait = false;
    if (atomic_load_explicit(&detach.due, memory_order_relaxed) && gp_session_measures())
        gp_run_internal_work(try, &wait);
}
