/* base/cause: the list of causes. */
#include "base/cause.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static enum gp_cause at(int i)
{
    return (enum gp_cause)i;
}

static void each_cause_has_a_word_of_its_own(void **state)
{
    (void)state;
    assert_null(gp_cause_word(GP_CAUSE_NONE));
    for (int i = 1; i < GP_CAUSES; i++) {
        const char *word = gp_cause_word(at(i));
        assert_int_equal(strspn(word, "abcdefghijklmnopqrstuvwxyz-"), strlen(word));
        assert_true(islower((unsigned char)word[0]));
        assert_int_equal(gp_cause_by_word(word), i); /* no cause before it has this word */
    }
}

static void each_cause_has_a_sentence_of_its_own(void **state)
{
    (void)state;
    assert_null(gp_cause_text(GP_CAUSE_NONE));
    for (int i = 1; i < GP_CAUSES; i++) {
        const char *text = gp_cause_text(at(i));
        assert_true(isalpha((unsigned char)text[0]));
        assert_true(text[strlen(text) - 1] != '.'); /* messages go on behind it */
        /* It stands alone. */
        if (strncmp(text, "it ", 3) == 0 || strncmp(text, "its ", 4) == 0)
            fail_msg("%s: '%s' needs the sentence before it", gp_cause_word(at(i)), text);
        for (int k = 1; k < i; k++)
            assert_string_not_equal(gp_cause_text(at(k)), text);
        const struct gp_reason reason = gp_reason_of(at(i));
        assert_int_equal(reason.cause, i);
        assert_ptr_equal(reason.text, text);
    }
}

static void a_word_that_is_not_known_is_another_cause(void **state)
{
    (void)state;
    assert_int_equal(gp_cause_by_word("eaten-by-the-dog"), GP_CAUSE_OTHER);
    assert_int_equal(gp_cause_by_word(""), GP_CAUSE_OTHER);
    assert_int_equal(gp_cause_by_word("no-memory"), GP_CAUSE_NO_MEMORY);
}

static void no_reason_is_cause_0(void **state)
{
    (void)state;
    const struct gp_reason none = {0};
    const struct gp_reason first = GP_REASON_TEXT(NO_ROOM, "one"), other = GP_REASON(NO_MEMORY);
    assert_int_equal(none.cause, GP_NO_REASON.cause);
    assert_string_equal(gp_reason_or(none, other).text, "out of memory");
    assert_string_equal(gp_reason_or(first, other).text, "one");
    assert_int_equal(gp_reason_or(none, none).cause, GP_CAUSE_NONE);
}

/* The text may say more, and another cause may say the same. */
static void reasons_are_alike_by_their_cause(void **state)
{
    (void)state;
    assert_true(gp_reasons_are_alike(GP_REASON(OVER_LIMIT), GP_REASON_TEXT(OVER_LIMIT, "60 GB")));
    assert_false(
        gp_reasons_are_alike(GP_REASON_TEXT(OVER_LIMIT, "full"), GP_REASON_TEXT(NO_ROOM, "full")));
    assert_true(gp_reasons_are_alike(GP_NO_REASON, GP_NO_REASON));
    assert_false(gp_reasons_are_alike(GP_NO_REASON, GP_REASON(NO_ROOM)));
    /* The text is all that is known of the call that failed. */
    assert_false(gp_reasons_are_alike(GP_REASON_TEXT(CUPTI_FAILED, "cuptiA: CUPTI_ERROR_UNKNOWN"),
                                      GP_REASON_TEXT(CUPTI_FAILED, "cuptiB: CUPTI_ERROR_UNKNOWN")));
    assert_true(gp_reasons_are_alike(GP_REASON_TEXT(OTHER, "x"), GP_REASON_TEXT(OTHER, "x")));
}

/* Which a program that reads profiles has to know. */
static void the_documents_list_each_cause(void **state)
{
    (void)state;
    static char document[1 << 17];
    FILE *f = fopen("docs/profile-format.md", "r");
    assert_non_null(f);
    document[fread(document, 1, sizeof(document) - 1, f)] = '\0';
    fclose(f);
    for (int i = 1; i < GP_CAUSES; i++) {
        char row[512];
        snprintf(row, sizeof(row), "\n| `%s` | %s |\n", gp_cause_word(at(i)), gp_cause_text(at(i)));
        if (!strstr(document, row))
            fail_msg("docs/profile-format.md has no row%s", row);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cause_has_a_word_of_its_own),
        cmocka_unit_test(each_cause_has_a_sentence_of_its_own),
        cmocka_unit_test(a_word_that_is_not_known_is_another_cause),
        cmocka_unit_test(no_reason_is_cause_0),
        cmocka_unit_test(reasons_are_alike_by_their_cause),
        cmocka_unit_test(the_documents_list_each_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
