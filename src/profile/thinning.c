#include "profile/thinning.h"

#include "base/hash.h"
#include "profile/kinds.h"

#include <stdlib.h>
#include <string.h>

/* The most of 64 bits by which a launch is kept: one of 2^40 launches, and some further ones. */
#define MOST_HALVINGS 40

/* The key by which launches of one kernel are alike. No padding: it is hashed bytewise. */
struct shape {
    int device;
    struct gp_configuration configuration;
};

struct thinned {
    struct gp_sum sum;
    uint64_t lines;    /* in the file */
    unsigned halvings; /* one of 2^halvings launches keeps its line */
    UT_hash_handle hh;
    char *key; /* behind the struct: the shape, then the kernel's name with its NUL */
};

struct gp_thinning {
    struct thinned *all;
    struct thinned others; /* launches of configurations beyond GP_MOST_SUMS */
    uint64_t left_out;
    char *key; /* scratch */
    size_t room;
};

struct gp_thinning *gp_thinning_new(void)
{
    return calloc(1, sizeof(struct gp_thinning));
}

void gp_thinning_free(struct gp_thinning *t)
{
    struct thinned *one, *next;
    if (!t)
        return;
    HASH_ITER(hh, t->all, one, next)
    {
        HASH_DEL(t->all, one);
        free(one);
    }
    free(t->key);
    free(t);
}

/* ---- configurations -------------------------------------------------------------------------- */

/* The length of the key in t->key; 0 when out of memory. */
static size_t make_key(struct gp_thinning *t, const char *kernel, int device,
                       const struct gp_configuration *configuration)
{
    const struct shape shape = {.device = device, .configuration = *configuration};
    const size_t name = strlen(kernel) + 1, length = sizeof(shape) + name;
    if (length > t->room) {
        char *more = realloc(t->key, length);
        if (!more)
            return 0;
        t->key = more;
        t->room = length;
    }
    memcpy(t->key, &shape, sizeof(shape));
    memcpy(t->key + sizeof(shape), kernel, name);
    return length;
}

static struct thinned *add(struct gp_thinning *t, size_t length, int device,
                           const struct gp_configuration *configuration)
{
    struct thinned *one =
        HASH_COUNT(t->all) < GP_MOST_SUMS ? calloc(1, sizeof(*one) + length) : NULL;
    if (!one)
        return NULL;
    one->key = memcpy(one + 1, t->key, length);
    one->sum.kernel = one->key + sizeof(struct shape);
    one->sum.device = device;
    one->sum.configuration = *configuration;
    HASH_ADD_KEYPTR(hh, t->all, one->key, length, one);
    if (one->hh.tbl)
        return one;
    free(one);
    return NULL;
}

static struct thinned *find(struct gp_thinning *t, const char *kernel, int device,
                            const struct gp_configuration *configuration)
{
    const size_t length = make_key(t, kernel, device, configuration);
    struct thinned *one = NULL;
    if (length > 0)
        HASH_FIND(hh, t->all, t->key, length, one);
    if (!one && length > 0)
        one = add(t, length, device, configuration);
    return one ? one : &t->others;
}

static struct thinned *of_launch(struct gp_thinning *t, const struct gp_record *launch)
{
    return find(t, launch->kernel, launch->device, &launch->configuration);
}

