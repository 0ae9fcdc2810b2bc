/* profile/: the files of a run. No two processes share one, none overwrites one of its own run; all
 * are read together, and none of an earlier run. */
#include "profile/claim.h"
#include "profile/head.h"
#include "profile/reader.h"
#include "profile/run_files.h"
#include "profile/writer.h"

#include "base/run_id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const command[] = {"./app", NULL};
static char folder[64];

/* A file system without locks. */
static bool no_locks;

int fcntl(int fd, int what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (no_locks && what == F_SETLK) {
        errno = ENOLCK;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, what, argument);
}

static int in_new_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/gpuprof-test-runs-XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 && gp_run_begin() ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char remove[128];
    snprintf(remove, sizeof(remove), "rm -rf %s", folder);
    return chdir("/") == 0 ? system(remove) : -1;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static bool holds(const char *path, const char *text)
{
    char bytes[256] = "";
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, bytes, sizeof(bytes) - 1) : -1;
    close(fd);
    return n >= 0 && strcmp(bytes, text) == 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static struct gp_writer *opened(const char *path)
{
    char why[512] = "";
    struct gp_writer *w = gp_writer_open(path, command, NULL, why, sizeof(why));
    if (!w)
        fail_msg("%s", why);
    return w;
}

static void write_launch(struct gp_writer *w, uint64_t index)
{
    const struct gp_counter counter = {.name = "x.sum", .value = (double)index};
    const struct gp_record launch = {
        .index = index, .kernel = "k", .counter_count = 1, .counters = &counter};
    assert_true(gp_writer_launch(w, &launch));
}

/* As a process does that launches one kernel: the name of its file, and the word on that. */
static void profile(const char *path, uint64_t index, const char *name, const char *beside)
{
    struct gp_writer *w = opened(path);
    assert_string_equal(gp_writer_path(w), name);
    if (beside) {
        assert_non_null(gp_writer_beside(w));
        assert_string_equal(gp_writer_beside(w), beside);
    } else {
        assert_null(gp_writer_beside(w));
    }
    write_launch(w, index);
    gp_writer_end(w, &(struct gp_end){0});
    gp_writer_close(w);
}

#define SAME_RUN "another process of this run has that file"
#define OTHER_RUN "another run is writing that file"

/* ---- reading --------------------------------------------------------------------------------- */

struct seen {
    char launches[64]; /* their numbers, one digit each */
    int processes;
};

static bool take_header(void *user, const struct gp_profile_header *header)
{
    assert_int_equal(access(header->path, R_OK), 0);
    ((struct seen *)user)->processes++;
    return true;
}

static bool take_launch(void *user, const struct gp_record *launch)
{
    struct seen *seen = user;
    const size_t at = strlen(seen->launches);
    assert_true(at + 1 < sizeof(seen->launches));
    seen->launches[at] = (char)('0' + launch->index);
    return true;
}

static void has_launches(const char *path, const char *launches)
{
    struct seen seen = {.processes = 0};
    const struct gp_profile_visitor visitor = {
        .user = &seen, .header = take_header, .launch = take_launch};
    char why[512] = "";
    if (!gp_profile_read(path, &visitor, NULL, why, sizeof(why)))
        fail_msg("%s", why);
    assert_string_equal(seen.launches, launches);
    assert_int_equal(seen.processes, strlen(launches));
}

/* ---- names ----------------------------------------------------------------------------------- */

static void is_beside(const char *path, unsigned number, const char *expected)
{
    struct gp_text text = {0};
    gp_add_run_file(path, number, &text);
    assert_string_equal(gp_text_string(&text), expected);
    gp_text_free(&text);
}

static void names_stand_beside_the_one_that_was_asked_for(void **state)
{
    (void)state;
    is_beside("run.jsonl", 1, "run.jsonl");
    is_beside("run.jsonl", 2, "run.002.jsonl");
    is_beside("run.jsonl", 1234, "run.1234.jsonl");
    is_beside("a.b/run.jsonl.zst", 3, "a.b/run.003.jsonl.zst");
    is_beside("run.zst", 3, "run.003.zst");
    is_beside("run", 2, "run.002");
    is_beside("a.b/run", 2, "a.b/run.002");
    is_beside("run.v2", 2, "run.002.v2");
    is_beside("run.77", 2, "run.77.002");
    is_beside(".jsonl", 2, ".jsonl.002");
    is_beside(".zst", 2, ".zst.002");
    is_beside("run.", 2, "run..002");
}

