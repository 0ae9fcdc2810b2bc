#include "base/log.h"

#include "base/added_time.h"
#include "base/cancel.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/output.h"
#include "base/run_id.h"
#include "base/stack.h"
#include "base/terminal.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_MESSAGE 4096
/* Less than a pipe holds: a parent may wait for the program's end before it reads. */
#define MOST_ON_STANDARD_ERROR (60 << 10)
#define LONGEST_REST LONGEST_MESSAGE /* the line behind a report that was cut */

/* Where messages go; changed once, before there is more than one thread that writes. */
static struct gp_output standard_error = {.fd = -1}, own_file = {.fd = -1};
static bool own_is_programs;
static pthread_once_t found = PTHREAD_ONCE_INIT;

/* Bytes written to a file that the program writes to as well, and milliseconds that are left to
 * wait for a slow reader. Threads may write at the same time: then these are about right. */
static size_t written;
static int wait_ms = GP_OUTPUT_WAIT_MS;
static bool stalled; /* the reader took nothing during the last wait */

static void find_standard_error(void)
{
    standard_error = gp_output_of(STDERR_FILENO);
}

/* As early as possible: a program may close descriptor 2 and get it again as a file of its own. */
__attribute__((constructor)) static void find_early(void)
{
    int saved = errno;
    gp_added_begins();
    pthread_once(&found, find_standard_error);
    gp_added_ends();
    errno = saved;
}

static const struct gp_output *destination(void)
{
    pthread_once(&found, find_standard_error);
    return own_file.fd >= 0 ? &own_file : &standard_error;
}

/* True where the program writes, too, and somebody may wait for it before reading. */
static bool is_shared(const struct gp_output *output)
{
    return output == &standard_error || own_is_programs;
}

static size_t room_in(const struct gp_output *output)
{
    size_t used = __atomic_load_n(&written, __ATOMIC_RELAXED);
    if (!is_shared(output))
        return SIZE_MAX;
    return used < MOST_ON_STANDARD_ERROR ? MOST_ON_STANDARD_ERROR - used : 0;
}

static int write_to(const struct gp_output *output, const char *bytes, size_t length, int *wait)
{
    if (length > room_in(output))
        return ENOSPC;
    if (is_shared(output))
        __atomic_add_fetch(&written, length, __ATOMIC_RELAXED);
    int error = gp_output_write(output, bytes, length, wait);
    __atomic_store_n(&stalled, error == EAGAIN, __ATOMIC_RELAXED);
    return error;
}

/* Where the reader has stalled the program is held up no longer. */
static int wait_for_report(void)
{
    return __atomic_load_n(&stalled, __ATOMIC_RELAXED) ? 0 : GP_OUTPUT_WAIT_MS;
}

/* The line that says why a file takes no more; NULL where it may yet. */
static const char *end_of_log(int error)
{
    switch (error) {
    case EBADF:
        return "gpuprof: the program has closed the log's descriptor; messages go to standard "
               "error\n";
    case ENOSPC:
    case EDQUOT:
        return "gpuprof: there is no space left for the log; messages go to standard error\n";
    case EFBIG:
        return "gpuprof: the log is as long as a file may be; messages go to standard error\n";
    case EIO:
        return "gpuprof: the log cannot be written; messages go to standard error\n";
    default:
        return NULL;
    }
}

/* False where the text has to be written again: the log took not all of it, and messages now go to
 * standard error. */
static bool write_out(const char *bytes, size_t length, int *wait)
{
    const struct gp_output *output = destination();
    if (length > room_in(output))
        return true;
    const char *end = end_of_log(write_to(output, bytes, length, wait));
    if (!end || output == &standard_error)
        return true;
    own_file.fd = -1;
    own_is_programs = false;
    write_to(&standard_error, end, strlen(end), wait);
    return false;
}

struct message {
    const char *fmt, *end;
    va_list args;
};

/* Returns how many bytes of `to`, which has room for so many, it took; the rest is cut. */
static size_t escape(const char *text, size_t length, char *to, size_t room)
{
    size_t used = 0, written;
    char escaped[GP_ESCAPED_BYTES];
    for (size_t i = 0; i < length; used += written) {
        i += gp_escape_one(text + i, length - i, escaped, &written);
        if (written > room - used)
            return used;
        memcpy(to + used, escaped, written);
    }
    return used;
}

