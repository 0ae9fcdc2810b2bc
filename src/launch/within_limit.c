/* The launches that are measured within the limit to the added time (GPUPROF_OVERHEAD). Owns the
 * rule (launch/worth.c), and hands it the prices and the money (launch/limit.c). From any thread.
 * Launches that the rule leaves out for a while do not come here (launch/sampling.c). */
#include "launch/inside.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "code/unpacked.h"
#include "gate/waits.h"
#include "launch/contexts.h"
#include "launch/timed.h"
#include "memory/divided.h"

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* A group of which so many launches could not be measured is chosen no more than others. */
#define MOST_IN_VAIN 3

/* A batch is begun with a group that was measured before, or where there are many groups, once
 * there is as much money for launches as for their drain and the session's way: else most of the
 * money would go into drains, and ways, for a launch or two. */
#define MANY_GROUPS 8

/* The part of a drain's time that may be spent to put it off. */
#define KEEPING_PART 0.5

/* The part of the money that a wait for the GPU may take, before a graph is launched by nodes; and
 * the times that a wait in vain counts, for the next ones. */
#define WAITING_PART 0.5
#define IN_VAIN_FACTOR 2

/* A kernel that was begun is expected to be instrumented with its batch. */
static struct {
    pthread_mutex_t lock;
    struct gp_worth_rule rule;
    double on_keeping;               /* seconds for launches that kept the batch together */
    bool only_timed;                 /* no launch is asked for more */
    bool any_learned;                /* a launch was measured */
    unsigned kernels, timed_kernels; /* that were launched; of these the ones with a time */
} chosen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct {
    unsigned kernels; /* 0: it is none */
    unsigned chosen;  /* that are to be measured */
    unsigned timed;   /* and only timed */
    bool may_be_timed;
    double began, apart; /* seconds of the clock; and of apart_seconds then */
    double awaited;      /* the seconds in which the GPU was waited for until then */
    CUstream stream;
    bool per_thread;
    enum { NOT_ASKED, AT_REST, AT_WORK } gpu;
} graph __attribute__((tls_model("initial-exec")));

/* A batch that begins takes a drain, and the session's way back. */
static double batch_by(double (*seconds)(enum gp_limit_step step))
{
    return seconds(GP_LIMIT_DRAIN) + (detached() ? seconds(GP_LIMIT_SWITCH) : 0);
}

/* Locked. */
static double gpu_seconds_of(const struct gp_tally *t)
{
    const struct gp_kernel_worth *k = t->kernel;
    return k->timed > 0 ? (double)k->launches * k->seconds / (double)k->timed
                        : (double)k->launches * worth_usual_seconds(&chosen.rule);
}

/* Locked. Whether a measurement that takes `most` without that has the kernel instrumented. A batch
 * begins with a kernel of which all can be paid for, and has others with the hardware's counters
 * alone where there is too little for more. */
static bool buys_code(const struct gp_tally *t, double most, const struct gp_money *money)
{
    if (!t->kernel || t->kernel->begun)
        return false;
    if (limit_takes_all())
        return true;
    return worth_code(&chosen.rule, gpu_seconds_of(t), limit_usual(GP_LIMIT_KERNEL)) &&
           (!gp_any_held() || most + limit_predicts(GP_LIMIT_KERNEL) <= money->left);
}

/* Locked. The host may be launches ahead of the first one's time: these do not pay for the code. */
static enum gp_limit_step timing_of(const struct gp_tally *t)
{
    return t->kernel && t->kernel->timed == 0 && !t->kernel->reading ? GP_LIMIT_READ
                                                                     : GP_LIMIT_TIMING;
}

/* Locked. */
static void note_reading(struct gp_tally *t)
{
    if (t->kernel)
        t->kernel->reading = true;
}

/* Locked. The most kernels without a time that the graph may have beside one of them. */
static unsigned untimed_in_graph(void)
{
    const unsigned untimed = chosen.kernels - chosen.timed_kernels;
    const unsigned in_graph = untimed < graph.kernels ? untimed : graph.kernels;
    return in_graph - (in_graph > 0);
}

