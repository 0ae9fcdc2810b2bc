/* The cases of a program, by their names. */
#ifndef GPUSIM_PROGRAM_CASES_H
#define GPUSIM_PROGRAM_CASES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct program_case {
    const char *name;
    void (*run)(void);
};

/* Runs the one of that name; the program ends with 64 where there is none. The last entry is empty.
 */
static inline void run_case(const struct program_case *cases, const char *name)
{
    while (cases->name && strcmp(cases->name, name) != 0)
        cases++;
    if (!cases->name) {
        printf("there is no case %s\n", name);
        exit(64);
    }
    cases->run();
}

/* True for an argument that is a number: an alarm ends the program after so many seconds. */
static inline bool sets_alarm(const char *argument)
{
    unsigned seconds;
    char more;

    if (sscanf(argument, "%u%c", &seconds, &more) != 1)
        return false;
    (void)alarm(seconds);
    return true;
}

#endif
