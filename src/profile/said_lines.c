#include "profile/said_lines.h"

#include "profile/fields.h"
#include "profile/number.h"
#include "profile/object.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* At most so many things are said once for a launch. */
#define MOST_PER_LAUNCH 5

/* The first letter of each key: those of two kinds are never alike. */
enum kind { CONFIGURATION = 'c', REASON = 'r', NAMES = 'n', VALUES = 'v' };

/* ---- keys -----------------------------------------------------------------------------------
 *
 * Most launches are like others before them. So each definition is found by a key, which is quicker
 * made than the definition's text. */

static void begin_key(struct gp_said_lines *s, enum kind kind)
{
    const char letter = (char)kind;
    gp_text_clear(&s->key);
    gp_text_add_bytes(&s->key, &letter, 1);
}

/* With its NUL. No string at all differs from each string. */
static void add_string(struct gp_said_lines *s, const char *string)
{
    gp_text_add(&s->key, string ? "+" : "-");
    if (string)
        gp_text_add_bytes(&s->key, string, strlen(string) + 1);
}

static void add_reason(struct gp_said_lines *s, struct gp_reason reason)
{
    gp_text_add_bytes(&s->key, (const char *)&reason.cause, sizeof(reason.cause));
    add_string(s, reason.text);
}

/* Says w->body under a number, which stands for the key from here on. 0 when out of memory. */
static unsigned say(struct gp_said_lines *s, const char *type, struct gp_text *lines)
{
    if (s->key.failed || s->body.failed)
        return 0;
    const unsigned number = gp_said_add(&s->said, s->key.data, s->key.length);
    if (number == 0)
        return 0;
    gp_text_addf(lines, "{\"type\":\"%s\",\"id\":%u,", type, number);
    gp_text_add_bytes(lines, s->body.data + 1, s->body.length - 1);
    gp_text_add(lines, "\n");
    return number;
}

static unsigned say_object(struct gp_said_lines *s, const char *type, struct gp_object *object,
                           struct gp_text *lines)
{
    gp_text_clear(&s->body);
    return gp_object_finish(object, &s->body) ? say(s, type, lines) : 0;
}

static unsigned find(const struct gp_said_lines *s)
{
    return s->key.failed ? 0 : gp_said_find(&s->said, s->key.data, s->key.length);
}

/* ---- definitions ----------------------------------------------------------------------------- */

static unsigned configuration(struct gp_said_lines *s, const struct gp_record *launch,
                              struct gp_text *lines)
{
    begin_key(s, CONFIGURATION);
    for (size_t i = 0; i < gp_launch_field_count; i++) {
        const struct gp_field *f = &gp_launch_fields[i];
        const char *at = (const char *)launch + f->offset;
        if (f->once && f->kind == GP_FIELD_STRING)
            add_string(s, *(const char *const *)at);
        else if (f->once)
            gp_text_add_bytes(&s->key, at, f->size);
    }
    const unsigned known = find(s);
    if (known)
        return known;
    struct gp_object object = gp_object_new(NULL);
    gp_object_put_fields(&object, gp_launch_fields, gp_launch_field_count, GP_FIELDS_ONCE, launch);
    return say_object(s, "configuration", &object, lines);
}

static unsigned reason(struct gp_said_lines *s, struct gp_reason why, struct gp_text *lines)
{
    begin_key(s, REASON);
    add_reason(s, why);
    const unsigned known = find(s);
    if (known)
        return known;
    struct gp_object object = gp_object_new(NULL);
    gp_object_put_reason(&object, object.object, "reason", why);
    return say_object(s, "reason", &object, lines);
}

/* Why a counter has no value. */
static struct gp_reason absence(const struct gp_counter *c)
{
    if (!c->absent.cause && !isfinite(c->value))
        return GP_REASON_TEXT(NO_VALUE, "not a finite number");
    return c->absent;
}

/* The counts of instrumented code are the same for many launches. */
static bool is_shared(const struct gp_counter *c)
{
    return strstr(c->name, GP_INSTRUMENTED) != NULL;
}

bool gp_is_in_line(const struct gp_counter *c)
{
    return !is_shared(c) && !absence(c).cause;
}

static void put_names(struct gp_object *object, const struct gp_record *launch, bool shared)
{
    json_t *names = json_array();
    struct gp_absences absences = gp_absences_new();
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (is_shared(c) != shared)
            continue;
        const struct gp_reason why = absence(c);
        if (why.cause)
            gp_object_add_absent(object, &absences, c, why);
        else
            gp_object_append(object, names, json_string(c->name));
    }
    gp_object_put(object, object->object, "names", names);
    gp_object_put_absences(object, absences);
}

/* The names of those counters that are shared, or are not. */
static unsigned names(struct gp_said_lines *s, const struct gp_record *launch, bool shared,
                      struct gp_text *lines)
{
    begin_key(s, NAMES);
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (is_shared(c) != shared)
            continue;
        add_string(s, c->name);
        add_reason(s, absence(c));
    }
    const unsigned known = find(s);
    if (known)
        return known;
    struct gp_object object = gp_object_new(NULL);
    put_names(&object, launch, shared);
    return say_object(s, "counters", &object, lines);
}

static unsigned shared_values(struct gp_said_lines *s, const struct gp_record *launch,
                              struct gp_text *lines)
{
    const unsigned of = names(s, launch, true, lines);
    begin_key(s, VALUES);
    gp_text_add_bytes(&s->key, (const char *)&of, sizeof(of));
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (is_shared(c) && !absence(c).cause)
            gp_text_add_bytes(&s->key, (const char *)&c->value, sizeof(c->value));
    }
    const unsigned known = of ? find(s) : 0;
    if (known || !of)
        return known;
    gp_text_clear(&s->body);
    gp_text_addf(&s->body, "{\"values\":[%u", of);
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (!is_shared(c) || absence(c).cause)
            continue;
        gp_text_add(&s->body, ",");
        gp_number_add_measured(&s->body, c->value);
    }
    gp_text_add(&s->body, "]}");
    return say(s, "values", lines);
}

/* ---- */

static bool has_shared(const struct gp_record *launch)
{
    bool shared = false;
    for (size_t i = 0; i < launch->counter_count; i++)
        shared |= is_shared(&launch->counters[i]);
    return shared;
}

bool gp_say_launch(struct gp_said_lines *s, const struct gp_record *launch,
                   struct gp_references *references, struct gp_text *lines)
{
    const bool shares = has_shared(launch);
    if (gp_said_is_full(&s->said, MOST_PER_LAUNCH)) {
        gp_said_forget(&s->said);
        gp_text_add(lines, "{\"type\":\"forget\"}\n");
    }
    struct gp_references *r = references;
    r->configuration = configuration(s, launch, lines);
    r->reason = launch->skipped.cause ? reason(s, launch->skipped, lines) : 0;
    r->values = shares ? shared_values(s, launch, lines) : 0;
    r->counters = names(s, launch, false, lines);
    return r->configuration && r->counters && (r->reason || !launch->skipped.cause) &&
           (r->values || !shares);
}

void gp_said_lines_free(struct gp_said_lines *s)
{
    gp_said_forget(&s->said);
    gp_text_free(&s->key);
    gp_text_free(&s->body);
}
