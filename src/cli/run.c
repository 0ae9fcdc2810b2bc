#include "cli/check_run.h"
#include "cli/cli.h"
#include "cli/paths.h"

#include "base/log.h"
#include "base/sample.h"
#include "metrics/metrics.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { METRICS, KERNELS, SAMPLE, REPLAY, OUTPUT, LOG, CHECK, FORMAT, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [METRICS] =
        {"metrics", 'm', "LIST",
         "metrics to measure, with commas between them; 'default', 'all' ('gpuprof metrics' "
         "lists them)"},
    [KERNELS] = {"kernels", 'k', "REGEX",
                 "measure only kernels whose name matches this extended regular expression"},
    [SAMPLE] = {"sample", 0, "RULE",
                "measure only some launches of each kernel and launch configuration: the first N "
                "(first:N), one in M (every:M), or the first N and one in M of the later ones "
                "(first:N,every:M)"},
    [REPLAY] = {"replay", 0, "on|off",
                "off: run no kernel more often than the program does; each launch is then counted "
                "in part, launches of a kernel in turns (on)"},
    [OUTPUT] = {"output", 'o', "FILE",
                "write a profile for 'gpuprof report'; %p stands for the process id, %h for the "
                "host, %q{NAME} for an environment variable, %% for a percent sign"},
    [LOG] = {"log", 0, "FILE",
             "write the report and messages to this file instead of standard error; %p, %h, "
             "%q{NAME}, %% as above"},
    [CHECK] =
        {"check", 0, "FILE",
         "hold the kernels to the thresholds in this file: the status is 0 where they hold, 1 "
         "where one is violated, 2 where that cannot be judged; the program's own, where it "
         "is not 0"},
    [FORMAT] =
        {"format", 0, "NAME[=FILE]",
         "write that verdict as text, junit, github, gitlab, sarif or markdown; several with "
         "commas between them (text, to standard error)"},
};

/* What the library reads; the same order. NULL: the command alone sees it. */
static const char *const variables[OPTION_COUNT] = {
    [METRICS] = "GPUPROF_METRICS", [KERNELS] = "GPUPROF_KERNELS", [SAMPLE] = "GPUPROF_SAMPLE",
    [REPLAY] = "GPUPROF_REPLAY",   [OUTPUT] = "GPUPROF_OUTPUT",   [LOG] = "GPUPROF_LOG",
};

/* ---- a wrong option is told before the program starts ---- */

static int check_metrics(const char *list)
{
    /* What is wrong with the user's own definitions is told by the library, once. */
    struct gp_text about_definitions = {0}, problems = {0};
    struct gp_metrics *m = gp_metrics_open(&about_definitions);
    int answer = m ? gp_metrics_select(m, list, &problems) : 0;
    if (answer != 0) {
        gp_say_lines("", gp_text_string(&about_definitions));
        gp_say_lines("--metrics: ", gp_text_string(&problems));
    }
    gp_metrics_close(m);
    gp_text_free(&about_definitions);
    gp_text_free(&problems);
    return answer;
}

static int check_kernels(const char *pattern)
{
    regex_t regex;
    int error = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
    if (error == 0) {
        regfree(&regex);
        return 0;
    }
    char why[256];
    regerror(error, &regex, why, sizeof(why));
    gp_say("--kernels: '%s' is no extended regular expression: %s", pattern, why);
    return -1;
}

static int check_sample(const char *rule)
{
    struct gp_sample ignored = {0};
    if (gp_sample_parse(rule, &ignored))
        return 0;
    gp_say("--sample: '%s' is no rule; " GP_SAMPLE_SYNTAX, rule);
    return -1;
}

static int check_replay(const char *mode)
{
    if (strcmp(mode, "on") == 0 || strcmp(mode, "off") == 0)
        return 0;
    gp_say("--replay: '%s' is neither on nor off", mode);
    return -1;
}

/* Where only the environment says so, the library does. */
static int check_log_apart(const char *const *values)
{
    const char *log = values[LOG] ? values[LOG] : getenv(variables[LOG]);
    const char *output = values[OUTPUT] ? values[OUTPUT] : getenv(variables[OUTPUT]);
    if (!log || !output || (!values[LOG] && !values[OUTPUT]))
        return 0;
    return cli_check_apart(values[LOG] ? "--log" : variables[LOG], log,
                           values[OUTPUT] ? "--output" : variables[OUTPUT], output);
}

static int check_options(const char *const *values)
{
    if (values[METRICS] && check_metrics(values[METRICS]) != 0)
        return -1;
    if (values[KERNELS] && check_kernels(values[KERNELS]) != 0)
        return -1;
    if (values[SAMPLE] && check_sample(values[SAMPLE]) != 0)
        return -1;
    if (values[REPLAY] && check_replay(values[REPLAY]) != 0)
        return -1;
    if (values[OUTPUT] && cli_check_file("--output", values[OUTPUT]) != 0)
        return -1;
    if (values[LOG] && cli_check_file("--log", values[LOG]) != 0)
        return -1;
    if (values[FORMAT] && !values[CHECK]) {
        gp_say("--format is for a verdict: say --check FILE as well");
        return -1;
    }
    if (values[CHECK] && !cli_check_usable(values[CHECK], values[FORMAT]))
        return -1;
    return check_log_apart(values);
}

