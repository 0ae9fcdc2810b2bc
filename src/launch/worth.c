/* Which launches are worth the time that measuring them adds, under a limit to that time. Pure:
 * facts in, choice out; no clock, no GPU. Owns the rule, and the price that it asks.
 *
 * A group is a kernel in one launch configuration. Its error is half of the confidence interval of
 * its mean, relative to that; 1 where nothing was measured, less where the kernel was measured with
 * other grids, as its values follow from their blocks (report/laws.h). The error of the program is
 * the sum over groups, each weighted by its share of the GPU time. A measurement is worth the error
 * that it takes away, and is bought where that is enough for its cost: the rule knows from the
 * launches so far which purchases would spend the money that is left, and asks their lowest price.
 * All times are seconds. Not locked. */
#include "launch/inside.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Standard deviations on each side of a mean that hold 95 %. */
#define CONFIDENCE 1.96
/* An interval that is narrow enough: no more is bought. */
#define NARROW 0.01
/* The time of a launch, and the scatter of a group that was measured less than twice, before any is
 * known; and the number of groups that the latter guess counts for. */
#define USUAL_SECONDS 1e-5
#define USUAL_SCATTER 0.1
#define USUAL_GROUPS 2
/* The measurements for which the scatter of other groups counts in a group of its own; the least
 * scatter; and the factor exp(FEW_VALUES / (n - 1)) by which the scatter of n values is too small,
 * in its logarithm's mean (exactly -0.64, -0.29, -0.19 for 2, 3, 4). */
#define OTHERS_COUNT 0.5
#define LEAST_SCATTER 1e-3
#define FEW_VALUES 0.6
/* Parts of the money: for first measurements, and the most that goes into further times of groups
 * that have some, also while there is too little for all measurements that are wanted. */
#define FIRST_PART 0.2
#define TIMING_PART 0.05
#define TIMING_PART_OF_LITTLE 0.02
/* Launches of a group that are timed before further ones of others, and the part of the money for
 * these. */
#define TIMED_FIRST 2
#define FIRST_TIMING_PART 0.1
/* The part of the money that is left for these, at least: where nothing else is bought it is for
 * times. */
#define FIRST_TIMING_PART_OF_LEFT (1.0 / 3)
/* The part of a launch's values that instrumented code shows. */
#define CODE_PART 0.5
/* The part of a group's error that remains with each other grid of its kernel that was measured;
 * and the error above which a first measurement is made before others. */
#define RELATIVE_PART 0.5
#define STRANGE 0.2
/* Grids of a class have up to so many times more blocks than those of the class before; and classes
 * around one that was measured that are no strange ones. */
#define CLASS_RATIO 1.1
#define FAR 4
/* A group is taken to be over after so many times its usual distance without a launch. */
#define OVER_AFTER 8
#define OVER_LEAST 64
/* A new price is asked once launches have grown by this part, and by so many; by more where there
 * are many groups, as to find it takes 0.1 us for each of these and each step. */
#define PLAN_PART 0.02
#define PLAN_LEAST 16
#define PLAN_STEPS 24
/* Launches of a group that need not be asked for: this part of those so far; and where the money
 * does not even pay for a time. */
#define SKIP_PART 32
#define SKIP_PART_OF_POOR 4
#define MOST_SKIPS 255

double worth_error(double scatter, double values)
{
    return values < 1 ? 1 : fmin(1, CONFIDENCE * scatter / sqrt(values));
}

/* ---- facts of a group ------------------------------------------------------------------------ */

static double usual_scatter(const struct gp_worth_rule *r)
{
    return (r->scatters + USUAL_SCATTER * USUAL_GROUPS) / (r->scattering + USUAL_GROUPS);
}

/* Few values may be alike by chance, so other groups count as well. In logarithms, as scatter goes
 * over powers of ten: values that do not vary are known for that by two or three of them. */
static double scatter_of(const struct gp_worth_rule *r, const struct gp_worth *g)
{
    const double usual = usual_scatter(r);
    if (g->values < 2)
        return usual;
    const double count = (double)g->values - 1;
    const double own = fmax(LEAST_SCATTER, g->scatter * exp(FEW_VALUES / count));
    return exp((count * log(own) + OTHERS_COUNT * log(usual)) / (count + OTHERS_COUNT));
}

double worth_usual_seconds(const struct gp_worth_rule *r)
{
    return r->timed > 0 ? r->seconds / (double)r->timed : USUAL_SECONDS;
}

