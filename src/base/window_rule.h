/* "profile-from-start:off,delay:5s": the part of a program that a user wants measured. The words
 * are the names of the options. */
#ifndef GPUPROF_BASE_WINDOW_RULE_H
#define GPUPROF_BASE_WINDOW_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_window_rule {
    bool by_calls;             /* cuProfilerStart opens it, cuProfilerStop closes it */
    bool from_start;           /* it is open before the first of these calls */
    double delay;              /* seconds from the start of the process; 0: none */
    double duration;           /* seconds that it lasts; 0: without an end */
    double warm_up;            /* seconds from its first launch, in which it is not open yet */
    uint64_t warm_up_launches; /* the same as a number of launches; one of the two is 0 */
    uint64_t first, behind;    /* numbers of launches, from 0; behind: UINT64_MAX: no end */
};

/* All of the program. */
#define GP_WINDOW_OF_ALL ((struct gp_window_rule){.from_start = true, .behind = UINT64_MAX})

/* Reads the value of one word, "delay" say, into the rule. False, with one line in `why`, where the
 * value makes no sense, or there is no such word. */
bool gp_window_read_part(const char *word, const char *value, struct gp_window_rule *rule,
                         char *why, size_t why_size);

/* Reads words with their values: "delay:5s,launches:0:100", each once. False as above; then the
 * rule is as before. */
bool gp_window_read(const char *text, struct gp_window_rule *rule, char *why, size_t why_size);

/* True where it leaves out a part of the program, or may. */
bool gp_window_limits(const struct gp_window_rule *rule);

#endif