/* ---- processes of one run -------------------------------------------------------------------- */

static void each_process_of_a_run_has_a_file(void **state)
{
    (void)state;
    profile("run.jsonl", 1, "run.jsonl", NULL);
    profile("run.jsonl", 2, "run.002.jsonl", SAME_RUN);
    profile("run.jsonl", 3, "run.003.jsonl", NULL);
    has_launches("run.jsonl", "123");
    has_launches("run.002.jsonl", "2");
    has_launches("run.003.jsonl", "3");
}

static void those_of_an_earlier_run_are_overwritten_and_not_read(void **state)
{
    (void)state;
    profile("run.jsonl.zst", 1, "run.jsonl.zst", NULL);
    profile("run.jsonl.zst", 2, "run.002.jsonl.zst", SAME_RUN);
    profile("run.jsonl.zst", 3, "run.003.jsonl.zst", NULL);
    assert_true(gp_run_begin());
    profile("run.jsonl.zst", 4, "run.jsonl.zst", NULL);
    has_launches("run.jsonl.zst", "4");
    profile("run.jsonl.zst", 5, "run.002.jsonl.zst", SAME_RUN);
    has_launches("run.jsonl.zst", "45");
    /* A file that is its run's only one by now. */
    has_launches("run.003.jsonl.zst", "3");
}

/* One that was written before there were runs, or by a process that is in none. */
static void a_profile_without_a_run_is_overwritten_and_read_alone(void **state)
{
    (void)state;
    write_text("run.jsonl", "{\"type\":\"header\",\"format\":2,\"pid\":1}\n");
    assert_true(gp_run_begin());
    profile("run.jsonl", 1, "run.jsonl", NULL);
    profile("run.jsonl", 2, "run.002.jsonl", SAME_RUN);
    write_text("run.jsonl", "{\"type\":\"header\",\"format\":2,\"pid\":1}\n");
    struct gp_run_files files;
    gp_run_files_of("run.jsonl", &files);
    assert_int_equal(files.count, 1);
    gp_run_files_free(&files);
    has_launches("run.002.jsonl", "2");
}

/* The first process of a run has another name where somebody is writing that file: then that one
 * leads to the others. */
