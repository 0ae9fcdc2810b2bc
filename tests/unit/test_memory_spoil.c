/* memory/spoil: launches of a batch that cannot be replayed, as memory changed that no launch is
 * known to have written. */
#include "memory/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#define BASE ((uint64_t)1 << 40)
#define UNIT ((uint64_t)GP_UNIT_BYTES)
#define ALL_UNITS 4096u
#define MOST 8

struct all {
    struct gp_snapshot s;
    struct gp_divided *memory;
    struct gp_held_copy *log[MOST], copies[MOST];
    struct gp_addresses addresses[MOST];
};

static int make(void **state)
{
    struct all *a = calloc(1, sizeof(*a));
    const struct gp_range range = {BASE, BASE + ALL_UNITS * UNIT};
    a->memory = divided_of(&a->s, &range);
    a->s.versions.log = a->log;
    *state = a;
    return a->memory ? 0 : -1;
}

static int drop(void **state)
{
    struct all *a = *state;
    for (size_t i = 0; i < a->s.versions.log_count; i++) {
        segments_free(&a->copies[i].segments, false);
        segments_free(&a->copies[i].guarded, false);
    }
    writes_free(&a->s.learned);
    divided_close(&a->s, false);
    free(a);
    return 0;
}

static uint64_t at(unsigned unit)
{
    return BASE + unit * UNIT;
}

/* A launch of a kernel of its own with one address, that has saved some units. */
static struct gp_held_copy *add(struct all *a, unsigned address, unsigned from, unsigned to)
{
    const size_t i = a->s.versions.log_count++;
    struct gp_held_copy *copy = a->log[i] = &a->copies[i];
    copy->addresses = &a->addresses[i];
    *copy->addresses =
        (struct gp_addresses){.kernel = i + 1, .work = 100 + i, .shape = 200 + i, .count = 1};
    copy->addresses->of[0] = (struct gp_address){0, at(address), a->memory};
    divided_cut(a->memory, at(address));
    copy->order = copy->number = ++a->s.versions.made;
    if (from < to)
        assert_true(segments_add(&copy->segments, at(from), 1, (to - from) * UNIT, at(from)));
    return copy;
}

static void alarm_in(struct all *a, unsigned unit, uint64_t number)
{
    struct gp_alarm alarm = {at(unit), number};
    spoil_by_alarms(&a->s, &alarm, 1);
}

/* A letter for each launch: s for spoilt, - for not. */
static void expect(const struct all *a, const char *wanted)
{
    for (size_t i = 0; i < a->s.versions.log_count; i++)
        assert_int_equal(gp_held_copy_is_spoilt(&a->s, &a->copies[i]) ? 's' : '-', wanted[i]);
}

/* Launches save units from the first to before the second, from their addresses on; alarms are of a
 * unit and of the launch, from 1, that found it. */
static const struct row {
    const char *name;
    unsigned saved[MOST][2], alarms[2][2];
    const char *wanted;
} rows[] = {
    {"launches between the last save and the finder",
     {{0, 8}, {100, 108}, {200, 208}, {96, 100}, {0, 8}, {100, 108}, {300, 308}},
     {{104, 6}},
     "--sss--"},
    {"without a save, all before the finder",
     {{0, 8}, {96, 100}, {100, 108}, {0, 8}},
     {{104, 3}},
     "ss--"},
    {"a change that several have saved goes back to the first of them",
     {{0, 8}, {104, 105}, {105, 106}, {200, 208}, {104, 106}},
     {{105, 5}, {104, 5}},
     "--ss-"},
    {"changes apart have suspects of their own",
     {{104, 105}, {200, 208}, {104, 105}, {300, 308}, {200, 208}, {300, 308}},
     {{300, 6}, {104, 3}},
     "-s--s-"},
};

static void suspects_are_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct gp_alarm alarms[2];
        uint32_t count = 0;
        void *made;
        assert_int_equal(make(&made), 0);
        struct all *a = made;
        print_message("%s\n", row->name);
        for (size_t k = 0; k < strlen(row->wanted); k++)
            add(a, row->saved[k][0], row->saved[k][0], row->saved[k][1]);
        for (; count < 2 && row->alarms[count][1]; count++)
            alarms[count] = (struct gp_alarm){at(row->alarms[count][0]), row->alarms[count][1]};
        spoil_by_alarms(&a->s, alarms, count);
        expect(a, row->wanted);
        assert_int_equal(a->s.versions.most, GP_FEW_LOGGED);
        drop(&made);
    }
}

static void alarms_without_a_list_lose_all(void **state)
{
    struct all *a = *state;
    add(a, 0, 0, 8);
    add(a, 200, 200, 208);
    spoil_by_alarms(&a->s, NULL, GP_MOST_ALARMS + 1);
    expect(a, "ss");
}

