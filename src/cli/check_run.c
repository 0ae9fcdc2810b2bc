#include "cli/check_run.h"

#include "cli/cli.h"
#include "cli/judging.h"
#include "cli/paths.h"
#include "cli/verdicts.h"

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/pattern.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* It is read here, by the program and for the verdict: the bytes of a pipe would be gone. */
static bool is_a_file(const char *thresholds)
{
    struct stat about;
    bool other =
        stat(thresholds, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
    if (other)
        gp_say("--check: %s: a regular file is expected: it is read more than once", thresholds);
    return !other;
}

/* No file is written that is read, or that the library writes. */
static bool are_apart(const char *thresholds, const struct cli_outputs *outputs,
                      const struct cli_written *written, int count)
{
    bool apart = cli_check_outputs(outputs, &thresholds, 1);
    for (int i = 0; i < count && apart; i++) {
        apart = cli_check_pattern_spared(written[i].name, written[i].pattern, &thresholds, 1);
        for (size_t k = 0; k < outputs->count && apart && written[i].pattern; k++)
            apart = !outputs->list[k].file || cli_check_apart("--format", outputs->list[k].file,
                                                              written[i].name, written[i].pattern);
    }
    return apart;
}

bool cli_check_usable(const char *thresholds, const char *formats,
                      const struct cli_written *written, int count)
{
    struct cli_outputs outputs = {0};
    struct gp_text problems = {0};
    bool known = (!formats || cli_add_output(&outputs, formats)) &&
                 are_apart(thresholds, &outputs, written, count);
    cli_free_outputs(&outputs);
    if (!known || !is_a_file(thresholds))
        return false;
    struct gp_metrics *m = cli_open_metrics();
    struct gp_thresholds *t = m ? gp_thresholds_read(thresholds, m, &problems) : NULL;
    bool usable = t != NULL;
    gp_say_lines("--check: ", gp_text_string(&problems));
    gp_text_free(&problems);
    gp_thresholds_free(t);
    gp_metrics_close(m);
    return usable;
}

/* ---- the profiles ---- */

/* Adds text that is meant letter by letter, for glob or for a pattern of file names. */
static void add_escaped(const char *s, const char *special, char escape, struct gp_text *out)
{
    for (; *s; s++) {
        if (strchr(special, *s))
            gp_text_add_bytes(out, &escape, 1);
        gp_text_add_bytes(out, s, 1);
    }
}

static bool make_folder(char *folder, size_t size)
{
    struct gp_text name = {0};
    gp_add_temporary("gpuprof-check", &name);
    bool fits = !name.failed && name.length < size;
    if (fits)
        memcpy(folder, name.data, name.length + 1);
    bool made = fits && mkdtemp(folder);
    if (!made)
        gp_say("%s: %s", gp_text_string(&name), fits ? strerror(errno) : "the name is too long");
    gp_text_free(&name);
    return made;
}

/* The pattern as a glob: a process id may be any, the rest is filled in. */
static bool add_glob(const char *pattern, struct gp_text *out)
{
    struct gp_text part = {0}, filled = {0};
    char why[256];
    bool understood = true;
    while (*pattern && understood) {
        size_t length = strcspn(pattern, "%");
        if (pattern[length] == '%' && pattern[length + 1] != 'p')
            length += 2 + (pattern[length + 1] == 'q' ? strcspn(pattern + length + 2, "}") : 0) +
                      (pattern[length + 1] == 'q');
        gp_text_clear(&part);
        gp_text_clear(&filled);
        gp_text_add_bytes(&part, pattern, strnlen(pattern, length));
        understood = gp_pattern_expand(gp_text_string(&part), &filled, why, sizeof(why));
        add_escaped(gp_text_string(&filled), "*?[\\", '\\', out);
        pattern += strnlen(pattern, length);
        if (strncmp(pattern, "%p", 2) == 0) {
            gp_text_add(out, "*");
            pattern += 2;
        }
    }
    gp_text_free(&part);
    gp_text_free(&filled);
    return understood && !out->failed;
}

static bool is_of_this_run(const char *path, const struct timespec *begin)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
           (about.st_mtim.tv_sec > begin->tv_sec ||
            (about.st_mtim.tv_sec == begin->tv_sec && about.st_mtim.tv_nsec >= begin->tv_nsec));
}

struct checked_run {
    const char *thresholds, *formats;
    char folder[512];     /* ours, empty where the user named the profiles */
    struct gp_text files; /* a glob */
    struct timespec begin;
    char **paths; /* of the profiles: `count` of `found` */
    int count;
    glob_t found;
};

/* False when out of memory. */
static bool find_profiles(struct checked_run *run)
{
    int answer = glob(gp_text_string(&run->files), 0, NULL, &run->found);
    run->paths =
        answer == GLOB_NOSPACE ? NULL : calloc(run->found.gl_pathc + 1, sizeof(*run->paths));
    for (size_t i = 0; run->paths && i < run->found.gl_pathc; i++)
        if (run->folder[0] || is_of_this_run(run->found.gl_pathv[i], &run->begin))
            run->paths[run->count++] = run->found.gl_pathv[i];
    return run->paths != NULL;
}

static void forget_profiles(struct checked_run *run)
{
    free(run->paths);
    globfree(&run->found);
    gp_text_free(&run->files);
}

/* A signal handler does this as well. */
static void remove_our_files(struct checked_run *run)
{
    if (!run->folder[0])
        return;
    for (int i = 0; i < run->count; i++)
        unlink(run->paths[i]);
    rmdir(run->folder);
    run->folder[0] = '\0';
}

