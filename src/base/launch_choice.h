/* "skip:N,count:M" and lists of devices: which launches a user asks for by their numbers. */
#ifndef GPUPROF_BASE_LAUNCH_CHOICE_H
#define GPUPROF_BASE_LAUNCH_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#define GP_LAUNCHES_SYNTAX "say skip:N, count:N or skip:N,count:N, with whole numbers"
#define GP_DEVICES_SYNTAX "say all, or numbers from 0 to 63 with commas between them"

/* The first `skip` of all launches that a filter selects are left out, then `count` are taken. */
struct gp_launch_choice {
    uint64_t skip, count; /* count: UINT64_MAX is all */
};

bool gp_launches_parse(const char *text, struct gp_launch_choice *choice);

/* One bit for each device of "0,2"; "all" is all bits. */
bool gp_devices_parse(const char *text, uint64_t *devices);

/* Reads the digits with which *text begins, which moves behind them; false where there is none, or
 * there are more than 18. */
bool gp_digits_read(const char **text, uint64_t *number);

/* A whole number, nothing around it. */
bool gp_whole_parse(const char *text, uint64_t *number);

#endif
