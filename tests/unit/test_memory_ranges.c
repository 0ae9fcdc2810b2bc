/* memory/ranges: buffers in order of address, followed from change to change. */
#include "memory/inside.h"
#include "memory/sharing.h"

#include "one_gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct gp_ranges ranges;

static CUresult fake_pointer(void *data, CUpointer_attribute attribute, CUdeviceptr address)
{
    (void)address;
    if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        *(int *)data = 0;
    return CUDA_SUCCESS;
}

static CUresult fake_device_pointer(CUdeviceptr *device, void *host, unsigned flags)
{
    (void)flags;
    *device = (CUdeviceptr)(uintptr_t)host + 0x1000;
    return CUDA_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    one_gpu();
    gp_cuda.cuPointerGetAttribute = fake_pointer;
    gp_cuda.cuMemHostGetDevicePointer_v2 = fake_device_pointer;
    return 0;
}

static void drop(const struct gp_buffer *buffer, void *data)
{
    CUdeviceptr *addresses = data;
    addresses[++addresses[0]] = buffer->address;
}

static int end(void **state)
{
    static CUdeviceptr addresses[64];
    (void)state;
    addresses[0] = 0;
    gp_buffers_each(CONTEXT(1), 0, drop, addresses);
    for (CUdeviceptr i = 1; i <= addresses[0]; i++)
        gp_buffer_discard(gp_buffer_take(addresses[i]));
    ranges_free(&ranges);
    return 0;
}

static void update(void)
{
    assert_true(ranges_update(&ranges, CONTEXT(1), 0));
    uint64_t bytes = 0;
    for (size_t i = 0; i < ranges.count; i++) {
        assert_true(ranges.ranges[i].start < ranges.ranges[i].end);
        assert_true(i == 0 || ranges.ranges[i - 1].end <= ranges.ranges[i].start);
        bytes += ranges.ranges[i].end - ranges.ranges[i].start;
        uint32_t high = (uint32_t)(ranges.ranges[i].start >> 32);
        assert_true(ranges.high[high / 32] >> high % 32 & 1);
    }
    assert_int_equal(ranges.bytes, bytes);
}

/* The start of the range that the address is in, of the upper one when there are two; 0 for none.
 */
static uint64_t start_of(uint64_t address)
{
    size_t found[2];
    return ranges_find(&ranges, address, found) ? ranges.ranges[found[0]].start : 0;
}

static void pointers_into_and_just_behind_a_buffer_count(void **state)
{
    (void)state;
    update();
    assert_int_equal(start_of(0x1000), 0); /* there is nothing yet */
    gp_buffer_add(GP_BUFFER_DEVICE, 0x3000, 0x100);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 0x100);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1100, 0x100); /* right behind */
    update();
    assert_int_equal(ranges.count, 3);
    assert_int_equal(start_of(0xfff), 0);
    assert_int_equal(start_of(0x1000), 0x1000);
    assert_int_equal(start_of(0x10ff), 0x1000);
    assert_int_equal(start_of(0x1200), 0x1100);
    assert_int_equal(start_of(0x1201), 0);
    assert_int_equal(start_of(0x30ff), 0x3000);
    assert_int_equal(start_of(0x3101), 0);
    size_t found[2];
    assert_int_equal(ranges_find(&ranges, 0x1100, found), 2); /* an end and a start */
    assert_int_equal(ranges.ranges[found[0]].start, 0x1100);
    assert_int_equal(ranges.ranges[found[1]].start, 0x1000);
}

static void changes_are_followed(void **state)
{
    (void)state;
    for (CUdeviceptr i = 1; i <= 40; i++)
        gp_buffer_add(GP_BUFFER_DEVICE, i * 0x1000, 0x100);
    update();
    assert_int_equal(ranges.count, 40);
    ranges.changed_from = SIZE_MAX;
    update();
    assert_int_equal(ranges.changed_from, SIZE_MAX); /* nothing happened */
    gp_buffer_discard(gp_buffer_take(0x14000));
    gp_buffer_add(GP_BUFFER_DEVICE, 0x20800, 0x100);
    update();
    assert_int_equal(ranges.count, 40);
    assert_int_equal(ranges.changed_from, 19); /* the part below is as it was */
    assert_int_equal(start_of(0x14000), 0);
    assert_int_equal(start_of(0x20810), 0x20800);
}

