/* launch/worth: the rule that spends a limit. Made-up programs, against the best choice with all of
 * a program known beforehand. */
#ifndef __clang__
#pragma GCC optimize("O2") /* ten thousand programs take a while */
#endif

#include "launch/inside.h"

#include "base/mix.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- chance, the same in each run ------------------------------------------------------------ */

static uint64_t seed;

static double uniform(void)
{
    seed = gp_mix(seed, 0x9e3779b97f4a7c15);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double between(double least, double most)
{
    return least + (most - least) * uniform();
}

/* Each power of ten is as likely. */
static double scale(double least, double most)
{
    return least * pow(most / least, uniform());
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* ---- made-up programs ------------------------------------------------------------------------ */

#define MOST_GROUPS 100
#define MOST_LAUNCHES 2000

struct made_up {
    unsigned groups, launches;
    double share, own; /* the limit; seconds of the program's own for each launch */
    double times;      /* the money that it takes to measure each kernel once */
    double launch_cost, timing_cost;
    struct {
        double seconds, scatter, first_cost, frequency;
        double from, to; /* the part of the program in which it is launched */
        unsigned launches;
    } of[MOST_GROUPS];
    unsigned order[MOST_LAUNCHES];
};

/* Programs of 1 to 100 groups and 500 to 2000 launches. A launch takes 3 us to 3 ms, and its time
 * is scattered by 2 %. A group comes as often as its frequency says, over three powers of ten; one
 * of ten comes late, one of ten is over early, one of twenty comes only in a tenth of the program.
 * Values of two groups of five never vary; others scatter by 0.3 to 100 %. To begin with a kernel
 * takes 2 to 200 ms, to measure a launch 0.3 to 5 ms. At the end of the program `least` to `most`
 * times the money is there that it takes to measure each kernel once. */
static void make_up(struct made_up *p, double least, double most)
{
    double sum = 0, begin = 0;
    p->groups = (unsigned)scale(1, MOST_GROUPS + 0.5);
    p->launches = (unsigned)scale(500, MOST_LAUNCHES);
    p->launch_cost = scale(3e-4, 5e-3);
    p->timing_cost = 15e-6;
    for (unsigned g = 0; g < p->groups; g++) {
        const double kind = uniform();
        p->of[g].seconds = scale(3e-6, 3e-3);
        p->of[g].scatter = uniform() < 0.4 ? 0 : scale(3e-3, 1);
        p->of[g].first_cost = scale(2e-3, 0.2);
        p->of[g].frequency = scale(1, 1000);
        p->of[g].from = kind < 0.1 ? uniform() : 0;
        p->of[g].to = kind >= 0.1 && kind < 0.2 ? uniform() : 1;
        if (kind >= 0.95) {
            p->of[g].from = between(0, 0.9);
            p->of[g].to = p->of[g].from + 0.1;
        }
        p->of[g].launches = 0;
    }
    p->of[0].from = 0; /* so that some kernel is launched at any time */
    p->of[0].to = 1;
    for (unsigned i = 0; i < p->launches; i++) {
        const double now = (double)i / p->launches;
        sum = 0;
        for (unsigned g = 0; g < p->groups; g++)
            sum += p->of[g].from <= now && now < p->of[g].to ? p->of[g].frequency : 0;
        double at = uniform() * sum;
        unsigned chosen = 0;
        for (unsigned g = 0; g < p->groups; g++) {
            if (!(p->of[g].from <= now && now < p->of[g].to))
                continue;
            chosen = g;
            if ((at -= p->of[g].frequency) <= 0)
                break;
        }
        p->order[i] = chosen;
        begin += p->of[chosen].launches++ == 0 ? p->launch_cost + p->of[chosen].first_cost : 0;
    }
    p->share = scale(0.01, 1);
    p->times = scale(least, most);
    p->own = p->times * begin / p->share / p->launches;
}

/* ---- the error of a choice ------------------------------------------------------------------- */

static double weight_of(const struct made_up *p, unsigned g)
{
    return p->of[g].launches * p->of[g].seconds;
}

/* An interval of 1 % is as good as a narrower one: no more is asked for. */
#define NARROW 0.01

static double error_of_group(const struct made_up *p, unsigned g, double taken)
{
    return fmax(NARROW, worth_error(p->of[g].scatter, taken));
}

static double error_of(const struct made_up *p, const double *taken)
{
    double error = 0, all = 0;
    for (unsigned g = 0; g < p->groups; g++) {
        error += weight_of(p, g) * error_of_group(p, g, taken[g]);
        all += weight_of(p, g);
    }
    return error / all;
}

/* ---- the rule -------------------------------------------------------------------------------- */

struct outcome {
    double error, most_over; /* seconds by which the limit was exceeded at any time */
};

struct ruled {
    struct gp_worth_rule rule;
    struct gp_worth worth[MOST_GROUPS];
    double sum[MOST_GROUPS], squares[MOST_GROUPS], taken[MOST_GROUPS];
    unsigned skips[MOST_GROUPS];
};

static void note_value(struct ruled *r, const struct made_up *p, unsigned g)
{
    const double value = exp(p->of[g].scatter * normal());
    const double n = ++r->taken[g];
    r->sum[g] += value;
    r->squares[g] += value * value;
    const double mean = r->sum[g] / n, variance = fmax(0, r->squares[g] / n - mean * mean);
    worth_value(&r->rule, &r->worth[g], n > 1 ? sqrt(variance * n / (n - 1)) / mean : 0);
    worth_time(&r->rule, &r->worth[g], p->of[g].seconds * exp(0.02 * normal()));
}

static struct outcome rule_on(const struct made_up *p)
{
    static struct ruled r;
    struct outcome o = {0};
    double spent = 0;
    memset(&r, 0, sizeof(r));
    for (unsigned i = 0; i < p->launches; i++) {
        const unsigned g = p->order[i];
        const double first = r.worth[g].taken == 0 ? p->of[g].first_cost : 0;
        const struct gp_prices prices = {.begins = first > 0,
                                         .first = first,
                                         .launch = p->launch_cost,
                                         .now = first + p->launch_cost,
                                         .timing = p->timing_cost};
        struct gp_money money = {.all = p->share * p->own * i};
        money.left = money.all - spent;
        if (r.skips[g] > 0) {
            r.skips[g]--;
            worth_count(&r.rule, &r.worth[g], 1, GP_ONLY_COUNTED, &prices);
            continue;
        }
        switch (worth_choose(&r.rule, &r.worth[g], &prices, &money, &r.skips[g])) {
        case GP_MEASURED:
            spent += prices.now;
            note_value(&r, p, g);
            break;
        case GP_ONLY_TIMED:
            spent += p->timing_cost;
            worth_time(&r.rule, &r.worth[g], p->of[g].seconds * exp(0.02 * normal()));
            break;
        case GP_ONLY_COUNTED:
            break;
        }
        o.most_over = fmax(o.most_over, spent - money.all);
    }
    o.error = error_of(p, r.taken);
    return o;
}

/* ---- the best choice ------------------------------------------------------------------------- */

/* A choice with all of the program known, within the same limit at each moment: the next
 * purchase is the one that takes away most of the error for its cost, wherever in the program the
 * launches are. Launches of a group are alike, so the latest ones are taken, when there is most
 * money. Time is divided: within a part all of its money is there at once. */
#define PARTS 64

struct plan {
    double spent[PARTS]; /* in each part */
    double taken[MOST_GROUPS];
};

/* Where the n-th launch from the end lies. */
static unsigned part_of[MOST_LAUNCHES], *last_first[MOST_GROUPS];

static void find_parts(const struct made_up *p)
{
    unsigned seen[MOST_GROUPS] = {0}, before = 0;
    for (unsigned g = 0; g < p->groups; g++) {
        last_first[g] = &part_of[before];
        before += p->of[g].launches;
    }
    for (unsigned i = p->launches; i-- > 0;)
        last_first[p->order[i]][seen[p->order[i]]++] =
            (unsigned)((uint64_t)i * PARTS / p->launches);
}

static void add_cost(const struct made_up *p, double *spent, unsigned g, double before,
                     double taken)
{
    for (unsigned n = (unsigned)before; n < taken; n++)
        spent[last_first[g][n]] += p->launch_cost;
    if (before > 0)
        spent[last_first[g][(unsigned)before - 1]] -= p->of[g].first_cost;
    spent[last_first[g][(unsigned)taken - 1]] += p->of[g].first_cost;
}

static bool is_within(const struct made_up *p, const double *spent)
{
    double sum = 0;
    for (unsigned part = 0; part < PARTS; part++) {
        sum += spent[part];
        if (sum > p->share * p->own * p->launches * (part + 1) / PARTS)
            return false;
    }
    return true;
}

static bool buy(const struct made_up *p, struct plan *plan, unsigned g, double taken)
{
    double spent[PARTS];
    memcpy(spent, plan->spent, sizeof(spent));
    add_cost(p, spent, g, plan->taken[g], taken);
    if (!is_within(p, spent))
        return false;
    memcpy(plan->spent, spent, sizeof(spent));
    plan->taken[g] = taken;
    return true;
}

/* The number of measurements that the group should have next, by the error that they take away for
 * their cost. */
static double next_of(const struct made_up *p, unsigned g, double taken, double *density)
{
    const double all = p->of[g].launches;
    double best = 0;
    *density = 0;
    for (double n = fmin(all, floor(1.1 * taken) + 1); n > taken && n <= all;
         n = n < all ? fmin(all, ceil(1.4 * n)) : all + 1) {
        const double gain = error_of_group(p, g, taken) - error_of_group(p, g, n);
        const double cost = (n - taken) * p->launch_cost + (taken > 0 ? 0 : p->of[g].first_cost);
        if (weight_of(p, g) * gain / cost <= *density)
            continue;
        *density = weight_of(p, g) * gain / cost;
        best = n;
    }
    return best;
}

/* Goes on from the plan until nothing can be bought any more. */
static double complete(const struct made_up *p, struct plan *plan)
{
    double next[MOST_GROUPS], density[MOST_GROUPS];
    for (unsigned g = 0; g < p->groups; g++)
        next[g] = next_of(p, g, plan->taken[g], &density[g]);
    for (;;) {
        unsigned best = 0;
        for (unsigned g = 1; g < p->groups; g++)
            best = density[g] > density[best] ? g : best;
        if (density[best] <= 0)
            return error_of(p, plan->taken);
        if (buy(p, plan, best, next[best]))
            next[best] = next_of(p, best, plan->taken[best], &density[best]);
        else if (next[best] > plan->taken[best] + 1)
            next[best] = plan->taken[best] + 1; /* as much as the money reaches for */
        else
            density[best] = 0;
    }
}

/* The best of several: others begin with a heavy group, as one that takes all of the money may be
 * worth more than several others. */
static double best_error(const struct made_up *p)
{
    struct plan plan = {0};
    double all = 0;
    for (unsigned g = 0; g < p->groups; g++)
        all += weight_of(p, g);
    find_parts(p);
    double best = complete(p, &plan);
    for (unsigned g = 0; g < p->groups; g++) {
        plan = (struct plan){0};
        if (weight_of(p, g) > 0.1 * all && buy(p, &plan, g, 1))
            best = fmin(best, complete(p, &plan));
    }
    return best;
}

/* ---- tests ----------------------------------------------------------------------------------- */

#define PROGRAMS 10000

/* Where the money does not even reach to measure each kernel once, much depends on the moment at
 * which the program ends. */
static void it_is_nearly_as_good_as_the_best_choice(void **state)
{
    static struct made_up p;
    unsigned good = 0, with_enough = 0, good_with_enough = 0;
    (void)state;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        seed = i + 1;
        make_up(&p, 0.5, 20);
        const struct outcome o = rule_on(&p);
        assert_true(o.most_over <= 0);
        const bool is_good = o.error <= 1.3 * best_error(&p), is_enough = p.times >= 1;
        good += is_good;
        with_enough += is_enough;
        good_with_enough += is_good && is_enough;
    }
    print_message(
        "%u of %u programs within 1.3 times the least error; %u of %u with enough money\n", good,
        PROGRAMS, good_with_enough, with_enough);
    assert_true(good >= 0.92 * PROGRAMS);
    assert_true(good_with_enough >= 0.95 * with_enough);
}

/* With so little money one kernel can take all of it. */
static void little_money_is_never_exceeded(void **state)
{
    static struct made_up p;
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        seed = i + 1;
        make_up(&p, 1e-3, 1);
        assert_true(rule_on(&p).most_over <= 0);
    }
}

