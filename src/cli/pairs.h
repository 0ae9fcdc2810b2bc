/* The option --pair of comparisons. */
#ifndef GPUPROF_CLI_PAIRS_H
#define GPUPROF_CLI_PAIRS_H

#include "check/side.h"

#include <stdbool.h>

#define CLI_MOST_PAIRS 64
#define CLI_PAIR_HELP                                                                             \
    "the kernel OLD is called NEW now: each a name, or a pattern that one kernel alone matches; " \
    "may be given several times"

struct cli_pairs {
    const char *list[CLI_MOST_PAIRS]; /* "OLD=NEW" */
    size_t count;
};

/* False, having said why, where there are too many or the text is no pair. */
bool cli_add_pair(struct cli_pairs *pairs, const char *text);

/* Applies all to the two sides. False with one line in `why`. */
bool cli_apply_pairs(const struct cli_pairs *pairs, const struct gp_side *a, struct gp_side *b,
                     char *why, size_t why_size);

#endif
