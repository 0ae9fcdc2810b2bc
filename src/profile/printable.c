#include "profile/printable.h"

#include "base/escape.h"

#include <string.h>

static bool clean_string(json_t *value)
{
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (gp_is_printable(text, length))
        return true;
    struct gp_text clean = {0};
    gp_text_add_escaped(&clean, text, length);
    bool done = !clean.failed && json_string_setn(value, clean.data, clean.length) == 0;
    gp_text_free(&clean);
    return done;
}

static bool clean_key(json_t *object, const char *key, json_t *value)
{
    if (gp_is_printable(key, strlen(key)))
        return true;
    struct gp_text clean = {0};
    gp_text_add_escaped(&clean, key, strlen(key));
    bool done = !clean.failed && json_object_set(object, clean.data, value) == 0 &&
                json_object_del(object, key) == 0;
    gp_text_free(&clean);
    return done;
}

/* As deep as the parser lets values lie in one another. */
bool gp_make_printable(json_t *value)
{
    size_t i;
    const char *key;
    json_t *part;
    void *next;
    bool done = true;
    if (json_is_string(value))
        return clean_string(value);
    if (json_is_array(value))
        json_array_foreach(value, i, part) done = gp_make_printable(part) && done;
    if (json_is_object(value))
        json_object_foreach_safe(value, next, key, part)
        {
            done = gp_make_printable(part) && clean_key(value, key, part) && done;
        }
    return done;
}