/* ---- chosen programs ------------------------------------------------------------------------- */

static const struct gp_prices prices = {.launch = 0.001, .now = 0.001, .timing = 1e-5};
static struct gp_worth_rule rule;

static enum gp_choice choose(struct gp_worth *g, double first, double all, double left)
{
    struct gp_prices p = prices;
    unsigned skips;
    p.first = g->taken == 0 ? first : 0;
    p.begins = p.first > 0;
    p.now = p.first + p.launch;
    return worth_choose(&rule, g, &p, &(struct gp_money){all, left}, &skips);
}

static int start(void **state)
{
    (void)state;
    memset(&rule, 0, sizeof(rule));
    return 0;
}

static void nothing_is_begun_that_takes_more_than_is_left(void **state)
{
    struct gp_worth g = {0};
    (void)state;
    assert_int_equal(choose(&g, 0.05, 1, 0.0509), GP_ONLY_TIMED);
    worth_time(&rule, &g, 1e-5);
    worth_time(&rule, &g, 1e-5);
    assert_int_equal(choose(&g, 0.05, 1, 5e-6), GP_ONLY_COUNTED);
    assert_int_equal(choose(&g, 0.05, 1, 0.0511), GP_MEASURED);
}

/* Without its time nobody knows which kernel is worth a measurement. */
static void first_times_are_taken_though_nothing_is_left(void **state)
{
    struct gp_worth g = {0};
    unsigned timed = 0;
    (void)state;
    assert_int_equal(choose(&g, 0.05, 1, -0.1), GP_ONLY_TIMED);
    worth_time(&rule, &g, 1e-5);
    assert_int_equal(choose(&g, 0.05, 1, -0.1), GP_ONLY_TIMED);
    worth_time(&rule, &g, 1e-5);
    assert_int_equal(choose(&g, 0.05, 1, -0.1), GP_ONLY_COUNTED);
    /* Up to a twentieth of all money. */
    for (unsigned i = 0; i < 100000; i++) {
        struct gp_worth other = {0};
        timed += choose(&other, 0.05, 1, -0.1) == GP_ONLY_TIMED;
        rule.count = 1; /* the others are forgotten */
    }
    assert_in_range(timed, 100, 99000);
}

