/* profile/: the causes of reasons, beside their texts, and in profiles that have the texts alone.
 */
#include "profile/object.h"
#include "profile/old_reasons.h"
#include "profile/reader.h"
#include "profile/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/gpuprof-test-causes-XXXXXX";

#define HEADER                                                                    \
    "{\"type\":\"header\",\"format\":2,\"pid\":1,\"columns\":[\"configuration\"," \
    "\"index\",\"reason\",\"values\",\"counters\"]}\n"
#define CONFIGURATION                                                                      \
    "{\"type\":\"configuration\",\"id\":1,\"kernel\":\"k\",\"device\":0,\"grid\":[1,1,1]," \
    "\"block\":[32,1,1]}\n"

static void write_text(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static char *content(void)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t length = fread(text, 1, sizeof(text) - 1, f);
    text[length] = '\0';
    fclose(f);
    return text;
}

static void read_with(bool (*launch)(void *, const struct gp_record *),
                      bool (*count)(void *, const struct gp_count *), void *user)
{
    const struct gp_profile_visitor visitor = {.launch = launch, .count = count, .user = user};
    char why[512] = "";
    if (!gp_profile_read(path, &visitor, NULL, why, sizeof(why)))
        fail_msg("%s", why);
}

/* ---- causes that are written ----------------------------------------------------------------- */

#define SPECIAL "a text of its own"

struct sample {
    struct gp_counter counters[3];
    struct gp_record launch;
};

/* One counter of the hardware, two of instrumented code, which have their lines apart. */
static void make(struct sample *s, enum gp_cause cause)
{
    *s = (struct sample){.counters = {{"a__x.sum", 0, {cause, SPECIAL}},
                                      {"smsp__sass_b.sum", 0, gp_reason_of(cause)},
                                      {"smsp__sass_c.sum", 7, GP_NO_REASON}},
                         .launch = {.index = (uint64_t)cause,
                                    .kernel = "k",
                                    .grid = {1, 1, 1},
                                    .block = {32, 1, 1},
                                    .skipped = gp_reason_of(cause),
                                    .counter_count = 3}};
    s->launch.counters = s->counters;
}

static void is(struct gp_reason reason, enum gp_cause cause, const char *text)
{
    if (reason.cause != cause)
        fail_msg("'%s' has the cause %s, not %s", text, gp_cause_word(reason.cause),
                 gp_cause_word(cause));
    assert_string_equal(reason.text, text);
}

static bool check_launch(void *user, const struct gp_record *l)
{
    const enum gp_cause cause = (enum gp_cause)l->index;
    is(l->skipped, cause, gp_cause_text(cause));
    assert_int_equal(l->counter_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct gp_counter *c = &l->counters[i];
        if (strcmp(c->name, "a__x.sum") == 0)
            is(c->absent, cause, SPECIAL);
        else if (strcmp(c->name, "smsp__sass_b.sum") == 0)
            is(c->absent, cause, gp_cause_text(cause));
        else
            assert_int_equal(c->absent.cause, GP_CAUSE_NONE);
    }
    ++*(int *)user;
    return true;
}

static bool check_count(void *user, const struct gp_count *c)
{
    is(c->reason, (enum gp_cause)c->launches, SPECIAL);
    ++*(int *)user;
    return true;
}

static void each_cause_is_read_back(void **state)
{
    (void)state;
    const char *const command[] = {"./app", NULL};
    char why[256] = "";
    struct gp_writer *w = gp_writer_open(path, command, NULL, why, sizeof(why));
    assert_non_null(w);
    for (int i = 1; i < GP_CAUSES; i++) {
        struct sample s;
        make(&s, (enum gp_cause)i);
        assert_true(i % 2 ? gp_writer_launch(w, &s.launch) : gp_writer_early(w, &s.launch));
        const struct gp_count count = {.kernel = "k",
                                       .grid = {1, 1, 1},
                                       .block = {32, 1, 1},
                                       .launches = (uint64_t)i,
                                       .reason = {(enum gp_cause)i, SPECIAL}};
        assert_true(gp_writer_count(w, &count));
    }
    gp_writer_close(w);
    int launches = 0, counts = 0;
    read_with(check_launch, NULL, &launches);
    read_with(NULL, check_count, &counts);
    assert_int_equal(launches, GP_CAUSES - 1);
    assert_int_equal(counts, GP_CAUSES - 1);
}

