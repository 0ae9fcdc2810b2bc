/* check/: which kernel of one side is which of the other, and by which that is known. */
#include "check/baseline.h"
#include "check/hand_pairs.h"
#include "check/match.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A kernel as a test writes it. Its code is one of letters: "aab" has the operations of a, a and b
 * one behind the other, so codes with the same letters are alike; a second word makes it another
 * code of the same operations. */
struct kernel {
    const char *name;
    unsigned grid, block;
    const char *code;
    const char *source;
    int line;
    uint64_t launches;
};

#define OPERATIONS 20 /* of a letter */

/* The same operations for the same letter, and others for another one. */
static size_t operations_of(const char *code, uint16_t *operations)
{
    size_t count = 0;
    for (; *code && *code != ' '; code++)
        for (uint16_t i = 0; i < OPERATIONS; i++)
            operations[count++] = (uint16_t)(1 + (*code * 31 + i * 7 + i * i * *code) % 500);
    return count;
}

static struct gp_code_mark mark_of(const char *code)
{
    struct gp_code_mark mark = {.hash = ""};
    uint16_t operations[32 * OPERATIONS];
    uint64_t hash = 1;
    for (const char *p = code; *p; p++)
        hash = hash * 1099511628211u + (unsigned char)*p;
    snprintf(mark.hash, sizeof(mark.hash), "%016llx%016llx", (unsigned long long)hash,
             (unsigned long long)~hash);
    gp_sketch_make(operations, operations_of(code, operations), &mark.sketch);
    return mark;
}

#define MOST 4
#define K(name_, grid_, block_, ...)                                     \
    {                                                                    \
        .name = (name_), .grid = (grid_), .block = (block_), __VA_ARGS__ \
    }

/* Kernels up to one without a name. */
static struct gp_side side_of(const struct kernel *kernels)
{
    struct gp_side side = {.runs = 1};
    side.origin.device.cc_major = 9;
    assert_true(gp_side_set_metrics(&side, NULL, 0));
    for (size_t i = 0; i < MOST && kernels[i].name; i++) {
        const struct kernel *k = &kernels[i];
        struct gp_side_kernel *s = gp_side_add(&side, k->name);
        assert_non_null(s);
        s->grid[0] = k->grid;
        s->block[0] = k->block;
        s->grid[1] = s->grid[2] = s->block[1] = s->block[2] = 1;
        s->runs = 1;
        s->launches = k->launches ? k->launches : 1;
        if (k->code)
            s->code = mark_of(k->code);
        s->source = k->source ? strdup(k->source) : NULL;
        s->source_line = k->line;
    }
    gp_side_sort(&side);
    return side;
}

static const struct gp_match *find(const struct gp_match *matches, size_t count, const char *a,
                                   const char *b)
{
    for (size_t i = 0; i < count; i++) {
        const char *of_a = matches[i].a ? matches[i].a->name : "-";
        const char *of_b = matches[i].b ? matches[i].b->name : "-";
        if (strcmp(of_a, a) == 0 && strcmp(of_b, b) == 0)
            return &matches[i];
    }
    return NULL;
}

/* A pair that has to come up, "-" for none; `said`: how its reasons begin, NULL for no matter. */
struct expected {
    const char *a, *b;
    enum gp_match_kind kind;
    bool chosen;
    const char *said;
};

static void pairs_as(const char *what, const struct kernel *a, const struct kernel *b,
                     const char *const *by_hand, const struct expected *expected)
{
    struct gp_side of_a = side_of(a), of_b = side_of(b);
    size_t count, wanted = 0;
    char why[256];
    for (; by_hand && *by_hand; by_hand++)
        if (!gp_pair_by_hand(*by_hand, &of_a, &of_b, why, sizeof(why)))
            fail_msg("%s: %s", what, why);
    struct gp_match *matches = gp_match_sides(&of_a, &of_b, &count);
    assert_non_null(matches);
    for (; expected[wanted].a; wanted++) {
        const struct expected *e = &expected[wanted];
        const struct gp_match *found = find(matches, count, e->a, e->b);
        struct gp_text reasons = {0};
        if (!found)
            fail_msg("%s: %s and %s are no pair", what, e->a, e->b);
        else if (found->kind != e->kind || found->chosen != e->chosen)
            fail_msg("%s: %s and %s: kind %d, chosen %d", what, e->a, e->b, found->kind,
                     found->chosen);
        const bool elsewhere = e->said && strcmp(e->said, "elsewhere") == 0;
        if (found && found->elsewhere != elsewhere)
            fail_msg("%s: %s and %s: elsewhere %d", what, e->a, e->b, found->elsewhere);
        if (found && e->said && !elsewhere) {
            gp_match_add_reasons(found, &reasons);
            assert_string_equal(gp_text_string(&reasons), e->said);
        }
        gp_text_free(&reasons);
    }
    if (count != wanted)
        fail_msg("%s: %zu pairs, not %zu", what, count, wanted);
    free(matches);
    gp_side_free(&of_a);
    gp_side_free(&of_b);
}

