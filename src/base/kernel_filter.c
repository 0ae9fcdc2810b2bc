#include "base/kernel_filter.h"

#include "base/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 18

/* A number, or nothing for any. */
static bool read_number(const char *text, size_t length, uint64_t *number)
{
    *number = GP_ANY;
    if (length == 0)
        return true;
    if (strspn(text, "0123456789") < length || length > MOST_DIGITS)
        return false;
    *number = strtoull(text, NULL, 10);
    return true;
}

/* Names of C++ have colons of their own, so text around a name that is not all numbers belongs to a
 * name. */
static bool read_path(const char *text, struct gp_kernel_filter *f, const char **name,
                      size_t *name_length)
{
    const char *stream = strchr(text, ':');
    const char *begin = stream ? strchr(stream + 1, ':') : NULL;
    const char *end = begin ? strrchr(begin + 1, ':') : NULL;
    if (!end || !read_number(text, (size_t)(stream - text), &f->context) ||
        !read_number(stream + 1, (size_t)(begin - stream - 1), &f->stream) ||
        !read_number(end + 1, strlen(end + 1), &f->invocation))
        return false;
    *name = begin + 1;
    *name_length = (size_t)(end - begin - 1);
    return true;
}

/* Whether the colon stands for something else than the end of a part: "::" of C++, also as ":{2}",
 * "(?:" and "(?i:". */
static bool is_of_name(const char *text, const char *colon)
{
    const char *before = colon;
    if ((colon[1] && strchr(":{+*?", colon[1])) || (colon > text && colon[-1] == ':'))
        return true;
    while (before > text && strchr("imsx-^", before[-1]))
        before--;
    return before - text >= 2 && before[-1] == '?' && before[-2] == '(';
}

/* The end of the bracket expression at `text`, "[a-z:]" or "[[:alpha:]]", or of the text. */
static const char *end_of_bracket(const char *text)
{
    const char *at = text + 1 + (text[1] == '^');
    if (*at == ']')
        at++;
    while (*at && *at != ']') {
        const char *class = at[0] == '[' && at[1] == ':' ? strstr(at + 2, ":]") : NULL;
        at = class ? class + 2 : at + 1;
    }
    return *at ? at + 1 : at;
}

static bool has_single_colon(const char *text)
{
    const char *at = text;
    while (*at) {
        if (*at == ':' && !is_of_name(text, at))
            return true;
        at = *at == '[' ? end_of_bracket(at) : at + 1;
    }
    return false;
}

static bool compiles(const char *pattern, char *why, size_t why_size)
{
    char reason[200];
    struct gp_regex *regex = gp_regex_new(pattern, reason, sizeof(reason));
    if (!regex)
        snprintf(why, why_size, "'%.100s%s' is no regular expression: %s", pattern,
                 strlen(pattern) > 100 ? "..." : "", reason);
    gp_regex_free(regex);
    return regex != NULL;
}

bool gp_kernel_filter_parse(const char *text, struct gp_kernel_filter *filter, char *why,
                            size_t why_size)
{
    static const char operator[] = "regex:";
    struct gp_kernel_filter f = {.context = GP_ANY, .stream = GP_ANY, .invocation = GP_ANY};
    const char *name = text;
    size_t length = strlen(text);
    if (!read_path(text, &f, &name, &length)) {
        f.context = f.stream = f.invocation = GP_ANY;
        name = text;
        length = strlen(text);
    }
    if (length >= sizeof(operator) - 1 && strncmp(name, operator, sizeof(operator) - 1) == 0) {
        name += sizeof(operator) - 1;
        length -= sizeof(operator) - 1;
    }
    if (f.invocation == 0) {
        snprintf(why, why_size, "'%.100s': launches of a kernel count from 1", text);
        return false;
    }
    f.name = strndup(name, length);
    if (!f.name) {
        snprintf(why, why_size, "out of memory");
        return false;
    }
    /* No name has a single colon, so this is a path with a mistake in it. */
    if (has_single_colon(f.name)) {
        snprintf(
            why, why_size,
            "'%.100s' is neither a name nor CONTEXT:STREAM:NAME:INVOCATION, where all but NAME "
            "are numbers or empty",
            text);
        free(f.name);
        return false;
    }
    /* An empty expression is one that some libraries do not take. */
    if (*f.name && !compiles(f.name, why, why_size)) {
        free(f.name);
        return false;
    }
    *filter = f;
    return true;
}

void gp_kernel_filter_free(struct gp_kernel_filter *filter)
{
    free(filter->name);
    filter->name = NULL;
}
