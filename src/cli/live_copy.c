#include "cli/live.h"

#include "base/log.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/replacing.h"
#include "profile/sink.h"
#include "profile/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART (1u << 17)

/* Whole lines, as they were written. A line that is being written waits in `rest`, and is left out
 * at the end. 0 or an errno value. */
static int copy_lines(struct gp_source *source, struct gp_sink *sink, struct gp_text *rest)
{
    char *part = malloc(PART), why[256];
    ssize_t n = 0;
    int error = part ? 0 : ENOMEM;
    while (!error && (n = gp_source_read(source, part, PART, why, sizeof(why))) > 0) {
        const char *newline = memrchr(part, '\n', (size_t)n);
        const size_t whole = newline ? (size_t)(newline + 1 - part) : 0;
        if (whole > 0) {
            gp_text_add_bytes(rest, part, whole);
            error = rest->failed ? ENOMEM : gp_sink_write(sink, rest->data, rest->length);
            gp_text_clear(rest);
        }
        gp_text_add_bytes(rest, part + whole, (size_t)n - whole);
    }
    free(part);
    return error ? error : n < 0 ? EIO : 0;
}

/* A line that says so: the process has come to no end. */
static int end_copy(struct gp_sink *sink, double seconds)
{
    char line[64];
    const int length =
        snprintf(line, sizeof(line), "{\"type\":\"snapshot\",\"seconds\":%.3f}\n", seconds);
    return gp_sink_write(sink, line, (size_t)length);
}

static int copy_process(const struct cli_live_process *process, struct gp_sink *sink)
{
    struct gp_text rest = {0};
    struct gp_source *source = gp_source_use_apart(process->fd);
    int error = source ? copy_lines(source, sink, &rest) : errno;
    if (!error)
        error = end_copy(sink, process->seconds);
    gp_source_close(source);
    gp_text_free(&rest);
    return error;
}

struct copying {
    const struct cli_live *live;
    const char *path;
};

/* 0 or an errno value. */
static int copy_all(void *user, int fd)
{
    const struct copying *c = user;
    struct gp_sink sink;
    const struct gp_output file = gp_output_of(fd);
    if (!gp_sink_open(&sink, &file, gp_sink_compresses(c->path)))
        return ENOMEM;
    int error = 0;
    for (size_t i = 0; i < c->live->count && !error; i++)
        error = copy_process(&c->live->list[i], &sink);
    if (!error)
        error = gp_sink_finish(&sink);
    gp_sink_free(&sink);
    return error;
}

static mode_t usual_mode(void)
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* A file that is there stays as it is until the new one is complete. */
static int replace(const struct cli_live *live, const char *path, mode_t mode)
{
    struct copying c = {.live = live, .path = path};
    return cli_replace(path, mode, copy_all, &c);
}

static int write_copy(const struct cli_live *live, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return replace(live, path, usual_mode());
    if (S_ISREG(about.st_mode)) {
        char *real = realpath(path, NULL);
        const int error = real ? replace(live, real, about.st_mode & 0777) : errno;
        free(real);
        return error;
    }
    struct copying c = {.live = live, .path = path};
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    const int error = fd >= 0 ? copy_all(&c, fd) : errno;
    if (fd >= 0)
        close(fd);
    return error;
}

bool cli_live_copy(const struct cli_live *live, const char *path)
{
    const int error = write_copy(live, path);
    if (error)
        gp_say("%s: %s", path, strerror(error));
    return !error;
}