static void a_renamed_kernel_is_known_by_its_code(void **state)
{
    (void)state;
    pairs_as("renamed", (const struct kernel[MOST]){K("old()", 8, 64, .code = "abcdef")},
             (const struct kernel[MOST]){K("now()", 8, 64, .code = "abcdef")}, NULL,
             (const struct expected[]){
                 {"old()", "now()", GP_MATCH_SAME, false,
                  "the same machine code, the same configuration, launched as often"},
                 {0}});
    pairs_as("renamed, in other blocks",
             (const struct kernel[MOST]){K("old()", 8, 64, .code = "abcdef")},
             (const struct kernel[MOST]){K("now()", 4, 128, .code = "abcdef")}, NULL,
             (const struct expected[]){
                 {"old()", "now()", GP_MATCH_CHANGED, false, "the same machine code"}, {0}});
    pairs_as(
        "the code of two, by their configurations",
        (const struct kernel[MOST]){K("f<int>()", 8, 64, .code = "ab"),
                                    K("f<unsigned>()", 9, 64, .code = "ab")},
        (const struct kernel[MOST]){K("g<int>()", 8, 64, .code = "ab"),
                                    K("g<unsigned>()", 9, 64, .code = "ab")},
        NULL,
        (const struct expected[]){{"f<int>()", "g<int>()", GP_MATCH_SAME, false, NULL},
                                  {"f<unsigned>()", "g<unsigned>()", GP_MATCH_SAME, false, NULL},
                                  {0}});
    pairs_as(
        "the code of two that nothing else distinguishes",
        (const struct kernel[MOST]){K("f<int>()", 8, 64, .code = "ab"),
                                    K("f<unsigned>()", 8, 64, .code = "ab")},
        (const struct kernel[MOST]){K("g<int>()", 8, 64, .code = "ab"),
                                    K("g<unsigned>()", 8, 64, .code = "ab")},
        NULL,
        (const struct expected[]){{"f<int>()", "g<int>()", GP_MATCH_PROPOSED, true, NULL},
                                  {"f<unsigned>()", "g<unsigned>()", GP_MATCH_PROPOSED, true, NULL},
                                  {0}});
}

static void a_name_that_people_give_counts_more_than_the_code(void **state)
{
    (void)state;
    /* The slow one has got the fast one's code. */
    pairs_as("edited",
             (const struct kernel[MOST]){K("fast()", 8, 64, .code = "f"),
                                         K("slow()", 8, 64, .code = "s")},
             (const struct kernel[MOST]){K("fast()", 8, 64, .code = "f"),
                                         K("slow()", 8, 64, .code = "f")},
             NULL,
             (const struct expected[]){{"fast()", "fast()", GP_MATCH_SAME, false, NULL},
                                       {"slow()", "slow()", GP_MATCH_SAME, false, NULL},
                                       {0}});
    pairs_as("exchanged",
             (const struct kernel[MOST]){K("fast()", 8, 64, .code = "f"),
                                         K("slow()", 8, 64, .code = "s")},
             (const struct kernel[MOST]){K("fast()", 8, 64, .code = "s"),
                                         K("slow()", 8, 64, .code = "f")},
             NULL,
             (const struct expected[]){{"fast()", "fast()", GP_MATCH_SAME, false, NULL},
                                       {"slow()", "slow()", GP_MATCH_SAME, false, NULL},
                                       {0}});
    /* A compiler numbers its kernels anew when there is one more. */
    pairs_as("numbered",
             (const struct kernel[MOST]){K("triton_poi_fused_add_0", 8, 64, .code = "x"),
                                         K("triton_poi_fused_add_1", 8, 64, .code = "y")},
             (const struct kernel[MOST]){K("triton_poi_fused_add_0", 8, 64, .code = "new"),
                                         K("triton_poi_fused_add_1", 8, 64, .code = "x"),
                                         K("triton_poi_fused_add_2", 8, 64, .code = "y")},
             NULL,
             (const struct expected[]){
                 {"triton_poi_fused_add_0", "triton_poi_fused_add_1", GP_MATCH_SAME, false, NULL},
                 {"triton_poi_fused_add_1", "triton_poi_fused_add_2", GP_MATCH_SAME, false, NULL},
                 {"-", "triton_poi_fused_add_0", GP_MATCH_NEW, false, NULL},
                 {0}});
}

