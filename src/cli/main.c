#include "cli/cli.h"
#include "cli/foreign.h"
#include "cli/manual.h"
#include "cli/run_options.h"

#include "base/log.h"
#include "base/nearest.h"
#include "gpuprof_version.h"
#include "report/layout.h"

#include <stdio.h>
#include <string.h>

const struct cli_command *const cli_commands[] = {
    &cli_run,     &cli_snapshot, &cli_watch,    &cli_report,     &cli_source,
    &cli_metrics, &cli_check,    &cli_baseline, &cli_thresholds, &cli_compare,
    &cli_history, &cli_help,     NULL};

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

static const char *command_name(const void *user, size_t i)
{
    (void)user;
    return cli_commands[i]->name;
}

static int print_overview(void)
{
    struct gp_text out = {0};
    gp_text_add(&out, "gpuprof profiles the CUDA kernels of a program.\n\n"
                      "  gpuprof [options] PROGRAM [ARGS]\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        gp_text_addf(&out, "  gpuprof %s %s\n      ", cli_commands[i]->name,
                     cli_commands[i]->arguments);
        gp_wrap(&out, 6, cli_commands[i]->help);
    }
    gp_text_add(&out, "  gpuprof --version\n\n"
                      "'gpuprof help COMMAND' tells more about a command.\n");
    return cli_print(&out);
}

enum { COMPLETION, SCDOC, HELP_OPTION_COUNT };

static const struct cli_option help_options[HELP_OPTION_COUNT] = {
    [COMPLETION] = {.name = "completion",
                    .argument = "bash|zsh",
                    .help = "print the script that completes commands and options in that shell"},
    [SCDOC] = {.name = "scdoc", .help = "print the manual page of the command, for scdoc"},
};

static int print_completion(const char *shell)
{
    struct gp_text out = {0};
    if (strcmp(shell, "bash") == 0) {
        cli_add_bash_completion(&out);
    } else if (strcmp(shell, "zsh") == 0) {
        cli_add_zsh_completion(&out);
    } else {
        gp_say("--completion: '%s' is neither bash nor zsh", shell);
        return CLI_USAGE;
    }
    return cli_print(&out);
}

const char *cli_nearest_command(const char *word)
{
    size_t count = 0;
    while (cli_commands[count])
        count++;
    return gp_nearest(word, count, command_name, NULL);
}

static int complain_of_command(const char *name)
{
    const struct cli_foreign_word *foreign = cli_foreign_find_word(name);
    if (foreign) {
        gp_say("'%s' is a command of %s: %s ('gpuprof help' lists the commands)", name,
               foreign->tools, foreign->instead);
        return CLI_USAGE;
    }
    const char *nearest = cli_nearest_command(name);
    gp_say("there is no command '%s'%s%s%s ('gpuprof help' lists them)", name,
           nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return CLI_USAGE;
}

static int run_help(const struct cli_command *self, int argc, char **argv)
{
    const char *values[HELP_OPTION_COUNT];
    int status, first = cli_parse(self, argc, argv, values, &status);
    if (first < 0)
        return status;
    if (values[COMPLETION])
        return print_completion(values[COMPLETION]);
    if (argc - first > 1) {
        gp_say("help explains one command: '%s' is one too many", argv[first + 1]);
        return CLI_USAGE;
    }
    const struct cli_command *command = first < argc ? find_command(argv[first]) : NULL;
    if (first < argc && !command)
        return complain_of_command(argv[first]);
    if (values[SCDOC]) {
        struct gp_text out = {0};
        cli_add_manual(command, &out);
        return cli_print(&out);
    }
    return command ? cli_print_help(command) : print_overview();
}

const struct cli_command cli_help = {
    .name = "help",
    .arguments = "[options] [COMMAND]",
    .help = "Explain gpuprof or one of its commands.",
    .run = run_help,
    .options = help_options,
    .option_count = HELP_OPTION_COUNT,
};

/* Everything that is not the name of a command is a program to run; but some words are commands of
 * other profilers, and would be taken for programs of these names. */
static int run_without_word(int argc, char **argv)
{
    const char *values[RUN_OPTION_COUNT];
    int status, program = cli_parse(&cli_run, argc, argv, values, &status);
    if (program < 0)
        return status;
    bool is_asked = program < argc && strcmp(argv[program - 1], "--") != 0;
    const struct cli_foreign_word *foreign = is_asked ? cli_foreign_find_word(argv[program]) : NULL;
    if (!foreign)
        return cli_run.run(&cli_run, argc, argv);
    gp_say("'%s' is a command of %s: %s ('gpuprof run %s' runs a program of that name)",
           argv[program], foreign->tools, foreign->instead, argv[program]);
    return CLI_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_overview();
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_overview();
    if (strcmp(argv[1], "--version") == 0) {
        struct gp_text out = {0};
        gp_text_add(&out, "gpuprof " GP_VERSION GP_COMMIT "\n");
        return cli_print(&out);
    }
    const struct cli_command *command = find_command(argv[1]);
    if (command)
        return command->run(command, argc - 1, argv + 1);
    return run_without_word(argc, argv);
}
