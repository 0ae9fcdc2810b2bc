/* gpuprof compare: two sides, for a person. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/folding.h"
#include "cli/pairs.h"
#include "cli/paths.h"

#include "base/log.h"
#include "check/baseline.h"
#include "check/comparison_verdict.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { METRICS, TOP, PAIR, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [METRICS] = {.name = "metrics",
                 .letter = 'm',
                 .argument = "LIST",
                 .help = "the metrics and sets to compare, with commas between them (paper)"},
    [TOP] = {.name = "top",
             .letter = 'n',
             .argument = "COUNT",
             .help = "most kernels to show, those whose time changed most; 0: all (20)"},
    [PAIR] = {.name = "pair", .letter = 'p', .argument = "OLD=NEW", .help = CLI_PAIR_HELP},
};

struct asked {
    const char *values[OPTION_COUNT];
    struct cli_pairs pairs;
};

static bool take_option(void *user, int option, const char *value)
{
    struct asked *asked = user;
    asked->values[option] = value;
    return option != PAIR || cli_add_pair(&asked->pairs, value);
}

/* "a,b,c": several runs. Cuts the text up. */
static bool read_side(const struct gp_metrics *m, char *text, struct gp_side *side)
{
    char why[512];
    char *paths[256], *rest = NULL;
    int count = 0;
    if (cli_is_baseline(text)) {
        bool read = gp_baseline_read(text, side, why, sizeof(why));
        if (!read)
            gp_say("%s", why);
        return read;
    }
    for (char *p = strtok_r(text, ",", &rest); p && count < 256; p = strtok_r(NULL, ",", &rest))
        paths[count++] = p;
    count = cli_leave_out_members(paths, count);
    cli_say_repeated(paths, count);
    if (count == 0) {
        gp_say("a side names no profile");
        return false;
    }
    struct gp_text notes = {0};
    bool read = cli_fold_profiles(m, paths, count, side, &notes, &notes, why, sizeof(why));
    gp_say_lines("", gp_text_string(&notes));
    if (!read)
        gp_say("%s", why);
    gp_text_free(&notes);
    return read;
}

static int compare(const struct gp_metrics *m, char **names, const struct cli_pairs *pairs,
                   size_t top)
{
    char why[600];
    struct gp_side a = {0}, b = {0};
    struct gp_comparison c = {0};
    struct gp_text out = {0};
    char *words[2] = {strdup(names[0]), strdup(names[1])};
    int status = CLI_USAGE;
    if (words[0] && words[1] && read_side(m, words[0], &a) && read_side(m, words[1], &b)) {
        if (!cli_apply_pairs(pairs, &a, &b, why, sizeof(why))) {
            gp_say("%s", why);
        } else if (gp_compare(&a, &b, m, NULL, &c)) {
            gp_comparison_table(&c, names[0], names[1], top, &out);
            status = cli_print_escaped(&out);
        } else {
            gp_say("out of memory");
        }
    }
    free(words[0]);
    free(words[1]);
    gp_comparison_free(&c);
    gp_side_free(&a);
    gp_side_free(&b);
    return status;
}

static int run_compare(const struct cli_command *self, int argc, char **argv)
{
    struct asked asked = {.values = {NULL}};
    const char *const *values = asked.values;
    int status, count = cli_parse_mixed(self, argc, argv, take_option, &asked, &status);
    if (count < 0)
        return status;
    char *end = NULL;
    errno = 0;
    unsigned long top = values[TOP] ? strtoul(values[TOP], &end, 10) : 20;
    if (values[TOP] && (errno || *end || !isdigit((unsigned char)values[TOP][0]))) {
        gp_say("--top: '%s' is no number of kernels", values[TOP]);
        return CLI_USAGE;
    }
    if (count != 2) {
        gp_say("two sides are compared, each a profile, several with commas between them, or a "
               "baseline; here are %d",
               count);
        return CLI_USAGE;
    }
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    status = cli_select(m, values[METRICS]) ? compare(m, argv + 1, &asked.pairs, top) : CLI_USAGE;
    gp_metrics_close(m);
    return status;
}

const struct cli_command cli_compare = {
    .name = "compare",
    .arguments = "[options] A[,A2...] B[,B2...]",
    .help =
        "Show two sides beside each other, the kernels whose time changed most first; each is a "
        "profile, several runs with commas between them, or a baseline.",
    .run = run_compare,
    .options = options,
    .option_count = OPTION_COUNT,
};
