#include "report/alike.h"

#include <string.h>

struct gp_alike gp_alike_of(struct gp_reason reason)
{
    return (struct gp_alike){.cause = reason.cause, .texts = {reason.text}, .count = 1};
}

bool gp_alike_has(const struct gp_alike *a, struct gp_reason reason)
{
    return gp_reasons_are_alike((struct gp_reason){a->cause, a->texts[0]}, reason);
}

void gp_alike_add(struct gp_alike *a, struct gp_reason reason)
{
    for (size_t i = 0; i < a->count && i < GP_MOST_ALIKE; i++)
        if (strcmp(a->texts[i], reason.text) == 0)
            return;
    if (a->count < GP_MOST_ALIKE)
        a->texts[a->count] = reason.text;
    a->count += a->count <= GP_MOST_ALIKE;
}

void gp_alike_write(const struct gp_alike *a, struct gp_text *out)
{
    if (a->count > GP_MOST_ALIKE) {
        gp_text_add(out, gp_cause_text(a->cause));
        return;
    }
    for (size_t i = 0; i < a->count; i++)
        gp_text_addf(out, "%s%s", i ? "; " : "", a->texts[i]);
}