static void write_message(void *argument)
{
    static const char prefix[] = "gpuprof: ";
    struct message *m = argument;
    char text[LONGEST_MESSAGE], line[LONGEST_MESSAGE];
    size_t used = sizeof(prefix) - 1;
    size_t room = sizeof(line) - used - strlen(m->end) - 1;
    memcpy(line, prefix, used);
    int n = vsnprintf(text, sizeof(text), m->fmt, m->args);
    if (n > 0)
        used += escape(text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1, line + used,
                       room);
    memcpy(line + used, m->end, strlen(m->end));
    used += strlen(m->end);
    if (!write_out(line, used, &wait_ms))
        write_out(line, used, &wait_ms);
}

/* Hooks say things, too: the line is put together on a stack that has room for it. */
static void say(const char *fmt, va_list args, const char *end)
{
    struct message m = {.fmt = fmt, .end = end};
    int saved = errno;
    va_copy(m.args, args);
    gp_cancel_hold();
    if (!gp_stack_run(GP_STACK_ENOUGH, write_message, &m))
        write_message(&m);
    gp_cancel_release();
    va_end(m.args);
    errno = saved;
}

void gp_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(fmt, args, "\n");
    va_end(args);
}

void gp_say_limited(struct gp_say_limit *once, unsigned most, const char *fmt, ...)
{
    if (__atomic_load_n(&once->said, __ATOMIC_RELAXED) >= most)
        return;
    unsigned said = __atomic_add_fetch(&once->said, 1, __ATOMIC_RELAXED);
    if (said > most)
        return;
    va_list args;
    va_start(args, fmt);
    say(fmt, args, said == most && most > 1 ? " (this is not repeated any more)\n" : "\n");
    va_end(args);
}

void gp_say_lines(const char *before, const char *text)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        gp_say("%s%.*s", before, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

bool gp_log_is_terminal(void)
{
    int saved = errno;
    const struct gp_output *output = destination();
    bool terminal = gp_output_is_ours(output) && isatty(output->fd) == 1;
    errno = saved;
    return terminal;
}

size_t gp_log_columns(void)
{
    return gp_log_is_terminal() ? gp_terminal_columns(destination()->fd) : 0;
}

void gp_log_passing(const char *text, size_t length)
{
    int saved = errno, no_wait = 0;
    if (gp_log_is_terminal())
        gp_output_write(destination(), text, length, &no_wait);
    errno = saved;
}

/* Milliseconds that the processes of a run may wait for one another here. */
#define MOST_LOCK_NAPS 100

static bool lock(int fd)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int naps = 0; naps < MOST_LOCK_NAPS; naps++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK)
            return false;
        nanosleep(&nap, NULL);
    }
    return false;
}

/* A text that was written since the run began is of another process of it, and stays. A pipe, a
 * device or a terminal cannot be emptied, and need not be. */
static void empty_of_earlier_runs(int fd)
{
    const char *run = gp_run_id();
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return;
    bool locked = run && lock(fd);
    if (!run || fstat(fd, &about) != 0 || !gp_run_had_begun(run, about.st_mtim)) {
        if (ftruncate(fd, 0) != 0 || futimens(fd, NULL) != 0)
            errno = 0;
    }
    if (locked)
        flock(fd, LOCK_UN);
}

int gp_log_open(const char *path)
{
    int saved = errno;
    int error = 0;
    bool is_programs;
    int fd = gp_open_output(path, &is_programs);
    if (fd < 0) {
        error = errno;
    } else {
        if (!is_programs)
            empty_of_earlier_runs(fd);
        if (own_file.fd >= 0)
            gp_output_close(&own_file);
        own_file = gp_output_of(fd);
        own_is_programs = is_programs;
    }
    errno = saved;
    return error;
}

/* The length of as many whole lines as there is room for. */
static size_t whole_lines(const char *text, size_t length, size_t room)
{
    if (length <= room)
        return length;
    const char *newline = memrchr(text, '\n', room);
    return newline ? (size_t)(newline - text) + 1 : 0;
}

/* False as write_out. */
static bool write_report(const char *text, size_t length, const char *rest)
{
    int wait = wait_for_report();
    size_t room = room_in(destination());
    if (length <= room)
        return write_out(text, length, &wait);
    room -= room < LONGEST_REST ? room : LONGEST_REST;
    length = whole_lines(text, length, room);
    if (!write_out(text, length, &wait))
        return false;
    if (wait_for_report() == 0)
        wait_ms = 0;
    gp_say("the report is longer than standard error may be filled: %s", rest);
    return true;
}

void gp_log_report(const char *text, size_t length, const char *rest)
{
    int saved = errno;
    if (!write_report(text, length, rest))
        write_report(text, length, rest);
    errno = saved;
}
