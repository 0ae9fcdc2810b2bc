/* Files opened and written inside somebody else's process. Owns nothing; calls nothing but libc. */
#ifndef GPUPROF_BASE_FILE_H
#define GPUPROF_BASE_FILE_H

#include <stddef.h>

/* open(2), close-on-exec, with a descriptor high up where no program expects its own. -1 and errno.
 */
int gp_open_high(const char *path, int flags);

/* Writes everything, whatever interruptions and short writes come between, and never lets a reader
 * that went away (SIGPIPE) or a limit on file size (SIGXFSZ) kill the program. 0 or an errno value.
 */
int gp_write_all(int fd, const char *bytes, size_t length);

#endif
