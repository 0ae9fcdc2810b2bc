/* profile/: format 2. Shared data are given once; a line that is damaged or cut short costs
 * itself only. */
#include "profile/number.h"
#include "profile/reader.h"
#include "profile/said.h"
#include "profile/writer.h"

#include <fcntl.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char plain[] = "/tmp/gpuprof-test-once-XXXXXX";
static char packed[] = "/tmp/gpuprof-test-once-XXXXXX.zst";

/* As many as the default set has on compute capability 9.0: the hardware's first, half of them
 * ratios with all digits that a double has. */
#define COUNTERS 88
#define OF_HARDWARE 28

/* A launch with as many counters as the default set has, those of instrumented code as in others of
 * its kernel. */
struct sample {
    char kernel[64];
    char names[COUNTERS][48];
    struct gp_counter counters[COUNTERS];
    struct gp_record launch;
};

static void make(struct sample *s, uint64_t index, unsigned kernel)
{
    snprintf(s->kernel, sizeof(s->kernel), "_Z%uvectorized_elementwise_kernel", kernel);
    for (unsigned i = 0; i < COUNTERS; i++) {
        bool instrumented = i >= OF_HARDWARE;
        snprintf(s->names[i], sizeof(s->names[i]), "smsp__%scounter_of_something_%u.sum",
                 instrumented ? "sass_" : "", i);
        double value = instrumented ? 1e6 * (kernel + i) : (double)(index * 1234567 % 100000000);
        if (!instrumented && i % 2)
            value = (value + 1) / 12345.67;
        s->counters[i] = (struct gp_counter){.name = s->names[i], .value = value};
    }
    s->launch = (struct gp_record){.index = index,
                                   .kernel = s->kernel,
                                   .grid = {1 + kernel, 1, 1},
                                   .block = {256, 1, 1},
                                   .passes = 3,
                                   .saved_bytes = 100000000,
                                   .overhead_ms = 0.123456789 + (double)index,
                                   .counter_count = COUNTERS,
                                   .counters = s->counters};
}

static void make_early(struct sample *s)
{
    for (unsigned i = 0; i < OF_HARDWARE; i++)
        s->counters[i].absent = GP_REASON(NOT_READ);
}

static struct gp_writer *opened(const char *path)
{
    char why[256] = "";
    struct gp_writer *w =
        gp_writer_open(path, (const char *const[]){"./app", NULL}, NULL, why, sizeof(why));
    if (!w)
        fail_msg("%s", why);
    return w;
}

static void write_launches(struct gp_writer *w, uint64_t first, unsigned count, unsigned kernels)
{
    struct sample s;
    for (uint64_t i = first; i < first + count; i++) {
        make(&s, i, (unsigned)(i % kernels));
        make_early(&s);
        assert_true(gp_writer_early(w, &s.launch));
        make(&s, i, (unsigned)(i % kernels));
        assert_true(gp_writer_launch(w, &s.launch));
    }
}

static off_t size_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_size;
}

/* Every launch has to be as it was made; `seen` counts them. */
struct seen {
    unsigned kernels, launches, others;
};

/* Whole numbers are exact, others have ten digits. */
static bool is_as_measured(double read, double written)
{
    return read == written ||
           (written != floor(written) && fabs(read - written) <= 5e-10 * fabs(written));
}

static bool check_launch(void *user, const struct gp_record *l)
{
    struct seen *seen = user;
    struct sample s;
    make(&s, l->index, (unsigned)(l->index % seen->kernels));
    assert_string_equal(l->kernel, s.kernel);
    assert_int_equal(l->grid[0], s.launch.grid[0]);
    assert_int_equal(l->passes, 3);
    assert_int_equal(l->saved_bytes, 100000000);
    assert_true(fabs(l->overhead_ms - s.launch.overhead_ms) < 0.00051);
    assert_int_equal(l->skipped.cause, GP_CAUSE_NONE);
    assert_int_equal(l->counter_count, COUNTERS);
    for (unsigned i = 0; i < COUNTERS; i++) {
        bool found = false;
        for (size_t k = 0; k < l->counter_count && !found; k++) {
            found = strcmp(l->counters[k].name, s.names[i]) == 0;
            if (found)
                assert_true(l->counters[k].absent.cause ||
                            is_as_measured(l->counters[k].value, s.counters[i].value));
        }
        assert_true(found);
    }
    seen->launches++;
    return true;
}

