/* The simulated driver by itself: behaviour that programs and profilers rely on, and calls that
 * must fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/driver.h"
#include "image.h"

static CUcontext context;
static CUmodule module;

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static int open_device(void **state)
{
    static const struct gpusim_image_kernel kernels[] = {{"scale_in_place", 10, 0, 0},
                                                         {"sum_shared", 14, 0, 0},
                                                         {"out_of_bounds", 8, 0, 0},
                                                         {"noop", 255, 0, 0},
                                                         {"not_there", 4, 0, 0}};
    static const uint32_t seven = 7;
    static const struct gpusim_image_global globals[] = {
        {"zeroed", 400, NULL, GPUSIM_IMAGE_GLOBAL},
        {"seven", 4, &seven, GPUSIM_IMAGE_GLOBAL},
        {"managed", 8, NULL, GPUSIM_IMAGE_MANAGED},
        {"constant", 4, &seven, GPUSIM_IMAGE_CONSTANT}};
    CUdevice device;
    size_t bytes;
    void *image = gpusim_image_build(kernels, 5, globals, 4, &bytes);

    (void)state;
    if (!image || cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != CUDA_SUCCESS ||
        cuModuleLoadData(&module, image) != CUDA_SUCCESS)
        return -1;
    free(image);
    return 0;
}

static CUfunction function(const char *name)
{
    CUfunction f;

    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

/* ---- memory ---- */

static void device_memory_is_out_of_the_hosts_reach(void **state)
{
    CUdeviceptr p;
    int status;
    pid_t child;

    (void)state;
    OK(cuMemAlloc_v2(&p, 100));
    child = fork();
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL); /* the caller that would report it */
        _exit(*(volatile char *)(uintptr_t)p);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(cuMemFree_v2(p));
}

static void accesses_past_the_end_are_refused(void **state)
{
    char bytes[101] = {0};
    CUdeviceptr p;

    (void)state;
    OK(cuMemAlloc_v2(&p, 100));
    OK(cuMemcpyHtoD_v2(p, bytes, 100));
    assert_int_equal(cuMemcpyHtoD_v2(p, bytes, 101), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH_v2(bytes, p + 1, 100), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD32_v2(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD8_v2(p, 0, 101), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
    assert_int_equal(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD_v2(p, bytes, 1), CUDA_ERROR_INVALID_VALUE);
}

static void freed_addresses_come_again_and_are_empty(void **state)
{
    CUdeviceptr p, q;
    uint32_t value = 1;

    (void)state;
    OK(cuMemAlloc_v2(&p, 4096));
    OK(cuMemsetD32_v2(p, 0xffffffff, 1024));
    OK(cuMemFree_v2(p));
    OK(cuMemAlloc_v2(&q, 4096));
    assert_int_equal(p, q);
    OK(cuMemcpyDtoH_v2(&value, q, 4));
    assert_int_equal(value, 0);
    OK(cuMemFree_v2(q));
}

static void memory_is_finite(void **state)
{
    size_t before, after, total;
    CUdeviceptr p;

    (void)state;
    OK(cuMemGetInfo_v2(&before, &total));
    assert_int_equal(cuMemAlloc_v2(&p, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuMemAlloc_v2(&p, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAlloc_v2(&p, 1 << 20));
    OK(cuMemGetInfo_v2(&after, &total));
    assert_int_equal(before - after, 1 << 20);
    OK(cuMemFree_v2(p));
}

static void pointers_know_what_they_are(void **state)
{
    CUdeviceptr device, managed, start;
    unsigned type;
    size_t size;
    void *pinned;
    int flag;

    (void)state;
    OK(cuMemAlloc_v2(&device, 1000));
    OK(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostAlloc(&pinned, 1000, 0));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 999));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 999));
    assert_int_equal(start, device);
    OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, device));
    assert_int_equal(size, 1000);
    OK(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    assert_int_equal(flag, 1);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)pinned));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    assert_int_equal(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 1000),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&type),
        CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(device));
    OK(cuMemFree_v2(managed));
    OK(cuMemFreeHost(pinned));
}

