/* Files opened inside somebody else's process. */
#ifndef GPUPROF_BASE_FILE_H
#define GPUPROF_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* open(2), close-on-exec, with a descriptor high up where no program expects its own. -1 and errno.
 */
int gp_open_high(const char *path, int flags);

/* Opens a file for output as gp_open_high does, without emptying it yet; nothing is waited for: a
 * FIFO that nobody reads is ENXIO. Where the file is the program's own standard output or error
 * (/dev/stdout, say), *is_programs: it must not be emptied, and new text goes behind the program's
 * text so far, and before its next. */
int gp_open_output(const char *path, bool *is_programs);

/* The meaning of an errno value of gp_open_output. */
const char *gp_open_error(int error);

/* gp_output_write to any descriptor, with no limit on the wait for the reader. 0 or an errno
 * value. */
int gp_write_all(int fd, const char *bytes, size_t length);

/* A regular file of that name has these bytes, or stays as it was: they are written to one beside
 * it, which gets the name. Something else under the name (a FIFO, a device) is written to. 0 or an
 * errno value. */
int gp_replace_file(const char *path, const char *bytes, size_t length);

/* Writes as gp_write_all does, but a reader that takes nothing for a second ends it: EAGAIN. */
int gp_write_bounded(int fd, const char *bytes, size_t length);

#endif
