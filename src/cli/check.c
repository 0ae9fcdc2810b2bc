/* gpuprof check: profiles held to thresholds and to a baseline. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/folding.h"
#include "cli/judging.h"
#include "cli/pairs.h"
#include "cli/paths.h"
#include "cli/verdicts.h"

#include "base/escape.h"
#include "base/log.h"
#include "check/baseline.h"
#include "check/comparison_verdict.h"
#include "check/format.h"

enum { THRESHOLDS, BASELINE, TOLERANCE, PAIR, FORMAT, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [THRESHOLDS] = {.name = "thresholds",
                    .letter = 't',
                    .argument = "FILE",
                    .help = "the rules that each kernel has to hold"},
    [BASELINE] = {.name = "baseline",
                  .letter = 'b',
                  .argument = "FILE",
                  .help = "a file of 'gpuprof baseline': no kernel may have become worse"},
    [TOLERANCE] = {.name = "tolerance",
                   .letter = 0,
                   .argument = "FILE",
                   .help = "how far metrics may be from the baseline"},
    [PAIR] = {.name = "pair",
              .letter = 0,
              .argument = "OLD=NEW",
              .help = "with a baseline: " CLI_PAIR_HELP},
    [FORMAT] = {.name = "format",
                .letter = 'f',
                .argument = "NAME[=FILE]",
                .help = "write the verdict as " GP_FORMAT_NAMES
                        "; may be given several times, each with a file of its own (text, to "
                        "standard output)"},
};

struct asked {
    const char *values[OPTION_COUNT];
    struct cli_outputs outputs;
    struct cli_pairs pairs;
};

static bool take_option(void *user, int option, const char *value)
{
    struct asked *asked = user;
    asked->values[option] = value;
    return option == FORMAT ? cli_add_output(&asked->outputs, value)
           : option == PAIR ? cli_add_pair(&asked->pairs, value)
                            : true;
}

static void join(char **words, int count, struct gp_text *out)
{
    for (int i = 0; i < count; i++)
        gp_text_addf(out, "%s%s", i ? " " : "", words[i]);
}

/* ---- thresholds ---- */

static bool check_thresholds(const char *file, struct gp_metrics *m, char **paths, int count,
                             struct gp_verdict *verdict)
{
    struct gp_text problems = {0};
    struct gp_thresholds *t = gp_thresholds_read(file, m, &problems);
    if (t)
        cli_judge_profiles(t, m, paths, count, verdict);
    else
        gp_say_lines("", gp_text_string(&problems));
    gp_thresholds_free(t);
    gp_text_free(&problems);
    return t != NULL;
}

/* ---- baseline ---- */

static void compare_with(const struct asked *asked, const struct gp_side *baseline,
                         struct gp_metrics *m, const struct gp_tolerances *rules, char **paths,
                         int count, struct gp_verdict *verdict)
{
    struct gp_side now = {0};
    struct gp_comparison c = {0};
    struct gp_text unfinished = {0};
    char why[512] = "out of memory";
    if (cli_fold_profiles(m, paths, count, &now, &verdict->notes, &unfinished, why, sizeof(why)) &&
        cli_apply_pairs(&asked->pairs, baseline, &now, why, sizeof(why)) &&
        gp_compare(baseline, &now, m, rules, &c)) {
        gp_comparison_judge(&c, rules, asked->values[BASELINE], verdict);
        gp_unfinished_judge(gp_text_string(&unfinished), rules, verdict);
    } else {
        gp_text_add_linef(&verdict->unjudged, "%s", why);
    }
    gp_text_free(&unfinished);
    gp_comparison_free(&c);
    gp_side_free(&now);
}

static bool check_baseline(const struct asked *asked, struct gp_metrics *m, char **paths, int count,
                           struct gp_verdict *verdict)
{
    struct gp_text problems = {0};
    struct gp_side baseline = {0};
    struct gp_tolerances *rules = NULL;
    char why[512] = "";
    if (asked->values[TOLERANCE])
        rules = gp_tolerances_read(asked->values[TOLERANCE], &problems);
    if (rules)
        gp_tolerances_know(rules, m, &problems);
    bool read = problems.length == 0;
    if (read && !gp_baseline_read(asked->values[BASELINE], &baseline, why, sizeof(why))) {
        gp_text_add_linef(&problems, "%s", why);
        read = false;
    }
    gp_say_lines("", gp_text_string(&problems));
    read = read && cli_select_side(m, &baseline);
    if (read)
        compare_with(asked, &baseline, m, rules, paths, count, verdict);
    gp_tolerances_free(rules);
    gp_side_free(&baseline);
    gp_text_free(&problems);
    return read;
}

static int check(struct asked *asked, struct gp_metrics *m, char **paths, int count)
{
    struct gp_text held = {0};
    struct gp_verdict verdict = {0};
    const char *thresholds = asked->values[THRESHOLDS];
    int status = CLI_USAGE;
    if ((!thresholds || check_thresholds(thresholds, m, paths, count, &verdict)) &&
        (!asked->values[BASELINE] || check_baseline(asked, m, paths, count, &verdict))) {
        join(paths, count, &held);
        bool written =
            cli_write_verdict(&asked->outputs, &verdict, "gpuprof check", gp_text_string(&held));
        status = gp_verdict_status(&verdict);
        if (!written && status == GP_CHECK_HELD)
            status = GP_CHECK_UNJUDGED;
    }
    gp_verdict_free(&verdict);
    gp_text_free(&held);
    return status;
}

/* False, after a message, where the options make no sense together. */
static bool can_check(const struct asked *asked, int profiles)
{
    if (!asked->values[THRESHOLDS] && !asked->values[BASELINE])
        gp_say("there is nothing to check against: say --thresholds FILE, --baseline FILE or both "
               "(see 'gpuprof help check')");
    else if (asked->values[TOLERANCE] && !asked->values[BASELINE])
        gp_say("--tolerance is for a comparison: say --baseline FILE as well");
    else if (asked->pairs.count > 0 && !asked->values[BASELINE])
        gp_say("--pair is for a comparison: say --baseline FILE as well");
    else if (profiles == 0)
        gp_say("there is no profile to check (see 'gpuprof help check')");
    else
        return true;
    return false;
}

static int run_check(const struct cli_command *self, int argc, char **argv)
{
    struct asked asked = {0};
    int status, count = cli_parse_mixed(self, argc, argv, take_option, &asked, &status);
    const char *const read[] = {asked.values[THRESHOLDS], asked.values[BASELINE],
                                asked.values[TOLERANCE]};
    bool can = count >= 0 && can_check(&asked, count) &&
               cli_check_outputs(&asked.outputs, read, sizeof(read) / sizeof(read[0])) &&
               cli_check_outputs(&asked.outputs, (const char *const *)argv + 1, count);
    if (count >= 0)
        status = CLI_USAGE;
    if (can) {
        count = cli_leave_out_members(argv + 1, count);
        cli_say_repeated(argv + 1, count);
    }
    struct gp_metrics *m = can ? cli_open_metrics() : NULL;
    if (m)
        status = check(&asked, m, argv + 1, count);
    gp_metrics_close(m);
    cli_free_outputs(&asked.outputs);
    return status;
}

const struct cli_command cli_check = {
    .name = "check",
    .arguments = "[options] PROFILE...",
    .help = "Hold profiles to thresholds, compare them with a baseline: ends with 0 where they "
            "hold, 1 where one is violated, 2 "
            "where it cannot be judged.",
    .run = run_check,
    .options = options,
    .option_count = OPTION_COUNT,
};
