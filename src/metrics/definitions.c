#include "metrics/definitions.h"

#include "base/nearest.h"

#include <ctype.h>
#include <ini.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* inih reads lines into a buffer of 200 bytes as it comes from its authors. Longer ones are handed
 * to it in pieces: a line that starts with a blank continues the value before it. */
#define LONGEST_PIECE 150

static const char *const key_names[GP_KEY_COUNT] = {
    [GP_KEY_UNIT] = "unit",
    [GP_KEY_CLASS] = "class",
    [GP_KEY_DESCRIPTION] = "description",
    [GP_KEY_SOURCE] = "source",
    [GP_KEY_FORMULA] = "formula",
    [GP_KEY_DEFAULT] = "default",
    [GP_KEY_HIDDEN] = "hidden",
    [GP_KEY_WHEN] = "when",
    [GP_KEY_OLDER] = "older",
    [GP_KEY_NEEDS] = "needs",
    [GP_KEY_WEIGHT] = "weight",
    [GP_KEY_ABSENT] = "absent",
    [GP_KEY_NEAREST] = "nearest",
    [GP_KEY_NVPROF] = "nvprof",
    [GP_KEY_METRICS] = "metrics",
};

const char *gp_key_name(enum gp_key key)
{
    return key_names[key];
}

struct reading {
    const char *file;
    const char *at, *end; /* of the text not yet read */
    const char *rest;     /* of a long line, NULL when the next piece starts a line */
    const char *rest_end;
    int line;
    bool continues; /* the piece last handed out continues a value */
    bool left_out;  /* the value last begun was given before */
    bool in_section;
    bool refused; /* the section's header made no sense */
    struct gp_definition definition;
    void (*take)(void *user, const struct gp_definition *definition);
    void *user;
    struct gp_text *problems;
};

static const char *key_name(const void *user, size_t i)
{
    (void)user;
    return key_names[i];
}

static void finish_section(struct reading *r)
{
    if (r->in_section && !r->refused) {
        bool failed = false;
        for (int k = 0; k < GP_KEY_COUNT; k++)
            failed |= r->definition.keys[k].text.failed;
        if (failed)
            gp_text_addf(r->problems, "%s:%d: out of memory\n", r->file, r->definition.line);
        else
            r->take(r->user, &r->definition);
    }
    for (int k = 0; k < GP_KEY_COUNT; k++) {
        gp_text_clear(&r->definition.keys[k].text);
        r->definition.keys[k].line = 0;
    }
    r->in_section = false;
}

static bool is_metric_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) || strstr(name, "__"))
        return false;
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            return false;
    static const char *const taken[] = {"min", "max", "all", "default"};
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (strcmp(name, taken[i]) == 0)
            return false;
    return true;
}

/* `begin` stands behind '['. Returns whether the header is worth showing to inih. */
static bool begin_section(struct reading *r, const char *begin, const char *end)
{
    finish_section(r);
    r->in_section = true;
    r->refused = true;
    r->definition.line = r->line;
    const char *close = memchr(begin, ']', (size_t)(end - begin));
    if (!close) {
        gp_text_addf(r->problems, "%s:%d: expected ']' after the metric's name\n", r->file,
                     r->line);
        return false;
    }
    static const char set[] = "set ";
    r->definition.is_set = close - begin > 4 && memcmp(begin, set, 4) == 0;
    if (r->definition.is_set)
        for (begin += 4; begin < close && *begin == ' '; begin++)
            ;
    size_t length = (size_t)(close - begin);
    if (length >= sizeof(r->definition.name)) {
        gp_text_addf(r->problems, "%s:%d: a metric's name has at most %zu letters\n", r->file,
                     r->line, sizeof(r->definition.name) - 1);
        return false;
    }
    memcpy(r->definition.name, begin, length);
    r->definition.name[length] = '\0';
    if (!is_metric_name(r->definition.name)) {
        gp_text_addf(r->problems,
                     "%s:%d: '%s' is no name for a metric: use letters, digits and single '_', and "
                     "none of min, max, all, default\n",
                     r->file, r->line, r->definition.name);
        return false;
    }
    r->refused = false;
    return true;
}

/* Whether [p, end) is "key = ..." with one of our keys. */
static bool gives_a_key(const char *p, const char *end)
{
    for (int k = 0; k < GP_KEY_COUNT; k++) {
        size_t length = strlen(key_names[k]);
        if ((size_t)(end - p) <= length || memcmp(p, key_names[k], length) != 0)
            continue;
        const char *q = p + length;
        while (q < end && isspace((unsigned char)*q))
            q++;
        if (q < end && *q == '=')
            return true;
    }
    return false;
}

/* Decides which part inih gets to see of the line [begin, end), NULL for nothing: inih reports only
 * its first error, and without a text. */
