/* The parts of the page of `gpuprof report --html` that are not the browser's: JSON that may stand
 * in markup, launches as columns, curves of occupancy, roofs. */
#include "metrics/occupancy.h"
#include "metrics/roofs.h"
#include "report/html_lines.h"
#include "report/json.h"
#include "report/launch_columns.h"
#include "report/lines.h"
#include "report/occupancy_curves.h"

#include "h200.h"
#include "shipped.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON ---- */

static void is_string(const char *text, const char *expected)
{
    struct gp_text out = {0};
    gp_json_string(&out, text);
    assert_string_equal(gp_text_string(&out), expected);
    gp_text_free(&out);
}

static void a_string_holds_no_markup(void **state)
{
    (void)state;
    is_string(NULL, "null");
    is_string("", "\"\"");
    is_string("plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
              "\"plain \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
    is_string("</script>&<!--", "\"\\u003c/script\\u003e\\u0026\\u003c!--\"");
    is_string("a\"b\\c\n\x01\x7F", "\"a\\u0022b\\u005cc\\u000a\\u0001\\u007f\"");
    is_string("\xE2\x80\xA8\xE2\x80\xA9", "\"\\u2028\\u2029\"");
    /* No UTF-8: a byte alone, one too many, too long a form, a surrogate, cut short, too large. */
    is_string("\xFF", "\"\\ufffd\"");
    is_string("\x80z", "\"\\ufffdz\"");
    is_string("\xC0\xBC", "\"\\ufffd\\ufffd\"");
    is_string("\xED\xA0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
    is_string("z\xE2\x82", "\"z\\ufffd\\ufffd\"");
    is_string("\xF5\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void numbers_that_are_none_are_null(void **state)
{
    (void)state;
    struct gp_text out = {0};
    gp_json_number(&out, NAN);
    gp_json_number(&out, -INFINITY);
    gp_json_number(&out, 0.1);
    gp_json_number(&out, 134217728);
    assert_string_equal(gp_text_string(&out), "nullnull0.1134217728");
    gp_text_free(&out);
}

static void bytes_are_base64(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "\"\"", "\"Zg==\"", "\"Zm8=\"", "\"Zm9v\"", "\"Zm9vYg==\"", "\"Zm9vYmE=\"", "\"Zm9vYmFy\""};
    for (size_t i = 0; i < 7; i++) {
        struct gp_text out = {0};
        gp_json_bytes(&out, "foobar", i);
        assert_string_equal(gp_text_string(&out), expected[i]);
        gp_text_free(&out);
    }
}

/* ---- launches ---- */

static int first_row(const void *user, const struct gp_record *launch)
{
    (void)user;
    return strcmp(launch->kernel, "a") == 0 ? 0 : -1;
}

static json_t *columns_of(struct gp_launch_columns *c)
{
    struct gp_text out = {0};
    gp_launch_columns_json(c, first_row, NULL, &out);
    json_t *read = json_loads(gp_text_string(&out), 0, NULL);
    assert_non_null(read);
    gp_text_free(&out);
    return read;
}

static struct gp_record launch_of(const char *kernel, uint64_t index, uint64_t stream)
{
    return (struct gp_record){
        .kernel = kernel, .index = index, .stream = stream, .grid = {2, 3, 1}, .block = {32, 1, 1}};
}

/* Without the key there is no number; jansson's answer then is 0. */
static json_int_t integer_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        fail_msg("%s is no integer", key);
    return json_integer_value(value);
}

static void launches_become_columns(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_launch_columns *c = gp_launch_columns_new(m);
    const struct gp_counter time = {.name = "gpu__time_duration.sum", .value = 2e9};
    struct gp_record one = launch_of("a", 5, 9), two = launch_of("b", 6, 0);
    one.counters = &time;
    one.counter_count = 1;
    assert_true(gp_launch_columns_add(c, &h200, &one));
    assert_true(gp_launch_columns_add(c, NULL, &two));
    json_t *j = columns_of(c);
    assert_int_equal(integer_of(j, "count"), 2);
    assert_int_equal(integer_of(j, "first"), 5);
    /* Little endian: 0 and 0xFFFF; 0 and 1; 2.0f and a NAN; 6.0f twice. */
    assert_string_equal(json_string_value(json_object_get(j, "kernel")), "AAD//w==");
    assert_string_equal(json_string_value(json_object_get(j, "stream")), "AAE=");
    assert_string_equal(json_string_value(json_object_get(j, "blocks")), "AADAQAAAwEA=");
    json_t *metrics = json_object_get(j, "metrics");
    assert_string_equal(json_string_value(json_object_get(metrics, "duration")), "AAAAQAAAwH8=");
    assert_null(json_object_get(metrics, "flops"));
    json_decref(j);
    gp_launch_columns_free(c);
    gp_metrics_close(m);
}

static void launches_out_of_step_have_their_numbers(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_launch_columns *c = gp_launch_columns_new(m);
    const struct gp_record one = launch_of("a", 1, 0), two = launch_of("a", 3, 0);
    assert_true(gp_launch_columns_add(c, &h200, &one));
    assert_true(gp_launch_columns_add(c, &h200, &two));
    json_t *j = columns_of(c);
    assert_null(json_object_get(j, "first"));
    assert_string_equal(json_string_value(json_object_get(j, "index")), "AQAAAAMAAAA=");
    json_decref(j);
    gp_launch_columns_free(c);
    gp_metrics_close(m);
}

static void launches_are_put_in_order(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_launch_columns *c = gp_launch_columns_new(m);
    struct gp_record one = launch_of("b", 0, 0), two = launch_of("a", 1, 0);
    one.start_ms = 1000;
    one.overhead_ms = 400;
    two.start_ms = 2400;
    gp_launch_columns_begin(c);
    assert_true(gp_launch_columns_add(c, NULL, &two));
    assert_true(gp_launch_columns_add(c, NULL, &one));
    json_t *j = columns_of(c);
    assert_string_equal(json_string_value(json_object_get(j, "kernel")), "//8AAA==");
    /* 0 and 1 as doubles: 1400 ms later, of which 400 were measuring. */
    assert_string_equal(json_string_value(json_object_get(j, "start")), "AAAAAAAAAAAAAAAAAADwPw==");
    json_decref(j);
    /* Another process has no clock in common with this one. */
    gp_launch_columns_begin(c);
    assert_true(gp_launch_columns_add(c, NULL, &one));
    j = columns_of(c);
    assert_null(json_object_get(j, "start"));
    json_decref(j);
    gp_launch_columns_free(c);
    gp_metrics_close(m);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_launch_columns *c = gp_launch_columns_new(m);
    const uint64_t launches = 2 * (uint64_t)GP_COLUMNS_MOST + 3;
    for (uint64_t i = 0; i < launches; i++) {
        struct gp_record l = launch_of("a", i, i % 300);
        l.start_ms = (double)i + 1;
        l.grid[0] = 1 + (unsigned)i % 4;
        assert_true(gp_launch_columns_add(c, NULL, &l));
    }
    json_t *j = columns_of(c);
    /* Launches 0, 4, 8, ...: evenly spread, whenever they were thinned out. */
    assert_int_equal(integer_of(j, "stride"), 4);
    assert_int_equal(integer_of(j, "count"), (launches + 3) / 4);
    assert_int_equal(integer_of(j, "first"), 0);
    assert_true(json_array_size(json_object_get(j, "streams")) <= GP_COLUMNS_STREAMS);
    /* Each of them has 3 blocks, the others have more: here as three floats at a time. */
    const char *blocks = json_string_value(json_object_get(j, "blocks"));
    assert_int_equal(strlen(blocks), (launches + 3) / 4 / 3 * 16);
    for (; *blocks; blocks += 16)
        assert_memory_equal(blocks, "AABAQAAAQEAAAEBA", 16);
    /* The launches between them took their time, too: their starts would say nothing. */
    assert_null(json_object_get(j, "start"));
    json_decref(j);
    gp_launch_columns_free(c);
    gp_metrics_close(m);
}

/* ---- occupancy ---- */

static void curves_pass_through_the_kernel(void **state)
{
    (void)state;
    const struct gp_record l = {.kernel = "a",
                                .grid = {100, 1, 1},
                                .block = {256, 1, 1},
                                .registers = 64,
                                .shared_carveout = -1,
                                .shared_static = 8192,
                                .max_threads_per_block = 256};
    struct gp_occupancy now;
    char why[GP_WHY_SIZE];
    assert_true(gp_occupancy_of(&h200, &l, &now, why, sizeof(why)));
    struct gp_text out = {0};
    gp_occupancy_curves_json(&h200, &l, &out);
    json_t *j = json_loads(gp_text_string(&out), 0, NULL);
    static const struct {
        const char *name;
        int value, steps;
    } curves[] = {{"block", 256, 32}, {"registers", 64, 32}, {"shared", 8192, 57}};
    for (size_t i = 0; i < 3; i++) {
        json_t *curve = json_object_get(j, curves[i].name);
        int first = (int)integer_of(curve, "first");
        int step = (int)integer_of(curve, "step");
        json_t *warps = json_object_get(curve, "warps");
        assert_int_equal(json_array_size(warps), curves[i].steps);
        assert_int_equal((curves[i].value - first) % step, 0);
        assert_int_equal(
            json_integer_value(json_array_get(warps, (size_t)((curves[i].value - first) / step))),
            now.warps_per_sm);
    }
    json_decref(j);
    gp_text_free(&out);
}

/* ---- lines of the source ---- */

/* The sectors that would be there at best are not known: then none count as wasted. */
static void lines_have_no_count_that_was_not_made(void **state)
{
    (void)state;
    const char *const functions[] = {"k"};
    const struct gp_instruction_counts at[] = {
        {0, 0x40, {[GP_COUNT_SECTORS] = 100, [GP_COUNT_THREADS] = 32}}};
    const struct gp_lines lines = {
        .source = {.kernel = "k",
                   .cc = 90,
                   .launches = 1,
                   .kinds = 1u << GP_COUNT_SECTORS | 1u << GP_COUNT_THREADS,
                   .function_count = 1,
                   .functions = functions,
                   .instruction_count = 1,
                   .instructions = at,
                   .code = ""},
        .no_lines = "none"};
    struct gp_text out = {0};
    size_t room = 1000000;
    gp_html_lines(&lines, &room, &out);
    assert_non_null(strstr(gp_text_string(&out), "\"sectors\":100"));
    assert_null(strstr(gp_text_string(&out), "wasted"));
    assert_null(strstr(gp_text_string(&out), "lanes"));
    gp_text_free(&out);
}

/* ---- roofs ---- */

static void keep(void *user, const struct gp_roof *roof)
{
    struct gp_roof *kept = user;
    if (strcmp(roof->name, kept->name) == 0)
        *kept = *roof;
}

static const char measured_roofs[] = "; made up\n[NVIDIA H100]\nfp32 = 1e12\n"
                                     "[NVIDIA H200]\nfp32 = 6.1e13\ndram = 4.3e12x\nl2 = -1\n";

static void roofs_are_measured_or_nominal(void **state)
{
    (void)state;
    struct gp_device device = h200;
    device.simulated = 0;
    struct gp_roof fp32 = {.name = "FP32"}, dram = {.name = "DRAM"}, l2 = {.name = "L2"};
    gp_roofs_by(measured_roofs, &device, keep, &fp32);
    gp_roofs_by(measured_roofs, &device, keep, &dram);
    gp_roofs_by(measured_roofs, &device, keep, &l2);
    assert_false(fp32.is_bandwidth);
    assert_true(fp32.measured == 6.1e13);
    assert_true(fabs(fp32.nominal / 66.9e12 - 1) < 1e-3);
    assert_true(dram.is_bandwidth);
    assert_true(fabs(dram.nominal / 4.814e12 - 1) < 1e-3);
    /* A value that is no rate is not measured; neither: no roof. */
    assert_true(isnan(dram.measured));
    assert_true(l2.nominal == 0 && l2.measured == 0);
}

/* The roofs in metrics/roofs are no more than the device's peaks, and not far below. */
static void take_shipped(void *user, const struct gp_roof *roof)
{
    size_t *count = user;
    ++*count;
    if (isnan(roof->measured))
        fail_msg("no measured roof of %s", roof->name);
    if (!isnan(roof->nominal) &&
        (roof->measured > 1.02 * roof->nominal || roof->measured < 0.75 * roof->nominal))
        fail_msg("%s: %g measured, %g nominal", roof->name, roof->measured, roof->nominal);
}

static void measured_roofs_are_not_above_the_nominal_ones(void **state)
{
    (void)state;
    struct gp_device device = h200;
    size_t count = 0;
    device.simulated = 0;
    gp_roofs_of(&device, take_shipped, &count);
    assert_int_equal(count, 7);
}

static void a_simulated_gpu_has_no_measured_roof(void **state)
{
    (void)state;
    struct gp_roof fp32 = {.name = "FP32"};
    gp_roofs_by(measured_roofs, &h200, keep, &fp32);
    assert_true(fp32.nominal > 0);
    assert_true(isnan(fp32.measured));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_string_holds_no_markup),
        cmocka_unit_test(numbers_that_are_none_are_null),
        cmocka_unit_test(bytes_are_base64),
        cmocka_unit_test(launches_become_columns),
        cmocka_unit_test(launches_out_of_step_have_their_numbers),
        cmocka_unit_test(launches_are_put_in_order),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(curves_pass_through_the_kernel),
        cmocka_unit_test(lines_have_no_count_that_was_not_made),
        cmocka_unit_test(roofs_are_measured_or_nominal),
        cmocka_unit_test(measured_roofs_are_not_above_the_nominal_ones),
        cmocka_unit_test(a_simulated_gpu_has_no_measured_roof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
