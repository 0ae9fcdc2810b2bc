/* The lines by which a profile says something once: a configuration, names of counters, values, a
 * reason; launches refer to them by number. Owns the definitions so far. */
#ifndef GPUPROF_PROFILE_SAID_LINES_H
#define GPUPROF_PROFILE_SAID_LINES_H

#include "base/text.h"
#include "profile/record.h"
#include "profile/said.h"

#include <stdbool.h>

/* All zero is nothing said. */
struct gp_said_lines {
    struct gp_said said;
    struct gp_text key, body; /* scratch */
};

/* The numbers for a launch's line. */
struct gp_references {
    unsigned configuration, reason, values, counters; /* 0: the launch has none of these */
};

/* Finds them, and appends to `lines` the definitions that were not said yet. False when out of
 * memory. */
bool gp_say_launch(struct gp_said_lines *said, const struct gp_record *launch,
                   struct gp_references *references, struct gp_text *lines);

/* The counter has a value in the launch's line itself. */
bool gp_is_in_line(const struct gp_counter *counter);

void gp_said_lines_free(struct gp_said_lines *said);

#endif