static void a_file_that_another_run_is_writing_is_left_alone(void **state)
{
    (void)state;
    struct gp_writer *w = opened("run.jsonl");
    write_launch(w, 1);
    pid_t child = fork();
    if (child == 0) {
        gp_run_begin();
        profile("run.jsonl", 2, "run.002.jsonl", OTHER_RUN);
        profile("run.jsonl", 3, "run.003.jsonl", NULL);
        has_launches("run.jsonl", "1");
        has_launches("run.002.jsonl", "23");
        has_launches("run.003.jsonl", "3");
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    gp_writer_close(w);
}

/* A program that calls exec is the same process. */
static void a_process_does_not_overwrite_its_own_earlier_file(void **state)
{
    (void)state;
    char pattern[64], beside[64];
    snprintf(pattern, sizeof(pattern), "run.%d.jsonl", (int)getpid());
    snprintf(beside, sizeof(beside), "run.%d.002.jsonl", (int)getpid());
    profile(pattern, 1, pattern, NULL);
    profile(pattern, 2, beside, SAME_RUN);
    has_launches(pattern, "12");
}

static void files_that_no_run_put_there_are_kept(void **state)
{
    (void)state;
    profile("run.003.jsonl", 7, "run.003.jsonl", NULL); /* a profile that has this very name */
    assert_true(gp_run_begin());
    profile("run.jsonl", 1, "run.jsonl", NULL);
    write_text("run.002.jsonl", "my text\n");
    profile("run.jsonl", 2, "run.004.jsonl", SAME_RUN);
    profile("run.jsonl", 3, "run.005.jsonl", NULL);
    assert_true(holds("run.002.jsonl", "my text\n"));
    assert_true(gp_run_begin());
    profile("run.jsonl", 4, "run.jsonl", NULL);
    profile("run.jsonl", 5, "run.004.jsonl", SAME_RUN);
    assert_true(holds("run.002.jsonl", "my text\n"));
    has_launches("run.jsonl", "45");
    has_launches("run.003.jsonl", "7");
}

static void a_link_and_an_empty_file_are_taken(void **state)
{
    (void)state;
    assert_int_equal(symlink("there.jsonl", "run.jsonl"), 0);
    profile("run.jsonl", 1, "run.jsonl", NULL);
    has_launches("there.jsonl", "1");
    assert_true(gp_run_begin());
    write_text("empty.jsonl", "");
    profile("empty.jsonl", 2, "empty.jsonl", NULL);
}

static void renamed_files_are_read_alone(void **state)
{
    (void)state;
    profile("run.jsonl", 1, "run.jsonl", NULL);
    profile("run.jsonl", 2, "run.002.jsonl", SAME_RUN);
    profile("run.jsonl", 3, "run.003.jsonl", NULL);
    assert_int_equal(rename("run.002.jsonl", "rank.jsonl"), 0);
    has_launches("rank.jsonl", "2");
    has_launches("run.jsonl", "13");
    assert_int_equal(rename("run.jsonl", "first.jsonl"), 0);
    has_launches("first.jsonl", "1");
    has_launches("run.003.jsonl", "3");
}

static void a_reader_may_want_one_file(void **state)
{
    (void)state;
    struct seen seen = {.processes = 0};
    const struct gp_profile_visitor visitor = {.user = &seen, .launch = take_launch, .alone = true};
    char why[512] = "";
    profile("run.jsonl", 1, "run.jsonl", NULL);
    profile("run.jsonl", 2, "run.002.jsonl", SAME_RUN);
    assert_true(gp_profile_read("run.jsonl", &visitor, NULL, why, sizeof(why)));
    assert_string_equal(seen.launches, "1");
    assert_true(gp_run_file_leads_to("run.jsonl", "./run.002.jsonl"));
    assert_false(gp_run_file_leads_to("run.002.jsonl", "run.jsonl"));
    assert_false(gp_run_file_leads_to("run.jsonl", "run.jsonl"));
}

static void a_damaged_file_of_a_run_does_not_hide_the_others(void **state)
{
    (void)state;
    struct seen seen = {.processes = 0};
    const struct gp_profile_visitor visitor = {
        .user = &seen, .header = take_header, .launch = take_launch};
    char why[512] = "";
    for (uint64_t i = 1; i <= 3; i++) {
        struct gp_writer *w = opened("run.jsonl");
        write_launch(w, i);
        gp_writer_close(w);
    }
    FILE *f = fopen("run.002.jsonl", "a");
    assert_non_null(f);
    fputs("no JSON\n", f);
    fclose(f);
    assert_false(gp_profile_read("run.jsonl", &visitor, NULL, why, sizeof(why)));
    assert_string_equal(seen.launches, "123");
    assert_non_null(strstr(why, "run.002.jsonl:5: "));
}

/* ---- at the same time ------------------------------------------------------------------------ */

#define MANY 24

static void begin_together(int ready)
{
    char byte;
    assert_int_equal(read(ready, &byte, 1), 0);
}

/* `before`: a file of an earlier run has that name. */
static void many_processes_begin(bool before)
{
    int ready[2];
    pid_t children[MANY];
    if (before)
        profile("run.jsonl", 9, "run.jsonl", NULL);
    assert_true(gp_run_begin());
    assert_int_equal(pipe(ready), 0);
    for (int i = 0; i < MANY; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            close(ready[1]);
            begin_together(ready[0]);
            struct gp_writer *w = opened("run.jsonl");
            write_launch(w, 1);
            gp_writer_end(w, &(struct gp_end){0});
            gp_writer_close(w);
            _exit(0);
        }
    }
    close(ready[0]);
    close(ready[1]);
    for (int i = 0; i < MANY; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    has_launches("run.jsonl", "111111111111111111111111");
}

static void many_processes_that_begin_at_once_share_nothing(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        remove_folder(state);
        in_new_folder(state);
        many_processes_begin(round % 2);
    }
}

/* ---- without locks --------------------------------------------------------------------------- */

