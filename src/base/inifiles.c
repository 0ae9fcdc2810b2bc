#include "base/inifiles.h"

#include "base/escape.h"
#include "base/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    char why[128];
    size_t length;
    char *text = gp_text_file_read(path, LARGEST_FILE, &length, why, sizeof(why));
    if (text)
        l->take(l->user, path, text, length);
    else
        gp_text_add_linef(l->problems, "%s: %s", path, why);
    free(text);
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
