/* counters/plan: each row is a launch: the means to count with, the facts of the launch, the result
 * of each pass, and the passes that follow. */
#include "counters/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The letters of a row. The means: */
#define SESSION "s"      /* the Range Profiler can count */
#define INSTRUMENTED "i" /* and counters of instrumented code are wanted */
#define STANDS "b"       /* it stands in that pass */
#define FINGERPRINTS "f" /* the SASS metrics can take one */
#define COUNTS "c"       /* they count, without a session */
#define HELD "h"         /* it makes its passes sweep by sweep; | is the end of one */
/* The facts of the launch: */
#define EXPECTED_NEW "n" /* it will be like none before */
#define PAYS "p"         /* a fingerprint does */
#define ASSUMED "a"      /* it is assumed to be like others */
#define LONG "t"         /* its instrumented pass takes too long */
/* The decisions on a held launch: */
#define IDENTIFIED "T" /* its fingerprint is taken though it was assumed */
#define SHARED "g"     /* it is counted together with others, or not at all */
#define CONFIRMED "C"  /* it is like them */
#define PARTED "x"     /* it is not known to be: another round */
#define REOPENED "o"   /* the launch that this one is like could not be measured */
/* The answer of a fingerprint: */
#define LEARNED "l"   /* there was such a launch */
#define UNLEARNED "u" /* there was, and it was not learned yet */

struct row {
    const char *name, *given;
    unsigned hardware; /* passes */
    const char
        *fails; /* passes that are not made: numbers from 0 in the order they are asked for */
    const char *passes; /* 0 to 9: of the hardware; R: by the Range Profiler, S: by SASS metrics */
    enum gp_source source;
};