static void code_is_worth_its_price(void **state)
{
    (void)state;
    rule.price = 0;
    assert_true(worth_code(&rule, 0, 1)); /* there is money for all */
    rule.price = 10;
    assert_false(worth_code(&rule, 0.01, 0.025));
    assert_true(worth_code(&rule, 1, 0.025));
}

/* Where there is not the money for a time more launches need not be asked for. */
static void a_group_without_money_is_asked_for_less(void **state)
{
    struct gp_worth g = {0};
    unsigned skips;
    (void)state;
    worth_count(&rule, &g, 127, GP_ONLY_COUNTED, &prices);
    const struct gp_money money = {.all = 0, .left = prices.timing / 2};
    assert_int_equal(worth_choose(&rule, &g, &prices, &money, &skips), GP_ONLY_COUNTED);
    assert_int_equal(skips, 128 / 4);
    assert_int_equal(worth_skip_part(&g), 4);
    const struct gp_money more = {.all = 0, .left = prices.timing * 2};
    assert_int_equal(worth_choose(&rule, &g, &prices, &more, &skips), GP_ONLY_COUNTED);
    assert_int_equal(skips, 129 / 32);
    assert_int_equal(worth_skip_part(&g), 32);
}

/* A kernel that was measured without its code is measured again once that is worth it. */
static void a_measured_kernel_is_instrumented_later(void **state)
{
    struct gp_worth g = {0};
    (void)state;
    assert_int_equal(choose(&g, 0, 1, 1), GP_MEASURED);
    worth_value(&rule, &g, 0);
    for (int i = 0; i < 50; i++)
        if (choose(&g, 0, 1, 1) == GP_MEASURED)
            worth_value(&rule, &g, 0);
    struct gp_prices p = prices;
    unsigned skips;
    const struct gp_money money = {.all = 1, .left = 1};
    assert_int_equal(worth_choose(&rule, &g, &p, &money, &skips), GP_ONLY_TIMED);
    p.begins = true;
    p.first = 0.025;
    p.now += p.first;
    assert_int_equal(worth_choose(&rule, &g, &p, &money, &skips), GP_MEASURED);
}

