#include "profile/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define BLOCK_HEADER 3     /* bytes: wanted where a block has ended */
#define MOST_WINDOW_LOG 23 /* 8 MB: nobody can make a reader take more */
/* A million equal launches of format 1 become 320 times as large; nearly all else becomes less than
 * 20 times as large. More is made to keep a reader at work. */
#define MOST_GROWTH 500
#define ALWAYS_UNPACKED ((uint64_t)32 << 20)

struct gp_source {
    int fd;
    bool opened;              /* here */
    bool apart;               /* the descriptor's position stays */
    ZSTD_DCtx *decompression; /* NULL: not compressed */
    bool started, in_frame;
    size_t wanted;           /* bytes that make the next step of decompression */
    ZSTD_inBuffer packed;    /* in `part` */
    uint64_t read, unpacked; /* bytes so far */
    char part[1 << 17];
};

struct gp_source *gp_source_use(int fd)
{
    struct gp_source *source = calloc(1, sizeof(*source));
    if (source)
        source->fd = fd;
    else
        errno = ENOMEM;
    return source;
}

struct gp_source *gp_source_use_apart(int fd)
{
    struct gp_source *source = gp_source_use(fd);
    if (source)
        source->apart = true;
    return source;
}

struct gp_source *gp_source_open(const char *path)
{
    if (strcmp(path, "-") == 0)
        return gp_source_use(STDIN_FILENO);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct gp_source *source = fd >= 0 ? gp_source_use(fd) : NULL;
    if (source)
        source->opened = true;
    else if (fd >= 0)
        close(fd);
    return source;
}

void gp_source_close(struct gp_source *source)
{
    if (!source)
        return;
    ZSTD_freeDCtx(source->decompression);
    if (source->opened)
        close(source->fd);
    free(source);
}

/* Fills `part` as far as one read does. Bytes, 0 at the end, -1. */
static ssize_t fill(struct gp_source *source, char *why, size_t why_size)
{
    ssize_t n;
    do
        n = source->apart
                ? pread(source->fd, source->part, sizeof(source->part), (off_t)source->read)
                : read(source->fd, source->part, sizeof(source->part));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        snprintf(why, why_size, "%s", strerror(errno));
    source->packed = (ZSTD_inBuffer){.src = source->part, .size = n > 0 ? (size_t)n : 0};
    source->read += source->packed.size;
    return n;
}

/* The first bytes say whether the file is compressed. */
static ssize_t start(struct gp_source *source, char *why, size_t why_size)
{
    static const char magic[] = {'\x28', '\xb5', '\x2f', '\xfd'};
    source->started = true;
    ssize_t n = fill(source, why, why_size);
    if (n < (ssize_t)sizeof(magic) || memcmp(source->part, magic, sizeof(magic)) != 0)
        return n;
    source->wanted = 1;
    source->decompression = ZSTD_createDCtx();
    if (source->decompression)
        ZSTD_DCtx_setParameter(source->decompression, ZSTD_d_windowLogMax, MOST_WINDOW_LOG);
    else
        snprintf(why, why_size, "out of memory");
    return source->decompression ? n : -1;
}

/* Takes the bytes that were read of a file that is not compressed. */
static ssize_t take(struct gp_source *source, char *bytes, size_t size)
{
    size_t rest = source->packed.size - source->packed.pos, n = rest < size ? rest : size;
    memcpy(bytes, source->part + source->packed.pos, n);
    source->packed.pos += n;
    return (ssize_t)n;
}

/* One block or header at a time: data in front of a damaged one are not lost. */
static size_t step(struct gp_source *source, ZSTD_outBuffer *out)
{
    ZSTD_inBuffer in = source->packed;
    if (in.size - in.pos > source->wanted)
        in.size = in.pos + source->wanted;
    size_t left = ZSTD_decompressStream(source->decompression, out, &in);
    source->packed.pos = in.pos;
    if (!ZSTD_isError(left))
        source->wanted = left > 0 ? left : 1;
    return left;
}

static bool grows_too_much(const struct gp_source *source)
{
    return source->unpacked > ALWAYS_UNPACKED && source->unpacked / MOST_GROWTH > source->read;
}

static ssize_t unpack(struct gp_source *source, char *bytes, size_t size, char *why,
                      size_t why_size)
{
    ZSTD_outBuffer out = {.dst = bytes, .size = size};
    bool more = true;
    while (out.pos == 0 && more) {
        if (source->packed.pos == source->packed.size) {
            ssize_t n = fill(source, why, why_size);
            if (n < 0)
                return -1;
            more = n > 0;
        }
        size_t left = step(source, &out);
        if (ZSTD_isError(left)) {
            snprintf(why, why_size, "the compressed data is damaged (%s)", ZSTD_getErrorName(left));
            return -1;
        }
        if (more)
            source->in_frame = left != 0;
    }
    source->unpacked += out.pos;
    if (grows_too_much(source)) {
        snprintf(
            why, why_size,
            "the data is more than %d times as large as the file; 'zstd -d' makes a file that is "
            "read without this limit",
            MOST_GROWTH);
        return -1;
    }
    return (ssize_t)out.pos;
}

ssize_t gp_source_read(struct gp_source *source, char *bytes, size_t size, char *why,
                       size_t why_size)
{
    ssize_t n = source->started ? 1 : start(source, why, why_size);
    if (n <= 0)
        return n;
    if (source->decompression)
        return unpack(source, bytes, size, why, why_size);
    if (source->packed.pos == source->packed.size) {
        n = fill(source, why, why_size);
        if (n <= 0)
            return n;
    }
    return take(source, bytes, size);
}

bool gp_source_is_compressed(const struct gp_source *source)
{
    return source->decompression != NULL;
}

bool gp_source_is_unfinished(const struct gp_source *source)
{
    return source->decompression && source->in_frame;
}

bool gp_source_is_torn(const struct gp_source *source)
{
    return gp_source_is_unfinished(source) && source->wanted != BLOCK_HEADER;
}
