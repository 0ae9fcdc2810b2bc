/* base/: messages, growing text, patterns of file names, nearest names, demangling, samples. */
#include "base/clock.h"
#include "base/demangle.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/log.h"
#include "base/markdown.h"
#include "base/nearest.h"
#include "base/pages.h"
#include "base/path.h"
#include "base/pattern.h"
#include "base/process.h"
#include "base/regex.h"
#include "base/sample.h"
#include "base/stack.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/window_rule.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char *read_all(const char *path)
{
    static char text[8192];
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t n = read(fd, text, sizeof(text) - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    close(fd);
    return text;
}

static void messages_go_to_the_log_file_and_leave_errno_alone(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-test-log-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(gp_log_open("/nonexistent/folder/log"), ENOENT);
    assert_int_equal(gp_log_open(path), 0);
    errno = EDOM;
    gp_say("%d kernels", 3);
    gp_log_report("as it is\n", 9, "");
    assert_int_equal(errno, EDOM);
    assert_string_equal(read_all(path), "gpuprof: 3 kernels\nas it is\n");
    unlink(path);
}

/* A pipe with a reader that takes nothing: the descriptor, which holds it open. */
static int open_full_pipe(const char *path)
{
    static const char zeros[4096];
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    while (write(fd, zeros, sizeof(zeros)) > 0) {
    }
    assert_int_equal(errno, EAGAIN);
    return fd;
}

/* Whether a report waits for a reader that a message has waited for in vain. */
static int waits_again(const char *path)
{
    double start = gp_clock_seconds();
    if (gp_log_open(path) != 0)
        return 2;
    gp_say("nobody reads this");
    double said = gp_clock_seconds() - start;
    gp_log_report("nor this\n", 9, "");
    double reported = gp_clock_seconds() - start - said;
    return said < 0.9 ? 3 : reported > said / 2;
}

static void a_reader_that_stalls_is_waited_for_once(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-test-log-XXXXXX";
    close(mkstemp(path));
    unlink(path);
    int fd = open_full_pipe(path), status;
    pid_t child = fork();
    if (child == 0)
        _exit(waits_again(path));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(fd);
    unlink(path);
}

static void a_limited_message_is_said_so_many_times(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-test-log-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(gp_log_open(path), 0);
    struct gp_say_limit once = {0}, other = {0};
    for (int i = 0; i < 5; i++)
        gp_say_limited(&once, 2, "busy %d", i);
    for (int i = 0; i < 5; i++)
        gp_say_limited(&other, 1, "only %d", i);
    assert_string_equal(read_all(path), "gpuprof: busy 0\n"
                                        "gpuprof: busy 1 (this is not repeated any more)\n"
                                        "gpuprof: only 0\n");
    unlink(path);
}

static void a_message_that_is_too_long_is_cut_and_ends_its_line(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-test-log-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(gp_log_open(path), 0);
    char *long_text = malloc(10000);
    memset(long_text, 'x', 9999);
    long_text[9999] = '\0';
    gp_say("%s", long_text);
    char *written = read_all(path);
    assert_true(strlen(written) < 4100);
    assert_int_equal(written[strlen(written) - 1], '\n');
    free(long_text);
    unlink(path);
}

static void each_line_of_a_text_is_a_message(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-test-log-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(gp_log_open(path), 0);
    gp_say_lines("a: ", "one\ntwo");
    gp_say_lines("b: ", "");
    assert_string_equal(read_all(path), "gpuprof: a: one\ngpuprof: a: two\n");
    unlink(path);
}

static void a_reader_that_went_away_does_not_kill(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(gp_write_all(ends[1], "x", 1), EPIPE);
    /* The signal was taken out of the queue as well. */
    sigset_t pending;
    sigpending(&pending);
    assert_false(sigismember(&pending, SIGPIPE));
    close(ends[1]);
}

static void a_limit_on_file_size_does_not_kill(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-test-size-XXXXXX";
    int fd = mkstemp(path);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4;
    setrlimit(RLIMIT_FSIZE, &small);
    int error = gp_write_all(fd, "12345678", 8);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(error, EFBIG);
    close(fd);
    unlink(path);
}

static void files_are_opened_high_up(void **state)
{
    (void)state;
    int fd = gp_open_high("/dev/null", O_WRONLY);
    assert_true(fd >= 200);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    assert_int_equal(gp_open_high("/nonexistent/x", O_WRONLY), -1);
}

static void one_file_is_known_by_all_its_names(void **state)
{
    (void)state;
    char folder[] = "/tmp/gpuprof-test-path-XXXXXX", here[4096];
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(symlink("new", "link"), 0);
    assert_int_equal(symlink("link", "links"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    /* First while it is not there, then when it is. */
    for (int there = 0; there < 2; there++) {
        assert_true(gp_is_same_file("new", "./new"));
        assert_true(gp_is_same_file("new", "links"));
        assert_false(gp_is_same_file("new", "other"));
        assert_false(gp_is_same_file("new", "/tmp/new"));
        assert_false(gp_is_same_file("new", "."));
        assert_false(gp_is_same_file("new", "new/new"));
        close(open("new", O_WRONLY | O_CREAT, 0666));
    }
    assert_false(gp_is_same_file("loop", "loop"));
    assert_false(gp_is_same_file("none/new", "none/new"));
    assert_false(gp_is_same_file("/dev/null", "/dev/null"));
    unlink("new");
    unlink("link");
    unlink("links");
    unlink("loop");
    assert_int_equal(chdir(here), 0);
    rmdir(folder);
}

static double seconds_of(struct timespec t)
{
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void the_clock_goes_on_and_names_later_moments(void **state)
{
    (void)state;
    double before = gp_clock_seconds();
    struct timespec now = gp_clock_after(0), later = gp_clock_after(2.75);
    double after = gp_clock_seconds();
    assert_true(before <= seconds_of(now) && seconds_of(now) <= after);
    assert_true(before + 2.75 <= seconds_of(later) && seconds_of(later) <= after + 2.75);
    /* Nanoseconds never reach a second, at any moment. */
    for (int i = 0; i < 1000; i++) {
        struct timespec t = gp_clock_after(1e-3 * i);
        assert_in_range(t.tv_nsec, 0, 999999999);
    }
}

static void a_wait_lasts_longer_where_others_have_the_cpu(void **state)
{
    (void)state;
    const struct gp_spin now = gp_spin_begins();
    struct gp_spin alone = {now.began - 60, now.ran - 60}, busy = {now.began - 60, now.ran - 5};
    assert_false(gp_spin_is_over(&now, 60));
    assert_false(gp_spin_is_over(&alone, 90));
    assert_true(gp_spin_is_over(&alone, 50));
    assert_false(gp_spin_is_over(&busy, 50));
    assert_true(gp_spin_is_over(&busy, 4));
    /* The bound. */
    assert_true(gp_spin_is_over(&(struct gp_spin){now.began - 21 * 50, now.ran}, 50));
    assert_true(gp_spin_is_over(&now, 0));
}

static void text_grows(void **state)
{
    (void)state;
    struct gp_text t = {0};
    assert_string_equal(gp_text_string(&t), "");
    gp_text_add(&t, "");
    assert_string_equal(t.data, "");
    for (int i = 0; i < 1000; i++)
        gp_text_addf(&t, "%d,", i % 10);
    assert_int_equal(t.length, 2000);
    assert_int_equal(strlen(t.data), 2000);
    gp_text_clear(&t);
    char longer[2000];
    memset(longer, 'y', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    gp_text_addf(&t, "[%s]", longer);
    assert_int_equal(t.length, sizeof(longer) + 1);
    assert_int_equal(t.data[t.length - 1], ']');
    gp_text_free(&t);
    assert_null(t.data);
}

static void a_text_that_failed_keeps_its_bytes(void **state)
{
    (void)state;
    struct gp_text t = {0};
    gp_text_add(&t, "kept");
    gp_text_add_bytes(&t, "x", SIZE_MAX - 2);
    assert_true(t.failed);
    gp_text_add(&t, " and not this");
    assert_string_equal(t.data, "kept");
    gp_text_free(&t);
}

static void expands_to(const char *pattern, const char *expected)
{
    struct gp_text t = {0};
    char why[128] = "";
    assert_true(gp_pattern_expand(pattern, &t, why, sizeof(why)));
    assert_string_equal(gp_text_string(&t), expected);
    gp_text_free(&t);
}

static void fails_with(const char *pattern, const char *expected)
{
    struct gp_text t = {0};
    char why[128] = "";
    assert_false(gp_pattern_expand(pattern, &t, why, sizeof(why)));
    assert_string_equal(why, expected);
    gp_text_free(&t);
}

static void patterns_are_filled_in(void **state)
{
    (void)state;
    char expected[512], host[256] = "";
    gethostname(host, sizeof(host) - 1);
    expands_to("plain.jsonl", "plain.jsonl");
    expands_to("", "");
    expands_to("100%%", "100%");
    snprintf(expected, sizeof(expected), "x_%ld.csv", (long)getpid());
    expands_to("x_%p.csv", expected);
    snprintf(expected, sizeof(expected), "%s/%ld", host, (long)getpid());
    expands_to("%h/%p", expected);
    setenv("GP_TEST_RANK", "7", 1);
    expands_to("rank%q{GP_TEST_RANK}.log", "rank7.log");
}

static void wrong_patterns_are_explained(void **state)
{
    (void)state;
    unsetenv("GP_TEST_NONE");
    fails_with("%z", "'%z' is none of %p (process), %h (host), %q{NAME}, %%");
    fails_with("x%", "'%' is none of %p (process), %h (host), %q{NAME}, %%");
    fails_with("%q", "'%q' must be followed by a variable's name in braces: %q{NAME}");
    fails_with("%q{}", "'%q' must be followed by a variable's name in braces: %q{NAME}");
    fails_with("%q{X", "'%q' must be followed by a variable's name in braces: %q{NAME}");
    fails_with("%q{GP_TEST_NONE}",
               "'%q{GP_TEST_NONE}': there is no environment variable GP_TEST_NONE");
}

static const char *fruit(const void *user, size_t i)
{
    return ((const char *const *)user)[i];
}

static void the_nearest_name_is_found(void **state)
{
    (void)state;
    static const char *const names[] = {"gld_efficiency", "gst_efficiency", "flops", "duration"};
    assert_string_equal(gp_nearest("gld_eficiency", 4, fruit, names), "gld_efficiency");
    assert_string_equal(gp_nearest("flpos", 4, fruit, names), "flops");
    assert_string_equal(gp_nearest("duraton", 4, fruit, names), "duration");
    assert_null(gp_nearest("something_else", 4, fruit, names));
    assert_null(gp_nearest("", 0, fruit, names));
}

static void is_demangled(const char *mangled, enum gp_name which, const char *expected)
{
    char *name = gp_demangle(mangled, which);
    assert_string_equal(name, expected);
    free(name);
}

static void kernels_have_readable_names(void **state)
{
    (void)state;
    is_demangled("_Z9vectorAddPKfS0_Pfi", GP_NAME_FULL,
                 "vectorAdd(float const*, float const*, float*, int)");
    is_demangled("_Z9vectorAddPKfS0_Pfi", GP_NAME_BRIEF, "vectorAdd");
    is_demangled("_Z3fooIiEvT_", GP_NAME_FULL, "void foo<int>(int)");
    is_demangled("_Z3fooIiEvT_", GP_NAME_BRIEF, "foo<int>");
    is_demangled("c_kernel", GP_NAME_FULL, "c_kernel");
    is_demangled("_Znonsense", GP_NAME_BRIEF, "_Znonsense");
    is_demangled("", GP_NAME_FULL, "");
}

static void is_escaped(const char *text, const char *expected)
{
    struct gp_text out = {0};
    gp_text_add_escaped(&out, text, strlen(text));
    assert_string_equal(gp_text_string(&out), expected);
    assert_int_equal(gp_is_printable(text, strlen(text)), strcmp(text, expected) == 0);
    /* Escaped text stays as it is when it is escaped again. */
    assert_true(gp_is_printable(out.data, out.length));
    gp_text_free(&out);
}

static void characters_that_do_not_show_are_escaped(void **state)
{
    (void)state;
    is_escaped("void f<a::b>(int const*) [with \"x\"]", "void f<a::b>(int const*) [with \"x\"]");
    is_escaped("M\xc3\xbcller \xe6\xa0\xb8 \xf0\x9f\x98\x80",
               "M\xc3\xbcller \xe6\xa0\xb8 \xf0\x9f\x98\x80");
    is_escaped("a\nb\tc\rd", "a\\nb\\tc\\rd");
    is_escaped("\x1b[2J\x1b]0;title\a", "\\x1b[2J\\x1b]0;title\\x07");
    is_escaped("del\x7f", "del\\x7f");
    is_escaped("\xc2\x9b"
               "2J",
               "\\u{9b}2J"); /* the same in one character */
    is_escaped("\x9b"
               "2J\xff",
               "\\x9b2J\\xff"); /* no UTF-8 */
    is_escaped("\xe2\x80\xae"
               "dcba",
               "\\u{202e}dcba"); /* right to left */
    is_escaped("cut \xe2\x80", "cut \\xe2\\x80");
    is_escaped("\xc0\x9b \xed\xa0\x80", "\\xc0\\x9b \\xed\\xa0\\x80"); /* too long, half a pair */
    is_escaped("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
}

static void writes(const char *path, const char *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
}

static void is_refused(const char *path, size_t most, const char *reason)
{
    char why[128];
    size_t length;
    assert_null(gp_text_file_read(path, most, &length, why, sizeof(why)));
    assert_string_equal(why, reason);
}

static void a_file_of_text_is_read_up_to_a_limit(void **state)
{
    (void)state;
    char folder[] = "/tmp/gpuprof-test-XXXXXX", path[64], why[128];
    size_t length = 9;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/file", folder);
    is_refused(path, 4, "No such file or directory");
    writes(path, "a\nb", 3);
    char *text = gp_text_file_read(path, 3, &length, why, sizeof(why));
    assert_string_equal(text, "a\nb");
    assert_int_equal(length, 3);
    free(text);
    is_refused(path, 2, "larger than 2 bytes");
    writes(path, "a\0b", 3);
    is_refused(path, 4, "no text: there is a NUL in it");
    writes(path, "", 0);
    text = gp_text_file_read(path, 0, &length, why, sizeof(why));
    assert_string_equal(text, "");
    assert_int_equal(length, 0);
    free(text);
    unlink(path);
    /* Nobody has it open for writing. */
    assert_int_equal(mkfifo(path, 0600), 0);
    is_refused(path, 4, "no regular file");
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    is_refused(path, 4, "no regular file");
    is_refused(folder, 4, "no regular file");
    /* Its size is not known, so nothing of it is read. */
    text = gp_text_file_read("/proc/self/environ", 4, &length, why, sizeof(why));
    assert_string_equal(text, "");
    free(text);
    unlink(path);
    rmdir(folder);
}

static void text_in_markdown_is_only_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *as_words, *as_code, *as_code_in_a_table;
    } cases[] = {
        {"", "", "", ""},
        {"sum<int>(int*)", "sum&lt;int&gt;(int\\*)", "`sum<int>(int*)`", "`sum<int>(int*)`"},
        {"a_b_c ~~d~~ [e](f)", "a\\_b\\_c \\~\\~d\\~\\~ \\[e\\](f)", "`a_b_c ~~d~~ [e](f)`",
         "`a_b_c ~~d~~ [e](f)`"},
        {"see http://x.y/z", "see http\\://x.y/z", "`see http://x.y/z`", "`see http://x.y/z`"},
        {"(WWW.x.y)", "(WWW\\.x.y)", "`(WWW.x.y)`", "`(WWW.x.y)`"},
        {"at::f", "at::f", "`at::f`", "`at::f`"},
        {"a@b.c $x$", "a`@`b.c `$`x`$`", "`a@b.c $x$`", "`a@b.c $x$`"},
        {"a|b", "a\\|b", "`a|b`", "`a\\|b`"},
        {"a\\|b", "a\\\\\\|b", "`a\\|b`", "a\\\\\\|b"},
        {"`", "\\`", "`` ` ``", "`` ` ``"},
        {"a``b`", "a\\`\\`b\\`", "``` a``b` ```", "``` a``b` ```"},
        {" a ", "a ", "`  a  `", "`  a  `"},
        {"  ", "", "`  `", "`  `"},
        {"# a", "\\# a", "`# a`", "`# a`"},
        {" - a", "\\- a", "` - a`", "` - a`"},
        {"1. a", "1\\. a", "`1. a`", "`1. a`"},
        {"1a. 2. b-c", "1a. 2. b-c", "`1a. 2. b-c`", "`1a. 2. b-c`"},
        {"a\nb\x1b\xff", "a\\\\nb\\\\x1b\\\\xff", "`a\\nb\\x1b\\xff`", "`a\\nb\\x1b\\xff`"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gp_text words = {0}, code = {0}, cell = {0};
        gp_text_add_markdown(&words, cases[i].text);
        gp_text_add_markdown_code(&code, cases[i].text, false);
        gp_text_add_markdown_code(&cell, cases[i].text, true);
        assert_string_equal(gp_text_string(&words), cases[i].as_words);
        assert_string_equal(gp_text_string(&code), cases[i].as_code);
        assert_string_equal(gp_text_string(&cell), cases[i].as_code_in_a_table);
        gp_text_free(&words);
        gp_text_free(&code);
        gp_text_free(&cell);
    }
}

static void messages_are_one_line_that_shows(void **state)
{
    (void)state;
    char path[] = "/tmp/gpuprof-test-log-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(gp_log_open(path), 0);
    gp_say("%s: no such file", "a\nb\x1b[2J");
    assert_string_equal(read_all(path), "gpuprof: a\\nb\\x1b[2J: no such file\n");
    unlink(path);
    char *name = gp_demangle("f\x1b[2J\n", GP_NAME_FULL);
    assert_string_equal(name, "f\\x1b[2J\\n");
    free(name);
}

struct depth {
    const char *here, *inner;
    int levels;
};

static int use(int levels)
{
    volatile char room[1024];
    room[0] = (char)levels;
    return levels > 0 ? use(levels - 1) + room[0] : 0;
}

static void note_inner(void *depth)
{
    ((struct depth *)depth)->inner = __builtin_frame_address(0);
}

static void note_and_use(void *depth)
{
    struct depth *d = depth;
    d->here = __builtin_frame_address(0);
    d->levels += use(4000) != -1;
    assert_true(gp_stack_run(GP_STACK_ENOUGH, note_inner, d));
    errno = EDOM;
}

#define SMALL_STACK ((size_t)1 << 20)

/* On one small stack, or near the beginning of one of ours. */
static bool is_near(const char *a, const char *b)
{
    return (a > b ? a - b : b - a) < (long)SMALL_STACK * 7 / 8;
}

static void *work_with_small_stack(void *unused)
{
    struct depth d = {0};
    const char *here = __builtin_frame_address(0);
    /* The first time a thread does not know its own. */
    assert_true(gp_stack_run(4096, note_inner, &d));
    assert_true(gp_stack_run(4096, note_inner, &d));
    assert_true(is_near(d.inner, here));
    for (int i = 1; i <= 100; i++) {
        assert_true(gp_stack_run(2 * SMALL_STACK, note_and_use, &d));
        assert_int_equal(errno, EDOM);
        assert_int_equal(d.levels, i);
        assert_false(is_near(d.here, here));
        assert_true(is_near(d.inner, d.here));
    }
    return unused;
}

static void large_pieces_of_memory_are_zero(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 4096, (2 << 20) - 1, 2 << 20, (6 << 20) + 1};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *memory = gp_pages_take(sizes[i]), *other = gp_pages_take(sizes[i]);
        assert_non_null(memory);
        assert_non_null(other);
        assert_int_equal((uintptr_t)memory % (2 << 20), 0);
        for (size_t at = 0; at < sizes[i]; at++)
            assert_int_equal(memory[at], 0);
        memset(memory, 1, sizes[i]);
        assert_int_equal(other[sizes[i] - 1], 0);
        gp_pages_give(memory, sizes[i]);
        gp_pages_give(other, sizes[i]);
    }
    gp_pages_give(NULL, 1);
    assert_null(gp_pages_take(0));
    assert_null(gp_pages_take(SIZE_MAX));
    assert_null(gp_pages_take(SIZE_MAX / 2));
}

static void work_that_needs_much_stack_runs_on_one_of_ours(void **state)
{
    pthread_attr_t attributes;
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, SMALL_STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, work_with_small_stack, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void expressions_have_limits(void **state)
{
    (void)state;
    char why[256] = "", text[1002];
    bool too_hard = false;
    struct gp_regex *r = gp_regex_new("^void f<.*>\\(int|gemm", why, sizeof(why));
    assert_non_null(r);
    assert_true(gp_regex_matches(r, "void f<a>(int)", &too_hard));
    assert_true(gp_regex_matches(r, "my_gemm_kernel", &too_hard));
    assert_false(gp_regex_matches(r, "void g<a>(int)", &too_hard));
    assert_false(too_hard);
    gp_regex_free(r);

    assert_null(gp_regex_new("a[", why, sizeof(why)));
    assert_string_equal(why, "missing terminating ] for character class at letter 3");
    memset(text, 'a', 1001);
    text[1001] = '\0';
    assert_null(gp_regex_new(text, why, sizeof(why)));
    assert_string_equal(why, "longer than 1000 letters");
    text[1000] = '\0';
    r = gp_regex_new(text, why, sizeof(why));
    assert_non_null(r);
    assert_true(gp_regex_matches(r, text, &too_hard));
    gp_regex_free(r);

    r = gp_regex_new("(a+)+$", why, sizeof(why));
    strcpy(text + 200, "b");
    assert_false(gp_regex_matches(r, text, &too_hard));
    assert_true(too_hard);
    gp_regex_free(r);
    gp_regex_free(NULL);
}

static void samples_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t first, every;
    } right[] = {{"first:3", 3, 0},
                 {"every:100", 1, 100},
                 {"first:3,every:100", 3, 100},
                 {"every:1,first:1000000000", 1000000000, 1}};
    static const char *const wrong[] = {
        "",
        "first",
        "first:",
        "first:0",
        "first:-1",
        "first:x",
        "first:3,",
        "first:3,every",
        "first: 3",
        "last:3",
        "first:3 every:2",
        "first:3,first:3",
        "first:3.5",
        ",first:3",
        "3",
        "first:1000000001",
        "every:2x",
        "every:0",
        "FIRST:3",
        "first:99999999999999999999",
        "firsts:1",
        "first:3,,",
        "first=3",
        "first:3;every:2",
        "automatic",
        "auto,every:2",
        "auto:3",
        "first:3,auto",
    };
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        struct gp_sample sample = {0};
        assert_true(gp_sample_parse(right[i].text, &sample));
        assert_int_equal(sample.first, right[i].first);
        assert_int_equal(sample.every, right[i].every);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct gp_sample sample = {.first = 7, .every = 8};
        if (gp_sample_parse(wrong[i], &sample))
            fail_msg("'%s' was read", wrong[i]);
        assert_int_equal(sample.first, 7);
        assert_int_equal(sample.every, 8);
    }
}

static void windows_are_read_or_refused(void **state)
{
    (void)state;
    struct gp_window_rule rule;
    char why[256];
    assert_true(gp_window_read("", &rule, why, sizeof(why)));
    assert_false(gp_window_limits(&rule));
    assert_true(gp_window_read("capture-range:none,delay:0", &rule, why, sizeof(why)));
    assert_false(gp_window_limits(&rule));
    assert_true(rule.from_start);
    assert_true(gp_window_read("profile-from-start:off,delay:1.5,warm-up:500ms,duration:2m,"
                               "launches:100:200",
                               &rule, why, sizeof(why)));
    assert_true(gp_window_limits(&rule) && rule.by_calls && !rule.from_start);
    assert_true(rule.delay == 1.5 && rule.warm_up == 0.5 && rule.duration == 120);
    assert_int_equal(rule.warm_up_launches, 0);
    assert_true(rule.first == 100 && rule.behind == 200);
    assert_true(gp_window_read("profile-from-start:1", &rule, why, sizeof(why)));
    assert_true(rule.by_calls && rule.from_start);
    assert_true(gp_window_read("capture-range:cudaProfilerApi", &rule, why, sizeof(why)));
    assert_true(rule.by_calls && !rule.from_start);
    assert_true(gp_window_read("warm-up:100,launches:7:", &rule, why, sizeof(why)));
    assert_true(rule.warm_up_launches == 100 && rule.warm_up == 0);
    assert_true(rule.first == 7 && rule.behind == UINT64_MAX);
    assert_true(gp_window_read("launches::7", &rule, why, sizeof(why)));
    assert_true(rule.first == 0 && rule.behind == 7);

    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"delay", "'delay' is no WORD:VALUE"},
        {"delay:1,", "'delay:1,' is no WORD:VALUE"},
        {",delay:1", "',delay:1' is no WORD:VALUE"},
        {"delay:", "'' is no time; say 5, 5s, 500ms or 2m"},
        {"delay:-1", "'-1' is no time; say 5, 5s, 500ms or 2m"},
        {"delay:5x", "'5x' is no time; say 5, 5s, 500ms or 2m"},
        {"delay:1e3", "'1e3' is no time; say 5, 5s, 500ms or 2m"},
        {"delay:5.", "'5.' is no time; say 5, 5s, 500ms or 2m"},
        {"delay:100000001", "'100000001' is no time; say 5, 5s, 500ms or 2m"},
        {"delay:1,delay:2", "delay stands there twice"},
        {"duration:0", "'0' is no time of more than 0; say 5, 5s, 500ms or 2m"},
        {"warm-up:x", "'x' is neither a time, as 5s or 500ms, nor a number of launches"},
        {"warm-up:-3", "'-3' is neither a time, as 5s or 500ms, nor a number of launches"},
        {"profile-from-start:maybe", "'maybe' is neither on nor off"},
        {"capture-range:nvtx", "'nvtx' is neither cudaProfilerApi nor none"},
        {"until:5",
         "'5' belongs to no word of profile-from-start, capture-range, delay, warm-up, duration, "
         "launches"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        rule = (struct gp_window_rule){.delay = 77};
        const bool read = gp_window_read(wrong[i].text, &rule, why, sizeof(why));
        if (read)
            fail_msg("'%s' was read", wrong[i].text);
        assert_string_equal(why, wrong[i].why);
        assert_true(rule.delay == 77);
    }
    static const char *const ranges[] = {"5",     ":",    "5:5",  "7:5", "a:b",
                                         "1:2:3", "-1:2", "1:2x", "1-2", "99999999999999999999:"};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (gp_window_read_part("launches", ranges[i], &rule, why, sizeof(why)))
            fail_msg("'%s' was read", ranges[i]);
        assert_non_null(strstr(why, "is no range A:B of launches; say 100:200"));
    }
}

