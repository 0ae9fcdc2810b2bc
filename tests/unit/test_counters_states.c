/* counters/states: the table of moves is one in which every state is reached, and none is left in
 * which a launch is stuck. */
#include "counters/inside.h"
#include "counters/states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct move {
    enum gp_launch_state from;
    enum gp_launch_event event;
    enum gp_launch_state to;
};

static const struct move moves[] = {
#define MOVE(from, event, to, sentence) {GP_LAUNCH_##from, GP_LAUNCH_##event, GP_LAUNCH_##to},
#include "counters/states.def"
};
static const struct {
    const char *words, *sentence;
} states[] = {
#define STATE(name, words, sentence) [GP_LAUNCH_##name] = {words, sentence},
#include "counters/states.def"
};
#define MOVES (sizeof(moves) / sizeof(moves[0]))

static void each_move_is_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOVES; i++) {
        enum gp_launch_state from = moves[i].from == GP_LAUNCH_ANY ? GP_LAUNCH_RAN : moves[i].from;
        gp_launch_move(&from, moves[i].event);
        assert_int_equal(from, moves[i].to);
    }
}

static void no_event_has_two_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOVES; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(moves[i].event == moves[k].event &&
                         (moves[i].from == moves[k].from || moves[i].from == GP_LAUNCH_ANY ||
                          moves[k].from == GP_LAUNCH_ANY));
}

static void a_move_that_is_not_there_changes_nothing(void **state)
{
    (void)state;
    enum gp_launch_state after, measured = GP_LAUNCH_MEASURED;
    assert_false(launch_state_after(GP_LAUNCH_MEASURED, GP_LAUNCH_ASSUME, &after));
    gp_launch_move(&measured, GP_LAUNCH_ASSUME);
    assert_int_equal(measured, GP_LAUNCH_MEASURED);
}

static void every_state_is_reached(void **state)
{
    bool reached[GP_LAUNCH_STATES] = {[GP_LAUNCH_CHOSEN] = true}, more = true;
    (void)state;
    while (more) {
        more = false;
        for (size_t i = 0; i < MOVES; i++)
            if ((moves[i].from == GP_LAUNCH_ANY || reached[moves[i].from]) && !reached[moves[i].to])
                reached[moves[i].to] = more = true;
    }
    for (int i = 0; i < GP_LAUNCH_STATES; i++)
        if (!reached[i])
            fail_msg("a launch is never %s", states[i].words);
}

/* From a state in which nothing is decided a launch can go on to one in which all is. */
static void no_undecided_state_is_an_end(void **state)
{
    (void)state;
    for (int from = 0; from < GP_LAUNCH_STATES; from++) {
        bool ends = !launch_is_undecided((enum gp_launch_state)from);
        for (size_t i = 0; !ends && i < MOVES; i++)
            ends = (int)moves[i].from == from && (int)moves[i].to != from;
        assert_true(ends);
    }
}

static void states_have_words_and_a_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < GP_LAUNCH_STATES; i++) {
        const char *sentence = states[i].sentence;
        assert_true(sentence[strlen(sentence) - 1] == '.');
        for (int k = 0; k < i; k++)
            assert_string_not_equal(states[i].words, states[k].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_move_is_made),
        cmocka_unit_test(no_event_has_two_answers),
        cmocka_unit_test(a_move_that_is_not_there_changes_nothing),
        cmocka_unit_test(every_state_is_reached),
        cmocka_unit_test(no_undecided_state_is_an_end),
        cmocka_unit_test(states_have_words_and_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
