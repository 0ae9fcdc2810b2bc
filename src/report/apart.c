#include "report/apart.h"

#include "base/demangle.h"
#include "report/origin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer losers are a comparison, or chance. */
#define LEAST_LOSERS 3
/* Readings (struct gp_count) within one try, and from one try to the next. */
#define MOST_READINGS 8
/* The winner comes back so often. */
#define LEAST_RETURNS 3
/* Operations, or bytes where there are none. */
#define SAME_WORK 0.01
/* The winner was the fastest, but for chance; later launches of it are among its times. */
#define ABOUT_AS_FAST 1.1

/* Operations of a launch, and behind them the bytes that it asks for. */
static const char *const operations[] = {"flop_count_sp", "flop_count_dp", "half_operations",
                                         "flop_count_tensor"};

/* A group whose launches may be tries of an operation, or uses of the one that won. */
struct tried {
    const struct gp_group *group;
    size_t index;
    bool compiled; /* any names: kernels of libraries and compilers have one for each variant */
    char *name;    /* the symbol without digits: of one source, where template arguments differ */
    double flop, bytes, seconds; /* of a launch; bytes: NAN where they were not counted */
};

/* The launches of one device, in the order of their first readings. */
struct trying {
    const struct gp_summary *summary;
    const struct gp_group *const *groups;
    size_t group_count;
    bool *apart;
    struct tried *list;
    size_t count;
};

bool gp_is_of_xla_tuner(const char *kernel)
{
    return strstr(kernel, "RedzoneAllocatorKernel") || strstr(kernel, "xla_fp_comparison") ||
           (strstr(kernel, "stream_executor") && strstr(kernel, "DelayKernel"));
}

/* ---- facts of a group ---------------------------------------------------------------- */

static double mean_of(const struct gp_summary *s, const struct gp_group *g, const char *metric)
{
    const struct gp_metrics *m = gp_summary_metrics(s);
    double mean;
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++)
        if (strcmp(gp_metrics_selected(m, i)->name, metric) == 0)
            return gp_stat_mean(&g->stats[i], &mean) ? mean : (double)NAN;
    return (double)NAN;
}

static bool comes_compiled(const struct gp_group *g)
{
    char *name = gp_demangle(g->launch.kernel, GP_NAME_FULL);
    const enum gp_origin origin =
        gp_origin_of(g->launch.kernel, name ? name : g->launch.kernel, NULL);
    free(name);
    return origin == GP_OF_LIBRARIES || origin == GP_OF_XLA || origin == GP_OF_TRITON;
}

/* NULL when out of memory. */
static char *without_digits(const char *name)
{
    char *copy = strdup(name), *to = copy;
    for (const char *from = name; copy && *from; from++)
        if (*from < '0' || *from > '9')
            *to++ = *from;
    if (copy)
        *to = '\0';
    return copy;
}

/* True where the work and the time are known, by which it is compared. */
static bool is_comparable(const struct trying *t, struct tried *tried)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        const double flop = mean_of(t->summary, tried->group, operations[i]);
        tried->flop += isnan(flop) ? 0 : flop;
    }
    tried->bytes = mean_of(t->summary, tried->group, "requested_bytes");
    tried->seconds = mean_of(t->summary, tried->group, GP_DURATION_METRIC);
    return tried->seconds > 0 && (tried->flop > 0 || tried->bytes > 0);
}

