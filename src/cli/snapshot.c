/* gpuprof snapshot: the report on a program that runs. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/live.h"
#include "cli/paths.h"

#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "report/colour.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT, DETAILS, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .argument = "FILE",
                .help = "also write the profile so far to this file, for 'gpuprof report' and the "
                        "other commands; compressed where the name ends in .zst"},
    [DETAILS] = {.name = "details", .help = "print the metrics of each kernel, too"},
};

static bool take_option(void *user, int option, const char *value)
{
    const char **values = user;
    values[option] = value;
    return option != OUTPUT || cli_check_file("--output", value);
}

/* To write over the profile that is read would take it from the process that writes it. */
static bool check_spared(const struct cli_live *live, const char *output)
{
    struct stat file, read;
    if (!output || stat(output, &file) != 0)
        return true;
    for (size_t i = 0; i < live->count; i++) {
        if (fstat(live->list[i].fd, &read) == 0 && read.st_dev == file.st_dev &&
            read.st_ino == file.st_ino) {
            gp_say("--output: %s: process %ld is writing that file", output,
                   (long)live->list[i].process);
            return false;
        }
    }
    return true;
}

static int print(struct gp_text *text)
{
    struct gp_text coloured = {0};
    if (gp_colour_wanted(isatty(STDOUT_FILENO)))
        gp_colour(gp_text_string(text), &coloured);
    if (coloured.failed || coloured.length == 0) {
        gp_text_free(&coloured);
        return cli_print(text);
    }
    gp_text_free(text);
    return cli_print(&coloured);
}

static int take_snapshot(const struct cli_live *live, const char *const *values)
{
    struct gp_text text = {0};
    if (!check_spared(live, values[OUTPUT]))
        return CLI_USAGE;
    const bool known =
        cli_live_report(live, values[DETAILS] != NULL, gp_terminal_columns(STDOUT_FILENO), &text);
    if (!known && !text.failed)
        gp_text_add(&text, "No launch has ended yet.\n");
    const int answer = print(&text);
    const bool copied = !values[OUTPUT] || cli_live_copy(live, values[OUTPUT]);
    return answer == CLI_OK && !copied ? CLI_FAILED : answer;
}

static int run_snapshot(const struct cli_command *self, int argc, char **argv)
{
    const char *values[OPTION_COUNT] = {NULL};
    struct cli_live live;
    struct gp_text why = {0};
    pid_t process;
    int status;
    const int count = cli_parse_mixed(self, argc, argv, take_option, values, &status);
    if (count < 0)
        return status;
    if (count != 1) {
        gp_say(count == 0
                   ? "the number of a process is missing ('gpuprof help snapshot' tells more)"
                   : "a snapshot is of one process and those that it has started");
        return CLI_USAGE;
    }
    if (!cli_live_number(argv[1], &process))
        return CLI_USAGE;
    const bool found = cli_live_find(process, &live, &why);
    if (!found)
        gp_say("%s", gp_text_string(&why));
    status = found ? take_snapshot(&live, values) : CLI_USAGE;
    cli_live_free(&live);
    gp_text_free(&why);
    return status;
}

const struct cli_command cli_snapshot = {
    .name = "snapshot",
    .arguments = "[options] PID",
    .help =
        "Print the report so far of a program that runs under gpuprof, and of the processes that "
        "it has started. The program is not stopped and does not notice.",
    .run = run_snapshot,
    .options = options,
    .option_count = OPTION_COUNT,
};
