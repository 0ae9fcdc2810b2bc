/* gpuprof thresholds: the first file of thresholds. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/how_ended.h"
#include "cli/paths.h"

#include "base/log.h"
#include "check/format.h"
#include "check/quantity.h"
#include "check/suggest.h"
#include "profile/reader.h"

#include <stdio.h>
#include <string.h>

enum { FROM, MARGIN, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [FROM] = {.name = "from",
              .letter = 0,
              .argument = "PROFILE",
              .help = "the profile of a run to take the bounds from; may be given several times, "
                      "and five runs "
                      "make narrow bounds"},
    [MARGIN] = {.name = "margin",
                .letter = 0,
                .argument = "SHARE",
                .help =
                    "the least room of values that vary, and of efficiencies, for the worse (10%)"},
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

struct reading {
    struct gp_judge *judge;
    struct gp_side_origin *origin;
    const char *path; /* of the profile at hand */
    struct gp_text *notes;
};

static bool take_header(void *user, const struct gp_profile_header *header)
{
    struct reading *r = user;
    gp_judge_process(r->judge);
    snprintf(r->origin->gpuprof, sizeof(r->origin->gpuprof), "%s", header->version);
    return true;
}

static bool take_device(void *user, const struct gp_device *device)
{
    struct reading *r = user;
    gp_judge_device(r->judge, device);
    if (!r->origin->device.name[0])
        r->origin->device = *device;
    return true;
}

static bool take_launch(void *user, const struct gp_record *launch)
{
    gp_judge_launch(((struct reading *)user)->judge, launch);
    return true;
}

static bool take_count(void *user, const struct gp_count *count)
{
    gp_judge_count(((struct reading *)user)->judge, count);
    return true;
}

static void take_unfinished(void *user, const struct gp_unfinished *process)
{
    struct reading *r = user;
    struct gp_text why = {0};
    cli_add_unfinished(process, &why);
    gp_judge_unfinished(r->judge, gp_text_string(&why));
    gp_text_addf(r->notes, "%s: %s\n", process->path, gp_text_string(&why));
    r->notes->failed |= why.failed;
    gp_text_free(&why);
}

static void take_given_up(void *user, const char *why)
{
    struct reading *r = user;
    gp_judge_gave_up(r->judge, why);
    gp_text_addf(r->notes, "%s: gpuprof stopped measuring: %s\n", r->path, why);
}

/* Reads the profiles, each a run. */
static bool read_profiles(const struct asked *asked, struct gp_suggest_values *values,
                          struct gp_side_origin *origin, struct gp_text *notes)
{
    struct reading r = {.judge = values->judge, .origin = origin, .notes = notes};
    const struct gp_profile_visitor visitor = {.user = &r,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count,
                                               .unfinished = take_unfinished,
                                               .gave_up = take_given_up};
    char why[512];
    for (int i = 0; i < asked->count; i++) {
        r.path = asked->profiles[i];
        gp_judge_run(r.judge, r.path);
        if (!gp_profile_read(r.path, &visitor, notes, why, sizeof(why))) {
            gp_say("%s", why);
            return false;
        }
    }
    if (gp_suggest_values_finish(values))
        return true;
    gp_say("out of memory");
    return false;
}

static int write_thresholds(const struct asked *asked, const struct gp_suggest_values *values,
                            const struct gp_side_origin *origin)
{
    struct gp_text out = {0}, from = {0};
    for (int i = 0; i < asked->count; i++) {
        gp_text_add(&from, i ? " " : "");
        gp_add_clean(&from, asked->profiles[i]);
    }
    const struct gp_suggest_asked suggested = {.margin = asked->margin,
                                               .from = gp_text_string(&from),
                                               .runs = (size_t)asked->count,
                                               .origin = origin};
    gp_suggest_thresholds(values, &suggested, &out);
    int status = cli_print(&out);
    gp_text_free(&from);
    return status;
}

static int suggest(const struct asked *asked, struct gp_metrics *m)
{
    struct gp_suggest_values values;
    struct gp_side_origin origin = {0};
    struct gp_text notes = {0};
    int status = CLI_USAGE;
    bool read = gp_suggest_values_open(&values, m, &notes) &&
                read_profiles(asked, &values, &origin, &notes);
    if (read && !values.kernels)
        gp_say("no launch is in the profiles: there is nothing to propose");
    else if (read)
        status = write_thresholds(asked, &values, &origin);
    gp_say_lines("", gp_text_string(&notes));
    gp_text_free(&notes);
    gp_suggest_values_free(&values);
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
    asked.count = cli_leave_out_members(asked.profiles, asked.count);
    cli_say_repeated(asked.profiles, asked.count);
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    status = suggest(&asked, m);
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
