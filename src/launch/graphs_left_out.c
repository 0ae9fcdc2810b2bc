/* Graphs of which no kernel need be asked for, under a limit, at their next launches: these are
 * counted as one, and the counts of their kernels follow before these are read. To ask for each of
 * some hundred kernels takes 50 us, a twentieth of the time of such a graph. */
#include "launch/inside.h"
#include "launch/selection.h"

#include "gate/captures.h"
#include "memory/divided.h"

#include <pthread.h>
#include <stdlib.h>
#include <utlist.h>

/* A kernel that was left out is asked for again behind a part of its launches so far, as one that
 * is launched by itself (launch/worth.c); and behind so many launches of the graph. */
#define MOST_PASSING 255

struct group {
    struct gp_tally *tally;
    unsigned kernels; /* of the graph */
};

struct gp_left_out_graph {
    struct group *groups;
    unsigned count;
    unsigned left;    /* launches of the graph */
    unsigned put_off; /* launches behind those, as the GPU was at work */
    unsigned most_put_off;
    uint64_t passed;         /* that its kernels' counts have not yet */
    uint64_t passed_by_rule; /* nor the rule */
    uint64_t asked;          /* sampling_times_asked, as it was */
    struct gp_left_out_graph *prev, *next;
};

/* Nothing else is locked meanwhile. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gp_left_out_graph *graphs;

struct gp_left_out_graph *gp_left_out_graph_make(void)
{
    struct gp_left_out_graph *g = limit_is_set() ? calloc(1, sizeof(*g)) : NULL;
    if (!g)
        return NULL;
    pthread_mutex_lock(&lock);
    DL_APPEND(graphs, g);
    pthread_mutex_unlock(&lock);
    return g;
}

/* Locked. */
static void count(struct gp_left_out_graph *g)
{
    for (unsigned i = 0; g->passed > 0 && i < g->count; i++) {
        const uint64_t launches = g->passed * g->groups[i].kernels;
        struct gp_tally *t = g->groups[i].tally;
        tally_launched(t, atomic_fetch_add(&t->launches, launches));
        atomic_fetch_add(&t->passed_over[GP_LEFT_OUT], launches);
    }
    g->passed = 0;
}

void left_out_graphs_count(void)
{
    struct gp_left_out_graph *g;
    pthread_mutex_lock(&lock);
    DL_FOREACH(graphs, g)
    {
        count(g);
    }
    pthread_mutex_unlock(&lock);
}

/* The rule that spends the limit learns of them, too. */
static void settle(struct gp_left_out_graph *g)
{
    pthread_mutex_lock(&lock);
    count(g);
    const uint64_t passed = g->passed_by_rule;
    g->passed_by_rule = 0;
    g->left = 0;
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < g->count && passed > 0; i++)
        within_limit_skipped(g->groups[i].tally, passed * g->groups[i].kernels);
}

static void forget(struct gp_left_out_graph *g)
{
    settle(g);
    pthread_mutex_lock(&lock);
    struct group *groups = g->groups;
    g->groups = NULL;
    g->count = 0;
    pthread_mutex_unlock(&lock);
    free(groups);
}

void gp_left_out_graph_changes(struct gp_left_out_graph *g)
{
    if (g)
        forget(g);
}

void gp_left_out_graph_free(struct gp_left_out_graph *g)
{
    if (!g)
        return;
    forget(g);
    pthread_mutex_lock(&lock);
    DL_DELETE(graphs, g);
    pthread_mutex_unlock(&lock);
    free(g);
}

/* To launch it by nodes is to wait for the GPU: where that is at work another launch may find it at
 * rest. */
static bool is_put_off(struct gp_left_out_graph *g)
{
    return g->left == 0 && g->put_off < g->most_put_off && within_limit_graph_waits();
}

bool gp_left_out_graph_passes(struct gp_left_out_graph *g)
{
    if (!g || !g->count)
        return false;
    const bool may_pass = g->asked == sampling_times_asked() && gp_captures() == 0 &&
                          !(gp_any_held() && gp_divided_any());
    const bool put_off = may_pass && is_put_off(g);
    if (!may_pass || (g->left == 0 && !put_off)) {
        forget(g);
        return false;
    }
    pthread_mutex_lock(&lock);
    g->left -= !put_off;
    g->put_off += put_off;
    g->passed++;
    g->passed_by_rule++;
    pthread_mutex_unlock(&lock);
    return true;
}

static int by_tally(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return (x->tally > y->tally) - (x->tally < y->tally);
}

/* One group for all kernels of it. */
static void join(struct gp_left_out_graph *g)
{
    unsigned count = 0;
    qsort(g->groups, g->count, sizeof(*g->groups), by_tally);
    for (unsigned i = 0; i < g->count; i++) {
        const struct group *of = &g->groups[i];
        if (count > 0 && g->groups[count - 1].tally == of->tally)
            g->groups[count - 1].kernels++;
        else
            g->groups[count++] = *of;
    }
    g->count = count;
}

static unsigned launches_left(const struct gp_left_out_graph *g)
{
    uint64_t left = g->count > 0 ? MOST_PASSING : 0;
    for (unsigned i = 0; i < g->count; i++) {
        const struct group *of = &g->groups[i];
        const uint64_t launches =
            atomic_load(&of->tally->launches) / of->kernels / within_limit_skip_part(of->tally);
        left = launches < left ? launches : left;
    }
    return (unsigned)left;
}

void gp_left_out_graph_learn(struct gp_left_out_graph *g, const struct gp_launch *kernels,
                             unsigned count)
{
    if (!g || selection_counts())
        return;
    struct group *groups = calloc(count + 1, sizeof(*groups));
    for (unsigned i = 0; groups && i < count; i++)
        groups[i] = (struct group){.tally = sampling_tally_of(&kernels[i]), .kernels = 1};
    if (!groups)
        return;
    forget(g);
    pthread_mutex_lock(&lock);
    g->groups = groups;
    g->count = count;
    join(g);
    pthread_mutex_unlock(&lock);
    g->left = g->most_put_off = launches_left(g);
    g->put_off = 0;
    g->asked = sampling_times_asked();
    if (g->left == 0)
        forget(g);
}
