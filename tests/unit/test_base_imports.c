/* The tables of this program itself are changed, and put back. */
#include "base/imports.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ANOTHER 4711

static pid_t another_parent(void)
{
    return ANOTHER;
}

struct wish {
    const char *symbol; /* NULL: by its address */
    void *becomes, *was;
    unsigned asked;
    size_t changed;
    const char *low, *high;
    bool whole;
};

static void *answer(void *data, const char *symbol, void *address)
{
    struct wish *w = data;
    if (w->symbol && (!symbol || strcmp(symbol, w->symbol) != 0))
        return NULL;
    w->asked++;
    w->was = address;
    return w->becomes;
}

static int change_imports(struct dl_phdr_info *object, size_t size, void *data)
{
    struct wish *w = data;
    (void)size;
    if (!gp_object_has(object, (void *)change_imports))
        return 0;
    w->whole = gp_imports_change(object, answer, w, &w->changed);
    return 1;
}

static int change_addresses(struct dl_phdr_info *object, size_t size, void *data)
{
    struct wish *w = data;
    (void)size;
    if (!gp_object_has(object, (void *)change_imports))
        return 0;
    gp_addresses_change(object, w->low, w->high, answer, w, &w->changed);
    return 1;
}

static void an_import_becomes_another_function(void **state)
{
    (void)state;
    const pid_t parent = getppid();
    struct wish w = {.symbol = "getppid", .becomes = (void *)another_parent};
    dl_iterate_phdr(change_imports, &w);
    assert_true(w.whole);
    assert_int_equal(w.asked, 1);
    assert_int_equal(w.changed, 1);
    assert_int_equal(getppid(), ANOTHER);
    assert_non_null(w.was); /* as it was called before */

    w.becomes = w.was;
    w.changed = 0;
    dl_iterate_phdr(change_imports, &w);
    assert_int_equal(w.changed, 1);
    assert_int_equal(getppid(), parent);
    /* One that is as it should be is not changed. */
    w.changed = 0;
    dl_iterate_phdr(change_imports, &w);
    assert_int_equal(w.changed, 0);
}

static void an_import_that_is_not_wanted_stays(void **state)
{
    (void)state;
    const pid_t parent = getppid();
    struct wish w = {.symbol = "getppid", .becomes = NULL};
    dl_iterate_phdr(change_imports, &w);
    assert_true(w.whole);
    assert_int_equal(w.asked, 1);
    assert_int_equal(w.changed, 0);
    assert_int_equal(getppid(), parent);
}

static char text[64];
static void *volatile kept[3] = {text + 8, text + 63, text + 64};

static void addresses_in_data_are_changed_from_the_first_to_before_the_last(void **state)
{
    (void)state;
    struct wish w = {.becomes = text, .low = text + 8, .high = text + 64};
    dl_iterate_phdr(change_addresses, &w);
    assert_int_equal(w.changed, 2);
    assert_ptr_equal(kept[0], text);
    assert_ptr_equal(kept[1], text);
    assert_ptr_equal(kept[2], text + 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_import_becomes_another_function),
        cmocka_unit_test(an_import_that_is_not_wanted_stays),
        cmocka_unit_test(addresses_in_data_are_changed_from_the_first_to_before_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