static bool count_other(void *user, const char *type, const struct json_t *line)
{
    ((struct seen *)user)->others++;
    assert_string_equal(type, "source");
    assert_int_equal(json_integer_value(json_object_get(line, "line")), 12);
    return true;
}

/* The answer of gp_profile_read. */
static bool read_profile(const char *path, struct seen *seen, struct gp_text *notes, char *why)
{
    const struct gp_profile_visitor visitor = {
        .user = seen, .launch = check_launch, .other = count_other};
    *why = '\0';
    return gp_profile_read(path, &visitor, notes, why, 512);
}

static unsigned read_back(const char *path, unsigned kernels)
{
    struct seen seen = {.kernels = kernels};
    char why[512];
    if (!read_profile(path, &seen, NULL, why))
        fail_msg("%s", why);
    return seen.launches;
}

static void a_launch_takes_some_400_bytes_at_most(void **state)
{
    (void)state;
    struct gp_writer *w = opened(plain);
    write_launches(w, 0, 100, 10); /* all that is said once is said */
    off_t before = size_of(plain);
    write_launches(w, 100, 1000, 10);
    off_t each = (size_of(plain) - before) / 1000;
    gp_writer_close(w);
    assert_in_range(each, 100, 410);
    assert_int_equal(read_back(plain, 10), 1100);
}

/* Copies a profile as another program may write it: a blank before and behind each comma and colon,
 * and lines that end in \r. */
static void copy_with_blanks(const char *from, const char *to)
{
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    bool in_string = false;
    int c, before = 0;
    assert_non_null(in);
    assert_non_null(out);
    for (; (c = fgetc(in)) != EOF; before = c) {
        in_string ^= c == '"' && before != '\\';
        bool parts = !in_string && (c == ',' || c == ':' || c == '[' || c == ']');
        fprintf(out, parts ? " %c " : c == '\n' ? "\r%c" : "%c", c);
    }
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void blanks_between_the_parts_change_nothing(void **state)
{
    (void)state;
    struct gp_writer *w = opened(plain);
    write_launches(w, 0, 500, 10);
    gp_writer_close(w);
    copy_with_blanks(plain, packed);
    assert_int_equal(read_back(packed, 10), 500);
}

/* Launches that have nothing in common but their counters' names, so many that the writer has to
 * forget its definitions. */
static void forgotten_definitions_are_given_again(void **state)
{
    (void)state;
    unsigned many = GP_MOST_SAID + 1000;
    struct gp_writer *w = opened(plain);
    struct sample s;
    for (unsigned i = 0; i < many; i++) {
        make(&s, i, i);
        assert_true(gp_writer_launch(w, &s.launch));
    }
    gp_writer_close(w);
    assert_int_equal(read_back(plain, many), many);
}

static void a_compressed_profile_is_smaller_and_reads_the_same(void **state)
{
    (void)state;
    struct gp_writer *w = opened(plain);
    write_launches(w, 0, 500, 10);
    gp_writer_close(w);
    w = opened(packed);
    write_launches(w, 0, 500, 10);
    /* A reader beside the program that writes sees all that was written. */
    struct seen seen = {.kernels = 10};
    struct gp_text notes = {0};
    char why[512], expected[256];
    assert_true(read_profile(packed, &seen, &notes, why));
    assert_int_equal(seen.launches, 500);
    snprintf(expected, sizeof(expected),
             "%s: the file was not completed; the program was probably ended\n", packed);
    assert_string_equal(gp_text_string(&notes), expected);
    gp_text_free(&notes);
    gp_writer_close(w);
    assert_true(size_of(packed) < size_of(plain) * 2 / 3);
    assert_int_equal(read_back(packed, 10), 500);
}

static void a_compressed_profile_cut_short_has_all_that_came_before(void **state)
{
    (void)state;
    struct gp_writer *w = opened(packed);
    write_launches(w, 0, 20, 3);
    gp_writer_close(w);
    unsigned before = 21;
    for (off_t size = size_of(packed); size > 400; size -= 7) {
        assert_int_equal(truncate(packed, size), 0);
        struct seen seen = {.kernels = 3};
        struct gp_text notes = {0};
        char why[512];
        if (!read_profile(packed, &seen, &notes, why))
            fail_msg("%ld: %s", (long)size, why);
        /* Seven bytes are less than a launch. */
        assert_true(seen.launches <= before && seen.launches + 2 > before);
        assert_true(size + 1 > size_of(packed) || notes.length > 0 || seen.launches == 20);
        before = seen.launches;
        gp_text_free(&notes);
    }
    assert_true(before < 10);
}

static void damage(const char *path, off_t at)
{
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "\xff{", 2, at), 2);
    close(fd);
}

