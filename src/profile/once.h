/* Definitions that a profile gives once, under a number, and the launches that refer to them: a
 * configuration, names of counters, values, a reason. Owns all of it but the strings. For the
 * reader. */
#ifndef GPUPROF_PROFILE_ONCE_H
#define GPUPROF_PROFILE_ONCE_H

#include "profile/record.h"
#include "profile/strings.h"

#include <jansson.h>
#include <stdbool.h>

/* The meaning of the columns of a launch's line. */
#define GP_MOST_COLUMNS 32

struct gp_once {
    struct gp_strings strings;              /* for ever: launches that are kept point at them */
    struct gp_once_definition *definitions; /* by number */
    size_t count, capacity;
    int columns[GP_MOST_COLUMNS];
    size_t column_count;
    struct gp_counter *counters; /* scratch: those of the launch that was read last */
    size_t counter_capacity;
    /* The user's own copy of a counter's name; NULL: none. */
    const char *(*own_name)(void *user, const char *name);
    void *user;
};

/* All of these answer false with the reason in `why`. */

/* "columns" of a header; NULL where it has none. */
bool gp_once_columns(struct gp_once *once, const json_t *columns, char *why, size_t why_size);

/* One of the lines that say something once. `type` is the line's. Handles "configuration",
 * "counters", "values" and "reason". */
bool gp_once_is_definition(const char *type);
bool gp_once_define(struct gp_once *once, const char *type, const json_t *line, char *why,
                    size_t why_size);

/* Reads the array behind `["launch",` or `["early",`, up to its `]` at the end. The data behind the
 * launch's pointers live until the next call; strings for as long as `once`. */
bool gp_once_launch(struct gp_once *once, const char *at, const char *end, struct gp_record *launch,
                    char *why, size_t why_size);

/* A reason to record. `causes`: text to the word of its cause; NULL in an old profile. Without a
 * text when out of memory. */
struct gp_reason gp_once_reason(struct gp_once *once, const char *text, const json_t *causes);

/* A counter's name to record; NULL when out of memory. */
const char *gp_once_name(struct gp_once *once, const char *name);

void gp_once_forget(struct gp_once *once);
void gp_once_free(struct gp_once *once);

#endif
