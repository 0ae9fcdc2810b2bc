#include "check/judge_parts.h"

#include "base/escape.h"
#include "check/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe_value(const struct gp_threshold *rule, double value, char *out, size_t size)
{
    const char *unit = rule->metric ? rule->metric->unit : "";
    gp_quantity_format(value, unit, out, size);
    /* Where the digits do not show on which side it lies, all of them do. */
    char bound[64];
    gp_quantity_format(rule->bound, unit, bound, sizeof(bound));
    if (strcmp(out, bound) == 0 && value != rule->bound)
        snprintf(out, size, "%.17g%s%s", value, unit[0] ? " " : "", unit);
}

/* The part of a rule behind the metric: ">= 90 %". */
static void bound_of(const struct gp_threshold *rule, char *out, size_t size)
{
    const char *at = strpbrk(rule->text, "<>=");
    snprintf(out, size, "%s", at ? at : rule->text);
    char *condition = rule->if_present ? strstr(out, " if ") : NULL;
    if (condition)
        *condition = '\0';
}

static const char *subject_of(const struct gp_threshold *rule, char *out, size_t size)
{
    size_t length = strcspn(rule->text, "<>=");
    while (length > 0 && strchr(" \t", rule->text[length - 1]))
        length--;
    snprintf(out, size, "%.*s", (int)length, rule->text);
    return out;
}

static struct gp_outcome outcome_of(const struct gp_judge *j, const struct gp_judged_kernel *k,
                                    const struct gp_trial *t)
{
    return (struct gp_outcome){
        .rule = t->rule->text,
        .file = j->thresholds->file,
        .line = t->rule->line,
        .kernel = k->names.full,
        .source = k->source,
        .source_line = k->source_line,
        .launches = t->launches + t->absent,
    };
}

/* " of run2.jsonl", where there are several runs. `run` counts from 1. */
static void add_run(const struct gp_judge *j, const char *before, size_t run, struct gp_text *out)
{
    if (j->run_count > 1 && run > 0)
        gp_text_addf(out, "%s%s", before, j->runs[run - 1]);
}

/* The launch and the run of a value, behind it. */
static void add_launch_and_run(const struct gp_judge *j, const struct gp_trial *t,
                               struct gp_text *out)
{
    if (t->rule->metric && t->rule->aggregate == GP_EVERY) {
        gp_text_addf(out, " (launch %llu", (unsigned long long)t->worst_launch);
        add_run(j, " of ", t->worst_run, out);
        gp_text_addf(out, "; %llu of %llu launches violate it)", (unsigned long long)t->violated,
                     (unsigned long long)(t->launches + t->absent));
    } else if (j->run_count > 1) {
        add_run(j, " (", t->worst_run, out);
        gp_text_addf(out, "; %zu of %zu runs violate it)", t->violated_runs, t->measured_runs);
    }
}

static void judge_value(const struct gp_judge *j, const struct gp_judged_kernel *k,
                        const struct gp_trial *t, bool allowed, struct gp_verdict *verdict)
{
    struct gp_outcome o = outcome_of(j, k, t);
    struct gp_text message = {0};
    char shown[64], bound[128], subject[256];
    bool violated = t->violated_runs > 0 && !allowed;
    describe_value(t->rule, t->worst, shown, sizeof(shown));
    subject_of(t->rule, subject, sizeof(subject));
    bound_of(t->rule, bound, sizeof(bound));
    o.status = violated ? GP_VIOLATED : t->unproven ? GP_SKIPPED : GP_HELD;
    o.value = shown;
    o.bound = bound;
    if (t->rule->metric && t->rule->aggregate == GP_EVERY) {
        o.launch = t->worst_launch;
        o.violated = t->violated;
    }
    gp_text_addf(&message, "%s is %s, bound: %s", subject, shown, bound);
    if (violated)
        add_launch_and_run(j, t, &message);
    else if (t->unproven)
        gp_text_add(&message, " so far; the run may have had more launches");
    o.message = gp_text_string(&message);
    gp_verdict_add(verdict, &o);
    verdict->failed |= message.failed;
    gp_text_free(&message);
}

static void judge_absence(const struct gp_judge *j, const struct gp_judged_kernel *k,
                          const struct gp_trial *t, bool allowed, struct gp_verdict *verdict)
{
    struct gp_outcome o = outcome_of(j, k, t);
    struct gp_text message = {0};
    char bound[128];
    bool lets_pass = t->rule->if_present || allowed;
    bool open = t->unproven && t->absent == 0 && t->empty_runs == 0;
    const char *why = t->absent_why  ? t->absent_why
                      : open         ? "the run ended before it was read"
                      : t->elsewhere ? "no launch has all its counters, they were counted in turns"
                                     : "no launch of this kernel was measured";
    o.status = lets_pass || open ? GP_SKIPPED : GP_VIOLATED;
    bound_of(t->rule, bound, sizeof(bound));
    o.value = "absent";
    o.bound = bound;
    o.launch = t->absent_launch;
    o.violated = t->absent;
    gp_text_addf(&message, "%s is absent: %s", t->rule->metric->name, why);
    if (t->absent > 0 && j->run_count > 1) {
        gp_text_addf(&message, " (launch %llu", (unsigned long long)t->absent_launch);
        add_run(j, " of ", t->absent_run, &message);
        gp_text_add(&message, ")");
    }
    if (!lets_pass && !open)
        gp_text_add(&message, "; 'if present' behind the rule lets it pass");
    o.message = gp_text_string(&message);
    gp_verdict_add(verdict, &o);
    verdict->failed |= message.failed;
    gp_text_free(&message);
}

