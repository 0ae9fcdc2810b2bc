/* graph/order: a node waits for the nodes that it depends on, in every graph. */
#include "graph/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 24

struct graph {
    unsigned count;
    bool waits[MOST];
    struct gp_graph_edge edges[MOST * MOST];
    size_t edge_count;
};

static void edge(struct graph *g, unsigned from, unsigned to)
{
    g->edges[g->edge_count++] = (struct gp_graph_edge){from, to};
}

enum outcome { ORDERED, TOO_WIDE, FAILED };

static enum outcome order_of(const struct graph *g, struct gp_graph_order *o)
{
    if (!graph_order_find(g->count, g->edges, g->edge_count, o))
        return FAILED;
    if (graph_order_spread(o, g->waits))
        return ORDERED;
    graph_order_free(o);
    return TOO_WIDE;
}

/* Bits of the nodes that may wait on which each depends, itself included. */
static void depends(const struct graph *g, const struct gp_graph_order *o, uint32_t *kernels)
{
    for (unsigned i = 0; i < o->count; i++) {
        unsigned n = o->sequence[i];
        kernels[n] = g->waits[n] ? 1u << n : 0;
        for (size_t e = 0; e < g->edge_count; e++)
            if (g->edges[e].to == n)
                kernels[n] |= kernels[g->edges[e].from];
    }
}

/* Launched in that order into those streams no node waits for a kernel that it does not depend on,
 * and every one waits for all it depends on. */
static void check(const struct graph *g, const struct gp_graph_order *o)
{
    uint32_t true_ones[MOST] = {0}, waited[MOST] = {0}, stream[GP_MOST_BRANCHES] = {0};
    uint32_t nodes[MOST] = {0}, tail[GP_MOST_BRANCHES] = {0}, launched = 0;
    assert_int_equal(o->count, g->count);
    assert_in_range(o->branches, 1, GP_MOST_BRANCHES);
    depends(g, o, true_ones);
    for (unsigned i = 0; i < o->count; i++) {
        unsigned n = o->sequence[i], b = o->branch[n];
        assert_true(b < o->branches);
        nodes[n] = tail[b];
        waited[n] = stream[b];
        for (unsigned d = o->first[n]; d < o->first[n + 1]; d++) {
            unsigned on = o->dependencies[d];
            assert_true(launched & 1u << on);
            if (o->branch[on] != b) {
                assert_true(o->awaited[on]);
                nodes[n] |= nodes[on];
                waited[n] |= waited[on];
            }
        }
        nodes[n] |= 1u << n;
        waited[n] |= g->waits[n] ? 1u << n : 0;
        for (size_t e = 0; e < g->edge_count; e++)
            if (g->edges[e].to == n)
                assert_true(nodes[n] & 1u << g->edges[e].from);
        assert_int_equal(waited[n], true_ones[n]);
        tail[b] = nodes[n];
        stream[b] = waited[n];
        launched |= 1u << n;
    }
}

static void a_line_needs_one_branch(void **state)
{
    struct graph g = {.count = MOST};
    struct gp_graph_order o;
    (void)state;
    for (unsigned n = 0; n < g.count; n++) {
        g.waits[n] = n % 3 != 1;
        if (n)
            edge(&g, n, n - 1);
    }
    assert_int_equal(order_of(&g, &o), ORDERED);
    assert_int_equal(o.branches, 1);
    assert_int_equal(o.sequence[0], g.count - 1);
    check(&g, &o);
    graph_order_free(&o);
}

static void forks_and_joins_use_the_same_branches_again(void **state)
{
    struct graph g = {.count = MOST};
    struct gp_graph_order o;
    (void)state;
    for (unsigned n = 0; n < g.count; n++)
        g.waits[n] = true;
    for (unsigned n = 0; n + 3 < g.count; n += 3) {
        edge(&g, n, n + 1);
        edge(&g, n, n + 2);
        edge(&g, n + 1, n + 3);
        edge(&g, n + 2, n + 3);
    }
    edge(&g, 21, 22);
    edge(&g, 21, 23);
    assert_int_equal(order_of(&g, &o), ORDERED);
    assert_int_equal(o.branches, 2);
    check(&g, &o);
    graph_order_free(&o);
}