/* Locked. */
static void note_launches(struct gp_tally *t, uint64_t launches)
{
    if (!t->kernel)
        return;
    chosen.kernels += t->kernel->launches == 0;
    t->kernel->launches += launches;
}

/* Locked. */
static void note_time(struct gp_kernel_worth *k, double seconds)
{
    chosen.timed_kernels += k->timed == 0;
    k->timed++;
    k->seconds += seconds;
}

/* Locked. `code`: the seconds to unpack the code of the kernel. */
static struct gp_prices prices_of(const struct gp_tally *t, const struct gp_money *money,
                                  double code)
{
    const bool known = t->cost.count > 0;
    const double launch = known ? t->cost.mean : limit_usual(GP_LIMIT_LAUNCH);
    double most =
        code + fmax(limit_predicts(GP_LIMIT_LAUNCH), known ? prediction_most(&t->cost) : 0);
    if (!gp_any_held())
        most += batch_by(limit_predicts) +
                (t->worth.taken > 0 || chosen.rule.count > MANY_GROUPS) * batch_by(limit_usual);
    /* To join a batch takes no drain. */
    const double share = gp_any_held() ? 0 : batch_by(limit_usual) / limit_usual_batch();
    const bool is_new = buys_code(t, most, money);
    if (is_new)
        most += limit_predicts(GP_LIMIT_KERNEL);
    struct gp_prices p = {.begins = is_new,
                          .first = code + (is_new ? limit_usual(GP_LIMIT_KERNEL) : 0),
                          .launch = launch + share,
                          .now = most,
                          .timing = limit_usual(timing_of(t))};
    /* A graph is launched node by node for the first of its kernels that is chosen. That is done
     * once there is money for the times of all that have none. */
    if (graph.kernels > 0 && graph.chosen + graph.timed == 0) {
        p.timing += graph.kernels * limit_usual(GP_LIMIT_GRAPH);
        p.timing_beside = untimed_in_graph() * limit_usual(GP_LIMIT_READ);
        p.now += graph.kernels * limit_predicts(GP_LIMIT_GRAPH);
        if (graph.gpu == AT_WORK) {
            p.timing += limit_usual(GP_LIMIT_WAIT);
            p.now += limit_predicts(GP_LIMIT_WAIT);
        }
    }
    if (graph.kernels > 0 && !graph.may_be_timed)
        p.timing = INFINITY;
    return p;
}

/* Locked. Launches there cost no more than two events. */
static enum gp_choice choose_timed(struct gp_tally *t, const struct gp_money *money)
{
    const struct gp_prices p = {.timing = limit_predicts(timing_of(t))};
    chosen.only_timed = true;
    note_launches(t, 1);
    const enum gp_choice choice = p.timing <= money->left ? GP_MEASURED : GP_ONLY_COUNTED;
    worth_count(&chosen.rule, &t->worth, 1, choice == GP_MEASURED ? GP_ONLY_TIMED : GP_ONLY_COUNTED,
                &p);
    if (choice == GP_MEASURED)
        note_reading(t);
    return choice;
}

/* Locked. Where a launch that is left out would end the batch, which takes a drain, a few are
 * measured that are worth less: the batch goes on for those that are worth more. */
static bool keeps_batch(const struct gp_prices *p, const struct gp_money *money)
{
    const double most = KEEPING_PART * limit_usual(GP_LIMIT_DRAIN);
    if (!gp_any_held())
        chosen.on_keeping = 0;
    if (!gp_any_held() || !gp_divided_any() || p->begins || graph.kernels > 0 ||
        p->now > money->left || chosen.on_keeping + p->launch > most)
        return false;
    chosen.on_keeping += p->launch;
    return true;
}

