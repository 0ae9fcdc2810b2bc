#include "cli/live.h"

#include "base/log.h"
#include "cli/cli.h"
#include "cli/summing.h"
#include "profile/head.h"
#include "report/table.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* As in the library's report (launch/results.c). */
#define MOST_KERNELS 20
/* Processes below the one that was named, and their levels. */
#define MOST_PROCESSES 4096
#define MOST_LEVELS 64
/* The largest file in /proc that is read here is cut there. */
#define MOST_BYTES 8192

bool cli_live_number(const char *text, pid_t *process)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    const bool good =
        isdigit((unsigned char)*text) && !*end && !errno && number > 0 && number == (pid_t)number;
    if (good)
        *process = (pid_t)number;
    else
        gp_say("'%s' is no number of a process", text);
    return good;
}

/* ---- /proc ----------------------------------------------------------------------------------- */

/* The begin of a file; false where it cannot be read. */
static bool read_begin(pid_t process, const char *file, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)process, file);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t n = 1; fd >= 0 && n > 0 && length + 1 < size; length += (size_t)n)
        if ((n = read(fd, text + length, size - 1 - length)) < 0)
            n = 0;
    text[length] = '\0';
    if (fd >= 0)
        close(fd);
    return length > 0;
}

/* A field of /proc/PID/stat, counted as in proc(5) from 1; those behind the name. */
static bool stat_field(pid_t process, int field, unsigned long long *value)
{
    char text[MOST_BYTES];
    if (!read_begin(process, "stat", text, sizeof(text)))
        return false;
    const char *at = strrchr(text, ')'); /* the name may hold anything */
    for (int i = 2; at && i < field; i++)
        at = strchr(at + 1, ' ');
    return at && sscanf(at, " %llu", value) == 1;
}

#define PARENT 4
#define START 22

/* Its own number in the innermost namespace: that is the one in its profile. */
static long own_number(pid_t process)
{
    static const char field[] = "\nNSpid:";
    char text[MOST_BYTES];
    if (!read_begin(process, "status", text, sizeof(text)))
        return process;
    char *line = strstr(text, field);
    if (!line)
        return process;
    line += sizeof(field) - 1;
    line[strcspn(line, "\n")] = '\0';
    const char *last = strrchr(line, '\t');
    return last ? strtol(last, NULL, 10) : process;
}

static double seconds_of(pid_t process)
{
    unsigned long long start;
    struct timespec now;
    const long ticks = sysconf(_SC_CLK_TCK);
    if (ticks <= 0 || !stat_field(process, START, &start) ||
        clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)start / (double)ticks;
}

/* ---- processes ------------------------------------------------------------------------------- */

struct family {
    pid_t list[MOST_PROCESSES];
    size_t count;
};

static bool has(const struct family *f, pid_t process)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i] == process)
            return true;
    return false;
}

/* Adds children of those that are in it; false where there were none. */
static bool add_children(struct family *f)
{
    DIR *entries = opendir("/proc");
    const size_t before = f->count;
    for (const struct dirent *e; entries && (e = readdir(entries)) != NULL;) {
        const pid_t process = (pid_t)strtol(e->d_name, NULL, 10);
        unsigned long long parent;
        if (process > 0 && f->count < MOST_PROCESSES && stat_field(process, PARENT, &parent) &&
            has(f, (pid_t)parent) && !has(f, process))
            f->list[f->count++] = process;
    }
    if (entries)
        closedir(entries);
    return f->count > before;
}

static struct family *family_of(pid_t process)
{
    struct family *f = calloc(1, sizeof(*f));
    if (!f)
        return NULL;
    f->list[f->count++] = process;
    for (int level = 0; level < MOST_LEVELS && add_children(f); level++)
        ;
    return f;
}

/* ---- the file that a process writes ---------------------------------------------------------- */

