/* Completion for bash and zsh: one case for each command. Metrics are asked of the command itself,
 * so that those of the user are there, too. */
#include "check/format.h"
#include "cli/manual.h"

#include <stdbool.h>
#include <string.h>

/* "on|off" is a choice of words. */
static bool is_choice(const char *argument)
{
    return argument && strchr(argument, '|') && !strchr(argument, ':');
}

static bool is_file(const char *argument)
{
    return argument && strstr(argument, "FILE");
}

static bool is_metrics(const struct cli_option *option)
{
    return option->argument &&
           (strcmp(option->name, "metrics") == 0 || strcmp(option->name, "events") == 0);
}

static bool is_format(const struct cli_option *option)
{
    return option->argument && strcmp(option->name, "format") == 0;
}

/* All names of an option, with `between` between them. */
static void add_names(const struct cli_option *option, const char *between, struct gp_text *out)
{
    if (option->letter)
        gp_text_addf(out, "-%c%s", option->letter, between);
    gp_text_addf(out, "--%s", option->name);
    for (const char *also = option->also; also && *also; also += strspn(also, " ")) {
        size_t length = strcspn(also, " ");
        gp_text_addf(out, "%s--%.*s", between, (int)length, also);
        also += length;
    }
}

static void add_words(const char *choice, struct gp_text *out)
{
    for (; *choice; choice++)
        gp_text_add_bytes(out, *choice == '|' ? " " : choice, 1);
}

static void add_formats(struct gp_text *out)
{
    for (const struct gp_format *f = gp_formats; f->name; f++)
        gp_text_addf(out, "%s%s", f == gp_formats ? "" : " ", f->name);
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void add_bash_values(const struct cli_command *command, struct gp_text *out)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const struct cli_option *option = &command->options[i];
        if (!option->argument)
            continue;
        gp_text_addf(out, "    %s:", command->name);
        char between[64] = "|";
        strcat(strcat(between, command->name), ":");
        add_names(option, between, out);
        gp_text_add(out, ")\n        ");
        if (is_metrics(option)) {
            gp_text_add(out, "_gpuprof_list \"$(_gpuprof_metrics)\"");
        } else if (is_format(option)) {
            gp_text_add(out, "_gpuprof_list '");
            add_formats(out);
            gp_text_add(out, "'");
        } else if (is_choice(option->argument)) {
            gp_text_add(out, "COMPREPLY=($(compgen -W '");
            add_words(option->argument, out);
            gp_text_add(out, "' -- \"$word\"))");
        } else {
            gp_text_add(out, is_file(option->argument) ? "COMPREPLY=($(compgen -f -- \"$word\"))"
                                                       : "COMPREPLY=()");
        }
        gp_text_add(out, "\n        return\n        ;;\n");
    }
}