static void with_much_money_a_launch_is_measured_until_its_values_are_known(void **state)
{
    struct gp_worth steady = {0}, varies = {0};
    unsigned of_steady = 0, of_varies = 0;
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        if (choose(&steady, 0, 100, 100) == GP_MEASURED) {
            worth_value(&rule, &steady, 0);
            worth_time(&rule, &steady, 1e-5);
            of_steady++;
        }
        if (choose(&varies, 0, 100, 100) == GP_MEASURED) {
            worth_value(&rule, &varies, 0.1);
            worth_time(&rule, &varies, 1e-5);
            of_varies++;
        }
    }
    /* (1.96 * 0.1 / 0.01)^2 */
    assert_in_range(of_varies, 380, 390);
    assert_in_range(of_steady, 3, 40);
}

/* A thousand launches of one come for each of the other, and there is never money for both. */
static void a_rare_kernel_is_not_starved(void **state)
{
    struct gp_worth frequent = {0}, rare = {0};
    double all = 0, spent = 0;
    unsigned of_frequent = 0;
    (void)state;
    for (unsigned i = 0; i < 40000 && rare.taken == 0; i++) {
        struct gp_worth *g = i % 1000 == 999 ? &rare : &frequent;
        all += 2e-5;
        switch (choose(g, 0.05, all, all - spent)) {
        case GP_MEASURED:
            spent += g->taken == 1 ? 0.051 : 0.001;
            of_frequent += g == &frequent;
            worth_value(&rule, g, 0.5);
            worth_time(&rule, g, 1e-4);
            break;
        case GP_ONLY_TIMED:
            spent += 1e-5;
            worth_time(&rule, g, 1e-4);
            break;
        case GP_ONLY_COUNTED:
            break;
        }
    }
    assert_int_equal(rare.taken, 1);
    assert_true(of_frequent > 10);
}