static const struct row rows[] = {
    {"hardware alone", SESSION, 1, "", "0", GP_SOURCE_NONE},
    {"several passes", SESSION, 3, "", "012", GP_SOURCE_NONE},
    {"no pass of the hardware", SESSION INSTRUMENTED, 0, "", "R", GP_SOURCE_MEASURED},
    {"nothing at all", "", 0, "", "", GP_SOURCE_NONE},
    {"nothing to count with", INSTRUMENTED, 0, "", "", GP_SOURCE_NONE},
    {"a pass that breaks off is the last of the hardware", SESSION, 3, "1", "01", GP_SOURCE_NONE},
    {"the instrumented pass is made all the same", SESSION INSTRUMENTED, 2, "0", "0R",
     GP_SOURCE_MEASURED},
    {"no fingerprints", SESSION INSTRUMENTED, 1, "", "0R", GP_SOURCE_MEASURED},
    {"they do not pay", SESSION INSTRUMENTED FINGERPRINTS, 1, "", "0R", GP_SOURCE_MEASURED},
    {"only held launches are assumed to be like others",
     SESSION INSTRUMENTED FINGERPRINTS PAYS ASSUMED LEARNED, 1, "", "0S", GP_SOURCE_RECALLED},
    {"like one that was learned", SESSION INSTRUMENTED FINGERPRINTS PAYS LEARNED, 1, "", "0S",
     GP_SOURCE_RECALLED},
    {"like one that was not learned yet", SESSION INSTRUMENTED FINGERPRINTS PAYS UNLEARNED, 1, "",
     "0S", GP_SOURCE_UNLEARNED},
    {"like none: measured after its fingerprint", SESSION INSTRUMENTED FINGERPRINTS PAYS, 1, "",
     "0SR", GP_SOURCE_LEARNABLE},
    {"like none, and that pass fails", SESSION INSTRUMENTED FINGERPRINTS PAYS, 1, "2", "0SR",
     GP_SOURCE_NEW},
    {"its fingerprint fails: measured at once", SESSION INSTRUMENTED FINGERPRINTS PAYS, 1, "1",
     "0SR", GP_SOURCE_MEASURED},
    {"the session stands there, and it is expected to be new",
     SESSION INSTRUMENTED STANDS FINGERPRINTS EXPECTED_NEW PAYS, 1, "", "R0S", GP_SOURCE_LEARNABLE},
    {"and its fingerprint does not pay", SESSION INSTRUMENTED STANDS FINGERPRINTS EXPECTED_NEW, 1,
     "", "R0", GP_SOURCE_MEASURED},
    {"no fingerprints, so it has to be measured", SESSION INSTRUMENTED STANDS, 1, "", "R0",
     GP_SOURCE_MEASURED},
    {"it is not expected to be new", SESSION INSTRUMENTED STANDS FINGERPRINTS PAYS LEARNED, 1, "",
     "0S", GP_SOURCE_RECALLED},
    {"the pass at the front is refused", SESSION INSTRUMENTED STANDS FINGERPRINTS EXPECTED_NEW PAYS,
     2, "0", "R01", GP_SOURCE_NONE},
    {"a fingerprint known before does not undo a measurement",
     SESSION INSTRUMENTED STANDS FINGERPRINTS EXPECTED_NEW PAYS LEARNED, 1, "", "R0S",
     GP_SOURCE_LEARNABLE},
    {"without a session the SASS metrics count", INSTRUMENTED COUNTS, 0, "", "S",
     GP_SOURCE_COUNTED},
    {"nobody wants that", COUNTS, 0, "", "", GP_SOURCE_NONE},
    {"fingerprints do not count", INSTRUMENTED FINGERPRINTS, 0, "", "", GP_SOURCE_NONE},
    {"held: hardware alone", HELD SESSION, 1, "", "|||0", GP_SOURCE_NONE},
    {"held: a pass of the hardware in each sweep", HELD SESSION, 3, "", "|||0|1|2", GP_SOURCE_NONE},
    {"held: one breaks off", HELD SESSION INSTRUMENTED, 3, "1", "|||0|1||R", GP_SOURCE_MEASURED},
    {"held: no pass of the hardware", HELD SESSION INSTRUMENTED, 0, "", "||||R",
     GP_SOURCE_MEASURED},
    {"held: no fingerprints", HELD SESSION INSTRUMENTED, 1, "", "|||0|R", GP_SOURCE_MEASURED},
    {"held: they do not pay", HELD SESSION INSTRUMENTED FINGERPRINTS, 2, "", "|||0|1|R",
     GP_SOURCE_MEASURED},
    {"held: assumed to be like others, and the hardware confirms it",
     HELD SESSION INSTRUMENTED FINGERPRINTS PAYS ASSUMED CONFIRMED, 1, "", "|||0",
     GP_SOURCE_RECALLED},
    {"held: assumed, and counted together",
     HELD SESSION INSTRUMENTED FINGERPRINTS PAYS ASSUMED SHARED CONFIRMED, 1, "", "",
     GP_SOURCE_RECALLED},
    {"held: assumed, and identified all the same",
     HELD SESSION INSTRUMENTED FINGERPRINTS PAYS ASSUMED IDENTIFIED LEARNED, 1, "", "||S|0",
     GP_SOURCE_RECALLED},
    {"held: assumed, and it is another one: identified in another round",
     HELD SESSION INSTRUMENTED FINGERPRINTS PAYS ASSUMED SHARED PARTED, 1, "", "||||||||S||0|R",
     GP_SOURCE_LEARNABLE},
    {"held: identified, and counted together in vain",
     HELD SESSION INSTRUMENTED FINGERPRINTS PAYS SHARED PARTED LEARNED, 1, "", "|S|||||||||0",
     GP_SOURCE_RECALLED},
    {"held: like one that was learned", HELD SESSION INSTRUMENTED FINGERPRINTS PAYS LEARNED, 1, "",
     "|S||0", GP_SOURCE_RECALLED},
    {"held: like one of which enough is known",
     HELD SESSION INSTRUMENTED FINGERPRINTS PAYS LEARNED SHARED CONFIRMED, 1, "", "|S",
     GP_SOURCE_RECALLED},
    {"held: like one that is to be measured", HELD SESSION INSTRUMENTED FINGERPRINTS PAYS UNLEARNED,
     1, "", "|S||0", GP_SOURCE_UNLEARNED},
    {"held: like one that could not be measured",
     HELD SESSION INSTRUMENTED FINGERPRINTS PAYS UNLEARNED REOPENED, 1, "", "|S||0|||R",
     GP_SOURCE_LEARNABLE},
    {"held: like none", HELD SESSION INSTRUMENTED FINGERPRINTS PAYS, 1, "", "|S||0|R",
     GP_SOURCE_LEARNABLE},
    {"held: like none, and that pass fails", HELD SESSION INSTRUMENTED FINGERPRINTS PAYS, 1, "2",
     "|S||0|R", GP_SOURCE_NEW},
    {"held: its fingerprint fails", HELD SESSION INSTRUMENTED FINGERPRINTS PAYS, 1, "0", "|S||0|R",
     GP_SOURCE_MEASURED},
    {"held: where the session stands does not matter",
     HELD SESSION INSTRUMENTED STANDS FINGERPRINTS EXPECTED_NEW PAYS, 1, "", "|S||0|R",
     GP_SOURCE_LEARNABLE},
    {"held: it takes too long", HELD SESSION INSTRUMENTED FINGERPRINTS PAYS LONG, 1, "", "|||0",
     GP_SOURCE_NONE},
    {"held: it takes too long, and is assumed to be like others",
     HELD SESSION INSTRUMENTED FINGERPRINTS PAYS ASSUMED LONG CONFIRMED, 1, "", "|||0",
     GP_SOURCE_RECALLED},
    {"it takes too long, also where the session stands there",
     SESSION INSTRUMENTED STANDS FINGERPRINTS EXPECTED_NEW PAYS LONG, 2, "", "01", GP_SOURCE_NONE},
    {"it takes too long without a session", INSTRUMENTED COUNTS LONG, 0, "", "", GP_SOURCE_NONE},
};