static void a_changed_name_and_code_are_proposed_with_their_reasons(void **state)
{
    (void)state;
    pairs_as(
        "nearly the same code",
        (const struct kernel[MOST]){K("old()", 8, 64, .code = "abcdefgh"),
                                    K("x()", 1, 32, .code = "uvw")},
        (const struct kernel[MOST]){K("now()", 8, 64, .code = "abcdefgh 2"),
                                    K("y()", 2, 32, .code = "mno")},
        NULL,
        (const struct expected[]){
            {"old()", "now()", GP_MATCH_PROPOSED, false,
             "about 100 % of the machine code alike, the same configuration, launched as often"},
            {"x()", "-", GP_MATCH_GONE, false, NULL},
            {"-", "y()", GP_MATCH_NEW, false, NULL},
            {0}});
    pairs_as("two are as much alike",
             (const struct kernel[MOST]){K("old()", 8, 64, .code = "abcdefgh")},
             (const struct kernel[MOST]){K("one()", 8, 64, .code = "abcdefgh 2"),
                                         K("two()", 9, 64, .code = "abcdefgh 3")},
             NULL,
             (const struct expected[]){{"old()", "one()", GP_MATCH_PROPOSED, true, NULL},
                                       {"-", "two()", GP_MATCH_NEW, false, NULL},
                                       {0}});
    pairs_as(
        "the line of a template, with another parameter",
        (const struct kernel[MOST]){
            K("void f<float>(float*)", 8, 64, .code = "ab", .source = "/a/f.cu", .line = 12)},
        (const struct kernel[MOST]){
            K("void g<double>(double*)", 8, 32, .code = "xyz", .source = "/b/f.cu", .line = 12),
            K("h()", 8, 64, .code = "q", .source = "/b/f.cu", .line = 13),
            K("i()", 8, 64, .code = "r", .source = "/b/other.cu", .line = 12)},
        NULL,
        (const struct expected[]){
            {"void f<float>(float*)", "void g<double>(double*)", GP_MATCH_PROPOSED, false, NULL},
            {"-", "h()", GP_MATCH_NEW, false, NULL},
            {"-", "i()", GP_MATCH_NEW, false, NULL},
            {0}});
    /* Without code, as a baseline of a version before has it. */
    pairs_as("the configuration",
             (const struct kernel[MOST]){K("old()", 8, 64, .launches = 5),
                                         K("x()", 8, 64, .launches = 7)},
             (const struct kernel[MOST]){
                 K("now()", 8, 64, .code = "ab", .source = "f.cu", .line = 3, .launches = 5),
                 K("y()", 8, 64, .code = "cd", .source = "f.cu", .line = 9, .launches = 6)},
             NULL,
             (const struct expected[]){{"old()", "now()", GP_MATCH_PROPOSED, false,
                                        "the same configuration, launched as often"},
                                       {"x()", "-", GP_MATCH_GONE, false, NULL},
                                       {"-", "y()", GP_MATCH_NEW, false, NULL},
                                       {0}});
    pairs_as("the configuration, but quite another code",
             (const struct kernel[MOST]){K("old()", 8, 64, .code = "abc")},
             (const struct kernel[MOST]){K("now()", 8, 64, .code = "xyz")}, NULL,
             (const struct expected[]){{"old()", "-", GP_MATCH_GONE, false, NULL},
                                       {"-", "now()", GP_MATCH_NEW, false, NULL},
                                       {0}});
    /* The first half of a kernel that was split in two is no more than a half of it. */
    pairs_as("split", (const struct kernel[MOST]){K("both()", 8, 64, .code = "abcdef")},
             (const struct kernel[MOST]){K("first()", 8, 64, .code = "abc", .launches = 2),
                                         K("second()", 8, 64, .code = "def", .launches = 2)},
             NULL,
             (const struct expected[]){{"both()", "-", GP_MATCH_GONE, false, NULL},
                                       {"-", "first()", GP_MATCH_NEW, false, NULL},
                                       {"-", "second()", GP_MATCH_NEW, false, NULL},
                                       {0}});
    pairs_as(
        "a parameter of a template",
        (const struct kernel[MOST]){
            K("void f<8>()", 8, 64, .code = "abc", .source = "f.cu", .line = 3),
            K("void f<16>()", 8, 64, .code = "abd", .source = "f.cu", .line = 3)},
        (const struct kernel[MOST]){
            K("void f<16>()", 8, 64, .code = "abd", .source = "f.cu", .line = 3),
            K("void f<32>()", 8, 64, .code = "abe", .source = "f.cu", .line = 3)},
        NULL,
        (const struct expected[]){{"void f<16>()", "void f<16>()", GP_MATCH_SAME, false, NULL},
                                  {"void f<8>()", "void f<32>()", GP_MATCH_PROPOSED, false, NULL},
                                  {0}});
}