struct gp_thinning *gp_thinning_again(const struct gp_thinning *t)
{
    struct gp_thinning *again = gp_thinning_new();
    if (!again)
        return NULL;
    again->others.halvings = t->others.halvings;
    for (const struct thinned *one = t->all; one; one = one->hh.next) {
        struct thinned *same =
            find(again, one->sum.kernel, one->sum.device, &one->sum.configuration);
        if (same == &again->others) {
            gp_thinning_free(again);
            return NULL;
        }
        same->halvings = one->halvings;
    }
    return again;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Multiples of the golden ratio lie evenly between 0 and 1, and so do those below a limit: one of
 * 2^halvings. */
static bool is_kept(uint64_t index, unsigned halvings)
{
    return halvings == 0 || gp_mix(0, index) >> (64 - halvings) == 0;
}

bool gp_thinning_keeps(struct gp_thinning *t, const struct gp_record *launch, unsigned further)
{
    const struct thinned *one = of_launch(t, launch);
    const unsigned halvings = one->halvings > 0 ? one->halvings + further : 0;
    return launch->diagnosed || (one->lines == 0 && one != &t->others) ||
           is_kept(launch->index, halvings);
}

void gp_thinning_line(struct gp_thinning *t, const struct gp_record *launch)
{
    of_launch(t, launch)->lines++;
}

static uint64_t lines_with_most(const struct gp_thinning *t, uint64_t most)
{
    uint64_t lines = t->others.lines < most ? t->others.lines : most;
    for (const struct thinned *one = t->all; one; one = one->hh.next)
        lines += one->lines < most ? one->lines : most;
    return lines;
}

static uint64_t count_lines(const struct gp_thinning *t)
{
    return lines_with_most(t, UINT64_MAX);
}

/* Until it has about so many: to halve it once more might leave far fewer. */
static void halve(struct thinned *one, uint64_t most)
{
    for (uint64_t lines = one->lines; lines > most + most / 2 && one->halvings < MOST_HALVINGS;
         lines /= 2)
        one->halvings++;
}

void gp_thinning_halve(struct gp_thinning *t)
{
    const uint64_t half = count_lines(t) / 2;
    uint64_t fits = 1, too_many = half + 1;
    while (too_many - fits > 1) {
        const uint64_t most = fits + (too_many - fits) / 2;
        *(lines_with_most(t, most) <= half ? &fits : &too_many) = most;
    }
    halve(&t->others, fits);
    for (struct thinned *one = t->all; one; one = one->hh.next)
        halve(one, fits);
}

static uint64_t count_pending(const struct gp_thinning *t)
{
    uint64_t pending = t->others.sum.left_out;
    for (const struct thinned *one = t->all; one; one = one->hh.next)
        pending += one->sum.left_out;
    return pending;
}

void gp_thinning_take_lines(struct gp_thinning *t, const struct gp_thinning *again)
{
    t->left_out = again->left_out + count_pending(t);
    t->others.lines = again->others.lines;
    for (const struct thinned *one = again->all; one; one = one->hh.next)
        find(t, one->sum.kernel, one->sum.device, &one->sum.configuration)->lines = one->lines;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void add_times(struct gp_sum *to, const struct gp_sum *from)
{
    if (from->timed == 0)
        return;
    if (to->timed == 0 || from->shortest_ns < to->shortest_ns)
        to->shortest_ns = from->shortest_ns;
    if (to->timed == 0 || from->longest_ns > to->longest_ns)
        to->longest_ns = from->longest_ns;
    to->timed += from->timed;
    to->time_ns += from->time_ns;
}

static void add_sum(struct gp_sum *to, const struct gp_sum *from)
{
    to->launched += from->launched;
    to->left_out += from->left_out;
    to->measured += from->measured;
    to->hardware += from->hardware;
    to->instrumented += from->instrumented;
    to->recalled += from->recalled;
    to->recalled_all += from->recalled_all;
    to->of_graphs += from->of_graphs;
    to->replays += from->replays;
    to->overhead_ms += from->overhead_ms;
    add_times(to, from);
}

void gp_thinning_sum(struct gp_thinning *t, const struct gp_sum *sum)
{
    t->left_out += sum->left_out;
    add_sum(&find(t, sum->kernel, sum->device, &sum->configuration)->sum, sum);
}

void gp_thinning_leave_out(struct gp_thinning *t, const struct gp_record *launch)
{
    const struct gp_kinds kinds = gp_launch_kinds(launch);
    const double time = gp_launch_time_ns(launch);
    const struct gp_sum one = {.kernel = launch->kernel,
                               .device = launch->device,
                               .configuration = launch->configuration,
                               .left_out = 1,
                               .measured = kinds.measured,
                               .hardware = kinds.hardware,
                               .instrumented = kinds.instrumented,
                               .recalled = kinds.recalled,
                               .recalled_all = kinds.recalled_all,
                               .of_graphs = launch->graph != 0,
                               .replays = launch->passes > 1 ? launch->passes - 1 : 0,
                               .overhead_ms = launch->overhead_ms,
                               .timed = time > 0,
                               .time_ns = time,
                               .shortest_ns = time,
                               .longest_ns = time};
    gp_thinning_sum(t, &one);
}

static void take_sum(struct thinned *one, void (*take)(void *user, const struct gp_sum *sum),
                     void *user)
{
    const struct gp_sum sum = one->sum;
    if (sum.launched == 0 && sum.left_out == 0)
        return;
    one->sum = (struct gp_sum){
        .kernel = sum.kernel, .device = sum.device, .configuration = sum.configuration};
    take(user, &sum);
}

void gp_thinning_take(struct gp_thinning *t, void (*take)(void *user, const struct gp_sum *sum),
                      void *user)
{
    for (struct thinned *one = t->all; one; one = one->hh.next)
        take_sum(one, take, user);
}

uint64_t gp_thinning_left_out(const struct gp_thinning *t)
{
    return t->left_out;
}
