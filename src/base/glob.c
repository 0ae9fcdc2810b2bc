#include "base/glob.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#define MOST_STEPS 10000000
#define LONGEST_SET 128 /* letters between brackets */

/* The length of "[...]" with its brackets; 0 where the bracket is a letter like any other. */
static size_t set_length(const char *at)
{
    size_t i = 1;
    i += at[i] == '!' || at[i] == '^';
    i += at[i] == ']';
    for (; at[i] && i < LONGEST_SET; i++) {
        if (at[i] == ']')
            return i + 1;
        if (at[i] == '\\' && at[i + 1]) {
            i++;
        } else if (at[i] == '[' && at[i + 1] == ':') {
            const char *end = strstr(at + i, ":]");
            if (end && (size_t)(end - at) < LONGEST_SET)
                i = (size_t)(end - at) + 1;
        }
    }
    return 0;
}

/* How long the part of the glob for that one letter is; 0 where it does not match. */
static size_t match_one(const char *glob, char letter)
{
    size_t length = *glob == '[' ? set_length(glob) : 0;
    if (length > 0) {
        char set[LONGEST_SET + 1], one[] = {letter, '\0'};
        memcpy(set, glob, length);
        set[length] = '\0';
        return fnmatch(set, one, 0) == 0 ? length : 0;
    }
    if (*glob == '?')
        return 1;
    size_t escaped = *glob == '\\' && glob[1];
    return glob[escaped] == letter ? escaped + 1 : 0;
}

/* Where letters do not match, the last star takes one more: no other star need be tried again. */
bool gp_glob_matches(const char *glob, const char *text, bool *too_hard)
{
    const char *behind_star = NULL, *taken = NULL;
    for (unsigned long steps = 0; *text; steps++) {
        size_t matched = *glob && *glob != '*' ? match_one(glob, *text) : 0;
        if (steps > MOST_STEPS) {
            *too_hard = true;
            return false;
        }
        if (*glob == '*') {
            behind_star = ++glob;
            taken = text;
        } else if (matched > 0) {
            glob += matched;
            text++;
        } else if (behind_star) {
            glob = behind_star;
            text = ++taken;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return !*glob;
}
