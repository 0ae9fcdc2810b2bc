/* metrics/: definition files, their mistakes, selection, values through metrics that use metrics.
 */
#include "metrics/definitions.h"
#include "metrics/metrics.h"

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

static const struct gp_device hopper = {.cc_major = 9, .sm_count = 132, .clock_khz = 1980000};
static const struct gp_device ada = {.cc_major = 8, .cc_minor = 9};

static struct gp_metrics *parsed_with(const char *text, const char *expected_problems)
{
    struct gp_text problems = {0};
    struct gp_metrics *m = gp_metrics_parse("x.ini", text, strlen(text), &problems);
    assert_non_null(m);
    assert_string_equal(gp_text_string(&problems), expected_problems);
    gp_text_free(&problems);
    return m;
}

static void has_problem(const char *text, const char *expected)
{
    gp_metrics_close(parsed_with(text, expected));
}

static const struct gp_counter counters[] = {
    {"a__sum", 6, GP_NO_REASON},
    {"b__sum", 4, GP_NO_REASON},
    {"zero__sum", 0, GP_NO_REASON},
    {"busy__sum", 0, GP_REASON_TEXT(OTHER, "the counters are in use")},
};
static const struct gp_record launch = {
    .grid = {100, 1, 1},
    .block = {64, 2, 1},
    .registers = 32,
    .counter_count = sizeof(counters) / sizeof(counters[0]),
    .counters = counters,
};

static void gives(const struct gp_metrics *m, const char *name, const struct gp_device *device,
                  double expected)
{
    double value = -1;
    struct gp_absence absence = {.cause = GP_CAUSE_NONE};
    const struct gp_metric *metric = gp_metrics_find(m, name);
    assert_non_null(metric);
    if (!gp_metric_evaluate(metric, device, &launch, &value, &absence))
        fail_msg("%s: %s", name, absence.text);
    assert_true(value == expected);
}

static void is_absent(const struct gp_metrics *m, const char *name, const struct gp_device *device,
                      const char *reason)
{
    double value;
    struct gp_absence absence = {.cause = GP_CAUSE_NONE};
    const struct gp_metric *metric = gp_metrics_find(m, name);
    assert_non_null(metric);
    assert_false(gp_metric_evaluate(metric, device, &launch, &value, &absence));
    assert_string_equal(absence.text, reason);
}

static void a_definition_is_read(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("; a comment\n"
                                       "[ratio_of_both]\n"
                                       "unit = ratio\n"
                                       "class = memory\n"
                                       "description = one over the other ; not this\n"
                                       "source = a test\n"
                                       "formula = a__sum / b__sum\n"
                                       "default = yes\n",
                                       "");
    assert_int_equal(gp_metrics_count(m), 1);
    const struct gp_metric *metric = gp_metrics_at(m, 0);
    assert_string_equal(metric->name, "ratio_of_both");
    assert_string_equal(metric->unit, "ratio");
    assert_string_equal(metric->metric_class, "memory");
    assert_string_equal(metric->description, "one over the other");
    assert_string_equal(metric->source, "a test");
    assert_true(metric->in_default_set);
    gives(m, "ratio_of_both", &hopper, 1.5);
    gp_metrics_close(m);
}

static void values_may_go_on_in_the_next_lines(void **state)
{
    (void)state;
    char text[4096] = "\xEF\xBB\xBF[m]\r\nformula = a__sum\r\n  + b__sum\r\n\t+ 1\r\n"
                      "  unit = s\r\n[long_one]\nformula = 1";
    for (int i = 0; i < 100; i++)
        strcat(text, " + 1.000000000");
    strcat(text, " ; and a comment that is long enough to be cut into pieces by itself: ");
    for (int i = 0; i < 30; i++)
        strcat(text, " + 1");
    struct gp_metrics *m = parsed_with(text, "");
    gives(m, "m", &hopper, 11);
    gives(m, "long_one", &hopper, 101);
    assert_string_equal(gp_metrics_find(m, "m")->unit, "s");
    gp_metrics_close(m);
}

