/* Which launches are measured: GPUPROF_SAMPLE, for each kernel and launch configuration. Owns the
 * way from a launch to its counts, which is short: most launches go no further. From any thread. */
#include "launch/inside.h"
#include "launch/selection.h"

#include "base/added_time.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "gate/captures.h"
#include "gate/internal_work.h"
#include "gate/threads.h"
#include "gate/waits.h"
#include "launch/contexts.h"
#include "launch/kernels.h"
#include "memory/divided.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Known launches; beyond so many they are found anew. */
#define MOST_KNOWN 65536
/* Locks, each for a part of them: threads rarely meet. */
#define STRIPES 64

/* Launches of one kernel and configuration, and the seconds that all measuring has taken: then the
 * user may want to know how to measure fewer. With a small GPUPROF_TIMEOUT that is sooner. */
#define MANY_ALIKE 256
#define LONG_RUN 20.0
#define LONG_TIMES 4 /* of GPUPROF_TIMEOUT */

/* The key of a launch. No padding: it is compared bytewise. */
struct key {
    CUcontext context;
    CUfunction function;
    struct gp_configuration configuration;
};

struct known {
    struct key key;
    struct gp_tally *tally;
    UT_hash_handle hh;
};

/* On a cache line of its own. */
static struct stripe {
    pthread_mutex_t lock;
    struct known *known;
} __attribute__((aligned(64))) stripes[STRIPES] = {
    [0 ... STRIPES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER},
};
static atomic_uint known_count;
static struct gp_sample rule;

void sampling_start(const struct gp_sample *sample)
{
    rule = *sample;
}

static uint64_t hash_of(const struct key *key)
{
    uint64_t seed = (uint64_t)(uintptr_t)key->context * 31 + (uint64_t)(uintptr_t)key->function;
    return gp_configuration_hash(&key->configuration, seed);
}

/* Locked. */
static struct gp_tally *find(const struct stripe *stripe, const struct key *key, unsigned hash)
{
    struct known *k = NULL;
    HASH_FIND_BYHASHVALUE(hh, stripe->known, key, sizeof(*key), hash, k);
    return k ? k->tally : NULL;
}

/* Locked. When out of memory it is searched again the next time. */
static void keep(struct stripe *stripe, const struct key *key, unsigned hash,
                 struct gp_tally *tally)
{
    struct known *k = calloc(1, sizeof(*k));
    if (!k)
        return;
    k->key = *key;
    k->tally = tally;
    HASH_ADD_BYHASHVALUE(hh, stripe->known, key, sizeof(k->key), hash, k);
    if (k->hh.tbl)
        atomic_fetch_add(&known_count, 1);
    else
        free(k);
}

/* The long way: by the kernel's name and the device. */
static struct gp_tally *ask(const struct gp_launch *call)
{
    struct gp_text name = {0};
    CUdevice device = 0;
    if (gp_cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        device = 0; /* the launch will fail, or go to a stream of another context */
    gp_kernel_add_name(call->function, &name);
    struct gp_tally *tally = tally_of_kernel(gp_text_string(&name), device, &call->configuration);
    gp_text_free(&name);
    return tally;
}

/* Counts are kept by device, so with a single one the context need not be known: to ask for it took
 * as long as all else on the way of a launch that passes. */
static bool has_several_devices(void)
{
    static atomic_int devices; /* 0: not known yet */
    int count = atomic_load_explicit(&devices, memory_order_relaxed);
    if (count == 0) {
        if (gp_cuda.cuDeviceGetCount(&count) != CUDA_SUCCESS || count < 1)
            return true;
        atomic_store_explicit(&devices, count, memory_order_relaxed);
    }
    return count > 1;
}

static struct key key_of(const struct gp_launch *call)
{
    struct key key = {.function = call->function, .configuration = call->configuration};
    if (has_several_devices() && gp_cuda.cuCtxGetCurrent(&key.context) != CUDA_SUCCESS)
        key.context = NULL;
    return key;
}

static struct gp_tally *tally_of(const struct gp_launch *call)
{
    const struct key key = key_of(call);
    uint64_t hash = hash_of(&key);
    struct stripe *stripe = &stripes[hash >> 32 & (STRIPES - 1)];

