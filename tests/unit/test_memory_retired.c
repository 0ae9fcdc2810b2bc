/* memory/retired and memory/give_back: memory that the program has freed is kept while launches
 * that reach it are held, and is given back otherwise. On a driver of a few functions made here. */
#include "memory/buffers.h"
#include "memory/inside.h"
#include "memory/retired.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define CONTEXT ((CUcontext)(uintptr_t)1)
#define ADDRESS ((CUdeviceptr)0x7000)

static unsigned freed;

static CUresult fake_current(CUcontext *context)
{
    *context = CONTEXT;
    return CUDA_SUCCESS;
}

static CUresult fake_push(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}

static CUresult fake_pop(CUcontext *context)
{
    return fake_current(context);
}

static CUresult fake_device(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

static CUresult fake_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    (void)address;
    if (attribute != CU_POINTER_ATTRIBUTE_BUFFER_ID)
        return CUDA_ERROR_INVALID_VALUE;
    memset(value, 0, sizeof(unsigned long long));
    return CUDA_SUCCESS;
}

static CUresult fake_synchronize(void)
{
    return CUDA_SUCCESS;
}

static CUresult fake_fill(CUdeviceptr address, unsigned char value, size_t bytes)
{
    (void)address;
    (void)value;
    (void)bytes;
    return CUDA_SUCCESS;
}

static CUresult fake_free(CUdeviceptr address)
{
    freed += address == ADDRESS;
    return CUDA_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    gp_cuda.cuCtxGetCurrent = fake_current;
    gp_cuda.cuCtxPushCurrent_v2 = fake_push;
    gp_cuda.cuCtxPopCurrent_v2 = fake_pop;
    gp_cuda.cuCtxGetDevice = fake_device;
    gp_cuda.cuCtxSynchronize = fake_synchronize;
    gp_cuda.cuPointerGetAttribute = fake_attribute;
    gp_cuda.cuMemsetD8_v2 = fake_fill;
    gp_cuda.cuMemFree_v2 = fake_free;
    freed = 0;
    gp_buffer_add(GP_BUFFER_DEVICE, ADDRESS, 4096);
    assert_true(gp_retire(ADDRESS, (uint64_t)1 << 30));
    return 0;
}

static void memory_of_held_launches_stays(void **state)
{
    (void)state;
    /* One snapshot is of launches, the other one of graphs: no launch is held there. */
    struct gp_snapshot launches = {.context = CONTEXT}, graphs = {.context = CONTEXT};
    snapshot_list(&launches);
    snapshot_list(&graphs);
    snapshot_set_held(&launches, 1);
    gp_snapshot_release_memory(false);
    assert_int_equal(freed, 0);
    assert_true(gp_is_retired(ADDRESS));
    snapshot_set_held(&launches, 0);
    assert_true(gp_snapshot_release_memory(false));
    assert_int_equal(freed, 1);
    assert_false(gp_is_retired(ADDRESS));
    snapshot_unlist(&launches);
    snapshot_unlist(&graphs);
}

static void it_is_given_out_again(void **state)
{
    (void)state;
    assert_int_equal(gp_retired_take(2048, NULL), 0);
    assert_int_equal(gp_retired_take(4096, NULL), ADDRESS);
    assert_int_equal(gp_retired_take(4096, NULL), 0);
    assert_int_equal(freed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(memory_of_held_launches_stays, begin),
        cmocka_unit_test_setup(it_is_given_out_again, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