static bool is_written(pid_t process, const char *descriptor)
{
    char file[64], text[MOST_BYTES];
    snprintf(file, sizeof(file), "fdinfo/%.20s", descriptor);
    if (!read_begin(process, file, text, sizeof(text)))
        return false;
    const char *flags = strstr(text, "flags:");
    return flags && (strtol(flags + 6, NULL, 8) & O_ACCMODE) != O_RDONLY;
}

/* The descriptor of the profile, opened here; -1 where this one is none of this process. A forked
 * child has its parent's. */
static int open_profile(pid_t process, const char *descriptor)
{
    char path[64];
    struct stat about;
    struct gp_head head;
    snprintf(path, sizeof(path), "/proc/%ld/fd/%.20s", (long)process, descriptor);
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || !is_written(process, descriptor))
        return -1;
    if (!gp_head_of_file(path, &head) || head.pid != own_number(process))
        return -1;
    return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* The name behind the descriptor, where it leads to the same file. */
static char *name_of(pid_t process, const char *descriptor, int fd)
{
    char path[64], name[4096];
    struct stat opened, named;
    snprintf(path, sizeof(path), "/proc/%ld/fd/%.20s", (long)process, descriptor);
    const ssize_t length = readlink(path, name, sizeof(name) - 1);
    if (length <= 0)
        return NULL;
    name[length] = '\0';
    return fstat(fd, &opened) == 0 && stat(name, &named) == 0 && opened.st_ino == named.st_ino &&
                   opened.st_dev == named.st_dev && !strstr(name, "/gpuprof-run.")
               ? strdup(name)
               : NULL;
}

static bool add(struct cli_live *live, pid_t process, int fd, char *name)
{
    struct cli_live_process *more = realloc(live->list, (live->count + 1) * sizeof(*more));
    if (!more) {
        close(fd);
        free(name);
        return false;
    }
    live->list = more;
    more[live->count++] = (struct cli_live_process){
        .process = process, .fd = fd, .seconds = seconds_of(process), .name = name};
    return true;
}

/* 0 or an errno value: its descriptors cannot be read. */
static int find_in(pid_t process, struct cli_live *live)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/fd", (long)process);
    DIR *entries = opendir(path);
    if (!entries)
        return errno;
    bool found = false;
    for (const struct dirent *e; !found && (e = readdir(entries)) != NULL;) {
        const int fd = isdigit((unsigned char)e->d_name[0]) ? open_profile(process, e->d_name) : -1;
        found = fd >= 0 && add(live, process, fd, name_of(process, e->d_name, fd));
    }
    closedir(entries);
    return 0;
}