static void a_pair_by_hand_is_a_fact(void **state)
{
    (void)state;
    const struct kernel before[MOST] = {K("void add<int>(int*)", 8, 64, .code = "abc"),
                                        K("void add<int>(int*)", 9, 64, .code = "abc"),
                                        K("both()", 8, 64, .code = "def")};
    const struct kernel now[MOST] = {K("ours::sum(int*)", 8, 64, .code = "xyz"),
                                     K("ours::sum(int*)", 3, 32, .code = "xyz"),
                                     K("both()", 8, 64, .code = "def")};
    const struct expected paired[] = {
        {"void add<int>(int*)", "ours::sum(int*)", GP_MATCH_SAME, false, NULL},
        {"void add<int>(int*)", "ours::sum(int*)", GP_MATCH_SAME, false, NULL},
        {"both()", "both()", GP_MATCH_SAME, false, NULL},
        {0}};
    static const char *const ways[] = {"add<int>=ours::sum", "void add<int>(int*)=ours::sum(int*)",
                                       "add*=*sum", "regex:int.=regex:ours"};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        pairs_as(ways[i], before, now, (const char *const[]){ways[i], NULL}, paired);
    /* It counts more than a name that both have. */
    pairs_as("of one name", before, now, (const char *const[]){"add*=both", NULL},
             (const struct expected[]){
                 {"void add<int>(int*)", "both()", GP_MATCH_SAME, false,
                  "paired by hand, about 0 % of the machine code alike, the same configuration, "
                  "launched as often"},
                 {"void add<int>(int*)", "-", GP_MATCH_GONE, false, "elsewhere"},
                 {"both()", "-", GP_MATCH_GONE, false, NULL},
                 {"-", "ours::sum(int*)", GP_MATCH_NEW, false, NULL},
                 {"-", "ours::sum(int*)", GP_MATCH_NEW, false, NULL},
                 {0}});
}

static void a_wrong_pair_is_explained(void **state)
{
    (void)state;
    static const struct {
        const char *pairs[2], *reason;
    } cases[] = {
        {{"old"}, "'old' is no pair: write OLD=NEW, two names of kernels"},
        {{"=now"}, "'=now' is no pair: write OLD=NEW, two names of kernels"},
        {{"old="}, "'old=' is no pair: write OLD=NEW, two names of kernels"},
        {{"odd=now"}, "no kernel of the first side is called 'odd'"},
        {{"old=nuw"}, "no kernel of the second side is called 'nuw'"},
        {{"*=now"}, "'*' is more than one kernel of the first side: old() and other()"},
        {{"regex:(=now"}, "'(' is no regular expression: missing closing parenthesis at letter 2"},
        {{"old=now", "other=now"}, "'other=now': one of the two kernels is in another pair"},
        {{"old=now", "old=new"}, "'old=new': one of the two kernels is in another pair"},
        {{"old=now", "old=now"}, NULL},
        {{"old=now", "other=new"}, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gp_side a =
            side_of((const struct kernel[MOST]){K("old()", 8, 64), K("other()", 8, 64)});
        struct gp_side b = side_of(
            (const struct kernel[MOST]){K("new()", 8, 64), K("now()", 8, 64), K("now()", 9, 64)});
        char why[256] = "";
        bool paired = true;
        for (size_t k = 0; k < 2 && cases[i].pairs[k] && paired; k++)
            paired = gp_pair_by_hand(cases[i].pairs[k], &a, &b, why, sizeof(why));
        assert_int_equal(paired, !cases[i].reason);
        if (!paired)
            assert_string_equal(why, cases[i].reason);
        gp_side_free(&a);
        gp_side_free(&b);
    }
}

static void code_of_another_machine_is_not_alike(void **state)
{
    (void)state;
    struct gp_side a = side_of((const struct kernel[MOST]){K("old()", 8, 64, .code = "abcdef")});
    struct gp_side b = side_of((const struct kernel[MOST]){K("now()", 9, 64, .code = "abcdef 2")});
    size_t count;
    b.origin.device.cc_major = 10;
    struct gp_match *matches = gp_match_sides(&a, &b, &count);
    assert_int_equal(count, 2);
    free(matches);
    gp_side_free(&a);
    gp_side_free(&b);
}

static void sketches_say_how_much_is_alike(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        double least, most;
    } cases[] = {
        {"abcdefgh", "abcdefgh", 1, 1},     {"abcdefgh", "abcdefgh 2", 1, 1},
        {"abcdefgh", "abcdefgx", 0.6, 0.9}, /* 7 letters of 9: 0.76 */
        {"abcdefgh", "abcdwxyz", 0.2, 0.5}, /* 4 of 12: 0.32 */
        {"abcdefgh", "stuvwxyz", 0, 0.15},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct gp_code_mark a = mark_of(cases[i].a), b = mark_of(cases[i].b);
        const double likeness = gp_sketch_likeness(&a.sketch, &b.sketch);
        char text[GP_SKETCH_TEXT];
        struct gp_sketch again;
        if (!(likeness >= cases[i].least && likeness <= cases[i].most))
            fail_msg("%s and %s: %g", cases[i].a, cases[i].b, likeness);
        assert_true(likeness == gp_sketch_likeness(&b.sketch, &a.sketch));
        gp_sketch_write(&a.sketch, text);
        assert_true(gp_sketch_read(text, &again));
        assert_memory_equal(&a.sketch, &again, sizeof(again));
    }
    struct gp_sketch none;
    char text[GP_SKETCH_TEXT];
    gp_sketch_make((const uint16_t[]){1, 2}, 2, &none);
    assert_false(gp_sketch_is_known(&none));
    gp_sketch_write(&none, text);
    assert_string_equal(text, "");
    assert_true(gp_sketch_read("", &none));
    assert_false(gp_sketch_read("12", &none));
    memset(text, 'g', sizeof(text) - 1);
    assert_false(gp_sketch_read(text, &none));
}

