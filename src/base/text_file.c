#include "base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fills up to `size` bytes; a file may have become shorter. False with errno. */
static bool fill(int fd, char *text, size_t size, size_t *length)
{
    ssize_t n = 1;
    for (*length = 0; *length < size && n > 0;) {
        n = read(fd, text + *length, size - *length);
        if (n > 0)
            *length += (size_t)n;
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    return n >= 0;
}

static char *read_open_file(int fd, size_t most, size_t *length, char *why, size_t why_size)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        snprintf(why, why_size, "%s", strerror(errno));
        return NULL;
    }
    if (!S_ISREG(about.st_mode) || about.st_size < 0 || (size_t)about.st_size > most) {
        snprintf(why, why_size,
                 S_ISREG(about.st_mode) ? "larger than %zu bytes" : "no regular file", most);
        return NULL;
    }
    const size_t size = (size_t)about.st_size;
    char *text = malloc(size + 1);
    bool filled = text && fill(fd, text, size, length);
    if (filled && !memchr(text, '\0', *length)) {
        text[*length] = '\0';
        return text;
    }
    snprintf(why, why_size, "%s",
             filled ? "no text: there is a NUL in it"
             : text ? strerror(errno)
                    : "out of memory");
    free(text);
    return NULL;
}

char *gp_text_file_read(const char *path, size_t most, size_t *length, char *why, size_t why_size)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(why, why_size, "%s", strerror(errno));
        return NULL;
    }
    char *text = read_open_file(fd, most, length, why, why_size);
    close(fd);
    return text;
}