static bool has_library(pid_t process)
{
    char path[64], line[4096];
    snprintf(path, sizeof(path), "/proc/%ld/maps", (long)process);
    FILE *maps = fopen(path, "re");
    bool found = false;
    while (maps && !found && fgets(line, sizeof(line), maps))
        found = strstr(line, "/libgpuprof.so") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

static void say_why(pid_t process, int error, bool may_come, struct gp_text *why)
{
    if (error == ENOENT)
        gp_text_addf(why, "there is no process %ld", (long)process);
    else if (error == EACCES || error == EPERM)
        gp_text_addf(why,
                     "process %ld belongs to another user, or may not be inspected: its profile "
                     "is open to its user and to root",
                     (long)process);
    else if (error)
        gp_text_addf(why, "process %ld: %s", (long)process, strerror(error));
    else if (may_come)
        gp_text_addf(why,
                     "process %ld is under gpuprof and writes no profile: it has launched no "
                     "kernel yet, or it was started without 'gpuprof' and GPUPROF_OUTPUT",
                     (long)process);
    else
        gp_text_addf(why, "process %ld is not profiled, nor is one that it has started",
                     (long)process);
}

bool cli_live_find(pid_t process, struct cli_live *live, struct gp_text *why)
{
    *live = (struct cli_live){.list = NULL};
    struct family *f = family_of(process);
    int error = f ? 0 : ENOMEM;
    for (size_t i = 0; f && i < f->count; i++) {
        const int of_one = find_in(f->list[i], live);
        error = i == 0 ? of_one : error;
        live->may_come |= live->count == 0 && has_library(f->list[i]);
    }
    free(f);
    if (live->count == 0)
        say_why(process, error, live->may_come, why);
    return live->count > 0;
}

void cli_live_free(struct cli_live *live)
{
    for (size_t i = 0; i < live->count; i++) {
        close(live->list[i].fd);
        free(live->list[i].name);
    }
    free(live->list);
    *live = (struct cli_live){.list = NULL};
}

/* ---- the report ------------------------------------------------------------------------------ */

struct reporting {
    const struct cli_live *live;
    struct cli_summing *summing;
    size_t begun; /* processes of which the header has come */
    struct gp_text *out;
};

static void begin_process(void *user, const struct gp_profile_header *header)
{
    struct reporting *r = user;
    struct gp_text command = {0};
    if (r->begun == r->live->count)
        return;
    const struct cli_live_process *p = &r->live->list[r->begun++];
    for (size_t i = 0; i < header->argument_count; i++)
        gp_text_addf(&command, "%s%s", i > 0 ? " " : "", header->command[i]);
    gp_text_addf(r->out, "SO FAR, process %ld runs for %.1f s: %s\n", (long)p->process, p->seconds,
                 gp_text_string(&command));
    gp_text_free(&command);
}

/* A process that runs has come to no end: its times so far stand for it. */
static void end_process(void *user, const struct gp_unfinished *process)
{
    struct reporting *r = user;
    const struct gp_end end = {.added_seconds = process->added_seconds,
                               .seconds = process->seconds};
    if (process->seconds > 0)
        gp_summary_end(r->summing->summary, &end);
}

static struct gp_metrics *open_metrics(void)
{
    struct gp_text problems = {0};
    struct gp_metrics *m = cli_open_metrics();
    if (m && !gp_metrics_select(m, NULL, &problems)) {
        gp_metrics_close(m);
        m = NULL;
    }
    if (m)
        gp_metrics_select_diagnosis(m);
    gp_text_free(&problems);
    return m;
}

/* The list of the files' paths, one text for each; to be freed by free_paths. */
static char **paths_of(const struct cli_live *live)
{
    char **paths = calloc(live->count + 1, sizeof(*paths));
    for (size_t i = 0; paths && i < live->count; i++) {
        struct gp_text path = {0};
        gp_text_addf(&path, "/proc/self/fd/%d", live->list[i].fd);
        paths[i] = path.data;
        if (path.failed || !path.data)
            return paths; /* it ends there */
    }
    return paths;
}

static void free_paths(char **paths)
{
    for (size_t i = 0; paths && paths[i]; i++)
        free(paths[i]);
    free(paths);
}

bool cli_live_report(const struct cli_live *live, bool details, size_t width, struct gp_text *out)
{
    struct gp_text notes = {0};
    struct cli_summing summing = {.summary = NULL};
    struct reporting r = {.live = live, .summing = &summing, .out = out};
    const struct cli_views views = {.alone = true};
    struct gp_metrics *m = open_metrics();
    char **paths = paths_of(live);
    bool known = false;
    if (m && paths) {
        summing.user = &r;
        summing.process = begin_process;
        summing.unfinished = end_process;
        summing.runs = true;
        cli_sum_profiles(&summing, &views, m, paths, (int)live->count, &notes);
        known = summing.summary && gp_summary_launches(summing.summary) > 0;
    }
    if (known) {
        const struct gp_table_options options = {.top = MOST_KERNELS,
                                                 .details = details,
                                                 .width = width,
                                                 .copies = summing.copies,
                                                 .profile =
                                                     live->count == 1 ? live->list[0].name : NULL,
                                                 .sources = summing.sources};
        gp_table_report(summing.summary, &options, out);
        gp_copies_table(summing.copies, out);
    }
    cli_summing_free(&summing);
    gp_text_free(&notes); /* the processes have not ended */
    free_paths(paths);
    gp_metrics_close(m);
    return known && !out->failed;
}
