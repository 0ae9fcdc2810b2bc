/* The bytes of a profile, decompressed where they are compressed. Owns the decompression, and the
 * file that it opened. */
#ifndef GPUPROF_PROFILE_SOURCE_H
#define GPUPROF_PROFILE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct gp_source;

/* "-": standard input. NULL with errno. */
struct gp_source *gp_source_open(const char *path);
/* From where the descriptor is; it stays the caller's. The same. */
struct gp_source *gp_source_use(int fd);
/* The whole file behind the descriptor, whose position stays as it is. The same. */
struct gp_source *gp_source_use_apart(int fd);
void gp_source_close(struct gp_source *source);

/* Up to `size` bytes. Their number, 0 at the end, or -1 with the reason in `why`: the file cannot
 * be read on, is damaged from here on, or is far larger than a profile that was compressed. */
ssize_t gp_source_read(struct gp_source *source, char *bytes, size_t size, char *why,
                       size_t why_size);

/* Once bytes were read. */
bool gp_source_is_compressed(const struct gp_source *source);

/* At the end: whether it is compressed, and the writer did not come to end it. */
bool gp_source_is_unfinished(const struct gp_source *source);

/* At the end: whether the file ends in the middle of a compressed block, so bytes are missing that
 * were written. A writer that was ended leaves whole blocks. */
bool gp_source_is_torn(const struct gp_source *source);

#endif
