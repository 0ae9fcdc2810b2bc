#include "cli/cli.h"

#include "base/file.h"
#include "base/log.h"
#include "base/nearest.h"
#include "report/layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *option_name(const void *user, size_t i)
{
    const struct cli_command *command = user;
    return command->options[i].name;
}

static int complain(const struct cli_command *command, const char *what, const char *word)
{
    gp_say("%s '%s' ('gpuprof help %s' lists the options)", what, word, command->name);
    return -1;
}

static int complain_unknown(const struct cli_command *command, const char *word)
{
    const char *nearest = NULL;
    if (strncmp(word, "--", 2) == 0)
        nearest = gp_nearest(word + 2, command->option_count, option_name, command);
    gp_say("there is no option '%s'%s%s%s ('gpuprof help %s' lists the options)", word,
           nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "",
           command->name);
    return -1;
}

/* `word` is "--name" or "--name=value"; *value then points at the value. */
static int find_long(const struct cli_command *command, const char *word, const char **value)
{
    size_t length = strcspn(word + 2, "=");
    *value = word[2 + length] ? word + 2 + length + 1 : NULL;
    for (size_t i = 0; i < command->option_count; i++) {
        const char *name = command->options[i].name;
        if (strlen(name) == length && strncmp(name, word + 2, length) == 0)
            return (int)i;
    }
    return -1;
}

/* `word` is "-x" or "-xVALUE". */
static int find_short(const struct cli_command *command, const char *word, const char **value)
{
    *value = word[2] ? word + 2 : NULL;
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].letter && command->options[i].letter == word[1])
            return (int)i;
    return -1;
}

int cli_parse(const struct cli_command *command, int argc, char **argv, const char **values,
              int *status)
{
    *status = CLI_USAGE;
    for (size_t i = 0; i < command->option_count; i++)
        values[i] = NULL;
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
        const char *word = argv[at], *value;
        if (strcmp(word, "--") == 0)
            return at + 1;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            *status = cli_print_help(command);
            return -1;
        }
        int i =
            word[1] == '-' ? find_long(command, word, &value) : find_short(command, word, &value);
        if (i < 0)
            return complain_unknown(command, word);
        if (!command->options[i].argument) {
            if (value)
                return complain(command, "no value goes with", word);
            value = "";
        } else if (!value) {
            if (at + 1 == argc)
                return complain(command, "a value is missing after", word);
            value = argv[++at];
        }
        values[i] = value;
    }
    return at;
}

int cli_print_help(const struct cli_command *command)
{
    struct gp_text out = {0};
    gp_text_addf(&out, "gpuprof %s%s%s\n", command->name, command->arguments[0] ? " " : "",
                 command->arguments);
    gp_wrap(&out, 0, command->help);
    if (command->option_count > 0)
        gp_text_add(&out, "\n");
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *o = &command->options[i];
        char names[64];
        if (o->letter)
            snprintf(names, sizeof(names), "-%c, --%s%s%s", o->letter, o->name,
                     o->argument ? " " : "", o->argument ? o->argument : "");
        else
            snprintf(names, sizeof(names), "    --%s%s%s", o->name, o->argument ? " " : "",
                     o->argument ? o->argument : "");
        gp_text_addf(&out, "  %-24s ", names);
        gp_wrap(&out, 27, o->help);
    }
    return cli_print(&out);
}

int cli_print(struct gp_text *out)
{
    int error =
        out->failed ? ENOMEM : gp_write_all(STDOUT_FILENO, gp_text_string(out), out->length);
    gp_text_free(out);
    /* A reader that has seen enough (`| head`) is no failure. */
    if (error == 0 || error == EPIPE)
        return CLI_OK;
    gp_say("standard output: %s", strerror(error));
    return CLI_FAILED;
}
