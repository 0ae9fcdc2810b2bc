#include "base/log.h"
#include "base/run_id.h"
#include "cli/check_run.h"
#include "cli/cli.h"
#include "cli/counters.h"
#include "cli/parent.h"
#include "cli/program.h"
#include "cli/query.h"
#include "cli/run_folder.h"
#include "cli/run_options.h"
#include "cli/run_profiles.h"
#include "cli/run_report.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the library ---- */

/* Where it is installed, seen from the command. Python's wheel has it in libexec. */
#ifndef GP_LIBRARY_FOLDER
#define GP_LIBRARY_FOLDER "../lib"
#endif

static bool find_library(struct gp_text *path)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0) {
        gp_say("/proc/self/exe: %s", strerror(errno));
        return false;
    }
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    static const char *const files[] = {"libgpuprof.so", GP_LIBRARY_FOLDER "/libgpuprof.so",
                                        "../libexec/libgpuprof.so"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        gp_text_clear(path);
        gp_text_addf(path, "%s/%s", self, files[i]);
        if (path->failed || access(path->data, R_OK) != 0)
            continue;
        if (strpbrk(path->data, " :")) {
            gp_say(
                "%s: the dynamic linker takes no library whose path has a blank or a colon in it",
                path->data);
            return false;
        }
        return true;
    }
    gp_say("libgpuprof.so is neither in %s nor in %s/" GP_LIBRARY_FOLDER, self, self);
    return false;
}

/* Puts the library in front of other preloaded libraries. CUDA_INJECTION64_PATH is left alone: ncu
 * refuses to start where it names another tool. */
static bool preload(void)
{
    struct gp_text value = {0};
    bool answer = find_library(&value);
    const char *before = secure_getenv("LD_PRELOAD");
    if (answer && before && *before)
        gp_text_addf(&value, ":%s", before);
    if (answer && (value.failed || setenv("LD_PRELOAD", value.data, 1) != 0)) {
        gp_say("out of memory");
        answer = false;
    }
    gp_text_free(&value);
    return answer;
}

/* ---- the run --------------------------------------------------------------------------------- */

static struct {
    bool is_part;  /* of a run that another `gpuprof` has begun, which reports on it */
    bool one_only; /* no process but the program's own is measured */
    bool checks;
    struct cli_run_folder folder;
    struct gp_run_files profiles; /* of its processes, when it is over */
    const char *named;            /* pattern of their names, by the user; NULL: none */
} run = {.folder = {.lock = -1}};

static bool is_set(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value && *value;
}

/* A command under `gpuprof` that asks for no files of its own. */
static bool is_part_of_a_run(const char *const *values)
{
    return is_set("GPUPROF_RUN") && (is_set("GPUPROF_STARTED") || is_set("GPUPROF_CHECK_BY")) &&
           !values[RUN_OUTPUT] && !values[RUN_CHECK];
}

/* Only in the program's process, before it is the program. */
static void prepare(void)
{
    char process[32];
    snprintf(process, sizeof(process), "%ld", (long)getpid());
    /* The library says at the end of this process where it did not use CUDA; a check does. */
    bool set =
        run.checks ? unsetenv("GPUPROF_STARTED") == 0 : setenv("GPUPROF_STARTED", process, 1) == 0;
    if (!set || (run.one_only && setenv("GPUPROF_PROCESS", process, 1) != 0))
        gp_say("out of memory");
}

/* A file without a name of the user's is in the folder, which is removed. */
static bool begin(const char *const *values)
{
    int error;
    run.one_only = values[RUN_TARGET] && strcmp(values[RUN_TARGET], "application-only") == 0;
    run.checks = values[RUN_CHECK] != NULL;
    run.is_part = is_part_of_a_run(values);
    if (run.is_part)
        return true;
    run.named = is_set("GPUPROF_OUTPUT") ? secure_getenv("GPUPROF_OUTPUT") : NULL;
    const bool made = cli_run_folder_make(&run.folder, &error);
    if (!made && run.checks && !run.named) {
        gp_say("--check: no temporary folder can be made: %s", strerror(error));
        return false;
    }
    if (gp_run_begin() &&
        (made ? setenv("GPUPROF_FOLDER", run.folder.path, 1) : unsetenv("GPUPROF_FOLDER")) == 0)
        return true;
    gp_say("out of memory");
    return false;
}

static void find_profiles(void)
{
    struct gp_text pattern = {0};
    if (run.named) {
        cli_find_profiles(run.named, gp_run_id(), &run.profiles);
    } else if (run.folder.path[0]) {
        gp_text_addf(&pattern, "%s/" CLI_FOLDER_PROFILE, run.folder.path);
        gp_run_files_beside(gp_text_string(&pattern), gp_run_id(), &run.profiles);
    }
    gp_text_free(&pattern);
}