/* The seconds of a launch; the mean of all groups where none of its own is known. */
static double seconds_of(const struct gp_worth_rule *r, const struct gp_worth *g)
{
    return g->timed > 0 ? g->seconds / (double)g->timed : worth_usual_seconds(r);
}

/* The group's share, but for a factor that is the same for all. */
static double weight_of(const struct gp_worth_rule *r, const struct gp_worth *g)
{
    return (double)g->launches * seconds_of(r, g);
}

unsigned worth_size_class(double blocks)
{
    return (unsigned)fmin(GP_SIZE_CLASSES - 1, log(fmax(1, blocks)) / log(CLASS_RATIO));
}

static bool any_of(const uint64_t *classes, unsigned size_class, unsigned around)
{
    const unsigned first = size_class > around ? size_class - around : 0;
    for (unsigned c = first; c <= size_class + around && c < GP_SIZE_CLASSES; c++)
        if (classes[c / 64] >> c % 64 & 1)
            return true;
    return false;
}

static void note_measured(struct gp_worth *g, bool measured)
{
    struct gp_relatives *r = g->relatives;
    const uint64_t bit = UINT64_C(1) << g->size_class % 64;
    if (!r)
        return;
    r->measured += measured ? 1 : -1u;
    if (measured)
        r->classes[g->size_class / 64] |= bit;
    else
        r->classes[g->size_class / 64] &= ~bit; /* another of its class may be measured once more */
}

/* The error without a measurement of its own: none beside grids that were measured, as values
 * between two sizes are known. Launches of grids far from all of these may be of another kind. */
static double error_before(const struct gp_worth *g)
{
    const struct gp_relatives *r = g->relatives;
    if (!r || r->measured == 0 || !any_of(r->classes, g->size_class, FAR))
        return 1;
    return any_of(r->classes, g->size_class, 1) ? 0 : pow(RELATIVE_PART, r->measured);
}

bool worth_would_be_measured(struct gp_worth *g)
{
    struct gp_relatives *r = g->relatives;
    if (!r)
        return true;
    if (any_of(r->classes, g->size_class, 1) || any_of(r->wanted, g->size_class, 1))
        return false;
    r->wanted[g->size_class / 64] |= UINT64_C(1) << g->size_class % 64;
    return true;
}

/* Nearly nothing is known of it. */
static bool is_strange(const struct gp_worth *g)
{
    return g->taken == 0 && error_before(g) > STRANGE;
}

static double gain_of_first(const struct gp_worth_rule *r, const struct gp_worth *g)
{
    return weight_of(r, g) * error_before(g) * (1 - worth_error(scatter_of(r, g), 1));
}

/* How likely more launches of the group will come. One that came once comes again as groups that
 * came twice did (Good and Turing). */
static double return_of(const struct gp_worth_rule *r, const struct gp_worth *g)
{
    if (g->launches < 2)
        return r->once > 0 ? fmin(1, 2 * (double)r->twice / (double)r->once) : 1;
    const double usual = (double)(g->last - g->first) / (double)(g->launches - 1);
    return (double)(r->launches - g->last) < OVER_AFTER * usual + OVER_LEAST ? 1 : 0;
}

/* The number of values at which one more is worth a price of 1; and the factor for another price.
 */
static double wanted_at_1(double weight, double scatter, double launch)
{
    return pow(CONFIDENCE * scatter * weight / (2 * launch), 2.0 / 3);
}

static double less_at(double price)
{
    return pow(price, -2.0 / 3);
}

/* As many values are enough at any price. Of launches that seem to be all alike one is measured now
 * and then. */
static double enough_of(const struct gp_worth *g, double scatter)
{
    return fmax(pow(CONFIDENCE * scatter / NARROW, 2), log2((double)g->launches));
}

bool worth_code(const struct gp_worth_rule *r, double gpu_seconds, double cost)
{
    return CODE_PART * gpu_seconds >= r->price * cost;
}

/* ---- the price ------------------------------------------------------------------------------- */

/* The purchases of a group, as far as they do not depend on the price. */
static void make_offer(const struct gp_worth_rule *r, struct gp_worth *g, double launch)
{
    struct gp_offer *o = &g->offer;
    o->again = return_of(r, g);
    if (o->again <= 0)
        return;
    const double weight = weight_of(r, g), scatter = scatter_of(r, g);
    o->first_cost = g->taken > 0 ? 0 : g->beginning + launch;
    o->first_gain = gain_of_first(r, g);
    o->wanted = wanted_at_1(weight, scatter, launch);
    o->enough = enough_of(g, scatter);
}

