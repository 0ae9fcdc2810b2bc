/* code/printing: the functions that may print, in the cubin and the PTX that nvcc made of
 * tests/printing/printing.cu, and in images that are made here. */
#include "code/printing.h"

#include "beside.h"
#include "code/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The names between blanks. */
static char names[4096];

static void note(const char *name, size_t length, void *data)
{
    assert_null(data);
    assert_true(strlen(names) + length + 2 < sizeof(names));
    strncat(names, name, length);
    strcat(names, " ");
}

static bool has(const char *name)
{
    char word[256];
    snprintf(word, sizeof(word), " %s ", name);
    return strstr(names, word) != NULL;
}

static bool read_cubin(const char *image, size_t size)
{
    struct gp_cubin cubin;
    strcpy(names, " ");
    return gp_cubin_open(&cubin, image, size) && gp_cubin_printing(&cubin, note, NULL);
}

static bool read_ptx(const char *text)
{
    strcpy(names, " ");
    return gp_ptx_printing(text, text + strlen(text), note, NULL);
}

static void assert_kernels(void)
{
    assert_true(has("prints"));
    assert_true(has("prints_through_two"));
    assert_true(has("calls_pointer")); /* it may lead to any function */
    assert_false(has("silent"));
    assert_false(has("calls_silent"));
    assert_false(has("vprintf"));
}

static void the_kernels_of_a_cubin_that_print_are_known(void **state)
{
    (void)state;
    size_t size;
    char *image = read_beside("printing.cubin", &size);
    assert_non_null(image);
    assert_true(read_cubin(image, size));
    assert_kernels();
    free(image);
}

static void the_kernels_of_ptx_that_print_are_known(void **state)
{
    (void)state;
    size_t size;
    char *text = read_beside("printing.ptx", &size);
    assert_non_null(text);
    assert_true(read_ptx(text));
    assert_kernels();
    free(text);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static Elf64_Shdr call_graph_of(const char *image, size_t size)
{
    struct gp_cubin cubin;
    Elf64_Shdr graph;
    assert_true(gp_cubin_open(&cubin, image, size));
    assert_true(gp_cubin_find(&cubin, ".nv.callgraph", &graph));
    return graph;
}

static void a_damaged_call_graph_tells_nothing(void **state)
{
    (void)state;
    size_t size;
    char *image = read_beside("printing.cubin", &size);
    assert_non_null(image);
    const Elf64_Shdr graph = call_graph_of(image, size);
    const uint32_t pairs = (uint32_t)(graph.sh_size / 8);
    for (uint32_t i = 0; i < pairs; i++) {
        uint32_t pair[2], wrong[2] = {0x7fffffff, 0x7fffffff};
        char *at = image + graph.sh_offset + 8 * i;
        memcpy(pair, at, sizeof(pair));
        memcpy(at, wrong, sizeof(wrong));
        assert_false(read_cubin(image, size)); /* no such symbol */
        wrong[0] = 0;
        wrong[1] = (uint32_t)-9;
        memcpy(at, wrong, sizeof(wrong));
        assert_false(read_cubin(image, size)); /* no such list */
        memcpy(at, pair, sizeof(pair));
    }
    assert_true(read_cubin(image, size));
    memset(image + graph.sh_offset, 1, 8); /* pairs before any list */
    assert_false(read_cubin(image, size));
    free(image);
}

static void a_cubin_without_a_call_graph_tells_nothing(void **state)
{
    (void)state;
    size_t size;
    char *image = read_beside("printing.cubin", &size);
    assert_non_null(image);
    char *name = memmem(image, size, ".nv.callgraph", 13);
    assert_non_null(name);
    name[4] = 'x';
    assert_false(read_cubin(image, size));
    free(image);
}

/* ---- PTX ------------------------------------------------------------------------------------- */

static void calls_in_comments_and_texts_are_none(void **state)
{
    (void)state;
    assert_true(read_ptx(".extern .func (.param .b32 r) vprintf (.param .b64 f);\n"
                         ".entry a(.param .u64 p) { // call vprintf;\n ret; }\n"
                         ".entry b() .maxntid 256, 1, 1 { /* call vprintf; */ .file 1 \"call "
                         "vprintf\" \n }\n"
                         ".visible .entry c() .maxntid 256, 1, 1 { { call vprintf, (f); } }\n"));
    assert_string_equal(names, " c ");
}

static void a_function_may_come_before_those_it_calls(void **state)
{
    (void)state;
    assert_true(read_ptx(".func (.reg .b32 r) late(.reg .b32 x);\n"
                         ".entry first() { call.uni (r), late, (x); }\n"
                         ".entry other() { call.uni (r), early, (x); }\n"
                         ".func (.reg .b32 r) early(.reg .b32 x) { ret; }\n"
                         ".func (.reg .b32 r) late(.reg .b32 x)\n{\n call (r), vprintf, (x); }\n"
                         ".entry second() { call (r), %rd1, (x), prototype_0; }\n"
                         ".entry third() { call\n%rd1; }\n"));
    assert_true(has("first") && has("late") && has("second") && has("third"));
    assert_false(has("other") || has("early"));
}

static void ptx_may_end_anywhere(void **state)
{
    (void)state;
    const char whole[] = ".func f(.reg .b32 x) { call (r), vprintf, (x); } .entry k() { call f; }";
    for (size_t cut = 1; cut < sizeof(whole); cut++) {
        char *part = malloc(cut); /* its own block, so that reading beyond it is caught */
        assert_non_null(part);
        memcpy(part, whole, cut);
        strcpy(names, " ");
        gp_ptx_printing(part, part + cut, note, NULL);
        free(part);
    }
    assert_true(has("k"));
}

/* ---- callers --------------------------------------------------------------------------------- */

#define CHAIN 3000

static void callers_of_callers_are_marked(void **state)
{
    (void)state;
    /* 4 -> 3 -> 2 -> 1, 5 -> 5, in the worst order; 0 is called by nobody */
    const struct gp_call calls[] = {{4, 3}, {3, 2}, {5, 5}, {2, 1}};
    bool marks[6] = {[1] = true};
    assert_true(gp_mark_callers(calls, 4, marks));
    const bool wanted[6] = {false, true, true, true, true, false};
    assert_memory_equal(marks, wanted, sizeof(marks));
}

static void an_endless_chain_is_given_up(void **state)
{
    (void)state;
    static struct gp_call calls[CHAIN];
    static bool marks[CHAIN + 1];
    marks[CHAIN] = true;
    for (uint32_t i = 0; i < CHAIN; i++)
        calls[i] = (struct gp_call){.caller = i, .callee = i + 1};
    assert_false(gp_mark_callers(calls, CHAIN, marks));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_of_a_cubin_that_print_are_known),
        cmocka_unit_test(the_kernels_of_ptx_that_print_are_known),
        cmocka_unit_test(a_damaged_call_graph_tells_nothing),
        cmocka_unit_test(a_cubin_without_a_call_graph_tells_nothing),
        cmocka_unit_test(calls_in_comments_and_texts_are_none),
        cmocka_unit_test(a_function_may_come_before_those_it_calls),
        cmocka_unit_test(ptx_may_end_anywhere),
        cmocka_unit_test(callers_of_callers_are_marked),
        cmocka_unit_test(an_endless_chain_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
