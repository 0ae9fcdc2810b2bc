/* The definitions that a writer has written already, and their numbers. Owns copies of it, a
 * bounded amount. */
#ifndef GPUPROF_PROFILE_SAID_H
#define GPUPROF_PROFILE_SAID_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers begin at 1 and end here, at the latest: readers rely on it. */
#define GP_MOST_SAID 16384

/* All zero is nothing said. */
struct gp_said {
    struct gp_said_entry *entries;
    unsigned count;
    size_t bytes;
};

/* The number of a text, 0 where it was not said. */
unsigned gp_said_find(const struct gp_said *said, const char *text, size_t length);

/* Gives a text the next number. 0 when out of memory. */
unsigned gp_said_add(struct gp_said *said, const char *text, size_t length);

/* Whether it is time to forget everything: the next `more` texts might find no room. */
bool gp_said_is_full(const struct gp_said *said, unsigned more);
void gp_said_forget(struct gp_said *said);

#endif
