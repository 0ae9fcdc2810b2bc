/* profile/: written launches are read back exactly; crashes, full disks and foreign files. */
#include "profile/fields.h"
#include "profile/launch_queue.h"
#include "profile/object.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "profile/writer_inside.h"

#include "base/log.h"
#include "h200.h"

#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

static const char *path;
static const char *const command[] = {"./app", "--size", "10", "caf\xc3\xa9", "\xff\xfe", NULL};

static struct gp_device device;

static const struct gp_counter counters[] = {
    {"gpu__time_duration.sum", 14800.123456789012, GP_NO_REASON},
    {"tenth__x.sum", 0.1, GP_NO_REASON},
    {"zero__x.sum", 0, GP_NO_REASON},
    {"minus_zero__x.sum", -0.0, GP_NO_REASON},
    {"huge__x.sum", DBL_MAX, GP_NO_REASON},
    {"tiny__x.sum", 5e-324, GP_NO_REASON},
    {"whole__x.sum", 9007199254740993.0, GP_NO_REASON},
    {"absent__x.sum", 0, GP_REASON_TEXT(OTHER, "the counters are in use by another process")},
};

static const struct gp_end so_far_times = {.seconds = 12.5, .added_seconds = 0.25};

static const struct gp_record launch = {
    .index = UINT64_MAX,
    .kernel = "_Z3addPKfS0_Pf \"quoted\"\n",
    .device = 1,
    .context = 0xdeadbeefcafef00d,
    .stream = 2,
    .grid = {4294967295u, 2, 3},
    .block = {32, 8, 1},
    .cluster = {2, 1, 1},
    .registers = 37,
    .shared_static = 8192,
    .shared_dynamic = 1024,
    .local_bytes = 16,
    .max_threads_per_block = 1024,
    .max_shared_dynamic = 232448,
    .shared_carveout = -1,
    .no_half_arithmetic = 1,
    .passes = 2,
    .saved_bytes = 1u << 30,
    .restored_bytes = 12,
    .recalled = 1,
    .diagnosed = 1,
    .overhead_ms = 2.1,
    .counter_count = sizeof(counters) / sizeof(counters[0]),
    .counters = counters,
};

/* The content of a reading. */
struct seen {
    int headers, devices, launches;
    struct gp_device device;
    bool ends; /* the reading, at its first launch */
};

static bool check_header(void *user, const struct gp_profile_header *h)
{
    ((struct seen *)user)->headers++;
    assert_int_equal(h->pid, getpid());
    assert_int_equal(h->argument_count, 5);
    assert_string_equal(h->command[0], "./app");
    assert_string_equal(h->command[3], "caf\xc3\xa9");
    assert_string_equal(h->command[4], "??");
    assert_int_equal(strlen(h->time), strlen("2026-01-01T00:00:00Z"));
    return true;
}

static bool keep_device(void *user, const struct gp_device *d)
{
    struct seen *seen = user;
    seen->devices++;
    seen->device = *d;
    return true;
}

static bool count_launch(void *user, const struct gp_record *l)
{
    (void)l;
    struct seen *seen = user;
    seen->launches++;
    return !seen->ends;
}

/* Whole numbers are exact, others have ten digits; the largest there is stays finite. */
static bool is_as_measured(double read, double written)
{
    bool is_whole = fabs(written) < 9007199254740992.0 && written == floor(written);
    return memcmp(&read, &written, sizeof(read)) == 0 ||
           (!is_whole && fabs(read - written) <= 5e-10 * fabs(written));
}

static bool check_launch(void *user, const struct gp_record *l)
{
    ((struct seen *)user)->launches++;
    assert_int_equal(l->index, launch.index);
    assert_string_equal(l->kernel, "_Z3addPKfS0_Pf \"quoted\"\\n"); /* printable */
    assert_int_equal(l->device, launch.device);
    assert_int_equal(l->context, launch.context);
    assert_int_equal(l->stream, launch.stream);
    assert_memory_equal(l->grid, launch.grid, sizeof(l->grid));
    assert_memory_equal(l->block, launch.block, sizeof(l->block));
    assert_memory_equal(l->cluster, launch.cluster, sizeof(l->cluster));
    assert_int_equal(l->registers, launch.registers);
    assert_int_equal(l->shared_static, launch.shared_static);
    assert_int_equal(l->shared_dynamic, launch.shared_dynamic);
    assert_int_equal(l->local_bytes, launch.local_bytes);
    assert_int_equal(l->max_threads_per_block, launch.max_threads_per_block);
    assert_int_equal(l->max_shared_dynamic, launch.max_shared_dynamic);
    assert_int_equal(l->shared_carveout, launch.shared_carveout);
    assert_int_equal(l->no_half_arithmetic, launch.no_half_arithmetic);
    assert_int_equal(l->passes, launch.passes);
    assert_int_equal(l->saved_bytes, launch.saved_bytes);
    assert_int_equal(l->restored_bytes, launch.restored_bytes);
    assert_int_equal(l->recalled, launch.recalled);
    assert_int_equal(l->diagnosed, launch.diagnosed);
    assert_true(l->overhead_ms == launch.overhead_ms);
    assert_int_equal(l->skipped.cause, GP_CAUSE_NONE);
    assert_int_equal(l->counter_count, launch.counter_count);
    for (size_t i = 0; i < l->counter_count; i++) {
        assert_string_equal(l->counters[i].name, counters[i].name);
        if (counters[i].absent.cause) {
            assert_int_equal(l->counters[i].absent.cause, counters[i].absent.cause);
            assert_string_equal(l->counters[i].absent.text, counters[i].absent.text);
        } else {
            assert_int_equal(l->counters[i].absent.cause, GP_CAUSE_NONE);
            assert_true(is_as_measured(l->counters[i].value, counters[i].value));
        }
    }
    return true;
}

static bool check_end(void *user, const struct gp_end *end)
{
    assert_true(end->added_seconds == 12.5);
    (*(int *)user)++;
    return true;
}

static struct gp_writer *opened(void)
{
    char why[256] = "";
    struct gp_writer *w = gp_writer_open(path, command, NULL, why, sizeof(why));
    if (!w)
        fail_msg("%s", why);
    return w;
}

