#include "check/comparison_parts.h"

#include "base/escape.h"
#include "check/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "+5.4 %", "from nothing" */
void gp_format_relative(double relative, char *out, size_t size)
{
    if (fabs(relative) < 1e-12) /* the noise of adding up */
        relative = 0;
    if (isfinite(relative))
        snprintf(out, size, "%+.3g %%", 100 * relative);
    else
        snprintf(out, size, "from 0");
}

static void format_share(double share, char *out, size_t size)
{
    if (isfinite(share))
        snprintf(out, size, share >= 1 ? "%.0f %%" : "%.2g %%", 100 * share);
    else
        snprintf(out, size, "any");
}

static void format_test(const struct gp_change *change, char *out, size_t size)
{
    char threshold[32];
    format_share(change->threshold, threshold, sizeof(threshold));
    if (change->tested)
        snprintf(out, size,
                 "%zu and %zu runs; a change is found from %s on, t test with %u degrees of "
                 "freedom at %g",
                 change->runs_a, change->runs_b, threshold, change->freedom, GP_SIGNIFICANCE);
    else if (change->threshold < 1e-6)
        snprintf(out, size, "has to be the same");
    else
        snprintf(out, size, "up to %s is let pass", threshold);
}

struct judging {
    const struct gp_comparison *c;
    const struct gp_tolerances *rules;
    const char *file;
    struct gp_verdict *verdict;
};

static struct gp_outcome outcome_for(const struct judging *j, const struct gp_side_kernel *s,
                                     const char *configuration)
{
    return (struct gp_outcome){
        .file = j->file,
        .kernel = s->name,
        .configuration = configuration,
        .source = s->source,
        .source_line = s->source_line,
        .launches = s->launches,
    };
}

static void judge_change(const struct judging *j, const struct gp_pair *pair,
                         const struct gp_change *change, const char *configuration)
{
    static const enum gp_status statuses[] = {[GP_CHANGE_NONE] = GP_HELD,
                                              [GP_CHANGE_WORSE] = GP_VIOLATED,
                                              [GP_CHANGE_BETTER] = GP_NOTED,
                                              [GP_CHANGE_OTHER] = GP_NOTED,
                                              [GP_CHANGE_FOLLOWS] = GP_HELD};
    struct gp_outcome o = outcome_for(j, pair->match.b, configuration);
    char from[64], to[64], relative[32], threshold[32], test[160], bound[192], message[512];
    gp_quantity_format(change->from, change->metric->unit, from, sizeof(from));
    gp_quantity_format(change->to, change->metric->unit, to, sizeof(to));
    gp_format_relative(change->relative, relative, sizeof(relative));
    format_test(change, test, sizeof(test));
    format_share(change->threshold, threshold, sizeof(threshold));
    snprintf(bound, sizeof(bound), "%s, give or take %s", from, threshold);
    snprintf(message, sizeof(message), "%s is %s, was %s: %s, %s (%s)%s", change->metric->name, to,
             from, relative,
             change->kind == GP_CHANGE_WORSE    ? "worse"
             : change->kind == GP_CHANGE_BETTER ? "better"
             : change->kind == GP_CHANGE_OTHER  ? "changed"
                                                : "no change that counts",
             test, change->kind == GP_CHANGE_FOLLOWS ? "; follows from the duration" : "");
    o.status =
        change->kind == GP_CHANGE_OTHER && change->named ? GP_VIOLATED : statuses[change->kind];
    o.rule = change->metric->name;
    o.value = to;
    o.bound = bound;
    o.message = message;
    gp_verdict_add(j->verdict, &o);
}

/* Without the name of a counter. The comparison's own reasons have no cause. */
static struct gp_reason reason_of(const struct gp_change *change)
{
    return change->reason.cause ? change->reason : GP_REASON_TEXT(OTHER, change->why);
}

static bool is_refused_for(const struct gp_change *change, struct gp_reason reason)
{
    return change->kind == GP_CHANGE_REFUSED && gp_reasons_are_alike(reason_of(change), reason);
}

static bool was_said_before(const struct gp_pair *pair, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_refused_for(&pair->changes[k], reason_of(&pair->changes[i])))
            return true;
    return false;
}