static void heavy_kernels_come_first(void **state)
{
    struct gp_worth heavy = {0}, light = {0};
    double all = 0;
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        assert_int_not_equal(choose(&light, 0.05, all, all), GP_MEASURED);
        worth_time(&rule, &light, 1e-6);
        assert_int_not_equal(choose(&heavy, 0.05, all, all), GP_MEASURED);
        worth_time(&rule, &heavy, 1e-3);
        all += 5e-4;
    }
    all = 0.06; /* enough for one of them */
    for (unsigned i = 0; i < 100 && heavy.taken == 0; i++) {
        assert_int_not_equal(choose(&light, 0.05, all, all), GP_MEASURED);
        choose(&heavy, 0.05, all, all);
    }
    assert_int_equal(heavy.taken, 1);
}

/* Each launch is the first one of its group, and to time it takes more than the money that it
 * brings. */
static void times_of_launches_that_all_differ_do_not_take_all_money(void **state)
{
    static struct gp_worth groups[4000];
    double all = 0, spent = 0;
    unsigned measured = 0;
    (void)state;
    for (unsigned i = 0; i < 4000; i++) {
        all += 0.5 * prices.timing;
        switch (choose(&groups[i], measured ? 0 : 0.005, all, all - spent)) {
        case GP_MEASURED:
            spent += prices.launch + (measured++ ? 0 : 0.005);
            break;
        case GP_ONLY_TIMED:
            spent += prices.timing;
            break;
        case GP_ONLY_COUNTED:
            break;
        }
    }
    assert_in_range(measured, 10, 15); /* of 20 ms */
    assert_true(rule.on_first_timings > 0 && rule.on_timings == 0);
    assert_true(rule.on_first_timings <= 0.1 * all);
}

