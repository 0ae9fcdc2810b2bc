#include "cli/manual.h"

#include "cli/foreign.h"

#include <stdbool.h>
#include <string.h>

/* ---- scdoc ----------------------------------------------------------------------------------- */

static void add_escaped(const char *text, struct gp_text *out)
{
    for (bool first = true; *text; text++, first = false) {
        if (strchr("*_\\#~[]<>|`", *text) || (first && *text == '-'))
            gp_text_add(out, "\\");
        gp_text_add_bytes(out, text, 1);
    }
}

static void add_bold(const char *text, size_t length, struct gp_text *out)
{
    gp_text_add(out, "*");
    for (size_t i = 0; i < length; i++) {
        char one[2] = {text[i], '\0'};
        add_escaped(one, out);
    }
    gp_text_add(out, "*");
}

static void add_underlined(const char *text, struct gp_text *out)
{
    gp_text_add(out, "_");
    add_escaped(text, out);
    gp_text_add(out, "_");
}

static void add_option(const struct cli_option *option, struct gp_text *out)
{
    char letter[] = {'-', option->letter, '\0'};
    if (option->letter) {
        add_bold(letter, 2, out);
        gp_text_add(out, ", ");
    }
    gp_text_add(out, "*--");
    add_escaped(option->name, out);
    gp_text_add(out, "*");
    for (const char *also = option->also; also && *also; also += strspn(also, " ")) {
        size_t length = strcspn(also, " ");
        gp_text_add(out, ", *--");
        gp_text_add_bytes(out, also, length);
        gp_text_add(out, "*");
        also += length;
    }
    if (option->argument) {
        gp_text_add(out, " ");
        add_underlined(option->argument, out);
    }
    gp_text_add(out, "\n\t");
    add_escaped(option->help, out);
    gp_text_add(out, "\n\n");
}

static void add_options(const struct cli_command *command, struct gp_text *out)
{
    const char *group = "";
    if (command->option_count > 0)
        gp_text_add(out, "# OPTIONS\n\n");
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->options[i];
        if (option->group && strcmp(group, option->group) != 0) {
            group = option->group;
            gp_text_addf(out, "## %s\n\n", group);
        }
        add_option(option, out);
    }
    add_bold("-h", 2, out);
    gp_text_add(out, ", *--help*\n\tlist the options\n\n");
}

/* One row of a table of two columns. */
static void add_row(bool first, const char *left, const char *right, bool right_is_option,
                    struct gp_text *out)
{
    gp_text_add(out, first ? "|[ " : "|  ");
    add_escaped(left, out);
    gp_text_add(out, first ? "\n:[ " : "\n:  ");
    gp_text_add(out, right_is_option ? "*--" : "");
    add_escaped(right, out);
    gp_text_add(out, right_is_option ? "*\n" : "\n");
}

static bool is_of(const char *tool, const char *tools)
{
    return strstr(tools, tool) != NULL;
}

static void add_foreign(const struct cli_command *command, const char *tool, bool is_nvprof,
                        struct gp_text *out)
{
    gp_text_addf(out, "# FROM %s\n\n", is_nvprof ? "NVPROF" : "NCU");
    add_row(true, tool, "gpuprof", false, out);
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->options[i];
        const char *theirs = is_nvprof ? option->nvprof : option->ncu;
        if (theirs)
            add_row(false, theirs, option->name, true, out);
    }
    for (size_t i = 0; i < cli_foreign_count; i++)
        if (is_of(tool, cli_foreign_options[i].tool))
            add_row(false, cli_foreign_options[i].option, cli_foreign_options[i].instead, false,
                    out);
    gp_text_add(out, "\n");
}

static void add_command_manual(const struct cli_command *command, struct gp_text *out)
{
    gp_text_addf(out, "gpuprof-%s(1)\n\n# NAME\n\ngpuprof-%s - ", command->name, command->name);
    /* One line, without the full stop. */
    add_escaped(command->help, out);
    if (out->length > 0 && out->data[out->length - 1] == '.')
        out->length--;
    gp_text_addf(out, "\n\n# SYNOPSIS\n\n*gpuprof %s* ", command->name);
    add_escaped(command->arguments, out);
    gp_text_add(out, "\n\n");
    add_options(command, out);
    if (command == &cli_run) {
        add_foreign(command, "nvprof", true, out);
        add_foreign(command, "ncu", false, out);
    }
}

static void add_commands(struct gp_text *out)
{
    gp_text_add(out, "# COMMANDS\n\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        gp_text_addf(out, "*gpuprof %s* ", cli_commands[i]->name);
        add_escaped(cli_commands[i]->arguments, out);
        gp_text_add(out, "\n\t");
        add_escaped(cli_commands[i]->help, out);
        gp_text_add(out, "\n\n");
    }
}

void cli_add_manual(const struct cli_command *command, struct gp_text *out)
{
    if (command) {
        add_command_manual(command, out);
        return;
    }
    gp_text_add(out, "gpuprof(1)\n\n# NAME\n\ngpuprof - profile the CUDA kernels of a program\n\n"
                     "# SYNOPSIS\n\n*gpuprof* \\[options\\] PROGRAM \\[ARGS\\]\n\n"
                     "*gpuprof* COMMAND \\[options\\] ...\n\n");
    add_commands(out);
}