static void mistakes_are_reported_with_file_and_line(void **state)
{
    (void)state;
    has_problem("[a]\nunit = s\n", "x.ini:1: metric a: there is no 'formula = ...'\n");
    has_problem("\n\n[a]\n\nformula = 1 +\n",
                "x.ini:5: metric a: formula, column 4: expected a number, a counter, a fact or a "
                "metric, the formula ends here\n");
    has_problem("formula = 1\n",
                "x.ini:1: expected a metric's name in brackets first: [my_metric]\n");
    has_problem("[a\nformula = 1\n", "x.ini:1: expected ']' after the metric's name\n");
    has_problem("[a b]\nformula = 1\n",
                "x.ini:1: 'a b' is no name for a metric: use letters, digits and single '_', and "
                "none of min, max, all, default\n");
    has_problem("[a__b]\nformula = 1\n",
                "x.ini:1: 'a__b' is no name for a metric: use letters, digits and single '_', and "
                "none of min, max, all, default\n");
    has_problem("[all]\nformula = 1\n",
                "x.ini:1: 'all' is no name for a metric: use letters, digits and single '_', and "
                "none of min, max, all, default\n");
    has_problem("[a]\nformula = 1\nnonsense\n",
                "x.ini:3: expected 'key = value', '[metric]' or a comment\n");
    has_problem("[a]\nformula = 1\ndesciption = x\n",
                "x.ini:3: there is no key 'desciption', did you mean description?; it is left "
                "out\n");
    has_problem("[a]\nformula = 1\nformula = 2\n",
                "x.ini:3: formula was already given in line 2; this one is left out\n");
    has_problem("[a]\nformula = 1\ndefault = perhaps\n",
                "x.ini:3: metric a: 'default' is yes or no\n");
    has_problem("[a]\nformula = 1\nwhen = sm > 7\n",
                "x.ini:3: metric a: 'sm > 7' is no condition; write it like 'cc >= 9.0 and cc < "
                "10.0', with < <= > >= ==, 'and', 'or', or 'events'\n");
    has_problem("[a]\nformula = 1\nunit = furlongs/fortnight\n",
                "x.ini:3: metric a: a unit has at most 12 letters\n");
    has_problem("[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]\nformula = 1\n",
                "x.ini:1: a metric's name has at most 48 letters\n");
}

static void a_dropped_section_is_dropped_in_all_its_lines(void **state)
{
    (void)state;
    /* A line this long is read in pieces, which seem to be lines that go on. */
#define FIVE " + 1000000 + 1000000 + 1000000 + 1000000 + 1000000"
    struct gp_metrics *m =
        parsed_with("[a]\nformula = 1\nformula = 2\n    + 4\n"
                    "needs = 8\nneeds = 0" FIVE FIVE FIVE FIVE "\n    + 0\n",
                    "x.ini:3: formula was already given in line 2; this one is left out\n"
                    "x.ini:6: needs was already given in line 5; this one is left out\n");
    gives(m, "a", &hopper, 1);
    gp_metrics_close(m);
    /* And the text behind it is not. */
    m = parsed_with("[a]\nformula = 1\nformula = 2\nunit = s\n    x\n[b]\nformula = 3\n    + 4\n",
                    "x.ini:3: formula was already given in line 2; this one is left out\n");
    assert_string_equal(gp_metrics_find(m, "a")->unit, "s x");
    gives(m, "b", &hopper, 7);
    gp_metrics_close(m);
}

static void a_bad_definition_does_not_take_others_with_it(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("[bad]\nformula = (\n[good]\nformula = b__sum\n",
                                       "x.ini:2: metric bad: formula, column 2: expected a number, "
                                       "a counter, a fact or a metric, the formula ends here\n");
    assert_int_equal(gp_metrics_count(m), 1);
    gives(m, "good", &hopper, 4);
    gp_metrics_close(m);
}

static void a_very_long_word_is_refused(void **state)
{
    (void)state;
    char text[1024] = "[a]\nformula = 1\n[b]\nformula = ";
    for (int i = 0; i < 40; i++)
        strcat(text, "abcdefghij");
    struct gp_metrics *m = parsed_with(text, "x.ini:4: a word is longer than 150 letters\n");
    assert_int_equal(gp_metrics_count(m), 1);
    gp_metrics_close(m);
}

