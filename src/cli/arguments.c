#include "cli/arguments.h"

#include <string.h>

/* Options of the largest command. */
#define MOST_OPTIONS 64

/* Reads the option argv[at]. Returns its index and sets *value; -1 with *status where it is none.
 */
static int read_option(const struct cli_command *command, char *word, char *next,
                       const char **value, int *status)
{
    static char stop[] = "--";
    const char *values[MOST_OPTIONS];
    char *probe[] = {"", word, stop};
    if (cli_parse(command, 3, probe, values, status) < 0)
        return -1;
    int option = 0;
    while (!values[option])
        option++;
    *value = values[option];
    if (*value != stop)
        return option;
    /* It took the end of the options for its value, so the value is the next word. */
    *value = next;
    return next || cli_parse(command, 2, probe, values, status) >= 0 ? option : -1;
}

int cli_parse_mixed(const struct cli_command *command, int argc, char **argv,
                    bool (*take)(void *user, int option, const char *value), void *user,
                    int *status)
{
    int operands = 0;
    bool options_over = false;
    for (int at = 1; at < argc; at++) {
        char *word = argv[at];
        if (options_over || word[0] != '-' || !word[1]) {
            argv[1 + operands++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_over = true;
            continue;
        }
        const char *value;
        char *next = at + 1 < argc ? argv[at + 1] : NULL;
        int option = read_option(command, word, next, &value, status);
        if (option < 0)
            return -1;
        at += value == next && value;
        *status = CLI_USAGE;
        if (!take(user, option, value))
            return -1;
    }
    return operands;
}
