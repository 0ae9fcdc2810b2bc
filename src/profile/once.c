#include "profile/once.h"

#include "profile/blanks.h"
#include "profile/fields.h"
#include "profile/json_fields.h"
#include "profile/number.h"
#include "profile/old_reasons.h"
#include "profile/said.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NOTHING, CONFIGURATION, COUNTERS, VALUES, REASON };

/* Counters that launches have: those with values first. */
struct names {
    size_t valued, count;
    struct gp_counter counters[];
};

struct values {
    const struct names *names;
    double values[];
};

struct gp_once_definition {
    enum kind kind;
    union {
        struct gp_record *configuration;
        struct names *names;
        struct values *values;
        struct gp_reason reason;
        void *any;
    };
};

/* Columns that are no field of a launch. */
enum { OF_CONFIGURATION = -1, OF_REASON = -2, OF_VALUES = -3, OF_COUNTERS = -4, UNKNOWN = -5 };

static bool fail(char *why, size_t why_size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(char *why, size_t why_size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, why_size, fmt, args);
    va_end(args);
    return false;
}

static void free_definition(struct gp_once_definition *d)
{
    if (d->kind != REASON && d->kind != NOTHING)
        free(d->any);
    d->kind = NOTHING;
}

void gp_once_forget(struct gp_once *once)
{
    for (size_t i = 0; i < once->count; i++)
        free_definition(&once->definitions[i]);
    once->count = 0;
}

void gp_once_free(struct gp_once *once)
{
    gp_once_forget(once);
    free(once->definitions);
    free(once->counters);
    gp_strings_free(&once->strings);
}

const char *gp_once_name(struct gp_once *once, const char *name)
{
    const char *own = once->own_name ? once->own_name(once->user, name) : NULL;
    return own ? own : gp_strings_keep(&once->strings, name, NULL);
}

struct gp_reason gp_once_reason(struct gp_once *once, const char *text, const json_t *causes)
{
    const char *word = json_string_value(json_object_get(causes, text));
    struct gp_reason reason = gp_reason_read(text, word);
    reason.text = gp_strings_keep(&once->strings, text, NULL);
    return reason;
}

/* ---- definitions ---- */

static int column_of(const char *name)
{
    static const struct {
        const char *name;
        int column;
    } others[] = {{"configuration", OF_CONFIGURATION},
                  {"reason", OF_REASON},
                  {"values", OF_VALUES},
                  {"counters", OF_COUNTERS}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(name, others[i].name) == 0)
            return others[i].column;
    for (size_t i = 0; i < gp_launch_field_count; i++)
        if (gp_is_column(&gp_launch_fields[i]) && strcmp(name, gp_launch_fields[i].name) == 0)
            return (int)i;
    return UNKNOWN;
}

bool gp_once_columns(struct gp_once *once, const json_t *columns, char *why, size_t why_size)
{
    once->column_count = 0;
    if (!columns)
        return true;
    size_t count = json_array_size(columns);
    if (count == 0 || count > GP_MOST_COLUMNS)
        return fail(why, why_size, "\"columns\" must be an array of 1 to %d names",
                    GP_MOST_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(columns, i));
        if (!name)
            return fail(why, why_size, "\"columns\" must be an array of names");
        once->columns[i] = column_of(name);
    }
    once->column_count = count;
    return true;
}

static struct gp_once_definition *definition(const struct gp_once *once, size_t number,
                                             enum kind kind)
{
    bool known = number < once->count && once->definitions[number].kind == kind;
    return known ? &once->definitions[number] : NULL;
}

/* An empty definition under that number; an older one is freed. NULL: out of memory. */
static struct gp_once_definition *begin_definition(struct gp_once *once, size_t number)
{
    if (number >= once->capacity) {
        size_t capacity = once->capacity ? once->capacity : 64;
        while (capacity <= number)
            capacity *= 2;
        struct gp_once_definition *more =
            realloc(once->definitions, capacity * sizeof(*once->definitions));
        if (!more)
            return NULL;
        once->definitions = more;
        once->capacity = capacity;
    }
    while (once->count <= number)
        once->definitions[once->count++].kind = NOTHING;
    free_definition(&once->definitions[number]);
    return &once->definitions[number];
}

static bool read_configuration(struct gp_once *once, const json_t *line,
                               struct gp_once_definition *d, char *why, size_t why_size)
{
    struct gp_record launch = {.shared_carveout = -1};
    if (!gp_json_fields(line, gp_launch_fields, gp_launch_field_count, GP_FIELDS_ONCE, &launch, why,
                        why_size))
        return false;
    launch.kernel = gp_strings_keep(&once->strings, launch.kernel, NULL);
    struct gp_record *copy = malloc(sizeof(*copy));
    if (!launch.kernel || !copy) {
        free(copy);
        return fail(why, why_size, "out of memory");
    }
    *copy = launch;
    *d = (struct gp_once_definition){.kind = CONFIGURATION, .configuration = copy};
    return true;
}