void cli_add_bash_completion(struct gp_text *out)
{
    gp_text_add(out,
                "# bash completion for gpuprof; made by `gpuprof help --completion bash`\n"
                "_gpuprof_metrics() {\n"
                "    gpuprof --query-metrics 2>/dev/null | "
                "sed -n 's/^ *\\([A-Za-z0-9_]*\\):  .*/\\1/p'\n"
                "}\n\n"
                "# The last word of a list with commas.\n"
                "_gpuprof_list() {\n"
                "    local before=\n"
                "    [[ $word == *,* ]] && before=${word%,*},\n"
                "    COMPREPLY=($(compgen -P \"$before\" -W \"$1\" -- \"${word##*,}\"))\n"
                "}\n\n"
                "_gpuprof() {\n"
                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} "
                "command=run options i\n"
                "    COMPREPLY=()\n"
                "    case ${COMP_WORDS[1]} in\n    ");
    for (size_t i = 0; cli_commands[i]; i++)
        gp_text_addf(out, "%s%s", i > 0 ? " | " : "", cli_commands[i]->name);
    gp_text_add(out, ") ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]} ;;\n    esac\n"
                     "    case $command:$before in\n");
    for (size_t i = 0; cli_commands[i]; i++)
        add_bash_values(cli_commands[i], out);
    gp_text_add(out, "    esac\n    case $command in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        gp_text_addf(out, "    %s) options='--help", cli_commands[i]->name);
        for (size_t k = 0; k < cli_commands[i]->option_count; k++) {
            gp_text_add(out, " ");
            add_names(&cli_commands[i]->options[k], " ", out);
        }
        gp_text_add(out, "' ;;\n");
    }
    gp_text_add(out, "    esac\n"
                     "    if [[ $word == -* ]]; then\n"
                     "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                     "    elif [[ $command == metrics ]]; then\n"
                     "        COMPREPLY=($(compgen -W \"$(_gpuprof_metrics)\" -- \"$word\"))\n"
                     "    else\n"
                     "        ((COMP_CWORD == 1)) && COMPREPLY=($(compgen -W '");
    for (size_t i = 0; cli_commands[i]; i++)
        gp_text_addf(out, "%s ", cli_commands[i]->name);
    gp_text_add(out, "' -- \"$word\"))\n"
                     "        COMPREPLY+=($(compgen -f -- \"$word\"))\n"
                     "        [[ $command == run ]] && COMPREPLY+=($(compgen -c -- \"$word\"))\n"
                     "    fi\n"
                     "}\n"
                     "complete -o filenames -F _gpuprof gpuprof\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Inside single quotes and brackets. */
static void add_zsh_text(const char *text, struct gp_text *out)
{
    for (; *text; text++) {
        if (*text == '\'')
            gp_text_add(out, "'\\'");
        if (strchr("[]:\\", *text))
            gp_text_add(out, "\\");
        gp_text_add_bytes(out, text, 1);
    }
}

static void add_zsh_option(const struct cli_option *option, const char *name, size_t length,
                           struct gp_text *out)
{
    gp_text_addf(out, "        '%s%.*s%s[", option->joins ? "*" : "", (int)length, name,
                 option->argument && length > 2 ? "=" : "");
    add_zsh_text(option->help, out);
    gp_text_add(out, "]");
    if (option->argument) {
        gp_text_add(out, ":");
        add_zsh_text(option->argument, out);
        gp_text_add(out, ":");
        if (is_metrics(option)) {
            gp_text_add(out, "_sequence _gpuprof_metrics");
        } else if (is_format(option)) {
            gp_text_add(out, "(");
            add_formats(out);
            gp_text_add(out, ")");
        } else if (is_choice(option->argument)) {
            gp_text_add(out, "(");
            add_words(option->argument, out);
            gp_text_add(out, ")");
        } else {
            gp_text_add(out, is_file(option->argument) ? "_files" : " ");
        }
    }
    gp_text_add(out, "' \\\n");
}

static void add_zsh_command(const struct cli_command *command, struct gp_text *out)
{
    gp_text_addf(out,
                 "    %s)\n        _arguments -S \\\n        '(-h --help)'{-h,--help}'[list "
                 "the options]' \\\n",
                 command->name);
    for (size_t i = 0; i < command->option_count; i++) {
        struct gp_text names = {0};
        add_names(&command->options[i], " ", &names);
        for (const char *at = gp_text_string(&names); *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            add_zsh_option(&command->options[i], at, length, out);
            at += length;
        }
        gp_text_free(&names);
    }
    gp_text_addf(out, "        '*::argument:%s'\n        ;;\n",
                 command == &cli_run                     ? "_normal"
                 : strcmp(command->name, "metrics") == 0 ? "_gpuprof_metrics"
                                                         : "_files");
}

void cli_add_zsh_completion(struct gp_text *out)
{
    gp_text_add(out, "#compdef gpuprof\n"
                     "# zsh completion for gpuprof; made by `gpuprof help --completion zsh`\n"
                     "_gpuprof_metrics() {\n"
                     "    local -a names\n"
                     "    names=(${(f)\"$(gpuprof --query-metrics 2>/dev/null | "
                     "sed -n 's/^ *\\([A-Za-z0-9_]*\\):  .*/\\1/p')\"})\n"
                     "    compadd \"$@\" -a names\n"
                     "}\n\n"
                     "_gpuprof() {\n"
                     "    local command=run\n"
                     "    case ${words[2]} in\n    ");
    for (size_t i = 0; cli_commands[i]; i++)
        gp_text_addf(out, "%s%s", i > 0 ? "|" : "", cli_commands[i]->name);
    gp_text_add(out, ")\n        if ((CURRENT > 2)); then\n"
                     "            command=${words[2]}\n"
                     "            shift words\n"
                     "            ((CURRENT--))\n"
                     "        fi\n"
                     "        ;;\n"
                     "    esac\n"
                     "    if ((CURRENT == 2)) && [[ $command == run && ${words[2]} != -* ]]; then\n"
                     "        local -a commands\n"
                     "        commands=(");
    for (size_t i = 0; cli_commands[i]; i++) {
        gp_text_addf(out, "'%s:", cli_commands[i]->name);
        add_zsh_text(cli_commands[i]->help, out);
        gp_text_add(out, "' ");
    }
    gp_text_add(out, ")\n        _describe command commands\n"
                     "    fi\n"
                     "    case $command in\n");
    for (size_t i = 0; cli_commands[i]; i++)
        add_zsh_command(cli_commands[i], out);
    gp_text_add(out, "    esac\n}\n\n_gpuprof \"$@\"\n");
}