/* First times of kernels whose code has to be read are dear, and take nothing from further ones. */
static void dear_first_times_leave_money_for_others(void **state)
{
    static struct gp_worth dear[100], frequent;
    /* There is too little to measure anything. */
    struct gp_prices p = {
        .begins = true, .first = 1, .launch = 0.001, .now = 1.001, .timing = 3e-3};
    const struct gp_money money = {.all = 1, .left = 0.5};
    unsigned timed = 0, skips;
    (void)state;
    for (unsigned i = 0; i < 100; i++)
        if (worth_choose(&rule, &dear[i], &p, &money, &skips) == GP_ONLY_TIMED)
            worth_time(&rule, &dear[i], 1e-5);
    p.timing = prices.timing;
    for (unsigned i = 0; i < 10000; i++)
        if (worth_choose(&rule, &frequent, &p, &money, &skips) == GP_ONLY_TIMED) {
            worth_time(&rule, &frequent, 1e-5);
            timed++;
        }
    assert_in_range(timed, 1500, 2002); /* for a fiftieth of a second */
}

/* To find a price takes long where there are many groups. */
static void without_money_the_price_is_seldom_found_anew(void **state)
{
    static struct gp_worth groups[64];
    unsigned found = 0;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t before = rule.planned_at;
        choose(&groups[i % 64], 0.05, 0.001, -1e-4 * i);
        found += rule.planned_at != before;
    }
    assert_in_range(found, 10, 320); /* 2 % more launches each time */
}

/* Values of a kernel may begin to vary long after the first ones. */
static void no_group_is_done_for_good(void **state)
{
    struct gp_worth g = {0};
    unsigned late = 0;
    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        if (choose(&g, 0, 1000, 1000) != GP_MEASURED)
            continue;
        worth_value(&rule, &g, 0);
        worth_time(&rule, &g, 1e-5);
        late += i > 50000;
    }
    assert_true(late >= 1);
}

/* Twenty launches of each grid of a kernel with a hundred grids, in any order, with a launch of one
 * of twenty other kernels behind each. All take as long, and the money is for half of their first
 * measurements. */
static void a_kernel_with_many_grids_leaves_money_for_others(void **state)
{
    struct gp_worth grids[100] = {0}, others[20] = {0};
    struct gp_relatives relatives = {0};
    unsigned left = 60, of_grids = 0, of_others = 0;
    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        grids[i].relatives = &relatives;
        grids[i].size_class = worth_size_class(10 + i);
    }
    for (unsigned i = 0; i < 2000; i++) {
        struct gp_worth *const both[] = {&grids[i * 37 % 100], &others[i * 7 % 20]};
        for (unsigned k = 0; k < 2; k++) {
            if (choose(both[k], 0, 0.06 * i / 2000, 1e-3 * left) == GP_MEASURED) {
                worth_value(&rule, both[k], 0.1);
                left--;
            }
            worth_time(&rule, both[k], 1e-4);
        }
    }
    for (unsigned i = 0; i < 100; i++)
        of_grids += grids[i].taken > 0;
    for (unsigned i = 0; i < 20; i++)
        of_others += others[i].taken > 0;
    assert_int_equal(of_others, 20);
    assert_in_range(of_grids, 3, 20);
    assert_int_equal(relatives.measured, of_grids);
}

