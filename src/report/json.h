/* JSON that may stand inside a page: appended to a text, piece by piece. The caller writes brackets
 * and commas; this room's functions write text that has to be escaped. */
#ifndef GPUPROF_REPORT_JSON_H
#define GPUPROF_REPORT_JSON_H

#include "base/text.h"

/* A quoted string; NULL becomes null. No `<`, `>` or `&` is left in it, so no markup can begin or
 * end there. Bytes that are no UTF-8 become U+FFFD. */
void gp_json_string(struct gp_text *out, const char *s);

/* A number with nine significant digits, null where it is not finite. */
void gp_json_number(struct gp_text *out, double value);

/* `"key":`, with a comma before it unless an object or array has just begun. */
void gp_json_key(struct gp_text *out, const char *key);
/* Writes a key as gp_json_key does, and a string as its value. */
void gp_json_member(struct gp_text *out, const char *key, const char *value);

/* A comma, unless an object or array has just begun. */
void gp_json_next(struct gp_text *out);

/* A string that holds the bytes in base64. */
void gp_json_bytes(struct gp_text *out, const void *bytes, size_t length);

#endif
