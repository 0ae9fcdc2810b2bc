#include "profile/object.h"

#include "base/escape.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void gp_object_put(struct gp_object *o, json_t *into, const char *key, json_t *value)
{
    if (json_object_set_new(into, key, value) != 0)
        o->failed = true;
}

void gp_object_append(struct gp_object *o, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        o->failed = true;
}

struct gp_object gp_object_new(const char *type)
{
    struct gp_object o = {.object = json_object()};
    o.failed = !o.object;
    if (type)
        gp_object_put(&o, o.object, "type", json_string(type));
    return o;
}

json_t *gp_object_text(const char *s)
{
    json_t *value = json_string(s);
    if (value)
        return value;
    struct gp_text clean = {0};
    for (size_t length = strlen(s), size; length > 0; s += size, length -= size) {
        uint32_t character;
        size = gp_character_at(s, length, &character);
        gp_text_add_bytes(&clean, size > 0 ? s : "?", size > 0 ? size : 1);
        size = size > 0 ? size : 1;
    }
    value = clean.failed ? NULL : json_string(gp_text_string(&clean));
    gp_text_free(&clean);
    return value;
}

json_t *gp_object_whole(uint64_t n)
{
    return json_integer((json_int_t)n);
}

json_t *gp_object_extent(struct gp_object *o, const unsigned extent[3])
{
    json_t *array = json_array();
    for (int k = 0; k < 3; k++)
        gp_object_append(o, array, gp_object_whole(extent[k]));
    return array;
}

void gp_object_put_reason(struct gp_object *o, json_t *into, const char *key,
                          struct gp_reason reason)
{
    if (!reason.cause)
        return;
    gp_object_put(o, into, key, gp_object_text(reason.text));
    gp_object_put(o, into, GP_CAUSE_FIELD, json_string(gp_cause_word(reason.cause)));
}

struct gp_absences gp_absences_new(void)
{
    return (struct gp_absences){json_object(), json_object()};
}

void gp_object_add_absent(struct gp_object *o, struct gp_absences *absences,
                          const struct gp_counter *counter, struct gp_reason reason)
{
    json_t *text = gp_object_text(reason.text);
    /* Many counters have the same reason. */
    if (text && !json_object_get(absences->causes, json_string_value(text)))
        gp_object_put(o, absences->causes, json_string_value(text),
                      json_string(gp_cause_word(reason.cause)));
    gp_object_put(o, absences->absent, counter->name, text);
}

void gp_object_put_absences(struct gp_object *o, struct gp_absences absences)
{
    const bool has_causes = json_object_size(absences.causes) > 0;
    gp_object_put(o, o->object, "absent", absences.absent);
    if (has_causes)
        gp_object_put(o, o->object, GP_CAUSES_FIELD, absences.causes);
    else
        json_decref(absences.causes);
}

static void put_field(struct gp_object *o, const struct gp_field *f, const char *at)
{
    json_t *into = o->object;
    switch (f->kind) {
    case GP_FIELD_INT:
        gp_object_put(o, into, f->name, json_integer(*(const int *)at));
        break;
    case GP_FIELD_UNSIGNED:
    case GP_FIELD_U32:
        gp_object_put(o, into, f->name, gp_object_whole(*(const uint32_t *)at));
        break;
    case GP_FIELD_U64:
    case GP_FIELD_SIZE:
        gp_object_put(o, into, f->name, gp_object_whole(*(const uint64_t *)at));
        break;
    case GP_FIELD_DOUBLE:
        if (isfinite(*(const double *)at))
            gp_object_put(o, into, f->name, json_real(*(const double *)at));
        break;
    case GP_FIELD_TEXT:
        gp_object_put(o, into, f->name, gp_object_text(at));
        break;
    case GP_FIELD_STRING:
        if (*(const char *const *)at)
            gp_object_put(o, into, f->name, gp_object_text(*(const char *const *)at));
        break;
    case GP_FIELD_REASON:
        gp_object_put_reason(o, into, f->name, *(const struct gp_reason *)at);
        break;
    case GP_FIELD_EXTENT:
        gp_object_put(o, into, f->name, gp_object_extent(o, (const unsigned *)at));
        break;
    }
}