static void a_damaged_profile_gives_the_rest(void **state)
{
    (void)state;
    struct gp_writer *w = opened(plain);
    write_launches(w, 0, 20, 2);
    off_t middle = size_of(plain);
    write_launches(w, 20, 30, 2);
    gp_writer_close(w);
    damage(plain, middle + 1);
    struct seen seen = {.kernels = 2};
    char why[512];
    assert_false(read_profile(plain, &seen, NULL, why));
    assert_non_null(strstr(why, "; the line is left out"));
    assert_int_equal(seen.launches, 50); /* the damaged one was an early line */
    damage(plain, middle + 200);
    damage(plain, middle + 500);
    memset(&seen, 0, sizeof(seen));
    seen.kernels = 2;
    assert_false(read_profile(plain, &seen, NULL, why));
    assert_non_null(strstr(why, "; this line and 2 more are left out"));
    assert_in_range(seen.launches, 45, 50);
}

static void damaged_compression_gives_the_lines_before(void **state)
{
    (void)state;
    struct gp_writer *w = opened(packed);
    write_launches(w, 0, 50, 2);
    off_t middle = size_of(packed);
    write_launches(w, 50, 50, 2);
    gp_writer_close(w);
    for (off_t at = middle; at < middle + 6; at++)
        damage(packed, at);
    struct seen seen = {.kernels = 2};
    char why[512];
    assert_false(read_profile(packed, &seen, NULL, why));
    assert_non_null(strstr(why, "damaged"));
    assert_non_null(strstr(why, "left out"));
    assert_in_range(seen.launches, 50, 52);
}

static void lines_of_other_rooms_come_through(void **state)
{
    (void)state;
    struct gp_writer *w = opened(plain);
    assert_true(gp_writer_line(w, "source", json_pack("{s:i}", "line", 12)));
    write_launches(w, 0, 3, 2);
    gp_writer_close(w);
    FILE *f = fopen(plain, "a");
    assert_non_null(f);
    fputs("[\"samples\",1,2,3]\n", f);
    fclose(f);
    struct seen seen = {.kernels = 2};
    char why[512];
    assert_true(read_profile(plain, &seen, NULL, why));
    assert_int_equal(seen.others, 1);
    assert_int_equal(seen.launches, 3);
}

/* A launch with each kind of value that differs from one launch to the next: a time that is in
 * doubt, a launch's reason, and a counter's. */
static struct gp_record doubtful(uint64_t index, struct gp_counter counters[2])
{
    const struct gp_reason reasons[] = {GP_NO_REASON,
                                        GP_REASON_TEXT(NO_PERMISSION, "it is forbidden"),
                                        GP_REASON_TEXT(COUNTERS_IN_USE, "it is busy")};
    counters[0] = (struct gp_counter){.name = "a.sum", .absent = reasons[index % 3]};
    counters[1] = (struct gp_counter){.name = "b.sum", .absent = reasons[(index / 3) % 3]};
    counters[0].value = counters[1].value = 7;
    return (struct gp_record){.index = index,
                              .kernel = index % 2 ? "odd" : "even",
                              .grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .doubt_ms = (double)(index % 4) / 1e3,
                              .skipped = reasons[(index / 9) % 3],
                              .counter_count = 2,
                              .counters = counters};
}

static struct gp_reason absence_of(const struct gp_record *l, const char *name)
{
    for (size_t i = 0; i < l->counter_count; i++)
        if (strcmp(l->counters[i].name, name) == 0)
            return l->counters[i].absent;
    fail_msg("no counter %s", name);
    return GP_NO_REASON;
}

static void is_same_reason(struct gp_reason read, struct gp_reason written)
{
    assert_int_equal(read.cause, written.cause);
    if (written.cause)
        assert_string_equal(read.text, written.text);
}

static bool check_doubtful(void *user, const struct gp_record *l)
{
    struct gp_counter counters[2];
    struct gp_record expected = doubtful(l->index, counters);
    assert_string_equal(l->kernel, expected.kernel);
    assert_true(fabs(l->doubt_ms - expected.doubt_ms) < 1e-9);
    is_same_reason(l->skipped, expected.skipped);
    for (size_t i = 0; i < 2; i++)
        is_same_reason(absence_of(l, counters[i].name), counters[i].absent);
    ++*(unsigned *)user;
    return true;
}