static void metrics_use_metrics(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("[rate]\nformula = both / zero__sum\n"
                                       "[both]\nformula = a__sum + b__sum\n"
                                       "[twice]\nformula = 2 * both\n"
                                       "[busy]\nformula = both + busy__sum\n"
                                       "[above_busy]\nformula = 1 + busy\n"
                                       "[unmeasured]\nformula = c__sum\n"
                                       "[threads]\nformula = launch.threads\n",
                                       "");
    gives(m, "twice", &hopper, 20);
    gives(m, "threads", &hopper, 12800);
    is_absent(m, "rate", &hopper, "division by zero: zero__sum is 0");
    is_absent(m, "busy", &hopper, "counter busy__sum: the counters are in use");
    is_absent(m, "above_busy", &hopper, "counter busy__sum: the counters are in use");
    is_absent(m, "unmeasured", &hopper, "counter c__sum: not measured");
    gp_metrics_close(m);
}

static void a_metric_that_needs_something_does_not_apply_without_it(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("[some]\nformula = a__sum\nneeds = b__sum - 3\n"
                                       "[none]\nformula = a__sum\nneeds = zero__sum * 2\n"
                                       "[unknown]\nformula = a__sum\nneeds = c__sum\n"
                                       "[through]\nformula = some\nneeds = none\n"
                                       "[share]\nformula = a__sum / zero__sum\nneeds = zero__sum\n"
                                       "[both]\nformula = c__sum\nneeds = busy__sum\n",
                                       "");
    gives(m, "some", &hopper, 6);
    is_absent(m, "share", &hopper, "does not apply: zero__sum is 0");
    is_absent(m, "both", &hopper, "counter c__sum: not measured");
    is_absent(m, "none", &hopper, "does not apply: zero__sum * 2 is 0");
    is_absent(m, "unknown", &hopper, "counter c__sum: not measured");
    is_absent(m, "through", &hopper, "does not apply: zero__sum * 2 is 0");
    struct gp_text text = {0};
    char why[GP_WHY_SIZE];
    gp_metric_formula(gp_metrics_find(m, "some"), &hopper, &text, why, sizeof(why));
    assert_string_equal(gp_text_string(&text), "a__sum, where not 0: b__sum - 3");
    gp_text_free(&text);
    const char **names;
    size_t count;
    gp_metrics_select(m, "none", &text);
    assert_true(gp_metrics_counters(m, &hopper, &names, &count));
    assert_int_equal(count, 2);
    free(names);
    gp_metrics_close(m);
    has_problem("[a]\nformula = 1\nneeds = 1 +\n",
                "x.ini:3: metric a: needs, column 4: expected a number, a counter, a fact or a "
                "metric, the formula ends here\n");
    has_problem("[a]\nformula = 1\nneeds = a\n",
                "x.ini:1: metric a: its formula leads back to itself: a -> a\n");
}

static void a_skipped_launch_gives_its_reason(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("[m]\nformula = a__sum\n", "");
    const struct gp_record skipped = {
        .skipped = GP_REASON_TEXT(IN_CAPTURE, "the stream is being captured")};
    double value;
    struct gp_absence absence = {.cause = GP_CAUSE_NONE};
    assert_false(gp_metric_evaluate(gp_metrics_find(m, "m"), &hopper, &skipped, &value, &absence));
    assert_string_equal(absence.text, "counter a__sum: the stream is being captured");
    assert_int_equal(absence.cause, GP_CAUSE_IN_CAPTURE);
    assert_string_equal(absence.text + absence.named, "the stream is being captured");
    gp_metrics_close(m);
}

static void unknown_metrics_in_formulas_are_reported(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with(
        "[duration]\nformula = 5\n[a]\n\nformula = duraton * 2\n[b]\nformula = a + 1\n",
        "x.ini:3: metric a: there is no metric 'duraton'; did you mean duration? (a counter's name "
        "has '__' in it)\n"
        "x.ini:6: metric b: there is no metric 'a' (a counter's name has '__' in it)\n");
    assert_int_equal(gp_metrics_count(m), 1);
    gp_metrics_close(m);
}