static void a_free_that_failed_changes_nothing(void **state)
{
    (void)state;
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 0x100);
    update();
    gp_buffer_put_back(gp_buffer_take(0x1000));
    update();
    assert_int_equal(ranges.count, 1);
}

static void an_address_that_comes_back_is_followed(void **state)
{
    (void)state;
    gp_buffer_add(GP_BUFFER_DEVICE, 0x1000, 0x100);
    update();
    gp_buffer_discard(gp_buffer_take(0x1000));
    gp_buffer_add(GP_BUFFER_MANAGED, 0x1000, 0x900);
    update();
    assert_int_equal(ranges.count, 1);
    assert_int_equal(ranges.facts[0].kind, GP_BUFFER_MANAGED);
    assert_int_equal(ranges.ranges[0].end, 0x1900);
}

/* A free passed us by, and the address belongs to something else now. */
static void the_last_allocation_at_an_address_counts(void **state)
{
    (void)state;
    for (int anew = 0; anew < 2; anew++) {
        gp_buffer_add(GP_BUFFER_DEVICE, 0x4000, 0x1000);
        gp_buffer_add(GP_BUFFER_DEVICE, 0x6000, 0x1000);
        if (anew == 0)
            update();
        gp_buffer_add(GP_BUFFER_DEVICE, 0x3000, 0x2000); /* over the first */
        gp_buffer_add(GP_BUFFER_DEVICE, 0x6800, 0x100);  /* inside the second */
        if (anew == 1)
            ranges_free(&ranges);
        update();
        assert_int_equal(ranges.count, 2);
        assert_int_equal(start_of(0x4800), 0x3000);
        assert_int_equal(start_of(0x6850), 0x6800);
        assert_int_equal(start_of(0x6000), 0);
        end(NULL);
    }
}

static void mappings_side_by_side_are_one(void **state)
{
    (void)state;
    gp_mapping_add(0x200000, 0x1000, 0);
    gp_mapping_add(0x202000, 0x1000, 0);
    gp_mapping_set_access(0x200000, 0x1000, 0, true);
    gp_mapping_set_access(0x202000, 0x1000, 0, true);
    update();
    assert_int_equal(ranges.count, 2);
    gp_mapping_add(0x201000, 0x1000, 0);
    update();
    assert_int_equal(ranges.count, 2); /* nobody may write it yet */
    gp_mapping_set_access(0x201000, 0x1000, 0, true);
    update();
    assert_int_equal(ranges.count, 1);
    assert_int_equal(start_of(0x202fff), 0x200000);
    gp_mapping_remove(0x201000, 0x1000);
    update();
    assert_int_equal(ranges.count, 2);
    assert_int_equal(start_of(0x201800), 0);
    assert_int_equal(start_of(0x202800), 0x202000);
    ranges_free(&ranges);
    gp_mapping_add(0x201000, 0x1000, 0);
    gp_mapping_set_access(0x201000, 0x1000, 0, true);
    update(); /* all at once */
    assert_int_equal(ranges.count, 1);
    gp_mapping_remove(0x200000, 0x3000);
    update();
    assert_int_equal(ranges.count, 0);
}

static void other_memory_side_by_side_is_not(void **state)
{
    (void)state;
    gp_buffer_add_pooled(0x5000, 0x1000);
    gp_buffer_add_pooled(0x6000, 0x1000);
    gp_mapping_add(0x7000, 0x1000, 0);
    gp_mapping_set_access(0x7000, 0x1000, 0, true);
    update();
    assert_int_equal(ranges.count, 3);
}