static void no_alarm_loses_none(void **state)
{
    struct all *a = *state;
    add(a, 0, 0, 8);
    spoil_by_alarms(&a->s, NULL, 0);
    expect(a, "-");
}

/* It may lie beside a divided allocation that was given back. */
static void an_alarm_elsewhere_loses_none(void **state)
{
    struct all *a = *state;
    add(a, 0, 0, 8);
    add(a, 0, 0, 8);
    alarm_in(a, 2 * ALL_UNITS, 2);
    expect(a, "--");
}

static void launches_that_may_have_read_it_are_lost(void **state)
{
    struct all *a = *state;
    add(a, 104, 104, 108);
    add(a, 200, 200, 208);
    spoil_readers(&a->s, at(105), at(106)); /* the launch at hand has written it */
    expect(a, "-s");
}

/* It reaches no divided memory by its parameters, and may write there by an index. */
static void launches_beside_the_log_are_lost_in_between(void **state)
{
    struct all *a = *state;
    struct gp_held_copy before = {.number = ++a->s.versions.made}, between, behind;
    add(a, 104, 104, 105);
    between = (struct gp_held_copy){.number = ++a->s.versions.made};
    add(a, 104, 104, 105);
    behind = (struct gp_held_copy){.number = ++a->s.versions.made};
    alarm_in(a, 104, 4);
    expect(a, "--");
    assert_true(gp_held_copy_is_spoilt(&a->s, &between));
    assert_false(gp_held_copy_is_spoilt(&a->s, &before));
    assert_false(gp_held_copy_is_spoilt(&a->s, &behind));
}

static void launches_behind_a_spoilt_batch_are_not_lost(void **state)
{
    struct all *a = *state;
    add(a, 0, 0, 8);
    versions_spoil_all(&a->s);
    add(a, 0, 0, 8);
    expect(a, "s-");
}

static void changes_beyond_the_list_lose_more_and_none_too_few(void **state)
{
    struct all *a = *state;
    for (uint64_t i = 0; i < 2 * GP_MOST_SPOILT; i++)
        versions_spoil(&a->s, (struct gp_suspects){10 * i, 10 * i + 3});
    for (uint64_t number = 1; number <= 20 * GP_MOST_SPOILT; number++) {
        const struct gp_held_copy copy = {.number = number};
        const bool is_lost = number % 10 == 1 || number % 10 == 2;
        const bool is_listed = number < 10 * (GP_MOST_SPOILT - 1);
        assert_true(gp_held_copy_is_spoilt(&a->s, &copy) || !is_lost);
        assert_true(!gp_held_copy_is_spoilt(&a->s, &copy) || is_lost || !is_listed);
    }
}

/* A copy of the program stands right before the change, and wrote nothing but its own. */
static void copies_of_the_program_are_not_blamed(void **state)
{
    struct all *a = *state;
    struct gp_held_copy *stray = add(a, 96, 96, 98), *copied = add(a, 0, 103, 104);
    copied->addresses->kernel = 0;
    copied->addresses->count = 0;
    add(a, 104, 104, 105);
    assert_true(segments_add(&stray->guarded, BASE, 0, ALL_UNITS * UNIT, BASE));
    divided_cut(a->memory, at(100));
    alarm_in(a, 104, 3);
    assert_true(stray->strayed);
}

/* ---- streams --------------------------------------------------------------------------------- */

static void several_streams_lose_all(void **state)
{
    struct all *a = *state;
    held_copy_note_stream(add(a, 104, 104, 105), (CUstream)0x10, false);
    held_copy_note_stream(add(a, 200, 200, 208), (CUstream)0x20, false);
    held_copy_note_stream(add(a, 104, 104, 105), (CUstream)0x10, false);
    held_copy_note_stream(add(a, 300, 300, 308), (CUstream)0x10, false);
    assert_false(versions_are_in_order(&a->s.versions));
    alarm_in(a, 104, 3);
    expect(a, "ssss");
}

static void launches_that_were_waited_for_keep_the_order(void **state)
{
    struct all *a = *state;
    held_copy_note_stream(add(a, 104, 104, 105), (CUstream)0x10, false);
    add(a, 200, 200, 208);
    held_copy_note_stream(add(a, 104, 104, 105), (CUstream)0x10, false);
    alarm_in(a, 104, 3);
    expect(a, "-s-");
}

static void *in_thread(void *copy)
{
    held_copy_note_stream(copy, NULL, true);
    return NULL;
}