    pthread_mutex_lock(&stripe->lock);
    struct gp_tally *tally = find(stripe, &key, (unsigned)hash);
    pthread_mutex_unlock(&stripe->lock);
    if (tally)
        return tally;
    tally = ask(call);
    if (atomic_load(&known_count) >= MOST_KNOWN)
        sampling_forget();
    pthread_mutex_lock(&stripe->lock);
    if (!find(stripe, &key, (unsigned)hash))
        keep(stripe, &key, (unsigned)hash, tally);
    pthread_mutex_unlock(&stripe->lock);
    return tally;
}

/* ---- launches that are left out by one look-up ----------------------------------------------- */

/* Groups of which a thread may leave launches out, in sets of a few: a training has hundreds of
 * kernels and configurations, and those that drove each other out would be asked for at each
 * launch. So many sets that of a thousand groups hardly one is driven out. */
#define SETS 1024 /* a power of two */
#define IN_SET 8
/* Another thread may find that the kernel waits for the host just when the group is entered. */
#define MOST_BY_RULE 1024

/* A group of which some launches need not be asked for: the next ones under a limit, and those that
 * the user's rule leaves out. */
struct skipping {
    struct key key;
    struct gp_tally *tally;
    unsigned left, skipped;
    unsigned by_rule;        /* the rule's launches until it is asked for again */
    unsigned long forgotten; /* times_forgotten, as it was */
    uint64_t found;          /* when it was, in launches of the thread; 0: it is empty */
};

static atomic_ulong times_forgotten;
/* Initial-exec: a hook allocates nothing. */
static __thread uint64_t finds __attribute__((tls_model("initial-exec")));

/* The set that the key may be in, NULL where the thread has none. */
static struct skipping *set_of(const struct gp_thread *own, const struct key *key)
{
    struct skipping *all = own ? own->skipping : NULL;
    return all ? &all[(hash_of(key) >> 32 & (SETS - 1)) * IN_SET] : NULL;
}

static bool is_of(const struct skipping *s, const struct key *key)
{
    return s->key.function == key->function && memcmp(&s->key, key, sizeof(*key)) == 0;
}

/* NULL where the set has it not. */
static struct skipping *find_in(struct skipping *set, const struct key *key)
{
    for (int i = 0; set && i < IN_SET; i++)
        if (is_of(&set[i], key))
            return &set[i];
    return NULL;
}

/* The entry of the group, else an empty one, else the one that was found the longest ago. NULL when
 * out of memory. */
static struct skipping *room_for(const struct key *key)
{
    struct gp_thread *own = gp_thread_own;
    if (own && !own->skipping)
        own->skipping = calloc((size_t)SETS * IN_SET, sizeof(struct skipping));
    struct skipping *set = set_of(own, key), *oldest = find_in(set, key);
    if (!set || oldest)
        return oldest;
    oldest = set;
    for (int i = 1; i < IN_SET; i++)
        if (set[i].found < oldest->found)
            oldest = &set[i];
    return oldest;
}

static void settle(struct skipping *s)
{
    if (s->skipped > 0)
        within_limit_skipped(s->tally, s->skipped);
    s->skipped = 0;
}

static void remember(struct gp_tally *tally, const struct gp_launch *call, unsigned skips)
{
    struct key key = key_of(call);
    struct skipping *s = selection_counts() ? NULL : room_for(&key);
    if (!s)
        return;
    settle(s);
    *s = (struct skipping){.key = key,
                           .tally = tally,
                           .left = skips,
                           .by_rule = MOST_BY_RULE,
                           .forgotten = atomic_load(&times_forgotten),
                           .found = ++finds};
}

/* Counts the launch, where the user's rule leaves it out. */
static bool is_left_out_by_rule(struct gp_tally *tally)
{
    unsigned long before = atomic_load_explicit(&tally->launches, memory_order_relaxed);
    if (gp_sample_takes(&rule, before) ||
        !atomic_compare_exchange_strong(&tally->launches, &before, before + 1))
        return false;
    tally_launched(tally, before);
    return true;
}

/* The thread's entry of the launch's group; NULL where it has none that is still good. */
static struct skipping *entry_of(const struct gp_launch *call)
{
    struct gp_thread *own = gp_thread_own;
    if (!own || !own->skipping || gp_captures() > 0)
        return NULL;
    const struct key key = key_of(call);
    struct skipping *s = find_in(set_of(own, &key), &key);
    if (!s || s->forgotten != atomic_load_explicit(&times_forgotten, memory_order_acquire))
        return NULL;
    s->found = ++finds;
    return s;
}

static bool rule_leaves_out(struct skipping *s)
{
    if (s->by_rule == 0 || !is_left_out_by_rule(s->tally))
        return false;
    s->by_rule--;
    return true;
}

bool gp_sampling_leaves_out_of_graph(const struct gp_launch *call)
{
    struct skipping *s = entry_of(call);
    return s && rule_leaves_out(s);
}

bool sampling_leaves_out(const struct gp_launch *call)
{
    struct skipping *s = entry_of(call);
    if (!s)
        return false;
    if (rule_leaves_out(s))
        return true;
    if (!s->left || (gp_any_held() && gp_divided_any()))
        return false;
    tally_launched(s->tally,
                   atomic_fetch_add_explicit(&s->tally->launches, 1, memory_order_relaxed));
    atomic_fetch_add_explicit(&s->tally->passed_over[GP_LEFT_OUT], 1, memory_order_relaxed);
    s->skipped++;
    if (--s->left == 0) {
        gp_internal_work_begins();
        settle(s);
        gp_internal_work_ends();
    }
    return true;
}

uint64_t sampling_times_asked(void)
{
    return atomic_load_explicit(&times_forgotten, memory_order_acquire);
}

struct gp_tally *sampling_tally_of(const struct gp_launch *call)
{
    return tally_of(call);
}

static void suggest_fewer(uint64_t taken)
{
    static struct gp_say_limit once;
    if (rule.first || rule.every || limit_is_set() || taken == 0 || taken % MANY_ALIKE != 0)
        return;
    double seconds = gp_added_seconds();
    if (seconds > fmin(LONG_RUN, LONG_TIMES * gp_wait_first_limit()))
        gp_say_limited(&once, 1,
                       "measuring has added %.3g s so far, and one kernel was measured %" PRIu64
                       " times; GPUPROF_SAMPLE=auto (--sample) measures ever fewer launches "
                       "of each kernel",
                       seconds, taken);
}

enum gp_choice gp_sampling_chooses(const struct gp_launch *call, bool may_be_measured,
                                   uint64_t *turn)
{
    struct gp_tally *tally = tally_of(call);
    uint64_t before = atomic_fetch_add(&tally->launches, 1);
    unsigned skips;
    tally_launched(tally, before);
    if (!gp_sample_takes(&rule, before)) {
        if (may_be_measured)
            remember(tally, call, 0);
        return GP_ONLY_COUNTED;
    }
    if (limit_is_set() && may_be_measured) {
        enum gp_choice choice = within_limit_choose(tally, call, &skips);
        if (choice == GP_ONLY_COUNTED)
            atomic_fetch_add(&tally->passed_over[GP_LEFT_OUT], 1);
        if (choice == GP_ONLY_COUNTED && skips > 0)
            remember(tally, call, skips);
        if (choice != GP_MEASURED)
            return choice;
    }
    uint64_t taken = atomic_fetch_add(&tally->taken, 1);
    suggest_fewer(taken);
    if (turn)
        *turn = taken;
    return GP_MEASURED;
}

void gp_sampling_passed_over(const struct gp_launch *call, enum gp_passed_over why)
{
    struct gp_tally *tally = tally_of(call);
    atomic_fetch_add(&tally->passed_over[why], 1);
    if (limit_is_set() && why != GP_LEFT_OUT)
        within_limit_in_vain(tally);
}

void gp_sampling_left_out(const struct gp_launch *call, enum gp_choice choice)
{
    struct gp_tally *tally = tally_of(call);
    atomic_fetch_add(&tally->passed_over[GP_LEFT_OUT], 1);
    within_limit_left_out(tally, choice);
}

void sampling_asks_again(void)
{
    atomic_fetch_add(&times_forgotten, 1);
}

void sampling_forget(void)
{
    sampling_asks_again();
    for (size_t i = 0; i < STRIPES; i++) {
        struct stripe *stripe = &stripes[i];
        struct known *k, *next;
        pthread_mutex_lock(&stripe->lock);
        HASH_ITER(hh, stripe->known, k, next)
        {
            HASH_DEL(stripe->known, k);
            free(k);
            atomic_fetch_sub(&known_count, 1);
        }
        pthread_mutex_unlock(&stripe->lock);
    }
}
