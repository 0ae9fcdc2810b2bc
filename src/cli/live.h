/* Profiles of processes that run: the files that they have open for writing, found in /proc.
 * Nothing is asked of the processes. Owns the open files. */
#ifndef GPUPROF_CLI_LIVE_H
#define GPUPROF_CLI_LIVE_H

#include "base/text.h"
#include "report/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A process that writes a profile. */
struct cli_live_process {
    pid_t process;
    int fd;         /* of the file, as it was when it was found */
    double seconds; /* how long the process runs */
    char *name;     /* of the profile; NULL where the file has none that stays */
};

struct cli_live {
    struct cli_live_process *list;
    size_t count;
    bool may_come; /* none is there, and a process under gpuprof may yet begin one */
};

/* The number of a process in text; false after a message. */
bool cli_live_number(const char *text, pid_t *process);

/* Finds the profiles of a process and of those that it has started. False where there is none, with
 * the reason in `why`. To be freed in both cases. */
bool cli_live_find(pid_t process, struct cli_live *live, struct gp_text *why);
void cli_live_free(struct cli_live *live);

/* The report on them so far, as it is at the end of a program, behind a line on each process.
 * `details` as in struct gp_table_options; `width`: columns, 0 for the usual. False where nothing
 * is known of any launch yet, or after a message. */
bool cli_live_report(const struct cli_live *live, bool details, size_t width, struct gp_text *out);

/* Writes the profiles so far to a file, one behind the other. False after a message. */
bool cli_live_copy(const struct cli_live *live, const char *path);

#endif
