/* The limit to the time that measuring adds: the time spent so far, the time that steps are
 * predicted to take, and whether one may begin. Owns the predictions. From any thread.
 *
 * Spent is, start-up apart, the wall time in which the program is held up (base/added_time.h), the
 * GPU's work of ours beside it, and the overlap that was lost, at most, as launches were waited
 * for. */
#include "launch/inside.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "profile/record.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

/* The weight of a new value in a mean, at least; and mean distances above it that a step is
 * expected not to exceed. */
#define WEIGHT 0.1
#define DISTANCES 3
/* A step that took many times longer than the others counts as one of so many times. */
#define MOST_TIMES 8
/* Launches in a drain, before any is known. */
#define USUAL_BATCH 16.0

/* Guesses, by docs/performance.md. */
static const double guesses[GP_LIMIT_STEPS] = {
    [GP_LIMIT_LAUNCH] = 2e-3, [GP_LIMIT_KERNEL] = 25e-3, [GP_LIMIT_DRAIN] = 45e-3,
    [GP_LIMIT_SWITCH] = 0.25, [GP_LIMIT_GRAPH] = 25e-6,  [GP_LIMIT_TIMING] = 15e-6,
    [GP_LIMIT_READ] = 1e-3,   [GP_LIMIT_WAIT] = 0.1,
};

/* The seconds that it takes at most to instrument a kernel of a library, of which the guess is that
 * of a small one. */
#define DEAR_KERNEL 0.2

/* How many times its own time the money comes in behind the first launch, until it has caught up.
 */
#define CATCHING_UP 4
/* The part of the limit, and seconds beside, by which a drain may exceed it. */
#define OVERDRAWN 0.1
#define MORE_OVERDRAWN 0.02