static void registered_memory_is_registered_once(void **state)
{
    static char memory[8192];

    (void)state;
    OK(cuMemHostRegister_v2(memory, sizeof(memory), 0));
    assert_int_equal(cuMemHostRegister_v2(memory + 100, 10, 0),
                     CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostUnregister(memory));
    assert_int_equal(cuMemHostUnregister(memory), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

static void rows_are_copied_by_their_pitch(void **state)
{
    CUDA_MEMCPY2D copy = {0};
    uint8_t in[4][10], out[4][10] = {{0}};
    CUdeviceptr p;
    size_t pitch;

    (void)state;
    for (int i = 0; i < 40; i++)
        in[i / 10][i % 10] = (uint8_t)i;
    OK(cuMemAllocPitch_v2(&p, &pitch, 10, 4, 4));
    assert_true(pitch >= 10 && pitch % 512 == 0);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = in;
    copy.srcPitch = 10;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = p;
    copy.dstPitch = pitch;
    copy.WidthInBytes = 10;
    copy.Height = 4;
    OK(cuMemcpy2D_v2(&copy));
    OK(cuMemcpyDtoH_v2(out[2], p + 2 * pitch, 10));
    assert_memory_equal(out[2], in[2], 10);
    OK(cuMemsetD2D8_v2(p, pitch, 9, 5, 4));
    OK(cuMemcpyDtoH_v2(out[3], p + 3 * pitch, 10));
    assert_int_equal(out[3][4], 9);
    assert_int_equal(out[3][5], in[3][5]);
    OK(cuMemFree_v2(p));
}

/* ---- modules ---- */

static void variables_are_where_the_module_says(void **state)
{
    CUdeviceptr p;
    uint32_t value = 0;
    size_t bytes;

    (void)state;
    OK(cuModuleGetGlobal_v2(&p, &bytes, module, "zeroed"));
    assert_int_equal(bytes, 400);
    OK(cuModuleGetGlobal_v2(&p, &bytes, module, "seven"));
    OK(cuMemcpyDtoH_v2(&value, p, 4));
    assert_int_equal(value, 7);
    OK(cuModuleGetGlobal_v2(&p, NULL, module, "managed"));
    *(volatile uint64_t *)(uintptr_t)p = 1; /* the host may touch it */
    assert_int_equal(cuModuleGetGlobal_v2(&p, &bytes, module, "none"), CUDA_ERROR_NOT_FOUND);
}

static void images_that_are_none_are_refused(void **state)
{
    static const char nonsense[64] = "this is no device program";
    CUmodule none;

    (void)state;
    assert_int_equal(cuModuleLoadData(&none, nonsense), CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(cuModuleLoad(&none, "/nowhere/at/all"), CUDA_ERROR_FILE_NOT_FOUND);
}

static void functions_tell_their_needs(void **state)
{
    int value;

    (void)state;
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function("noop")));
    assert_int_equal(value, 255);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function("noop")));
    assert_int_equal(value, 256);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function("sum_shared"), 256, 1024));
    assert_int_equal(value, 8);
}

/* ---- launches ---- */

