/* At the end of the process that `gpuprof` started, if that had no children: any of these may have
 * used CUDA, and shells and scripts are silent. Where CUDA was used past us, in any process. */
#include "launch/unused.h"

#include "base/log.h"
#include "launch/inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART "CUDA is used in a library that was loaded by dlmopen: its launches are not seen"

static atomic_int process_of_driver; /* a forked child is another; 0: it has not begun */

void gp_unused_driver_begins(void)
{
    atomic_store(&process_of_driver, getpid());
}

/* The other copy of us, which the process began with, has the same environment, and would say that
 * CUDA was not used: there the process is none that `gpuprof` started, from now on. */
void gp_unused_driver_apart(void)
{
    char *command = secure_getenv("GPUPROF_STARTED");
    if (command && *command)
        *command = '-';
    results_open_log();
    gp_say(APART);
}

/* Whether a file of that name is mapped, by the kernel's list. */
static bool is_mapped(const char *name)
{
    char text[4096];
    size_t kept = 0, length = strlen(name);
    bool found = false;
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t got = 0;
    while (fd >= 0 && !found && (got = read(fd, text + kept, sizeof(text) - kept)) > 0) {
        const size_t all = kept + (size_t)got;
        found = memmem(text, all, name, length) != NULL;
        kept = all < length ? all : length;
        memmove(text, text + all - kept, kept);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Libraries of dlmopen have a list of their own, and no preloaded library. */
static bool driver_is_apart(void)
{
    return is_mapped("/libcuda.so") && !dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
}

static bool has_had_children(void)
{
    struct rusage of_children;
    struct sigaction on_end;
    siginfo_t ignored;
    /* Children may be there, may have been waited for, or may need nobody to wait for them. */
    return waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD ||
           getrusage(RUSAGE_CHILDREN, &of_children) != 0 || of_children.ru_minflt > 0 ||
           sigaction(SIGCHLD, NULL, &on_end) != 0 || on_end.sa_handler == SIG_IGN;
}

__attribute__((destructor)) static void say_unused(void)
{
    const char *command = secure_getenv("GPUPROF_STARTED");
    const bool used = session_began();
    if (!used && atomic_load(&process_of_driver) == getpid()) {
        results_open_log();
        gp_say("the program uses CUDA in a way that gpuprof does not see: nothing is measured");
        return;
    }
    if (!command || strtol(command, NULL, 10) != (long)getpid() ||
        (used && !results_are_silent()) || has_had_children())
        return;
    if (!used)
        results_open_log();
    if (!used && driver_is_apart()) {
        gp_say(APART);
        return;
    }
    if (!used && is_mapped("/libcuda.so")) {
        gp_say("no call of the program to CUDA's driver was seen: it made none, or another tool "
               "stands in front of gpuprof");
        return;
    }
    gp_say("the program %s: there is nothing to report",
           used ? "launched no kernel" : "did not use CUDA");
}