static void without_locks_no_file_is_overwritten(void **state)
{
    (void)state;
    no_locks = true;
    profile("run.jsonl", 1, "run.jsonl", NULL);
    assert_true(gp_run_begin());
    profile("run.jsonl", 2, "run.002.jsonl",
            "that file is there already, and its file system has no locks that would tell whether "
            "somebody is writing it");
    has_launches("run.jsonl", "1");
    has_launches("run.002.jsonl", "2");
    remove_folder(state);
    in_new_folder(state);
    many_processes_begin(false);
    no_locks = false;
}

/* ---- heads ----------------------------------------------------------------------------------- */

static bool head_is(const char *text, const char *run, unsigned number, long pid)
{
    struct gp_head head = {.number = 0};
    write_text("head", text);
    return gp_head_of_file("head", &head) && strcmp(head.run, run) == 0 && head.number == number &&
           head.pid == pid;
}

static void heads_are_read_in_any_form(void **state)
{
    (void)state;
    assert_true(
        head_is("{\"type\":\"header\",\"run\":\"a-b\",\"number\":2,\"pid\":77}\n", "a-b", 2, 77));
    assert_true(
        head_is(" { \"pid\" : 77 , \"type\" : \"header\" , \"run\" : \"a\" } \n", "a", 1, 77));
    /* Arguments are no keys. */
    assert_true(head_is(
        "{\"type\":\"header\",\"command\":[\"run\",\"\\\"run\\\":\\\"x\\\"\",{\"run\":\"y\"}],"
        "\"pid\":1}\n",
        "", 1, 1));
    assert_false(head_is("{\"type\":\"launch\",\"run\":\"a\",\"pid\":77}\n", "a", 1, 77));
    assert_false(
        head_is("{\"type\":\"header\",\"run\":\"a\",\"pid\":77}", "a", 1, 77)); /* is cut */
    struct gp_head head;
    static const char *const odd[] = {"\n",         "{\n",        "{\"\n",        "{\"type\n",
                                      "{\"a\\",     "{\"type\":", "{\"type\":\"", "[\"header\"]\n",
                                      "{}\n",       "{\"a\":[\n", "{\"a\":]}\n",  "{\"a\":\"\\\n",
                                      "{\"a\" 1}\n"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        write_text("head", odd[i]);
        assert_false(gp_head_of_file("head", &head));
    }
    assert_false(gp_head_of_file("none", &head));
    assert_false(gp_head_of_file(".", &head));
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_false(gp_head_of_file("fifo", &head));
}

/* ---- the id ---------------------------------------------------------------------------------- */

static void runs_differ_and_know_when_they_began(void **state)
{
    (void)state;
    char first[64];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct timespec later = {.tv_sec = now.tv_sec + 5}, before = {.tv_sec = now.tv_sec - 60};
    snprintf(first, sizeof(first), "%s", gp_run_id());
    assert_string_equal(first, getenv("GPUPROF_RUN"));
    assert_true(gp_run_had_begun(first, later));
    assert_false(gp_run_had_begun(first, before));
    assert_true(gp_run_begin());
    assert_string_not_equal(first, gp_run_id());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stand_beside_the_one_that_was_asked_for),
        cmocka_unit_test_setup_teardown(each_process_of_a_run_has_a_file, in_new_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(those_of_an_earlier_run_are_overwritten_and_not_read,
                                        in_new_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_profile_without_a_run_is_overwritten_and_read_alone,
                                        in_new_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_file_that_another_run_is_writing_is_left_alone,
                                        in_new_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_process_does_not_overwrite_its_own_earlier_file,
                                        in_new_folder, remove_folder),
        cmocka_unit_test_setup_teardown(files_that_no_run_put_there_are_kept, in_new_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_link_and_an_empty_file_are_taken, in_new_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(renamed_files_are_read_alone, in_new_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_reader_may_want_one_file, in_new_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_damaged_file_of_a_run_does_not_hide_the_others,
                                        in_new_folder, remove_folder),
        cmocka_unit_test_setup_teardown(many_processes_that_begin_at_once_share_nothing,
                                        in_new_folder, remove_folder),
        cmocka_unit_test_setup_teardown(without_locks_no_file_is_overwritten, in_new_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(heads_are_read_in_any_form, in_new_folder, remove_folder),
        cmocka_unit_test_setup_teardown(runs_differ_and_know_when_they_began, in_new_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
