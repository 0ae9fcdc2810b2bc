/* The folder of `gpuprof run` for the time of a run, where temporary files are kept: profiles that
 * the user did not ask for, and the mark of one that could not be written. Owns it. */
#ifndef GPUPROF_CLI_RUN_FOLDER_H
#define GPUPROF_CLI_RUN_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct cli_run_folder {
    char path[PATH_MAX]; /* empty: there is none */
    int lock;            /* -1: none */
};

/* Makes it, and removes those that killed commands have left. Without room for it there is none,
 * without a word: then the reason in *error, an errno value. */
bool cli_run_folder_make(struct cli_run_folder *folder, int *error);

/* The profiles there, without a number (profile/run_files.h). */
#define CLI_FOLDER_PROFILE "launches.jsonl"

/* True where the library has marked that a profile was asked for and could not be written. */
bool cli_run_folder_is_marked(const struct cli_run_folder *folder);

/* True where the process has come to its end and reported, though its profile does not say so. */
bool cli_run_folder_has_end(const struct cli_run_folder *folder, long process);

/* Removes it with its files. */
void cli_run_folder_remove(struct cli_run_folder *folder);
/* Removes the folder with these files. A signal's handler may call it. */
void cli_run_folder_remove_with(const struct cli_run_folder *folder, char *const *files,
                                size_t count);

#endif
