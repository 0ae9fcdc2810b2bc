/* gpuprof baseline: the values that later runs are compared with. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/folding.h"
#include "cli/paths.h"
#include "cli/replacing.h"

#include "base/file.h"
#include "base/log.h"
#include "check/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT, METRICS, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .argument = "FILE",
                .help = "write the baseline to this file; -: standard output (-)"},
    [METRICS] = {.name = "metrics",
                 .letter = 'm',
                 .argument = "LIST",
                 .help = "the metrics and sets to keep, with commas between them (paper)"},
};

static bool take_option(void *user, int option, const char *value)
{
    const char **values = user;
    values[option] = value;
    return option != OUTPUT || strcmp(value, "-") == 0 || cli_check_file("--output", value);
}

static int write_text(void *user, int fd)
{
    const struct gp_text *text = user;
    return gp_write_all(fd, text->data, text->length);
}

static int write_and_close(int fd, struct gp_text *text)
{
    int error = write_text(text, fd);
    return close(fd) != 0 && error == 0 ? errno : error;
}

/* A file that is there is written beside and renamed: it is whole, or as it was. A link stays one,
 * and a pipe or a device is written to. A new file that cannot be finished is taken away. */
static int write_whole(const char *path, struct gp_text *text)
{
    struct stat about = {0};
    bool is_new = stat(path, &about) != 0;
    char *target = S_ISREG(about.st_mode) ? realpath(path, NULL) : NULL;
    int error = target ? cli_replace(target, about.st_mode & 0777, write_text, text) : 0;
    if (!target) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666);
        error = fd < 0 ? errno : write_and_close(fd, text);
        target = fd >= 0 && error && is_new ? realpath(path, NULL) : NULL;
        if (target)
            unlink(target);
    }
    free(target);
    return error;
}

static int write_baseline(const struct gp_side *side, const char *path)
{
    struct gp_text text = {0};
    gp_baseline_write(side, &text);
    if (!path || strcmp(path, "-") == 0)
        return cli_print(&text);
    int error = text.failed ? ENOMEM : write_whole(path, &text);
    gp_text_free(&text);
    if (error == 0)
        return CLI_OK;
    gp_say("--output: %s: %s", path, strerror(error));
    return CLI_FAILED;
}

/* ---- metrics without a value ---- */

/* The reason of the first kernel; NULL where some kernel has a value. */
static const char *why_absent(const struct gp_side *side, size_t metric)
{
    const char *why = NULL;
    for (size_t i = 0; i < side->count; i++) {
        const struct gp_series *series = &side->subjects[i].series[metric];
        if (series->runs > 0)
            return NULL;
        if (!why)
            why = series->absent;
    }
    return why ? why : "no launch was measured";
}

/* Whether the list has the metric by its own name, not in a set. */
static bool is_named(const char *list, const char *metric)
{
    const size_t length = strlen(metric);
    for (; list && *list; list += strcspn(list, ","), list += *list == ',')
        if (strncmp(list, metric, length) == 0 && strchr(",", list[length]))
            return true;
    return false;
}

/* A line on the metrics that no kernel has a value of. False where the user named one of them. */
static bool say_absent(const struct gp_side *side, const char *list)
{
    struct gp_text names = {0}, named = {0};
    const char *first = NULL, *first_named = NULL;
    for (size_t i = 0; i < side->metric_count; i++) {
        const char *name = side->metrics[i], *why = why_absent(side, i);
        if (why && is_named(list, name)) {
            gp_text_addf(&named, "%s%s", named.length ? ", " : "", name);
            first_named = first_named ? first_named : why;
        } else if (why) {
            gp_text_addf(&names, "%s%s", names.length ? ", " : "", name);
            first = first ? first : why;
        }
    }
    const bool all = named.length == 0;
    if (!all)
        gp_say("--metrics: no kernel has a value of %s: %s", named.data, first_named);
    else if (names.length > 0 && !strchr(names.data, ','))
        gp_say("not kept, as no kernel has a value: %s: %s", names.data, first);
    else if (names.length > 0)
        gp_say("not kept, as no kernel has a value: %s (%.*s: %s)", names.data,
               (int)strcspn(names.data, ","), names.data, first);
    gp_text_free(&names);
    gp_text_free(&named);
    return all;
}

static int run_baseline(const struct cli_command *self, int argc, char **argv)
{
    const char *values[OPTION_COUNT] = {NULL};
    int status, count = cli_parse_mixed(self, argc, argv, take_option, values, &status);
    if (count < 0)
        return status;
    if (count == 0) {
        gp_say("there is no profile to make a baseline of (see 'gpuprof help baseline')");
        return CLI_USAGE;
    }
    if (!cli_check_spared("--output", values[OUTPUT], (const char *const *)argv + 1, count))
        return CLI_USAGE;
    count = cli_leave_out_members(argv + 1, count);
    cli_say_repeated(argv + 1, count);
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    struct gp_side side = {0};
    struct gp_text notes = {0};
    char why[512];
    status = CLI_USAGE;
    if (cli_select(m, values[METRICS])) {
        if (!cli_fold_profiles(m, argv + 1, count, &side, &notes, &notes, why, sizeof(why)))
            gp_say("%s", why);
        else if (side.count == 0)
            gp_say("no launch is in the profiles: there is nothing to keep");
        else if (side.several_models)
            gp_say("the profiles are of GPUs of several models: make a baseline for each");
        else if (say_absent(&side, values[METRICS]))
            status = write_baseline(&side, values[OUTPUT]);
        gp_say_lines("", gp_text_string(&notes));
    }
    gp_text_free(&notes);
    gp_side_free(&side);
    gp_metrics_close(m);
    return status;
}

const struct cli_command cli_baseline = {
    .name = "baseline",
    .arguments = "[options] PROFILE...",
    .help = "Keep the values of profiles, each a run of the same program, for 'gpuprof check "
            "--baseline' to compare with.",
    .run = run_baseline,
    .options = options,
    .option_count = OPTION_COUNT,
};
