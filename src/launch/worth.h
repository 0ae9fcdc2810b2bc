/* Which launches are worth the time that measuring them adds, under a limit to that time. Pure:
 * facts in, choice out; no clock, no GPU. Owns the rule, and the price that it asks.
 *
 * A group is a kernel in one launch configuration. Its error is half of the confidence interval of
 * its mean, relative to that; 1 where nothing was measured. The error of the program is the sum
 * over groups, each weighted by its share of the GPU time. A measurement is worth the error that it
 * takes away, and is bought where that is enough for its cost: the rule knows from the launches so
 * far which purchases would spend the money that is left, and asks their lowest price. All times
 * are seconds. Not locked. */
#ifndef GPUPROF_LAUNCH_WORTH_H
#define GPUPROF_LAUNCH_WORTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A group. All zero but for the number: no launch of it is known. */
struct gp_worth {
    uint64_t launches;    /* that the program made */
    uint64_t taken;       /* of these, measured or about to be */
    uint64_t timed;       /* of which the time is known */
    double seconds;       /* that those took on the GPU */
    uint64_t values;      /* measurements that came to their end with a value */
    double scatter;       /* relative standard deviation of the value that scatters most; of two or
                           * more */
    uint64_t first, last; /* numbers of launches among all: its first and its last one */
    double beginning;     /* gp_prices.first, as it was at the last one */
};

/* The cost of the next step, as it is predicted. */
struct gp_prices {
    double first;  /* to begin with the kernel: instrumentation. 0: it was measured before */
    double launch; /* to measure one launch, in the mean */
    double now;    /* the most that it may take, if it is begun now, `first` included */
    double timing; /* to take the time of a launch, and no more */
};

/* The money: seconds that may be added up to now, and the part that is neither spent nor promised
 * to launches that wait for their measurement. */
struct gp_money {
    double all, left;
};

enum gp_choice { GP_ONLY_COUNTED, GP_ONLY_TIMED, GP_MEASURED };

/* Groups beyond so many are measured once, and not again. */
#define GP_MOST_WORTHS 4096

struct gp_worth_rule {
    const struct gp_worth *groups[GP_MOST_WORTHS]; /* each with a launch */
    unsigned count;
    uint64_t launches;            /* all of them */
    uint64_t once, twice;         /* groups with exactly one launch, two launches */
    uint64_t timed;               /* launches of which the time is known */
    double seconds;               /* that those took */
    double on_firsts, on_timings; /* money that went into first measurements, and into times */
    double scatters;              /* sum of the groups' scatter, and the number of those groups */
    unsigned scattering;
    double dearest;      /* first measurement that is still to be made */
    double price;        /* error for a second; a purchase that takes away less is not made */
    uint64_t planned_at; /* launches, when the price was found */
    double planned_left; /* money then */
};

/* A launch of the group is about to be made. *skips becomes the number of further launches of it
 * that need not be asked for: they are only counted (gp_worth_skip). `kernel_seconds`: the time of
 * a launch of the kernel in other configurations; 0: not known. */
enum gp_choice gp_worth_choose(struct gp_worth_rule *rule, struct gp_worth *group,
                               const struct gp_prices *prices, const struct gp_money *money,
                               double kernel_seconds, unsigned *skips);

/* A launch that was not chosen to be measured is measured all the same. */
void gp_worth_take(struct gp_worth_rule *rule, struct gp_worth *group,
                   const struct gp_prices *prices);

/* Counts a launch of the group that was chosen by somebody else. */
void gp_worth_count(struct gp_worth_rule *rule, struct gp_worth *group, uint64_t launches,
                    enum gp_choice choice, const struct gp_prices *prices);

/* The time of a launch is known; a measurement has ended, and the values so far scatter so. */
void gp_worth_time(struct gp_worth_rule *rule, struct gp_worth *group, double seconds);
void gp_worth_value(struct gp_worth_rule *rule, struct gp_worth *group, double scatter);

/* Half of the confidence interval (95 %) of a mean of so many values, relative to it; 1 where there
 * is no value, or it would be more. */
double gp_worth_error(double scatter, double values);

#endif
