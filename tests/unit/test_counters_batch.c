/* counters/batch and counters/measured_rows: which launches of a batch the hardware counts, and
 * whose counters stand for the others. */
#include "counters/batch.h"
#include "counters/inside.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct gp_member members[64];
static struct gp_share_facts facts[64];
static struct gp_batch batch;

/* A batch, a letter for each launch; the letter is its fingerprint. Capitals were assumed, others
 * compared. '-': not compared; '.': it is not to be counted; '!' behind a launch: alone in any
 * case;
 * '*': it asks, so its counts depend on time; '+': and is known by its work alone;
 * '?': its fingerprint does not tell all; '~': its copy has another layout; '/': it
 * cannot share a range, unless ':' follows: its copy is in parts; '%': others with its work had
 * other fingerprints. */
struct row {
    const char *name, *batch;
    const char *known;  /* the fingerprints of which enough launches were measured before */
    const char *shares; /* of each launch: 1 alone, 0 not at all, a to p: the bundle, 2: not now */
};

#define FOUR(x) x x x x
#define SIXTEEN(x) FOUR(x) FOUR(x) FOUR(x) FOUR(x)

static const struct row rows[] = {
    {"launches that were not compared are counted", "---", "", "111"},
    {"the first four are", "xxx", "", "111"},
    {"and the next ones together", "xxxxxxx", "", "1111aaa"},
    {"one would be a bundle for itself", "xxxxx", "", "11111"},
    {"of each fingerprint, all in one range", "xyxyxyxyxyxy", "", "11111111aaaa"},
    {"where enough are known they are not counted", "xxyy", "x", "0011"},
    {"one more is, from time to time", "xxxXX", "X", "100aa"},
    {"unless their fingerprints do not tell all", "x?x?xy", "x", "aa01"},
    {"assumed ones are, together", "XXX", "x", "aaa"},
    {"assumed and compared ones", "xXxX", "x", "0a0a"},
    {"a single assumed one", "X", "x", "1"},
    {"one that is counted alone in any case", "x!xXX", "x", "10aa"},
    {"it stands for those behind it", "x!xxxxx", "", "1111aa"},
    {"launches of other layouts, too", "XX~X~X", "x", "aaaa"},
    {"but not those without one", "X/X/XX", "x", "11aa"},
    {"unless they are in parts", "X/:X/XX", "x", "a1aa"},
    {"others do not count", ".X.X.", "x", "-a-a-"},
    {"a bundle is full", SIXTEEN("X") SIXTEEN("X") "XX", "x", SIXTEEN("a") SIXTEEN("a") "bb"},
    {"and one that is left over is alone", SIXTEEN("X") SIXTEEN("X") "X", "x",
     SIXTEEN("a") SIXTEEN("a") "1"},
    {"one of launches that ask is smaller", SIXTEEN("X*") "X*X*", "x", SIXTEEN("a") "bb"},
    {"launches that ask are in bundles of their own", "XY*XY*XY*", "xy", "ababab"},
    {"a single one is alone", "XY*X", "xy", "a1a"},
    {"launches of one shape that are taken for different ones share no range", "X%X%Y%Y%X%Y%", "xy",
     "aabbab"},
    {"but those that were compared do", "X%x?%Y%y?%Y%", "xy", "aabab"},
    {"launches of other shapes fill their bundles", "X%Y%ZZX%W", "xyzw", "a1aaaa"},
    {"so are those that are known by their work", "XY*Z+XY*Z+", "xyz", "abcabc"},
};

static const struct {
    struct row row;
    unsigned ranges; /* that are left */
} rows_of_few[] = {
    {{"without a range launches wait", "-----", "", "11222"}, 2},
    {{"bundles and blanks have theirs first", "---XXX", "x", "112aaa"}, 4},
    {{"bundles of both kinds have theirs", "------XY*XY*", "xy", "111112abab"}, 8},
    {{"bundles of all kinds have theirs", "------XY*Z+XY*Z+", "xyz", "111112abcabc"}, 9},
    {{"copies in parts need no blank of a layout", "---X/:X/:X/:", "x", "112aaa"}, 4},
    {{"launches like those that wait do, too", "---xxxxxx", "", "122222222"}, 2},
    {{"others do not", "---XX-", "x", "112aa2"}, 4},
};