static void kernels_see_host_memory_where_it_is_for_them(void **state)
{
    (void)state;
    char host[64];
    gp_buffer_add_host(host, sizeof(host));
    update();
    assert_int_equal(start_of((uintptr_t)host + 0x1000), (uintptr_t)host + 0x1000);
}

static void changes_too_many_to_follow_are_read_anew(void **state)
{
    (void)state;
    update();
    for (CUdeviceptr i = 1; i <= 3000; i++)
        gp_buffer_add(GP_BUFFER_DEVICE, i * 0x100, 0x80);
    for (CUdeviceptr i = 1; i <= 3000; i++)
        if (i != 700 && i != 2000)
            gp_buffer_discard(gp_buffer_take(i * 0x100));
    update();
    assert_int_equal(ranges.count, 2);
    assert_int_equal(start_of(700 * 0x100), 700 * 0x100);
}

/* Any order of allocating and freeing leaves the ranges that a new list of the same buffers would
 * have. */
static void random_changes_are_followed(void **state)
{
    (void)state;
    bool there[50] = {false};
    srand(7);
    for (int i = 0; i < 5000; i++) {
        unsigned which = (unsigned)rand() % 50;
        CUdeviceptr address = 0x100000 + which * 0x1000;
        bool mapped = which % 2;
        if (there[which] && mapped) {
            gp_mapping_remove(address, 0x1000);
        } else if (there[which]) {
            gp_buffer_discard(gp_buffer_take(address));
        } else if (mapped) {
            gp_mapping_add(address, 0x1000, 0);
            gp_mapping_set_access(address, 0x1000, 0, true);
        } else {
            gp_buffer_add(GP_BUFFER_DEVICE, address, 0x800);
        }
        there[which] = !there[which];
        if (i % 7)
            continue;
        update();
        for (unsigned k = 0; k < 50; k++)
            assert_int_equal(start_of(0x100000 + k * 0x1000 + 0x400) != 0, there[k]);
    }
}

static unsigned visited;

static void visit(size_t range, void *data)
{
    uint64_t *base = data;
    assert_int_equal(ranges.ranges[range].start & ~(uint64_t)0xfff, *base);
    visited++;
}

static void count_all(size_t range, void *data)
{
    (void)range;
    (void)data;
    visited++;
}

static void variables_are_found_by_their_module(void **state)
{
    (void)state;
    static const int a, b, unknown;
    uint64_t base = 0x8000;
    buffer_add_global(&a, 0x8000, 4);
    buffer_add_global(&b, 0x9000, 4);
    buffer_add_global(&a, 0x8100, 4);
    gp_buffer_add(GP_BUFFER_DEVICE, 0xa000, 4);
    update();
    visited = 0;
    assert_true(ranges_of(&ranges, &a, visit, &base));
    assert_int_equal(visited, 2);
    visited = 0;
    assert_true(ranges_of(&ranges, &unknown, count_all, NULL));
    assert_int_equal(visited, 0);
    assert_true(ranges_of(&ranges, NULL, count_all, NULL));
    assert_int_equal(visited, 3);
    buffer_add_global(&a, 0x8200, 4); /* looked up later */
    update();
    visited = 0;
    assert_true(ranges_of(&ranges, &a, visit, &base));
    assert_int_equal(visited, 3);
    buffers_drop_owner(&a);
    update();
    visited = 0;
    assert_true(ranges_of(&ranges, &a, visit, &base));
    assert_int_equal(visited, 0);
}

/* The range's reason not to be put back, NULL for ours and for none. */
static const char *why_at(uint64_t address)
{
    size_t found[2];
    return ranges_find(&ranges, address, found) ? ranges.facts[found[0]].not_ours.text : NULL;
}