static void judge_trial(const struct gp_judge *j, const struct gp_judged_kernel *k,
                        const struct gp_trial *t, bool allowed, struct gp_verdict *verdict)
{
    bool absent = !t->rule->if_present && !allowed && (t->absent > 0 || t->empty_runs > 0);
    if (t->measured_runs > 0)
        judge_value(j, k, t, allowed, verdict);
    if (t->measured_runs == 0 || absent)
        judge_absence(j, k, t, allowed, verdict);
}

/* True where a run is unfinished, or measuring ended in it, and the thresholds do not take such
 * runs as they are. */
static bool any_unfinished(const struct gp_judge *j)
{
    bool any = j->unfinished_runs.length > 0 || j->given_up.length > 0;
    return any && !j->thresholds->takes_unfinished;
}

static void say_required(const struct gp_judge *j, const struct gp_section *section, bool met,
                         struct gp_verdict *verdict)
{
    char message[1024];
    bool open = !met && (any_unfinished(j) || verdict->unjudged.length > 0);
    snprintf(message, sizeof(message),
             met ? "a kernel matches [%s]" : "no kernel matches [%s], and one is required",
             section->selector.text);
    const struct gp_outcome o = {
        .status = met    ? GP_HELD
                  : open ? GP_SKIPPED
                         : GP_VIOLATED,
        .rule = "required",
        .file = j->thresholds->file,
        .line = section->required_line,
        .kernel = section->selector.text,
        .value = met ? "present" : "absent",
        .bound = "required",
        .message = message,
    };
    gp_verdict_add(verdict, &o);
}

static void note_unmatched(const struct gp_judge *j, const struct gp_section *section,
                           struct gp_verdict *verdict)
{
    const char **names = calloc(HASH_COUNT(j->kernels), sizeof(*names));
    size_t count = 0;
    for (const struct gp_judged_kernel *k = j->kernels; names && k; k = k->hh.next)
        names[count++] = k->names.brief;
    gp_selector_note_unmatched(&section->selector, j->thresholds->file, section->line, names, count,
                               &verdict->notes);
    free(names);
}

/* False where launches that a run may have had besides could change the outcome of a rule. */
static bool judge_section(struct gp_judge *j, struct gp_section *section,
                          struct gp_verdict *verdict)
{
    uint64_t violations = j->most_violations[section - j->thresholds->sections];
    bool matched = false, proven = true;
    bool allowed = violations > 0 && violations <= section->allowed;
    for (struct gp_judged_kernel *k = j->kernels; k; k = k->hh.next) {
        matched |= gp_selector_matches(&section->selector, &k->names);
        for (size_t i = 0; i < k->trial_count; i++) {
            if (k->trials[i].section != section)
                continue;
            /* An unfinished run may have had launches of it still to come. */
            k->trials[i].unproven |= k->unfinished_runs < j->unfinished_count;
            judge_trial(j, k, &k->trials[i], allowed, verdict);
            proven &= !k->trials[i].unproven;
        }
    }
    if (section->required)
        say_required(j, section, matched, verdict);
    else if (!matched && j->kernels)
        note_unmatched(j, section, verdict);
    if (section->selector.too_hard)
        gp_text_add_linef(
            &verdict->unjudged,
            "%s:%d: [%s] takes too many steps to be compared with the name of a kernel",
            j->thresholds->file, section->line, section->selector.text);
    if (allowed)
        gp_text_add_linef(&verdict->notes, "%s:%d: [%s] has %llu of %llu violations allowed%s",
                          j->thresholds->file, section->line, section->selector.text,
                          (unsigned long long)violations, (unsigned long long)section->allowed,
                          j->run_count > 1 ? ", in its worst run" : "");
    return proven && ((matched && !allowed) || !any_unfinished(j));
}

static void say_unfinished(const struct gp_judge *j, bool proven, struct gp_verdict *verdict)
{
    if (j->unfinished_runs.length == 0)
        return;
    if (j->thresholds->takes_unfinished || proven)
        gp_text_add(&verdict->notes, j->unfinished_runs.data);
    else
        gp_text_addf(&verdict->unjudged,
                     "%slaunches may be missing there, so rules that they could break are not "
                     "judged; with 'unfinished = note' among the rules they are\n",
                     j->unfinished_runs.data);
}

void gp_judge_add_outcomes(struct gp_judge *j, struct gp_verdict *verdict)
{
    size_t before = verdict->held + verdict->violated + verdict->skipped;
    bool proven = true;
    gp_text_add(&verdict->unjudged, gp_text_string(&j->given_up));
    for (size_t i = 0; i < j->thresholds->count; i++)
        proven &= judge_section(j, &j->thresholds->sections[i], verdict);
    say_unfinished(j, proven, verdict);
    if (!j->kernels && j->given_up.length == 0)
        gp_text_add(&verdict->unjudged, "no kernel was launched\n");
    else if (j->kernels && verdict->held + verdict->violated + verdict->skipped == before)
        gp_text_add_linef(&verdict->unjudged, "%s: no section matches a kernel that was launched",
                          j->thresholds->file);
    if (j->unjudged > 0)
        gp_text_addf(&verdict->unjudged,
                     "%llu launches of kernels beyond the first %d were not judged\n",
                     (unsigned long long)j->unjudged, GP_JUDGE_MOST_KERNELS);
    verdict->failed |= j->failed | j->unfinished_runs.failed | j->given_up.failed;
}