static void a_baseline_keeps_code_and_line(void **state)
{
    (void)state;
    struct gp_side side = side_of((const struct kernel[MOST]){
        K("a()", 8, 64, .code = "abc", .source = "/somewhere/else/sum.cu", .line = 12),
        K("b()", 8, 64)});
    struct gp_side again = {0};
    struct gp_text text = {0}, second = {0};
    char why[256] = "";
    snprintf(side.origin.device.name, sizeof(side.origin.device.name), "G");
    gp_baseline_write(&side, &text);
    /* A path would be another one on each machine. */
    assert_null(strstr(text.data, "somewhere"));
    if (!gp_baseline_parse("b.json", text.data, text.length, &again, why, sizeof(why)))
        fail_msg("%s", why);
    assert_int_equal(again.count, 2);
    assert_string_equal(again.subjects[0].source, "sum.cu");
    assert_int_equal(again.subjects[0].source_line, 12);
    assert_memory_equal(&again.subjects[0].code, &side.subjects[0].code,
                        sizeof(again.subjects->code));
    assert_null(again.subjects[1].source);
    assert_string_equal(again.subjects[1].code.hash, "");
    gp_baseline_write(&again, &second);
    assert_string_equal(text.data, second.data);
    static const char *const wrong[][2] = {
        {"\"source\": \"sum.cu:12\"", "\"source\": \"sum.cu\""},
        {"\"source\": \"sum.cu:12\"", "\"source\": \"sum.cu:0\""},
        {"\"code\": \"", "\"code\": \"x"},
        {"\"sketch\": \"", "\"sketch\": \"0"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct gp_side refused = {0};
        struct gp_text changed = {0};
        const char *at = strstr(text.data, wrong[i][0]);
        assert_non_null(at);
        gp_text_add_bytes(&changed, text.data, (size_t)(at - text.data));
        gp_text_addf(&changed, "%s%s", wrong[i][1], at + strlen(wrong[i][0]));
        assert_false(
            gp_baseline_parse("b.json", changed.data, changed.length, &refused, why, sizeof(why)));
        assert_non_null(strstr(why, "b.json: kernel a(): \""));
        gp_side_free(&refused);
        gp_text_free(&changed);
    }
    gp_text_free(&text);
    gp_text_free(&second);
    gp_side_free(&side);
    gp_side_free(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_renamed_kernel_is_known_by_its_code),
        cmocka_unit_test(a_name_that_people_give_counts_more_than_the_code),
        cmocka_unit_test(a_changed_name_and_code_are_proposed_with_their_reasons),
        cmocka_unit_test(a_pair_by_hand_is_a_fact),
        cmocka_unit_test(a_wrong_pair_is_explained),
        cmocka_unit_test(code_of_another_machine_is_not_alike),
        cmocka_unit_test(sketches_say_how_much_is_alike),
        cmocka_unit_test(a_baseline_keeps_code_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
