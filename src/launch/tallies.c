/* How often each kernel was launched in each configuration. Owns the counts, which are by the
 * kernel's name and last as long as the process: functions come and go. From any thread. */
#include "launch/inside.h"

#include "base/hash.h"
#include "base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The key by which launches of one kernel are compared. No padding: it is compared bytewise. */
struct key {
    int device;
    struct gp_configuration configuration;
};

struct hashed_tally {
    struct gp_tally tally; /* first: a struct gp_tally * is a struct hashed_tally * */
    struct key key;
    bool diagnosed;
    UT_hash_handle hh;
};

/* Launches that differ in their grid alone make one row of a report, and stand for each other. */
struct hashed_row {
    struct gp_relatives relatives;
    struct key key; /* without a grid */
    UT_hash_handle hh;
};

struct named_kernel {
    struct hashed_tally *tallies;
    struct hashed_row *rows;
    bool noted[GP_KERNEL_NOTES];
    struct gp_kernel_worth worth;
    UT_hash_handle hh;
    char name[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct named_kernel *kernels;
static unsigned count;
static struct gp_tally rest; /* those without a tally of their own */
/* Nothing is ever taken out, so that the list may be walked while others add to it. */
static struct gp_tally *_Atomic first;
static struct gp_tally *last;
/* The program's readings (struct gp_count), and whether it has launched since the last one. */
static atomic_ulong readings;
static atomic_bool launched;

void gp_time_was_read(void)
{
    if (atomic_exchange(&launched, false))
        atomic_fetch_add(&readings, 1);
}

void tally_launched(struct gp_tally *t, uint64_t before)
{
    const unsigned long now = atomic_load_explicit(&readings, memory_order_relaxed);
    if (!atomic_load_explicit(&launched, memory_order_relaxed))
        atomic_store_explicit(&launched, true, memory_order_relaxed);
    if (atomic_load_explicit(&t->last_reading, memory_order_relaxed) == now)
        return;
    atomic_store_explicit(&t->before_reading, before, memory_order_relaxed);
    atomic_store_explicit(&t->last_reading, now, memory_order_relaxed);
}

/* Locked. NULL where it has no tally. */
static struct named_kernel *known_kernel(const char *name)
{
    struct named_kernel *kernel = NULL;
    HASH_FIND(hh, kernels, name, strlen(name), kernel);
    return kernel;
}

/* Locked. NULL when out of memory. */
static struct named_kernel *find_kernel(const char *name)
{
    const size_t length = strlen(name);
    struct named_kernel *k = known_kernel(name);
    if (k)
        return k;
    k = calloc(1, sizeof(*k) + length + 1);
    if (!k)
        return NULL;
    memcpy(k->name, name, length);
    HASH_ADD_KEYPTR(hh, kernels, k->name, length, k);
    if (k->hh.tbl)
        return k;
    free(k);
    return NULL;
}

static void append(struct gp_tally *tally)
{
    atomic_store(last ? &last->next : &first, tally);
    last = tally;
}

/* Locked. NULL when out of memory. */
static struct gp_relatives *relatives_of(struct named_kernel *kernel, const struct key *key)
{
    const struct key of_row = {.device = key->device,
                               .configuration = gp_configuration_of_row(&key->configuration)};
    struct hashed_row *row = NULL;
    HASH_FIND(hh, kernel->rows, &of_row, sizeof(of_row), row);
    if (row)
        return &row->relatives;
    row = calloc(1, sizeof(*row));
    if (!row)
        return NULL;
    row->key = of_row;
    HASH_ADD(hh, kernel->rows, key, sizeof(row->key), row);
    if (row->hh.tbl)
        return &row->relatives;
    free(row);
    return NULL;
}

/* Locked. NULL when out of memory. */
static struct gp_tally *make(struct named_kernel *kernel, const struct key *key)
{
    struct hashed_tally *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    t->key = *key;
    HASH_ADD(hh, kernel->tallies, key, sizeof(t->key), t);
    if (!t->hh.tbl) {
        free(t);
        return NULL;
    }
    struct gp_count *what = &t->tally.what;
    t->tally.kernel = &kernel->worth;
    t->tally.worth.relatives = relatives_of(kernel, key);
    t->tally.worth.size_class = worth_size_class(gp_blocks_of(key->configuration.grid));
    what->kernel = kernel->name;
    what->device = key->device;
    what->configuration = key->configuration;
    what->first_reading = atomic_load(&readings);
    atomic_init(&t->tally.last_reading, what->first_reading);
    append(&t->tally);
    count++;
    return &t->tally;
}

/* Locked. */
static struct gp_tally *find(const char *name, const struct key *key)
{
    static struct gp_say_limit once;
    struct named_kernel *kernel = known_kernel(name);
    struct hashed_tally *t = NULL;
    if (kernel)
        HASH_FIND(hh, kernel->tallies, key, sizeof(*key), t);
    if (t)
        return &t->tally;
    if (count >= GP_MAX_TALLIES) {
        gp_say_limited(&once, 1,
                       "more than %d kernels and launch configurations: the others are sampled as "
                       "if they were one, and not counted",
                       GP_MAX_TALLIES);
        return NULL;
    }
    kernel = find_kernel(name);
    return kernel ? make(kernel, key) : NULL;
}

struct gp_tally *tally_of_kernel(const char *kernel, int device,
                                 const struct gp_configuration *configuration)
{
    const struct key key = {.device = device, .configuration = *configuration};
    pthread_mutex_lock(&lock);
    struct gp_tally *tally = find(kernel, &key);
    pthread_mutex_unlock(&lock);
    return tally ? tally : &rest;
}

static const enum gp_cause causes[GP_PASSED_OVER_KINDS] = {
    [GP_BESIDE_CAPTURE] = GP_CAUSE_IN_CAPTURE,   [GP_CALL_UNDER_WAY] = GP_CAUSE_CALL_UNDER_WAY,
    [GP_BESIDE_WORK] = GP_CAUSE_BESIDE_WORK,     [GP_OUT_OF_TIME] = GP_CAUSE_NO_TIME_LEFT,
    [GP_WAITS] = GP_CAUSE_DOES_NOT_END,          [GP_COMMUNICATING] = GP_CAUSE_COMMUNICATES,
    [GP_OTHER_CONTEXT] = GP_CAUSE_OTHER_CONTEXT, [GP_BESIDE_OTHERS] = GP_CAUSE_COUNTERS_AWAY,
    [GP_FAILED] = GP_CAUSE_LAUNCH_FAILED,        [GP_AS_A_WHOLE] = GP_CAUSE_GRAPH_AS_A_WHOLE,
    [GP_AFTER_END] = GP_CAUSE_MEASURING_ENDED,   [GP_TIMED_AS_A_WHOLE] = GP_CAUSE_GRAPH_AS_A_WHOLE,
    [GP_LEFT_OUT] = GP_CAUSE_ADDED_LIMIT,
};

void tallies_visit(void (*visit)(void *user, const struct gp_count *count), void *user)
{
    left_out_graphs_count();
    for (struct gp_tally *t = atomic_load(&first); t; t = atomic_load(&t->next)) {
        struct gp_count counted = t->what;
        counted.launches = atomic_load(&t->launches);
        counted.last_reading = atomic_load(&t->last_reading);
        counted.behind_reading = counted.launches - atomic_load(&t->before_reading);
        visit(user, &counted);
        for (int why = 0; why < GP_PASSED_OVER_KINDS; why++) {
            counted.launches = atomic_load(&t->passed_over[why]);
            counted.reason =
                why == GP_TIMED_AS_A_WHOLE ? GP_WHOLE_GRAPH : gp_reason_of(causes[why]);
            if (counted.launches > 0)
                visit(user, &counted);
        }
    }
}

void tallies_visit_new(void (*visit)(void *user, const struct gp_count *count), void *user)
{
    left_out_graphs_count();
    for (struct gp_tally *t = atomic_load(&first); t; t = atomic_load(&t->next)) {
        struct gp_count more = t->what;
        const uint64_t launches = atomic_load(&t->launches);
        more.launches = launches - t->noted;
        t->noted = launches;
        if (more.launches > 0)
            visit(user, &more);
    }
}

unsigned tallies_kernels(void)
{
    pthread_mutex_lock(&lock);
    const unsigned known = HASH_COUNT(kernels);
    pthread_mutex_unlock(&lock);
    return known;
}

void tally_kernel_note(const char *name, enum gp_kernel_note note)
{
    pthread_mutex_lock(&lock);
    struct named_kernel *kernel = known_kernel(name);
    if (kernel)
        kernel->noted[note] = true;
    pthread_mutex_unlock(&lock);
}

bool tally_kernel_is(const char *name, enum gp_kernel_note note)
{
    pthread_mutex_lock(&lock);
    const struct named_kernel *kernel = known_kernel(name);
    const bool noted = !kernel || kernel->noted[note];
    pthread_mutex_unlock(&lock);
    return noted;
}

/* Locked. NULL where it has no tally. */
static struct hashed_tally *known_tally(const char *name, int device,
                                        const struct gp_configuration *configuration)
{
    const struct key key = {.device = device, .configuration = *configuration};
    const struct named_kernel *kernel = known_kernel(name);
    struct hashed_tally *tally = NULL;
    if (kernel)
        HASH_FIND(hh, kernel->tallies, &key, sizeof(key), tally);
    return tally;
}

void tally_note_diagnosed(const char *name, int device,
                          const struct gp_configuration *configuration)
{
    pthread_mutex_lock(&lock);
    struct hashed_tally *tally = known_tally(name, device, configuration);
    if (tally)
        tally->diagnosed = true;
    pthread_mutex_unlock(&lock);
}

bool tally_is_diagnosed(const char *name, int device, const struct gp_configuration *configuration)
{
    pthread_mutex_lock(&lock);
    const struct hashed_tally *tally = known_tally(name, device, configuration);
    const bool diagnosed = !tally || tally->diagnosed;
    pthread_mutex_unlock(&lock);
    return diagnosed;
}

uint64_t tallies_launches(void)
{
    uint64_t launches = 0;
    left_out_graphs_count();
    for (struct gp_tally *t = atomic_load(&first); t; t = atomic_load(&t->next))
        launches += atomic_load_explicit(&t->launches, memory_order_relaxed);
    return launches;
}