static bool read_names(struct gp_once *once, const json_t *line, struct gp_once_definition *d,
                       char *why, size_t why_size)
{
    const json_t *names = json_object_get(line, "names");
    json_t *absent = json_object_get(line, "absent");
    const json_t *causes = json_object_get(line, GP_CAUSES_FIELD);
    size_t count = json_array_size(names) + json_object_size(absent);
    if (!json_is_array(names))
        return fail(why, why_size, "\"names\" must be an array");
    struct names *all = malloc(sizeof(*all) + count * sizeof(all->counters[0]));
    bool complete = all != NULL;
    struct gp_counter *to = all ? all->counters : NULL;
    for (size_t i = 0; complete && i < json_array_size(names); i++, to++) {
        const char *name = json_string_value(json_array_get(names, i));
        *to = (struct gp_counter){.name = name ? gp_once_name(once, name) : NULL};
        complete = to->name != NULL;
    }
    const char *name;
    json_t *reason;
    json_object_foreach(absent, name, reason)
    {
        const char *text = json_string_value(reason);
        if (!complete || !text) {
            complete = false;
            break;
        }
        *to = (struct gp_counter){.name = gp_once_name(once, name),
                                  .absent = gp_once_reason(once, text, causes)};
        complete = to->name && to->absent.text;
        to++;
    }
    if (!complete) {
        free(all);
        return fail(why, why_size, "names and reasons must be strings");
    }
    all->valued = json_array_size(names);
    all->count = count;
    *d = (struct gp_once_definition){.kind = COUNTERS, .names = all};
    return true;
}

static bool read_values(struct gp_once *once, const json_t *line, struct gp_once_definition *d,
                        char *why, size_t why_size)
{
    const json_t *array = json_object_get(line, "values");
    const json_t *first = json_array_get(array, 0);
    json_int_t number = json_is_integer(first) ? json_integer_value(first) : -1;
    const struct gp_once_definition *names =
        number >= 0 ? definition(once, (size_t)number, COUNTERS) : NULL;
    if (!names)
        return fail(why, why_size, "the names that its values belong to are not there");
    size_t count = names->names->valued;
    if (json_array_size(array) != count + 1)
        return fail(why, why_size, "there must be %zu values", count);
    /* With a copy of the names, which another line of that number may replace. */
    size_t names_size = sizeof(struct names) + names->names->count * sizeof(struct gp_counter);
    size_t values_size = sizeof(struct values) + count * sizeof(double);
    struct values *values = malloc(values_size + names_size);
    if (!values)
        return fail(why, why_size, "out of memory");
    values->names = memcpy((char *)values + values_size, names->names, names_size);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i + 1);
        if (!json_is_number(value)) {
            free(values);
            return fail(why, why_size, "a value must be a number");
        }
        values->values[i] = json_number_value(value);
    }
    *d = (struct gp_once_definition){.kind = VALUES, .values = values};
    return true;
}

static bool read_reason(struct gp_once *once, const json_t *line, struct gp_once_definition *d,
                        char *why, size_t why_size)
{
    const char *text = json_string_value(json_object_get(line, "reason"));
    const char *kept = text ? gp_strings_keep(&once->strings, text, NULL) : NULL;
    const char *word = json_string_value(json_object_get(line, GP_CAUSE_FIELD));
    if (!kept)
        return fail(why, why_size, "\"reason\" must be a string");
    *d = (struct gp_once_definition){.kind = REASON, .reason = gp_reason_read(kept, word)};
    return true;
}

static const struct {
    const char *type;
    bool (*read)(struct gp_once *, const json_t *, struct gp_once_definition *, char *, size_t);
} kinds[] = {{"configuration", read_configuration},
             {"counters", read_names},
             {"values", read_values},
             {"reason", read_reason}};

bool gp_once_is_definition(const char *type)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(type, kinds[i].type) == 0)
            return true;
    return false;
}

bool gp_once_define(struct gp_once *once, const char *type, const json_t *line, char *why,
                    size_t why_size)
{
    const json_t *id = json_object_get(line, "id");
    if (!json_is_integer(id) || json_integer_value(id) < 1 || json_integer_value(id) > GP_MOST_SAID)
        return fail(why, why_size, "\"id\" must be a whole number from 1 to %d", GP_MOST_SAID);
    struct gp_once_definition d = {.kind = NOTHING};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(type, kinds[i].type) == 0 && !kinds[i].read(once, line, &d, why, why_size))
            return false;
    struct gp_once_definition *to = begin_definition(once, (size_t)json_integer_value(id));
    if (!to) {
        free_definition(&d);
        return fail(why, why_size, "out of memory");
    }
    *to = d;
    return true;
}

/* ---- a launch ---- */

struct cursor {
    const char *at, *end;
};

static bool next_number(struct cursor *c, double *value)
{
    return gp_number_read(&c->at, c->end, value);
}