static void write_text(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void fails_with(const char *text, const char *expected)
{
    struct gp_profile_visitor visitor = {0};
    char why[512] = "", full[600];
    write_text(text);
    assert_false(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    snprintf(full, sizeof(full), "%s%s", path, expected);
    assert_string_equal(why, full);
}

static void written_launches_are_read_back(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    assert_true(gp_writer_device(w, &device));
    assert_true(gp_writer_device(w, &device));
    assert_true(gp_writer_launch(w, &launch));
    assert_true(gp_writer_launch(w, &launch));
    gp_writer_close(w);

    struct seen seen = {0};
    const struct gp_profile_visitor visitor = {
        .user = &seen, .header = check_header, .device = keep_device, .launch = check_launch};
    struct gp_text notes = {0};
    char why[512] = "";
    if (!gp_profile_read(path, &visitor, &notes, why, sizeof(why)))
        fail_msg("%s", why);
    assert_string_equal(gp_text_string(&notes), "");
    assert_int_equal(seen.headers, 1);
    assert_int_equal(seen.devices, 1);
    assert_int_equal(seen.launches, 2);
    assert_memory_equal(&seen.device, &device, sizeof(device));
}

static bool check_not_finite(void *user, const struct gp_record *l)
{
    (void)user;
    assert_string_equal(l->skipped.text, "one pass failed");
    assert_int_equal(l->counter_count, 3);
    assert_true(l->counters[0].value == 1);
    for (int i = 1; i < 3; i++)
        assert_string_equal(l->counters[i].absent.text, "not a finite number");
    return true;
}

static void values_that_are_no_numbers_are_absent(void **state)
{
    (void)state;
    const struct gp_counter odd[] = {{"nan__x", NAN, GP_NO_REASON},
                                     {"one__x", 1, GP_NO_REASON},
                                     {"inf__x", INFINITY, GP_NO_REASON}};
    const struct gp_record l = {.kernel = "k",
                                .skipped = GP_REASON_TEXT(OTHER, "one pass failed"),
                                .counter_count = 3,
                                .counters = odd};
    struct gp_writer *w = opened();
    assert_true(gp_writer_launch(w, &l));
    gp_writer_close(w);
    const struct gp_profile_visitor visitor = {.launch = check_not_finite};
    char why[512] = "";
    assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
}

static const struct gp_count count = {
    .kernel = "_Z3addPKfS0_Pf",
    .device = 3,
    .grid = {4294967295u, 2, 3},
    .block = {32, 8, 1},
    .cluster = {2, 1, 1},
    .shared_dynamic = 1024,
    .launches = 20000000000,
};

static bool check_count(void *user, const struct gp_count *c)
{
    ++*(int *)user;
    assert_string_equal(c->kernel, count.kernel);
    assert_int_equal(c->device, count.device);
    assert_memory_equal(c->grid, count.grid, sizeof(c->grid));
    assert_memory_equal(c->block, count.block, sizeof(c->block));
    assert_memory_equal(c->cluster, count.cluster, sizeof(c->cluster));
    assert_int_equal(c->shared_dynamic, count.shared_dynamic);
    assert_int_equal(c->launches, count.launches);
    if (c->reason.cause) {
        assert_int_equal(c->reason.cause, GP_CAUSE_IN_CAPTURE);
        assert_string_equal(c->reason.text, "a reason, with \"quotes\"");
    }
    *(int *)user += c->reason.cause ? 100 : 0;
    return true;
}

static void counts_are_read_back(void **state)
{
    (void)state;
    int counts = 0;
    char why[512] = "";
    struct gp_writer *w = opened();
    struct gp_count passed_over = count;
    passed_over.reason = GP_REASON_TEXT(IN_CAPTURE, "a reason, with \"quotes\"");
    assert_true(gp_writer_count(w, &count));
    assert_true(gp_writer_count(w, &passed_over));
    gp_writer_close(w);
    const struct gp_profile_visitor visitor = {.user = &counts, .count = check_count};
    assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    assert_int_equal(counts, 102);
    /* Without the reason it would be taken for further launches. */
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fputs("{\"type\":\"passed_over\",\"kernel\":\"k\",\"device\":0,\"grid\":[1,1,1],"
          "\"block\":[1,1,1],\"launches\":1}\n",
          f);
    fclose(f);
    assert_false(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    assert_non_null(strstr(why, "\"reason\" is missing"));
    assert_int_equal(counts, 204);
}

static void the_end_is_read_back(void **state)
{
    (void)state;
    int ends = 0;
    char why[512] = "";
    struct gp_writer *w = opened();
    assert_true(gp_writer_end(w, &(struct gp_end){.added_seconds = 12.5}));
    gp_writer_close(w);
    const struct gp_profile_visitor visitor = {.user = &ends, .end = check_end};
    assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    assert_int_equal(ends, 1);
}

static bool check_settings(void *user, const struct gp_profile_header *h)
{
    const struct gp_settings *expected = user;
    if (expected->sample)
        assert_string_equal(h->settings.sample, expected->sample);
    else
        assert_null(h->settings.sample);
    if (expected->window)
        assert_string_equal(h->settings.window, expected->window);
    else
        assert_null(h->settings.window);
    if (expected->overhead)
        assert_string_equal(h->settings.overhead, expected->overhead);
    else
        assert_null(h->settings.overhead);
    assert_int_equal(h->settings.replay_off, expected->replay_off);
    return true;
}

static void the_header_has_the_settings(void **state)
{
    (void)state;
    struct gp_settings all[] = {{NULL, 0, NULL, NULL},
                                {"first:3,every:100", 0, NULL, "2s"},
                                {NULL, 1, "delay:5s", "none"},
                                {"first:3", 1, "profile-from-start:off,launches:0:3", "3%"}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char why[512] = "";
        struct gp_writer *w = gp_writer_open(path, command, &all[i], why, sizeof(why));
        assert_non_null(w);
        gp_writer_close(w);
        const struct gp_profile_visitor visitor = {.user = &all[i], .header = check_settings};
        assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    }
}

/* Reads the whole file; the caller frees. */
static char *contents(size_t *length)
{
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    *length = (size_t)lseek(fd, 0, SEEK_END);
    char *text = malloc(*length + 1);
    assert_int_equal(pread(fd, text, *length, 0), *length);
    text[*length] = '\0';
    close(fd);
    return text;
}

static bool keep_end(void *user, const struct gp_end *end)
{
    *(struct gp_end *)user = *end;
    return true;
}

/* The end of a profile that has only this one. */
static struct gp_end written_and_read(const struct gp_end *end)
{
    struct gp_end read = {0};
    const struct gp_profile_visitor visitor = {.user = &read, .end = keep_end};
    char why[512] = "";
    struct gp_writer *w = opened();
    assert_true(gp_writer_end(w, end));
    gp_writer_close(w);
    assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    return read;
}

static void the_end_has_the_limit_where_there_is_one(void **state)
{
    (void)state;
    const struct gp_end with = {.added_seconds = 1,
                                .seconds = 5,
                                .has_limit = 1,
                                .limit_seconds = 0.75,
                                .limit_spent = 0.5,
                                .start_up_seconds = 0.25,
                                .limit_wanted = 0.125,
                                .report_seconds = 0.0625};
    struct gp_end read = written_and_read(&with);
    assert_int_equal(read.has_limit, 1);
    assert_true(read.limit_seconds == 0.75 && read.limit_spent == 0.5);
    assert_true(read.start_up_seconds == 0.25);
    assert_true(read.limit_wanted == 0.125 && read.report_seconds == 0.0625);
    read = written_and_read(&(struct gp_end){.added_seconds = 1});
    assert_int_equal(read.has_limit, 0);
    assert_true(read.limit_seconds == 0);
}

static void the_end_has_the_window_where_there_is_one(void **state)
{
    (void)state;
    const struct gp_end with = {.added_seconds = 1,
                                .seconds = 5,
                                .has_window = 1,
                                .outside_launches = 7,
                                .window_seconds = 2.5,
                                .window_added_seconds = 0.5};
    struct gp_end read = written_and_read(&with);
    assert_int_equal(read.has_window, 1);
    assert_int_equal(read.outside_launches, 7);
    assert_true(read.window_seconds == 2.5 && read.window_added_seconds == 0.5);
    /* Nothing is 0 that was not asked for. */
    read = written_and_read(&(struct gp_end){.added_seconds = 1});
    assert_int_equal(read.has_window, 0);
    size_t length;
    char *text = contents(&length);
    assert_null(strstr(text, "window"));
    assert_null(strstr(text, "outside"));
    free(text);
}

static void the_end_has_the_hosts_calls_where_they_were_counted(void **state)
{
    (void)state;
    const struct gp_end with = {.added_seconds = 1,
                                .has_host = 1,
                                .host_launches = 9,
                                .host = {[GP_HOST_COPY] = {7, 1024, 4, 2, 0.5, 1.5},
                                         [GP_HOST_WAIT] = {5, 0, 3, 1, 0.25, 2.5},
                                         [GP_HOST_ALLOCATION] = {3, 0, 1, 0, 0.125, 0},
                                         [GP_HOST_FREE] = {9, 0, 6, 5, 0.75, 3.5}}};
    struct gp_end read = written_and_read(&with);
    assert_int_equal(read.has_host, 1);
    assert_int_equal(read.host_launches, 9);
    assert_memory_equal(read.host, with.host, sizeof(with.host));
    /* Nothing is 0 that was not counted. */
    read = written_and_read(&(struct gp_end){.added_seconds = 1});
    assert_int_equal(read.has_host, 0);
    size_t length;
    char *text = contents(&length);
    assert_null(strstr(text, "host_"));
    free(text);
}

/* A line that lacks a part is one of no version. */
static void a_window_in_part_is_refused(void **state)
{
    (void)state;
    struct gp_end read = {0};
    const struct gp_profile_visitor visitor = {.user = &read, .end = keep_end};
    char why[512] = "";
    gp_writer_close(opened());
    FILE *f = fopen(path, "a");
    assert_non_null(f);
    fputs("{\"type\":\"end\",\"added_seconds\":1,\"outside_launches\":1}\n", f);
    fclose(f);
    assert_false(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    assert_non_null(strstr(why, "\"window_seconds\""));
}

static void a_line_cut_short_by_a_crash_is_left_out(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    gp_writer_launch(w, &launch);
    gp_writer_launch(w, &launch);
    gp_writer_close(w);
    size_t length;
    char *text = contents(&length);
    size_t last = length - 1;
    while (text[last - 1] != '\n')
        last--;
    char expected[600];
    snprintf(expected, sizeof(expected),
             "%s:5: the last line is incomplete and left out; the program was probably ended while "
             "writing it\n",
             path);
    for (size_t size = last + 1; size < length - 1; size += 13) {
        assert_int_equal(truncate(path, (off_t)size), 0);
        struct seen seen = {0};
        const struct gp_profile_visitor visitor = {.user = &seen, .launch = count_launch};
        struct gp_text notes = {0};
        char why[512] = "";
        assert_true(gp_profile_read(path, &visitor, &notes, why, sizeof(why)));
        assert_int_equal(seen.launches, 1);
        assert_string_equal(gp_text_string(&notes), expected);
        gp_text_free(&notes);
        write_text(text);
    }
    free(text);
}

static void a_last_line_without_newline_counts_when_complete(void **state)
{
    (void)state;
    write_text("{\"type\":\"header\",\"format\":1}\n"
               "{\"type\":\"launch\",\"index\":0,\"kernel\":\"k\",\"device\":0,\"grid\":[1,1,1],"
               "\"block\":[1,1,1]}");
    struct seen seen = {0};
    const struct gp_profile_visitor visitor = {.user = &seen, .launch = count_launch};
    char why[512] = "";
    assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    assert_int_equal(seen.launches, 1);
}

static void additions_of_later_versions_are_passed_over(void **state)
{
    (void)state;
    write_text("{\"type\":\"header\",\"format\":1,\"colour\":\"red\"}\n\n"
               "{\"type\":\"weather\",\"rain\":true}\n"
               "{\"type\":\"device\",\"ordinal\":0,\"cc_major\":9,\"cc_minor\":0,\"fans\":2}\n");
    struct seen seen = {0};
    const struct gp_profile_visitor visitor = {.user = &seen, .device = keep_device};
    char why[512] = "";
    assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    assert_int_equal(seen.devices, 1);
    assert_int_equal(seen.device.sm_count, 0);
}

#define LEFT_OUT "; the line is left out"
#define HEADER "{\"type\":\"header\",\"format\":1}\n"

static void foreign_files_are_reported_with_file_and_line(void **state)
{
    (void)state;
    fails_with("", ": empty, not a gpuprof profile");
    fails_with("once upon a time", ":1: not a gpuprof profile");
    fails_with("once\nupon\n",
               ":1: not a gpuprof profile: no JSON: '[' or '{' expected near 'once'");
    fails_with("[1,2]\n", ":1: not a gpuprof profile: there is no \"type\"");
    fails_with("{\"type\":\"device\"}\n", ":1: a profile begins with its header");
    fails_with("{\"type\":\"header\"}\n", ":1: \"format\" must be a whole number from 1");
    fails_with("{\"type\":\"header\",\"format\":3,\"gpuprof\":\"9.9\"}\n",
               ":1: format 3, written by gpuprof 9.9; this gpuprof reads formats up to 2");
    fails_with(HEADER "{\"type\":\"device\",\"ordinal\":0,\"cc_major\":9}\n",
               ":2: there is no \"cc_minor\"" LEFT_OUT);
    fails_with(HEADER "{\"type\":\"device\",\"ordinal\":\"x\"}\n",
               ":2: \"ordinal\" must be a whole number" LEFT_OUT);
    fails_with(HEADER "{\"type\":\"launch\",\"index\":0,\"kernel\":\"k\",\"device\":0,"
                      "\"grid\":[1,1]}\n",
               ":2: \"grid\" must be an array of three whole numbers" LEFT_OUT);
    fails_with(HEADER "{\"type\":\"launch\",\"index\":0,\"kernel\":\"k\",\"device\":0,"
                      "\"grid\":[1,1,1],\"block\":[1,1,1],\"counters\":{\"a\":\"b\"}}\n",
               ":2: counter \"a\" must be a number" LEFT_OUT);
    fails_with(HEADER "{\"type\":\"launch\",\"index\":0,\"kernel\":\"k\",\"device\":0,"
                      "\"grid\":[1,1,1],\"block\":[1,1,1],\"absent\":{\"a\":1}}\n",
               ":2: the reason why \"a\" is absent must be a string" LEFT_OUT);
    fails_with(HEADER "{\"type\":\"launch\",\"index\":0,\"registers\":-1}\n",
               ":2: there is no \"kernel\"" LEFT_OUT);
}

/* ---- launches that have early lines ---- */

/* The launches of a reading, in its order. */
struct given {
    size_t count;
    struct {
        uint64_t index;
        double value; /* of the first counter; -1 where that is absent */
    } launches[2 * GP_MAX_EARLY];
};

static bool note_given(void *user, const struct gp_record *l)
{
    struct given *given = user;
    assert_true(given->count < sizeof(given->launches) / sizeof(given->launches[0]));
    assert_int_equal(l->counter_count, 1);
    given->launches[given->count].index = l->index;
    given->launches[given->count++].value = l->counters[0].absent.cause ? -1 : l->counters[0].value;
    return true;
}

static struct given all_given(void)
{
    struct given given = {0};
    const struct gp_profile_visitor visitor = {.user = &given, .launch = note_given};
    char why[512] = "";
    if (!gp_profile_read(path, &visitor, NULL, why, sizeof(why)))
        fail_msg("%s", why);
    return given;
}

/* Early, its counter was not read yet; in full it is 10 times the index. */
static struct gp_record early_launch(uint64_t index)
{
    static const struct gp_counter counter = {
        "a__x.sum", 0, GP_REASON_TEXT(NOT_READ, "the process ended before it was read")};
    return (struct gp_record){
        .index = index, .kernel = "k", .counter_count = 1, .counters = &counter};
}

static void tell_early(struct gp_writer *w, uint64_t index)
{
    struct gp_record l = early_launch(index);
    assert_true(gp_writer_early(w, &l));
}

static void tell_in_full(struct gp_writer *w, uint64_t index)
{
    struct gp_record l = early_launch(index);
    struct gp_counter counter = {"a__x.sum", 10 * (double)index, GP_NO_REASON};
    l.counters = &counter;
    assert_true(gp_writer_launch(w, &l));
}

static void assert_given(const struct given *given, size_t at, uint64_t index, double value)
{
    assert_true(at < given->count);
    assert_int_equal(given->launches[at].index, index);
    assert_true(given->launches[at].value == value);
}

static void early_lines_count_where_the_process_was_killed(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    tell_early(w, 3);
    tell_early(w, 4);
    gp_writer_close(w);
    struct given given = all_given();
    assert_int_equal(given.count, 2);
    assert_given(&given, 0, 3, -1);
    assert_given(&given, 1, 4, -1);
}

static void full_lines_replace_early_ones(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    tell_early(w, 3);
    tell_early(w, 4);
    tell_early(w, 5);
    tell_in_full(w, 4);
    tell_in_full(w, 6); /* without an early word */
    tell_in_full(w, 3);
    gp_writer_close(w);
    struct given given = all_given();
    assert_int_equal(given.count, 4);
    assert_given(&given, 0, 4, 40);
    assert_given(&given, 1, 6, 60);
    assert_given(&given, 2, 3, 30);
    assert_given(&given, 3, 5, -1); /* in full it never was */
}

static void of_several_early_words_the_last_counts(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    tell_early(w, 3);
    tell_early(w, 4);
    tell_early(w, 3);
    tell_in_full(w, 4);
    gp_writer_close(w);
    struct given given = all_given();
    assert_int_equal(given.count, 2);
    assert_given(&given, 0, 4, 40);
    assert_given(&given, 1, 3, -1);
}

static void a_full_line_cut_short_leaves_the_early_word(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    tell_early(w, 3);
    tell_in_full(w, 3);
    gp_writer_close(w);
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(truncate(path, file.st_size - 5), 0);
    struct given given = all_given();
    assert_int_equal(given.count, 1);
    assert_given(&given, 0, 3, -1);
}

static void too_many_early_words_are_taken_as_they_are(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    for (uint64_t i = 0; i <= GP_MAX_EARLY; i++)
        tell_early(w, i);
    gp_writer_close(w);
    struct given given = all_given();
    assert_int_equal(given.count, GP_MAX_EARLY + 1);
    for (size_t i = 0; i < given.count; i++)
        assert_given(&given, i, i, -1);
}

static void an_early_word_is_read_as_strictly_as_a_launch(void **state)
{
    (void)state;
    fails_with(HEADER "{\"type\":\"early\",\"index\":0}\n", ":2: there is no \"kernel\"" LEFT_OUT);
}

/* ---- processes that do not come to their end ---- */

struct unfinished {
    int count;
    struct gp_unfinished last;
    double durations[8]; /* by index; -1: none */
};

static void keep_unfinished(void *user, const struct gp_unfinished *process)
{
    struct unfinished *u = user;
    u->count++;
    u->last = *process;
}

static bool keep_duration(void *user, const struct gp_record *l)
{
    struct unfinished *u = user;
    assert_true(l->index < 8);
    u->durations[l->index] = -1;
    for (size_t i = 0; i < l->counter_count; i++)
        if (strcmp(l->counters[i].name, GP_DURATION_COUNTER) == 0 && !l->counters[i].absent.cause)
            u->durations[l->index] = l->counters[i].value;
    return true;
}

static struct unfinished read_unfinished(void)
{
    struct unfinished u = {.count = 0};
    const struct gp_profile_visitor visitor = {
        .user = &u, .launch = keep_duration, .unfinished = keep_unfinished};
    char why[512] = "";
    if (!gp_profile_read(path, &visitor, NULL, why, sizeof(why)))
        fail_msg("%s", why);
    return u;
}

/* `duration`, `other`: whether the counter is there, with a value or without; 0, not at all. */
static void tell_some(struct gp_writer *w, uint64_t index, double duration, double other)
{
    const struct gp_counter all[] = {
        {GP_DURATION_COUNTER, duration, duration > 0 ? GP_NO_REASON : GP_REASON(NOT_READ)},
        {"x.sum", other, other > 0 ? GP_NO_REASON : GP_REASON(NOT_READ)},
    };
    struct gp_record l = launch;
    l.index = index;
    l.counters = duration != 0 ? all : all + 1;
    l.counter_count = duration != 0 ? 2 : 1;
    assert_true(gp_writer_early(w, &l));
}

static void launches_of_a_process_that_was_killed_are_counted(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    tell_some(w, 0, 5, -1); /* its time */
    tell_some(w, 1, 5, 7);  /* and another counter */
    tell_some(w, 2, -1, -1);
    tell_some(w, 3, -1, -1);
    assert_true(gp_writer_ended(w, 3, 30)); /* its time comes later */
    tell_some(w, 4, 0, -1);
    assert_true(gp_writer_ended(w, 4, 40)); /* nobody asked for it */
    tell_in_full(w, 5);
    assert_true(gp_writer_ended(w, 5, 99)); /* too late */
    assert_true(gp_writer_ended(w, 1000, 99));
    assert_true(gp_writer_so_far(w, 3, &so_far_times));
    gp_writer_close(w);
    struct unfinished u = read_unfinished();
    assert_int_equal(u.count, 1);
    assert_int_equal(u.last.pid, getpid());
    assert_false(u.last.torn);
    assert_int_equal(u.last.launches, 6); /* more lines than were counted */
    assert_int_equal(u.last.whole, 1);
    assert_int_equal(u.last.partly, 1);
    assert_int_equal(u.last.timed, 3);
    assert_int_equal(u.last.begun, 1);
    assert_true(u.durations[0] == 5 && u.durations[1] == 5 && u.durations[2] == -1 &&
                u.durations[3] == 30 && u.durations[4] == 40);
    w = opened();
    tell_some(w, 0, 5, -1);
    assert_true(gp_writer_so_far(w, 3, &so_far_times));
    assert_true(gp_writer_so_far(w, 70, &so_far_times));
    gp_writer_close(w);
    u = read_unfinished();
    assert_int_equal(u.last.launches, 70);
    assert_int_equal(u.last.timed, 1);
    w = opened();
    tell_some(w, 0, 5, -1);
    gp_writer_end(w, &(struct gp_end){0});
    gp_writer_close(w);
    u = read_unfinished();
    assert_int_equal(u.count, 0);
}

struct succession_seen {
    const struct gp_succession *written;
    bool seen;
};

static bool keep_succession(void *user, const struct gp_succession *s)
{
    struct succession_seen *all = user;
    const struct gp_succession *written = all->written;
    all->seen = true;
    assert_string_equal(s->kernel, written->kernel);
    assert_string_equal(s->before, written->before);
    assert_int_equal(s->device, written->device);
    assert_memory_equal(&s->configuration, &written->configuration, sizeof(s->configuration));
    assert_memory_equal(&s->configuration_before, &written->configuration_before,
                        sizeof(s->configuration_before));
    assert_int_equal(s->launches, written->launches);
    assert_int_equal(s->needing, written->needing);
    assert_int_equal(s->passed_bytes, written->passed_bytes);
    assert_int_equal(s->replaced_bytes, written->replaced_bytes);
    assert_int_equal(s->shared_bytes, written->shared_bytes);
    return true;
}

static bool note_succession(void *user, const char *type, const struct json_t *line)
{
    (void)line;
    *(bool *)user |= strcmp(type, "succession") == 0;
    return true;
}

static void successions_are_read_back(void **state)
{
    (void)state;
    struct gp_succession s = {.kernel = "_Z3addPf",
                              .device = 1,
                              .grid = {7, 6, 5},
                              .block = {4, 3, 2},
                              .before = "_Z5scalePf",
                              .configuration_before = {{9, 8, 7}, {6, 5, 4}, {2, 1, 1}, 3},
                              .launches = 11,
                              .needing = 12,
                              .passed_bytes = UINT64_C(1) << 60,
                              .replaced_bytes = 13,
                              .shared_bytes = 14};
    struct gp_object line = gp_object_new(NULL);
    char why[256];
    gp_object_put_fields(&line, gp_succession_fields, gp_succession_field_count, GP_FIELDS_ALL, &s);
    struct gp_writer *w = opened();
    assert_true(gp_writer_line(w, "succession", line.object));
    gp_writer_end(w, &(struct gp_end){0});
    gp_writer_close(w);
    struct succession_seen all = {.written = &s};
    const struct gp_profile_visitor visitor = {.user = &all, .succession = keep_succession};
    assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    assert_true(all.seen);
    bool is_other = false;
    const struct gp_profile_visitor others = {.user = &is_other, .other = note_succession};
    assert_true(gp_profile_read(path, &others, NULL, why, sizeof(why)));
    assert_true(is_other); /* so that nobody loses it */
}

static void the_lines_of_these_are_read_strictly(void **state)
{
    (void)state;
    fails_with(HEADER "{\"type\":\"so_far\"}\n",
               ":2: \"launches\" must be a whole number" LEFT_OUT);
    fails_with(HEADER "[\"ended\",1]\n", ":2: behind \"ended\" there must be two numbers" LEFT_OUT);
    fails_with(HEADER "[\"ended\",1,\"x\"]\n",
               ":2: behind \"ended\" there must be two numbers" LEFT_OUT);
    fails_with(HEADER "[\"left_out\",\"x\"]\n",
               ":2: behind \"left_out\" there must be a number" LEFT_OUT);
    fails_with(HEADER "{\"type\":\"sum\",\"kernel\":\"k\",\"device\":0,\"grid\":[1,1,1],"
                      "\"block\":[1,1,1],\"launched\":1}\n",
               ":2: there is no \"left_out\"" LEFT_OUT);
}

/* ---- files ---- */

static bool take_any(void *user, const struct gp_record *l)
{
    (void)user;
    (void)l;
    return true;
}

/* ---- a limit ---- */

/* Launches of the kernel, numbers from `first` on. */
static void write_launches(struct gp_writer *w, const char *kernel, uint64_t first, unsigned count)
{
    const struct gp_counter time = {GP_DURATION_COUNTER, 1000, GP_NO_REASON};
    for (unsigned i = 0; i < count; i++) {
        const struct gp_record one = {.index = first + i,
                                      .kernel = kernel,
                                      .grid = {1, 1, 1},
                                      .block = {32, 1, 1},
                                      .passes = 2,
                                      .counters = &time,
                                      .counter_count = 1};
        assert_true(gp_writer_launch(w, &one));
    }
}

static unsigned locks;
static struct gp_writer *beside; /* gets launches while it is written anew */

static void lock(void)
{
    if (locks++ == 1 && beside)
        write_launches(beside, "beside", 1000000, 100);
}

static void unlock(void)
{
}

static bool goes_on(void)
{
    return true;
}

static bool ends(void)
{
    return false;
}

/* The launches of a profile by kernel: those with a line, and those in sums. */
struct found {
    struct {
        const char *kernel;
        uint64_t lines, summed, early, first, last;
        double time_ns, largest_gap;
    } of[4];
    size_t count;
};

static size_t of_kernel(struct found *f, const char *kernel)
{
    size_t i = 0;
    while (i < f->count && strcmp(f->of[i].kernel, kernel) != 0)
        i++;
    assert_in_range(i, 0, 3);
    if (i == f->count)
        f->of[f->count++].kernel = strdup(kernel);
    return i;
}

static bool find_launch(void *user, const struct gp_record *l)
{
    struct found *f = user;
    const size_t i = of_kernel(f, l->kernel);
    if (f->of[i].lines++ == 0)
        f->of[i].first = l->index;
    else if ((double)(l->index - f->of[i].last) > f->of[i].largest_gap)
        f->of[i].largest_gap = (double)(l->index - f->of[i].last);
    f->of[i].last = l->index;
    f->of[i].time_ns += l->counters[0].value;
    return true;
}

static bool find_early_launch(void *user, const struct gp_record *l)
{
    struct found *f = user;
    f->of[of_kernel(f, l->kernel)].early++;
    return true;
}

static bool find_sum(void *user, const struct gp_sum *sum)
{
    struct found *f = user;
    const size_t i = of_kernel(f, sum->kernel);
    assert_int_equal(sum->timed, sum->left_out);
    assert_int_equal(sum->replays, sum->left_out);
    f->of[i].summed += sum->left_out;
    f->of[i].time_ns += sum->time_ns;
    return true;
}

static struct found found_in(const char *file)
{
    struct found f = {.count = 0};
    const struct gp_profile_visitor visitor = {
        .user = &f, .launch = find_launch, .early = find_early_launch, .sum = find_sum};
    char why[512] = "";
    if (!gp_profile_read(file, &visitor, NULL, why, sizeof(why)))
        fail_msg("%s", why);
    return f;
}

static void free_found(struct found *f)
{
    for (size_t i = 0; i < f->count; i++)
        free((char *)f->of[i].kernel);
}

static void assert_all_there(struct found *f, const char *kernel, uint64_t launches)
{
    const size_t i = of_kernel(f, kernel);
    assert_int_equal(f->of[i].lines + f->of[i].summed, launches);
    assert_true(f->of[i].time_ns == 1000.0 * (double)launches);
}

#define LIMIT 1000000

static void a_profile_stays_below_its_limit(void **state)
{
    (void)state;
    for (int compressed = 0; compressed < 2; compressed++) {
        char name[64];
        snprintf(name, sizeof(name), "%s%s", path, compressed ? ".zst" : "");
        char why[512];
        struct gp_writer *w = gp_writer_open(name, command, NULL, why, sizeof(why));
        assert_non_null(w);
        struct stat file;
        unsigned written_anew = 0;
        gp_writer_limit(w, LIMIT, false);
        write_launches(w, "rare", 0, 3);
        for (uint64_t i = 3; i < 100000; i++) {
            write_launches(w, "often", i, 1);
            if (!gp_writer_is_long(w))
                continue;
            gp_writer_thin(w, lock, unlock, goes_on);
            assert_int_equal(stat(name, &file), 0);
            assert_in_range(file.st_size, LIMIT / 10, LIMIT / 10 * 4);
            written_anew++;
        }
        assert_in_range(written_anew, compressed ? 2 : 4, 10);
        write_launches(w, "rare", 100000, 2);
        const struct gp_end end = {.added_seconds = 1};
        assert_true(gp_writer_sums(w, true));
        const uint64_t left_out = gp_writer_left_out(w);
        assert_true(gp_writer_end(w, &end));
        gp_writer_close(w);
        assert_int_equal(stat(name, &file), 0);
        assert_in_range(file.st_size, LIMIT / 10, LIMIT);
        struct found f = found_in(name);
        assert_int_equal(f.count, 2);
        assert_all_there(&f, "rare", 5);
        assert_all_there(&f, "often", 99997);
        assert_int_equal(f.of[of_kernel(&f, "rare")].lines, 5);
        const size_t often = of_kernel(&f, "often");
        assert_int_equal(f.of[often].summed, left_out);
        /* Evenly over the run, the first one among them. */
        const double mean_gap = 1e5 / (double)f.of[often].lines;
        assert_int_equal(f.of[often].first, 3);
        assert_true(f.of[often].largest_gap < 4 * mean_gap);
        assert_true(100000 - (double)f.of[often].last < 4 * mean_gap);
        free_found(&f);
        unlink(name);
    }
}

static void launches_that_come_meanwhile_are_in_the_new_file(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    const struct gp_record pending = {.index = 999999, .kernel = "pending", .grid = {1, 1, 1}};
    gp_writer_limit(w, LIMIT, false);
    for (uint64_t i = 0; !gp_writer_is_long(w); i++)
        write_launches(w, "often", i, 1);
    assert_true(gp_writer_early(w, &pending));
    locks = 0;
    beside = w;
    gp_writer_thin(w, lock, unlock, goes_on);
    beside = NULL;
    assert_int_equal(locks, 2);
    assert_false(gp_writer_is_long(w));
    write_launches(w, "behind", 2000000, 10);
    assert_true(gp_writer_sums(w, true));
    gp_writer_close(w);
    struct found f = found_in(path);
    assert_all_there(&f, "beside", 100);
    assert_all_there(&f, "behind", 10);
    assert_int_equal(f.of[of_kernel(&f, "pending")].early, 1);
    free_found(&f);
}

static void a_file_that_cannot_be_written_anew_stays(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    struct stat before, after;
    gp_writer_limit(w, LIMIT, false);
    uint64_t i = 0;
    for (; !gp_writer_is_long(w); i++)
        write_launches(w, "often", i, 1);
    assert_int_equal(stat(path, &before), 0);
    gp_writer_thin(w, lock, unlock, ends); /* the process ends */
    assert_true(gp_writer_is_long(w));
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    /* Somebody has moved it: it is not put back under the old name. */
    char moved[64];
    snprintf(moved, sizeof(moved), "%s.moved", path);
    assert_int_equal(rename(path, moved), 0);
    gp_writer_thin(w, lock, unlock, goes_on);
    assert_false(gp_writer_is_long(w));
    assert_int_equal(stat(path, &after), -1);
    for (; i < 20000; i++)
        write_launches(w, "often", i, 1);
    assert_true(gp_writer_sums(w, true));
    const struct gp_end end = {.added_seconds = 1};
    assert_true(gp_writer_end(w, &end));
    gp_writer_close(w);
    assert_int_equal(stat(moved, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    assert_in_range(after.st_size, LIMIT / 2, LIMIT);
    struct found f = found_in(moved);
    assert_all_there(&f, "often", 20000);
    free_found(&f);
    unlink(moved);
}

static void a_launch_with_an_early_line_counts_once(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    gp_writer_limit(w, LIMIT, false);
    uint64_t i = 0;
    for (; !gp_writer_is_long(w); i++)
        write_launches(w, "often", i, 1);
    for (uint64_t early = i; early < i + 20; early++) {
        const struct gp_record one = {.index = early, .kernel = "often", .grid = {1, 1, 1}};
        assert_true(gp_writer_early(w, &one));
    }
    gp_writer_thin(w, lock, unlock, goes_on); /* most of these lose their line */
    for (uint64_t early = i; early < i + 20; early++) {
        const struct gp_record one = {.index = early, .kernel = "often", .grid = {1, 1, 1}};
        gp_writer_early(w, &one);
    }
    write_launches(w, "often", i, 10);
    for (uint64_t more = i + 20; gp_writer_left_out(w) < 2 * i; more++) /* no room for a line */
        write_launches(w, "often", more, 1);
    const uint64_t rest = gp_writer_left_out(w);
    write_launches(w, "often", i + 10, 10);
    assert_true(gp_writer_left_out(w) >= rest + 9);
    assert_true(gp_writer_sums(w, true));
    gp_writer_close(w);
    struct found f = found_in(path);
    assert_int_equal(f.of[0].early, 0);
    free_found(&f);
}

static void lines_without_room_are_left_out_but_the_last(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    struct stat file;
    const struct gp_count count = {.kernel = "often", .grid = {1, 1, 1}, .launches = 3};
    gp_writer_limit(w, LIMIT, false);
    write_launches(w, "often", 0, 3);
    for (int i = 0; i < 20000; i++)
        assert_true(gp_writer_count(w, &count));
    assert_true(gp_writer_cut(w) > 0);
    const struct gp_end end = {.added_seconds = 1};
    assert_true(gp_writer_end(w, &end));
    gp_writer_close(w);
    assert_int_equal(stat(path, &file), 0);
    assert_in_range(file.st_size, LIMIT - 2 * GP_ROOM_FOR_END, LIMIT);
    struct found f = found_in(path);
    assert_all_there(&f, "often", 3);
    free_found(&f);
}

static void a_profile_that_nobody_asked_for_says_nothing(void **state)
{
    (void)state;
    char log[] = "/tmp/gpuprof-test-limit-XXXXXX";
    close(mkstemp(log));
    assert_int_equal(gp_log_open(log), 0);
    struct gp_writer *w = opened();
    struct stat file;
    gp_writer_limit(w, LIMIT, true);
    struct gp_record early = launch;
    early.index = INT64_MAX; /* no process makes more, and a line of JSON holds no more */
    for (int i = 0; i < 10000; i++) {
        assert_true(gp_writer_launch(w, &early));
        gp_writer_early(w, &early);
        assert_true(gp_writer_ended(w, 7, 1));
    }
    assert_true(gp_writer_so_far(w, 20000, &so_far_times)); /* that is known all the same */
    gp_writer_close(w);
    assert_int_equal(stat(path, &file), 0);
    assert_in_range(file.st_size, LIMIT / 2, LIMIT);
    struct unfinished u = {.count = 0};
    const struct gp_profile_visitor visitor = {
        .user = &u, .launch = take_any, .unfinished = keep_unfinished};
    char why[512] = "";
    assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    assert_int_equal(u.last.launches, 20000);
    assert_int_equal(stat(log, &file), 0);
    assert_int_equal(file.st_size, 0);
    unlink(log);
}

static void a_file_that_is_not_there_is_reported(void **state)
{
    (void)state;
    char why[512] = "";
    struct gp_profile_visitor visitor = {0};
    assert_false(gp_profile_read("/nonexistent/x", &visitor, NULL, why, sizeof(why)));
    assert_string_equal(why, "/nonexistent/x: No such file or directory");
    assert_null(gp_writer_open("/nonexistent/x", command, NULL, why, sizeof(why)));
    assert_string_equal(why, "/nonexistent/x: No such file or directory");
    assert_false(gp_profile_read("/", &visitor, NULL, why, sizeof(why)));
    assert_string_equal(why, "/: Is a directory");
}

static void a_visitor_ends_the_reading(void **state)
{
    (void)state;
    struct gp_writer *w = opened();
    gp_writer_launch(w, &launch);
    gp_writer_launch(w, &launch);
    gp_writer_close(w);
    struct seen seen = {.ends = true};
    const struct gp_profile_visitor visitor = {.user = &seen, .launch = count_launch};
    char why[512];
    assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
    assert_int_equal(seen.launches, 1);
}

/* A program may leave a child behind that has its descriptors. */
static void a_child_that_lives_on_does_not_keep_the_file(void **state)
{
    (void)state;
    int end[2];
    struct gp_writer *w = opened();
    assert_int_equal(pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(end[1]);
        _exit(read(end[0], &byte, 1) == 0 ? 0 : 1);
    }
    gp_writer_close(w);
    /* Another process again. */
    pid_t other = fork();
    if (other == 0) {
        char why[512] = "";
        _exit(gp_writer_open(path, command, NULL, why, sizeof(why)) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
    close(end[0]);
    close(end[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void a_full_disk_stops_the_writing_with_one_message(void **state)
{
    (void)state;
    char log[] = "/tmp/gpuprof-test-full-XXXXXX";
    close(mkstemp(log));
    assert_int_equal(gp_log_open(log), 0);
    struct gp_writer *w = opened();
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 600;
    setrlimit(RLIMIT_FSIZE, &small);
    bool first = gp_writer_launch(w, &launch);
    bool second = gp_writer_launch(w, &launch);
    bool third = gp_writer_device(w, &device);
    setrlimit(RLIMIT_FSIZE, &before);
    gp_writer_close(w);
    assert_false(first);
    assert_false(second);
    assert_false(third);
    char text[1024] = "", expected[1024];
    int fd = open(log, O_RDONLY);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    snprintf(expected, sizeof(expected),
             "gpuprof: %s: File too large; nothing more is recorded in this profile\n", path);
    assert_string_equal(text, expected);
    unlink(log);
}

static int allocations_left;

static void *failing_malloc(size_t size)
{
    return allocations_left-- > 0 ? malloc(size) : NULL;
}

static void running_out_of_memory_stops_the_writing(void **state)
{
    (void)state;
    int complete = 0;
    for (int n = 0; n < 200 && !complete; n++) {
        struct gp_writer *w = opened();
        json_set_alloc_funcs(failing_malloc, free);
        allocations_left = n;
        complete = gp_writer_launch(w, &launch);
        json_set_alloc_funcs(malloc, free);
        gp_writer_close(w);
        struct seen seen = {0};
        const struct gp_profile_visitor visitor = {
            .user = &seen, .header = check_header, .launch = check_launch};
        char why[512] = "";
        assert_true(gp_profile_read(path, &visitor, NULL, why, sizeof(why)));
        assert_int_equal(seen.launches, complete);
    }
    assert_true(complete);
}

static void its_own_command_line_is_found(void **state)
{
    (void)state;
    char why[512];
    struct gp_writer *w = gp_writer_open(path, NULL, NULL, why, sizeof(why));
    assert_non_null(w);
    gp_writer_close(w);
    char text[4096] = "";
    int fd = open(path, O_RDONLY);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    close(fd);
    assert_non_null(strstr(text, "test_profile"));
}

static void a_queue_gives_the_least_number_first(void **state)
{
    (void)state;
    struct gp_launch_queue queue = {0};
    struct gp_counter counter = {.name = "a"};
    struct gp_record launch = {.counter_count = 1, .counters = &counter};
    /* Three launches of each number, far from one another. */
    for (uint64_t i = 0; i < GP_QUEUE_MOST; i++) {
        assert_false(gp_launch_queue_is_full(&queue));
        launch.index = i * 7 % GP_QUEUE_MOST / 3;
        counter.value = (double)i;
        assert_true(gp_launch_queue_add(&queue, &launch));
    }
    assert_true(gp_launch_queue_is_full(&queue));
    uint64_t before = 0;
    double order = -1;
    for (int i = 0; i < GP_QUEUE_MOST / 2; i++) {
        const struct gp_record *first = gp_launch_queue_first(&queue);
        assert_true(first->index >= before);
        if (first->index == before)
            assert_true(first->counters[0].value > order);
        before = first->index;
        order = first->counters[0].value;
        gp_launch_queue_drop(&queue);
    }
    gp_launch_queue_free(&queue);
    assert_null(gp_launch_queue_first(&queue));
}

int main(void)
{
    device = h200;
    device.ordinal = 1;
    device.l2_bytes = 62914560;
    device.total_memory = 150754820096;
    device.cupti_version = 4000000000u;
    char name[] = "/tmp/gpuprof-test-profile-XXXXXX";
    close(mkstemp(name));
    path = name;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_launches_are_read_back),
        cmocka_unit_test(counts_are_read_back),
        cmocka_unit_test(the_end_is_read_back),
        cmocka_unit_test(the_end_has_the_limit_where_there_is_one),
        cmocka_unit_test(the_end_has_the_window_where_there_is_one),
        cmocka_unit_test(the_end_has_the_hosts_calls_where_they_were_counted),
        cmocka_unit_test(a_window_in_part_is_refused),
        cmocka_unit_test(the_header_has_the_settings),
        cmocka_unit_test(values_that_are_no_numbers_are_absent),
        cmocka_unit_test(a_line_cut_short_by_a_crash_is_left_out),
        cmocka_unit_test(a_last_line_without_newline_counts_when_complete),
        cmocka_unit_test(additions_of_later_versions_are_passed_over),
        cmocka_unit_test(foreign_files_are_reported_with_file_and_line),
        cmocka_unit_test(early_lines_count_where_the_process_was_killed),
        cmocka_unit_test(full_lines_replace_early_ones),
        cmocka_unit_test(of_several_early_words_the_last_counts),
        cmocka_unit_test(a_full_line_cut_short_leaves_the_early_word),
        cmocka_unit_test(too_many_early_words_are_taken_as_they_are),
        cmocka_unit_test(an_early_word_is_read_as_strictly_as_a_launch),
        cmocka_unit_test(launches_of_a_process_that_was_killed_are_counted),
        cmocka_unit_test(successions_are_read_back),
        cmocka_unit_test(the_lines_of_these_are_read_strictly),
        cmocka_unit_test(a_profile_stays_below_its_limit),
        cmocka_unit_test(launches_that_come_meanwhile_are_in_the_new_file),
        cmocka_unit_test(a_file_that_cannot_be_written_anew_stays),
        cmocka_unit_test(a_launch_with_an_early_line_counts_once),
        cmocka_unit_test(lines_without_room_are_left_out_but_the_last),
        cmocka_unit_test(a_profile_that_nobody_asked_for_says_nothing),
        cmocka_unit_test(a_file_that_is_not_there_is_reported),
        cmocka_unit_test(a_visitor_ends_the_reading),
        cmocka_unit_test(a_child_that_lives_on_does_not_keep_the_file),
        cmocka_unit_test(a_full_disk_stops_the_writing_with_one_message),
        cmocka_unit_test(running_out_of_memory_stops_the_writing),
        cmocka_unit_test(its_own_command_line_is_found),
        cmocka_unit_test(a_queue_gives_the_least_number_first),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(name);
    return failed;
}