static struct {
    struct gp_overhead overhead;
    _Atomic double before;        /* seconds of the program's own before its first launch */
    _Atomic(const void *) stream; /* of the first launch, plus 1 */
    atomic_bool several_streams;
    atomic_int promised, promised_kernels; /* that wait for a drain */
    pthread_mutex_t lock;                  /* of those below */
    struct gp_overhead_reached reached;
    struct gp_prediction of[GP_LIMIT_STEPS];
    double batch;
} limit = {.overhead = {.kind = GP_OVERHEAD_NONE},
           .batch = USUAL_BATCH,
           .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- predictions ----------------------------------------------------------------------------- */

void prediction_learn(struct gp_prediction *p, double seconds)
{
    if (p->count > 0)
        seconds = fmin(seconds, MOST_TIMES * (p->mean + p->distance));
    p->count++;
    const double weight = fmax(WEIGHT, 1.0 / p->count), off = fabs(seconds - p->mean);
    p->distance += weight * ((p->count > 1 ? off : seconds / 4) - p->distance);
    p->mean += weight * (seconds - p->mean);
}

double prediction_most(const struct gp_prediction *p)
{
    return p->mean + DISTANCES * p->distance;
}

/* Locked. */
static double most_of(enum gp_limit_step step)
{
    return limit.of[step].count > 0 ? prediction_most(&limit.of[step]) : guesses[step];
}

/* Locked. */
static double mean_of(enum gp_limit_step step)
{
    return limit.of[step].count > 0 ? limit.of[step].mean : guesses[step];
}

double limit_predicts(enum gp_limit_step step)
{
    pthread_mutex_lock(&limit.lock);
    const double most = most_of(step);
    pthread_mutex_unlock(&limit.lock);
    return most;
}

double limit_usual(enum gp_limit_step step)
{
    pthread_mutex_lock(&limit.lock);
    const double mean = mean_of(step);
    pthread_mutex_unlock(&limit.lock);
    return mean;
}

void limit_took(enum gp_limit_step step, double seconds)
{
    pthread_mutex_lock(&limit.lock);
    prediction_learn(&limit.of[step], fmax(0, seconds));
    pthread_mutex_unlock(&limit.lock);
}

void limit_drained(unsigned launches, double seconds)
{
    if (launches == 0)
        return;
    pthread_mutex_lock(&limit.lock);
    prediction_learn(&limit.of[GP_LIMIT_DRAIN], fmax(0, seconds));
    limit.batch += 0.2 * (launches - limit.batch);
    pthread_mutex_unlock(&limit.lock);
}

double limit_usual_batch(void)
{
    pthread_mutex_lock(&limit.lock);
    const double batch = limit.batch;
    pthread_mutex_unlock(&limit.lock);
    return fmax(1, batch);
}

/* ---- the account ----------------------------------------------------------------------------- */

void limit_start(const struct gp_overhead *overhead)
{
    limit.overhead = *overhead;
}

bool limit_is_set(void)
{
    return limit.overhead.kind != GP_OVERHEAD_NONE;
}

struct account {
    double spent, own;
};

/* The program's own time has all that gpuprof did not add: with lost overlap it would have been
 * shorter. */
static struct account account(void)
{
    const double added = gp_added_seconds();
    const struct gp_added_parts parts = gp_added_parts();
    const double own = fmax(0, gp_process_seconds() - added);
    const double lost = gp_overhead_lost(parts.awaited, own, atomic_load(&limit.several_streams)) +
                        parts.beside + detach_seconds();
    return (struct account){.spent = fmax(0, added - parts.start_up) + lost,
                            .own = fmax(0, own - lost)};
}

/* 0 is a stream, and means none here. */
void limit_notes_stream(const void *stream)
{
    const void *noted = (const char *)stream + 1, *before = NULL;
    if (atomic_compare_exchange_strong(&limit.stream, &before, noted))
        atomic_store(&limit.before, account().own);
    else if (before != noted)
        atomic_store(&limit.several_streams, true);
}

bool limit_takes_all(void)
{
    if (limit.overhead.kind == GP_OVERHEAD_NONE)
        return true;
    pthread_mutex_lock(&limit.lock);
    const bool all = limit.overhead.kind == GP_OVERHEAD_DEFAULT && !limit.reached.is_reached;
    pthread_mutex_unlock(&limit.lock);
    return all;
}

/* Locked. `at_most`: as far as that is known, else as usual. */
static double promised(bool at_most)
{
    const int launches = atomic_load(&limit.promised);
    const int kernels = atomic_load(&limit.promised_kernels);
    if (launches <= 0)
        return 0;
    /* Launches that take longer than the mean come with others that take less. */
    const double mean = mean_of(GP_LIMIT_LAUNCH), off = most_of(GP_LIMIT_LAUNCH) - mean;
    const bool comes = detached();
    if (!at_most)
        return mean_of(GP_LIMIT_DRAIN) + (comes ? mean_of(GP_LIMIT_SWITCH) : 0) + launches * mean +
               kernels * mean_of(GP_LIMIT_KERNEL);
    return most_of(GP_LIMIT_DRAIN) + (comes ? most_of(GP_LIMIT_SWITCH) : 0) + launches * mean +
           sqrt(launches) * off + kernels * most_of(GP_LIMIT_KERNEL);
}

/* Launches that wait were permitted: their time is part of the limit that is reached. */
void limit_is_reached(void)
{
    const struct account now = account();
    pthread_mutex_lock(&limit.lock);
    const bool before = limit.reached.is_reached;
    const double most = gp_overhead_most(&limit.overhead, &limit.reached, now.own);
    const double spent = fmax(now.spent, fmin(most, now.spent + promised(true)));
    if (!before)
        limit.reached = (struct gp_overhead_reached){true, spent, now.own};
    pthread_mutex_unlock(&limit.lock);
    if (!before)
        gp_say("measuring adds %.3g s so far; from here on it adds at most %g %% of the program's "
               "time (--overhead none: all is measured)",
               spent, 100 * GP_OVERHEAD_LATER);
}

/* The first launches of a program set it up, and do not tell which ones take its time. So money of
 * the time before them is handed out as that of the time behind them comes in. */
static double own_for_money(double own)
{
    const bool share = limit.overhead.kind == GP_OVERHEAD_SHARE;
    return share ? fmin(own, CATCHING_UP * (own - atomic_load(&limit.before))) : own;
}

struct gp_money limit_money(void)
{
    const struct account now = account();
    pthread_mutex_lock(&limit.lock);
    const double most = gp_overhead_most(&limit.overhead, &limit.reached, own_for_money(now.own));
    const double base = limit.reached.is_reached ? limit.reached.spent : 0;
    const struct gp_money money = {.all = fmax(0, most - base),
                                   .left = most - now.spent - promised(true)};
    pthread_mutex_unlock(&limit.lock);
    return money;
}

/* Locked. Beyond the limit, for a batch that was begun. */
static double overdraft(double most)
{
    const double base = limit.reached.is_reached ? limit.reached.spent : 0;
    return OVERDRAWN * (most - base) + MORE_OVERDRAWN;
}

struct gp_money limit_money_in_batch(void)
{
    struct gp_money money = limit_money();
    const struct account now = account();
    pthread_mutex_lock(&limit.lock);
    money.left += overdraft(gp_overhead_most(&limit.overhead, &limit.reached, now.own));
    pthread_mutex_unlock(&limit.lock);
    return money;
}

bool limit_permits_as_usual(double seconds)
{
    const struct account now = account();
    pthread_mutex_lock(&limit.lock);
    const double most = gp_overhead_most(&limit.overhead, &limit.reached, now.own);
    const bool permitted = now.spent + promised(false) + seconds <= most;
    pthread_mutex_unlock(&limit.lock);
    return permitted;
}

bool limit_permits_chosen(void)
{
    if (!limit_is_set())
        return true;
    const struct account now = account();
    pthread_mutex_lock(&limit.lock);
    const double most = gp_overhead_most(&limit.overhead, &limit.reached, now.own);
    const bool permitted = now.spent + mean_of(GP_LIMIT_LAUNCH) <= most;
    pthread_mutex_unlock(&limit.lock);
    return permitted;
}

bool limit_permits(double seconds)
{
    return !limit_is_set() || seconds <= limit_money().left;
}

/* Launches that wait have been promised their drain. Where something took longer meanwhile than was
 * predicted, they have it all the same: else all that was spent on them would be lost. */
bool limit_permits_in_drain(double seconds)
{
    if (!limit_is_set())
        return true;
    const struct account now = account();
    pthread_mutex_lock(&limit.lock);
    const double most = gp_overhead_most(&limit.overhead, &limit.reached, now.own);
    const double beyond = overdraft(most);
    pthread_mutex_unlock(&limit.lock);
    const bool all = limit_takes_all();
    const double more = all ? 0 : beyond;
    const bool permitted = now.spent + seconds <= most + more;
    if (!permitted && all)
        limit_is_reached();
    return permitted;
}

/* Locked. */
static double most_for_code(void)
{
    const double dear = limit.of[GP_LIMIT_KERNEL].count > 0 ? 0 : DEAR_KERNEL;
    return fmax(most_of(GP_LIMIT_KERNEL), dear) +
           atomic_load(&limit.promised) * mean_of(GP_LIMIT_LAUNCH);
}

bool limit_permits_code_in_drain(double seconds)
{
    pthread_mutex_lock(&limit.lock);
    const double predicted = most_of(GP_LIMIT_KERNEL), most = most_for_code();
    pthread_mutex_unlock(&limit.lock);
    return limit_permits_in_drain(fmax(seconds, limit_takes_all() ? predicted : most));
}

bool limit_permits_switch(void)
{
    const double seconds = limit_predicts(GP_LIMIT_SWITCH);
    return detached() ? limit_permits_in_drain(seconds) : limit_permits(seconds);
}

void limit_promise(int launches)
{
    if (atomic_fetch_add(&limit.promised, launches) + launches <= 0)
        atomic_store(&limit.promised_kernels, 0);
}

void limit_promise_kernel(void)
{
    atomic_fetch_add(&limit.promised_kernels, 1);
}

static struct gp_end sum_up(void)
{
    const struct account now = account();
    struct gp_end sum = {0};
    if (!limit_is_set() || limit_takes_all())
        return sum;
    sum.has_limit = 1;
    sum.limit_spent = now.spent;
    sum.limit_wanted = within_limit_wanted();
    sum.start_up_seconds = gp_added_parts().start_up;
    pthread_mutex_lock(&limit.lock);
    sum.limit_seconds = gp_overhead_most(&limit.overhead, &limit.reached, now.own);
    pthread_mutex_unlock(&limit.lock);
    return sum;
}

/* The first call is before the report, the last one behind it. */
void limit_sum_up(struct gp_end *end)
{
    static struct gp_end sum;
    static double summed_at;
    if (summed_at == 0) {
        sum = sum_up();
        summed_at = gp_clock_seconds();
    }
    end->has_limit = sum.has_limit;
    end->limit_seconds = sum.limit_seconds;
    end->limit_spent = sum.limit_spent;
    end->limit_wanted = sum.limit_wanted;
    end->start_up_seconds = sum.start_up_seconds;
    end->report_seconds = sum.has_limit ? gp_clock_seconds() - summed_at : 0;
}