/* Locked. */
static enum gp_choice choose(struct gp_tally *t, const struct gp_money *money, double code,
                             bool all, unsigned *skips)
{
    note_launches(t, 1);
    const struct gp_prices p = prices_of(t, money, code);
    enum gp_choice choice = GP_MEASURED;
    if (all)
        worth_count(&chosen.rule, &t->worth, 1, choice, &p);
    else
        choice = worth_choose(&chosen.rule, &t->worth, &p, money, skips);
    if (choice != GP_MEASURED && keeps_batch(&p, money)) {
        worth_take(&chosen.rule, &t->worth, &p);
        choice = GP_MEASURED;
    }
    if (choice == GP_ONLY_TIMED)
        note_reading(t);
    graph.timed += graph.kernels > 0 && choice == GP_ONLY_TIMED;
    if (choice != GP_MEASURED)
        return choice;
    /* A batch begins, which launches of all groups may join. */
    if (!all && !gp_any_held())
        sampling_asks_again();
    if (p.begins) {
        limit_promise_kernel();
        t->kernel->begun = true;
    }
    graph.chosen += graph.kernels > 0;
    return choice;
}

/* Whether the launch can be measured before the default limit is reached. */
static bool is_before_limit(const struct gp_tally *t, const struct gp_money *money, bool timed)
{
    pthread_mutex_lock(&chosen.lock);
    const struct gp_prices p = prices_of(t, money, 0);
    pthread_mutex_unlock(&chosen.lock);
    const double begins = gp_any_held() ? 0 : batch_by(limit_usual);
    return limit_permits_as_usual(timed ? p.timing : p.first + p.launch + begins);
}

bool within_limit_graph_waits(void)
{
    if (graph.gpu == NOT_ASKED && !limit_takes_all())
        graph.gpu = gp_stream_is_at_work(graph.stream, graph.per_thread) ? AT_WORK : AT_REST;
    return graph.gpu == AT_WORK;
}

enum gp_choice within_limit_choose(struct gp_tally *t, const struct gp_launch *call,
                                   unsigned *skips)
{
    const bool timed = gp_is_only_timed(call->stream);
    *skips = 0;
    if (graph.kernels == 0)
        limit_notes_stream(call->stream);
    struct gp_money money =
        gp_any_held() && !limit_takes_all() ? limit_money_in_batch() : limit_money();
    if (limit_takes_all() && !is_before_limit(t, &money, timed)) {
        limit_is_reached();
        money = limit_money();
        pthread_mutex_lock(&chosen.lock);
        /* The money before the limit was spent for all: it does not count against the share. */
        chosen.rule.on_firsts = chosen.rule.on_first_timings = chosen.rule.on_timings = 0;
        pthread_mutex_unlock(&chosen.lock);
    }
    const bool all = limit_takes_all();
    const double code = all || timed ? 0 : kernel_reading_seconds(call->function);
    if (graph.kernels > 0)
        (void)within_limit_graph_waits();
    pthread_mutex_lock(&chosen.lock);
    const enum gp_choice choice =
        timed ? choose_timed(t, &money) : choose(t, &money, code, all, skips);
    pthread_mutex_unlock(&chosen.lock);
    return choice;
}

struct gp_reason within_limit_code(const char *kernel, int device,
                                   const struct gp_configuration *configuration)
{
    if (!limit_is_set())
        return GP_NO_REASON;
    const struct gp_tally *t = tally_of_kernel(kernel, device, configuration);
    pthread_mutex_lock(&chosen.lock);
    const bool begun = !t->kernel || t->kernel->begun;
    pthread_mutex_unlock(&chosen.lock);
    return begun ? GP_NO_REASON : GP_CODE_LEFT_OUT;
}

void within_limit_skipped(struct gp_tally *t, uint64_t launches)
{
    const struct gp_prices none = {0};
    pthread_mutex_lock(&chosen.lock);
    note_launches(t, launches);
    worth_count(&chosen.rule, &t->worth, launches, GP_ONLY_COUNTED, &none);
    pthread_mutex_unlock(&chosen.lock);
}

unsigned within_limit_skip_part(struct gp_tally *t)
{
    pthread_mutex_lock(&chosen.lock);
    const unsigned part = worth_skip_part(&t->worth);
    pthread_mutex_unlock(&chosen.lock);
    return part;
}

void within_limit_in_vain(struct gp_tally *t)
{
    pthread_mutex_lock(&chosen.lock);
    if (t->worth.taken > 0 && t->in_vain++ < MOST_IN_VAIN)
        worth_in_vain(&t->worth);
    pthread_mutex_unlock(&chosen.lock);
}

