/* gpuprof thresholds: the first file of thresholds. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/folding.h"
#include "cli/paths.h"

#include "base/log.h"
#include "check/quantity.h"
#include "check/suggest.h"

#include <stdlib.h>
#include <string.h>

enum { FROM, MARGIN, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [FROM] = {.name = "from",
              .letter = 0,
              .argument = "PROFILE",
              .help = "the profile to take the bounds from; may be given several times"},
    [MARGIN] = {.name = "margin",
                .letter = 0,
                .argument = "SHARE",
                .help = "how much worse than the profile a kernel may be (10%)"},
};

#define MOST_PROFILES 256

struct asked {
    char *profiles[MOST_PROFILES];
    int count;
    double margin;
};

static bool take_option(void *user, int option, const char *value)
{
    struct asked *asked = user;
    char why[128] = "a margin lies between 0 % and 100 %";
    if (option == FROM && asked->count < MOST_PROFILES) {
        asked->profiles[asked->count++] = (char *)value;
        return true;
    }
    if (option == MARGIN && strchr(value, '%') &&
        gp_quantity_parse(value, "ratio", &asked->margin, why, sizeof(why)) && asked->margin >= 0 &&
        asked->margin < 1)
        return true;
    if (option == MARGIN)
        gp_say("--margin: '%s' is no share such as 10%%: %s", value, why);
    else
        gp_say("--from: at most %d profiles are taken", MOST_PROFILES);
    return false;
}

static int suggest(const struct asked *asked, const struct gp_metrics *m)
{
    struct gp_side side = {0};
    struct gp_text out = {0}, from = {0}, notes = {0};
    char why[512];
    int status = CLI_USAGE;
    for (int i = 0; i < asked->count; i++)
        gp_text_addf(&from, "%s%s", i ? " " : "", asked->profiles[i]);
    if (!cli_fold_profiles(m, asked->profiles, asked->count, &side, &notes, &notes, why,
                           sizeof(why))) {
        gp_say("%s", why);
    } else if (side.count == 0) {
        gp_say("no launch is in the profiles: there is nothing to propose");
    } else {
        gp_suggest_thresholds(&side, m, asked->margin, gp_text_string(&from), &out);
        status = cli_print(&out);
    }
    gp_say_lines("", gp_text_string(&notes));
    gp_text_free(&notes);
    gp_text_free(&from);
    gp_side_free(&side);
    return status;
}

static int run_thresholds(const struct cli_command *self, int argc, char **argv)
{
    struct asked asked = {.margin = 0.1};
    int status, count = cli_parse_mixed(self, argc, argv, take_option, &asked, &status);
    if (count < 0)
        return status;
    if (count > 0 || asked.count == 0) {
        gp_say("say --from PROFILE (see 'gpuprof help thresholds')");
        return CLI_USAGE;
    }
    cli_say_repeated(asked.profiles, asked.count);
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    status = cli_select(m, NULL) ? suggest(&asked, m) : CLI_USAGE;
    gp_metrics_close(m);
    return status;
}

const struct cli_command cli_thresholds = {
    .name = "thresholds",
    .arguments = "--from PROFILE [--margin 10%]",
    .help = "Write a first file of thresholds to standard output, a section for each kernel that "
            "matters.",
    .run = run_thresholds,
    .options = options,
    .option_count = OPTION_COUNT,
};
