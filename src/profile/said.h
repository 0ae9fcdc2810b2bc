/* The definitions that a writer has written already, and their numbers. Owns copies of it, a
 * bounded amount. */
#ifndef GPUPROF_PROFILE_SAID_H
#define GPUPROF_PROFILE_SAID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers begin at 1 and end here, at the latest: readers rely on it. */
#define GP_MOST_SAID 16384

/* A hash of all that a text says, by which its number is found before the text is made: to make one
 * takes some twenty times as long. Two texts never have one key, in practice. All zero at first. */
struct gp_said_key {
    uint64_t words[2];
};
void gp_said_key_add(struct gp_said_key *key, const void *bytes, size_t size);
/* The text, its end included. */
void gp_said_key_add_text(struct gp_said_key *key, const char *text);

#define GP_SAID_KEYS 1024u

/* All zero is nothing said. */
struct gp_said {
    struct gp_said_entry *entries;
    unsigned count;
    size_t bytes;
    struct {
        struct gp_said_key key;
        unsigned number; /* 0: none */
    } * keys;            /* GP_SAID_KEYS, the last ones with such a hash; NULL: none yet */
};

/* The number of the text with that key; 0 where it is not known. And the note of it. */
unsigned gp_said_find_key(const struct gp_said *said, const struct gp_said_key *key);
void gp_said_note_key(struct gp_said *said, const struct gp_said_key *key, unsigned number);

/* The number of a text, 0 where it was not said. */
unsigned gp_said_find(const struct gp_said *said, const char *text, size_t length);

/* Gives a text the next number. 0 when out of memory. */
unsigned gp_said_add(struct gp_said *said, const char *text, size_t length);

/* Whether it is time to forget everything: the next `more` texts might find no room. */
bool gp_said_is_full(const struct gp_said *said, unsigned more);
void gp_said_forget(struct gp_said *said);

#endif