static void cycles_are_found(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with(
        "[a]\nformula = a + 1\n", "x.ini:1: metric a: its formula leads back to itself: a -> a\n");
    gp_metrics_close(m);
    m = parsed_with(
        "[a]\nformula = b\n[b]\nformula = c\n[c]\nformula = a\n[d]\nformula = 1\n",
        "x.ini:5: metric c: its formula leads back to itself: a -> b -> c -> a\n"
        "x.ini:3: metric b: there is no metric 'c' (a counter's name has '__' in it)\n"
        "x.ini:1: metric a: there is no metric 'b' (a counter's name has '__' in it)\n");
    assert_int_equal(gp_metrics_count(m), 1);
    gp_metrics_close(m);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    struct gp_text text = {0}, problems = {0};
    gp_text_add(&text, "[m0]\nformula = 1\n");
    for (int i = 1; i < 40; i++)
        gp_text_addf(&text, "[m%d]\nformula = m%d + m%d\n", i, i - 1, i - 1);
    struct gp_metrics *m = gp_metrics_parse("x.ini", text.data, text.length, &problems);
    assert_non_null(strstr(gp_text_string(&problems), "more than 16 metrics deep"));
    gives(m, "m10", &hopper, 1024);
    gp_metrics_close(m);
    gp_text_free(&text);
    gp_text_free(&problems);
}

