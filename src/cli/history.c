/* gpuprof history: runs kept in one SQLite file, shown, and compared with. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/folding.h"
#include "cli/pairs.h"
#include "cli/paths.h"
#include "cli/verdicts.h"

#include "base/escape.h"
#include "base/log.h"
#include "check/comparison_verdict.h"
#include "check/drift.h"
#include "history/store.h"
#include "profile/reader.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DB, COMMIT, BRANCH, METRICS, LAST, KERNEL, TOLERANCE, PAIR, FORMAT, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [DB] = {.name = "db",
            .letter = 0,
            .argument = "FILE",
            .help = "the history (gpuprof-history.db)"},
    [COMMIT] = {.name = "commit",
                .letter = 0,
                .argument = "ID",
                .help = "add: the commit that was measured"},
    [BRANCH] = {.name = "branch",
                .letter = 0,
                .argument = "NAME",
                .help = "add: its branch; show, check: runs of this branch only"},
    [METRICS] =
        {.name = "metrics",
         .letter = 'm',
         .argument = "LIST",
         .help =
             "add: the metrics and sets to keep (paper); check: those of the profiles; show: the "
             "one to show (duration)"},
    [LAST] = {.name = "last",
              .letter = 0,
              .argument = "COUNT",
              .help = "show, check: so many runs (10)"},
    [KERNEL] = {.name = "kernel",
                .letter = 'k',
                .argument = "GLOB",
                .help = "show: a metric of these kernels, run by run"},
    [TOLERANCE] = {.name = "tolerance",
                   .letter = 0,
                   .argument = "FILE",
                   .help = "check: how far metrics may be from the runs before"},
    [PAIR] = {.name = "pair", .letter = 0, .argument = "OLD=NEW", .help = "check: " CLI_PAIR_HELP},
    [FORMAT] =
        {.name = "format",
         .letter = 'f',
         .argument = "NAME[=FILE]",
         .help = "check: the verdict's format, as for 'gpuprof check'; may be given several times"},
};

enum { ADD, SHOW, CHECK, VERBS };
static const char *const verbs[VERBS] = {"add", "show", "check"};
#define SERVES(verb) (1u << (verb))
static const unsigned serves[OPTION_COUNT] = {
    [DB] = SERVES(ADD) | SERVES(SHOW) | SERVES(CHECK),
    [COMMIT] = SERVES(ADD),
    [BRANCH] = SERVES(ADD) | SERVES(SHOW) | SERVES(CHECK),
    [METRICS] = SERVES(ADD) | SERVES(SHOW) | SERVES(CHECK),
    [LAST] = SERVES(SHOW) | SERVES(CHECK),
    [KERNEL] = SERVES(SHOW),
    [TOLERANCE] = SERVES(CHECK),
    [PAIR] = SERVES(CHECK),
    [FORMAT] = SERVES(CHECK),
};

#define LONGEST_WORD 256

struct asked {
    const char *values[OPTION_COUNT];
    struct cli_outputs outputs;
    struct cli_pairs pairs;
    unsigned last;
};

static bool take_option(void *user, int option, const char *value)
{
    struct asked *asked = user;
    asked->values[option] = value;
    if (option == FORMAT)
        return cli_add_output(&asked->outputs, value);
    if (option == PAIR)
        return cli_add_pair(&asked->pairs, value);
    if (option != LAST)
        return true;
    char *end;
    unsigned long last = strtoul(value, &end, 10);
    asked->last = (unsigned)last;
    if (isdigit((unsigned char)*value) && !*end && last >= 1 && last <= GP_MOST_RUNS)
        return true;
    gp_say("--last: '%s' is no number of runs, from 1 to %d", value, GP_MOST_RUNS);
    return false;
}

static const char *path_of(const struct asked *asked)
{
    return asked->values[DB] ? asked->values[DB] : "gpuprof-history.db";
}

/* ---- add ---- */

struct about {
    char host[LONGEST_WORD], time[64];
};

static bool note_header(void *user, const struct gp_profile_header *header)
{
    struct about *about = user;
    snprintf(about->host, sizeof(about->host), "%s", header->host);
    snprintf(about->time, sizeof(about->time), "%s", header->time);
    return false; /* that is enough */
}