static bool next_whole(struct cursor *c, uint64_t *value)
{
    uint64_t n = 0;
    const char *first = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(*c->at - '0'), &n))
            return false;
    *value = n;
    return c->at > first;
}

/* Up to the number behind it. */
static bool next_comma(struct cursor *c)
{
    c->at = gp_skip_blanks(c->at, c->end);
    if (c->at == c->end || *c->at != ',')
        return false;
    c->at = gp_skip_blanks(c->at + 1, c->end);
    return true;
}

static bool read_column(struct cursor *c, const struct gp_field *f, struct gp_record *launch)
{
    char *to = (char *)launch + f->offset;
    uint64_t whole;
    double number;
    switch (f->kind) {
    case GP_FIELD_INT:
        if (!next_number(c, &number) || fabs(number) > INT32_MAX || number != floor(number))
            return false;
        *(int *)to = (int)number;
        return true;
    case GP_FIELD_UNSIGNED:
    case GP_FIELD_U32:
        if (!next_whole(c, &whole) || whole > UINT32_MAX)
            return false;
        *(uint32_t *)to = (uint32_t)whole;
        return true;
    case GP_FIELD_U64:
    case GP_FIELD_SIZE:
        return next_whole(c, (uint64_t *)to);
    default:
        return next_number(c, (double *)to);
    }
}

/* The definitions that a launch's line refers to. */
struct parts {
    uint64_t configuration, reason, values, counters;
};

static bool read_columns(const struct gp_once *once, struct cursor *c, struct gp_record *launch,
                         struct parts *parts)
{
    double ignored;
    for (size_t i = 0; i < once->column_count; i++) {
        int column = once->columns[i];
        uint64_t *part = column == OF_CONFIGURATION ? &parts->configuration
                         : column == OF_REASON      ? &parts->reason
                         : column == OF_VALUES      ? &parts->values
                         : column == OF_COUNTERS    ? &parts->counters
                                                    : NULL;
        bool read = part                ? next_whole(c, part)
                    : column == UNKNOWN ? next_number(c, &ignored)
                                        : read_column(c, &gp_launch_fields[column], launch);
        if (!read || (i + 1 < once->column_count && !next_comma(c)))
            return false;
    }
    return true;
}

static bool make_room(struct gp_once *once, size_t count)
{
    if (count <= once->counter_capacity)
        return true;
    struct gp_counter *more = realloc(once->counters, count * sizeof(*more));
    if (!more)
        return false;
    once->counters = more;
    once->counter_capacity = count;
    return true;
}

static bool read_own_values(struct cursor *c, const struct names *names, struct gp_counter *to)
{
    memcpy(to, names->counters, names->count * sizeof(*to));
    for (size_t i = 0; i < names->valued; i++)
        if (!next_comma(c) || !next_number(c, &to[i].value))
            return false;
    return gp_skip_blanks(c->at, c->end) == c->end;
}

bool gp_once_launch(struct gp_once *once, const char *at, const char *end, struct gp_record *launch,
                    char *why, size_t why_size)
{
    struct cursor c = {.at = gp_skip_blanks(at, end), .end = end};
    struct parts p = {0};
    struct gp_record own = {0};
    if (once->column_count == 0)
        return fail(why, why_size, "the header has no \"columns\" for this line");
    if (!read_columns(once, &c, &own, &p))
        return fail(why, why_size, "no number where one is expected");
    const struct gp_once_definition *configuration =
        definition(once, p.configuration, CONFIGURATION);
    const struct gp_once_definition *reason = definition(once, p.reason, REASON);
    const struct gp_once_definition *values = definition(once, p.values, VALUES);
    const struct gp_once_definition *names = definition(once, p.counters, COUNTERS);
    if (!configuration || !names || (p.reason && !reason) || (p.values && !values))
        return fail(why, why_size, "a line that it refers to is not there");

    const struct names *shared = values ? values->values->names : NULL;
    size_t shared_count = shared ? shared->count : 0;
    if (!make_room(once, shared_count + names->names->count + 1))
        return fail(why, why_size, "out of memory");
    if (shared) {
        memcpy(once->counters, shared->counters, shared_count * sizeof(*once->counters));
        for (size_t i = 0; i < shared->valued; i++)
            once->counters[i].value = values->values->values[i];
    }
    if (!read_own_values(&c, names->names, once->counters + shared_count))
        return fail(why, why_size, "there must be %zu values behind the columns",
                    names->names->valued);

    *launch = *configuration->configuration;
    for (size_t i = 0; i < once->column_count; i++) {
        if (once->columns[i] < 0)
            continue;
        const struct gp_field *f = &gp_launch_fields[once->columns[i]];
        memcpy((char *)launch + f->offset, (const char *)&own + f->offset, f->size);
    }
    launch->skipped = reason ? reason->reason : GP_NO_REASON;
    launch->counters = once->counters;
    launch->counter_count = shared_count + names->names->count;
    return true;
}