static void streams_of_threads_are_several(void **state)
{
    struct all *a = *state;
    pthread_t thread;
    held_copy_note_stream(add(a, 104, 104, 105), NULL, true);
    held_copy_note_stream(add(a, 200, 200, 208), CU_STREAM_PER_THREAD, false); /* the same */
    assert_true(versions_are_in_order(&a->s.versions));
    assert_int_equal(pthread_create(&thread, NULL, in_thread, add(a, 104, 104, 105)), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(versions_are_in_order(&a->s.versions));
    alarm_in(a, 104, 3);
    expect(a, "sss");
}

static void the_default_stream_is_none_of_a_thread(void **state)
{
    struct all *a = *state;
    held_copy_note_stream(add(a, 104, 104, 105), NULL, true);
    held_copy_note_stream(add(a, 200, 200, 208), NULL, false);
    assert_false(versions_are_in_order(&a->s.versions));
}

/* ---- learning -------------------------------------------------------------------------------- */

static bool has_learned(const struct all *a, size_t launch)
{
    const uint64_t work = a->addresses[launch].work;
    struct gp_work_writes *w;
    HASH_FIND(hh, a->s.learned.works, &work, sizeof(work), w);
    return w && w->count > 0;
}

static void launches_are_learned_from_that_may_have_written_it(void **state)
{
    struct all *a = *state;
    add(a, 96, 96, 100);   /* as the next one but one, before the last save */
    add(a, 104, 104, 105); /* the last that saved unit 104 */
    add(a, 96, 96, 100);
    add(a, 200, 200, 208);
    add(a, 104, 104, 105);
    a->memory->cut_count = 1; /* all from unit 96 on is one piece */
    alarm_in(a, 104, 5);
    expect(a, "--ss-");
    assert_true(has_learned(a, 2));
    assert_false(has_learned(a, 0) || has_learned(a, 1) || has_learned(a, 3) || has_learned(a, 4));
    assert_true(writes_are_suspect(&a->s.learned, &a->addresses[2]));
    assert_true(writes_are_suspect(&a->s.learned, &a->addresses[3]));
    assert_false(writes_are_suspect(&a->s.learned, &a->addresses[0]));
    assert_false(writes_are_suspect(&a->s.learned, &a->addresses[4]));
}

/* The piece ends where another launch has had an address. */
static void a_write_behind_its_piece_is_of_the_launch_with_the_next_address_before(void **state)
{
    struct all *a = *state;
    add(a, 40, 40, 41);
    add(a, 96, 96, 98);
    divided_cut(a->memory, at(100));
    add(a, 104, 104, 105);
    alarm_in(a, 104, 3);
    expect(a, "ss-");
    assert_true(has_learned(a, 1));
    assert_false(has_learned(a, 0));
}

static void launches_that_guard_it_are_blamed(void **state)
{
    struct all *a = *state;
    struct gp_held_copy *first = add(a, 96, 96, 98), *second = add(a, 200, 200, 201);
    struct gp_held_copy *before = add(a, 104, 104, 105), *third = add(a, 96, 96, 98);
    struct gp_held_copy *guards[] = {first, second, third};
    for (size_t i = 0; i < 3; i++)
        assert_true(segments_add(&guards[i]->guarded, BASE, 0, ALL_UNITS * UNIT, BASE));
    add(a, 104, 104, 105);
    alarm_in(a, 104, 5);
    expect(a, "---s-");
    assert_true(third->strayed);
    assert_false(first->strayed || second->strayed || before->strayed);
}

/* No launch has an address in front of it: then any that guards it may have written it. */
static void any_that_guards_it_is_blamed_where_none_has_an_address_before(void **state)
{
    struct all *a = *state;
    struct gp_held_copy *first = add(a, 96, 96, 98), *second = add(a, 200, 200, 201);
    assert_true(segments_add(&first->guarded, BASE, 0, 50 * UNIT, BASE));
    add(a, 4, 4, 5);
    struct gp_held_copy *behind = add(a, 96, 96, 98);
    assert_true(segments_add(&behind->guarded, BASE, 0, 50 * UNIT, BASE));
    alarm_in(a, 4, 3);
    assert_true(first->strayed);
    assert_false(second->strayed || behind->strayed);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suspects_are_lost),
        CASE(alarms_without_a_list_lose_all),
        CASE(no_alarm_loses_none),
        CASE(an_alarm_elsewhere_loses_none),
        CASE(launches_that_may_have_read_it_are_lost),
        CASE(launches_beside_the_log_are_lost_in_between),
        CASE(launches_behind_a_spoilt_batch_are_not_lost),
        CASE(changes_beyond_the_list_lose_more_and_none_too_few),
        CASE(copies_of_the_program_are_not_blamed),
        CASE(several_streams_lose_all),
        CASE(launches_that_were_waited_for_keep_the_order),
        CASE(streams_of_threads_are_several),
        CASE(the_default_stream_is_none_of_a_thread),
        CASE(launches_are_learned_from_that_may_have_written_it),
        CASE(a_write_behind_its_piece_is_of_the_launch_with_the_next_address_before),
        CASE(launches_that_guard_it_are_blamed),
        CASE(any_that_guards_it_is_blamed_where_none_has_an_address_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
