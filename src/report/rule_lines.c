#include "report/rule_loading.h"

#include "base/nearest.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_LINE 2000

static const char *const key_names[GP_RULE_KEYS] = {
    [GP_RULE_UNDER] = "under",
    [GP_RULE_CONDITION] = "condition",
    [GP_RULE_EVIDENCE] = "evidence",
    [GP_RULE_TEXT] = "text",
    [GP_RULE_ESTIMATE] = "estimate",
    [GP_RULE_SOURCE] = "source",
    [GP_RULE_LINES] = "lines",
    [GP_RULE_LINES_IF] = "lines_if",
    [GP_RULE_HELPS] = "helps",
    [GP_RULE_SCOPE] = "scope",
    [GP_RULE_OF] = "of",
    [GP_RULE_LIBRARIES] = "libraries",
    [GP_RULE_KERNELS] = "kernels",
    [GP_RULE_USE] = "use",
    [GP_RULE_LAST] = "last",
    [GP_RULE_GUESS] = "guess",
    [GP_RULE_EACH_SM] = "each_sm",
    [GP_RULE_TITLE] = "title",
    [GP_RULE_UTILIZATION] = "utilization",
    [GP_RULE_COUNTED] = "counted",
    [GP_RULE_AT_MOST] = "at_most",
    [GP_RULE_CEILING] = "ceiling",
};

/* ---- keys ------------------------------------------------------------------------------------ */

void gp_rule_complain(struct gp_rule_loading *l, int line, const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    gp_text_addf(l->problems, "%s:%d: %s\n", l->file, line, what);
    l->refused = true;
}

bool gp_rule_is_given(const struct gp_rule_loading *l, enum gp_rule_key key)
{
    return l->section.keys[key].line != 0;
}

const char *gp_rule_text_of(const struct gp_rule_loading *l, enum gp_rule_key key)
{
    return gp_text_string(&l->section.keys[key].text);
}

void gp_rule_complain_of_key(struct gp_rule_loading *l, enum gp_rule_key key, const char *what)
{
    gp_rule_complain(l, l->section.keys[key].line, "%s %s: %s: %s",
                     l->section.is_unit ? "bound" : "rule", l->section.name, key_names[key], what);
}

void gp_rule_need(struct gp_rule_loading *l, enum gp_rule_key key)
{
    if (!gp_rule_is_given(l, key))
        gp_rule_complain(l, l->section.line, "%s %s: there is no '%s = ...'",
                         l->section.is_unit ? "bound" : "rule", l->section.name, key_names[key]);
}

/* More words than that are not listed in a complaint. */
#define MOST_LISTED 16

static const char *word_at(const void *user, size_t i)
{
    const char *const *words = user;
    return words[i] ? words[i] : "";
}

static void complain_of_word(struct gp_rule_loading *l, enum gp_rule_key key, const char *text,
                             int length, const char *const *words, size_t count)
{
    char word[41];
    struct gp_text what = {0};
    snprintf(word, sizeof(word), "%.*s", length, text);
    if (count > MOST_LISTED) {
        const char *nearest = gp_nearest(word, count, word_at, words);
        gp_text_addf(&what, "'%s' is not known%s%s%s", word, nearest ? "; did you mean " : "",
                     nearest ? nearest : "", nearest ? "?" : "");
    } else {
        gp_text_addf(&what, "'%s' is none of ", word);
        for (size_t i = 0, listed = 0; i < count; i++)
            if (words[i])
                gp_text_addf(&what, "%s%s", listed++ ? ", " : "", words[i]);
    }
    gp_rule_complain_of_key(l, key, gp_text_string(&what));
    gp_text_free(&what);
}

static int word_of(struct gp_rule_loading *l, enum gp_rule_key key, const char *text, size_t length,
                   const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] && strlen(words[i]) == length && strncmp(words[i], text, length) == 0)
            return (int)i;
    complain_of_word(l, key, text, length < 40 ? (int)length : 40, words, count);
    return -1;
}

int gp_rule_word(struct gp_rule_loading *l, enum gp_rule_key key, const char *const *words,
                 size_t count)
{
    const char *text = gp_rule_text_of(l, key);
    return gp_rule_is_given(l, key) ? word_of(l, key, text, strlen(text), words, count) : 0;
}

void gp_rule_list(struct gp_rule_loading *l, enum gp_rule_key key, const char *const *words,
                  size_t count, unsigned *found, size_t most)
{
    const char *text = gp_rule_text_of(l, key);
    for (size_t i = 0; i < most; i++)
        found[i] = 0;
    for (size_t i = 0; gp_rule_is_given(l, key); i++) {
        text += strspn(text, " ");
        const size_t length = strcspn(text, ",");
        size_t trimmed = length;
        while (trimmed > 0 && text[trimmed - 1] == ' ')
            trimmed--;
        const int word = word_of(l, key, text, trimmed, words, count);
        if (word >= 0 && i == most)
            gp_rule_complain_of_key(l, key, "there are too many");
        if (word < 0 || i == most)
            return;
        found[i] = (unsigned)word;
        text += length;
        if (*text++ != ',')
            return;
    }
}

