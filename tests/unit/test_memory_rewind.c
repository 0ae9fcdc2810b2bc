/* memory/rewind: the memory that each replay finds, and the memory that the program finds behind
 * the last one. On a driver of a few functions made here: its kernels know one number of each
 * memory unit, and an array is one number. */
#include "memory/inside.h"
#include "memory/surfaces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CONTEXT ((CUcontext)(uintptr_t)1)
#define UNITS 5u

static CUDA_ARRAY3D_DESCRIPTOR array = {
    .Width = 1, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};

static struct {
    uint32_t live[UNITS], copy[UNITS], kept[UNITS];
    bool is_kept[UNITS];
    uint32_t watched, watched_copy; /* memory that is never put back */
    uint32_t array;
    struct gp_answer answer;
} gpu;

static uint32_t room[1024] __attribute__((aligned(4096))); /* for copies of the array */
static struct gp_answer host_answer;
static struct gp_snapshot s;

/* ---- the driver ------------------------------------------------------------------------------ */

enum kernel { COMPARE = 1, KEEP, REWIND_KEPT, REWIND, PUT_BACK };

static void put_back_copy(unsigned unit)
{
    if (gpu.live[unit] != gpu.copy[unit])
        gpu.answer.changed_bytes += GP_UNIT_BYTES;
    gpu.live[unit] = gpu.copy[unit];
}

static void run(enum kernel kernel, unsigned unit)
{
    const bool may = !gpu.answer.watched;
    switch (kernel) {
    case COMPARE:
        gpu.answer.watched = gpu.watched != gpu.watched_copy;
        break;
    case KEEP:
        gpu.is_kept[unit] = may && gpu.live[unit] != gpu.copy[unit];
        gpu.kept[unit] = gpu.live[unit];
        gpu.answer.kept += gpu.is_kept[unit];
        break;
    case REWIND_KEPT:
        if (may && gpu.is_kept[unit])
            put_back_copy(unit);
        break;
    case REWIND:
        if (may)
            put_back_copy(unit);
        break;
    case PUT_BACK:
        gpu.live[unit] = gpu.is_kept[unit] ? gpu.kept[unit] : gpu.copy[unit];
        break;
    }
}

/* All of these kernels take the number of units third. */
static CUresult fake_launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, CUstream stream,
                            void **arguments, void **extra)
{
    (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)extra;
    assert_true(gx > 0);
    for (unsigned unit = 0; unit < *(uint64_t *)arguments[2]; unit++)
        run((enum kernel)(uintptr_t)f, unit);
    return CUDA_SUCCESS;
}

static CUresult fake_fill(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    (void)stream;
    if (to == s.own.answer)
        memset(&gpu.answer, (int)value, 4 * count);
    else
        memset(gpu.is_kept, 0, sizeof(gpu.is_kept));
    return CUDA_SUCCESS;
}

static CUresult fake_fetch(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    (void)stream;
    assert_int_equal(from, s.own.answer);
    memcpy(to, &gpu.answer, bytes);
    return CUDA_SUCCESS;
}

static CUresult fake_copy(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    (void)stream;
    if (copy->srcArray)
        *(uint32_t *)(uintptr_t)copy->dstDevice = gpu.array;
    else
        gpu.array = *(const uint32_t *)(uintptr_t)copy->srcDevice;
    return CUDA_SUCCESS;
}