static const char *worth_showing(struct reading *r, const char *begin, const char *end)
{
    const char *p = begin;
    while (p < end && isspace((unsigned char)*p))
        p++;
    if (p == end || *p == ';' || *p == '#')
        return NULL;
    if (*p == '[')
        return begin_section(r, p + 1, end) ? p : NULL;
    if (r->refused)
        return NULL;
    if (!r->in_section) {
        gp_text_addf(r->problems,
                     "%s:%d: expected a metric's name in brackets first: [my_metric]\n", r->file,
                     r->line);
        r->refused = true;
        return NULL;
    }
    if (gives_a_key(p, end))
        return p;
    r->continues = p > begin;
    if (r->continues || memchr(p, '=', (size_t)(end - p)) || memchr(p, ':', (size_t)(end - p)))
        return begin;
    gp_text_addf(r->problems, "%s:%d: expected 'key = value', '[metric]' or a comment\n", r->file,
                 r->line);
    return NULL;
}

/* Where a comment behind a value begins: inih's rule, applied before a long line is cut up. */
static const char *end_of_value(const char *begin, const char *end)
{
    for (const char *p = begin + 1; p < end; p++)
        if (*p == ';' && isspace((unsigned char)p[-1]))
            return p;
    return end;
}

/* Moves on to the next line worth showing. Returns true at the end. */
static bool next_line(struct reading *r)
{
    while (r->at < r->end) {
        const char *begin = r->at;
        const char *end = memchr(begin, '\n', (size_t)(r->end - begin));
        r->at = end ? end + 1 : r->end;
        if (!end)
            end = r->end;
        if (end > begin && end[-1] == '\r')
            end--;
        r->line++;
        r->continues = false;
        begin = worth_showing(r, begin, end);
        if (begin) {
            r->rest = begin;
            r->rest_end = end_of_value(begin, end);
            return true;
        }
    }
    return false;
}

/* The fgets of inih. */
static char *hand_out(char *buffer, int size, void *stream)
{
    struct reading *r = stream;
    int first_piece = !r->rest;
    if (first_piece && !next_line(r))
        return NULL;

    size_t room = (size_t)size - 3; /* a blank, a newline, the NUL */
    if (room > LONGEST_PIECE)
        room = LONGEST_PIECE;
    size_t length = (size_t)(r->rest_end - r->rest);
    size_t taken = length;
    if (length > room) {
        taken = room;
        while (taken > 0 && !isspace((unsigned char)r->rest[taken]))
            taken--;
        if (taken == 0) {
            gp_text_addf(r->problems, "%s:%d: a word is longer than %zu letters\n", r->file,
                         r->line, room);
            taken = length = room;
            r->refused = true;
        }
    }
    char *out = buffer;
    if (!first_piece) {
        r->continues = true;
        *out++ = ' ';
    }
    memcpy(out, r->rest, taken);
    /* A NUL in the file would end the line for inih; let it be an odd letter instead. */
    for (size_t i = 0; i < taken; i++)
        if (!out[i])
            out[i] = '?';
    out[taken] = '\n';
    out[taken + 1] = '\0';
    r->rest = taken < length ? r->rest + taken : NULL;
    return buffer;
}

static int take_value(void *user, const char *section, const char *name, const char *value)
{
    (void)section;
    struct reading *r = user;
    if (r->refused)
        return 1;
    int k = 0;
    while (k < GP_KEY_COUNT && strcmp(key_names[k], name) != 0)
        k++;
    if (k == GP_KEY_COUNT) {
        const char *nearest = gp_nearest(name, GP_KEY_COUNT, key_name, NULL);
        if (!r->continues)
            gp_text_addf(r->problems, "%s:%d: there is no key '%s'%s%s%s; it is left out\n",
                         r->file, r->line, name, nearest ? ", did you mean " : "",
                         nearest ? nearest : "", nearest ? "?" : "");
        return 1;
    }
    struct gp_text *text = &r->definition.keys[k].text;
    if (!r->continues) {
        r->left_out = r->definition.keys[k].line != 0;
        if (r->left_out)
            gp_text_addf(r->problems,
                         "%s:%d: %s was already given in line %d; this one is left out\n", r->file,
                         r->line, name, r->definition.keys[k].line);
    }
    if (r->left_out)
        return 1;
    if (r->continues && text->length > 0)
        gp_text_add(text, " ");
    else
        r->definition.keys[k].line = r->line;
    gp_text_add(text, value);
    return 1;
}