char *gp_rule_copy_of(struct gp_rule_loading *l, enum gp_rule_key key)
{
    char *copy = strdup(gp_rule_text_of(l, key));
    if (!copy)
        gp_rule_complain_of_key(l, key, "out of memory");
    return copy;
}

/* ---- sections -------------------------------------------------------------------------------- */

static void finish_section(struct gp_rule_loading *l)
{
    if (l->open && !l->refused)
        gp_rule_section_ends(l);
    for (int k = 0; k < GP_RULE_KEYS; k++) {
        gp_text_clear(&l->section.keys[k].text);
        l->section.keys[k].line = 0;
    }
    l->open = false;
    l->refused = false;
    l->key = -1;
}

static void begin_section(struct gp_rule_loading *l, char *header)
{
    finish_section(l);
    l->open = true;
    l->section.line = l->line;
    char *end = strchr(header, ']');
    if (!end) {
        gp_rule_complain(l, l->line, "expected ']' after the rule's name");
        return;
    }
    *end = '\0';
    l->section.is_unit = strncmp(header, "bound ", 6) == 0;
    const char *name = l->section.is_unit ? header + 6 : header;
    size_t length = strlen(name);
    bool fits = length > 0 && length < sizeof(l->section.name);
    for (size_t i = 0; i < length; i++)
        fits = fits && (isalnum((unsigned char)name[i]) || name[i] == '_');
    if (fits)
        memcpy(l->section.name, name, length + 1);
    else
        gp_rule_complain(
            l, l->line,
            "'%.60s' is no name for a rule: use up to 48 letters, digits and '_', behind "
            "'bound ' for a unit of the GPU",
            name);
}

static const char *key_name(const void *user, size_t i)
{
    (void)user;
    return key_names[i];
}

static void take_key(struct gp_rule_loading *l, char *line, char *equals)
{
    char *end = equals;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    int k = 0;
    while (k < GP_RULE_KEYS && strcmp(key_names[k], line) != 0)
        k++;
    l->key = -1;
    if (k == GP_RULE_KEYS) {
        const char *nearest = gp_nearest(line, GP_RULE_KEYS, key_name, NULL);
        gp_rule_complain(l, l->line, "there is no key '%.40s'%s%s%s", line,
                         nearest ? ", did you mean " : "", nearest ? nearest : "",
                         nearest ? "?" : "");
        return;
    }
    if (l->section.keys[k].line) {
        gp_rule_complain(l, l->line, "%s was already given in line %d", key_names[k],
                         l->section.keys[k].line);
        return;
    }
    l->key = k;
    l->section.keys[k].line = l->line;
    equals++;
    while (isspace((unsigned char)*equals))
        equals++;
    gp_text_add(&l->section.keys[k].text, equals);
}

static void take_line(struct gp_rule_loading *l, char *line)
{
    for (char *end = line + strlen(line); end > line && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    bool goes_on = isspace((unsigned char)*line);
    while (isspace((unsigned char)*line))
        line++;
    if (!*line || *line == ';' || *line == '#')
        return;
    char *equals = strchr(line, '=');
    if (*line == '[') {
        begin_section(l, line + 1);
    } else if (l->refused) {
        return;
    } else if (goes_on && l->key >= 0) {
        gp_text_addf(&l->section.keys[l->key].text, " %s", line);
    } else if (!l->open) {
        gp_rule_complain(l, l->line, "expected a rule's name in brackets first: [my_rule]");
    } else if (equals) {
        take_key(l, line, equals);
    } else {
        gp_rule_complain(l, l->line, "expected 'key = value', '[rule]' or a comment");
    }
}

void gp_rule_take_file(void *user, const char *file, const char *text, size_t length)
{
    struct gp_rule_loading *l = user;
    char line[LONGEST_LINE + 1];
    l->file = file;
    l->line = 0;
    l->key = -1;
    for (const char *end = text + length; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t size = (size_t)((newline ? newline : end) - text);
        l->line++;
        if (size > LONGEST_LINE) {
            gp_rule_complain(l, l->line, "a line has at most %d letters", LONGEST_LINE);
        } else {
            memcpy(line, text, size);
            line[size] = '\0';
            take_line(l, line);
        }
        text += size + (newline != NULL);
    }
    finish_section(l);
}

void gp_rule_loading_free(struct gp_rule_loading *l)
{
    for (int k = 0; k < GP_RULE_KEYS; k++)
        gp_text_free(&l->section.keys[k].text);
}
