/* A text that grows. Owns its memory.
 *
 * Running out of memory sets `failed`, keeps the text so far and makes later additions do nothing,
 * so a caller adds freely and asks once at the end. */
#ifndef GPUPROF_BASE_TEXT_H
#define GPUPROF_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* All zero is an empty text. `data` is NULL while nothing was added, else ends in a NUL. */
struct gp_text {
    char *data;
    size_t length, capacity;
    bool failed;
};

void gp_text_add(struct gp_text *t, const char *s);
void gp_text_add_bytes(struct gp_text *t, const char *bytes, size_t length);
void gp_text_addf(struct gp_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Forgets the contents, keeps the memory (and forgets an earlier failure). */
void gp_text_clear(struct gp_text *t);
void gp_text_free(struct gp_text *t);

/* The contents as a string, "" when there are none. */
const char *gp_text_string(const struct gp_text *t);

#endif