/* The money that all purchases at this price would take. */
static double demand(const struct gp_worth_rule *r, double launch, double price)
{
    const double less = less_at(price);
    double money = 0;
    for (unsigned i = 0; i < r->count; i++) {
        const struct gp_worth *g = r->groups[i];
        const struct gp_offer *o = &g->offer;
        if (o->again <= 0 ||
            (g->taken == 0 && (o->first_gain <= 0 || o->first_gain < price * o->first_cost)))
            continue;
        const double more = fmin(o->wanted * less, o->enough) - fmax((double)g->taken, 1);
        money += o->again * (o->first_cost + fmin(fmax(0, more), (double)g->launches) * launch);
    }
    return money;
}

/* Less than a launch takes is as good as nothing. */
static double money_for_plan(const struct gp_prices *p, const struct gp_money *money)
{
    return fmax(money->left, p->launch);
}

static bool is_plan_old(const struct gp_worth_rule *r, const struct gp_prices *p,
                        const struct gp_money *money)
{
    const double since = (double)(r->launches - r->planned_at), left = money_for_plan(p, money);
    const double groups = r->count, least = fmax(PLAN_LEAST, groups / 4 + groups * groups / 1024);
    if (r->planned_at == 0)
        return true;
    return since >= least && (since >= PLAN_PART * (double)r->launches ||
                              left > 1.3 * r->planned_left || left < 0.7 * r->planned_left);
}

/* The lowest price at which no more is asked for than there is money. */
static void plan(struct gp_worth_rule *r, const struct gp_prices *p, const struct gp_money *money)
{
    const double left = money_for_plan(p, money);
    double high = DBL_MIN;
    r->planned_at = r->launches;
    r->planned_left = left;
    r->dearest = 0;
    for (unsigned i = 0; i < r->count; i++) {
        struct gp_worth *g = r->groups[i];
        make_offer(r, g, p->launch);
        high = fmax(high, weight_of(r, g) / p->launch);
        if (is_strange(g) && g->offer.again > 0)
            r->dearest = fmax(r->dearest, g->offer.first_cost);
    }
    double low = high * 1e-9;
    r->price = 0;
    r->less_at_price = INFINITY;
    if (demand(r, p->launch, low) <= left)
        return;
    for (int i = 0; i < PLAN_STEPS; i++) {
        const double middle = sqrt(low * high);
        if (demand(r, p->launch, middle) > left)
            low = middle;
        else
            high = middle;
    }
    /* The dearest of all purchases is one that may be made, though it takes more than is left. */
    r->price = low;
    r->less_at_price = less_at(low);
}

/* ---- a launch -------------------------------------------------------------------------------- */

static void count(struct gp_worth_rule *r, struct gp_worth *g, uint64_t launches)
{
    if (g->launches == 0) {
        g->first = r->launches;
        if (r->count < GP_MOST_WORTHS)
            r->groups[r->count++] = g;
    }
    const uint64_t before = g->launches, after = before + launches;
    r->once += (after == 1) - (uint64_t)(before == 1);
    r->twice += (after == 2) - (uint64_t)(before == 2);
    g->launches = after;
    r->launches += launches;
    g->last = r->launches;
}

static double *on_timings_of(struct gp_worth_rule *r, const struct gp_worth *g)
{
    return g->timed < TIMED_FIRST ? &r->on_first_timings : &r->on_timings;
}

static void spend(struct gp_worth_rule *r, struct gp_worth *g, enum gp_choice choice,
                  const struct gp_prices *p)
{
    if (choice == GP_MEASURED && g->taken++ == 0) {
        r->on_firsts += p->first + p->launch;
        note_measured(g, true);
    }
    if (choice == GP_ONLY_TIMED) {
        *on_timings_of(r, g) += p->timing;
        g->on_timing += p->timing;
    }
}

void worth_count(struct gp_worth_rule *r, struct gp_worth *g, uint64_t launches,
                 enum gp_choice choice, const struct gp_prices *p)
{
    count(r, g, launches);
    spend(r, g, choice, p);
}

void worth_take(struct gp_worth_rule *r, struct gp_worth *g, const struct gp_prices *p)
{
    spend(r, g, GP_MEASURED, p);
}

void worth_in_vain(struct gp_worth *g)
{
    if (--g->taken == 0)
        note_measured(g, false);
}

void worth_left_out(struct gp_worth_rule *r, struct gp_worth *g, double launch)
{
    worth_in_vain(g);
    if (g->taken == 0)
        r->on_firsts = fmax(0, r->on_firsts - g->beginning - launch);
}