static int by_reading(const void *x, const void *y)
{
    const struct tried *a = x, *b = y;
    if (a->group->first_reading != b->group->first_reading)
        return a->group->first_reading < b->group->first_reading ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* False when out of memory. */
static bool list_tried(struct trying *t)
{
    for (size_t i = 0; i < t->group_count; i++) {
        struct tried tried = {.group = t->groups[i], .index = i};
        if (!tried.group->processes || t->apart[i] || !is_comparable(t, &tried))
            continue;
        tried.compiled = comes_compiled(tried.group);
        tried.name = without_digits(tried.group->launch.kernel);
        if (!tried.name)
            return false;
        t->list[t->count++] = tried;
    }
    qsort(t->list, t->count, sizeof(*t->list), by_reading);
    return true;
}

/* ---- one operation --------------------------------------------------------------------------- */

static bool is_near(double a, double b)
{
    return fabs(a - b) <= SAME_WORK * fmax(a, b);
}

static bool is_beside(const struct gp_group *a, const struct gp_group *b)
{
    return a->launch.device == b->launch.device && a->processes == b->processes;
}

/* Kernels of one source do the same work with as many operations, or without any by as many bytes.
 * Of others as many operations are needed, and a compiler or a library that has made both. */
static bool is_same_operation(const struct tried *a, const struct tried *b)
{
    if (!is_beside(a->group, b->group))
        return false;
    if (a->flop > 0 || b->flop > 0)
        return is_near(a->flop, b->flop) &&
               ((a->compiled && b->compiled) || strcmp(a->name, b->name) == 0);
    return is_near(a->bytes, b->bytes) && strcmp(a->name, b->name) == 0;
}

/* ---- contests -------------------------------------------------------------------------------- */

/* Losers in their order, by their indices in the list, and the readings that they cover. */
struct contest {
    size_t *losers, count;
    uint64_t first, last;
};

static uint64_t readings_of(const struct gp_group *g)
{
    return g->last_reading - g->first_reading;
}

/* A group that was launched for a while only, and not any more when the winner still was. */
static bool may_have_lost(const struct tried *winner, const struct tried *t)
{
    return t != winner && readings_of(t->group) <= MOST_READINGS &&
           t->group->last_reading < winner->group->last_reading && is_same_operation(winner, t);
}

/* The times that the winner was launched behind the tries, at least. */
static double returns_of(const struct gp_group *winner, const struct contest *c)
{
    return (double)(winner->last_reading - c->last - 1) + (double)winner->behind_reading;
}

/* A person goes on with the kernel at hand, a tuner with the fastest. That of a framework decides
 * by times that measuring may have disturbed: kernels that were compiled for it need not be. */
static bool is_fastest(const struct trying *t, const struct tried *winner, const struct contest *c)
{
    for (size_t i = 0; i < c->count && !winner->compiled; i++)
        if (winner->seconds > ABOUT_AS_FAST * t->list[c->losers[i]].seconds)
            return false;
    return true;
}

/* The winner was a try among these: behind it one lost. */
static bool is_contest(const struct trying *t, const struct tried *winner, const struct contest *c)
{
    if (c->count < LEAST_LOSERS)
        return false;
    const struct gp_group *last = t->list[c->losers[c->count - 1]].group, *w = winner->group;
    return w->first_reading < last->first_reading && w->first_reading + MOST_READINGS >= c->first &&
           returns_of(w, c) >= LEAST_RETURNS && is_fastest(t, winner, c);
}

/* A kernel that was launched in the contest alone: one that ran beside half of the tries, as one
 * that empties caches or compares results, or another one of a library. Launches before the first
 * reading may be those of the program's own setup. */
static bool accompanies(const struct gp_group *g, const struct contest *c)
{
    if (g->last_reading > c->last || g->first_reading < c->first)
        return false;
    if (2 * readings_of(g) >= c->last - c->first)
        return true;
    return g->first_reading > c->first && comes_compiled(g);
}

static void keep_apart(struct trying *t, const struct tried *winner, struct contest *c)
{
    const size_t index = winner->index;
    if (winner->group->first_reading < c->first)
        c->first = winner->group->first_reading;
    for (size_t i = 0; i < c->count; i++)
        t->apart[t->list[c->losers[i]].index] = true;
    for (size_t i = 0; i < t->group_count; i++)
        if (i != index && t->groups[i]->processes && is_beside(t->groups[i], winner->group) &&
            accompanies(t->groups[i], c))
            t->apart[i] = true;
}

/* Adds a loser, or ends the contest where it lies too far behind. One that was launched before the
 * try in front of it had been timed is none. */
static void go_on(struct trying *t, const struct tried *winner, struct contest *c, size_t at)
{
    const struct gp_group *g = t->list[at].group;
    if (c->count > 0 && g->first_reading > c->last + MOST_READINGS) {
        if (is_contest(t, winner, c))
            keep_apart(t, winner, c);
        c->count = 0;
    }
    if (c->count > 0 && g->first_reading <= c->last)
        return;
    if (c->count == 0)
        c->first = g->first_reading;
    c->losers[c->count++] = at;
    c->last = g->last_reading;
}

static void judge(struct trying *t, const struct tried *winner, struct contest *c)
{
    c->count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (!t->apart[t->list[i].index] && may_have_lost(winner, &t->list[i]))
            go_on(t, winner, c, i);
    if (is_contest(t, winner, c))
        keep_apart(t, winner, c);
}

/* A report without a kernel would say nothing. */
static void keep_some(bool *apart, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        kept += apart[i];
    if (kept == count)
        memset(apart, 0, count * sizeof(*apart));
}

bool gp_apart_find(const struct gp_summary *s, const struct gp_group *const *groups, size_t count,
                   bool *apart)
{
    struct trying t = {.summary = s, .groups = groups, .group_count = count, .apart = apart};
    struct contest c = {.losers = calloc(count + 1, sizeof(*c.losers))};
    t.list = calloc(count + 1, sizeof(*t.list));
    for (size_t i = 0; i < count; i++)
        apart[i] = gp_is_of_xla_tuner(groups[i]->launch.kernel);
    const bool listed = t.list && c.losers && list_tried(&t);
    for (size_t i = 0; listed && i < t.count; i++)
        if (!apart[t.list[i].index])
            judge(&t, &t.list[i], &c);
    keep_some(apart, count);
    for (size_t i = 0; t.list && i < t.count; i++)
        free(t.list[i].name);
    free(t.list);
    free(c.losers);
    return listed;
}