/* Opens the history before the first run that can be added, so that none is made in vain. */
static bool add_profile(struct gp_history **h, const struct asked *asked,
                        const struct gp_metrics *m, char *path, char *why, size_t why_size)
{
    struct gp_side side = {0};
    struct gp_text notes = {0};
    struct about about = {.host = ""};
    const struct gp_profile_visitor visitor = {.user = &about, .header = note_header};
    bool added = gp_profile_read(path, &visitor, NULL, why, why_size) &&
                 cli_fold_profiles(m, &path, 1, &side, &notes, &notes, why, why_size);
    gp_say_lines("", gp_text_string(&notes));
    gp_text_free(&notes);
    if (added && (side.count == 0 || side.several_models)) {
        snprintf(why, why_size, "%s: %s", path,
                 side.count ? "its GPUs are of several models" : "no launch is in it");
        added = false;
    }
    const struct gp_history_run run = {.commit = asked->values[COMMIT],
                                       .branch = asked->values[BRANCH],
                                       .host = about.host,
                                       .time = about.time,
                                       .profile = path};
    if (added && !*h)
        *h = gp_history_open(path_of(asked), true, why, why_size);
    added = added && *h && gp_history_add(*h, &run, &side, why, why_size);
    gp_side_free(&side);
    return added;
}

static int add(const struct asked *asked, struct gp_metrics *m, char **paths, int count)
{
    char why[600];
    if (count == 0) {
        gp_say("there is no profile to add (see 'gpuprof help history')");
        return CLI_USAGE;
    }
    if (!cli_select(m, asked->values[METRICS]))
        return CLI_USAGE;
    struct gp_history *h = NULL;
    bool added = true;
    for (int i = 0; i < count && added; i++)
        added = add_profile(&h, asked, m, paths[i], why, sizeof(why));
    gp_history_close(h);
    if (!added)
        gp_say("%s", why);
    return added ? CLI_OK : CLI_USAGE;
}

/* ---- show ---- */

static int show(const struct asked *asked, const struct gp_metrics *m)
{
    char why[600];
    struct gp_text out = {0};
    const struct gp_history_filter filter = {.branch = asked->values[BRANCH]};
    const char *name = asked->values[METRICS] ? asked->values[METRICS] : "duration";
    const struct gp_metric *metric = gp_metrics_find(m, name);
    if (!metric) {
        gp_say("--metrics: there is no metric '%s'", name);
        return CLI_USAGE;
    }
    const char *kernel = asked->values[KERNEL] ? asked->values[KERNEL] : "*";
    bool runs = !asked->values[KERNEL] && !asked->values[METRICS];
    struct gp_history *h = gp_history_open(path_of(asked), false, why, sizeof(why));
    bool listed =
        h && (runs ? gp_history_list(h, &filter, asked->last, &out, why, sizeof(why))
                   : gp_history_list_metric(h, &filter, kernel, metric->name, metric->unit,
                                            asked->last, &out, why, sizeof(why)));
    gp_history_close(h);
    if (listed && (runs || out.length > 0))
        return cli_print_escaped(&out);
    if (listed)
        gp_say("no kernel of these runs matches '%s' and has the metric %s", kernel, metric->name);
    else
        gp_say("%s", why);
    gp_text_free(&out);
    return listed ? CLI_FAILED : CLI_USAGE;
}

/* ---- check ---- */

struct sides {
    struct gp_side before, now, all;
};

/* The newest run is judged, or profiles that are not in the history. */
static bool find_sides(struct gp_history *h, const struct asked *asked, struct gp_metrics *m,
                       char **paths, int count, struct sides *s, struct gp_text *unfinished,
                       char *why, size_t why_size)
{
    struct gp_history_filter filter = {.branch = asked->values[BRANCH]};
    unsigned newest = count == 0;
    bool found =
        count > 0 ? cli_select(m, asked->values[METRICS]) &&
                        cli_fold_profiles(m, paths, count, &s->now, NULL, unfinished, why, why_size)
                  : gp_history_side(h, &filter, 0, 1, &s->now, why, why_size);
    if (!found)
        return false;
    filter.gpu = s->now.origin.device.name;
    if (!gp_history_side(h, &filter, newest, asked->last, &s->before, why, why_size) ||
        !gp_history_side(h, &filter, 0, asked->last > GP_DRIFT_RUNS ? asked->last : GP_DRIFT_RUNS,
                         &s->all, why, why_size))
        return false;
    if (count > 0 && !gp_side_continue(&s->all, &s->now)) {
        snprintf(why, why_size, "out of memory");
        return false;
    }
    if (s->before.runs == 0)
        snprintf(why, why_size, "%s: no run to compare with: none %s%s of %s", path_of(asked),
                 asked->values[BRANCH] ? "of branch " : "before this one",
                 asked->values[BRANCH] ? asked->values[BRANCH] : "",
                 filter.gpu[0] ? filter.gpu : "this GPU");
    return s->before.runs > 0;
}

