#include "profile/json_fields.h"

#include "profile/old_reasons.h"

#include <limits.h>
#include <stdio.h>

#define MOST_PARTS (1u << 20)

bool gp_json_is_too_large(const char *text, size_t length)
{
    size_t parts = 0;
    for (size_t i = 0; length > MOST_PARTS && i < length && parts <= MOST_PARTS; i++)
        parts += text[i] == '{' || text[i] == '[';
    return parts > MOST_PARTS;
}

bool gp_json_is_between(const json_t *value, json_int_t least, json_int_t most)
{
    return json_is_integer(value) && json_integer_value(value) >= least &&
           json_integer_value(value) <= most;
}

/* Returns a name for the expected value, NULL when the field was read. */
static const char *read_field(const struct gp_field *f, const json_t *object, const json_t *value,
                              char *at)
{
    switch (f->kind) {
    case GP_FIELD_INT:
        if (!gp_json_is_between(value, INT_MIN, INT_MAX))
            return "a whole number";
        *(int *)at = (int)json_integer_value(value);
        return NULL;
    case GP_FIELD_UNSIGNED:
    case GP_FIELD_U32:
        if (!gp_json_is_between(value, 0, UINT32_MAX))
            return "a whole number from 0 to 4294967295";
        *(uint32_t *)at = (uint32_t)json_integer_value(value);
        return NULL;
    case GP_FIELD_U64:
    case GP_FIELD_SIZE:
        /* Above 2^63 the writer stores the same bits as a negative number. */
        if (!json_is_integer(value))
            return "a whole number";
        *(uint64_t *)at = (uint64_t)json_integer_value(value);
        return NULL;
    case GP_FIELD_DOUBLE:
        if (!json_is_number(value))
            return "a number";
        *(double *)at = json_number_value(value);
        return NULL;
    case GP_FIELD_TEXT:
        if (!json_is_string(value))
            return "a string";
        snprintf(at, f->size, "%s", json_string_value(value));
        return NULL;
    case GP_FIELD_STRING:
        if (!json_is_string(value))
            return "a string";
        *(const char **)at = json_string_value(value);
        return NULL;
    case GP_FIELD_REASON:
        if (!json_is_string(value))
            return "a string";
        *(struct gp_reason *)at = gp_reason_read(
            json_string_value(value), json_string_value(json_object_get(object, GP_CAUSE_FIELD)));
        return NULL;
    case GP_FIELD_EXTENT:
        for (size_t k = 0; k < 3; k++) {
            const json_t *part = json_array_get(value, k);
            if (json_array_size(value) != 3 || !gp_json_is_between(part, 0, UINT32_MAX))
                return "an array of three whole numbers";
            ((unsigned *)at)[k] = (unsigned)json_integer_value(part);
        }
        return NULL;
    }
    return NULL;
}
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes are read as 64 bits");
_Static_assert(sizeof(unsigned) == sizeof(uint32_t), "unsigned is read as 32 bits");

bool gp_json_fields(const json_t *object, const struct gp_field *fields, size_t count,
                    enum gp_field_choice choice, void *record, char *why, size_t why_size)
{
    for (size_t i = 0; i < count; i++) {
        if (choice == GP_FIELDS_ONCE && !fields[i].once)
            continue;
        const json_t *value = json_object_get(object, fields[i].name);
        if (!value && fields[i].needed) {
            snprintf(why, why_size, "there is no \"%s\"", fields[i].name);
            return false;
        }
        const char *expected =
            value ? read_field(&fields[i], object, value, (char *)record + fields[i].offset) : NULL;
        if (expected) {
            snprintf(why, why_size, "\"%s\" must be %s", fields[i].name, expected);
            return false;
        }
    }
    return true;
}