/* As `gpuprof report --print launches` prints them. */
static void each_cause_of_a_whole_object_is_read_back(void **state)
{
    (void)state;
    struct gp_text lines = {0};
    gp_text_add(&lines, "{\"type\":\"header\",\"format\":1,\"pid\":1}\n");
    for (int i = 1; i < GP_CAUSES; i++) {
        struct sample s;
        make(&s, (enum gp_cause)i);
        struct gp_object o = gp_object_launch("launch", &s.launch);
        assert_true(gp_object_finish(&o, &lines));
        gp_text_add(&lines, "\n");
    }
    write_text(gp_text_string(&lines));
    gp_text_free(&lines);
    int launches = 0;
    read_with(check_launch, NULL, &launches);
    assert_int_equal(launches, GP_CAUSES - 1);
}

static unsigned times(const char *text, const char *part)
{
    unsigned n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

static void a_word_is_written_once_for_each_reason(void **state)
{
    (void)state;
    const char *const command[] = {"./app", NULL};
    char why[256] = "";
    struct gp_counter counters[50];
    static char names[50][16];
    for (size_t i = 0; i < 50; i++) {
        snprintf(names[i], sizeof(names[i]), "a__%zu.sum", i);
        counters[i] = (struct gp_counter){names[i], 0, GP_REASON(NO_SUCH_COUNTER)};
    }
    struct gp_record launch = {.kernel = "k",
                               .grid = {1, 1, 1},
                               .block = {32, 1, 1},
                               .counter_count = 50,
                               .counters = counters};
    struct gp_writer *w = gp_writer_open(path, command, NULL, why, sizeof(why));
    assert_non_null(w);
    assert_true(gp_writer_launch(w, &launch));
    launch.index = 1;
    assert_true(gp_writer_launch(w, &launch));
    gp_writer_close(w);
    assert_int_equal(times(content(), "\"no-such-counter\""), 1);
}

/* ---- profiles of earlier and later versions -------------------------------------------------- */

static bool keep_launch(void *user, const struct gp_record *l)
{
    static char text[3][128];
    struct gp_reason *to = user;
    const struct gp_reason found[] = {l->skipped, l->counters[0].absent};
    for (size_t i = 0; i < 2; i++) {
        snprintf(text[i], sizeof(text[i]), "%s", found[i].text);
        to[i] = (struct gp_reason){found[i].cause, text[i]};
    }
    return true;
}

static void a_profile_with_the_texts_alone_has_causes(void **state)
{
    (void)state;
    struct gp_reason found[2] = {0};
    write_text(HEADER CONFIGURATION
               "{\"type\":\"reason\",\"id\":2,\"reason\":\"its memory (60 GB) is more than "
               "GPUPROF_MEMORY allows (13 GB)\"}\n"
               "{\"type\":\"counters\",\"id\":3,\"names\":[],\"absent\":{\"a__x.sum\":\"counted in "
               "other launches\"}}\n"
               "[\"launch\",1,0,2,0,3]\n");
    read_with(keep_launch, NULL, found);
    is(found[0], GP_CAUSE_OVER_LIMIT,
       "its memory (60 GB) is more than GPUPROF_MEMORY allows (13 GB)");
    is(found[1], GP_CAUSE_COUNTED_ELSEWHERE, "counted in other launches");
    /* Format 1. */
    write_text("{\"type\":\"header\",\"format\":1,\"pid\":1}\n"
               "{\"type\":\"launch\",\"index\":0,\"kernel\":\"k\",\"device\":0,\"grid\":[1,1,1],"
               "\"block\":[1,1,1],\"skipped\":\"it communicates with other GPUs or processes\","
               "\"counters\":{},\"absent\":{\"a__x.sum\":\"nobody knows\"}}\n");
    read_with(keep_launch, NULL, found);
    is(found[0], GP_CAUSE_COMMUNICATES, "it communicates with other GPUs or processes");
    is(found[1], GP_CAUSE_OTHER, "nobody knows");
}

static void the_texts_of_earlier_versions_have_causes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum gp_cause cause;
    } old[] = {
        {"this GPU has no such counter", GP_CAUSE_NO_SUCH_COUNTER},
        {"the process ended before it was read", GP_CAUSE_NOT_READ},
        {"counted in other launches (GPUPROF_REPLAY=off)", GP_CAUSE_COUNTED_ELSEWHERE},
        {"counted in other launches: instrumented code takes long, and has taken all its time "
         "(GPUPROF_TIMEOUT)",
         GP_CAUSE_INSTRUMENTED_ENOUGH},
        {"no permission to read the GPU's counters; run as root", GP_CAUSE_NO_PERMISSION},
        {"the GPU's counters are in use by another process (a profiler or a monitor; for DCGM: "
         "dcgmi profile --pause)",
         GP_CAUSE_COUNTERS_IN_USE},
        {"the program's own tool used CUPTI at its launch", GP_CAUSE_PROGRAMS_TOOL},
        {"a stream was being captured at its launch", GP_CAUSE_IN_CAPTURE},
        {"a stream was being captured before it was measured", GP_CAUSE_IN_CAPTURE},
        {"it waits for the host or for other work, or takes longer than GPUPROF_TIMEOUT",
         GP_CAUSE_DOES_NOT_END},
        {"its launch failed, or its context had failed before", GP_CAUSE_LAUNCH_FAILED},
        {"it wrote memory that its parameters do not lead to", GP_CAUSE_NOT_COPIED},
        {"no room for a copy of the program's memory on the device or the host", GP_CAUSE_NO_ROOM},
        {"no room beside the copies of launches that are to be replayed", GP_CAUSE_ROOM_HELD},
        {"out of memory", GP_CAUSE_NO_MEMORY},
        {"cuptiRangeProfilerStart: CUPTI_ERROR_UNKNOWN", GP_CAUSE_CUPTI_FAILED},
        {"CUDA_ERROR_LAUNCH_FAILED", GP_CAUSE_DRIVER_FAILED},
        {"it executes an instruction we do not know (0x3ff)", GP_CAUSE_CODE_UNKNOWN},
        {"the kernel's module prints", GP_CAUSE_RUNS_ONCE},
        {"the kernel's module launches graphs from the device", GP_CAUSE_RUNS_ONCE},
        {"the program writes surfaces that cannot be kept track of", GP_CAUSE_REPLAY_BARRED},
        {"it had not ended when its context or its process did", GP_CAUSE_CONTEXT_GONE},
        {"its graph was launched as it is, and timed as a whole", GP_CAUSE_GRAPH_AS_A_WHOLE},
        {"a reason that nobody has ever given", GP_CAUSE_OTHER},
    };
    for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        is(gp_reason_read(old[i].text, NULL), old[i].cause, old[i].text);
    /* A text that is a cause's own is that cause's, also without the word. */
    for (int i = 1; i < GP_CAUSES; i++)
        is(gp_reason_read(gp_cause_text((enum gp_cause)i), NULL), (enum gp_cause)i,
           gp_cause_text((enum gp_cause)i));
    /* The word counts, not the text. */
    is(gp_reason_read("out of memory", "in-capture"), GP_CAUSE_IN_CAPTURE, "out of memory");
}

