/* Reasons that are alike, said as one (base/cause.h). Texts have to outlive it. */
#ifndef GPUPROF_REPORT_ALIKE_H
#define GPUPROF_REPORT_ALIKE_H

#include "base/cause.h"
#include "base/text.h"

#include <stddef.h>

#define GP_MOST_ALIKE 3 /* texts that are repeated */

struct gp_alike {
    enum gp_cause cause;
    const char *texts[GP_MOST_ALIKE]; /* different ones, in the order in which they came */
    size_t count;                     /* of these; more than GP_MOST_ALIKE: there were others */
};

/* Begins with the reason. */
struct gp_alike gp_alike_of(struct gp_reason reason);

/* True where the reason is one of them, or like them. Then gp_alike_add takes it in. */
bool gp_alike_has(const struct gp_alike *alike, struct gp_reason reason);
void gp_alike_add(struct gp_alike *alike, struct gp_reason reason);

/* Appends the texts, semicolons between them; the cause's own where there are too many. */
void gp_alike_write(const struct gp_alike *alike, struct gp_text *out);

#endif
