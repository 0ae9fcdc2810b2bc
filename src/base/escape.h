/* Text from elsewhere (names of kernels, files, arguments) as a terminal may have it: in one line,
 * and without sequences that move its cursor, change its title or reverse the line. */
#ifndef GPUPROF_BASE_ESCAPE_H
#define GPUPROF_BASE_ESCAPE_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* The number of the UTF-8 character at the beginning of `from`, which has `length` bytes and at
 * least one. Returns how many bytes it has, 0 where these are none. */
size_t gp_character_at(const char *from, size_t length, uint32_t *character);

/* False for control characters, ends of lines and paragraphs, marks that change a line's direction,
 * tags. */
bool gp_character_shows(uint32_t character);

/* The most bytes that one character takes. */
#define GP_ESCAPED_BYTES 12

/* Writes the character at the beginning of `from`, which has `length` bytes and at least one, to
 * `to`: as it is, or \n, \t, \r, \x1b (control characters, and bytes that are no UTF-8), \u{202e}
 * (others that do not show). Returns how many bytes of `from` it was; *written, how many are in
 * `to`. */
size_t gp_escape_one(const char *from, size_t length, char to[GP_ESCAPED_BYTES], size_t *written);

/* True where nothing in the text would be changed. */
bool gp_is_printable(const char *text, size_t length);

/* Adds all of it. */
void gp_text_add_escaped(struct gp_text *to, const char *text, size_t length);

/* Adds a line that has such texts in it, and ends it. */
void gp_text_add_linef(struct gp_text *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a text of several lines. */
void gp_text_add_escaped_lines(struct gp_text *to, const char *text, size_t length);

#endif