static bool has(const struct row *row, const char *letter)
{
    return strstr(row->given, letter) != NULL;
}

struct asking {
    const struct row *row;
    unsigned new, pays, assumed, too_long; /* times that was asked */
};

static bool is_expected_new(void *data)
{
    struct asking *a = data;
    a->new ++;
    return has(a->row, EXPECTED_NEW);
}

static bool pays(void *data)
{
    struct asking *a = data;
    a->pays++;
    return has(a->row, PAYS);
}

/* A launch that was not like the others is not assumed to be again. */
static bool is_assumed(void *data)
{
    struct asking *a = data;
    a->assumed++;
    return has(a->row, ASSUMED) && a->assumed == 1;
}

static bool takes_too_long(void *data)
{
    struct asking *a = data;
    a->too_long++;
    return has(a->row, LONG);
}

static void ends(struct gp_plan *plan, const struct row *row, unsigned pass)
{
    if (pass != GP_PLAN_INSTRUMENTED)
        return;
    if (plan->way == GP_WAY_RANGE)
        gp_plan_measured(plan);
    else if (has(row, COUNTS))
        gp_plan_counted(plan);
    else
        gp_plan_found(plan, has(row, LEARNED)     ? GP_FOUND_LEARNED
                            : has(row, UNLEARNED) ? GP_FOUND_UNLEARNED
                                                  : GP_FOUND_NONE);
}

/* Before a sweep. */
static void decide(struct gp_plan *plan, const struct row *row, unsigned sweep, bool again,
                   unsigned measure)
{
    if (!has(row, HELD) || again)
        return;
    if (sweep == GP_SWEEP_TO_IDENTIFY_MORE && has(row, IDENTIFIED))
        gp_plan_identify(plan);
    if (sweep == GP_SWEEP_TO_COUNT && has(row, SHARED))
        gp_plan_share(plan);
    if (sweep == measure + 1 && has(row, CONFIRMED))
        gp_plan_confirmed(plan);
    if (sweep == measure + 1 && has(row, PARTED))
        gp_plan_part(plan);
    if (sweep == measure + 2 && has(row, REOPENED))
        gp_plan_reopen(plan);
}

/* The passes of a row as letters, in the room for 32; the questions in *a. */
static void follow(const struct row *row, struct gp_plan *plan, struct asking *a, char *passes)
{
    struct gp_means_to_count means = {.hardware_passes = row->hardware,
                                      .held = has(row, HELD),
                                      .session = has(row, SESSION),
                                      .stands_in_instrumented = has(row, STANDS),
                                      .sass_counts = has(row, COUNTS),
                                      .fingerprints = has(row, FINGERPRINTS),
                                      .instrumented = has(row, INSTRUMENTED)};
    const struct gp_plan_questions questions = {is_expected_new, pays, is_assumed, takes_too_long,
                                                a};
    unsigned pass, count = 0, asked = 0, end = 0;
    const unsigned measure = gp_plan_sweep_to_measure(row->hardware),
                   first = measure + GP_SWEEPS_TO_MEASURE;
    const unsigned sweeps = means.held ? 2 * first : 1;
    for (unsigned sweep = 0; sweep < sweeps; sweep++) {
        means.sweep = sweep % first;
        decide(plan, row, means.sweep, sweep >= first, measure);
        for (bool made = false; gp_plan_next(plan, &means, &questions, made, &pass);) {
            assert_true(count < 31);
            char number[] = {(char)('0' + asked++), '\0'};
            passes[count++] = pass != GP_PLAN_INSTRUMENTED ? (char)('0' + pass)
                              : gp_plan_way(plan, &means, &questions) == GP_WAY_RANGE ? 'R'
                                                                                      : 'S';
            end = count;
            made = !strstr(row->fails, number);
            if (made)
                ends(plan, row, pass);
        }
        passes[count++] = '|';
    }
    count = end; /* nothing follows */
    passes[count] = '\0';
}