void gp_definitions_read(const char *file, const char *text, size_t length,
                         void (*take)(void *, const struct gp_definition *), void *user,
                         struct gp_text *problems)
{
    struct reading r = {
        .file = file,
        .at = text,
        .end = text + length,
        .take = take,
        .user = user,
        .problems = problems,
        .definition.file = file,
    };
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0)
        r.at += 3;
    int answer = ini_parse_stream(hand_out, &r, take_value, &r);
    finish_section(&r);
    if (answer != 0)
        gp_text_addf(problems, "%s:%d: %s\n", file, r.line,
                     answer == -2 ? "out of memory" : "expected 'key = value'");
    for (int k = 0; k < GP_KEY_COUNT; k++)
        gp_text_free(&r.definition.keys[k].text);
}

static const char *skip_blanks(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Returns the text behind the number, NULL when there is none or it is too large. */
static const char *read_small_number(const char *p, int *number)
{
    if (!isdigit((unsigned char)*p))
        return NULL;
    for (*number = 0; isdigit((unsigned char)*p); p++) {
        *number = *number * 10 + (*p - '0');
        if (*number > 99)
            return NULL;
    }
    return p;
}

/* Reads "9.0" or "9"; returns the text behind it, NULL when it is no compute capability. */
static const char *read_cc(const char *p, int *cc_major, int *cc_minor)
{
    *cc_minor = 0;
    p = read_small_number(p, cc_major);
    return p && *p == '.' ? read_small_number(p + 1, cc_minor) : p;
}

bool gp_cc_parse(const char *text, int *cc_major, int *cc_minor)
{
    const char *end = read_cc(text, cc_major, cc_minor);
    return end && !*end && *cc_major > 0;
}

bool gp_condition_parse(const char *text, struct gp_condition *condition, char *why,
                        size_t why_size)
{
    static const struct {
        const char *sign;
        enum gp_condition_relation comparison;
    } signs[] = {
        {"<=", GP_LESS_EQUAL}, {">=", GP_GREATER_EQUAL}, {"==", GP_EQUAL},
        {"<", GP_LESS},        {">", GP_GREATER},
    };
    memset(condition, 0, sizeof(*condition));
    const char *p = text;
    for (int begins_or = 0;;) {
        p = skip_blanks(p);
        if (condition->count == GP_MOST_CONDITIONS) {
            snprintf(why, why_size, "a condition has at most %d parts", GP_MOST_CONDITIONS);
            return false;
        }
        if (strncmp(p, "events", 6) == 0) {
            if (p[6] && !isspace((unsigned char)p[6]))
                break;
            condition->terms[condition->count++].comparison = GP_EVENTS;
            p = skip_blanks(p + 6);
        } else if (strncmp(p, "cc", 2) == 0) {
            p = skip_blanks(p + 2);
            size_t i = 0, count = sizeof(signs) / sizeof(signs[0]);
            while (i < count && strncmp(p, signs[i].sign, strlen(signs[i].sign)) != 0)
                i++;
            if (i == count)
                break;
            int cc_major, cc_minor;
            p = read_cc(skip_blanks(p + strlen(signs[i].sign)), &cc_major, &cc_minor);
            if (!p)
                break;
            condition->terms[condition->count].comparison = signs[i].comparison;
            condition->terms[condition->count].cc = cc_major * 100 + cc_minor;
            condition->count++;
            p = skip_blanks(p);
        } else {
            break;
        }
        condition->terms[condition->count - 1].begins_or = begins_or;
        if (!*p)
            return true;
        begins_or = strncmp(p, "or", 2) == 0;
        size_t word = begins_or ? 2 : 3;
        if ((!begins_or && strncmp(p, "and", 3) != 0) || !isspace((unsigned char)p[word]))
            break;
        p += word;
    }
    snprintf(why, why_size,
             "'%s' is no condition; write it like 'cc >= 9.0 and cc < 10.0', with < <= > >= ==, "
             "'and', 'or', or 'events'",
             text);
    return false;
}

bool gp_condition_holds(const struct gp_condition *condition, const struct gp_device *device)
{
    /* Out of a profile, which may say anything. */
    int64_t cc = (int64_t)device->cc_major * 100 + device->cc_minor;
    bool all_hold = true; /* since the last "or" */
    for (size_t i = 0; i < condition->count; i++) {
        int asked = condition->terms[i].cc;
        bool holds = false;
        if (condition->terms[i].begins_or && all_hold)
            return true;
        all_hold = all_hold || condition->terms[i].begins_or;
        switch (condition->terms[i].comparison) {
        case GP_LESS:
            holds = cc < asked;
            break;
        case GP_LESS_EQUAL:
            holds = cc <= asked;
            break;
        case GP_GREATER:
            holds = cc > asked;
            break;
        case GP_GREATER_EQUAL:
            holds = cc >= asked;
            break;
        case GP_EQUAL:
            holds = cc == asked;
            break;
        case GP_EVENTS:
            holds = device->event_counters != 0;
            break;
        }
        all_hold = all_hold && holds;
    }
    return all_hold;
}