void worth_not_timed(struct gp_worth_rule *r, struct gp_worth *g)
{
    double *on = on_timings_of(r, g);
    *on = fmax(0, *on - g->on_timing);
    g->on_timing = 0;
}

/* Whether there is so much for a first time. */
static bool may_be_timed_first(const struct gp_worth_rule *r, const struct gp_money *money,
                               double seconds)
{
    const double most =
        fmax(FIRST_TIMING_PART * money->all, FIRST_TIMING_PART_OF_LEFT * money->left);
    return r->on_first_timings + seconds <= most;
}

bool worth_reading(struct gp_worth_rule *r, const struct gp_money *money, double seconds)
{
    if (seconds > money->left || !may_be_timed_first(r, money, seconds))
        return false;
    r->on_first_timings += seconds;
    return true;
}

/* The part of the money that is for first measurements: kernels that are rare, or new, are not
 * starved by frequent ones. */
static double for_firsts(const struct gp_worth_rule *r, const struct gp_money *money)
{
    return fmax(0, FIRST_PART * money->all - r->on_firsts);
}

static double kept_for_firsts(const struct gp_worth_rule *r, const struct gp_money *money)
{
    return fmin(for_firsts(r, money), r->dearest);
}

/* Whether there is so much of that money that a group need not be worth more than others. */
static bool is_due(const struct gp_worth_rule *r, const struct gp_worth *g,
                   const struct gp_prices *p, const struct gp_money *money)
{
    return is_strange(g) && for_firsts(r, money) >= p->first + p->launch;
}

static bool is_worth_it(const struct gp_worth_rule *r, const struct gp_worth *g,
                        const struct gp_prices *p)
{
    const double weight = weight_of(r, g), scatter = scatter_of(r, g);
    if (g->taken == 0)
        return error_before(g) > 0 && gain_of_first(r, g) >= r->price * (p->first + p->launch);
    if (p->begins)
        return true; /* the instrumentation alone is worth it */
    const double wanted = wanted_at_1(weight, scatter, p->launch) * r->less_at_price;
    return (double)g->taken < fmin(wanted, enough_of(g, scatter));
}

/* The first launches of many groups would take all of the money, too. */
static bool is_timed(const struct gp_worth_rule *r, const struct gp_worth *g,
                     const struct gp_prices *p, const struct gp_money *money, double left)
{
    const bool little = r->price > 0 || r->dearest > 0;
    const double part = (little ? TIMING_PART_OF_LITTLE : TIMING_PART) * money->all;
    if (g->timed < TIMED_FIRST) /* also where other steps took longer than predicted */
        return may_be_timed_first(r, money, p->timing + p->timing_beside);
    return p->timing <= left && r->on_timings + p->timing <= part &&
           (double)g->timed * p->timing * (double)r->launches <= part * (double)g->launches;
}

unsigned worth_skip_part(const struct gp_worth *g)
{
    return g->poor ? SKIP_PART_OF_POOR : SKIP_PART;
}

enum gp_choice worth_choose(struct gp_worth_rule *r, struct gp_worth *g, const struct gp_prices *p,
                            const struct gp_money *money, unsigned *skips)
{
    count(r, g, 1);
    g->beginning = p->first;
    if (is_plan_old(r, p, money))
        plan(r, p, money);
    const double kept = kept_for_firsts(r, money);
    const double left = g->taken == 0 ? money->left : money->left - kept;
    const bool worth = is_worth_it(r, g, p) || is_due(r, g, p, money);
    enum gp_choice choice = GP_ONLY_COUNTED;
    if (worth && p->now <= left)
        choice = GP_MEASURED;
    else if (is_timed(r, g, p, money, money->left - kept))
        choice = GP_ONLY_TIMED;
    spend(r, g, choice, p);
    *skips = 0;
    g->poor = money->left < p->timing;
    if (choice == GP_ONLY_COUNTED)
        *skips = (unsigned)fmin(MOST_SKIPS, (double)(g->launches / worth_skip_part(g)));
    return choice;
}

void worth_time(struct gp_worth_rule *r, struct gp_worth *g, double seconds)
{
    g->timed++;
    g->on_timing = 0;
    g->seconds += seconds;
    r->timed++;
    r->seconds += seconds;
}

void worth_value(struct gp_worth_rule *r, struct gp_worth *g, double scatter)
{
    g->values++;
    if (g->values < 2)
        return;
    if (g->values == 2)
        r->scattering++;
    r->scatters += scatter - (g->values == 2 ? 0 : g->scatter);
    g->scatter = scatter;
}