/* Grids that grow, or shrink: those far from all that were measured are measured, too. */
static void grids_far_from_others_are_measured(void **state)
{
    struct gp_relatives relatives = {0};
    struct gp_worth grids[300] = {0};
    unsigned of_grids = 0;
    unsigned largest = 0;
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        grids[i].relatives = &relatives;
        grids[i].size_class = worth_size_class(1 + i);
        if (choose(&grids[i], 0, 0.1, 0.05) == GP_MEASURED) {
            largest = 1 + i;
            of_grids++;
        }
        worth_time(&rule, &grids[i], 1e-5 * (1 + i));
    }
    assert_in_range(of_grids, 8, 60);
    assert_in_range(largest, 200, 300);
}

/* Ten grids of a kernel are known, and many other kernels want more than all of the money. */
static bool is_measured_with_grids_known(unsigned blocks)
{
    static struct gp_worth others[100], known[10], last;
    struct gp_relatives relatives = {0};
    memset(others, 0, sizeof(others));
    memset(known, 0, sizeof(known));
    memset(&rule, 0, sizeof(rule));
    for (unsigned i = 0; i < 10; i++) {
        known[i] =
            (struct gp_worth){.relatives = &relatives, .size_class = worth_size_class(10 + 3 * i)};
        worth_take(&rule, &known[i], &prices);
    }
    for (unsigned i = 0; i < 1000; i++) {
        (void)choose(&others[i % 100], 0.1, 0.05, 0.01);
        worth_time(&rule, &others[i % 100], 1e-3);
    }
    last = (struct gp_worth){.relatives = &relatives, .size_class = worth_size_class(blocks)};
    return choose(&last, 0, 10, 0.01) == GP_MEASURED;
}

static void a_grid_far_from_all_known_ones_comes_first(void **state)
{
    (void)state;
    assert_true(is_measured_with_grids_known(1000));
    assert_false(is_measured_with_grids_known(48));
    assert_false(is_measured_with_grids_known(37));
}

static void a_launch_that_could_not_be_measured_stands_for_no_other(void **state)
{
    struct gp_relatives relatives = {0};
    struct gp_worth g = {.relatives = &relatives, .size_class = 4};
    (void)state;
    worth_take(&rule, &g, &prices);
    worth_take(&rule, &g, &prices);
    assert_int_equal(relatives.measured, 1);
    worth_in_vain(&g);
    assert_int_equal(relatives.measured, 1);
    worth_in_vain(&g);
    assert_int_equal(relatives.measured, 0);
}

/* The money that was set aside for it is there for others. */
static void a_launch_that_is_left_out_after_all_has_cost_nothing(void **state)
{
    struct gp_worth g = {0}, timed = {.timed = 5};
    const struct gp_prices dear = {.first = 0.4, .launch = 0.01, .timing = 0.002};
    (void)state;
    worth_count(&rule, &g, 1, GP_MEASURED, &dear);
    g.beginning = dear.first;
    assert_float_equal(rule.on_firsts, 0.41, 1e-9);
    worth_count(&rule, &g, 1, GP_ONLY_TIMED, &dear);
    worth_count(&rule, &g, 1, GP_ONLY_TIMED, &dear);
    worth_count(&rule, &timed, 1, GP_ONLY_TIMED, &dear);
    assert_float_equal(rule.on_first_timings, 0.004, 1e-9);
    worth_left_out(&rule, &g, dear.launch);
    assert_float_equal(rule.on_firsts, 0, 1e-9);
    assert_int_equal(g.taken, 0);
    worth_not_timed(&rule, &g);
    worth_not_timed(&rule, &g); /* of the second one all is back already */
    assert_float_equal(rule.on_first_timings, 0, 1e-9);
    worth_not_timed(&rule, &timed);
    assert_float_equal(rule.on_timings, 0, 1e-9);
    /* A time that is known stays paid. */
    worth_count(&rule, &g, 1, GP_ONLY_TIMED, &dear);
    worth_time(&rule, &g, 1e-5);
    worth_not_timed(&rule, &g);
    assert_float_equal(rule.on_first_timings, 0.002, 1e-9);
}

