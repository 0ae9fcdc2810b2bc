/* A comparison for a person: side by side. */
#include "check/comparison_parts.h"

#include "base/escape.h"
#include "check/closeness.h"
#include "check/quantity.h"

#include <math.h>

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

/* A line of the table; "-" where a side has no value. */
static void add_row(const char *title, const char *unit, const double *from, const double *to,
                    struct gp_text *out)
{
    char a[64] = "-", b[64] = "-", relative[32] = "";
    if (from)
        gp_quantity_format(*from, unit, a, sizeof(a));
    if (to)
        gp_quantity_format(*to, unit, b, sizeof(b));
    if (from && to)
        gp_format_relative(*from > 0 ? *to / *from - 1 : INFINITY, relative, sizeof(relative));
    gp_text_addf(out, "   %-34s %16s %16s%s%10s\n", title, a, b, *relative ? " " : "", relative);
    while (out->length > 1 && out->data[out->length - 2] == ' ') {
        out->data[out->length - 2] = '\n';
        out->data[--out->length] = '\0';
    }
}

static const double *known(const struct gp_side_kernel *s, const double *seconds)
{
    return s && *seconds > 0 ? seconds : NULL;
}

/* Launches, where they are not as many on both sides, and the time. */
static void add_times(const struct gp_pair *pair, struct gp_text *out)
{
    const struct gp_side_kernel *a = pair->match.a, *b = pair->match.b;
    const double from = a ? gp_launches_in_a_run(a) : 0, to = b ? gp_launches_in_a_run(b) : 0;
    if (from != to)
        add_row("launches in a run", "count", a ? &from : NULL, b ? &to : NULL, out);
    add_row("time in a run by the median launch", "s", known(a, &pair->seconds_a),
            known(b, &pair->seconds_b), out);
}

/* By which the two are taken for one kernel; of one name, whether it has the same code. */
static void add_identity(const struct gp_match *match, struct gp_text *out)
{
    struct gp_text reasons = {0};
    gp_match_add_reasons(match, &reasons);
    if (gp_match_is_renamed(match))
        gp_text_addf(out, "   %s %s: %s%s\n",
                     match->kind == GP_MATCH_PROPOSED ? "perhaps the same as" : "was",
                     match->a->name, gp_text_string(&reasons),
                     match->chosen ? "; the closest of several that it could be" : "");
    else if (match->by & GP_BY_CODE)
        gp_text_add(out, "   the same machine code\n");
    else if (!isnan(match->likeness))
        gp_text_addf(out, "   other machine code, about %.0f %% of it alike\n",
                     gp_likeness_percent(match->likeness));
    out->failed |= reasons.failed;
    gp_text_free(&reasons);
}

static void add_differences(const struct gp_pair *pair, struct gp_text *out)
{
    struct gp_text changed = {0};
    const struct gp_side_kernel *a = pair->match.a, *b = pair->match.b;
    gp_add_configuration_change(&changed, &pair->match);
    if (changed.length > 0 && !gp_match_is_renamed(&pair->match) && pair->match.chosen)
        gp_text_add(&changed, " (the closest of several that it could be)");
    else if (changed.length > 0 && !gp_same_threads(a, b))
        gp_text_add(&changed, " (not the same number of threads)");
    if (gp_resources_are_known(a, b)) {
        gp_add_number_change(&changed, "registers", b->registers, a->registers);
        gp_add_number_change(&changed, "bytes of local memory", b->local_bytes, a->local_bytes);
        gp_add_number_change(&changed, "bytes of static shared memory", b->shared_static,
                             a->shared_static);
    }
    if (changed.length > 0)
        gp_text_addf(out, "   %s\n", changed.data);
    out->failed |= changed.failed;
    gp_text_free(&changed);
}

static void add_changes(const struct gp_pair *pair, struct gp_text *out)
{
    size_t same = 0, refused = 0;
    for (size_t i = 0; i < pair->count; i++) {
        same += pair->changes[i].kind == GP_CHANGE_NONE;
        refused += pair->changes[i].kind == GP_CHANGE_REFUSED;
        if (pair->changes[i].kind != GP_CHANGE_NONE && pair->changes[i].kind != GP_CHANGE_REFUSED)
            table_change(&pair->changes[i], out);
    }
    if (pair->count > 0)
        gp_text_addf(out, "   %zu metrics without a change that counts, %zu not compared\n", same,
                     refused);
    else
        gp_text_add(out, pair->match.kind == GP_MATCH_PROPOSED
                             ? "   its metrics are not compared; --pair OLD=NEW does so\n"
                             : "   its metrics are not compared\n");
}

static void table_pair(const struct gp_pair *pair, struct gp_text *out)
{
    const struct gp_match *match = &pair->match;
    const struct gp_side_kernel *s = match->b ? match->b : match->a;
    char configuration[256];
    gp_subject_configuration(s, configuration, sizeof(configuration));
    gp_text_addf(out, "\n%s\n   %s\n", s->name, configuration);
    if (match->a && match->b) {
        add_identity(match, out);
        add_differences(pair, out);
    } else {
        gp_text_addf(out, "   %s has it%s\n", match->b ? "new: only B" : "gone: only A",
                     match->elsewhere ? " in this configuration" : "");
    }
    add_times(pair, out);
    if (match->a && match->b)
        add_changes(pair, out);
}

static void add_side(const char *letter, const char *name, const struct gp_side *side,
                     struct gp_text *out)
{
    gp_text_add_linef(out, "%s: %s (%s, %zu run%s)", letter, name, gp_side_gpu(side), side->runs,
                      side->runs == 1 ? "" : "s");
}

/* Adds the time of kernels that one side alone has, in one run of each side. */
static void add_alone(const struct gp_comparison *c, struct gp_text *out)
{
    double of_a = 0, of_b = 0;
    for (size_t i = 0; i < c->count; i++) {
        of_a += c->pairs[i].match.b ? 0 : c->pairs[i].seconds_a;
        of_b += c->pairs[i].match.a ? 0 : c->pairs[i].seconds_b;
    }
    if (of_a > 0 || of_b > 0)
        add_row("of kernels that one side has", "s", of_a > 0 ? &of_a : NULL,
                of_b > 0 ? &of_b : NULL, out);
}

void gp_comparison_table(const struct gp_comparison *c, const char *name_a, const char *name_b,
                         size_t top, struct gp_text *out)
{
    double seconds_a = 0, seconds_b = 0;
    for (size_t i = 0; i < c->count; i++) {
        seconds_a += c->pairs[i].seconds_a;
        seconds_b += c->pairs[i].seconds_b;
    }
    add_side("A", name_a, c->a, out);
    add_side("B", name_b, c->b, out);
    gp_text_addf(out, "%-37s %16s %16s %10s\n", "", "A", "B", "change");
    add_row("time in a run by median launches", "s", seconds_a > 0 ? &seconds_a : NULL,
            seconds_b > 0 ? &seconds_b : NULL, out);
    add_alone(c, out);
    size_t shown = top > 0 && top < c->count ? top : c->count;
    for (size_t i = 0; i < shown; i++)
        table_pair(&c->pairs[i], out);
    if (shown < c->count)
        gp_text_addf(out, "\nand %zu more\n", c->count - shown);
    gp_text_add(out, "\n");
    gp_add_method(c, out);
}