/* The launches that a rule takes, as letters: 'x' taken, '.' not. */
static const char *taken(const char *rule, int launches)
{
    static char letters[64];
    struct gp_sample sample = {0};
    if (*rule)
        assert_true(gp_sample_parse(rule, &sample));
    for (int i = 0; i < launches; i++)
        letters[i] = gp_sample_takes(&sample, (uint64_t)i) ? 'x' : '.';
    letters[launches] = '\0';
    return letters;
}

static void samples_take_the_launches_they_name(void **state)
{
    (void)state;
    assert_string_equal(taken("", 5), "xxxxx");
    assert_string_equal(taken("first:3", 8), "xxx.....");
    assert_string_equal(taken("every:3", 10), "x..x..x..x");
    assert_string_equal(taken("first:2,every:3", 12), "xx..x..x..x.");
    assert_string_equal(taken("every:1", 5), "xxxxx");
    assert_string_equal(taken("first:1,every:3", 10), "x..x..x..x");
}

/* The first eight, and then one of each quarter of the launches up to twice as many. */
static void auto_takes_ever_fewer_launches(void **state)
{
    (void)state;
    struct gp_sample sample = {0};
    assert_true(gp_sample_parse("auto", &sample));
    for (uint64_t i = 0; i < GP_SAMPLE_FIRST; i++)
        assert_true(gp_sample_takes(&sample, i));
    unsigned quarters[4] = {0};
    for (uint64_t from = GP_SAMPLE_FIRST; from < 1 << 20; from *= 2) {
        for (uint64_t part = 0; part < 4; part++) {
            unsigned found = 0;
            for (uint64_t i = 0; i < from / 4; i++) {
                if (!gp_sample_takes(&sample, from + part * from / 4 + i))
                    continue;
                found++;
                quarters[4 * i / (from / 4)]++;
            }
            assert_int_equal(found, 1);
        }
    }
    /* No period of the program's own is met, or missed, for ever. */
    for (int i = 0; i < 4; i++)
        assert_true(quarters[i] > 4);
    unsigned even = 0, all = 0;
    for (uint64_t i = 1024; i < 1 << 20; i++) {
        all += gp_sample_takes(&sample, i);
        even += i % 2 == 0 && gp_sample_takes(&sample, i);
    }
    assert_int_equal(all, 40);
    assert_in_range(even, 10, 30);
}

