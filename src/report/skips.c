#include "report/skips.h"

#include "base/demangle.h"
#include "report/layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 60

static const char *reason_of(const struct gp_summary *s, size_t i)
{
    return gp_summary_skip(s, i)->reason;
}

static bool was_said(const struct gp_summary *s, size_t end)
{
    for (size_t i = 0; i < end; i++)
        if (strcmp(reason_of(s, i), reason_of(s, end)) == 0)
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

static void add_reason(const char *reason, size_t most, struct gp_text *out)
{
    size_t length = strlen(reason);
    bool cut = most > 0 && length > most;
    gp_text_add(out, ": ");
    gp_text_add_bytes(out, reason, cut ? most : length);
    gp_text_add(out, cut ? "..." : "");
}

uint64_t gp_skips_next(const struct gp_summary *s, size_t *next, size_t most, struct gp_text *out)
{
    size_t first = *next, count = gp_summary_skip_count(s);
    uint64_t launches = 0, kernels = 0;
    while (first < count && was_said(s, first))
        first++;
    *next = first + 1;
    for (size_t i = first; i < count; i++) {
        if (strcmp(reason_of(s, i), reason_of(s, first)) != 0)
            continue;
        launches += gp_summary_skip(s, i)->launches;
        kernels++;
    }
    if (kernels == 0)
        return 0;
    gp_text_addf(out, "%" PRIu64 " launch%s of ", launches, launches == 1 ? "" : "es");
    add_name(gp_summary_skip(s, first)->kernel, out);
    if (kernels > 1)
        gp_text_addf(out, " and %" PRIu64 " more kernel%s", kernels - 1, kernels == 2 ? "" : "s");
    add_reason(reason_of(s, first), most, out);
    return launches;
}
