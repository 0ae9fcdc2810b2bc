#include "check/hand_pairs.h"

#include "check/selector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one kernel of a side that a pattern matches; NULL with the reason. */
static const char *find_kernel(const struct gp_side *side, const char *of, const char *pattern,
                               char *why, size_t why_size)
{
    struct gp_selector selector;
    char reason[256];
    const char *found = NULL, *second = NULL;
    if (!gp_selector_parse(pattern, &selector, reason, sizeof(reason))) {
        snprintf(why, why_size, "%s", reason);
        return NULL;
    }
    for (size_t i = 0; i < side->count && !second; i++) {
        const char *name = side->subjects[i].name;
        struct gp_kernel_names names = {.mangled = name, .full = (char *)name};
        if (found && strcmp(found, name) == 0)
            continue;
        names.brief = gp_kernel_name_brief(name);
        if (names.brief && gp_selector_matches(&selector, &names))
            *(found ? &second : &found) = name;
        free(names.brief);
    }
    gp_selector_free(&selector);
    if (found && !second)
        return found;
    if (second)
        snprintf(why, why_size, "'%s' is more than one kernel of %s: %.100s and %.100s", pattern,
                 of, found, second);
    else
        snprintf(why, why_size, "no kernel of %s is called '%s'", of, pattern);
    return NULL;
}

/* Whether one of the two is in another pair already. */
static bool is_paired(const struct gp_side *side, const char *name, const char *former)
{
    for (size_t i = 0; i < side->count; i++) {
        const struct gp_side_kernel *s = &side->subjects[i];
        const bool is_name = strcmp(s->name, name) == 0;
        const bool is_former = s->former && strcmp(s->former, former) == 0;
        if (s->former && is_name != is_former)
            return true;
    }
    return false;
}

static bool rename_kernel(struct gp_side *side, const char *name, const char *former)
{
    bool renamed = true;
    for (size_t i = 0; i < side->count; i++) {
        struct gp_side_kernel *s = &side->subjects[i];
        if (strcmp(s->name, name) != 0)
            continue;
        free(s->former);
        s->former = strdup(former);
        renamed &= s->former != NULL;
    }
    return renamed;
}

bool gp_pair_by_hand(const char *pair, const struct gp_side *a, struct gp_side *b, char *why,
                     size_t why_size)
{
    const char *sign = strchr(pair, '=');
    char *old = sign ? strndup(pair, (size_t)(sign - pair)) : NULL;
    if (!sign || sign == pair || !sign[1]) {
        snprintf(why, why_size, "'%s' is no pair: write OLD=NEW, two names of kernels", pair);
        free(old);
        return false;
    }
    const char *former = old ? find_kernel(a, "the first side", old, why, why_size) : NULL;
    const char *name = former ? find_kernel(b, "the second side", sign + 1, why, why_size) : NULL;
    bool known = name && is_paired(b, name, former);
    bool renamed = name && !known && rename_kernel(b, name, former);
    if (known)
        snprintf(why, why_size, "'%s': one of the two kernels is in another pair", pair);
    else if (!old || (name && !renamed))
        snprintf(why, why_size, "out of memory");
    free(old);
    return renamed;
}
