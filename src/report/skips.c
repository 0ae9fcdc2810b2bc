#include "report/skips.h"

#include "base/demangle.h"
#include "report/alike.h"
#include "report/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 60

static bool was_said(const struct gp_summary *s, size_t end)
{
    const struct gp_reason reason = gp_summary_skip(s, end)->reason;
    for (size_t i = 0; i < end; i++)
        if (gp_reasons_are_alike(gp_summary_skip(s, i)->reason, reason))
            return true;
    return false;
}

static void add_name(const char *kernel, struct gp_text *out)
{
    char *brief = gp_demangle(kernel, GP_NAME_BRIEF), name[NAME_WIDTH + 1];
    gp_shorten(brief ? brief : kernel, name, NAME_WIDTH);
    free(brief);
    gp_text_add(out, name);
}

static void add_reasons(const struct gp_alike *reasons, size_t most, struct gp_text *out)
{
    struct gp_text text = {0};
    gp_alike_write(reasons, &text);
    /* The sentence of the cause stands for several texts, of which the last would be cut off. */
    if (most > 0 && text.length > most && reasons->count > 1) {
        gp_text_clear(&text);
        gp_text_add(&text, gp_cause_text(reasons->cause));
    }
    bool cut = most > 0 && text.length > most;
    gp_text_add(out, ": ");
    gp_text_add_bytes(out, gp_text_string(&text), cut ? most : text.length);
    gp_text_add(out, cut ? "..." : "");
    out->failed |= text.failed;
    gp_text_free(&text);
}

/* Whether an earlier skip like it, from `first` on, is of the same kernel. */
static bool is_kernel_before(const struct gp_summary *s, size_t first, size_t i)
{
    const struct gp_skip *skip = gp_summary_skip(s, i);
    for (size_t k = first; k < i; k++)
        if (gp_reasons_are_alike(gp_summary_skip(s, k)->reason, skip->reason) &&
            strcmp(gp_summary_skip(s, k)->kernel, skip->kernel) == 0)
            return true;
    return false;
}

uint64_t gp_skips_next(const struct gp_summary *s, size_t *next, size_t most, struct gp_text *out)
{
    size_t first = *next, count = gp_summary_skip_count(s);
    uint64_t launches = 0, kernels = 0;
    while (first < count && was_said(s, first))
        first++;
    *next = first + 1;
    if (first >= count)
        return 0;
    struct gp_alike reasons = gp_alike_of(gp_summary_skip(s, first)->reason);
    for (size_t i = first; i < count; i++) {
        const struct gp_skip *skip = gp_summary_skip(s, i);
        if (!gp_alike_has(&reasons, skip->reason))
            continue;
        gp_alike_add(&reasons, skip->reason);
        launches += skip->launches;
        kernels += !is_kernel_before(s, first, i);
    }
    gp_text_addf(out, "%" PRIu64 " launch%s of ", launches, launches == 1 ? "" : "es");
    add_name(gp_summary_skip(s, first)->kernel, out);
    if (kernels > 1)
        gp_text_addf(out, " and %" PRIu64 " more kernel%s", kernels - 1, kernels == 2 ? "" : "s");
    add_reasons(&reasons, most, out);
    return launches;
}
