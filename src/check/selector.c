#include "check/selector.h"

#include "base/demangle.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 512 /* letters */

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
    if (strlen(pattern) > LONGEST) {
        snprintf(why, why_size, "a pattern has at most %d letters", LONGEST);
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
                                 fnmatch(selector->text, spellings[i], 0) == 0;
        if (matches)
            return true;
    }
    return false;
}