static void time_that_is_not_ours_ends_before_its_end(void **state)
{
    (void)state;
    gp_buffer_add_foreign(0x1000, 0x1000, GP_OF_ANOTHER_PROCESS);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x2000, 0x1000);
    update();
    size_t found[2];
    assert_string_equal(why_at(0x1000), GP_OF_ANOTHER_PROCESS.text);
    assert_string_equal(why_at(0x1fff), GP_OF_ANOTHER_PROCESS.text);
    assert_int_equal(ranges_find(&ranges, 0x2000, found), 1);
    assert_null(why_at(0x2000));
    gp_buffer_discard(gp_buffer_take(0x1000));
    update();
    assert_int_equal(ranges.count, 1);
}

static void mappings_side_by_side_are_ours_together_or_not_at_all(void **state)
{
    (void)state;
    for (CUdeviceptr at = 0x10000; at < 0x13000; at += 0x1000) {
        gp_mapping_add(at, 0x1000, 0);
        gp_mapping_set_access(at, 0x1000, 0, true);
    }
    update();
    assert_null(why_at(0x10000));
    gp_mapping_set_access(0x11000, 0x1000, 1, true);
    update();
    assert_int_equal(ranges.count, 1);
    assert_string_equal(why_at(0x10000), GP_OF_SEVERAL_GPUS.text);
    gp_mapping_set_access(0x11000, 0x1000, 1, false);
    update();
    assert_null(why_at(0x10000));
    gp_mapping_set_host_access(0x12000, 0x1000, true);
    update();
    assert_string_equal(why_at(0x10000), GP_OF_THE_HOST.text);
    gp_mapping_remove(0x12000, 0x1000); /* the one that was not ours */
    update();
    assert_int_equal(ranges.count, 1);
    assert_null(why_at(0x10000));
    gp_mapping_remove(0x10000, 0x2000);
}

static void count_one(size_t range, void *data)
{
    (void)range;
    ++*(size_t *)data;
}

/* Changes that are followed and all read anew come to the same. */
static void memory_of_a_peer_is_seen_from_now_on(void **state)
{
    (void)state;
    int module;
    current = CONTEXT(2);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x5000, 0x100);
    buffer_add_global(&module, 0x6000, 4);
    current = CONTEXT(1);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x4000, 0x100);
    update();
    assert_int_equal(ranges.count, 1);
    gp_peer_enabled(CONTEXT(1), CONTEXT(2));
    update();
    assert_int_equal(ranges.count, 3);
    assert_null(why_at(0x4000));
    assert_string_equal(why_at(0x5000), GP_OF_ANOTHER_GPU.text);
    current = CONTEXT(2);
    gp_buffer_add(GP_BUFFER_DEVICE, 0x7000, 0x100);
    current = CONTEXT(1);
    update();
    assert_string_equal(why_at(0x7080), GP_OF_ANOTHER_GPU.text);
    gp_buffer_discard(gp_buffer_take(0x7000));
    update();
    assert_int_equal(ranges.count, 3);
    /* Its variables are nobody's here. */
    size_t variables = 0;
    assert_true(ranges_of(&ranges, NULL, count_one, &variables));
    assert_int_equal(variables, 0);
    gp_peers_forget(CONTEXT(2));
    update();
    assert_int_equal(ranges.count, 1);
    gp_buffer_discard(gp_buffer_take(0x5000));
    buffers_drop_owner(&module);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(pointers_into_and_just_behind_a_buffer_count),
        TEST(changes_are_followed),
        TEST(a_free_that_failed_changes_nothing),
        TEST(an_address_that_comes_back_is_followed),
        TEST(the_last_allocation_at_an_address_counts),
        TEST(mappings_side_by_side_are_one),
        TEST(other_memory_side_by_side_is_not),
        TEST(kernels_see_host_memory_where_it_is_for_them),
        TEST(changes_too_many_to_follow_are_read_anew),
        TEST(random_changes_are_followed),
        TEST(variables_are_found_by_their_module),
        TEST(time_that_is_not_ours_ends_before_its_end),
        TEST(mappings_side_by_side_are_ours_together_or_not_at_all),
        TEST(memory_of_a_peer_is_seen_from_now_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
