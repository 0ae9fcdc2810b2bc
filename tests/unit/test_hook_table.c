/* hook/table: which wrapper stands in for which function. */
#include "hook/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Gives every function of the list an address of its own, as if a driver were loaded. */
static int pretend_driver(void **state)
{
    (void)state;
    void **slot = (void **)&gp_cuda;
    for (size_t i = 0; i < sizeof(gp_cuda) / sizeof(*slot); i++)
        slot[i] = (void *)(uintptr_t)(0x100000 + 16 * i);
    return 0;
}

static const char *stand_in(const char *base, const void *answer, int version,
                            unsigned long long flags)
{
    const struct gp_hook *hook = gp_hook_for_answer(base, answer, version, flags);
    return hook ? hook->symbol : NULL;
}

static void names_match_whole_or_not_at_all(void **state)
{
    (void)state;
    assert_string_equal(gp_hook_by_symbol("cuMemAlloc_v2")->symbol, "cuMemAlloc_v2");
    assert_null(gp_hook_by_symbol("cuMemAlloc")); /* the 32-bit one of long ago */
    assert_non_null(gp_hook_by_symbol("cuMemBatchDecompressAsync_ptsz"));
    assert_null(gp_hook_by_symbol("cuMemAlloc_v22"));
    assert_null(gp_hook_by_symbol("cudaMalloc"));
    assert_null(gp_hook_by_symbol("cublasCreate_v2"));
    assert_null(gp_hook_by_symbol("curl_easy_init"));
    assert_null(gp_hook_by_symbol(""));
    assert_null(gp_hook_by_symbol("c"));
}

static void an_answer_is_known_by_its_address(void **state)
{
    (void)state;
    assert_string_equal(stand_in("cuLaunchKernel", (void *)gp_cuda.cuLaunchKernel, 13000, 0),
                        "cuLaunchKernel");
    assert_string_equal(stand_in("cuLaunchKernel", (void *)gp_cuda.cuLaunchKernel_ptsz, 13000, 2),
                        "cuLaunchKernel_ptsz");
    assert_string_equal(stand_in("cuGetProcAddress", (void *)gp_cuda.cuGetProcAddress_v2, 12000, 0),
                        "cuGetProcAddress_v2");
}

static void another_address_is_known_by_name_version_and_stream(void **state)
{
    (void)state;
    static const int elsewhere = 0;
    assert_string_equal(stand_in("cuLaunchKernel", &elsewhere, 13000, 0), "cuLaunchKernel");
    assert_string_equal(stand_in("cuLaunchKernel", &elsewhere, 13000, 2), "cuLaunchKernel_ptsz");
    assert_string_equal(stand_in("cuMemAlloc", &elsewhere, 13000, 2), "cuMemAlloc_v2");
    assert_null(stand_in("cuMemAlloc", &elsewhere, 2000, 0)); /* 32-bit addresses: not ours */
    assert_string_equal(stand_in("cuGetProcAddress", &elsewhere, 11030, 0), "cuGetProcAddress");
    assert_string_equal(stand_in("cuGetProcAddress", &elsewhere, 13000, 0), "cuGetProcAddress_v2");
    assert_string_equal(stand_in("cuStreamBeginCapture", &elsewhere, 10000, 0),
                        "cuStreamBeginCapture");
}

static void files_that_are_not_ours_stay_as_they_are(void **state)
{
    (void)state;
    static const int elsewhere = 0;
    assert_null(stand_in("cuDeviceGetCount", &elsewhere, 13000, 0));
    assert_null(stand_in("", &elsewhere, 0, 0)); /* the CUDA runtime asks this, too */
    assert_null(stand_in(NULL, &elsewhere, 13000, 0));
}

static void a_driver_without_the_function_gets_no_stand_in(void **state)
{
    (void)state;
    static const int elsewhere = 0;
    gp_cuda.cuLaunchKernelEx = NULL;
    gp_cuda.cuLaunchKernelEx_ptsz = NULL;
    assert_null(stand_in("cuLaunchKernelEx", &elsewhere, 13000, 0));
    pretend_driver(NULL);
}

static void every_wrapper_is_another_function(void **state)
{
    (void)state;
    /* Through the list itself: each symbol finds its own row. */
#define HOOK(base, version, suffix, symbol) \
    assert_ptr_equal(gp_hook_by_symbol(#symbol)->wrapper, (void *)symbol);
#define GATE(base, version, suffix, symbol, parameters, arguments) \
    HOOK(base, version, suffix, symbol)
#define BARS(base, version, suffix, symbol, parameters, arguments, why) \
    HOOK(base, version, suffix, symbol)
#include "cuda/functions.def"
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_match_whole_or_not_at_all),
        cmocka_unit_test(an_answer_is_known_by_its_address),
        cmocka_unit_test(another_address_is_known_by_name_version_and_stream),
        cmocka_unit_test(files_that_are_not_ours_stay_as_they_are),
        cmocka_unit_test(a_driver_without_the_function_gets_no_stand_in),
        cmocka_unit_test(every_wrapper_is_another_function),
    };
    return cmocka_run_group_tests(tests, pretend_driver, NULL);
}