/* One outcome for each reason why metrics of a kernel could not be compared. */
static void judge_refused(const struct judging *j, const struct gp_pair *pair,
                          const char *configuration)
{
    for (size_t i = 0; i < pair->count; i++) {
        if (pair->changes[i].kind != GP_CHANGE_REFUSED || was_said_before(pair, i))
            continue;
        struct gp_text message = {0};
        const struct gp_reason reason = reason_of(&pair->changes[i]);
        for (size_t k = i; k < pair->count; k++)
            if (is_refused_for(&pair->changes[k], reason))
                gp_text_addf(&message, "%s%s", message.length ? ", " : "",
                             pair->changes[k].metric->name);
        struct gp_outcome o = outcome_for(j, pair->match.b, configuration);
        size_t names = message.length;
        gp_text_addf(&message, " not compared: %s", reason.text);
        o.status = GP_SKIPPED;
        o.rule = gp_text_string(&message) + (message.failed ? 0 : names + 1);
        o.message = gp_text_string(&message);
        gp_verdict_add(j->verdict, &o);
        j->verdict->failed |= message.failed;
        gp_text_free(&message);
    }
}

/* A metric of the baseline that was not measured proves nothing. */
static void say_missing(const struct gp_comparison *c, const char *file, struct gp_text *out)
{
    size_t kernels = 0, values = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t missing = 0;
        for (size_t k = 0; c->pairs[i].judged && k < c->pairs[i].count; k++)
            missing += c->pairs[i].changes[k].missing;
        values += missing;
        kernels += missing > 0;
    }
    if (values > 0)
        gp_text_add_linef(
            out,
            "%s: %zu value%s of %zu kernel%s could not be compared, for the reasons above; "
            "'METRIC = if present' in a file for --tolerance lets that pass",
            file, values, values == 1 ? "" : "s", kernels, kernels == 1 ? "" : "s");
}

void gp_add_number_change(struct gp_text *text, const char *what, unsigned now, unsigned before)
{
    if (now != before)
        gp_text_addf(text, "%s%s %u, was %u", text->length ? "; " : "", what, now, before);
}

/* Each kernel has a register. Launches of a side that were only counted have no known resources. */
bool gp_resources_are_known(const struct gp_side_kernel *a, const struct gp_side_kernel *b)
{
    return a->registers > 0 && b->registers > 0;
}

void gp_add_configuration_change(struct gp_text *text, const struct gp_match *match)
{
    char now[256], before[256];
    gp_subject_configuration(match->b, now, sizeof(now));
    gp_subject_configuration(match->a, before, sizeof(before));
    if (strcmp(now, before) != 0)
        gp_text_addf(text, "%s%s, was %s", text->length ? "; " : "", now, before);
}

static void add_name_change(struct gp_text *text, const struct gp_match *match)
{
    if (!gp_match_is_renamed(match))
        return;
    gp_text_addf(text, "its name was '%s': ", match->a->name);
    gp_match_add_reasons(match, text);
}

/* Name, registers, spills, grid and block. */
static void judge_configuration(const struct judging *j, const struct gp_pair *pair,
                                const char *configuration)
{
    struct gp_text message = {0};
    const struct gp_side_kernel *a = pair->match.a, *b = pair->match.b;
    add_name_change(&message, &pair->match);
    gp_add_configuration_change(&message, &pair->match);
    if (!pair->judged)
        gp_text_add(&message, pair->match.chosen
                                  ? " (the closest of several that it could be: not compared)"
                                  : " (not the same number of threads: not compared)");
    const bool known = gp_resources_are_known(a, b);
    if (known && !j->c->other_capability) {
        gp_add_number_change(&message, "registers", b->registers, a->registers);
        gp_add_number_change(&message, "bytes of local memory (spills, arrays)", b->local_bytes,
                             a->local_bytes);
    }
    if (known)
        gp_add_number_change(&message, "bytes of static shared memory", b->shared_static,
                             a->shared_static);
    if (message.length > 0) {
        struct gp_outcome o = outcome_for(j, b, configuration);
        bool fails = gp_tolerance_fails(j->rules, b->name, GP_EVENT_CHANGED);
        o.status = fails ? GP_VIOLATED : GP_NOTED;
        o.rule = "changed";
        o.message = message.data;
        gp_verdict_add(j->verdict, &o);
    }
    j->verdict->failed |= message.failed;
    gp_text_free(&message);
}

#define LAUNCHES_LET_PASS 0.1

double gp_launches_in_a_run(const struct gp_side_kernel *s)
{
    return s->runs ? (double)s->launches / (double)s->runs : 0;
}