/* Locked. */
static void leave_out_measured(struct gp_tally *t)
{
    if (t->worth.taken > 0)
        worth_left_out(&chosen.rule, &t->worth, limit_usual(GP_LIMIT_LAUNCH));
    if (t->kernel && !t->kernel->learned)
        t->kernel->begun = false;
    graph.chosen -= graph.chosen > 0;
}

/* Locked. */
static void leave_out_timed(struct gp_tally *t)
{
    worth_not_timed(&chosen.rule, &t->worth);
    if (t->kernel && t->kernel->timed == 0)
        t->kernel->reading = false;
    graph.timed -= graph.timed > 0;
}

void within_limit_left_out(struct gp_tally *t, enum gp_choice choice)
{
    pthread_mutex_lock(&chosen.lock);
    if (choice == GP_MEASURED)
        leave_out_measured(t);
    else
        leave_out_timed(t);
    pthread_mutex_unlock(&chosen.lock);
}

bool gp_sampling_is_limited(void)
{
    return !limit_takes_all();
}

/* The price of its code. */
static double reading_seconds(CUfunction function)
{
    return limit_takes_all() ? 0 : kernel_reading_seconds(function);
}

bool within_limit_permits_code(CUfunction function)
{
    const double code = reading_seconds(function);
    if (code == 0)
        return true;
    const struct gp_money money = gp_any_held() ? limit_money_in_batch() : limit_money();
    return code <= money.left;
}

bool within_limit_permits_code_for_time(CUfunction function)
{
    const double code = reading_seconds(function);
    if (code == 0)
        return true;
    const struct gp_money money = limit_money();
    pthread_mutex_lock(&chosen.lock);
    const bool permitted = worth_reading(&chosen.rule, &money, code);
    pthread_mutex_unlock(&chosen.lock);
    return permitted;
}

static struct gp_tally *tally_of_worth(struct gp_worth *g)
{
    return (struct gp_tally *)((char *)g - offsetof(struct gp_tally, worth));
}

/* The time that the last step of a kind may take more than the mean of those before it. */
static double surprise(enum gp_limit_step step)
{
    return fmax(0, limit_predicts(step) - limit_usual(step));
}

/* No kernel and no grid is wanted yet. */
static void begin_to_count(void)
{
    for (unsigned i = 0; i < chosen.rule.count; i++) {
        const struct gp_tally *t = tally_of_worth(chosen.rule.groups[i]);
        if (t->kernel)
            t->kernel->wanted = false;
        if (t->worth.relatives)
            memset(t->worth.relatives->wanted, 0, sizeof(t->worth.relatives->wanted));
    }
}

double within_limit_wanted(void)
{
    unsigned groups = 0, kernels = 0;
    pthread_mutex_lock(&chosen.lock);
    begin_to_count();
    for (unsigned i = 0; i < chosen.rule.count; i++) {
        struct gp_tally *t = tally_of_worth(chosen.rule.groups[i]);
        if (t->worth.values > 0 || t->in_vain > 0 || !worth_would_be_measured(&t->worth))
            continue;
        groups++;
        if (t->kernel && !t->kernel->begun && !t->kernel->wanted) {
            t->kernel->wanted = true;
            kernels++;
        }
    }
    pthread_mutex_unlock(&chosen.lock);
    if (groups == 0 || chosen.only_timed)
        return 0;
    return groups * limit_usual(GP_LIMIT_LAUNCH) + kernels * limit_usual(GP_LIMIT_KERNEL) +
           ceil(groups / limit_usual_batch()) * limit_usual(GP_LIMIT_DRAIN) +
           surprise(GP_LIMIT_LAUNCH) + surprise(GP_LIMIT_DRAIN) +
           (kernels > 0 ? surprise(GP_LIMIT_KERNEL) : 0);
}