static void evaluation_takes_bounded_time(void **state)
{
    (void)state;
    struct gp_text text = {0}, problems = {0};
    gp_text_add(&text, "[m0]\nformula = 1\n");
    for (int i = 1; i < 15; i++) {
        gp_text_addf(&text, "[m%d]\nformula = m%d", i, i - 1);
        for (int k = 0; k < 100; k++)
            gp_text_addf(&text, " + m%d", i - 1);
        gp_text_add(&text, "\n");
    }
    struct gp_metrics *m = gp_metrics_parse("x.ini", text.data, text.length, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    is_absent(m, "m14", &hopper, "the formula takes more than 100000 steps");
    gp_metrics_close(m);
    gp_text_free(&text);
}

static void a_condition_chooses_the_formula(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("[m]\nunit = s\nformula = 1\ndefault = yes\n"
                                       "[m]\nwhen = cc >= 9.0 and cc < 10.0\nformula = 2\n"
                                       "[m]\nwhen = cc >= 9.0\nformula = 3\n"
                                       "[only_new]\nwhen = cc > 8.9\nformula = 1\n",
                                       "");
    assert_int_equal(gp_metrics_count(m), 2);
    const struct gp_device blackwell = {.cc_major = 12};
    gives(m, "m", &ada, 1);
    gives(m, "m", &hopper, 2);
    gives(m, "m", &blackwell, 3);
    gives(m, "only_new", &hopper, 1);
    is_absent(m, "only_new", &ada,
              "only_new is not defined for compute capability 8.9, only when cc > 8.9");
    assert_true(gp_metrics_find(m, "m")->in_default_set);

    struct gp_text formula = {0};
    char why[GP_WHY_SIZE];
    assert_true(gp_metric_formula(gp_metrics_find(m, "m"), &hopper, &formula, why, sizeof(why)));
    assert_string_equal(gp_text_string(&formula), "2");
    gp_text_free(&formula);
    gp_metrics_close(m);
    has_problem("[m]\nformula = 1\n[m]\nformula = 2\n",
                "x.ini:3: metric m: line 1 defines it already; a second formula needs 'when = cc "
                "...'\n");
    has_problem("[m]\nunit = s\nformula = 1\n[m]\nunit = %\nwhen = cc > 9\nformula = 2\n",
                "x.ini:5: metric m: its unit is 's' since line 1\n");
}

static void holds(const char *text, int cc_major, int cc_minor, int expected)
{
    struct gp_condition c;
    char why[GP_WHY_SIZE] = "";
    if (!gp_condition_parse(text, &c, why, sizeof(why)))
        fail_msg("%s", why);
    const struct gp_device device = {.cc_major = cc_major, .cc_minor = cc_minor};
    assert_int_equal(gp_condition_holds(&c, &device), expected);
}

static void a_condition_may_ask_where_the_counters_come_from(void **state)
{
    (void)state;
    struct gp_condition c;
    char why[GP_WHY_SIZE] = "";
    assert_true(gp_condition_parse("events and cc < 5.0", &c, why, sizeof(why)));
    assert_true(gp_condition_holds(&c, &(struct gp_device){.cc_major = 3, .event_counters = 1}));
    assert_false(gp_condition_holds(&c, &(struct gp_device){.cc_major = 3}));
    assert_false(gp_condition_holds(&c, &(struct gp_device){.cc_major = 6, .event_counters = 1}));
    assert_false(gp_condition_parse("eventsand cc < 5.0", &c, why, sizeof(why)));
}

static void conditions(void **state)
{
    (void)state;
    holds("cc >= 9.0", 9, 0, 1);
    holds("cc>=9", 8, 9, 0);
    holds("cc > 9.0", 9, 0, 0);
    holds("cc < 10.0", 9, 0, 1);
    holds("cc < 10.0", 12, 0, 0);
    holds("cc <= 8.6", 8, 6, 1);
    holds("cc == 8.9", 8, 9, 1);
    holds("cc == 8.9", 8, 6, 0);
    holds("  cc >= 8.0  and  cc < 9.0  ", 8, 6, 1);
    holds("cc >= 8.0 and cc < 9.0", 9, 0, 0);
    holds("cc == 8.7 or cc >= 12.0", 8, 7, 1);
    holds("cc == 8.7 or cc >= 12.0", 9, 0, 0);
    holds("cc == 8.7 or cc >= 12.0", 12, 1, 1);
    holds("cc >= 8.0 and cc < 8.6 or cc == 9.0 and cc < 9.0", 9, 0, 0);
    holds("cc >= 8.0 and cc < 8.6 or cc == 9.0 and cc < 9.0", 8, 0, 1);
    holds("cc < 3 or cc < 4 or cc < 5", 4, 5, 1);
    static const char *const wrong[] = {
        "",          "cc",          "cc 9.0",       "cc => 9.0", "9.0 <= cc",       "cc > 9.0 and",
        "cc > 9.0x", "cc > 9. and", "cc >= 9.0 or", "cc > 999",  "cc > 9 orcc < 3", "or cc > 9"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct gp_condition c;
        char why[GP_WHY_SIZE];
        assert_false(gp_condition_parse(wrong[i], &c, why, sizeof(why)));
    }
}

static void selection(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("[one]\nformula = a__sum\ndefault = yes\n"
                                       "[two]\nformula = b__sum\n"
                                       "[three]\nformula = one + c__sum\n",
                                       "");
    struct gp_text problems = {0};
    assert_int_equal(gp_metrics_selected_count(m), 1);
    assert_true(gp_metrics_select(m, " three , two,three", &problems));
    assert_int_equal(gp_metrics_selected_count(m), 2);
    assert_string_equal(gp_metrics_selected(m, 0)->name, "three");
    assert_string_equal(gp_metrics_selected(m, 1)->name, "two");

    const char **names;
    size_t count;
    assert_true(gp_metrics_counters(m, &hopper, &names, &count));
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "a__sum");
    assert_string_equal(names[1], "c__sum");
    assert_string_equal(names[2], "b__sum");
    free(names);

    assert_false(gp_metrics_select(m, "two,thre,nothing_like_it", &problems));
    assert_string_equal(gp_text_string(&problems),
                        "there is no metric 'thre'; did you mean three?\n"
                        "there is no metric 'nothing_like_it'\n");
    assert_int_equal(gp_metrics_selected_count(m), 2);
    gp_text_clear(&problems);
    assert_false(gp_metrics_select(m, " , ", &problems));
    assert_string_equal(gp_text_string(&problems), "the list of metrics is empty\n");
    gp_text_clear(&problems);

    assert_true(gp_metrics_select(m, "all", &problems));
    assert_int_equal(gp_metrics_selected_count(m), 3);
    assert_true(gp_metrics_select(m, "default,two", &problems));
    assert_int_equal(gp_metrics_selected_count(m), 2);
    assert_true(gp_metrics_select(m, "", &problems));
    assert_int_equal(gp_metrics_selected_count(m), 1);
    gp_text_free(&problems);
    gp_metrics_close(m);
}

