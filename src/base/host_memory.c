#include "base/host_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Longer files are cut: the lines that matter come early. */
#define LONGEST_FILE 8192

struct version {
    const char *folder;       /* below the root */
    const char *limit, *used; /* files with a number, "max" for none */
    const char *inactive; /* in memory.stat: the part that is only kept as long as there is room */
};
static const struct version versions[] = {
    [1] = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
    [2] = {"", "memory.max", "memory.current", "inactive_file "},
};

static bool read_text(const char *path, char *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n, length = 0;
    while ((n = read(fd, text + length, (size_t)(LONGEST_FILE - 1 - length))) > 0)
        length += n;
    close(fd);
    text[length] = '\0';
    return n == 0;
}

/* The number at the beginning of a line that begins with `before`; false where there is none. */
static bool find_number(const char *text, const char *before, uint64_t *number)
{
    size_t length = strlen(before);
    while (strncmp(text, before, length) != 0) {
        text = strchr(text, '\n');
        if (!text++)
            return false;
    }
    text += length;
    errno = 0;
    *number = strtoull(text, NULL, 10);
    return *text >= '0' && *text <= '9' && errno == 0;
}

static bool read_number(const char *folder, const char *file, const char *before, uint64_t *number)
{
    char path[PATH_MAX + 64], text[LONGEST_FILE];
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    return read_text(path, text) && find_number(text, before, number);
}

/* The rest that one group leaves. */
static uint64_t left_in(const char *folder, const struct version *v, uint64_t most)
{
    uint64_t limit, used, inactive = 0;
    if (!read_number(folder, v->limit, "", &limit) || !read_number(folder, v->used, "", &used))
        return most;
    if (read_number(folder, "memory.stat", v->inactive, &inactive))
        used -= inactive < used ? inactive : used;
    uint64_t left = limit > used ? limit - used : 0;
    return left < most ? left : most;
}

/* A limit holds for all groups below. In a container the path may be that outside of it: then there
 * are no such folders, and its own group is the root. */
static uint64_t left_in_all(const char *root, const char *path, const struct version *v,
                            uint64_t most)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof(folder), "%s%s%s", root, v->folder, path);
    size_t shortest = strlen(root) + strlen(v->folder);
    if (length < 0 || (size_t)length >= sizeof(folder))
        return most;
    for (;;) {
        most = left_in(folder, v, most);
        char *slash = strrchr(folder + shortest, '/');
        if (!slash)
            return most;
        *slash = '\0';
    }
}

/* "0::/path" (version 2) or "5:memory,hugetlb:/path" (version 1). */
static const struct version *version_of(const char *line, const char **path)
{
    const char *names = strchr(line, ':');
    const char *end = names ? strchr(names + 1, ':') : NULL;
    if (!end || end[1] != '/')
        return NULL;
    *path = end + 1;
    if (end == names + 1)
        return &versions[2];
    for (const char *name = names + 1; name < end; name += strcspn(name, ",:") + 1)
        if (strcspn(name, ",:") == strlen("memory") && strncmp(name, "memory", 6) == 0)
            return &versions[1];
    return NULL;
}

uint64_t gp_host_free_in_groups(uint64_t most, const char *groups, const char *root)
{
    char text[LONGEST_FILE], *rest = NULL;
    const char *path;
    if (!read_text(groups, text))
        return most;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const struct version *v = version_of(line, &path);
        if (v)
            most = left_in_all(root, path, v, most);
    }
    return most;
}

uint64_t gp_host_free(void)
{
    struct sysinfo info;
    if (sysinfo(&info) != 0)
        return 0;
    uint64_t free = ((uint64_t)info.freeram + info.bufferram) * info.mem_unit;
    return gp_host_free_in_groups(free, "/proc/self/cgroup", "/sys/fs/cgroup");
}