static unsigned measured_of(const struct row *row, char letter)
{
    return strchr(row->known, letter)          ? GP_LEAST_MEASURED
           : strchr(row->known, letter & 0x5f) ? GP_LEAST_MEASURED - 1
                                               : 0;
}

static void read_launch(const struct row *row, char at)
{
    const char letter = (char)(at | 0x20);
    struct gp_member *m = &members[batch.count];
    *m = (struct gp_member){.run = {.when = GP_RUN_LATER, .layout = 7},
                            .kind = {.shape = {.kernel = (uint64_t)letter}},
                            .fingerprint = {.kernel = (uint64_t)letter},
                            .state = GP_LAUNCH_ALIKE,
                            .identity = at == '-' || at == '.'   ? GP_NO_IDENTITY
                                        : at >= 'A' && at <= 'Z' ? GP_ASSUMED_IDENTITY
                                                                 : GP_FOUND_IDENTITY};
    facts[batch.count] = (struct gp_share_facts){.counted = at != '.',
                                                 .complete = true,
                                                 .measured = measured_of(row, letter),
                                                 .fingerprint = {.kernel = (uint64_t)letter},
                                                 .fingerprint_ms = 0.3};
    batch_enter(&batch, m);
}

static void read_batch(const struct row *row)
{
    batch = (struct gp_batch){0};
    for (const char *at = row->batch; *at; at++) {
        struct gp_member *m = &members[batch.count ? batch.count - 1 : 0];
        if (*at == '!')
            m->round = 1;
        else if (*at == '*')
            m->questions = 1;
        else if (*at == '+')
            m->questions = m->by_work = 1;
        else if (*at == '?')
            facts[batch.count - 1].complete = false;
        else if (*at == '~')
            m->run.layout = 100 + batch.count;
        else if (*at == '/')
            m->run.layout = 0;
        else if (*at == ':')
            m->run.in_parts = true;
        else if (*at == '%')
            m->kind.shape.kernel = 1;
        else
            read_launch(row, *at);
    }
}

static char share_of(unsigned i)
{
    const struct gp_member *m = &members[i];
    return !facts[i].counted         ? '-'
           : m->share == GP_ALONE    ? '1'
           : m->share == GP_NOT_NOW  ? '2'
           : m->share == GP_TOGETHER ? (char)('a' + m->bundle - 1)
                                     : '0';
}

static void has_its_shares(const struct row *row, unsigned ranges)
{
    char shares[65] = "";
    read_batch(row);
    batch_share(&batch, facts, true, ranges);
    for (unsigned k = 0; k < batch.count; k++)
        shares[k] = share_of(k);
    if (strcmp(shares, row->shares) != 0)
        fail_msg("%s: %s", row->name, shares);
}

static void each_launch_has_its_share(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        has_its_shares(&rows[i], GP_MOST_RANGES);
    for (size_t i = 0; i < sizeof(rows_of_few) / sizeof(rows_of_few[0]); i++)
        has_its_shares(&rows_of_few[i].row, rows_of_few[i].ranges);
}

/* A launch that is over keeps its share, and its bundle of a round before. */
static void launches_of_other_rounds_stay(void **state)
{
    (void)state;
    const struct row row = {.batch = ".XY.", .known = "xy"};
    read_batch(&row);
    members[1].kind.shape = members[2].kind.shape = members[0].kind.shape; /* each is alone */
    members[0].share = members[3].share = GP_TOGETHER;
    members[0].bundle = 1;
    members[3].bundle = 2;
    batch_share(&batch, facts, true, GP_MOST_RANGES);
    assert_true(members[1].share == GP_ALONE && members[2].share == GP_ALONE);
    assert_true(members[0].share == GP_TOGETHER && members[3].share == GP_TOGETHER);
    assert_true(members[0].bundle == 1 && members[3].bundle == 2);
    assert_int_equal(batch.bundle_count, 0);
}