/* The program is over: a signal ends the command. */
static void end_early(int number)
{
    cli_run_folder_remove_with(&run.folder, run.named ? NULL : run.profiles.list,
                               run.named ? 0 : run.profiles.count);
    signal(number, SIG_DFL);
    raise(number);
}

static void end_by_signals(void)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    const struct sigaction end = {.sa_handler = end_early};
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction before;
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &end, NULL);
    }
}

/* Its files are known before a signal may end the command. */
static void program_ended(void)
{
    if (run.is_part)
        return;
    find_profiles();
    end_by_signals();
}

static void remove_folder(void)
{
    cli_run_folder_remove(&run.folder);
}

/* Reports and judges. Returns the status where the program's own is 0. */
static int finish(const char *const *values, const struct cli_end *end)
{
    int status = 0;
    if (run.is_part)
        return 0;
    const bool unwritten = cli_run_folder_is_marked(&run.folder);
    cli_report_end(end, &run.profiles, run.named != NULL, &run.folder);
    if (run.checks)
        status = cli_check_judge(values[RUN_CHECK], values[RUN_FORMAT], &run.profiles,
                                 run.named != NULL, remove_folder);
    remove_folder();
    return status == 0 && unwritten ? CLI_USAGE : status;
}

/* Only returns where the program cannot be run. */
static int become_program(char **argv)
{
    gp_say("%s; %s runs without a word on how it ends", strerror(errno), argv[0]);
    remove_folder();
    prepare();
    execvp(argv[0], argv);
    return cli_say_not_started(argv[0], errno);
}

/* A file that names a descriptor of this process. */
static bool names_a_descriptor(const char *text)
{
    return text && (strstr(text, "/dev/fd/") || strstr(text, "/dev/std") || strstr(text, "/proc/"));
}

/* 0: none. */
static int snapshot_signal(const char *const *values)
{
    const char *name = values[RUN_SNAPSHOT_SIGNAL];
    return !name ? 0 : strstr(name, "USR1") ? SIGUSR1 : SIGUSR2;
}

static int run_and_report(const char *const *values, char **argv)
{
    struct cli_end end;
    int status = CLI_FAILED;
    if (run.checks && !cli_check_prepare(values[RUN_CHECK], run.named != NULL)) {
        remove_folder();
        return CLI_USAGE;
    }
    const struct cli_start start = {.argv = argv,
                                    .prepare = prepare,
                                    .seconds = values[RUN_TIMEOUT],
                                    .snapshot_signal = snapshot_signal(values),
                                    .take_snapshot = cli_report_so_far,
                                    .ended = program_ended,
                                    .keep = run.folder.lock,
                                    .keeps_all = names_a_descriptor(values[RUN_CHECK]) ||
                                                 names_a_descriptor(values[RUN_FORMAT]) ||
                                                 names_a_descriptor(secure_getenv("GPUPROF_LOG"))};
    cli_warn_of_program(argv[0]);
    if (!cli_run_program(&start, &end)) {
        status = become_program(argv);
    } else if (end.error) {
        remove_folder();
        status = cli_say_not_started(argv[0], end.error);
    } else {
        status = finish(values, &end);
        const int own = cli_end_alike(&end);
        status = own ? own : status;
    }
    return status;
}

static int run_program(const struct cli_command *self, int argc, char **argv)
{
    const char *values[RUN_OPTION_COUNT];
    int status, program = cli_parse(self, argc, argv, values, &status);
    if (program < 0)
        return status;
    if (values[RUN_QUERY_METRICS] || values[RUN_QUERY_EVENTS]) {
        if (values[RUN_CHIP] && !cli_check_chip(values[RUN_CHIP]))
            return CLI_USAGE;
        return cli_query(values[RUN_QUERY_METRICS] != NULL, values[RUN_QUERY_EVENTS] != NULL,
                         values[RUN_CHIP]);
    }
    if (program >= argc) {
        gp_say("there is no program to run ('gpuprof help run' tells more)");
        return CLI_USAGE;
    }
    if (!run_check(values))
        return CLI_USAGE;
    if (!run_pass(values)) {
        gp_say("out of memory");
        return CLI_FAILED;
    }
    return preload() && begin(values) ? run_and_report(values, argv + program) : CLI_FAILED;
}

const struct cli_command cli_run = {
    .name = "run",
    .arguments = "[options] PROGRAM [ARGS]",
    .help =
        "Run a program and measure its kernels; the word 'run' may be left out, but not in front "
        "of a word that is a command of another profiler (diff, open, record).",
    .run = run_program,
    .options = run_options,
    .option_count = RUN_OPTION_COUNT,
};
