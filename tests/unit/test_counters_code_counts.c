/* counters/code_counts: the counts of single instructions, by kernel and code. */
#include "counters/code_counts.h"
#include "counters/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CUBIN_BYTES 10000

static void *find_cubin(void *letter, size_t most, size_t *size)
{
    if (most < CUBIN_BYTES)
        return NULL;
    char *cubin = malloc(CUBIN_BYTES);
    assert_non_null(cubin);
    memset(cubin, *(const char *)letter, CUBIN_BYTES);
    *size = CUBIN_BYTES;
    return cubin;
}

static bool count(const char *name, uint64_t number, const char *letter)
{
    char data = *letter;
    struct gp_run run = {.kernel = name, .code = &number, .find_code_data = &data};
    run.find_cubin = data == '-' ? NULL : find_cubin;
    bool begun = code_counts_begin(&run, 90, 1u << GP_COUNT_WARPS);
    if (begun)
        code_counts_add(name, 16, GP_COUNT_WARPS, 5);
    return begun;
}

static char found[4096];
static unsigned cubins;

static void note_cubin(void *user, const struct gp_cubin_image *cubin)
{
    (void)user;
    cubins += cubin->size == CUBIN_BYTES;
}

static void note_counts(void *user, const struct gp_code_counts *source)
{
    (void)user;
    size_t length = strlen(found);
    snprintf(found + length, sizeof(found) - length, "%s %d launches, %d; ", source->kernel,
             (int)source->launches,
             source->kinds ? (int)source->instructions[0].values[GP_COUNT_WARPS] : 0);
}

static void list(void)
{
    *found = '\0';
    cubins = 0;
    gp_code_counts_visit(note_cubin, note_counts, NULL);
}

/* Where the code of a kernel calls others it has a new number each time that it is loaded. */
static void a_module_that_is_loaded_again_and_again_is_one_code(void **state)
{
    (void)state;
    for (uint64_t number = 1; number <= 20; number++)
        assert_true(count("again", number, "a"));
    assert_true(count("again", 20, "a")); /* that is loaded by now */
    assert_true(count("again", 1000, "b"));
    assert_true(count("later", 2000, "c"));
    list();
    assert_string_equal(found, "again 21 launches, 105; again 1 launches, 5; "
                               "later 1 launches, 5; ");
    assert_int_equal(cubins, 3);
}

static bool note(const char *name, uint64_t number, const char *letter)
{
    char data = *letter;
    struct gp_run run = {.kernel = name, .code = &number, .find_code_data = &data};
    run.find_cubin = data == '-' ? NULL : find_cubin;
    return gp_code_counts_note(&run, 90);
}

/* The code of a launch that is only timed is known, if it is there at all. */
static void code_of_which_nothing_was_counted_is_given_all_the_same(void **state)
{
    (void)state;
    assert_true(note("noted", 3000, "d"));
    assert_true(note("noted", 3000, "d"));
    assert_true(note("without", 4000, "-"));
    list();
    assert_non_null(strstr(found, "noted 1 launches, 0; "));
    assert_null(strstr(found, "without"));
    assert_int_equal(cubins, 4);
    /* It is counted later. */
    assert_true(count("noted", 3000, "d"));
    list();
    assert_non_null(strstr(found, "noted 1 launches, 5; "));
}

/* Without a cubin nobody knows whether it is the same code. */
static void kernels_of_one_name_leave_room_for_others(void **state)
{
    (void)state;
    unsigned begun = 0;
    for (uint64_t number = 1; number <= 10000; number++)
        begun += count("unknown", number, "-");
    assert_in_range(begun, 2, 100);
    assert_true(count("other", 1, "-"));
    assert_true(count("unknown", 1, "-")); /* it has its counts already */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_that_is_loaded_again_and_again_is_one_code),
        cmocka_unit_test(code_of_which_nothing_was_counted_is_given_all_the_same),
        cmocka_unit_test(kernels_of_one_name_leave_room_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