/* How often it was launched: a note, unless a tolerance names it. */
static void judge_launches(const struct judging *j, const struct gp_pair *pair,
                           const char *configuration)
{
    double before = gp_launches_in_a_run(pair->match.a), now = gp_launches_in_a_run(pair->match.b);
    struct gp_tolerance rule =
        gp_tolerance_of(j->rules, pair->match.b->name, GP_TOLERANCE_LAUNCHES);
    double permitted = rule.kind == GP_TOLERANCE_RELATIVE ? rule.relative
                       : rule.kind == GP_TOLERANCE_EXACT  ? 0
                                                          : LAUNCHES_LET_PASS;
    bool named = gp_tolerance_names(&rule);
    bool changed = fabs(now - before) > permitted * before;
    if (rule.kind == GP_TOLERANCE_IGNORE || (!changed && !named) || before == 0 || now == 0)
        return;
    struct gp_outcome o = outcome_for(j, pair->match.b, configuration);
    char message[256], value[32], bound[64], relative[32], threshold[32];
    gp_format_relative(now / before - 1, relative, sizeof(relative));
    format_share(permitted, threshold, sizeof(threshold));
    snprintf(value, sizeof(value), "%.6g", now);
    snprintf(bound, sizeof(bound), "%.6g, give or take %s", before, threshold);
    snprintf(message, sizeof(message),
             "launched %.6g times in a run, was %.6g: %s (up to %s is let pass)", now, before,
             relative, threshold);
    o.status = !changed ? GP_HELD : named ? GP_VIOLATED : GP_NOTED;
    o.rule = GP_TOLERANCE_LAUNCHES;
    o.value = value;
    o.bound = bound;
    o.message = message;
    gp_verdict_add(j->verdict, &o);
}

static void judge_event(const struct judging *j, const struct gp_side_kernel *s,
                        enum gp_event event, const char *message)
{
    char configuration[256];
    gp_subject_configuration(s, configuration, sizeof(configuration));
    struct gp_outcome o = outcome_for(j, s, configuration);
    o.status = gp_tolerance_fails(j->rules, s->name, event) ? GP_VIOLATED : GP_NOTED;
    o.rule = event == GP_EVENT_NEW ? "new" : "gone";
    if (event == GP_EVENT_GONE)
        o.source = NULL; /* of another build, without its folder */
    o.message = message;
    gp_verdict_add(j->verdict, &o);
}

/* "; 12 launches in a run, 1.2 ms" */
static void add_size(struct gp_text *message, const struct gp_side_kernel *s, double seconds)
{
    const double launches = gp_launches_in_a_run(s);
    char time[64];
    gp_text_addf(message, "; %.6g launch%s in a run", launches, launches == 1 ? "" : "es");
    if (seconds <= 0)
        return;
    gp_quantity_format(seconds, "s", time, sizeof(time));
    gp_text_addf(message, ", %s", time);
}

/* A kernel that one side alone has. */
static void judge_alone(const struct judging *j, const struct gp_pair *pair)
{
    struct gp_text message = {0};
    const bool is_new = pair->match.kind == GP_MATCH_NEW;
    const struct gp_side_kernel *s = is_new ? pair->match.b : pair->match.a;
    gp_text_addf(&message, "%s%s",
                 is_new ? "is new: the other side does not have it"
                        : "is gone: it was not launched",
                 pair->match.elsewhere ? " in this configuration" : "");
    add_size(&message, s, is_new ? pair->seconds_b : pair->seconds_a);
    judge_event(j, s, is_new ? GP_EVENT_NEW : GP_EVENT_GONE, gp_text_string(&message));
    j->verdict->failed |= message.failed;
    gp_text_free(&message);
}

static void judge_proposed(const struct judging *j, const struct gp_pair *pair)
{
    const struct gp_match *match = &pair->match;
    struct gp_text message = {0};
    struct gp_text reasons = {0};
    const char *choice = match->chosen ? ", the closest of several" : "";
    gp_match_add_reasons(match, &reasons);
    gp_text_addf(&message, "is gone; '%s' may be the same kernel under another name%s: %s",
                 match->b->name, choice, gp_text_string(&reasons));
    add_size(&message, match->a, pair->seconds_a);
    judge_event(j, match->a, GP_EVENT_GONE, gp_text_string(&message));
    gp_text_clear(&message);
    gp_text_addf(&message, "is new; '%s' may be the same kernel under another name%s: %s",
                 match->a->name, choice, gp_text_string(&reasons));
    add_size(&message, match->b, pair->seconds_b);
    judge_event(j, match->b, GP_EVENT_NEW, gp_text_string(&message));
    j->verdict->failed |= message.failed || reasons.failed;
    gp_text_free(&reasons);
    gp_text_free(&message);
}

static void judge_pair(const struct judging *j, const struct gp_pair *pair)
{
    char configuration[256];
    switch (pair->match.kind) {
    case GP_MATCH_GONE:
    case GP_MATCH_NEW:
        judge_alone(j, pair);
        return;
    case GP_MATCH_PROPOSED:
        judge_proposed(j, pair);
        return;
    case GP_MATCH_SAME:
    case GP_MATCH_CHANGED:
        break;
    }
    gp_subject_configuration(pair->match.b, configuration, sizeof(configuration));
    judge_configuration(j, pair, configuration);
    judge_launches(j, pair, configuration);
    for (size_t i = 0; pair->judged && i < pair->count; i++)
        if (pair->changes[i].kind != GP_CHANGE_REFUSED)
            judge_change(j, pair, &pair->changes[i], configuration);
    if (pair->judged)
        judge_refused(j, pair, configuration);
}

