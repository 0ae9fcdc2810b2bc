#include "base/cause.h"

#include <string.h>

static const struct {
    const char *word, *text;
} causes[GP_CAUSES] = {
#define CAUSE(name, word, sentence) [GP_CAUSE_##name] = {word, sentence},
#include "base/causes.def"
};

struct gp_reason gp_reason_of(enum gp_cause cause)
{
    return (struct gp_reason){cause, causes[cause].text};
}

static bool is_class(enum gp_cause cause)
{
    switch (cause) {
    case GP_CAUSE_DRIVER_FAILED:
    case GP_CAUSE_CUPTI_FAILED:
    case GP_CAUSE_NOT_DEFINED:
    case GP_CAUSE_FACT_UNKNOWN:
    case GP_CAUSE_DOES_NOT_APPLY:
    case GP_CAUSE_NO_VALUE:
    case GP_CAUSE_OTHER:
        return false;
    default:
        return true;
    }
}

bool gp_reasons_are_alike(struct gp_reason a, struct gp_reason b)
{
    return a.cause == b.cause &&
           (a.cause == GP_CAUSE_NONE || is_class(a.cause) || strcmp(a.text, b.text) == 0);
}

const char *gp_cause_word(enum gp_cause cause)
{
    return causes[cause].word;
}

const char *gp_cause_text(enum gp_cause cause)
{
    return causes[cause].text;
}

enum gp_cause gp_cause_by_word(const char *word)
{
    for (int i = GP_CAUSE_NONE + 1; i < GP_CAUSES; i++)
        if (strcmp(causes[i].word, word) == 0)
            return (enum gp_cause)i;
    return GP_CAUSE_OTHER;
}