static void judge_files(const struct checked_run *run, char *const *paths, int count,
                        struct gp_verdict *verdict)
{
    struct gp_text problems = {0};
    struct gp_metrics *m = cli_open_metrics();
    struct gp_thresholds *t = m ? gp_thresholds_read(run->thresholds, m, &problems) : NULL;
    if (!t)
        gp_text_add(&verdict->unjudged, problems.length ? problems.data : "out of memory\n");
    else if (count == 0)
        gp_text_add(&verdict->unjudged, "no process used CUDA: there is no profile to judge\n");
    else
        cli_judge_profiles(t, m, paths, count, run->folder[0] != 0, verdict);
    gp_text_free(&problems);
    gp_thresholds_free(t);
    gp_metrics_close(m);
}

/* Standard output is the program's, so the verdict goes to standard error. */
static bool say_verdict(const struct checked_run *run, struct gp_verdict *verdict)
{
    struct cli_outputs outputs = {.to_standard_error = true};
    bool written = (!run->formats || cli_add_output(&outputs, run->formats)) &&
                   cli_write_verdict(&outputs, verdict, "gpuprof check", "");
    cli_free_outputs(&outputs);
    return written;
}

/* `started`: the program surely was. */
static int judge(struct checked_run *run, bool started)
{
    struct gp_verdict verdict = {0};
    if (run->paths)
        judge_files(run, run->paths, run->count, &verdict);
    else
        gp_text_add(&verdict.unjudged, "out of memory\n");
    remove_our_files(run); /* before the verdict: its reader may let us wait */
    int status = gp_verdict_status(&verdict);
    /* A program that was not found has no verdict. */
    if ((started || run->count > 0) && !say_verdict(run, &verdict) && status == GP_CHECK_HELD)
        status = GP_CHECK_UNJUDGED;
    gp_verdict_free(&verdict);
    return status;
}

/* ---- the program ---- */

static volatile sig_atomic_t program;

static void pass_on(int signal_number)
{
    if (program > 0)
        kill((pid_t)program, signal_number);
}

/* The terminal sends the first two to the program as well. */
static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))
static bool ignored[SIGNALS]; /* before */

static void leave_signals_to_the_program(void)
{
    const struct sigaction pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART},
                           ignore = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction before;
        sigaction(signals[i], i < 2 ? &ignore : &pass, &before);
        ignored[i] = before.sa_handler == SIG_IGN;
    }
}

static struct checked_run *volatile judged_run;

static void end_early(int signal_number)
{
    remove_our_files(judged_run);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* The program is over: a signal ends the command. */
static void take_signals_back(struct checked_run *run)
{
    const struct sigaction end = {.sa_handler = end_early}, ignore = {.sa_handler = SIG_IGN};
    judged_run = run;
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], ignored[i] || signals[i] == SIGCONT ? &ignore : &end, NULL);
}

static void end_by_signal(int signal_number)
{
    const struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* The program's own failure is the answer; the verdict on its kernels is printed all the same. */
static int finish(struct checked_run *run, pid_t child)
{
    int how = 0;
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            break;
    program = 0;
    find_profiles(run);
    take_signals_back(run);
    bool started = !WIFEXITED(how) || (WEXITSTATUS(how) != 126 && WEXITSTATUS(how) != 127);
    int status = judge(run, started);
    forget_profiles(run);
    if (WIFSIGNALED(how)) {
        end_by_signal(WTERMSIG(how));
        return 128 + WTERMSIG(how);
    }
    return WIFEXITED(how) && WEXITSTATUS(how) != 0 ? WEXITSTATUS(how) : status;
}

/* False, having said why, where it fails. */
static bool prepare(struct checked_run *run, const char *output)
{
    struct gp_text pattern = {0};
    char *absolute = realpath(run->thresholds, NULL);
    const char *by = output && *output ? "command" : "command-alone";
    bool made = absolute && setenv("GPUPROF_CHECK", absolute, 1) == 0 &&
                setenv("GPUPROF_CHECK_BY", by, 1) == 0;
    free(absolute);
    if (made && output && *output) {
        made = add_glob(output, &run->files);
    } else if (made && make_folder(run->folder, sizeof(run->folder))) {
        add_escaped(run->folder, "%", '%', &pattern);
        gp_text_add(&pattern, "/%p.jsonl");
        add_escaped(run->folder, "*?[\\", '\\', &run->files);
        gp_text_add(&run->files, "/*.jsonl");
        made =
            !pattern.failed && !run->files.failed && setenv("GPUPROF_OUTPUT", pattern.data, 1) == 0;
    }
    gp_text_free(&pattern);
    clock_gettime(CLOCK_REALTIME_COARSE, &run->begin);
    return made && run->files.length > 0;
}

bool cli_check_run(const char *thresholds, const char *formats, const char *output, int *status)
{
    struct checked_run run = {.thresholds = thresholds, .formats = formats};
    *status = GP_CHECK_UNJUDGED;
    if (!prepare(&run, output)) {
        gp_say("--check: %s: it cannot be prepared", thresholds);
        remove_our_files(&run);
        forget_profiles(&run);
        return true;
    }
    pid_t child = fork();
    if (child == 0)
        return false;
    if (child < 0) {
        gp_say("--check: %s", strerror(errno));
        remove_our_files(&run);
        forget_profiles(&run);
        return true;
    }
    program = child;
    leave_signals_to_the_program();
    *status = finish(&run, child);
    return true;
}
