#include "cli/parent.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/group.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* As long as a process that nobody knows is waited for at once. */
#define LONGEST_WAIT 1e6

struct waiting {
    const struct cli_start *start;
    pid_t program;
    bool stopped;
    double until; /* it is ended; INFINITY: never */
};

/* ---- the program's process ------------------------------------------------------------------- */

/* Where the command is killed so is the program: it would have been. */
static void die_with(pid_t command)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != command)
        raise(SIGKILL);
}

static void become_program(const struct cli_start *start, pid_t command, const sigset_t *mask,
                           const struct sigaction *on_child, int report)
{
    die_with(command);
    start->prepare();
    sigaction(SIGCHLD, on_child, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(start->argv[0], start->argv);
    const int error = errno;
    while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
        ;
    _exit(127);
}

/* The error of its execvp, 0 where it became the program. */
static int read_report(int report)
{
    int error = 0;
    ssize_t n;
    do
        n = read(report, &error, sizeof(error));
    while (n < 0 && errno == EINTR);
    close(report);
    return n == sizeof(error) ? error : 0;
}

/* ---- this process ---------------------------------------------------------------------------- */

/* A reader of a pipe waits until nobody has it open for writing; a program may close it early. */
static void close_descriptors(const struct cli_start *start)
{
    if (start->keeps_all)
        return;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    cli_close_from(STDERR_FILENO + 1, start->keep);
}

/* As the program was stopped: then the shell, whose child this process is, knows of it. */
static void stop_as(int number)
{
    static const struct timespec now;
    sigset_t stops, one, before;
    struct sigaction usual = {.sa_handler = SIG_DFL}, own;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTSTP);
    sigaddset(&stops, SIGTTIN);
    sigaddset(&stops, SIGTTOU);
    /* Signals that came to the whole group have done their work. */
    while (sigtimedwait(&stops, NULL, &now) > 0)
        ;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigaction(number, &usual, &own);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, &before); /* and goes on when somebody continues it */
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(number, &own, NULL);
}

/* True when the program has ended, with *how. Other children are adopted ones, where this is the
 * first process of a container. */
static bool reap(struct waiting *w, int *how)
{
    pid_t process;
    bool ended = false;
    while ((process = waitpid(-1, how, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (process != w->program)
            continue;
        ended = WIFEXITED(*how) || WIFSIGNALED(*how);
        if (ended)
            break;
        w->stopped = WIFSTOPPED(*how);
        if (w->stopped)
            stop_as(WSTOPSIG(*how));
    }
    return ended || (process < 0 && errno == ECHILD);
}

/* A signal that came to this process alone was meant for the program. */
static void pass_on(const struct waiting *w, int number, const siginfo_t *about)
{
    const bool was_sent = about->si_code <= 0; /* by kill or the like */
    const bool goes_on = number == SIGCONT && w->stopped;
    if ((was_sent && about->si_pid == w->program) || (!goes_on && cli_group_got(number)))
        return;
    if (about->si_code == SI_QUEUE)
        sigqueue(w->program, number, about->si_value);
    else
        kill(w->program, number);
}

static void end_program(struct waiting *w)
{
    gp_say("%s: ended after %s s (--timeout)", w->start->argv[0], w->start->seconds);
    kill(w->program, SIGTERM);
    w->until = INFINITY;
}

static int wait_for_signal(const struct waiting *w, siginfo_t *about)
{
    sigset_t all;
    sigfillset(&all);
    const double left = fmax(0, fmin(w->until - gp_clock_seconds(), LONGEST_WAIT));
    const struct timespec most = {.tv_sec = (time_t)left, .tv_nsec = (long)(1e9 * fmod(left, 1))};
    return sigtimedwait(&all, about, &most);
}

/* All signals are blocked: each is taken out of the queue, the lowest number first. So SIGCHLD
 * would not come while somebody sends others again and again. */
static void wait_for_end(struct waiting *w, int *how)
{
    for (bool ended = false; !ended; ended = reap(w, how)) {
        siginfo_t about;
        const int number = wait_for_signal(w, &about);
        if (number > 0 && number == w->start->snapshot_signal)
            w->start->take_snapshot(w->program);
        else if (number > 0 && number != SIGCHLD)
            pass_on(w, number, &about);
        if (gp_clock_seconds() >= w->until)
            end_program(w);
    }
}

/* Signals that came while the program ended were for it. */
static void drop_signals(void)
{
    static const struct timespec now;
    sigset_t all;
    sigfillset(&all);
    while (sigtimedwait(&all, NULL, &now) > 0)
        ;
}

/* In both processes after the fork. False with errno. */
static bool start_program(const struct cli_start *start, const sigset_t *mask,
                          const struct sigaction *on_child, struct cli_end *end)
{
    int report[2];
    const pid_t self = getpid();
    if (pipe2(report, O_CLOEXEC) != 0)
        return false;
    end->process = fork();
    if (end->process == 0)
        become_program(start, self, mask, on_child, report[1]);
    const int error = errno;
    close(report[1]);
    if (end->process > 0)
        end->error = read_report(report[0]);
    else
        close(report[0]);
    errno = error;
    return end->process > 0;
}

bool cli_run_program(const struct cli_start *start, struct cli_end *end)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    struct sigaction on_child;
    struct waiting w = {.start = start,
                        .until = start->seconds ? gp_clock_seconds() + strtod(start->seconds, NULL)
                                                : INFINITY};
    sigset_t all, mask;
    *end = (struct cli_end){.process = -1};
    /* Signals that come before there is a program are kept for it. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    sigaction(SIGCHLD, &usual, &on_child); /* else a child's end might be lost */
    cli_group_watch();
    const bool started = start_program(start, &mask, &on_child, end);
    const int error = errno;
    if (started) {
        w.program = end->process;
        close_descriptors(start);
        wait_for_end(&w, &end->how);
    }
    cli_group_leave();
    if (started)
        drop_signals();
    else
        sigaction(SIGCHLD, &on_child, NULL);
    if (started && !end->error && start->ended)
        start->ended();
    sigprocmask(SIG_SETMASK, &mask, NULL);
    errno = error;
    return started;
}

int cli_end_alike(const struct cli_end *end)
{
    if (!WIFSIGNALED(end->how))
        return WEXITSTATUS(end->how);
    const int number = WTERMSIG(end->how);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    prctl(PR_SET_DUMPABLE, 0); /* the program has left its core */
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    return 128 + number; /* the first process of a container does not die of it */
}

void cli_add_way(const struct cli_end *end, struct gp_text *out)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                 {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
                 {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
                 {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
                 {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
                 {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
    if (!WIFSIGNALED(end->how))
        return;
    size_t i = 0;
    while (i < sizeof(names) / sizeof(names[0]) && names[i].number != WTERMSIG(end->how))
        i++;
    if (i < sizeof(names) / sizeof(names[0]))
        gp_text_addf(out, "was ended by %s", names[i].name);
    else
        gp_text_addf(out, "was ended by signal %d", WTERMSIG(end->how));
}