static void judge(struct gp_history *h, const struct asked *asked, struct gp_metrics *m,
                  const struct gp_tolerances *rules, char **paths, int count,
                  struct gp_verdict *verdict)
{
    char why[600] = "out of memory";
    struct sides s = {0};
    struct gp_comparison c = {0};
    struct gp_text unfinished = {0};
    if (find_sides(h, asked, m, paths, count, &s, &unfinished, why, sizeof(why)) &&
        cli_apply_pairs(&asked->pairs, &s.before, &s.now, why, sizeof(why)) &&
        gp_compare(&s.before, &s.now, m, rules, &c)) {
        gp_comparison_judge(&c, rules, path_of(asked), verdict);
        gp_drift_judge(&s.all, asked->last + 1, m, rules, path_of(asked), verdict);
        gp_unfinished_judge(gp_text_string(&unfinished), rules, verdict);
    } else {
        gp_text_add_linef(&verdict->unjudged, "%s", why);
    }
    gp_text_free(&unfinished);
    gp_comparison_free(&c);
    gp_side_free(&s.before);
    gp_side_free(&s.now);
    gp_side_free(&s.all);
}

static int check(struct asked *asked, struct gp_metrics *m, char **paths, int count)
{
    char why[600];
    struct gp_text problems = {0};
    struct gp_verdict verdict = {0};
    struct gp_tolerances *rules = NULL;
    struct gp_history *h = NULL;
    int status = CLI_USAGE;
    if (asked->values[TOLERANCE])
        rules = gp_tolerances_read(asked->values[TOLERANCE], &problems);
    if (rules)
        gp_tolerances_know(rules, m, &problems);
    if (problems.length == 0) {
        h = gp_history_open(path_of(asked), false, why, sizeof(why));
        if (h)
            judge(h, asked, m, rules, paths, count, &verdict);
        else
            gp_text_add_linef(&verdict.unjudged, "%s", why);
        bool written =
            cli_write_verdict(&asked->outputs, &verdict, "gpuprof history check", path_of(asked));
        status = gp_verdict_status(&verdict);
        if (!written && status == GP_CHECK_HELD)
            status = GP_CHECK_UNJUDGED;
    }
    gp_say_lines("", gp_text_string(&problems));
    gp_text_free(&problems);
    gp_history_close(h);
    gp_tolerances_free(rules);
    gp_verdict_free(&verdict);
    return status;
}

/* VERBS where it is none. */
static int verb_of(const char *word)
{
    int verb = 0;
    while (verb < VERBS && strcmp(word, verbs[verb]) != 0)
        verb++;
    return verb;
}

/* An option of another verb would be ignored. */
static bool takes_options(int verb, const struct asked *asked)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (!asked->values[i] || (serves[i] & SERVES(verb)))
            continue;
        gp_say("history %s takes no --%s (see 'gpuprof help history')", verbs[verb],
               options[i].name);
        return false;
    }
    return true;
}

static int do_verb(struct asked *asked, int count, char **argv)
{
    const int verb = count > 0 ? verb_of(argv[1]) : VERBS;
    if (verb == VERBS) {
        gp_say("say 'gpuprof history add', 'show' or 'check' (see 'gpuprof help history')");
        return CLI_USAGE;
    }
    if (!takes_options(verb, asked))
        return CLI_USAGE;
    if (verb == SHOW && count > 1) {
        gp_say("history show takes no profile: '%s' (--metrics and --kernel say which values are "
               "shown)",
               argv[2]);
        return CLI_USAGE;
    }
    const char *const read[] = {path_of(asked), asked->values[TOLERANCE]};
    if (!cli_check_outputs(&asked->outputs, read, sizeof(read) / sizeof(read[0])) ||
        !cli_check_outputs(&asked->outputs, (const char *const *)argv + 2, count - 1))
        return CLI_USAGE;
    const int profiles = cli_leave_out_members(argv + 2, count - 1);
    cli_say_repeated(argv + 2, profiles);
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    int status = verb == ADD    ? add(asked, m, argv + 2, profiles)
                 : verb == SHOW ? show(asked, m)
                                : check(asked, m, argv + 2, profiles);
    gp_metrics_close(m);
    return status;
}

static int run_history(const struct cli_command *self, int argc, char **argv)
{
    struct asked asked = {.last = 10};
    signal(SIGXFSZ, SIG_IGN); /* SQLite reports the limit, and takes back its changes */
    int status, count = cli_parse_mixed(self, argc, argv, take_option, &asked, &status);
    if (count >= 0)
        status = do_verb(&asked, count, argv);
    cli_free_outputs(&asked.outputs);
    return status;
}

const struct cli_command cli_history = {
    .name = "history",
    .arguments = "add|show|check [options] [PROFILE...]",
    .help = "Keep runs in one SQLite file; show them; check the newest, or profiles, against those "
            "before: a change, and a slow drift.",
    .run = run_history,
    .options = options,
    .option_count = OPTION_COUNT,
};