/* 0 where it is not known, or in doubt for the most part. */
static double seconds_of(const struct gp_record *launch)
{
    for (size_t i = 0; i < launch->counter_count; i++)
        if (strcmp(launch->counters[i].name, GP_DURATION_COUNTER) == 0)
            return launch->counters[i].absent.cause ||
                           launch->doubt_ms > launch->counters[i].value / 2e6
                       ? 0
                       : 1e-9 * launch->counters[i].value;
    return 0;
}

/* Locked. The first launch of a kernel has the time to instrument it, and that of all the time for
 * things that are made once. */
static void learn_cost(struct gp_tally *t, double cost)
{
    if (!chosen.any_learned) {
        chosen.any_learned = true;
        return;
    }
    const double usual = limit_usual(GP_LIMIT_LAUNCH);
    if (t->kernel && t->kernel->begun && !t->kernel->learned) {
        t->kernel->learned = true;
        limit_took(GP_LIMIT_KERNEL, cost - usual);
        return;
    }
    prediction_learn(&t->cost, fmax(0, cost));
    limit_took(GP_LIMIT_LAUNCH, cost);
}

void within_limit_learn(const struct gp_record *launch, bool only_timed, double cost,
                        double scatter)
{
    if (!limit_is_set())
        return;
    struct gp_tally *t = tally_of_kernel(launch->kernel, launch->device, &launch->configuration);
    const double seconds = seconds_of(launch);
    pthread_mutex_lock(&chosen.lock);
    const enum gp_limit_step timing =
        t->kernel && t->kernel->timed == 0 ? GP_LIMIT_READ : GP_LIMIT_TIMING;
    if (seconds > 0)
        worth_time(&chosen.rule, &t->worth, seconds);
    if (seconds > 0 && t->kernel)
        note_time(t->kernel, seconds);
    if (scatter >= 0 && !launch->skipped.cause)
        worth_value(&chosen.rule, &t->worth, scatter);
    if (!only_timed && launch->passes > 1)
        learn_cost(t, cost);
    pthread_mutex_unlock(&chosen.lock);
    if (only_timed)
        limit_took(timing, cost);
}

void gp_sampling_graph_begins(CUstream stream, bool per_thread, unsigned kernels, bool may_be_timed)
{
    limit_notes_stream(stream);
    graph.per_thread = per_thread;
    graph.kernels = kernels;
    graph.may_be_timed = may_be_timed;
    graph.stream = stream;
    graph.gpu = NOT_ASKED;
    graph.chosen = graph.timed = 0;
}

/* Code has a price of its own, and start-up none. */
static double apart_seconds(void)
{
    return gp_unpacked_seconds() + gp_added_parts().start_up;
}

bool gp_sampling_graph_may_begin(void)
{
    if (!limit_is_set() || graph.gpu != AT_WORK)
        return true;
    const double most = fmin(gp_wait_limit(), WAITING_PART * limit_money().left);
    double waited;
    const bool rests = gp_wait_for_stream(graph.stream, graph.per_thread, most, &waited);
    /* One in vain tells only that more is needed. */
    if (waited > 0)
        limit_took(GP_LIMIT_WAIT, rests ? waited : IN_VAIN_FACTOR * waited);
    if (rests)
        gp_added_less(waited); /* the program would have waited for it later */
    return rests;
}

void gp_sampling_graph_launches(void)
{
    graph.began = gp_clock_seconds();
    graph.apart = apart_seconds();
    graph.awaited = gp_added_parts().awaited;
}

/* The time of the launches that are measured is known by their records. */
void gp_sampling_graph_ends(void)
{
    const double awaited = gp_added_parts().awaited - graph.awaited;
    const double seconds =
        gp_clock_seconds() - graph.began - (apart_seconds() - graph.apart) - awaited;
    const double of_launches =
        graph.chosen * limit_usual(GP_LIMIT_LAUNCH) + graph.timed * limit_usual(GP_LIMIT_TIMING);
    if (limit_is_set() && graph.chosen + graph.timed > 0 && graph.kernels > 0)
        limit_took(GP_LIMIT_GRAPH, fmax(0, seconds - of_launches) / graph.kernels);
    graph.kernels = graph.chosen = graph.timed = 0;
    graph.stream = NULL;
    graph.gpu = AT_REST;
}