static int pass_options(const char *const *values)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (values[i] && variables[i] && setenv(variables[i], values[i], 1) != 0)
            return -1;
    return cli_fix_paths();
}

/* ---- the library ---- */

static int find_library(struct gp_text *path)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0) {
        gp_say("/proc/self/exe: %s", strerror(errno));
        return -1;
    }
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    static const char *const places[] = {"libgpuprof.so", "../lib/libgpuprof.so"};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        gp_text_clear(path);
        gp_text_addf(path, "%s/%s", self, places[i]);
        if (path->failed || access(path->data, R_OK) != 0)
            continue;
        if (strpbrk(path->data, " :")) {
            gp_say(
                "%s: the dynamic linker takes no library whose path has a blank or a colon in it",
                path->data);
            return -1;
        }
        return 0;
    }
    gp_say("libgpuprof.so is neither in %s nor in %s/../lib", self, self);
    return -1;
}

/* Puts the library in front of what is preloaded anyway. */
static int preload(void)
{
    struct gp_text value = {0};
    int answer = find_library(&value);
    const char *before = getenv("LD_PRELOAD");
    if (answer == 0 && before && *before)
        gp_text_addf(&value, ":%s", before);
    if (answer == 0 && (value.failed || setenv("LD_PRELOAD", value.data, 1) != 0)) {
        gp_say("out of memory");
        answer = -1;
    }
    gp_text_free(&value);
    return answer;
}

/* ---- the program ---- */

/* Finds the program as execvp will. Returns 0 with its path. */
static int find_program(const char *name, struct gp_text *path)
{
    if (strchr(name, '/')) {
        gp_text_add(path, name);
        return access(gp_text_string(path), X_OK);
    }
    const char *at = getenv("PATH");
    for (at = at ? at : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        gp_text_clear(path);
        gp_text_addf(path, "%.*s%s%s", (int)length, at, length ? "/" : "", name);
        if (access(gp_text_string(path), X_OK) == 0)
            return 0;
        at += length + (at[length] == ':');
    }
    return -1;
}

/* Where the program gets another's rights the dynamic linker takes no library from its caller. */
static int gets_rights(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return 0;
    return ((about.st_mode & S_ISUID) && about.st_uid != getuid()) ||
           ((about.st_mode & S_ISGID) && about.st_gid != getgid());
}

/* A program without a dynamic linker never loads the library; it runs, and nothing is measured. */
static int is_static(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int answer = 0;
    Elf64_Ehdr header;
    if (fd >= 0 && read(fd, &header, sizeof(header)) == sizeof(header) &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64) {
        int dynamic = 0;
        for (int i = 0; i < header.e_phnum; i++) {
            Elf64_Phdr part;
            off_t at = (off_t)(header.e_phoff + (Elf64_Off)i * header.e_phentsize);
            if (pread(fd, &part, sizeof(part), at) != sizeof(part))
                break;
            dynamic |= part.p_type == PT_INTERP;
        }
        answer = !dynamic;
    }
    if (fd >= 0)
        close(fd);
    return answer;
}

static void warn_of_program(const char *name)
{
    struct gp_text path = {0};
    int found = find_program(name, &path) == 0;
    if (found && gets_rights(gp_text_string(&path)))
        gp_say("%s gets other rights than yours when it starts: it cannot be profiled", path.data);
    else if (found && is_static(gp_text_string(&path)))
        gp_say("%s is linked statically: it cannot be profiled", path.data);
    gp_text_free(&path);
}

static int run_program(const struct cli_command *self, int argc, char **argv)
{
    const char *values[OPTION_COUNT];
    int status, program = cli_parse(self, argc, argv, values, &status);
    if (program < 0)
        return status;
    if (program >= argc) {
        gp_say("there is no program to run ('gpuprof help run' tells more)");
        return CLI_USAGE;
    }
    if (check_options(values) != 0)
        return CLI_USAGE;
    if (pass_options(values) != 0) {
        gp_say("out of memory");
        return CLI_FAILED;
    }
    if (preload() != 0)
        return CLI_FAILED;
    warn_of_program(argv[program]);
    if (values[CHECK] &&
        cli_check_run(values[CHECK], values[FORMAT], getenv("GPUPROF_OUTPUT"), &status))
        return status;
    execvp(argv[program], argv + program);
    int error = errno;
    struct gp_text path = {0};
    if (error == ENOENT && find_program(argv[program], &path) == 0)
        gp_say("%s: the interpreter or dynamic linker that it names is not there", argv[program]);
    else
        gp_say("%s: %s", argv[program], strerror(error));
    gp_text_free(&path);
    /* As shells and env(1) have it. */
    return error == ENOENT ? 127 : 126;
}

const struct cli_command cli_run = {
    .name = "run",
    .arguments = "[options] PROGRAM [ARGS]",
    .help = "Run a program and measure its kernels; the word 'run' may be left out.",
    .run = run_program,
    .options = options,
    .option_count = OPTION_COUNT,
};
