#include "cli/rule_values.h"

#include "base/log.h"
#include "report/layout.h"
#include "report/operands.h"
#include "report/rules.h"

#include <string.h>

#define NAME_COLUMNS 30 /* with two before the name, and two behind it */

static void add_line(const char *name, const char *text, struct gp_text *out)
{
    gp_text_addf(out, "  %-26s  ", name);
    gp_wrap(out, NAME_COLUMNS, text);
}

static void add_values(const struct gp_rules *rules, struct gp_text *out)
{
    gp_text_add(out, "values that a rule may name, besides metrics and facts (--facts): of a "
                     "kernel, and of one launch "
                     "in the mean\n\n");
    for (size_t i = 0; gp_operand_name(i); i++)
        add_line(gp_operand_name(i), gp_operand_help(i), out);
    for (size_t i = 0; i < rules->unit_count; i++) {
        struct gp_text name = {0}, help = {0};
        gp_text_addf(&name, "close_%s", rules->units[i].name);
        gp_text_addf(&help, "closeness of the unit '%s' to its ceiling, which is %g of its peak",
                     rules->units[i].title, rules->units[i].ceiling);
        add_line(gp_text_string(&name), gp_text_string(&help), out);
        out->failed |= name.failed || help.failed;
        gp_text_free(&name);
        gp_text_free(&help);
    }
    add_line("close_compute", "of the busiest unit but dram, l2 and l1", out);
    add_line("close_pipes", "of the busiest of these that does not take all instructions", out);
}

static void add_rule(const struct gp_rule *rule, struct gp_text *out)
{
    struct gp_text text = {0};
    gp_text_addf(&text, "%s, line %d", rule->file, rule->line);
    if (!rule->used)
        gp_text_add(&text, "; switched off");
    else if (rule->of_program)
        gp_text_add(&text, "; asked of the program");
    else if (rule->of_sequence)
        gp_text_add(&text, "; asked of sequences of kernels");
    else
        gp_text_addf(&text, "; bound by: %s", rule->under ? rule->under : "any");
    add_line(rule->name, gp_text_string(&text), out);
    out->failed |= text.failed;
    gp_text_free(&text);
}

bool cli_add_rules(const struct gp_metrics *m, struct gp_text *out)
{
    struct gp_text problems = {0};
    struct gp_rules *rules = gp_rules_open(m, &problems);
    gp_say_lines("", gp_text_string(&problems));
    gp_text_free(&problems);
    if (!rules) {
        gp_say("out of memory");
        return false;
    }
    add_values(rules, out);
    gp_text_add(out, "\nrules, which docs/advice.md describes\n\n");
    for (size_t i = 0; i < rules->count; i++)
        add_rule(rules->rules[i], out);
    gp_rules_close(rules);
    return true;
}

bool cli_explain_rule_value(const char *name, struct gp_text *out)
{
    for (size_t i = 0; gp_operand_name(i); i++) {
        if (strcmp(gp_operand_name(i), name) != 0)
            continue;
        gp_text_addf(out, "\n%s, a value for rules of advice\n    ", name);
        gp_wrap(out, 4, gp_operand_help(i));
        return true;
    }
    return false;
}