static void with_several_passes_none_share(void **state)
{
    (void)state;
    const struct row row = {.batch = "xXXyyyyy", .known = "x"};
    read_batch(&row);
    batch_share(&batch, facts, false, GP_MOST_RANGES);
    for (unsigned i = 0; i < batch.count; i++)
        assert_int_equal(members[i].share, i == 0 ? GP_NOT_AT_ALL : GP_ALONE);
    const struct row due = {.batch = "xxxx", .known = "X"};
    read_batch(&due);
    batch_share(&batch, facts, false, GP_MOST_RANGES);
    for (unsigned i = 0; i < batch.count; i++)
        assert_int_equal(members[i].share, i == 0 ? GP_ALONE : GP_NOT_AT_ALL);
}

static bool is_identified(const char *launches, const char *known, double fingerprint_ms)
{
    const struct row row = {.batch = launches, .known = known};
    read_batch(&row);
    for (unsigned i = 0; i < batch.count; i++)
        facts[i].fingerprint_ms = fingerprint_ms;
    batch_share(&batch, facts, true, GP_MOST_RANGES);
    return batch_is_to_be_identified(&batch, facts);
}

static void assumed_launches_are_identified_where_that_is_quicker(void **state)
{
    (void)state;
    assert_true(is_identified("XXX", "x", 1));
    assert_true(is_identified("xXX.", "x", 1));
    assert_true(is_identified("X", "x", 1));
    assert_false(is_identified("XXX", "x", 20));
    assert_false(is_identified("X", "x", 60));
    assert_false(is_identified("XXX?", "x", 1));
    /* The hardware counts in any case. */
    assert_false(is_identified("XXX-", "x", 1));
    assert_false(is_identified("XXXy", "x", 1));
    assert_false(is_identified("XXXX!", "x", 1));
    assert_false(is_identified("XXX", "", 1));
    assert_false(is_identified("XXX", "X", 1));
    /* There is nobody to tell. */
    assert_false(is_identified("xxx", "x", 1));
    assert_false(is_identified("...", "x", 1));
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A batch and the steps of it. A letter for each launch, with the facts found of it:
 * n  its fingerprint is new             u  no fingerprint pays
 * l  it is like a launch before         f  its fingerprint cannot be taken
 * d  so it seems, and it is not         t  instrumented code takes too long
 * m  it is like a launch of the batch   F  new, and it cannot be measured
 * a  it is assumed to be alike, and is  T  like a launch before, and counted together
 * x  it is assumed, and is not          X  the same, and the sum is wrong
 * k  like a launch before, and not counted
 * P  as T, and its copy is in parts
 * A '?' behind it: whether it ends is to be seen first. Steps, with the number of the launch:
 * I  identify  C  count, with the pass  B  blank  G  the bundle  M  measure
 * b  the blank of a bundle
 * R  read      S  settle                A  again */
struct steps {
    const char *name, *launches;
    unsigned hardware; /* passes */
    const char *steps;
};

static const struct steps all_steps[] = {
    {"nothing to do", "", 1, ""},
    {"a new launch", "n", 1, "I0 C00 M0"},
    {"a launch like one before", "l", 1, "I0 C00 R"},
    {"launches of both kinds", "nl", 1, "I0 I1 C00 C10 M0 R"},
    {"each kind of step for all", "nnl", 2, "I0 I1 I2 C00 C10 C20 C01 C11 C21 M0 M1 R"},
    {"no counters of the hardware", "nu", 0, "I0 M0 M1"},
    {"a launch whose fingerprint does not pay", "u", 1, "C00 M0"},
    {"a launch whose fingerprint cannot be taken", "f", 1, "I0 C00 M0"},
    {"a launch that takes too long", "t", 2, "C00 C01"},
    {"a launch that cannot be measured", "F", 1, "I0 C00 M0"},
    {"the hardware says that it is another one", "d", 1, "I0 C00 R M0"},
    {"a launch like one of the batch", "nm", 1, "I0 I1 C00 C10 M0 R S"},
    {"assumed launches are not identified", "aa", 1, "C00 C10 R"},
    {"but when the hardware says no", "xa", 1, "C00 C10 R A I0 C00 R"},
    {"enough is known of launches like it", "k", 1, "I0"},
    {"launches that are counted together", "TTT", 1, "I0 I1 I2 B0 G0 R"},
    {"a blank of all copies, where one is in parts", "TPT", 1, "I0 I1 I2 b0 G0 R"},
    {"others come before it", "nTP", 1, "I0 I1 I2 C00 b1 G1 M0 R"},
    {"and by themselves, if their sum is wrong", "XX", 1, "I0 I1 B0 G0 R A C00 C10 R"},
    {"others are counted between them", "nTT", 1, "I0 I1 I2 C00 B1 G1 M0 R"},
    {"launches that may not end come first", "nn?u", 1, "I1 I0 C10 C00 C20 M1 M0 M2"},
};

struct found {
    char letter;
    bool again; /* in another round */
};
static struct found found[8];

static void consider(unsigned i)
{
    const char l = found[i].letter;
    bool assumed = (l == 'a' || l == 'x') && !found[i].again;
    if (assumed)
        members[i].identity = GP_ASSUMED_IDENTITY;
    gp_launch_move(&members[i].state, assumed    ? GP_LAUNCH_ASSUME
                                      : l == 'u' ? GP_LAUNCH_SKIP
                                      : l == 't' ? GP_LAUNCH_LEAVE_OUT
                                                 : GP_LAUNCH_IDENTIFY);
}

static bool identify(unsigned i)
{
    const char l = found[i].letter;
    if (l == 'f')
        return false;
    members[i].identity = GP_FOUND_IDENTITY;
    gp_launch_move(&members[i].state, l == 'n' || l == 'F' ? GP_LAUNCH_FIND_NONE : GP_LAUNCH_FIND);
    return true;
}

static void share(void)
{
    for (unsigned i = 0; i < batch.count; i++) {
        struct gp_member *m = &members[i];
        const char l = found[i].letter;
        if (m->round != batch.round)
            continue;
        m->share = l == 'k'                              ? GP_NOT_AT_ALL
                   : strchr("TXP", l) && !found[i].again ? GP_TOGETHER
                                                         : GP_ALONE;
        if (m->share == GP_NOT_AT_ALL)
            gp_launch_move(&m->state, GP_LAUNCH_CONFIRM);
        if (m->share != GP_TOGETHER)
            continue;
        if (batch.bundle_count == 0)
            batch.bundles[batch.bundle_count++] = (struct gp_bundle){.first = i};
        m->bundle = 1;
        batch.bundles[0].in_parts = batch.bundles[0].in_parts || l == 'P';
    }
}

static void judge(void)
{
    for (unsigned i = 0; i < batch.count; i++) {
        struct gp_member *m = &members[i];
        const char l = found[i].letter;
        if (!launch_awaits_hardware(m->state) || m->round != batch.round)
            continue;
        bool denied = (l == 'x' || l == 'X') && !found[i].again;
        gp_launch_move(&m->state, denied     ? GP_LAUNCH_DENY
                                  : l == 'd' ? GP_LAUNCH_LOSE
                                  : l == 'm' ? GP_LAUNCH_CONFIRM_MEMBER
                                             : GP_LAUNCH_CONFIRM);
        m->bundle = 0;
        if (denied)
            batch_put_off(&batch, m);
        found[i].again = denied;
    }
    batch.bundle_count = 0;
}

/* The step as text, and its effect. */
static bool make(const struct gp_step *step, char *text)
{
    const unsigned i = step->member ? step->member->number : 0;
    *text = '\0';
    switch (step->kind) {
    case GP_STEP_CONSIDER:
        consider(i);
        return true;
    case GP_STEP_IDENTIFY:
        sprintf(text, "I%u", i);
        return identify(i);
    case GP_STEP_CHOOSE:
        return true;
    case GP_STEP_SHARE:
        share();
        return true;
    case GP_STEP_COUNT:
        sprintf(text, "C%u%u", i, step->pass);
        members[i].passes = step->pass + 1;
        return true;
    case GP_STEP_BLANK:
        sprintf(text, "%c%u", step->of_bundle ? 'b' : 'B', i);
        return true;
    case GP_STEP_TOGETHER:
        sprintf(text, "G%u", i);
        return true;
    case GP_STEP_MEASURE:
        sprintf(text, "M%u", i);
        if (found[i].letter != 'F')
            gp_launch_move(&members[i].state, GP_LAUNCH_MEASURE);
        return found[i].letter != 'F';
    case GP_STEP_READ:
        strcpy(text, "R");
        judge();
        return true;
    case GP_STEP_SETTLE:
        strcpy(text, "S");
        for (unsigned k = 0; k < batch.count; k++)
            if (members[k].state == GP_LAUNCH_LIKE_MEMBER)
                gp_launch_move(&members[k].state, GP_LAUNCH_CONFIRM);
        return true;
    case GP_STEP_AGAIN:
        strcpy(text, "A");
        return true;
    default:
        fail();
    }
    return false;
}

static void begin(const char *launches)
{
    batch = (struct gp_batch){0};
    for (const char *at = launches; *at; at++) {
        if (*at == '?') {
            members[batch.count - 1].run.unsure = true;
            continue;
        }
        found[batch.count] = (struct found){*at, false};
        members[batch.count] =
            (struct gp_member){.run = {.when = GP_RUN_LATER, .layout = 7}, .state = GP_LAUNCH_RAN};
        batch_enter(&batch, &members[batch.count]);
    }
}

static void each_batch_makes_its_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(all_steps) / sizeof(all_steps[0]); i++) {
        const struct gp_batch_facts f = {
            .session = true, .instrumented = true, .hardware_passes = all_steps[i].hardware};
        char steps[256] = "";
        struct gp_step step;
        begin(all_steps[i].launches);
        for (unsigned n = 0; batch_next(&batch, &f, &step); n++) {
            char text[16];
            assert_true(n < 64);
            bool well = make(&step, text);
            batch_stepped(&batch, &step, well);
            if (*text)
                snprintf(steps + strlen(steps), sizeof(steps) - strlen(steps), "%s%s",
                         *steps ? " " : "", text);
        }
        if (strcmp(steps, all_steps[i].steps) != 0)
            fail_msg("%s: %s", all_steps[i].name, steps);
        for (unsigned k = 0; k < batch.count; k++)
            assert_false(launch_is_undecided(members[k].state));
    }
}

