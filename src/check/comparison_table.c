/* A comparison for a person: side by side. */
#include "check/comparison_parts.h"

#include "base/escape.h"
#include "check/quantity.h"

#include <math.h>
#include <stdio.h>

static void table_change(const struct gp_change *change, struct gp_text *out)
{
    char from[64], to[64], relative[32];
    gp_quantity_format(change->from, change->metric->unit, from, sizeof(from));
    gp_quantity_format(change->to, change->metric->unit, to, sizeof(to));
    gp_format_relative(change->relative, relative, sizeof(relative));
    gp_text_addf(out, "   %-34s %16s %16s %10s  %s\n", change->metric->name, from, to, relative,
                 change->kind == GP_CHANGE_BETTER    ? "better"
                 : change->kind == GP_CHANGE_OTHER   ? "changed"
                 : change->kind == GP_CHANGE_FOLLOWS ? "as the time is"
                                                     : "worse");
}

static void table_pair(const struct gp_pair *pair, struct gp_text *out)
{
    const struct gp_subject *s = pair->match.b ? pair->match.b : pair->match.a;
    char configuration[256], from[64], to[64], relative[32];
    gp_subject_configuration(s, configuration, sizeof(configuration));
    gp_text_addf(out, "\n%s\n   %s\n", s->name, configuration);
    if (pair->match.kind == GP_MATCH_GONE || pair->match.kind == GP_MATCH_NEW) {
        gp_text_addf(out, "   %s\n", pair->match.b ? "new" : "gone");
        return;
    }
    struct gp_text changed = {0};
    const struct gp_subject *a = pair->match.a, *b = pair->match.b;
    gp_add_configuration_change(&changed, pair);
    gp_add_number_change(&changed, "registers", b->registers, a->registers);
    gp_add_number_change(&changed, "bytes of local memory", b->local_bytes, a->local_bytes);
    gp_add_number_change(&changed, "bytes of static shared memory", b->shared_static,
                         a->shared_static);
    if (pair->match.kind == GP_MATCH_PROPOSED)
        gp_text_addf(&changed, "%sperhaps the same as %s", changed.length ? "; " : "", a->name);
    if (changed.length > 0)
        gp_text_addf(out, "   %s\n", changed.data);
    gp_text_free(&changed);
    gp_quantity_format(pair->seconds_a, "s", from, sizeof(from));
    gp_quantity_format(pair->seconds_b, "s", to, sizeof(to));
    gp_format_relative(pair->seconds_a > 0 ? pair->seconds_b / pair->seconds_a - 1 : INFINITY,
                       relative, sizeof(relative));
    gp_text_addf(out, "   %-34s %16s %16s %10s\n", "time in a run by the median launch", from, to,
                 relative);
    size_t same = 0, refused = 0;
    for (size_t i = 0; i < pair->count; i++) {
        same += pair->changes[i].kind == GP_CHANGE_NONE;
        refused += pair->changes[i].kind == GP_CHANGE_REFUSED;
        if (pair->changes[i].kind != GP_CHANGE_NONE && pair->changes[i].kind != GP_CHANGE_REFUSED)
            table_change(&pair->changes[i], out);
    }
    gp_text_addf(out, "   %zu metrics without a change that counts, %zu not compared\n", same,
                 refused);
}

static void add_side(const char *letter, const char *name, const struct gp_side *side,
                     struct gp_text *out)
{
    gp_text_add_linef(out, "%s: %s (%s, %zu run%s)", letter, name, gp_side_gpu(side), side->runs,
                      side->runs == 1 ? "" : "s");
}

void gp_comparison_table(const struct gp_comparison *c, const char *name_a, const char *name_b,
                         size_t top, struct gp_text *out)
{
    double seconds_a = 0, seconds_b = 0;
    char from[64], to[64];
    for (size_t i = 0; i < c->count; i++) {
        seconds_a += c->pairs[i].seconds_a;
        seconds_b += c->pairs[i].seconds_b;
    }
    gp_quantity_format(seconds_a, "s", from, sizeof(from));
    gp_quantity_format(seconds_b, "s", to, sizeof(to));
    add_side("A", name_a, c->a, out);
    add_side("B", name_b, c->b, out);
    gp_text_addf(out, "%-37s %16s %16s %10s\n", "", "A", "B", "change");
    char change[32] = "-";
    if (seconds_a > 0)
        snprintf(change, sizeof(change), "%+.2f%%", 100 * (seconds_b / seconds_a - 1));
    gp_text_addf(out, "%-37s %16s %16s %10s\n", "time in a run by median launches", from, to,
                 change);
    size_t shown = top > 0 && top < c->count ? top : c->count;
    for (size_t i = 0; i < shown; i++)
        table_pair(&c->pairs[i], out);
    if (shown < c->count)
        gp_text_addf(out, "\nand %zu more\n", c->count - shown);
    gp_text_add(out, "\n");
    gp_add_method(c, out);
}
