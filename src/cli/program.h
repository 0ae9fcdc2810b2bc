/* The program of `gpuprof run`: whether it can be profiled, its start, and why that failed. */
#ifndef GPUPROF_CLI_PROGRAM_H
#define GPUPROF_CLI_PROGRAM_H

/* Says so where the library will not be loaded into it. */
void cli_warn_of_program(const char *name);

/* The message on an execvp that failed with that error. Returns the status that shells and env(1)
 * have then. */
int cli_say_not_started(const char *name, int error);

#endif