void gp_object_put_fields(struct gp_object *o, const struct gp_field *fields, size_t count,
                          enum gp_field_choice choice, const void *record)
{
    for (size_t i = 0; i < count; i++)
        if (choice == GP_FIELDS_ALL || fields[i].once)
            put_field(o, &fields[i], (const char *)record + fields[i].offset);
}

struct gp_object gp_object_count(const struct gp_count *count)
{
    struct gp_object o = gp_object_new(count->reason.cause ? "passed_over" : "count");
    gp_object_put_fields(&o, gp_count_fields, gp_count_field_count, GP_FIELDS_ALL, count);
    if (!count->reason.cause && count->last_reading > 0)
        gp_object_put_fields(&o, gp_reading_fields, gp_reading_field_count, GP_FIELDS_ALL, count);
    return o;
}

struct gp_object gp_object_end(const struct gp_end *end)
{
    struct gp_object o = gp_object_new("end");
    gp_object_put_fields(&o, gp_end_fields, gp_end_field_count, GP_FIELDS_ALL, end);
    if (end->has_window)
        gp_object_put_fields(&o, gp_window_fields, gp_window_field_count, GP_FIELDS_ALL, end);
    if (end->has_limit)
        gp_object_put_fields(&o, gp_limit_fields, gp_limit_field_count, GP_FIELDS_ALL, end);
    if (end->has_host)
        gp_object_put_fields(&o, gp_host_fields, gp_host_field_count, GP_FIELDS_ALL, end);
    return o;
}

struct gp_object gp_object_launch(const char *type, const struct gp_record *launch)
{
    struct gp_object o = gp_object_new(type);
    gp_object_put_fields(&o, gp_launch_fields, gp_launch_field_count, GP_FIELDS_ALL, launch);
    json_t *counters = json_object();
    struct gp_absences absences = gp_absences_new();
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (c->absent.cause)
            gp_object_add_absent(&o, &absences, c, c->absent);
        else
            gp_object_put(&o, counters, c->name, json_real(c->value));
    }
    gp_object_put(&o, o.object, "counters", counters);
    gp_object_put_absences(&o, absences);
    return o;
}

/* As \u202e, or \ud83d\ude00 beyond the first 65536. Nothing but strings has such characters. */
static void add_escape(struct gp_text *out, uint32_t character)
{
    const uint32_t beyond = character - 0x10000;
    if (character < 0x10000)
        gp_text_addf(out, "\\u%04" PRIx32, character);
    else
        gp_text_addf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + (beyond >> 10),
                     0xdc00 + (beyond & 0x3ff));
}

/* The JSON behind the first `begin` bytes, with escapes for characters that do not show. */
static void escape_hidden(struct gp_text *out, size_t begin)
{
    struct gp_text json = {0};
    if (out->failed || gp_is_printable(out->data + begin, out->length - begin))
        return;
    gp_text_add_bytes(&json, out->data + begin, out->length - begin);
    out->length = begin;
    for (size_t at = 0, size; at < json.length; at += size) {
        uint32_t character = 0;
        size = gp_character_at(json.data + at, json.length - at, &character);
        if (size > 0 && !gp_character_shows(character))
            add_escape(out, character);
        else
            gp_text_add_bytes(out, json.data + at, size > 0 ? size : 1);
        size = size > 0 ? size : 1;
    }
    out->failed |= json.failed;
    gp_text_free(&json);
}

static int append(const char *bytes, size_t length, void *text)
{
    gp_text_add_bytes(text, bytes, length);
    return ((struct gp_text *)text)->failed ? -1 : 0;
}

bool gp_object_finish(struct gp_object *o, struct gp_text *out)
{
    const size_t begin = out->length;
    bool complete = !o->failed && json_dump_callback(o->object, append, out,
                                                     JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0;
    json_decref(o->object);
    o->object = NULL;
    escape_hidden(out, begin);
    return complete && !out->failed;
}