static void too_much_is_refused_at_the_launch(void **state)
{
    (void)state;
    assert_int_equal(cuLaunchKernel(function("noop"), 1, 1, 1, 1024, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(cuLaunchKernel(function("not_there"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_NO_BINARY_FOR_GPU);
    OK(cuLaunchKernel(function("noop"), 1, 1, 1, 32, 1, 1, 48 << 10, NULL, NULL, NULL));
    assert_int_equal(
        cuLaunchKernel(function("noop"), 1, 1, 1, 32, 1, 1, 49 << 10, NULL, NULL, NULL),
        CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(function("noop"), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          100 << 10));
    OK(cuLaunchKernel(function("noop"), 1, 1, 1, 32, 1, 1, 100 << 10, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
}

static void parameters_may_come_as_one_block(void **state)
{
    struct {
        CUdeviceptr p;
        unsigned n;
        float factor;
    } block = {0, 64, 3.0f};
    size_t size = sizeof(block);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    float seen[64];

    (void)state;
    OK(cuMemAlloc_v2(&block.p, sizeof(seen)));
    OK(cuMemsetD32_v2(block.p, 0, 64));
    OK(cuLaunchKernel(function("scale_in_place"), 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH_v2(seen, block.p, sizeof(seen)));
    assert_true(seen[63] == 1.0f);
    OK(cuMemFree_v2(block.p));
}

/* ---- streams and capture ---- */

static void event_callback(void *data)
{
    (void)usleep(20000);
    *(volatile int *)data = 1;
}

static void streams_keep_their_order_and_events_join_them(void **state)
{
    CUstream first, second;
    CUevent event;
    int done = 0;

    (void)state;
    OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuLaunchHostFunc(first, event_callback, &done));
    OK(cuEventRecord(event, first));
    assert_int_equal(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    assert_int_equal(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
    OK(cuStreamQuery(second));
    OK(cuStreamWaitEvent(second, event, 0));
    OK(cuStreamSynchronize(second));
    assert_int_equal(done, 1);
    OK(cuStreamDestroy_v2(first));
    OK(cuStreamDestroy_v2(second));
    OK(cuEventDestroy_v2(event));
}

static void stream_0_waits_for_streams_that_did_not_opt_out(void **state)
{
    CUstream blocking, other;
    int first = 0, second = 0;

    (void)state;
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuLaunchHostFunc(blocking, event_callback, &first));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    assert_int_equal(first, 1);
    OK(cuLaunchHostFunc(other, event_callback, &second));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    assert_int_equal(second, 0);
    OK(cuCtxSynchronize());
    assert_int_equal(second, 1);
    OK(cuStreamDestroy_v2(blocking));
    OK(cuStreamDestroy_v2(other));
}

static void a_captured_stream_must_not_be_waited_for(void **state)
{
    CUstreamCaptureStatus status;
    CUstream stream;
    CUgraph graph;
    CUdeviceptr p;

    (void)state;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(function("noop"), 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    assert_int_equal(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    OK(cuStreamIsCapturing(stream, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    assert_int_equal(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(cuMemAlloc_v2(&p, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemAlloc_v2(&p, 16));
    OK(cuMemsetD32Async(p, 1, 4, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree_v2(p));
    OK(cuStreamDestroy_v2(stream));
}

static void streams_that_joined_a_capture_must_come_back(void **state)
{
    CUstream first, second;
    CUevent event;
    CUgraph graph;
    size_t nodes = 0;

    (void)state;
    OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int joined = 0; joined < 2; joined++) {
        OK(cuStreamBeginCapture_v2(first, CU_STREAM_CAPTURE_MODE_RELAXED));
        OK(cuLaunchKernel(function("noop"), 1, 1, 1, 32, 1, 1, 0, first, NULL, NULL));
        OK(cuEventRecord(event, first));
        OK(cuStreamWaitEvent(second, event, 0));
        OK(cuLaunchKernel(function("noop"), 1, 1, 1, 32, 1, 1, 0, second, NULL, NULL));
        if (joined) {
            OK(cuEventRecord(event, second));
            OK(cuStreamWaitEvent(first, event, 0));
            OK(cuStreamEndCapture(first, &graph));
            OK(cuGraphGetNodes(graph, NULL, &nodes));
            assert_int_equal(nodes, 2);
            OK(cuGraphDestroy(graph));
        } else {
            assert_int_equal(cuStreamEndCapture(first, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        }
    }
    OK(cuEventDestroy_v2(event));
    OK(cuStreamDestroy_v2(first));
    OK(cuStreamDestroy_v2(second));
}

/* ---- look-ups ---- */

static CUdriverProcAddressQueryResult ask(const char *name, int version, cuuint64_t flags,
                                          void **found)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;

    *found = (void *)1;
    OK(cuGetProcAddress_v2(name, found, version, flags, &status));
    return status;
}

/* An answer that driver 580 was seen to give. */
static void functions_are_found_by_name_version_and_kind_of_stream(void **state)
{
    void *found, *other;

    (void)state;
    assert_int_equal(ask("", 0, 0, &found), CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_null(found);
    assert_int_equal(ask("cuLaunchKernel", 4000, 0, &found), CU_GET_PROC_ADDRESS_SUCCESS);
    assert_int_equal(ask("cuLaunchKernel", 7000, 2, &other), CU_GET_PROC_ADDRESS_SUCCESS);
    assert_true(found != other);
    assert_int_equal(ask("cuLaunchKernel", 4000, 2, &found),
                     CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    assert_null(found);
    assert_int_equal(ask("cuMemAlloc_v2", 13000, 0, &found), CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_int_equal(ask("cuInit", 2000, 3, &found), CU_GET_PROC_ADDRESS_SUCCESS);
    assert_int_equal(ask("cuCtxCreate", 11030, 0, &found), CU_GET_PROC_ADDRESS_SUCCESS);
    assert_int_equal(ask("cuCtxCreate", 12000, 0, &other), CU_GET_PROC_ADDRESS_SUCCESS);
    assert_true(found != other);
    assert_int_equal(cuGetProcAddress_v2("cuInit", &found, 99000, 0, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGetProcAddress_v2("cuInit", &found, 2000, 8, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    OK(cuGetProcAddress_v2("cuNone", &found, 12000, 0, NULL));
    assert_null(found);
    found = &other;
    assert_int_equal(cuGetProcAddress("cuNone", &found, 12000, 0), CUDA_ERROR_NOT_FOUND);
    assert_ptr_equal(found, &other);
}

/* ---- faults; last, since they leave the context broken ---- */

static void allocations_fail_on_request(void **state)
{
    CUdeviceptr p;

    (void)state;
    assert_int_equal(setenv("GPUSIM_FAULTS", "slow,alloc=1+", 1), 0);
    assert_int_equal(cuMemAlloc_v2(&p, 16), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(unsetenv("GPUSIM_FAULTS"), 0);
    assert_int_equal(setenv("GPUSIM_MEMORY", "1M", 1), 0);
    assert_int_equal(cuMemAlloc_v2(&p, 2 << 20), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(unsetenv("GPUSIM_MEMORY"), 0);
    OK(cuMemAlloc_v2(&p, 2 << 20));
    OK(cuMemFree_v2(p));
}

static void a_bad_address_breaks_the_context_for_good(void **state)
{
    unsigned n = 10;
    CUdeviceptr p;
    void *params[] = {&p, &n};
    CUfunction noop = function("noop");

    (void)state;
    OK(cuMemAlloc_v2(&p, n * 4));
    OK(cuLaunchKernel(function("out_of_bounds"), 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuMemFree_v2(p), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuLaunchKernel(noop, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* An event behind a kernel that failed never comes, and its stream is not idle. */
static void work_that_failed_never_ends_well(void **state)
{
    enum { CONTEXTS = 400 };
    const struct gpusim_image_kernel kernel = {"out_of_bounds", 8, 0, 0};
    size_t bytes;
    void *image = gpusim_image_build(&kernel, 1, NULL, 0, &bytes);
    unsigned n = 10;

    (void)state;
    assert_non_null(image);
    for (int i = 0; i < CONTEXTS; i++) {
        CUcontext own;
        CUdeviceptr p;
        CUmodule loaded;
        CUfunction f;
        CUevent event;
        CUresult result;
        void *params[] = {&p, &n};
        OK(cuCtxCreate_v2(&own, 0, 0));
        OK(cuModuleLoadData(&loaded, image));
        OK(cuModuleGetFunction(&f, loaded, "out_of_bounds"));
        OK(cuMemAlloc_v2(&p, n * 4));
        OK(cuEventCreate(&event, 0));
        OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
        (void)cuEventRecord(event, NULL);
        do
            result = i % 2 ? cuEventQuery(event) : cuStreamQuery(NULL);
        while (result == CUDA_ERROR_NOT_READY);
        assert_int_equal(result, CUDA_ERROR_ILLEGAL_ADDRESS);
        (void)cuCtxDestroy_v2(own);
    }
    OK(cuCtxSetCurrent(context));
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_memory_is_out_of_the_hosts_reach),
        cmocka_unit_test(accesses_past_the_end_are_refused),
        cmocka_unit_test(freed_addresses_come_again_and_are_empty),
        cmocka_unit_test(memory_is_finite),
        cmocka_unit_test(pointers_know_what_they_are),
        cmocka_unit_test(registered_memory_is_registered_once),
        cmocka_unit_test(rows_are_copied_by_their_pitch),
        cmocka_unit_test(variables_are_where_the_module_says),
        cmocka_unit_test(images_that_are_none_are_refused),
        cmocka_unit_test(functions_tell_their_needs),
        cmocka_unit_test(too_much_is_refused_at_the_launch),
        cmocka_unit_test(parameters_may_come_as_one_block),
        cmocka_unit_test(streams_keep_their_order_and_events_join_them),
        cmocka_unit_test(stream_0_waits_for_streams_that_did_not_opt_out),
        cmocka_unit_test(a_captured_stream_must_not_be_waited_for),
        cmocka_unit_test(streams_that_joined_a_capture_must_come_back),
        cmocka_unit_test(functions_are_found_by_name_version_and_kind_of_stream),
        cmocka_unit_test(allocations_fail_on_request),
        cmocka_unit_test(work_that_failed_never_ends_well),
        cmocka_unit_test(a_bad_address_breaks_the_context_for_good),
    };

    return cmocka_run_group_tests(tests, open_device, NULL);
}