/* A child, or its child, is marked when it says so itself. */
static int child_is_wrong(int generations)
{
    if (gp_process_is_marked())
        return 1;
    if (generations > 0) {
        gp_process_mark();
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(child_is_wrong(generations - 1));
        return !gp_process_is_marked() || waitpid(child, &status, 0) != child || status != 0;
    }
    return 0;
}

static void children_are_other_processes(void **state)
{
    (void)state;
    assert_false(gp_process_is_marked());
    gp_process_mark();
    gp_process_mark();
    assert_true(gp_process_is_marked());
    pid_t child = fork();
    if (child == 0)
        _exit(child_is_wrong(2));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(gp_process_is_marked());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_go_to_the_log_file_and_leave_errno_alone),
        cmocka_unit_test(a_reader_that_stalls_is_waited_for_once),
        cmocka_unit_test(a_limited_message_is_said_so_many_times),
        cmocka_unit_test(a_message_that_is_too_long_is_cut_and_ends_its_line),
        cmocka_unit_test(each_line_of_a_text_is_a_message),
        cmocka_unit_test(a_reader_that_went_away_does_not_kill),
        cmocka_unit_test(a_limit_on_file_size_does_not_kill),
        cmocka_unit_test(files_are_opened_high_up),
        cmocka_unit_test(one_file_is_known_by_all_its_names),
        cmocka_unit_test(the_clock_goes_on_and_names_later_moments),
        cmocka_unit_test(a_wait_lasts_longer_where_others_have_the_cpu),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(a_text_that_failed_keeps_its_bytes),
        cmocka_unit_test(patterns_are_filled_in),
        cmocka_unit_test(wrong_patterns_are_explained),
        cmocka_unit_test(the_nearest_name_is_found),
        cmocka_unit_test(kernels_have_readable_names),
        cmocka_unit_test(characters_that_do_not_show_are_escaped),
        cmocka_unit_test(a_file_of_text_is_read_up_to_a_limit),
        cmocka_unit_test(text_in_markdown_is_only_text),
        cmocka_unit_test(messages_are_one_line_that_shows),
        cmocka_unit_test(large_pieces_of_memory_are_zero),
        cmocka_unit_test(work_that_needs_much_stack_runs_on_one_of_ours),
        cmocka_unit_test(expressions_have_limits),
        cmocka_unit_test(samples_are_read),
        cmocka_unit_test(windows_are_read_or_refused),
        cmocka_unit_test(samples_take_the_launches_they_name),
        cmocka_unit_test(auto_takes_ever_fewer_launches),
        cmocka_unit_test(children_are_other_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
