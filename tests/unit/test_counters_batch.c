/* counters/batch and counters/measured_rows: which launches of a batch the hardware counts, and
 * whose counters stand for the others. */
#include "counters/batch.h"
#include "counters/measured_rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A batch, a letter for each launch; the letter is its fingerprint. Capitals were assumed, others
 * compared. '-': not compared; '.': it is not to be counted; '!' behind a launch: alone in any
 * case;
 * '?': its fingerprint does not tell all; '~': its copy has another layout; '/': it
 * cannot share a range. */
struct row {
    const char *name, *batch;
    const char *known;  /* the fingerprints of which enough launches were measured before */
    const char *shares; /* of each launch: 1 alone, 0 not at all, a to p: the bundle */
};

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
    {"others do not count", ".X.X.", "x", "-a-a-"},
    {"a bundle is full", "XXXXXXXXXXXXXXXXXX", "x", "aaaaaaaaaaaaaaaabb"},
    {"and one that is left over is alone", "XXXXXXXXXXXXXXXXX", "x", "aaaaaaaaaaaaaaaa1"},
};

static unsigned measured_of(const struct row *row, char letter)
{
    return strchr(row->known, letter)          ? GP_LEAST_MEASURED
           : strchr(row->known, letter & 0x5f) ? GP_LEAST_MEASURED - 1
                                               : 0;
}

static unsigned read_batch(const struct row *row, struct gp_batch_launch *launches)
{
    unsigned count = 0;
    for (const char *at = row->batch; *at; at++) {
        struct gp_batch_launch *l = &launches[count ? count - 1 : 0];
        if (*at == '!')
            l->alone = true;
        else if (*at == '?')
            l->tells_all = false;
        else if (*at == '~')
            l->layout = 100 + count;
        else if (*at == '/')
            l->layout = 0;
        else {
            const char letter = (char)(*at | 0x20);
            launches[count++] = (struct gp_batch_launch){
                .counted = *at != '.',
                .identified = *at != '-' && *at != '.',
                .tells_all = true,
                .assumed = *at >= 'A' && *at <= 'Z',
                .fingerprint = {.kernel = (uint64_t)letter},
                .measured = measured_of(row, letter),
                .layout = 7,
                .fingerprint_ms = 0.3,
            };
        }
    }
    return count;
}

static char share_of(const struct gp_batch_launch *l)
{
    return !l->counted               ? '-'
           : l->share == GP_ALONE    ? '1'
           : l->share == GP_TOGETHER ? (char)('a' + l->bundle - 1)
                                     : '0';
}

static void each_launch_has_its_share(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct gp_batch_launch launches[32];
        char shares[33] = "";
        unsigned count = read_batch(&rows[i], launches);
        gp_batch_decide(launches, count, true);
        for (unsigned k = 0; k < count; k++)
            shares[k] = share_of(&launches[k]);
        if (strcmp(shares, rows[i].shares) != 0)
            fail_msg("%s: %s", rows[i].name, shares);
    }
}

static void with_several_passes_none_share(void **state)
{
    (void)state;
    struct gp_batch_launch launches[8];
    const struct row row = {.batch = "xXXyyyyy", .known = "x"};
    unsigned count = read_batch(&row, launches);
    gp_batch_decide(launches, count, false);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(launches[i].share, i == 0 ? GP_NOT_AT_ALL : GP_ALONE);
    const struct row due = {.batch = "xxxx", .known = "X"};
    count = read_batch(&due, launches);
    gp_batch_decide(launches, count, false);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(launches[i].share, i == 0 ? GP_ALONE : GP_NOT_AT_ALL);
}

static bool is_identified(const char *batch, const char *known, double fingerprint_ms)
{
    struct gp_batch_launch launches[32];
    const struct row row = {.batch = batch, .known = known};
    unsigned count = read_batch(&row, launches);
    for (unsigned i = 0; i < count; i++)
        launches[i].fingerprint_ms = fingerprint_ms;
    gp_batch_decide(launches, count, true);
    return gp_batch_is_to_be_identified(launches, count);
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

static void add(struct gp_measured_rows *rows, double value)
{
    const double values[2] = {value, -value};
    gp_measured_add(rows, values, 2);
}

static void rows_are_taken_in_turn(void **state)
{
    (void)state;
    struct gp_measured_rows rows = {0};
    assert_null(gp_measured_take(&rows, 2));
    for (unsigned i = 0; i < GP_LEAST_MEASURED; i++) {
        assert_int_equal(gp_measured_count(&rows), i);
        add(&rows, i);
    }
    for (unsigned i = 0; i < 3 * GP_LEAST_MEASURED; i++) {
        const double *row = gp_measured_take(&rows, 2);
        assert_true(row[0] == i % GP_LEAST_MEASURED && row[1] == -row[0]);
    }
    add(&rows, 50); /* in place of the oldest */
    assert_true(gp_measured_take(&rows, 2)[0] == 50);
    assert_true(gp_measured_take(&rows, 2)[0] == 1);
    gp_measured_free(&rows);
    assert_int_equal(gp_measured_count(&rows), 0);
}

static void one_more_is_measured_ever_more_rarely(void **state)
{
    (void)state;
    struct gp_measured_rows rows = {0};
    unsigned taken = 0, more[6] = {0};
    for (unsigned i = 0; i < GP_LEAST_MEASURED; i++)
        add(&rows, i);
    for (unsigned i = 0; i < 6; taken++) {
        if (gp_measured_count(&rows) == GP_LEAST_MEASURED) {
            gp_measured_take(&rows, 2);
            continue;
        }
        assert_int_equal(gp_measured_count(&rows), GP_LEAST_MEASURED - 1);
        more[i++] = taken;
        taken = (unsigned)-1;
        add(&rows, 9);
    }
    assert_int_equal(more[0], 64);
    assert_int_equal(more[1], 128);
    assert_int_equal(more[4], 1024);
    assert_int_equal(more[5], 1024);
    gp_measured_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_launch_has_its_share),
        cmocka_unit_test(with_several_passes_none_share),
        cmocka_unit_test(assumed_launches_are_identified_where_that_is_quicker),
        cmocka_unit_test(rows_are_taken_in_turn),
        cmocka_unit_test(one_more_is_measured_ever_more_rarely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