/* A launch that cannot wait is counted before it is identified, and nothing confirms it; where the
 * session stands in instrumented code it is counted behind it. */
static void a_launch_that_cannot_wait_makes_its_steps_at_once(void **state)
{
    static const struct {
        char letter;
        const char *steps;
        bool stands;
    } at_once[] = {{'n', "I0 M0 C00 C01", true},  {'l', "I0 C00 C01", true},
                   {'n', "C00 C01 I0 M0", false}, {'l', "C00 C01 I0", false},
                   {'u', "C00 C01 M0", false},    {'t', "C00 C01", false},
                   {'f', "C00 C01 I0 M0", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(at_once) / sizeof(at_once[0]); i++) {
        const struct gp_batch_facts f = {.session = true,
                                         .instrumented = true,
                                         .hardware_passes = 2,
                                         .code_first = at_once[i].stands};
        char steps[64] = "", text[16];
        struct gp_step step;
        begin((const char[]){at_once[i].letter, '\0'});
        members[0].run.when = GP_RUN_NOW;
        while (batch_next_of(&members[0], &f, &step)) {
            bool well = make(&step, text);
            if (members[0].state == GP_LAUNCH_ALIKE) /* it has the counters of that launch */
                members[0].state = GP_LAUNCH_RECALLED;
            batch_stepped(&batch, &step, well);
            if (*text)
                snprintf(steps + strlen(steps), sizeof(steps) - strlen(steps), "%s%s",
                         *steps ? " " : "", text);
        }
        assert_string_equal(steps, at_once[i].steps);
    }
}

/* The launches that wait for the hardware's word are judged without it. */
static void without_a_session_launches_are_judged_and_no_more(void **state)
{
    const struct gp_batch_facts f = {.instrumented = true};
    struct gp_step step;
    (void)state;
    begin("nl");
    assert_false(batch_next(&batch, &f, &step));
    members[1].state = GP_LAUNCH_ALIKE;
    assert_true(batch_next(&batch, &f, &step));
    assert_int_equal(step.kind, GP_STEP_READ);
}

/* A batch can stop before a step that takes too long. */
static void steps_tell_how_long_they_take(void **state)
{
    const struct gp_batch_facts f = {.session = true, .instrumented = true, .hardware_passes = 1};
    struct gp_step step;
    (void)state;
    begin("n");
    members[0].run.native_ms = 5;
    members[0].code_ms = 90;
    double identify = 0, count = 0, measure = 0, others = 0;
    while (batch_next(&batch, &f, &step)) {
        char text[16];
        *(step.kind == GP_STEP_IDENTIFY  ? &identify
          : step.kind == GP_STEP_COUNT   ? &count
          : step.kind == GP_STEP_MEASURE ? &measure
                                         : &others) += step.ms;
        batch_stepped(&batch, &step, make(&step, text));
    }
    assert_true(identify == 90 && measure == 90 && others == 0);
    assert_true(count > 5 && count < 10);
}

/* A pass of the hardware that could not be made is the last one of its launch. */
static void a_pass_that_broke_off_is_the_last_one(void **state)
{
    const struct gp_batch_facts f = {.session = true, .hardware_passes = 3};
    struct gp_step step;
    (void)state;
    begin("t");
    members[0].state = GP_LAUNCH_HARDWARE_ONLY;
    batch.decided = GP_SHARES_DECIDED;
    assert_true(member_is_open(&members[0], &f));
    assert_true(batch_next(&batch, &f, &step));
    batch_stepped(&batch, &step, false);
    assert_false(batch_next(&batch, &f, &step));
    assert_false(member_is_open(&members[0], &f));
}

/* ---- rows of the hardware ---------------------------------------------------------------------
 */

static void add(struct gp_measured_rows *rows, double value)
{
    const double values[2] = {value, -value};
    measured_add(rows, values, 2);
}

static void rows_are_taken_in_turn(void **state)
{
    (void)state;
    struct gp_measured_rows rows = {0};
    assert_null(measured_take(&rows, 2));
    for (unsigned i = 0; i < GP_LEAST_MEASURED; i++) {
        assert_int_equal(measured_count(&rows), i);
        add(&rows, i);
    }
    for (unsigned i = 0; i < 3 * GP_LEAST_MEASURED; i++) {
        const double *row = measured_take(&rows, 2);
        assert_true(row[0] == i % GP_LEAST_MEASURED && row[1] == -row[0]);
    }
    add(&rows, 50); /* in place of the oldest */
    assert_true(measured_take(&rows, 2)[0] == 50);
    assert_true(measured_take(&rows, 2)[0] == 1);
    measured_free(&rows);
    assert_int_equal(measured_count(&rows), 0);
}

static void one_more_is_measured_ever_more_rarely(void **state)
{
    (void)state;
    struct gp_measured_rows rows = {0};
    unsigned taken = 0, more[6] = {0};
    for (unsigned i = 0; i < GP_LEAST_MEASURED; i++)
        add(&rows, i);
    for (unsigned i = 0; i < 6; taken++) {
        if (measured_count(&rows) == GP_LEAST_MEASURED) {
            measured_take(&rows, 2);
            continue;
        }
        assert_int_equal(measured_count(&rows), GP_LEAST_MEASURED - 1);
        more[i++] = taken;
        taken = (unsigned)-1;
        add(&rows, 9);
    }
    assert_int_equal(more[0], 64);
    assert_int_equal(more[1], 128);
    assert_int_equal(more[4], 1024);
    assert_int_equal(more[5], 1024);
    measured_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_launch_has_its_share),
        cmocka_unit_test(launches_of_other_rounds_stay),
        cmocka_unit_test(with_several_passes_none_share),
        cmocka_unit_test(assumed_launches_are_identified_where_that_is_quicker),
        cmocka_unit_test(each_batch_makes_its_steps),
        cmocka_unit_test(a_launch_that_cannot_wait_makes_its_steps_at_once),
        cmocka_unit_test(without_a_session_launches_are_judged_and_no_more),
        cmocka_unit_test(a_pass_that_broke_off_is_the_last_one),
        cmocka_unit_test(steps_tell_how_long_they_take),
        cmocka_unit_test(rows_are_taken_in_turn),
        cmocka_unit_test(one_more_is_measured_ever_more_rarely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
