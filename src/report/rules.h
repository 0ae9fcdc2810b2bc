/* The rules of advice and the units that can bound a kernel, as metrics/rules has them: sections of
 * keys, conditions and formulas over metrics. Owns them. docs/advice.md is the manual. */
#ifndef GPUPROF_REPORT_RULES_H
#define GPUPROF_REPORT_RULES_H

#include "metrics/formula.h"
#include "metrics/metrics.h"
#include "report/waits.h"

#include <stdbool.h>

#define GP_MOST_UNITS 16
#define GP_MOST_TESTS 8
#define GP_MOST_RULE_LINES 2

/* A unit of the GPU: [bound NAME]. */
struct gp_unit {
    char name[49];
    char *title;
    struct gp_node *utilization; /* 0 to 1, or NULL: only where it was counted */
    struct gp_node *counted;     /* the same of launches with the diagnosis, or NULL */
    struct gp_node *at_most;     /* the utilization cannot be more, or NULL */
    double ceiling;              /* the most that is reached of it in practice */
    bool last;                   /* it bounds only where it is clearly busier than all others */
    bool each_sm;                /* each SM has one of its own */
};

/* One part of a condition: left OP right. */
struct gp_test {
    enum { GP_TEST_LESS, GP_TEST_LESS_EQUAL, GP_TEST_GREATER, GP_TEST_GREATER_EQUAL } comparison;
    struct gp_node *left, *right;
};

/* A text with values in it: "... {100 * share:%} ...". */
struct gp_piece {
    char *text;            /* before the value */
    struct gp_node *value; /* NULL at the end */
    char unit[13];         /* as that of a metric */
    struct gp_piece *next;
};

/* Which counts of instructions show the lines that a rule is about. */
enum gp_weight {
    GP_WEIGHT_NONE,
    GP_WEIGHT_WASTED_SECTORS,
    GP_WEIGHT_BANK_CONFLICTS,
    GP_WEIGHT_DIVERGENCE,
    GP_WEIGHT_SECTORS,
    GP_WEIGHT_WAVEFRONTS,
    GP_WEIGHT_ATOMICS,
    GP_WEIGHT_LOCAL,
    GP_WEIGHT_FP64,
    GP_WEIGHT_MATRIX,
    GP_WEIGHT_BRANCHES,
    GP_WEIGHT_CONVERSIONS, /* between float and double */
    GP_WEIGHT_WARPS,
    GP_WEIGHT_IDLE_LANES,
    GP_WEIGHT_OFF_LANES,
    GP_WEIGHT_BARRIERS, /* of blocks */
    GP_WEIGHT_FENCES,
    GP_WEIGHT_TWO_SIDES, /* predicated, beside others under the opposite predicate */
    GP_WEIGHT_MULTIPLY_ADDS,
    GP_WEIGHT_PRODUCTS,       /* multiply-adds of a product of matrices */
    GP_WEIGHT_PLAIN_PRODUCTS, /* of these, such that load both factors from global memory */
    GP_WEIGHT_HALVES,         /* arithmetic with numbers of 16 bits */
    GP_WEIGHT_SCALAR_HALVES,  /* of these, one at a time */
    GP_WEIGHT_FIRST_WAIT,     /* the waits of report/waits.h, from here on */
    GP_WEIGHT_COUNT = GP_WEIGHT_FIRST_WAIT + GP_WAIT_COUNT
};

struct gp_rule {
    char name[49];
    char *file;
    int line;
    bool used;         /* false: switched off */
    bool of_program;   /* about the program, not about a kernel */
    bool of_sequence;  /* about kernels that follow each other (report/sequences.h) */
    bool of_run;       /* the estimate is a share of the time that the program ran */
    bool fills_idle;   /* it helps where units idle, so not at a roof; else it spares work */
    bool of_libraries; /* also for ready-made kernels: of libraries, of frameworks */
    bool last;         /* asked only where no other rule of the kernel had an answer */
    bool guess;        /* it does not follow from a measurement: behind all advice that does */
    bool up_to;        /* the estimate is the most that can be gained */
    char *under;       /* names of bounds with commas between them; NULL: any */
    char *kernels;     /* globs of names with commas between them; NULL: any */
    size_t test_count;
    struct gp_test tests[GP_MOST_TESTS];
    struct gp_node *estimate; /* share of the kernel's time, 0 to 1 */
    struct gp_piece *evidence, *text;
    unsigned lines[GP_MOST_RULE_LINES]; /* enum gp_weight: the first of which a line is known */
    size_t line_test_count;             /* a line is named only where these hold as well */
    struct gp_test line_tests[GP_MOST_TESTS];
    char *source;
};

struct gp_rules {
    size_t unit_count;
    struct gp_unit units[GP_MOST_UNITS];
    size_t count, capacity;
    struct gp_rule **rules; /* in order of their files */
};

/* Loads the shipped rules, then the user's: *.ini in `rules` below each folder of metric
 * definitions. A section with the name of an earlier one replaces it. A rule that makes no sense is
 * left out, and adds one line "file:line: ..." to `problems`. NULL when out of memory. */
struct gp_rules *gp_rules_open(const struct gp_metrics *m, struct gp_text *problems);
void gp_rules_close(struct gp_rules *r);

/* Loads rules as gp_rules_open does, from the given text alone. */
struct gp_rules *gp_rules_parse(const struct gp_metrics *m, const char *file, const char *text,
                                size_t length, struct gp_text *problems);

/* True when the rule is for a kernel that is bound so. */
bool gp_rule_is_under(const struct gp_rule *rule, const char *bound);

/* True when the rule is for a kernel of that name: one of its globs matches, and none behind a '!'.
 */
bool gp_rule_is_of(const struct gp_rule *rule, const char *kernel);

#endif