static void every_launch_makes_the_passes_it_needs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct gp_plan plan = {0};
        struct asking a = {.row = &rows[i]};
        char passes[32];
        follow(&rows[i], &plan, &a, passes);
        if (strcmp(passes, rows[i].passes) != 0 || plan.source != rows[i].source)
            fail_msg("%s: passes %s, source %d", rows[i].name, passes, (int)plan.source);
        /* An answer changes the facts: once is enough. */
        assert_true((a.new <= 1 && a.pays <= 1 && a.assumed <= 1 && a.too_long <= 2) ||
                    has(&rows[i], PARTED));
        /* Nothing is assumed of a launch that was measured. */
        assert_true(!a.assumed || strncmp(rows[i].passes, "R0", 2) != 0);
        /* It is over. */
        unsigned pass;
        const struct gp_means_to_count nothing = {0};
        const struct gp_plan_questions questions = {is_expected_new, pays, is_assumed,
                                                    takes_too_long, &a};
        assert_false(gp_plan_next(&plan, &nothing, &questions, true, &pass));
    }
}

static void a_launch_that_takes_turns_is_measured_at_once(void **state)
{
    (void)state;
    struct row row = {.given = SESSION INSTRUMENTED};
    struct asking a = {.row = &row};
    const struct gp_plan_questions questions = {is_expected_new, pays, is_assumed, takes_too_long,
                                                &a};
    struct gp_means_to_count means = {.session = true, .instrumented = true};
    struct gp_plan plan = {0};
    assert_int_equal(gp_plan_way(&plan, &means, &questions), GP_WAY_RANGE);
    means = (struct gp_means_to_count){.sass_counts = true, .instrumented = true};
    plan = (struct gp_plan){0};
    assert_int_equal(gp_plan_way(&plan, &means, &questions), GP_WAY_SASS);
    assert_int_equal(a.new + a.pays + a.assumed, 0);
}

static void the_session_may_be_lost_on_the_way(void **state)
{
    (void)state;
    struct row row = {.given = SESSION INSTRUMENTED FINGERPRINTS PAYS};
    struct asking a = {.row = &row};
    const struct gp_plan_questions questions = {is_expected_new, pays, is_assumed, takes_too_long,
                                                &a};
    struct gp_means_to_count means = {
        .hardware_passes = 2, .session = true, .fingerprints = true, .instrumented = true};
    const struct gp_means_to_count lost = {.fingerprints = true, .instrumented = true};
    struct gp_plan plan = {0};
    unsigned pass;
    /* In the hardware's pass: nothing is left to count with. */
    assert_true(gp_plan_next(&plan, &means, &questions, false, &pass));
    assert_false(gp_plan_next(&plan, &lost, &questions, false, &pass));
    /* Behind an instrumented pass at the front: a fingerprint would be of no use. */
    plan = (struct gp_plan){.stage = GP_STAGE_HARDWARE,
                            .hardware = 1,
                            .front = true,
                            .preferred = GP_WAY_SASS,
                            .source = GP_SOURCE_MEASURED};
    assert_false(gp_plan_next(&plan, &lost, &questions, false, &pass));
    /* After its fingerprint: it cannot be measured any more. */
    plan = (struct gp_plan){.stage = GP_STAGE_AGAIN, .source = GP_SOURCE_NEW};
    assert_false(gp_plan_next(&plan, &lost, &questions, true, &pass));
}

static void whose_counters_they_are(void **state)
{
    (void)state;
    static const struct {
        enum gp_source source;
        bool measured, recalled;
    } expected[] = {
        {GP_SOURCE_NONE, false, false},     {GP_SOURCE_COUNTED, false, false},
        {GP_SOURCE_MEASURED, true, false},  {GP_SOURCE_NEW, false, false},
        {GP_SOURCE_LEARNABLE, true, false}, {GP_SOURCE_RECALLED, false, true},
        {GP_SOURCE_UNLEARNED, false, true},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct gp_plan plan = {.source = expected[i].source};
        assert_int_equal(gp_plan_is_measured(&plan), expected[i].measured);
        assert_int_equal(gp_plan_is_recalled(&plan), expected[i].recalled);
    }
    struct gp_plan plan = {.source = GP_SOURCE_LEARNABLE};
    gp_plan_learned(&plan);
    assert_int_equal(plan.source, GP_SOURCE_MEASURED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_launch_makes_the_passes_it_needs),
        cmocka_unit_test(a_launch_that_takes_turns_is_measured_at_once),
        cmocka_unit_test(the_session_may_be_lost_on_the_way),
        cmocka_unit_test(whose_counters_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
