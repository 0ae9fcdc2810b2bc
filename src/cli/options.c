#include "cli/cli.h"
#include "cli/foreign.h"

#include "base/escape.h"
#include "base/file.h"
#include "base/log.h"
#include "base/nearest.h"
#include "report/layout.h"

#include <errno.h>
#include <stdbool.h>
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

/* Options of nvprof and ncu that have none here name their replacement. */
static int complain_unknown(const struct cli_command *command, const char *word)
{
    const char *nearest = NULL;
    const struct cli_foreign *foreign =
        command == &cli_run || command == &cli_report ? cli_foreign_find(word) : NULL;
    if (foreign) {
        gp_say("%.*s is an option of %s: %s", word[1] == '-' ? (int)strcspn(word, "=") : 2, word,
               foreign->tool, foreign->instead);
        return -1;
    }
    if (strncmp(word, "--", 2) == 0)
        nearest = gp_nearest(word + 2, command->option_count, option_name, command);
    gp_say("there is no option '%s'%s%s%s ('gpuprof help %s' lists the options)", word,
           nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "",
           command->name);
    return -1;
}

/* Whether `name` is one of the words in `names`. */
static bool is_among(const char *names, const char *name, size_t length)
{
    while (names && *names) {
        size_t word = strcspn(names, " ");
        if (word == length && strncmp(names, name, length) == 0)
            return true;
        names += word + strspn(names + word, " ");
    }
    return false;
}

/* `word` is "--name" or "--name=value"; *value then points at the value. */
static int find_long(const struct cli_command *command, const char *word, const char **value)
{
    size_t length = strcspn(word + 2, "=");
    *value = word[2 + length] ? word + 2 + length + 1 : NULL;
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *o = &command->options[i];
        if (is_among(o->name, word + 2, length) || is_among(o->also, word + 2, length))
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

/* Both values with a comma between them; for as long as the process lives. */
static const char *join(const char *before, const char *value)
{
    char *joined = NULL;
    return asprintf(&joined, "%s,%s", before, value) < 0 ? NULL : joined;
}

static void move_to_end(char **argv, int at, int argc)
{
    char *word = argv[at];
    memmove(argv + at, argv + at + 1, (size_t)(argc - at - 1) * sizeof(char *));
    argv[argc - 1] = word;
}

/* Words that stood in front of "--" go on standing in front of those behind it. */
static void move_to_front(char **argv, int from, int end, int argc)
{
    for (; end < argc; end++, from++) {
        char *word = argv[end];
        memmove(argv + from + 1, argv + from, (size_t)(end - from) * sizeof(char *));
        argv[from] = word;
    }
}

int cli_parse(const struct cli_command *command, int argc, char **argv, const char **values,
              int *status)
{
    *status = CLI_USAGE;
    for (size_t i = 0; i < command->option_count; i++)
        values[i] = NULL;
    int at = 1, end = argc; /* words from `end` on are no options */
    for (; at < end; at++) {
        const char *word = argv[at], *value;
        if (word[0] != '-' || !word[1]) {
            if (command == &cli_run)
                break; /* the next words are the program's */
            move_to_end(argv, at--, argc);
            end--;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            move_to_front(argv, at + 1, end, argc);
            return at + 1;
        }
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
            if (at + 1 == end)
                return complain(command, "a value is missing after", word);
            value = argv[++at];
        }
        if (values[i] && command->options[i].once) {
            gp_say("--%s is given twice: %s", command->options[i].name, command->options[i].once);
            return -1;
        }
        if (values[i] && command->options[i].joins)
            value = join(values[i], value);
        if (!value) {
            gp_say("out of memory");
            return -1;
        }
        values[i] = value;
    }
    return at;
}

/* "-k, --kernels FILTER" */
static void add_option_names(const struct cli_option *option, struct gp_text *out)
{
    if (option->letter)
        gp_text_addf(out, "-%c, ", option->letter);
    gp_text_addf(out, "--%s", option->name);
    for (const char *also = option->also; also && *also; also += strspn(also, " ")) {
        size_t length = strcspn(also, " ");
        gp_text_addf(out, ", --%.*s", (int)length, also);
        also += length;
    }
    if (option->argument)
        gp_text_addf(out, " %s", option->argument);
}

#define HELP_COLUMN 27

static void add_option_help(const struct cli_option *option, struct gp_text *out)
{
    size_t begin = out->length;
    gp_text_add(out, option->letter ? "  " : "      ");
    add_option_names(option, out);
    bool fits = out->length - begin < HELP_COLUMN;
    if (!fits)
        gp_text_add(out, "\n");
    gp_text_addf(out, "%*s", (int)(fits ? HELP_COLUMN - (out->length - begin) : HELP_COLUMN), "");
    gp_wrap(out, HELP_COLUMN, option->help);
}

static const char *group_of(const struct cli_option *option)
{
    return option->group ? option->group : "";
}

int cli_print_help(const struct cli_command *command)
{
    struct gp_text out = {0};
    gp_text_addf(&out, "gpuprof %s%s%s\n", command->name, command->arguments[0] ? " " : "",
                 command->arguments);
    gp_wrap(&out, 0, command->help);
    const char *group = NULL;
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *o = &command->options[i];
        if (!group || strcmp(group, group_of(o)) != 0) {
            group = group_of(o);
            gp_text_addf(&out, "\n%s%s", group, *group ? "\n" : "");
        }
        add_option_help(o, &out);
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

int cli_print_escaped(struct gp_text *out)
{
    struct gp_text escaped = {.failed = out->failed};
    gp_text_add_escaped_lines(&escaped, gp_text_string(out), out->length);
    gp_text_free(out);
    return cli_print(&escaped);
}
