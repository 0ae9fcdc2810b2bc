#include "cli/check_run.h"
#include "cli/cli.h"
#include "cli/counters.h"
#include "cli/musl.h"
#include "cli/query.h"
#include "cli/rights.h"
#include "cli/run_limit.h"
#include "cli/run_options.h"

#include "base/log.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the library ---- */

/* Where it is installed, seen from the command. */
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
    static const char *const files[] = {"libgpuprof.so", GP_LIBRARY_FOLDER "/libgpuprof.so"};
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

/* Puts the library in front of other preloaded libraries. */
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

/* The library says at the end of this process where it did not use CUDA. */
static bool mark(void)
{
    char process[32];
    snprintf(process, sizeof(process), "%ld", (long)getpid());
    bool marked = setenv("GPUPROF_STARTED", process, 1) == 0;
    if (!marked)
        gp_say("out of memory");
    return marked;
}

/* ---- the program ---- */

/* Finds the program as execvp will. Returns 0 with its path. */
static int find_program(const char *name, struct gp_text *path)
{
    if (strchr(name, '/')) {
        gp_text_add(path, name);
        return access(gp_text_string(path), X_OK);
    }
    const char *at = secure_getenv("PATH");
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

/* A program without a dynamic linker never loads the library; it runs, and nothing is measured. */
static bool is_static(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool answer = false;
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
    const char *how = found ? cli_gets_rights(gp_text_string(&path)) : NULL;
    if (how)
        gp_say("%s gets other rights than yours when it starts, %s: it cannot be profiled",
               path.data, how);
    else if (found && is_static(gp_text_string(&path)))
        gp_say("%s is linked statically: it cannot be profiled", path.data);
    if (found && cli_is_for_musl(gp_text_string(&path))) {
        gp_say("%s is linked with musl: it cannot be profiled, as CUDA needs glibc", path.data);
        cli_preload_less();
    }
    gp_text_free(&path);
}

/* Only returns where the program cannot be run, with the answer of the command. */
static int start(char **argv)
{
    warn_of_program(argv[0]);
    execvp(argv[0], argv);
    int error = errno;
    struct gp_text path = {0};
    const char *command = error == ENOENT ? cli_nearest_command(argv[0]) : NULL;
    if (!*argv[0])
        gp_say("the program's name is empty");
    else if (error == ENOENT && find_program(argv[0], &path) == 0)
        gp_say("%s: the interpreter or dynamic linker that it names is not there", argv[0]);
    else
        gp_say("%s: %s%s%s%s", argv[0], strerror(error), command ? "; did you mean 'gpuprof " : "",
               command ? command : "", command ? "'?" : "");
    gp_text_free(&path);
    /* As shells and env(1) have it. */
    return error == ENOENT ? 127 : 126;
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
    if (!preload())
        return CLI_FAILED;
    /* From here on in the process that becomes the program. */
    if (values[RUN_CHECK] && cli_check_run(values[RUN_CHECK], values[RUN_FORMAT],
                                           secure_getenv("GPUPROF_OUTPUT"), &status))
        return status;
    if (!values[RUN_CHECK] && !mark())
        return CLI_FAILED;
    if (!run_limit(values[RUN_TIMEOUT], argv[program]))
        return CLI_FAILED;
    return start(argv + program);
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
