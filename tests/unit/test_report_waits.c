/* report/waits: the causes of samples, in the cubins that nvcc made of tests/causes/causes.cu. Each
 * kernel is sampled as if its warps waited at every instruction that waits for a scoreboard. */
#include "sampled.h"

static const struct {
    const char *name;
    enum gp_wait wait;
} waits[] = {
#define REASON(NAME, name, help)
#define CAUSE(NAME, name, help) {name, GP_WAIT_##NAME},
#include "report/waits.def"
#undef CAUSE
#undef REASON
};
#define WAITS (sizeof(waits) / sizeof(waits[0]))

static double share(const struct kernel *k, enum gp_wait wait)
{
    return gp_lines_total(k->lines, GP_WEIGHT_FIRST_WAIT + wait);
}

/* The cause that a kernel is named after; the longest that fits. */
static enum gp_wait wait_of(const char *kernel)
{
    size_t longest = 0;
    enum gp_wait wait = GP_WAIT_COUNT;
    for (size_t i = 0; i < WAITS; i++) {
        const size_t length = strlen(waits[i].name);
        if (strncmp(kernel, waits[i].name, length) == 0 && length > longest) {
            longest = length;
            wait = waits[i].wait;
        }
    }
    return wait;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static enum gp_wait whole_of(enum gp_wait wait)
{
    return wait == GP_WAIT_CHAINS           ? GP_WAIT_LOADS
           : wait == GP_WAIT_LANE_CONSTANTS ? GP_WAIT_CONSTANTS
           : wait == GP_WAIT_CONVERSIONS    ? GP_WAIT_SPECIAL
                                            : wait;
}

static void the_cause_is_the_largest(struct kernel *k)
{
    const enum gp_wait wait = wait_of(k->name);
    wait_for_scoreboards(k);
    take_in(k);
    if (wait == GP_WAIT_BARRIERS)
        return;
    for (size_t i = 0; i < WAITS; i++)
        if (waits[i].wait != whole_of(wait) && wait != GP_WAIT_ACCURATE && wait != GP_WAIT_COUNT &&
            share(k, waits[i].wait) > share(k, wait))
            fail_msg("%s of %d: %s has %.3f, its own cause %.3f", k->name, k->cc, waits[i].name,
                     share(k, waits[i].wait), share(k, wait));
    if (wait != GP_WAIT_COUNT && !(share(k, wait) > 0))
        fail_msg("%s of %d: its cause is not found", k->name, k->cc);
    if (strncmp(k->name, "loads", 5) == 0 && share(k, GP_WAIT_CHAINS) > 0)
        fail_msg("%s of %d: chains %.3f", k->name, k->cc, share(k, GP_WAIT_CHAINS));
}

static void each_kernel_waits_for_its_cause(void **state)
{
    (void)state;
    assert_true(for_kernels("", the_cause_is_the_largest) > 40);
}

/* "none_x...": there is nothing of x. */
static void there_is_none(struct kernel *k)
{
    wait_for_scoreboards(k);
    take_in(k);
    const enum gp_wait wait = wait_of(k->name + strlen("none_"));
    assert_true(wait != GP_WAIT_COUNT);
    if (share(k, wait) != 0)
        fail_msg("%s of %d: %.3f", k->name, k->cc, share(k, wait));
}

/* A division of integers that waits for its number waits for the load of that. */
static void some_wait_for_a_load(struct kernel *k)
{
    wait_for_scoreboards(k);
    take_in(k);
    if (!(share(k, GP_WAIT_LOADS) > 0))
        fail_msg("%s of %d: it does not wait for a load", k->name, k->cc);
}

static void numbers_to_divide_are_loaded(void **state)
{
    (void)state;
    assert_true(for_kernels("quotients_by_loads", some_wait_for_a_load) >= 4);
}

static void others_do_not(void **state)
{
    (void)state;
    assert_true(for_kernels("none_", there_is_none) >= 8);
}

static void the_line_is_that_of_the_cause(struct kernel *k)
{
    const enum gp_wait wait = wait_of(k->name);
    struct gp_text where = {0};
    if (wait == GP_WAIT_COUNT)
        return;
    if (wait == GP_WAIT_BARRIERS)
        wait_at_barriers(k);
    else
        wait_for_scoreboards(k);
    take_in(k);
    assert_true(gp_lines_heaviest(k->lines, GP_WEIGHT_FIRST_WAIT + wait, &where));
    const char *text = gp_text_string(&where), *second = strchr(text, ',');
    const bool barrier = wait == GP_WAIT_BARRIERS;
    if (!is_a_line_of(text, barrier ? "wait" : "cause", k->name))
        fail_msg("%s of %d: %s (%s)", k->name, k->cc, text, k->lines->no_lines);
    if (line_of("wait", k->name, 0) > 0) {
        const char *phrase = barrier ? ", for warps that come from " : ", waited for at ";
        if (!second || strncmp(second, phrase, strlen(phrase)) != 0 ||
            !is_a_line_of(second + strlen(phrase), barrier ? "cause" : "wait", k->name))
            fail_msg("%s of %d: at %s", k->name, k->cc, text);
    }
    gp_text_free(&where);
}

static void lines_are_those_of_the_causes(void **state)
{
    (void)state;
    assert_true(for_kernels("", the_line_is_that_of_the_cause) > 40);
}

/* Shares of lines hold all that stands there, and no more than everything. */
static void all_samples_of_a_line_are_at_it(struct kernel *k)
{
    wait_for_scoreboards(k);
    take_in(k);
    for (size_t i = 0; i < WAITS; i++) {
        const double at_lines = k->lines->waits->at_lines[waits[i].wait];
        if (at_lines < 0 || at_lines < share(k, waits[i].wait) - 1e-9 || at_lines > 1 + 1e-9)
            fail_msg("%s of %d: %s %.3f, at lines %.3f", k->name, k->cc, waits[i].name,
                     share(k, waits[i].wait), at_lines);
    }
    /* Quotients in a line do not go with its waits for memory; a table is part of a sine. */
    const bool sine = strcmp(k->name, "quotients_and_a_sine") == 0;
    if (sine && k->lines->waits->at_lines[GP_WAIT_ACCURATE] > 0.7)
        fail_msg("%s of %d: at accurate ones %.3f", k->name, k->cc,
                 k->lines->waits->at_lines[GP_WAIT_ACCURATE]);
    if (strcmp(k->name, "quotients_of_loads") == 0 &&
        !(k->lines->waits->at_lines[GP_WAIT_ACCURATE] <= 1 - share(k, GP_WAIT_LOADS) + 1e-9))
        fail_msg("%s of %d: loads %.3f, at accurate ones %.3f", k->name, k->cc,
                 share(k, GP_WAIT_LOADS), k->lines->waits->at_lines[GP_WAIT_ACCURATE]);
    if (strncmp(k->name, "accurate", 8) == 0 && k->lines->waits->at_lines[GP_WAIT_ACCURATE] < 0.4)
        fail_msg("%s of %d: %.3f", k->name, k->cc, k->lines->waits->at_lines[GP_WAIT_ACCURATE]);
}

/* A warp that waits at a barrier stands at the instruction behind it. */
static void barriers_do_not_go_with_quotients(struct kernel *k)
{
    bool behind = false;
    k->count = k->code_size / GP_INSTRUCTION_BYTES;
    for (size_t n = 0; n < k->count; n++) {
        uint64_t word[2];
        memcpy(word, k->code + n * GP_INSTRUCTION_BYTES, sizeof(word));
        add_samples(at(k, n), GP_STALL_SELECTED, 1);
        if (behind)
            add_samples(at(k, n), GP_STALL_BARRIER, 500);
        behind = (word[0] & 0x1ff) == 0x11d; /* BAR */
    }
    take_in(k);
    const double at_accurate = k->lines->waits->at_lines[GP_WAIT_ACCURATE];
    assert_true(share(k, GP_WAIT_BARRIER) > 0.8);
    if (at_accurate < 0 || at_accurate > 1 - share(k, GP_WAIT_BARRIER))
        fail_msg("%s of %d: at accurate ones %.3f", k->name, k->cc, at_accurate);
}

static void warps_at_barriers_compute_nothing(void **state)
{
    (void)state;
    assert_true(for_kernels("quotients_behind", barriers_do_not_go_with_quotients) > 0);
    assert_true(for_kernels("quotients_beside", barriers_do_not_go_with_quotients) > 0);
}

/* A full queue for textures is one of their waits. */
static void textures_queue(struct kernel *k)
{
    k->count = k->code_size / GP_INSTRUCTION_BYTES;
    for (size_t n = 0; n < k->count; n++) {
        uint64_t word[2];
        memcpy(word, k->code + n * GP_INSTRUCTION_BYTES, sizeof(word));
        add_samples(at(k, n), GP_STALL_SELECTED, 1);
        if (gp_awaited_kind(word, k->cc) == GP_AWAITED_TEXTURE)
            add_samples(at(k, n), GP_STALL_TEX_THROTTLE, 500);
    }
    take_in(k);
    assert_true(share(k, GP_WAIT_TEXTURES) > 0.9);
}

static void queues_are_those_of_their_units(void **state)
{
    (void)state;
    assert_true(for_kernels("textures_", textures_queue) > 0);
}

static void lines_have_all_of_their_samples(void **state)
{
    (void)state;
    assert_true(for_kernels("", all_samples_of_a_line_are_at_it) > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_waits_for_its_cause),
        cmocka_unit_test(numbers_to_divide_are_loaded),
        cmocka_unit_test(others_do_not),
        cmocka_unit_test(lines_are_those_of_the_causes),
        cmocka_unit_test(lines_have_all_of_their_samples),
        cmocka_unit_test(warps_at_barriers_compute_nothing),
        cmocka_unit_test(queues_are_those_of_their_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
