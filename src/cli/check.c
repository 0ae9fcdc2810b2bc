/* gpuprof check: profiles held to thresholds and to a baseline. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/judging.h"
#include "cli/verdicts.h"

#include "base/log.h"

enum { THRESHOLDS, FORMAT, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [THRESHOLDS] = {"thresholds", 't', "FILE", "the rules that each kernel has to hold"},
    [FORMAT] = {"format", 'f', "NAME[=FILE]",
                "write the verdict as text, junit, github, gitlab, sarif or markdown; may be given "
                "several times, each with a file of its own (text, to standard output)"},
};

struct asked {
    const char *values[OPTION_COUNT];
    struct cli_outputs outputs;
};

static bool take_option(void *user, int option, const char *value)
{
    struct asked *asked = user;
    asked->values[option] = value;
    return option != FORMAT || cli_add_output(&asked->outputs, value);
}

static void join(char **words, int count, struct gp_text *out)
{
    for (int i = 0; i < count; i++)
        gp_text_addf(out, "%s%s", i ? " " : "", words[i]);
}

static int check(struct asked *asked, struct gp_metrics *m, char **paths, int count)
{
    struct gp_text problems = {0}, held = {0};
    struct gp_verdict verdict = {0};
    struct gp_thresholds *t = gp_thresholds_read(asked->values[THRESHOLDS], m, &problems);
    int status = CLI_USAGE;
    if (t) {
        cli_judge_profiles(t, m, paths, count, &verdict);
        join(paths, count, &held);
        bool written =
            cli_write_verdict(&asked->outputs, &verdict, "gpuprof check", gp_text_string(&held));
        status = gp_verdict_status(&verdict);
        if (!written && status == GP_CHECK_HELD)
            status = GP_CHECK_UNJUDGED;
    } else {
        gp_say_lines("", gp_text_string(&problems));
    }
    gp_thresholds_free(t);
    gp_verdict_free(&verdict);
    gp_text_free(&problems);
    gp_text_free(&held);
    return status;
}

static int run_check(const struct cli_command *self, int argc, char **argv)
{
    struct asked asked = {0};
    int status, count = cli_parse_mixed(self, argc, argv, take_option, &asked, &status);
    if (count < 0)
        return status;
    if (!asked.values[THRESHOLDS]) {
        gp_say("there is nothing to check against: say --thresholds FILE ('gpuprof help check' "
               "tells more)");
        return CLI_USAGE;
    }
    if (count == 0) {
        gp_say("there is no profile to check ('gpuprof help check' tells more)");
        return CLI_USAGE;
    }
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_USAGE;
    status = check(&asked, m, argv + 1, count);
    gp_metrics_close(m);
    return status;
}

const struct cli_command cli_check = {
    .name = "check",
    .arguments = "[options] PROFILE...",
    .help = "Hold profiles to thresholds: ends with 0 where they hold, 1 where one is violated, 2 "
            "where it cannot be judged.",
    .run = run_check,
    .options = options,
    .option_count = OPTION_COUNT,
};