/* Behind the default set, whose counters every launch has, those that few launches have. */
static void the_diagnosis_is_selected_behind_the_default_set(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("[one]\nformula = a__sum\ndefault = yes\n"
                                       "[two]\nformula = b__sum + a__sum\n"
                                       "[three]\nformula = c__sum\n"
                                       "[set diagnosis]\ndescription = d\nmetrics = two, one\n",
                                       "");
    struct gp_text problems = {0};
    const char **names;
    size_t count;
    assert_false(gp_metrics_have_diagnosis(m));
    gp_metrics_select_diagnosis(m);
    assert_true(gp_metrics_have_diagnosis(m));
    assert_int_equal(gp_metrics_selected_count(m), 2);
    assert_string_equal(gp_metrics_selected(m, 1)->name, "two");
    assert_true(gp_metrics_counters(m, &hopper, &names, &count));
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "a__sum");
    free(names);
    assert_true(gp_metrics_diagnosis_counters(m, &hopper, &names, &count));
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "b__sum");
    free(names);
    /* Beside other metrics than the default ones there is none. */
    assert_true(gp_metrics_select(m, "three", &problems));
    gp_metrics_select_diagnosis(m);
    assert_false(gp_metrics_have_diagnosis(m));
    assert_true(gp_metrics_select(m, "default,three", &problems));
    gp_metrics_select_diagnosis(m);
    assert_int_equal(gp_metrics_selected_count(m), 3);
    gp_metrics_close(m);
}

static void a_metric_without_an_equivalent_says_why(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("[gone]\nunit = %\nabsent = it is no more\nnearest = here\n"
                                       "[here]\nformula = a__sum\n"
                                       "[here]\nwhen = cc == 9.0\nabsent = not on these\n"
                                       "[uses]\nformula = 2 * here\n",
                                       "");
    struct gp_text problems = {0}, formula = {0};
    char why[GP_WHY_SIZE];
    const struct gp_record launch = {0};
    double value;
    struct gp_absence absence;
    assert_false(gp_metrics_select(m, "gone", &problems));
    assert_string_equal(gp_text_string(&problems), "'gone': it is no more; the nearest is here\n");
    assert_true(gp_metrics_select(m, "here", &problems));
    assert_false(
        gp_metric_formula(gp_metrics_find(m, "here"), &hopper, &formula, why, sizeof(why)));
    assert_string_equal(why, "not on these");
    assert_false(
        gp_metric_evaluate(gp_metrics_find(m, "uses"), &hopper, &launch, &value, &absence));
    assert_string_equal(absence.text, "not on these");
    assert_int_equal(absence.cause, GP_CAUSE_NOT_DEFINED);
    assert_string_equal(gp_metric_absent(gp_metrics_find(m, "gone")),
                        "it is no more; the nearest is here");
    assert_null(gp_metric_absent(gp_metrics_find(m, "here")));
    assert_true(gp_metrics_select(m, "all", &problems));
    assert_int_equal(gp_metrics_selected_count(m), 2);
    gp_text_free(&problems);
    gp_metrics_close(m);

    m = parsed_with(
        "[a]\nformula = x__y\nabsent = no\n[b]\nmetrics = a\nformula = x__y\n",
        "x.ini:3: metric a: it has a formula, so it cannot be absent; leave one of them "
        "out\n"
        "x.ini:5: metric b: only a set has 'metrics'; a set's name is written [set "
        "NAME]\n");
    gp_metrics_close(m);
}

