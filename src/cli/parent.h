/* The command as the parent of the program: signals, stops and the end of the one become those of
 * the other, as if the command were not there. */
#ifndef GPUPROF_CLI_PARENT_H
#define GPUPROF_CLI_PARENT_H

#include <stdbool.h>
#include <sys/types.h>

struct cli_start {
    char **argv;
    void (*prepare)(void); /* in the program's process, before it becomes the program */
    const char *seconds;   /* after which it is ended (checked); NULL: never */
    int snapshot_signal;   /* of which the program is spared; 0: none */
    void (*take_snapshot)(pid_t program);
    /* The program is over, and signals for this process are held back. NULL: nothing is done. */
    void (*ended)(void);
    int keep;       /* a descriptor that this process needs afterwards; -1: none */
    bool keeps_all; /* it needs all of them */
};

struct cli_end {
    pid_t process;
    int error; /* of execvp; 0: the program began */
    int how;   /* as waitpid has it */
};

/* Starts the program and waits for its end. Descriptors that are not needed are closed here, so
 * that the program alone has them. False with errno where there is no process for it. */
bool cli_run_program(const struct cli_start *start, struct cli_end *end);

/* Ends this process in the way of the program: by the same signal, or returns its status. */
int cli_end_alike(const struct cli_end *end);

/* Adds the way of the end: "was ended by SIGINT". Nothing where it ended by itself. */
struct gp_text;
void cli_add_way(const struct cli_end *end, struct gp_text *out);

#endif
