#include "cli/paths.h"

#include "base/log.h"
#include "base/path.h"
#include "base/pattern.h"
#include "base/text.h"
#include "profile/run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* 0 or an errno value, of the file system that has this file or folder. */
static int error_of_space(const char *path)
{
    struct statvfs about;
    if (statvfs(path, &about) != 0 || about.f_blocks == 0)
        return 0; /* it shows later */
    return (geteuid() == 0 ? about.f_bfree : about.f_bavail) == 0 ? ENOSPC : 0;
}

/* 0 or an errno value, of the folder in which a file is to be made. */
static int error_of_folder(const char *path)
{
    struct gp_text folder = {0};
    gp_add_folder_of(path, &folder);
    int error = access(gp_text_string(&folder), W_OK | X_OK) == 0 ? 0 : errno;
    if (!error)
        error = error_of_space(gp_text_string(&folder));
    gp_text_free(&folder);
    return error;
}

/* 0 or an errno value, of a file that is there. A write of no byte is enough for a device to refuse
 * it, and leaves the file as it is. */
static int error_of_file(const char *path, const struct stat *about)
{
    if (S_ISDIR(about->st_mode))
        return EISDIR;
    if (S_ISFIFO(about->st_mode))
        return access(path, W_OK) == 0 ? 0 : errno; /* its reader may come later */
    const bool regular = S_ISREG(about->st_mode);
    const int fd = open(path, (regular ? O_RDWR : O_WRONLY) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int error = fd >= 0 && write(fd, "", 0) == 0 ? 0 : errno;
    if (fd >= 0)
        close(fd);
    if (!error && regular && about->st_size == 0)
        error = error_of_space(path);
    return error;
}

bool cli_check_file(const char *option, const char *pattern)
{
    char why[256] = "a file name is missing";
    struct gp_text path = {0};
    struct stat about;
    if (!gp_pattern_expand(pattern, &path, why, sizeof(why)) || path.length == 0) {
        gp_say("%s: %s", option, why);
        gp_text_free(&path);
        return false;
    }
    const bool there = stat(path.data, &about) == 0;
    const int error = there             ? error_of_file(path.data, &about)
                      : errno == ENOENT ? error_of_folder(path.data)
                                        : errno;
    if (error)
        gp_say("%s: %s: %s", option, path.data, strerror(error));
    gp_text_free(&path);
    return !error;
}

void cli_say_repeated(char *const *profiles, int count)
{
    struct stat *known = calloc((size_t)count + 1, sizeof(*known));
    for (int i = 0; known && i < count; i++) {
        if (stat(profiles[i], &known[i]) != 0 || !S_ISREG(known[i].st_mode)) {
            memset(&known[i], 0, sizeof(known[i]));
            continue;
        }
        int k = 0;
        while (known[k].st_dev != known[i].st_dev || known[k].st_ino != known[i].st_ino)
            k++;
        if (k < i)
            gp_say("%s: this profile is given more than once, and counts each time", profiles[i]);
    }
    free(known);
}

/* True where reading one of the profiles, another file, reads this one. */
static bool is_member(char *const *profiles, int count, int of)
{
    for (int i = 0; i < count; i++)
        if (i != of && gp_run_file_leads_to(profiles[i], profiles[of]))
            return true;
    return false;
}

int cli_leave_out_members(char **profiles, int count)
{
    int left = 0;
    bool *members = calloc((size_t)count + 1, sizeof(*members));
    for (int i = 0; members && i < count; i++)
        members[i] = is_member(profiles, count, i);
    for (int i = 0; i < count; i++)
        if (!members || !members[i])
            profiles[left++] = profiles[i];
    free(members);
    return left;
}

static bool is_named(const char *file)
{
    return file && strcmp(file, "-") != 0;
}

bool cli_check_spared(const char *option, const char *output, const char *const *inputs, int count)
{
    for (int i = 0; i < count; i++) {
        if (is_named(output) && is_named(inputs[i]) && gp_is_same_file(output, inputs[i])) {
            gp_say("%s: %s: this file is read, and would be overwritten", option, output);
            return false;
        }
    }
    return true;
}

bool cli_check_pattern_spared(const char *option, const char *pattern, const char *const *inputs,
                              int count)
{
    char why[256];
    struct gp_text path = {0};
    /* The library itself reports a wrong pattern. */
    bool spared = !pattern || !gp_pattern_expand(pattern, &path, why, sizeof(why)) ||
                  cli_check_spared(option, gp_text_string(&path), inputs, count);
    gp_text_free(&path);
    return spared;
}

bool cli_check_apart(const char *log_name, const char *log, const char *output_name,
                     const char *output)
{
    char why[256];
    struct gp_text log_path = {0}, output_path = {0};
    /* The library itself reports a wrong pattern. */
    bool same = gp_pattern_expand(log, &log_path, why, sizeof(why)) &&
                gp_pattern_expand(output, &output_path, why, sizeof(why)) &&
                gp_is_same_file(gp_text_string(&log_path), gp_text_string(&output_path));
    if (same)
        gp_say("%s: %s: %s names the same file", log_name, log_path.data, output_name);
    gp_text_free(&log_path);
    gp_text_free(&output_path);
    return !same;
}

/* ---- relative names ---- */

/* The begin of a pattern may come from a variable. */
static bool is_relative(const char *pattern)
{
    char why[256];
    struct gp_text path = {0};
    bool relative = gp_pattern_expand(pattern, &path, why, sizeof(why)) && path.length > 0 &&
                    path.data[0] != '/';
    gp_text_free(&path);
    return relative;
}

static void add_file_pattern(const char *pattern, const char *here, struct gp_text *out)
{
    bool relative = is_relative(pattern);
    for (const char *p = here; relative && *p; p++)
        gp_text_addf(out, *p == '%' ? "%%%%" : "%c", *p);
    gp_text_addf(out, "%s%s", relative ? "/" : "", pattern);
}

static void add_file(const char *name, const char *here, struct gp_text *out)
{
    if (*name != '/')
        gp_text_addf(out, "%s/", here);
    gp_text_add(out, name);
}

/* The dynamic linker searches for a name without a slash. */
static void add_library(const char *name, const char *here, struct gp_text *out)
{
    if (*name != '/' && strchr(name, '/'))
        gp_text_addf(out, "%s/", here);
    gp_text_add(out, name);
}

/* With a colon in its name this folder cannot stand in the list, which then stays as it is. */
static void add_folders(const char *list, const char *here, struct gp_text *out)
{
    for (const char *p = list; *p;) {
        size_t length = strcspn(p, ":");
        if (length > 0 && *p != '/' && !strchr(here, ':'))
            gp_text_addf(out, "%s/", here);
        length += p[length] == ':';
        gp_text_add_bytes(out, p, length);
        p += length;
    }
}

static const struct {
    const char *variable;
    void (*add)(const char *value, const char *here, struct gp_text *out);
} paths[] = {
    {"GPUPROF_OUTPUT", add_file_pattern},       {"GPUPROF_LOG", add_file_pattern},
    {"GPUPROF_METRICS_FILE", add_file_pattern}, {"GPUPROF_CUPTI", add_library},
    {"GPUPROF_METRICS_PATH", add_folders},      {"GPUPROF_CHECK", add_file},
};

bool cli_fix_paths(void)
{
    char *here = getcwd(NULL, 0);
    bool answer = true;
    for (size_t i = 0; here && i < sizeof(paths) / sizeof(paths[0]); i++) {
        const char *value = secure_getenv(paths[i].variable);
        struct gp_text text = {0};
        if (!value || !*value)
            continue;
        paths[i].add(value, here, &text);
        if (text.failed || setenv(paths[i].variable, gp_text_string(&text), 1) != 0)
            answer = false;
        gp_text_free(&text);
    }
    free(here);
    return answer;
}