static void copies_side_by_side_need_no_branches(void **state)
{
    struct graph g = {.count = 21};
    struct gp_graph_order o;
    (void)state;
    g.waits[10] = true;
    for (unsigned n = 0; n < 10; n++) {
        edge(&g, n, 10);
        edge(&g, 10, n + 11);
    }
    assert_int_equal(order_of(&g, &o), ORDERED);
    assert_int_equal(o.branches, 1);
    check(&g, &o);
    graph_order_free(&o);
}

static void too_many_that_may_wait_side_by_side(void **state)
{
    struct graph g = {.count = GP_MOST_BRANCHES};
    struct gp_graph_order o;
    (void)state;
    memset(g.waits, true, sizeof(g.waits));
    assert_int_equal(order_of(&g, &o), ORDERED);
    assert_int_equal(o.branches, GP_MOST_BRANCHES);
    graph_order_free(&o);
    g.count++;
    assert_int_equal(order_of(&g, &o), TOO_WIDE);
    assert_null(o.sequence);
}

/* Kernels that cannot wait, by their code, have room where others have not. */
static void an_order_that_is_too_wide_is_spread_anew(void **state)
{
    struct graph g = {.count = MOST};
    struct gp_graph_order o;
    (void)state;
    memset(g.waits, true, sizeof(g.waits));
    for (unsigned n = 2; n < g.count; n++)
        edge(&g, n % 2, n);
    assert_true(graph_order_find(g.count, g.edges, g.edge_count, &o));
    assert_false(graph_order_spread(&o, g.waits));
    memset(g.waits, false, sizeof(g.waits));
    g.waits[0] = g.waits[9] = g.waits[20] = true;
    assert_true(graph_order_spread(&o, g.waits));
    check(&g, &o);
    memset(g.waits, false, sizeof(g.waits));
    assert_true(graph_order_spread(&o, g.waits));
    assert_int_equal(o.branches, 1);
    check(&g, &o);
    graph_order_free(&o);
}

static void input_that_is_no_graph_is_refused(void **state)
{
    struct graph g = {.count = 3};
    struct gp_graph_order o;
    (void)state;
    edge(&g, 0, 1);
    edge(&g, 1, 2);
    edge(&g, 2, 1);
    assert_int_equal(order_of(&g, &o), FAILED);
    g.edges[2].to = 3;
    assert_int_equal(order_of(&g, &o), FAILED);
    g = (struct graph){.count = 0};
    assert_int_equal(order_of(&g, &o), ORDERED);
    graph_order_free(&o);
}

static void any_graph(void **state)
{
    unsigned found = 0;
    (void)state;
    srand(7);
    for (unsigned round = 0; round < 20000; round++) {
        struct graph g = {.count = 1 + (unsigned)rand() % MOST};
        unsigned one_in = 1 + (unsigned)rand() % 6, kernels = 1 + (unsigned)rand() % 3;
        struct gp_graph_order o;
        for (unsigned n = 0; n < g.count; n++) {
            g.waits[n] = (unsigned)rand() % 3 < kernels;
            for (unsigned m = 0; m < n; m++)
                if ((unsigned)rand() % one_in == 0)
                    edge(&g, m, n);
        }
        enum outcome result = order_of(&g, &o);
        assert_int_not_equal(result, FAILED);
        if (result == ORDERED) {
            found++;
            check(&g, &o);
            graph_order_free(&o);
        }
    }
    assert_true(found > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_needs_one_branch),
        cmocka_unit_test(forks_and_joins_use_the_same_branches_again),
        cmocka_unit_test(copies_side_by_side_need_no_branches),
        cmocka_unit_test(too_many_that_may_wait_side_by_side),
        cmocka_unit_test(an_order_that_is_too_wide_is_spread_anew),
        cmocka_unit_test(input_that_is_no_graph_is_refused),
        cmocka_unit_test(any_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