/* The cause is of a later version, or of no use. */
static void a_cause_that_is_not_known_costs_nothing(void **state)
{
    (void)state;
    struct gp_reason found[2] = {0};
    write_text(HEADER CONFIGURATION
               "{\"type\":\"reason\",\"id\":2,\"reason\":\"out of memory\",\"cause\":\"new\"}\n"
               "{\"type\":\"counters\",\"id\":3,\"names\":[],\"absent\":{\"a__x.sum\":\"why\"},"
               "\"causes\":{\"why\":\"newer\",\"other\":7}}\n"
               "[\"launch\",1,0,2,0,3]\n");
    read_with(keep_launch, NULL, found);
    is(found[0], GP_CAUSE_OTHER, "out of memory");
    is(found[1], GP_CAUSE_OTHER, "why");
    write_text(HEADER CONFIGURATION
               "{\"type\":\"reason\",\"id\":2,\"reason\":\"out of memory\",\"cause\":12}\n"
               "{\"type\":\"counters\",\"id\":3,\"names\":[],\"absent\":{\"a__x.sum\":\"why\"},"
               "\"causes\":[1]}\n"
               "[\"launch\",1,0,2,0,3]\n");
    read_with(keep_launch, NULL, found);
    is(found[0], GP_CAUSE_NO_MEMORY, "out of memory");
    is(found[1], GP_CAUSE_OTHER, "why");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_is_read_back),
        cmocka_unit_test(each_cause_of_a_whole_object_is_read_back),
        cmocka_unit_test(a_word_is_written_once_for_each_reason),
        cmocka_unit_test(a_profile_with_the_texts_alone_has_causes),
        cmocka_unit_test(the_texts_of_earlier_versions_have_causes),
        cmocka_unit_test(a_cause_that_is_not_known_costs_nothing),
    };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
