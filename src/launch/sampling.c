/* Which launches are measured: GPUPROF_SAMPLE, for each kernel and launch configuration. Owns the
 * way from a launch to its counts, which is short: most launches go no further. From any thread. */
#include "launch/inside.h"
#include "launch/selection.h"

#include "base/added_time.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "gate/waits.h"
#include "launch/kernels.h"

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
    struct gp_tally *tally = tally_of_kernel(gp_text_string(&name), device, call);
    gp_text_free(&name);
    return tally;
}

static struct gp_tally *tally_of(const struct gp_launch *call)
{
    struct key key = {.function = call->function, .configuration = call->configuration};
    if (gp_cuda.cuCtxGetCurrent(&key.context) != CUDA_SUCCESS)
        key.context = NULL;
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

static void suggest_fewer(uint64_t taken)
{
    static struct gp_say_limit once;
    if (rule.first || rule.every || taken == 0 || taken % MANY_ALIKE != 0)
        return;
    double seconds = gp_added_seconds();
    if (seconds > fmin(LONG_RUN, LONG_TIMES * gp_wait_first_limit()))
        gp_say_limited(&once, 1,
                       "measuring has added %.3g s so far, and one kernel was measured %" PRIu64
                       " times; GPUPROF_SAMPLE=auto (--sample) measures ever fewer launches "
                       "of each kernel",
                       seconds, taken);
}

bool gp_sampling_takes(const struct gp_launch *call, uint64_t *turn)
{
    struct gp_tally *tally = tally_of(call);
    uint64_t before = atomic_fetch_add(&tally->launches, 1);
    if (!gp_sample_takes(&rule, before))
        return false;
    uint64_t taken = atomic_fetch_add(&tally->taken, 1);
    suggest_fewer(taken);
    if (turn)
        *turn = taken;
    return true;
}

void gp_sampling_passed_over(const struct gp_launch *call, enum gp_passed_over why)
{
    atomic_fetch_add(&tally_of(call)->passed_over[why], 1);
}

void sampling_forget(void)
{
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
