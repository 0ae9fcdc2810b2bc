#include "base/inifiles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_FILE (1 << 20)

struct loading {
    gp_take_ini *take;
    void *user;
    struct gp_text *problems;
};

void gp_ini_shipped(const char *text, const char *end, gp_take_ini *take, void *user)
{
    static const char mark[] = "; file ";
    const size_t mark_length = sizeof(mark) - 1;
    char file[128] = "shipped definitions";
    while (text < end && (size_t)(end - text) > mark_length &&
           memcmp(text, mark, mark_length) == 0) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            return;
        snprintf(file, sizeof(file), "%.*s", (int)(newline - text - (long)mark_length),
                 text + mark_length);
        text = newline + 1;
        const char *next = text;
        while (next < end &&
               !((size_t)(end - next) > mark_length && memcmp(next, mark, mark_length) == 0)) {
            newline = memchr(next, '\n', (size_t)(end - next));
            next = newline ? newline + 1 : end;
        }
        take(user, file, text, (size_t)(next - text));
        text = next;
    }
}

static void load_file(const struct loading *l, const char *path)
{
    /* Not to wait for the other end of a pipe somebody called x.ini. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0) {
        gp_text_addf(l->problems, "%s: %s\n", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    if (!S_ISREG(about.st_mode) || about.st_size > LARGEST_FILE) {
        gp_text_addf(l->problems, "%s: not a definition file (a text file of at most 1 MiB)\n",
                     path);
        close(fd);
        return;
    }
    struct gp_text text = {0};
    char part[4096];
    ssize_t n;
    while ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            gp_text_add_bytes(&text, part, (size_t)n);
    if (n < 0)
        gp_text_addf(l->problems, "%s: %s\n", path, strerror(errno));
    else if (text.failed)
        gp_text_addf(l->problems, "%s: out of memory\n", path);
    else if (memchr(gp_text_string(&text), '\0', text.length))
        gp_text_addf(l->problems, "%s: no text: there is a NUL in it\n", path);
    else
        l->take(l->user, path, gp_text_string(&text), text.length);
    gp_text_free(&text);
    close(fd);
}

static int is_definition_file(const struct dirent *d)
{
    size_t length = strlen(d->d_name);
    return length > 4 && d->d_name[0] != '.' && strcmp(d->d_name + length - 4, ".ini") == 0;
}

static void load_folder(const struct loading *l, const char *folder, const char *asked_by)
{
    struct dirent **names = NULL;
    int count = scandir(folder, &names, is_definition_file, alphasort);
    if (count < 0) {
        if (asked_by)
            gp_text_addf(l->problems, "%s: %s: %s\n", asked_by, folder, strerror(errno));
        return;
    }
    for (int i = 0; i < count; i++) {
        struct gp_text path = {0};
        gp_text_addf(&path, "%s/%s", folder, names[i]->d_name);
        if (!path.failed)
            load_file(l, path.data);
        gp_text_free(&path);
        free(names[i]);
    }
    free(names);
}

static void load_below(const struct loading *l, struct gp_text *folder, const char *below,
                       const char *asked_by)
{
    if (below)
        gp_text_addf(folder, "/%s", below);
    if (folder->length > 0 && !folder->failed)
        load_folder(l, folder->data, below ? NULL : asked_by);
}

void gp_ini_users(const char *below, gp_take_ini *take, void *user, struct gp_text *problems)
{
    const struct loading l = {.take = take, .user = user, .problems = problems};
    const char *config = secure_getenv("XDG_CONFIG_HOME"), *own = secure_getenv("HOME");
    struct gp_text folder = {0};
    if (config && config[0] == '/')
        gp_text_addf(&folder, "%s/gpuprof", config);
    else if (own && own[0] == '/')
        gp_text_addf(&folder, "%s/.config/gpuprof", own);
    if (folder.length > 0)
        load_below(&l, &folder, below, NULL);

    const char *path = secure_getenv("GPUPROF_METRICS_PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        gp_text_clear(&folder);
        gp_text_add_bytes(&folder, path, length);
        if (length > 0)
            load_below(&l, &folder, below, "GPUPROF_METRICS_PATH");
        path += length;
        if (*path == ':')
            path++;
    }
    gp_text_free(&folder);
}