static void doubts_and_reasons_are_those_of_each_launch(void **state)
{
    (void)state;
    struct gp_writer *w = opened(plain);
    for (uint64_t i = 0; i < 2000; i++) {
        struct gp_counter counters[2];
        struct gp_record launch = doubtful(i, counters);
        assert_true(gp_writer_launch(w, &launch));
    }
    gp_writer_close(w);
    unsigned seen = 0;
    char why[512];
    const struct gp_profile_visitor visitor = {.user = &seen, .launch = check_doubtful};
    assert_true(gp_profile_read(plain, &visitor, NULL, why, sizeof(why)));
    assert_int_equal(seen, 2000);
}

static bool has_no_doubt(void *user, const struct gp_record *l)
{
    ++*(unsigned *)user;
    return l->doubt_ms == 0 && l->start_ms == 2.5;
}

/* Profiles have that column since times may be in doubt. */
static void an_older_profile_has_no_time_in_doubt(void **state)
{
    (void)state;
    FILE *f = fopen(plain, "w");
    assert_non_null(f);
    fputs("{\"type\":\"header\",\"format\":2,\"columns\":[\"configuration\",\"index\",\"start_ms\","
          "\"reason\",\"values\",\"counters\"]}\n"
          "{\"type\":\"configuration\",\"id\":1,\"kernel\":\"k\",\"device\":0,\"grid\":[1,1,1],"
          "\"block\":[1,1,1]}\n"
          "{\"type\":\"counters\",\"id\":2,\"names\":[\"a\"]}\n"
          "[\"launch\",1,7,2.5,0,0,2,1]\n",
          f);
    fclose(f);
    unsigned seen = 0;
    char why[512];
    const struct gp_profile_visitor visitor = {.user = &seen, .launch = has_no_doubt};
    assert_true(gp_profile_read(plain, &visitor, NULL, why, sizeof(why)));
    assert_int_equal(seen, 1);
}

static const char *own_name(void *user, const char *name)
{
    ++*(int *)user;
    return strcmp(name, "smsp__counter_of_something_0.sum") == 0 ? "mine" : NULL;
}

static bool has_own_name(void *user, const struct gp_record *l)
{
    (void)user;
    bool mine = false;
    for (size_t i = 0; i < l->counter_count; i++)
        mine |= strcmp(l->counters[i].name, "mine") == 0;
    assert_true(mine);
    return true;
}

static void names_are_asked_for_once_and_can_be_the_users_own(void **state)
{
    (void)state;
    struct gp_writer *w = opened(plain);
    write_launches(w, 0, 30, 2);
    gp_writer_close(w);
    int asked = 0;
    char why[512];
    struct gp_profile_visitor visitor = {.user = &asked, .counter_name = own_name};
    assert_true(gp_profile_read(plain, &visitor, NULL, why, sizeof(why)));
    assert_int_equal(asked, OF_HARDWARE +
                                COUNTERS); /* of early launches, of others, of instrumented code */
    visitor.launch = has_own_name;
    assert_true(gp_profile_read(plain, &visitor, NULL, why, sizeof(why)));
}

static bool take_any(void *user, const struct gp_record *l)
{
    (void)user;
    assert_int_equal(l->index, 7);
    assert_int_equal(l->counter_count, 4);
    return true;
}

static void fails_with(const char *line, const char *expected)
{
    FILE *f = fopen(plain, "w");
    assert_non_null(f);
    fputs("{\"type\":\"header\",\"format\":2,\"columns\":[\"configuration\",\"index\",\"later\","
          "\"reason\",\"values\",\"counters\"]}\n"
          "{\"type\":\"configuration\",\"id\":1,\"kernel\":\"k\",\"device\":0,\"grid\":[1,1,1],"
          "\"block\":[1,1,1]}\n"
          "{\"type\":\"counters\",\"id\":2,\"names\":[\"a\",\"b\"]}\n"
          "{\"type\":\"values\",\"id\":3,\"values\":[2,1,2]}\n"
          "[\"launch\",1,7,9.5,0,3,2,1,2]\n",
          f);
    fprintf(f, "%s\n", line);
    fclose(f);
    const struct gp_profile_visitor v = {.launch = take_any};
    char why[512], full[600];
    snprintf(full, sizeof(full), "%s:6: %s; the line is left out", plain, expected);
    assert_false(gp_profile_read(plain, &v, NULL, why, sizeof(why)));
    assert_string_equal(why, full);
}

