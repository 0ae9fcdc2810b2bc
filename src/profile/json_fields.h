/* The fields of a record out of a JSON object. */
#ifndef GPUPROF_PROFILE_JSON_FIELDS_H
#define GPUPROF_PROFILE_JSON_FIELDS_H

#include "profile/object.h"

/* Fields that the object lacks stay as they are, unless they are needed. Strings point into the
 * object. False with the reason in `why`. */
bool gp_json_fields(const json_t *object, const struct gp_field *fields, size_t count,
                    enum gp_field_choice choice, void *record, char *why, size_t why_size);

/* Whether a value is a whole number in these limits. */
bool gp_json_is_between(const json_t *value, json_int_t least, json_int_t most);

/* True for a text of more than a million objects and arrays: an empty object takes a hundred times
 * as much memory as its text. */
bool gp_json_is_too_large(const char *text, size_t length);

#endif
