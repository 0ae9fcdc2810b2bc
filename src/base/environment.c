#include "base/environment.h"

#include "base/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_file(const char *path, struct gp_text *text)
{
    char part[4096];
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    while ((got = read(fd, part, sizeof(part))) > 0)
        gp_text_add_bytes(text, part, (size_t)got);
    close(fd);
}

void gp_environment_find(void)
{
    if (environ)
        return;
    struct gp_text text = {0}; /* NAME=VALUE, each ended by NUL; kept for ever */
    read_file("/proc/self/environ", &text);
    size_t count = 0;
    for (size_t i = 0; i < text.length; i++)
        count += text.data[i] == '\0';
    char **list = text.failed ? NULL : calloc(count + 1, sizeof(*list));
    if (!list) {
        gp_text_free(&text);
        return;
    }
    char *at = text.data;
    for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
        list[i] = at;
    environ = list;
}
