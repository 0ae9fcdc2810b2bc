#include "base/log.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_MESSAGE 4096

static int log_fd = STDERR_FILENO;

static void say(const char *fmt, va_list args, const char *end)
{
    static const char prefix[] = "gpuprof: ";
    int saved = errno;
    char line[LONGEST_MESSAGE];
    size_t used = sizeof(prefix) - 1;
    size_t room = sizeof(line) - used - strlen(end);
    memcpy(line, prefix, used);
    int n = vsnprintf(line + used, room, fmt, args);
    if (n > 0)
        used += (size_t)n < room ? (size_t)n : room - 1;
    memcpy(line + used, end, strlen(end));
    gp_write_all(__atomic_load_n(&log_fd, __ATOMIC_RELAXED), line, used + strlen(end));
    errno = saved;
}

void gp_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(fmt, args, "\n");
    va_end(args);
}

void gp_say_limited(struct gp_once *once, unsigned most, const char *fmt, ...)
{
    if (__atomic_load_n(&once->said, __ATOMIC_RELAXED) >= most)
        return;
    unsigned said = __atomic_add_fetch(&once->said, 1, __ATOMIC_RELAXED);
    if (said > most)
        return;
    va_list args;
    va_start(args, fmt);
    say(fmt, args, said == most && most > 1 ? " (this is not repeated any more)\n" : "\n");
    va_end(args);
}

void gp_say_lines(const char *before, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        gp_say("%s%.*s", before, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

bool gp_log_is_terminal(void)
{
    int saved = errno;
    bool terminal = isatty(__atomic_load_n(&log_fd, __ATOMIC_RELAXED)) == 1;
    errno = saved;
    return terminal;
}

int gp_log_open(const char *path)
{
    int saved = errno;
    int error = 0;
    bool is_programs;
    int fd = gp_open_output(path, &is_programs);
    if (fd < 0) {
        error = errno;
    } else {
        /* What cannot be emptied, a pipe or a terminal, need not be. */
        if (!is_programs && ftruncate(fd, 0) != 0)
            errno = 0;
        int old = __atomic_exchange_n(&log_fd, fd, __ATOMIC_RELAXED);
        if (old != STDERR_FILENO)
            close(old);
    }
    errno = saved;
    return error;
}

void gp_log_text(const char *text, size_t length)
{
    int saved = errno;
    gp_write_all(__atomic_load_n(&log_fd, __ATOMIC_RELAXED), text, length);
    errno = saved;
}