static void lines_that_make_no_sense_say_why(void **state)
{
    (void)state;
    fails_with("[\"launch\",1,7,0,0,3,2,1]", "there must be 2 values behind the columns");
    fails_with("[\"launch\",1,7,0,0,3,2,1,2,3]", "there must be 2 values behind the columns");
    fails_with("[\"launch\",1,7,0,0,3,2,1,x]", "there must be 2 values behind the columns");
    fails_with("[\"launch\",1,-7,0,0,3,2,1,2]", "no number where one is expected");
    fails_with("[\"launch\",1,18446744073709551616,0,0,3,2,1,2]",
               "no number where one is expected");
    fails_with("[\"launch\",9,7,0,0,3,2,1,2]", "a line that it refers to is not there");
    fails_with("[\"launch\",1,7,0,1,3,2,1,2]", "a line that it refers to is not there");
    fails_with("[\"launch\",1,7,0,0,2,2,1,2]", "a line that it refers to is not there");
    fails_with("[\"launch\",1,7,0,0,3,2,1,2", "the line does not end in ]");
    fails_with("{\"type\":\"reason\",\"id\":0,\"reason\":\"x\"}",
               "\"id\" must be a whole number from 1 to 16384");
    fails_with("{\"type\":\"reason\",\"id\":16385,\"reason\":\"x\"}",
               "\"id\" must be a whole number from 1 to 16384");
    fails_with("{\"type\":\"reason\",\"id\":4}", "\"reason\" must be a string");
    fails_with("{\"type\":\"values\",\"id\":4,\"values\":[2,1]}", "there must be 2 values");
    fails_with("{\"type\":\"values\",\"id\":4,\"values\":[1,1]}",
               "the names that its values belong to are not there");
    fails_with("{\"type\":\"counters\",\"id\":4,\"names\":[1]}",
               "names and reasons must be strings");
    fails_with("{\"type\":\"counters\",\"id\":4}", "\"names\" must be an array");
    fails_with("{\"type\":\"configuration\",\"id\":4}", "there is no \"kernel\"");
}

static void assert_number(double value)
{
    struct gp_text text = {0};
    double back = 0;
    gp_number_add(&text, value);
    const char *at = text.data, *end = text.data + text.length;
    assert_true(gp_number_read(&at, end, &back));
    assert_ptr_equal(at, end);
    assert_memory_equal(&back, &value, sizeof(value));
    gp_text_free(&text);
}

static void numbers_read_back_as_they_were(void **state)
{
    (void)state;
    const double odd[] = {0,
                          -0.0,
                          1,
                          -1,
                          0.1,
                          DBL_MAX,
                          5e-324,
                          DBL_MIN,
                          DBL_EPSILON,
                          1e22,
                          1e23,
                          1e-22,
                          9007199254740993.0,
                          -1e300,
                          123456789.125,
                          0.30000000000000004};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        assert_number(odd[i]);
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 50000; i++) {
        double value;
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&value, &bits, sizeof(value));
        if (isfinite(value))
            assert_number(value);
        assert_number((double)(bits % 1000000007) / 1024);
    }
    const char *none[] = {"", "-", ".5", "1.", "1e", "1e+", "01", "nan", "inf", "1e999", "+1"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        const char *at = none[i];
        double value;
        bool read = gp_number_read(&at, none[i] + strlen(none[i]), &value);
        assert_true(!read || *at);
    }
}

int main(void)
{
    close(mkstemp(plain));
    close(mkstemps(packed, 4));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_takes_some_400_bytes_at_most),
        cmocka_unit_test(blanks_between_the_parts_change_nothing),
        cmocka_unit_test(forgotten_definitions_are_given_again),
        cmocka_unit_test(a_compressed_profile_is_smaller_and_reads_the_same),
        cmocka_unit_test(a_compressed_profile_cut_short_has_all_that_came_before),
        cmocka_unit_test(a_damaged_profile_gives_the_rest),
        cmocka_unit_test(damaged_compression_gives_the_lines_before),
        cmocka_unit_test(lines_of_other_rooms_come_through),
        cmocka_unit_test(doubts_and_reasons_are_those_of_each_launch),
        cmocka_unit_test(an_older_profile_has_no_time_in_doubt),
        cmocka_unit_test(names_are_asked_for_once_and_can_be_the_users_own),
        cmocka_unit_test(lines_that_make_no_sense_say_why),
        cmocka_unit_test(numbers_read_back_as_they_were),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(plain);
    unlink(packed);
    return failed;
}
