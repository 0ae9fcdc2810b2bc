/* Files that we write inside somebody else's process. The program may close our descriptor and get
 * its number for a file of its own, and a reader may stop reading: neither may harm it. */
#ifndef GPUPROF_BASE_OUTPUT_H
#define GPUPROF_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A descriptor and the file that it was when we got it. */
struct gp_output {
    int fd; /* -1: none */
    dev_t device;
    ino_t file;
    mode_t type; /* S_IFREG, S_IFIFO and so on */
};

/* The wait for a slow reader in milliseconds, unless the caller gives less. */
#define GP_OUTPUT_WAIT_MS 1000

/* Notes the file behind the descriptor; a closed descriptor becomes -1. */
struct gp_output gp_output_of(int fd);

/* True while the descriptor still is the file that it was. */
bool gp_output_is_ours(const struct gp_output *output);

/* Writes everything, in spite of interruptions and short writes. A reader that went away (SIGPIPE)
 * or a limit on file size (SIGXFSZ) never kills the program. It waits *wait_ms at the most for a
 * pipe, a socket or a terminal that takes no more, and subtracts the time that it waited. 0 or an
 * errno value: EBADF where the descriptor is not ours any more, EAGAIN where the wait ran out; then
 * a part may have been written. */
int gp_output_write(const struct gp_output *output, const char *bytes, size_t length, int *wait_ms);

/* Closes the descriptor, if it is still ours. */
void gp_output_close(struct gp_output *output);

#endif
