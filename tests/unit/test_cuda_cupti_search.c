/* cuda/cupti_search: the files of libcupti beside libraries of CUDA, and where modules are
 * installed. */
#include "cuda/cupti_search.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static void path_of(char path[512], const char *file)
{
    snprintf(path, 512, "%s/%s", root, file);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
}

static void make_empty(const char *file)
{
    char path[512];
    path_of(path, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
}

/* A copy of a library that is at hand, under this name. */
static void load(const char *file)
{
    char path[512];
    Dl_info any;
    assert_true(dladdr((void *)_cmocka_run_group_tests, &any));
    path_of(path, file);
    FILE *from = fopen(any.dli_fname, "r"), *to = fopen(path, "w");
    assert_non_null(from);
    assert_non_null(to);
    for (int c; (c = getc(from)) != EOF;)
        putc(c, to);
    assert_int_equal(fclose(from), 0);
    assert_int_equal(fclose(to), 0);
    assert_non_null(dlopen(path, RTLD_LAZY | RTLD_LOCAL));
}

/* The files found, without the root, with blanks between them. */
static const char *found(int driver)
{
    static char all[4096];
    struct gp_text paths = {0};
    gp_cupti_search(driver, &paths);
    all[0] = '\0';
    for (size_t at = 0; at < paths.length; at += strlen(paths.data + at) + 1) {
        const char *path = paths.data + at;
        assert_true(strncmp(path, root, strlen(root)) == 0);
        snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", *all ? " " : "",
                 path + strlen(root) + 1);
    }
    gp_text_free(&paths);
    return all;
}

/* Libraries stay loaded: each step sees those before it. */
static void test_search(void **state)
{
    (void)state;
    assert_string_equal(found(0), "");

    /* No library of CUDA, and none at all in a folder of modules. */
    load("a/libother.so.12");
    make_empty("a/libcupti.so.12");
    assert_string_equal(found(0), "");

    /* In a folder of modules the driver decides. */
    load("v/lib/python3.9/site-packages/m/m.so");
    load("v/lib/python3.9/site-packages/n/n.so");
    assert_string_equal(found(0), "");
    make_empty("v/lib/python3.9/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
    make_empty("v/lib/python3.9/site-packages/nvidia/cu13/lib/libcupti.so.13");
#define OF_12 "v/lib/python3.9/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12"
#define OF_13 "v/lib/python3.9/site-packages/nvidia/cu13/lib/libcupti.so.13"
    assert_string_equal(found(0), OF_13 " " OF_12);
    assert_string_equal(found(13000), OF_13 " " OF_12);
    assert_string_equal(found(12090), OF_12);
    assert_string_equal(found(11080), "");

    /* A library of CUDA comes first, in its version. */
    make_empty("c/lib/libcupti.so.12");
    make_empty("c/lib/libcupti.so.13");
    load("c/lib/libcublas.so.12");
    assert_string_equal(found(13000), "c/lib/libcupti.so.12 " OF_13 " " OF_12);
    /* A wheel for CUDA 12 has it in another folder. */
    make_empty("w/nvidia/cuda_cupti/lib/libcupti.so.12");
    load("w/nvidia/cuda_runtime/lib/libcudart.so.12");
    assert_string_equal(found(12000),
                        "c/lib/libcupti.so.12 w/nvidia/cuda_runtime/lib/../../cuda_cupti/lib/"
                        "libcupti.so.12 " OF_12);
}

/* Triton's profiler opens the copy that Triton brings. */
static void test_tools(void **state)
{
    (void)state;
    struct gp_text paths = {0};
    char expected[512];
    make_empty("t/triton/backends/nvidia/lib/cupti/libcupti.so");
    load("t/triton/_C/libtriton.so");
    gp_cupti_search_of_tools(&paths);
    assert_int_equal(paths.length, 0);
    load("t/triton/_C/libproton.so");
    gp_cupti_search_of_tools(&paths);
    snprintf(expected, sizeof(expected), "%s/t/triton/backends/nvidia/lib/cupti/libcupti.so", root);
    assert_int_equal(paths.length, strlen(expected) + 1);
    assert_string_equal(paths.data, expected);
    gp_text_free(&paths);
}

int main(void)
{
    snprintf(root, sizeof(root), "/tmp/gpuprof-search-XXXXXX");
    if (!mkdtemp(root))
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_search), cmocka_unit_test(test_tools)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command) == 0 ? failed : 1;
}