static void sets_have_names(void **state)
{
    (void)state;
    struct gp_metrics *m =
        parsed_with("[one]\nformula = a__sum\n[two]\nformula = b__sum\n"
                    "[set mine]\ndescription = my own\nmetrics = two, a__b.sum,\n"
                    "   one\n",
                    "");
    struct gp_text problems = {0};
    assert_int_equal(gp_metrics_set_count(m), 1);
    assert_string_equal(gp_metrics_set_at(m, 0)->name, "mine");
    assert_string_equal(gp_metrics_set_at(m, 0)->description, "my own");
    assert_true(gp_metrics_select(m, "mine,one", &problems));
    assert_int_equal(gp_metrics_selected_count(m), 3);
    assert_string_equal(gp_metrics_selected(m, 0)->name, "two");
    assert_string_equal(gp_metrics_selected(m, 1)->name, "a__b.sum");
    assert_string_equal(gp_metrics_selected(m, 2)->name, "one");
    gp_metrics_close(m);

    m = parsed_with("[one]\nformula = a__sum\n[set bad]\nmetrics = on\n[set empty]\n",
                    "x.ini:5: set empty: there is no 'metrics = ...'\n"
                    "x.ini:3: set bad: there is no metric 'on'; did you mean one?\n");
    assert_int_equal(gp_metrics_set_count(m), 0);
    gp_metrics_close(m);
    gp_text_free(&problems);
}

static void counters_are_selected_by_their_own_names(void **state)
{
    (void)state;
    struct gp_metrics *m = parsed_with("[one]\nformula = a__sum\n", "");
    struct gp_text problems = {0};
    const char *const list = "one,dram__bytes_read.sum,sm__x.avg.pct_of_peak_sustained_elapsed";
    assert_true(gp_metrics_select(m, list, &problems));
    assert_true(gp_metrics_select(m, list, &problems));
    assert_int_equal(gp_metrics_selected_count(m), 3);
    assert_string_equal(gp_metrics_selected(m, 2)->unit, "%");
    const char **names;
    size_t count;
    assert_true(gp_metrics_counters(m, &hopper, &names, &count));
    assert_int_equal(count, 3);
    assert_string_equal(names[1], "dram__bytes_read.sum");
    const struct gp_counter counter = {names[1], 77, GP_NO_REASON};
    const struct gp_record launch = {.counter_count = 1, .counters = &counter};
    double value;
    struct gp_absence absence;
    assert_true(gp_metric_evaluate(gp_metrics_selected(m, 1), &hopper, &launch, &value, &absence));
    assert_true(value == 77);
    free(names);
    assert_false(gp_metrics_select(m, "dram__bytes_*", &problems));
    assert_false(gp_metrics_select(m, "dram__bytes;x", &problems));
    assert_string_equal(gp_text_string(&problems),
                        "'dram__bytes_*': the command gpuprof finds the counters that this stands "
                        "for, on a machine with a GPU or with --chip\n"
                        "'dram__bytes;x': a counter's name has letters, digits, '_' and '.'\n");
    gp_text_free(&problems);
    gp_metrics_close(m);
}

/* ---- files of the user ---- */

static char folder[64];

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void make_folders(void)
{
    strcpy(folder, "/tmp/gpuprof-test-metrics-XXXXXX");
    assert_non_null(mkdtemp(folder));
    char path[256];
    snprintf(path, sizeof(path), "%s/gpuprof", folder);
    mkdir(path, 0777);
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("GPUPROF_METRICS_PATH");
}

static void remove_folders(void)
{
    char command[256];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("GPUPROF_METRICS_PATH");
}

static struct gp_metrics *opened_with(const char *expected_problems)
{
    struct gp_text problems = {0};
    struct gp_metrics *m = gp_metrics_open(&problems);
    assert_non_null(m);
    assert_string_equal(gp_text_string(&problems), expected_problems);
    gp_text_free(&problems);
    return m;
}