static void code_is_read_for_a_time_out_of_the_money_for_first_times(void **state)
{
    const struct gp_money money = {.all = 10, .left = 0.7}, little = {.all = 10, .left = 0.3};
    (void)state;
    assert_true(worth_reading(&rule, &money, 0.6));
    assert_false(worth_reading(&rule, &money, 0.6)); /* a tenth is for first times */
    assert_false(worth_reading(&rule, &little, 0.35));
    assert_true(worth_reading(&rule, &little, 0.25));
    assert_float_equal(rule.on_first_timings, 0.85, 1e-9);
}

/* Grids from 10 to 200 blocks: one was measured, and few others would be for any money. */
static void beside_others_no_grid_is_wanted(void **state)
{
    struct gp_relatives relatives = {0};
    struct gp_worth grids[191] = {0}, alone = {0};
    unsigned wanted = 0;
    (void)state;
    for (unsigned i = 0; i < 191; i++) {
        grids[i].relatives = &relatives;
        grids[i].size_class = worth_size_class(10 + i);
    }
    worth_take(&rule, &grids[90], &prices);
    for (unsigned i = 0; i < 191; i++)
        wanted += i != 90 && worth_would_be_measured(&grids[i]);
    assert_in_range(wanted, 8, 20);
    assert_true(worth_would_be_measured(&alone));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_nearly_as_good_as_the_best_choice, start),
        cmocka_unit_test_setup(little_money_is_never_exceeded, start),
        cmocka_unit_test_setup(nothing_is_begun_that_takes_more_than_is_left, start),
        cmocka_unit_test_setup(first_times_are_taken_though_nothing_is_left, start),
        cmocka_unit_test_setup(code_is_worth_its_price, start),
        cmocka_unit_test_setup(a_measured_kernel_is_instrumented_later, start),
        cmocka_unit_test_setup(with_much_money_a_launch_is_measured_until_its_values_are_known,
                               start),
        cmocka_unit_test_setup(a_rare_kernel_is_not_starved, start),
        cmocka_unit_test_setup(heavy_kernels_come_first, start),
        cmocka_unit_test_setup(times_of_launches_that_all_differ_do_not_take_all_money, start),
        cmocka_unit_test_setup(dear_first_times_leave_money_for_others, start),
        cmocka_unit_test_setup(without_money_the_price_is_seldom_found_anew, start),
        cmocka_unit_test_setup(no_group_is_done_for_good, start),
        cmocka_unit_test_setup(a_kernel_with_many_grids_leaves_money_for_others, start),
        cmocka_unit_test_setup(grids_far_from_others_are_measured, start),
        cmocka_unit_test_setup(a_grid_far_from_all_known_ones_comes_first, start),
        cmocka_unit_test_setup(a_launch_that_could_not_be_measured_stands_for_no_other, start),
        cmocka_unit_test_setup(a_launch_that_is_left_out_after_all_has_cost_nothing, start),
        cmocka_unit_test_setup(code_is_read_for_a_time_out_of_the_money_for_first_times, start),
        cmocka_unit_test_setup(a_group_without_money_is_asked_for_less, start),
        cmocka_unit_test_setup(beside_others_no_grid_is_wanted, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
