#include "profile/old_reasons.h"

#include <string.h>

static const struct {
    const char *begin;
    enum gp_cause cause;
} old[] = {
#define OLD(name, begin) {begin, GP_CAUSE_##name},
#include "profile/old_reasons.def"
};

static enum gp_cause cause_of(const char *text)
{
    for (int i = GP_CAUSE_NONE + 1; i < GP_CAUSES; i++)
        if (strcmp(text, gp_cause_text((enum gp_cause)i)) == 0)
            return (enum gp_cause)i;
    for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        if (strncmp(text, old[i].begin, strlen(old[i].begin)) == 0)
            return old[i].cause;
    return GP_CAUSE_OTHER;
}

struct gp_reason gp_reason_read(const char *text, const char *word)
{
    return (struct gp_reason){word ? gp_cause_by_word(word) : cause_of(text), text};
}