static void a_users_definition_replaces_the_shipped_one(void **state)
{
    (void)state;
    make_folders();
    write_file("gpuprof/mine.ini", "[duration]\nformula = 7\n[my_own]\nformula = duration * 2\n");
    struct gp_metrics *m = opened_with("");
    const struct gp_metric *duration = gp_metrics_find(m, "duration");
    assert_true(duration->user_defined);
    assert_true(duration->in_default_set);
    assert_string_equal(duration->unit, "s");
    gives(m, "my_own", &hopper, 14);
    assert_false(gp_metrics_find(m, "my_own")->in_default_set);
    assert_false(gp_metrics_find(m, "flops")->user_defined);
    gp_metrics_close(m);

    /* A folder that was asked for comes after the one that is always read. */
    char path[200];
    snprintf(path, sizeof(path), "%s::/nonexistent/metrics", folder);
    setenv("GPUPROF_METRICS_PATH", path, 1);
    write_file("b.ini", "[duration]\nformula = 8\nunit = ms\ndefault = no\n");
    write_file("ignored.txt", "[duration]\nformula = 9\n");
    m = opened_with("GPUPROF_METRICS_PATH: /nonexistent/metrics: No such file or directory\n");
    gives(m, "my_own", &hopper, 16);
    assert_string_equal(gp_metrics_find(m, "duration")->unit, "ms");
    assert_false(gp_metrics_find(m, "duration")->in_default_set);
    gp_metrics_close(m);
    remove_folders();
}

static void a_users_mistake_leaves_the_shipped_definition(void **state)
{
    (void)state;
    make_folders();
    write_file("gpuprof/mine.ini", "[duration]\nformula = 7 *\n"
                                   "[flop_count_sp]\nformula = flops\n"
                                   "[dram_read_bytes]\nformula = nothing\n");
    char expected[1024];
    snprintf(expected, sizeof(expected),
             "%s/gpuprof/mine.ini:2: metric duration: formula, column 4: expected a number, a "
             "counter, a fact or a metric, the formula ends here\n"
             "%s/gpuprof/mine.ini:5: metric dram_read_bytes: there is no metric 'nothing' (a "
             "counter's name has '__' in it)\n"
             "%s/gpuprof/mine.ini:3: metric flop_count_sp: its formula leads back to itself: "
             "flop_count_sp -> flops -> flop_count_sp\n",
             folder, folder, folder);
    struct gp_metrics *m = opened_with(expected);
    assert_false(gp_metrics_find(m, "duration")->user_defined);
    assert_false(gp_metrics_find(m, "flop_count_sp")->user_defined);
    assert_false(gp_metrics_find(m, "dram_read_bytes")->user_defined);
    gp_metrics_close(m);
    remove_folders();
}

static void a_path_that_is_no_file_is_reported(void **state)
{
    (void)state;
    make_folders();
    char path[256], expected[512];
    snprintf(path, sizeof(path), "%s/gpuprof/pipe.ini", folder);
    assert_int_equal(mkfifo(path, 0666), 0);
    snprintf(expected, sizeof(expected), "%s: no regular file\n", path);
    gp_metrics_close(opened_with(expected));
    remove_folders();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition_is_read),
        cmocka_unit_test(values_may_go_on_in_the_next_lines),
        cmocka_unit_test(mistakes_are_reported_with_file_and_line),
        cmocka_unit_test(a_dropped_section_is_dropped_in_all_its_lines),
        cmocka_unit_test(a_bad_definition_does_not_take_others_with_it),
        cmocka_unit_test(a_very_long_word_is_refused),
        cmocka_unit_test(metrics_use_metrics),
        cmocka_unit_test(a_metric_that_needs_something_does_not_apply_without_it),
        cmocka_unit_test(a_skipped_launch_gives_its_reason),
        cmocka_unit_test(unknown_metrics_in_formulas_are_reported),
        cmocka_unit_test(cycles_are_found),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(evaluation_takes_bounded_time),
        cmocka_unit_test(a_condition_chooses_the_formula),
        cmocka_unit_test(conditions),
        cmocka_unit_test(a_condition_may_ask_where_the_counters_come_from),
        cmocka_unit_test(selection),
        cmocka_unit_test(the_diagnosis_is_selected_behind_the_default_set),
        cmocka_unit_test(a_metric_without_an_equivalent_says_why),
        cmocka_unit_test(sets_have_names),
        cmocka_unit_test(counters_are_selected_by_their_own_names),
        cmocka_unit_test(a_users_definition_replaces_the_shipped_one),
        cmocka_unit_test(a_users_mistake_leaves_the_shipped_definition),
        cmocka_unit_test(a_path_that_is_no_file_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