static CUresult fake_wait(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult fake_current(CUcontext *context)
{
    *context = CONTEXT;
    return CUDA_SUCCESS;
}

static CUresult fake_descriptor(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray of)
{
    *d = *(CUDA_ARRAY3D_DESCRIPTOR *)(void *)of;
    return CUDA_SUCCESS;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* A snapshot of all units, of an array, and of a unit that is watched. */
static int begin(void **state)
{
    (void)state;
    gp_cuda.cuLaunchKernel = fake_launch;
    gp_cuda.cuMemsetD32Async = fake_fill;
    gp_cuda.cuMemcpyDtoHAsync_v2 = fake_fetch;
    gp_cuda.cuMemcpy3DAsync_v2 = fake_copy;
    gp_cuda.cuStreamSynchronize = fake_wait;
    gp_cuda.cuCtxGetCurrent = fake_current;
    gp_cuda.cuArray3DGetDescriptor_v2 = fake_descriptor;
    memset(&gpu, 0, sizeof(gpu));
    s = (struct gp_snapshot){
        .own = {.compare = {(CUfunction)(uintptr_t)COMPARE, 100},
                .keep = {(CUfunction)(uintptr_t)KEEP, 100},
                .rewind_kept = {(CUfunction)(uintptr_t)REWIND_KEPT, 100},
                .rewind = {(CUfunction)(uintptr_t)REWIND, 100},
                .put_back = {(CUfunction)(uintptr_t)PUT_BACK, 100},
                .answer = 0x1000,
                .host_answer = &host_answer},
        .restored = {.count = 1, .units = UNITS, .table = 0x2000},
        .watched = {.count = 1, .units = 1, .table = 0x3000},
        .final = {.positions = 0x4000, .positions_capacity = 100, .capacity = 100},
    };
    struct gp_reason why;
    struct gp_arena arena = {.device = (uintptr_t)room, .device_size = sizeof(room)};
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                   .res.array.hArray = (CUarray)(void *)&array};
    gp_surface_made(1, &resource);
    if (!arrays_list(&s.arrays, CONTEXT, &why) || !arrays_take(&s.arrays, &arena))
        return 1;
    return arrays_save(&s.arrays, GP_BEFORE, NULL) != CUDA_SUCCESS;
}

static int end(void **state)
{
    (void)state;
    arrays_free(&s.arrays);
    surfaces_forget_context(CONTEXT);
    return 0;
}

/* A run that writes its number into the array, and into the first and the last unit. */
static void run_kernel(uint32_t number)
{
    gpu.live[0] = gpu.live[UNITS - 1] = gpu.array = number;
}

/* The first and the last unit, and the array, have that number, and all others have none. */
static void memory_is(uint32_t number)
{
    for (unsigned unit = 0; unit < UNITS; unit++)
        assert_int_equal(gpu.live[unit], unit == 0 || unit == UNITS - 1 ? number : 0);
    assert_int_equal(gpu.array, number);
}

static bool rewinds(void)
{
    struct gp_reason why = GP_NO_REASON;
    return gp_snapshot_rewind(&s, &why);
}

static bool finishes(void)
{
    struct gp_reason why = GP_NO_REASON;
    return gp_snapshot_finish(&s, &why);
}

static void each_replay_finds_the_memory_before_the_launch(void **state)
{
    (void)state;
    run_kernel(1);
    for (uint32_t replay = 2; replay < 5; replay++) {
        assert_true(rewinds());
        assert_false(gp_snapshot_host_changed(&s));
        /* Bytes that this one changed. */
        assert_int_equal(gp_snapshot_changed_bytes(&s), 2 * GP_UNIT_BYTES + sizeof(uint32_t));
        memory_is(0);
        run_kernel(replay);
    }
    assert_true(finishes());
    memory_is(1);
}

static void a_replay_may_write_memory_that_the_own_run_left_alone(void **state)
{
    (void)state;
    run_kernel(1);
    for (uint32_t replay = 2; replay < 4; replay++) {
        assert_true(rewinds());
        memory_is(0);
        for (unsigned unit = 0; unit < UNITS; unit++)
            gpu.live[unit] = replay;
    }
    assert_true(finishes());
    memory_is(1);
}

/* Then the results of the program's own run stay. */
static void nothing_is_put_back_where_the_host_wrote_beside_the_own_run(void **state)
{
    (void)state;
    run_kernel(1);
    gpu.watched = 1;
    assert_true(rewinds());
    assert_true(gp_snapshot_host_changed(&s));
    memory_is(1);
    assert_true(finishes());
    memory_is(1);
}

static void nothing_is_put_back_where_the_host_writes_beside_a_replay(void **state)
{
    (void)state;
    run_kernel(1);
    assert_true(rewinds());
    run_kernel(2);
    gpu.watched = 1;
    assert_true(rewinds());
    assert_true(gp_snapshot_host_changed(&s));
    memory_is(2);
    assert_true(finishes());
    memory_is(1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(each_replay_finds_the_memory_before_the_launch),
        TEST(a_replay_may_write_memory_that_the_own_run_left_alone),
        TEST(nothing_is_put_back_where_the_host_wrote_beside_the_own_run),
        TEST(nothing_is_put_back_where_the_host_writes_beside_a_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
