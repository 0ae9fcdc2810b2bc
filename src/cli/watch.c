/* gpuprof watch: the first screen of the report, again and again while a program runs. */
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/live.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "report/colour.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Seconds. To read a long profile takes a second of a processor: it is read in a tenth of the time
 * at most. */
#define USUAL_PERIOD 2.0
#define LEAST_PERIOD 0.1
#define MOST_PERIOD 86400.0
#define MOST_SHARE 0.1

enum { EVERY, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [EVERY] = {.name = "every",
               .letter = 'n',
               .argument = "TIME",
               .help =
                   "how often the screen is written: 2s, 500ms, 1m (2s); less often where to read "
                   "the profile takes more than a tenth of that"},
};

struct watching {
    pid_t process;
    int ended; /* a descriptor that can be read when the process has ended */
    double period;
    bool on_terminal;
};

static bool read_period(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    const double number = strtod(text, &end);
    for (size_t i = 0; end > text && i < sizeof(units) / sizeof(units[0]); i++) {
        *seconds = number * units[i].seconds;
        if (strcmp(end, units[i].unit) == 0 && *seconds >= LEAST_PERIOD && *seconds <= MOST_PERIOD)
            return true;
    }
    gp_say("--every: '%s' is no time such as 2s, 500ms or 1m, from 100ms to 24h", text);
    return false;
}

static bool take_option(void *user, int option, const char *value)
{
    (void)option;
    return read_period(value, user);
}

/* Without the lines for which the terminal has no room. */
static void cut_lines(struct gp_text *text)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2)
        return;
    size_t rows = (size_t)size.ws_row - 1, length = 0;
    for (; rows > 0 && length < text->length; length++)
        rows -= text->data[length] == '\n';
    if (text->data) {
        text->length = length;
        text->data[length] = '\0';
    }
}

/* On a terminal the screen replaces the one before it. */
static void add_screen(const struct watching *w, struct gp_text *screen, struct gp_text *out)
{
    static const char clear[] = "\033[H\033[2J";
    struct gp_text coloured = {0};
    if (!w->on_terminal) {
        gp_text_addf(out, "%s\n", gp_text_string(screen));
        return;
    }
    cut_lines(screen);
    if (gp_colour_wanted(true))
        gp_colour(gp_text_string(screen), &coloured);
    gp_text_addf(out, "%s%s", clear,
                 coloured.length > 0 && !coloured.failed ? coloured.data : gp_text_string(screen));
    gp_text_free(&coloured);
}

/* 0 or an errno value of standard output. */
static int show(const struct watching *w, struct cli_live *live)
{
    struct gp_text screen = {0}, out = {0};
    if (!cli_live_report(live, false, gp_terminal_columns(STDOUT_FILENO), &screen))
        gp_text_add(&screen, "No launch has ended yet.\n");
    add_screen(w, &screen, &out);
    const int error = out.failed || screen.failed
                          ? ENOMEM
                          : gp_write_all(STDOUT_FILENO, gp_text_string(&out), out.length);
    gp_text_free(&screen);
    gp_text_free(&out);
    return error;
}

/* True where the process has ended before that. */
static bool ends_within(const struct watching *w, double seconds)
{
    struct pollfd end = {.fd = w->ended, .events = POLLIN};
    const double until = gp_clock_seconds() + seconds;
    for (double left = seconds; left > 0; left = until - gp_clock_seconds())
        if (poll(&end, 1, (int)ceil(1e3 * left)) > 0)
            return true;
    return false;
}

/* Until the process ends, or nobody reads on. A process may have launched nothing yet, and one that
 * has ended writes no profile any more. */
static int watch(const struct watching *w)
{
    struct gp_text why = {0};
    bool seen = false, said = false, ended = false, goes_on = true;
    int error = 0;
    while (!ended && !error) {
        struct cli_live live;
        const double began = gp_clock_seconds();
        gp_text_clear(&why);
        const bool found = cli_live_find(w->process, &live, &why);
        if (found)
            error = show(w, &live);
        else if (!seen && !said)
            gp_say("%s", gp_text_string(&why));
        said |= !found;
        seen |= found;
        goes_on = found || seen || live.may_come;
        cli_live_free(&live);
        if (!goes_on)
            break;
        const double took = gp_clock_seconds() - began;
        ended = !error && ends_within(w, fmax(w->period, took / MOST_SHARE - took));
    }
    if (ended)
        gp_say("process %ld has ended", (long)w->process);
    else if (error && error != EPIPE)
        gp_say("standard output: %s", strerror(error));
    gp_text_free(&why);
    return !seen ? CLI_USAGE : error && error != EPIPE ? CLI_FAILED : CLI_OK;
}

static int run_watch(const struct cli_command *self, int argc, char **argv)
{
    struct watching w = {.period = USUAL_PERIOD, .on_terminal = isatty(STDOUT_FILENO)};
    int status;
    const int count = cli_parse_mixed(self, argc, argv, take_option, &w.period, &status);
    if (count < 0)
        return status;
    if (count != 1) {
        gp_say(count == 0 ? "the number of a process is missing ('gpuprof help watch' tells more)"
                          : "one process is watched, with those that it has started");
        return CLI_USAGE;
    }
    if (!cli_live_number(argv[1], &w.process))
        return CLI_USAGE;
    w.ended = (int)syscall(SYS_pidfd_open, w.process, 0);
    if (w.ended < 0) {
        gp_say(errno == ESRCH || errno == EINVAL ? "there is no process %ld"
                                                 : "process %ld cannot be watched on this system",
               (long)w.process);
        return CLI_USAGE;
    }
    status = watch(&w);
    close(w.ended);
    return status;
}

const struct cli_command cli_watch = {
    .name = "watch",
    .arguments = "[options] PID",
    .help = "Show the first screen of the report of a program that runs under gpuprof, again and "
            "again until it ends. The program does not notice.",
    .run = run_watch,
    .options = options,
    .option_count = OPTION_COUNT,
};
