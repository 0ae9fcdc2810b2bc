#include "check/selector.h"

#include "base/demangle.h"
#include "base/escape.h"
#include "base/glob.h"
#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Letters. Names of templates have thousands of them. */
#define LONGEST_GLOB 65536
#define LONGEST_REGEX 512

bool gp_kernel_names_find(const char *mangled, struct gp_kernel_names *names)
{
    names->mangled = mangled;
    names->full = gp_demangle(mangled, GP_NAME_FULL);
    names->brief = gp_demangle(mangled, GP_NAME_BRIEF);
    return names->full && names->brief;
}

void gp_kernel_names_free(struct gp_kernel_names *names)
{
    free(names->full);
    free(names->brief);
    names->full = names->brief = NULL;
}

/* Where the parameters begin: the last parenthesis that is closed at the end, or before "const". */
static size_t find_parameters(const char *full, size_t length)
{
    static const char suffix[] = " const";
    if (length > sizeof(suffix) && strcmp(full + length - (sizeof(suffix) - 1), suffix) == 0)
        length -= sizeof(suffix) - 1;
    if (length == 0 || full[length - 1] != ')')
        return length;
    int depth = 0;
    for (size_t i = length; i-- > 0;) {
        depth += (full[i] == ')') - (full[i] == '(');
        if (depth == 0)
            return i;
    }
    return length;
}

char *gp_kernel_name_brief(const char *full)
{
    size_t begin = 0, end = find_parameters(full, strlen(full));
    int depth = 0;
    for (size_t i = 0; i < end; i++) {
        depth += (strchr("(<{[", full[i]) != NULL) - (strchr(")>}]", full[i]) != NULL);
        if (full[i] == ' ' && depth == 0)
            begin = i + 1;
    }
    return strndup(full + begin, end - begin);
}

bool gp_selector_parse(const char *text, struct gp_selector *selector, char *why, size_t why_size)
{
    static const char mark[] = "regex:";
    memset(selector, 0, sizeof(*selector));
    bool is_regex = strncmp(text, mark, sizeof(mark) - 1) == 0;
    const char *pattern = is_regex ? text + sizeof(mark) - 1 : text;
    if (!*pattern) {
        snprintf(why, why_size, "a pattern for kernel names is missing: write [*] for all");
        return false;
    }
    size_t longest = is_regex ? LONGEST_REGEX : LONGEST_GLOB;
    if (strlen(pattern) > longest) {
        snprintf(why, why_size, "a pattern has at most %zu letters", longest);
        return false;
    }
    char reason[160] = "out of memory";
    selector->regex = is_regex ? gp_regex_new(pattern, reason, sizeof(reason)) : NULL;
    if (is_regex && !selector->regex) {
        snprintf(why, why_size, "'%s' is no regular expression: %s", pattern, reason);
        return false;
    }
    selector->text = strdup(text);
    if (selector->text)
        return true;
    gp_selector_free(selector);
    snprintf(why, why_size, "out of memory");
    return false;
}

void gp_selector_free(struct gp_selector *selector)
{
    if (selector->regex)
        gp_regex_free(selector->regex);
    free(selector->text);
    memset(selector, 0, sizeof(*selector));
}

bool gp_selector_matches(struct gp_selector *selector, const struct gp_kernel_names *names)
{
    const char *const spellings[] = {names->full, names->brief, names->mangled};
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        bool matches = selector->regex
                           ? gp_regex_matches(selector->regex, spellings[i], &selector->too_hard)
                           : strcmp(selector->text, spellings[i]) == 0 ||
                                 gp_glob_matches(selector->text, spellings[i], &selector->too_hard);
        if (matches)
            return true;
    }
    return false;
}

static const char *name_at(const void *names, size_t i)
{
    return ((const char *const *)names)[i];
}

void gp_selector_note_unmatched(const struct gp_selector *selector, const char *file, int line,
                                const char *const *brief, size_t count, struct gp_text *notes)
{
    const char *nearest =
        selector->regex ? NULL : gp_nearest(selector->text, count, name_at, brief);
    gp_text_add_linef(notes, "%s:%d: no kernel matches [%s]%s%s%s", file, line, selector->text,
                      nearest ? "; did you mean [" : "", nearest ? nearest : "",
                      nearest ? "]?" : "");
}