const char *gp_side_gpu(const struct gp_side *side)
{
    return side->several_models               ? "GPUs of several models"
           : side->origin.device.name[0] != 0 ? side->origin.device.name
                                              : "an unknown GPU";
}

static const char *window_of(const struct gp_side *side)
{
    return side->origin.window[0] ? side->origin.window : "all of the program";
}

/* A side that comes from a history does not know its window. */
static bool is_other_window(const struct gp_side *a, const struct gp_side *b)
{
    return a->origin.window_known && b->origin.window_known &&
           strcmp(a->origin.window, b->origin.window) != 0;
}

void gp_add_method(const struct gp_comparison *c, struct gp_text *notes)
{
    if (c->other_gpu)
        gp_text_add_linef(
            notes,
            "measured on %s, now on %s: only counts that do not depend on the GPU are "
            "compared",
            gp_side_gpu(c->a), gp_side_gpu(c->b));
    if (is_other_window(c->a, c->b))
        gp_text_add_linef(notes,
                          "measured was %s, now it is %s: launches and totals are of different "
                          "parts of the program",
                          window_of(c->a), window_of(c->b));
    char threshold[32];
    format_share(c->smallest_duration_change, threshold, sizeof(threshold));
    if (c->smallest_duration_change > 0)
        gp_text_addf(notes,
                     "times and rates: shift of the runs' medians (Hodges-Lehmann), moderated t "
                     "test, two-sided, significance %g; of a kernel's duration it finds changes "
                     "from %s on (median over the kernels; %zu and %zu runs)\n",
                     GP_SIGNIFICANCE, threshold, c->a->runs, c->b->runs);
}

static void note_unmatched(const struct gp_comparison *c, const struct gp_tolerances *rules,
                           struct gp_text *notes)
{
    const size_t most = c->a->count + c->b->count;
    const char **names = rules ? calloc(most + 1, sizeof(*names)) : NULL;
    size_t count = 0;
    for (size_t i = 0; names && i < c->b->count; i++)
        names[count++] = c->b->subjects[i].name;
    for (size_t i = 0; names && i < c->a->count; i++)
        names[count++] = c->a->subjects[i].name;
    if (names && c->b->count > 0)
        gp_tolerances_note_unmatched(rules, names, count, notes);
    free(names);
}

static bool has_proposed(const struct gp_comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->pairs[i].match.kind == GP_MATCH_PROPOSED)
            return true;
    return false;
}

void gp_comparison_judge(const struct gp_comparison *c, const struct gp_tolerances *rules,
                         const char *file, struct gp_verdict *verdict)
{
    const struct judging j = {.c = c, .rules = rules, .file = file, .verdict = verdict};
    for (size_t i = 0; i < c->count; i++)
        judge_pair(&j, &c->pairs[i]);
    gp_add_method(c, &verdict->notes);
    note_unmatched(c, rules, &verdict->notes);
    if (c->compared == 0)
        gp_text_add_linef(&verdict->unjudged, "%s: nothing could be compared: %s", file,
                          c->b->count == 0  ? "no launch is in the profiles"
                          : c->other_gpu    ? "the GPU is another model"
                          : has_proposed(c) ? "no kernel and metric is on both sides; --pair "
                                              "OLD=NEW says that a kernel has another name"
                                            : "no kernel and metric is on both sides");
    else
        say_missing(c, file, &verdict->unjudged);
}

/* Launches that are missing may have been to come. */
static bool is_missing_launches(const struct gp_outcome *o)
{
    return strcmp(o->rule, "gone") == 0 || (strcmp(o->rule, GP_TOLERANCE_LAUNCHES) == 0 &&
                                            strtod(o->value, NULL) < strtod(o->bound, NULL));
}

void gp_unfinished_judge(const char *lines, const struct gp_tolerances *rules,
                         struct gp_verdict *verdict)
{
    if (!*lines)
        return;
    if (rules && rules->takes_unfinished) {
        gp_text_add(&verdict->notes, lines);
        return;
    }
    for (size_t i = 0; i < verdict->count; i++) {
        struct gp_outcome *o = &verdict->outcomes[i];
        if (o->status != GP_VIOLATED || !is_missing_launches(o))
            continue;
        o->status = GP_SKIPPED;
        verdict->violated--;
        verdict->skipped++;
    }
    gp_text_addf(&verdict->unjudged,
                 "%slaunches may be missing there, so nothing is proven; 'unfinished = note' "
                 "in a file for --tolerance lets that pass\n",
                 lines);
}
