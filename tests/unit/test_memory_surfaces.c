/* memory/surfaces and memory/arrays, on a driver of a few functions made here: an array is a
 * pointer to its description. */
#include "memory/buffers.h"
#include "memory/inside.h"
#include "memory/surfaces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define CONTEXT(n) ((CUcontext)(uintptr_t)(n))
#define WHOLE(n) ((CUmipmappedArray)(uintptr_t)(n))

static CUcontext current = CONTEXT(1);
static CUDA_ARRAY3D_DESCRIPTOR kinds[] = {
    {.Width = 75, .Height = 40, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2},
    {.Width = 10, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1},
    {.Width = 3, .Height = 5, .Depth = 7, .Format = CU_AD_FORMAT_HALF, .NumChannels = 4},
    {.Width = 8, .Height = 8, .Format = CU_AD_FORMAT_NV12, .NumChannels = 3},
    {.Width = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SPARSE},
};
#define ARRAY(n) ((CUarray)(void *)&kinds[n])

static CUDA_MEMCPY3D copies[8];
static unsigned copy_count;

static CUresult fake_current(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

static CUresult fake_descriptor(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array)
{
    *d = *(CUDA_ARRAY3D_DESCRIPTOR *)(void *)array;
    return CUDA_SUCCESS;
}

static CUresult fake_copy(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    (void)stream;
    copies[copy_count++] = *copy;
    return CUDA_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    gp_cuda.cuCtxGetCurrent = fake_current;
    gp_cuda.cuArray3DGetDescriptor_v2 = fake_descriptor;
    gp_cuda.cuMemcpy3DAsync_v2 = fake_copy;
    current = CONTEXT(1);
    copy_count = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    surfaces_forget_context(CONTEXT(1));
    surfaces_forget_context(CONTEXT(2));
    return 0;
}

static void make_surface(CUsurfObject handle, CUarray array)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    gp_surface_made(handle, &resource);
}

static void count(CUarray array, void *data)
{
    (void)array;
    ++*(unsigned *)data;
}

static unsigned arrays_of(CUcontext context)
{
    unsigned total = 0;
    surfaces_each(context, count, &total);
    return total;
}

static void an_array_is_listed_once_while_it_has_a_surface(void **state)
{
    (void)state;
    make_surface(1, ARRAY(0));
    make_surface(2, ARRAY(0));
    make_surface(3, ARRAY(1));
    assert_int_equal(arrays_of(CONTEXT(1)), 2);
    assert_int_equal(arrays_of(CONTEXT(2)), 0);
    assert_true(gp_surface_going(1));
    assert_int_equal(arrays_of(CONTEXT(1)), 2);
    assert_true(gp_surface_going(2));
    assert_int_equal(arrays_of(CONTEXT(1)), 1);
    assert_false(gp_surface_going(2));
    assert_true(gp_array_going(ARRAY(1))); /* its surface outlives it */
    assert_int_equal(arrays_of(CONTEXT(1)), 0);
    assert_false(gp_surface_going(3));
}

static void levels_go_with_the_whole(void **state)
{
    (void)state;
    gp_mipmap_level(WHOLE(7), ARRAY(0));
    gp_mipmap_level(WHOLE(7), ARRAY(0));
    gp_mipmap_level(WHOLE(7), ARRAY(1));
    gp_mipmap_level(WHOLE(8), ARRAY(2));
    make_surface(1, ARRAY(0));
    make_surface(2, ARRAY(2));
    assert_true(gp_mipmap_going(WHOLE(7)));
    assert_int_equal(arrays_of(CONTEXT(1)), 1);
    assert_false(gp_mipmap_going(WHOLE(7)));
    surfaces_forget_context(CONTEXT(1));
    make_surface(2, ARRAY(2)); /* the same handle, another array */
    assert_false(gp_mipmap_going(WHOLE(8)));
    assert_int_equal(arrays_of(CONTEXT(1)), 1);
}

static void copies_are_as_large_as_the_arrays(void **state)
{
    (void)state;
    struct gp_arrays arrays = {0};
    struct gp_arena arena = {.device = 0x700000000000, .device_size = 1 << 20};
    struct gp_reason why;
    for (int i = 0; i < 3; i++)
        make_surface((CUsurfObject)i, ARRAY(i));
    assert_true(arrays_list(&arrays, CONTEXT(1), &why));
    assert_int_equal(arrays.bytes, 75 * 40 * 8 + 10 + 3 * 5 * 7 * 8);
    assert_true(arrays.needed >= arrays.bytes);
    assert_true(arrays_take(&arrays, &arena));
    assert_int_equal(arrays_save(&arrays, GP_BEFORE, NULL), CUDA_SUCCESS);
    assert_int_equal(arrays_restore(&arrays, GP_BEFORE, NULL), CUDA_SUCCESS);
    assert_int_equal(copy_count, 6);
    static const size_t size[][3] = {{600, 40, 1}, {10, 1, 1}, {24, 5, 7}};
    for (int i = 0; i < 3; i++) {
        const CUDA_MEMCPY3D *out = &copies[i], *back = &copies[3 + i];
        assert_ptr_equal(out->srcArray, ARRAY(i));
        assert_ptr_equal(back->dstArray, ARRAY(i));
        assert_int_equal(out->dstDevice, back->srcDevice);
        if (i > 0)
            assert_true(out->dstDevice >=
                        out[-1].dstDevice + out[-1].dstPitch * out[-1].dstHeight * out[-1].Depth);
        assert_int_equal(out->WidthInBytes, size[i][0]);
        assert_int_equal(out->Height, size[i][1]);
        assert_int_equal(out->Depth, size[i][2]);
        assert_int_equal(back->srcPitch, size[i][0]);
        assert_int_equal(back->srcHeight, size[i][1]);
    }
    arena = (struct gp_arena){.device = 0x700000000000, .device_size = 1000};
    assert_false(arrays_take(&arrays, &arena));
    arrays_free(&arrays);
}

static void code_that_cannot_be_copied_has_a_reason(void **state)
{
    (void)state;
    for (int i = 3; i < 5; i++) {
        struct gp_arrays arrays = {0};
        struct gp_reason why = GP_NO_REASON;
        make_surface(1, ARRAY(0));
        make_surface(2, ARRAY(i));
        assert_false(arrays_list(&arrays, CONTEXT(1), &why));
        assert_string_equal(why.text, "a surface's array is of a kind that cannot be copied");
        assert_true(gp_surface_going(2));
        assert_true(arrays_list(&arrays, CONTEXT(1), &why));
        arrays_free(&arrays);
        end(NULL);
    }
}

/* Last: there is no way back. */
static void a_surface_of_something_else_bars_replay(void **state)
{
    (void)state;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    assert_int_equal(gp_memory_replay_barred().cause, GP_CAUSE_NONE);
    gp_surface_made(1, &resource);
    assert_int_equal(gp_memory_replay_barred().cause, GP_CAUSE_REPLAY_BARRED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(an_array_is_listed_once_while_it_has_a_surface),
        TEST(levels_go_with_the_whole),
        TEST(copies_are_as_large_as_the_arrays),
        TEST(code_that_cannot_be_copied_has_a_reason),
        TEST(a_surface_of_something_else_bars_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
